"""Clients that request much: long lists are sent in pieces of one version and cost no memory while they are not
read; large answers of reads are limited, answers of committed writes are not; and in every API a request that two
servers could read differently is the last of its connection."""

import http.client
import os
import re
import socket
import sqlite3
import sys
import threading
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "baremetal"))

import berth_baremetal  # noqa: E402
import metal_client  # noqa: E402
import pathological  # noqa: E402
from server import HEADERS, HOME, Server, wait_for  # noqa: E402
from wire import connect, head, receive  # noqa: E402

PROVIDERS = 12000  # a list of 5.6 MB
CONSUMERS = 4000
CROWDED = "c0ffee00-0000-4000-8000-000000000000"
UNREAD = 60
UNREAD_MIB = 250  # of 500; about 35 are used, with sanitizers five times as much
NOW = "2026-01-01 00:00:00.000000"
INNER = b"GET /inner HTTP/1.1\r\nHost: a\r\n\r\n"


def fill(server):
    """Written directly into the file, as fast as possible."""
    database = sqlite3.connect(server.directory + "/berth.db", timeout=30)
    first = database.execute("SELECT max(id) + 1 FROM resource_providers").fetchone()[0]
    names = [str(uuid.uuid5(uuid.NAMESPACE_DNS, f"host{i}")) for i in range(PROVIDERS - 1)] + [CROWDED]
    database.executemany(
        "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, created_at, updated_at) "
        "VALUES (?, ?, ?, 0, ?, ?, ?)",
        [(first + i, name, f"host{i}", first + i, NOW, NOW) for i, name in enumerate(names)])
    crowded = first + len(names) - 1
    database.execute(
        "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, "
        "allocation_ratio, created_at, updated_at) VALUES (?, 0, 1000000, 0, 1, 1000000, 1, 1.0, ?, ?)", (crowded, NOW, NOW))
    database.execute("INSERT INTO projects (id, external_id, created_at) VALUES (1, 'p', ?)", (NOW,))
    database.execute("INSERT INTO users (id, external_id, created_at) VALUES (1, 'u', ?)", (NOW,))
    consumers = [str(uuid.uuid5(uuid.NAMESPACE_URL, f"server{i}")) for i in range(CONSUMERS)]
    database.executemany("INSERT INTO consumers (uuid, project_id, user_id, generation, created_at, updated_at) "
                         "VALUES (?, 1, 1, 1, ?, ?)", [(name, NOW, NOW) for name in consumers])
    database.executemany(
        "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used, created_at, updated_at) "
        "VALUES (?, ?, 0, ?, ?, ?)", [(crowded, name, 1 + i % 7, NOW, NOW) for i, name in enumerate(consumers)])
    database.commit()
    database.close()
    return set(names), {name: 1 + i % 7 for i, name in enumerate(consumers)}


def lists(report, server):
    names, consumers = fill(server)
    for version in ("1.0", "1.39"):
        status, answer = server.ask("GET", "/resource_providers", version=version, timeout=60)
        got = [provider["uuid"] for provider in answer["resource_providers"]] if status == 200 else []
        report(len(got) == PROVIDERS + 1 and names <= set(got), f"greedy: a list of {PROVIDERS} providers at {version}",
               f"{status}, {len(got)}")
    status, answer = server.ask("GET", f"/resource_providers/{CROWDED}/allocations", version="1.39", timeout=60)
    got = {name: part["resources"]["VCPU"] for name, part in answer["allocations"].items()} if status == 200 else {}
    report(got == consumers, f"greedy: {CONSUMERS} consumers of a provider", f"{status}, {len(got)}")
    connection = http.client.HTTPConnection(HOME, server.port, timeout=30)
    connection.request("GET", "/resource_providers", headers=HEADERS)
    answer = connection.getresponse()
    report(answer.getheader("Transfer-Encoding") == "chunked" and answer.getheader("Last-Modified") is not None,
           "greedy: a long list is sent in pieces", str(answer.getheaders()))
    text = answer.read(1000)
    for i in range(0, 200, 2):  # the list shows the version that it began with
        server.must("PUT", f"/resource_providers/{uuid.uuid5(uuid.NAMESPACE_DNS, f'host{PROVIDERS - 100 + i // 4}')}",
                    {"name": f"renamed{i}"})
    text += answer.read()
    report(text.count(b'"uuid"') == PROVIDERS + 1 and b"renamed" not in text, "greedy: a list is of one version",
           f"{text.count(b'renamed')} of later ones")
    connection.close()


def unread(report, server):
    before = server.rss_mib()
    socks = []
    for _ in range(UNREAD):
        sock = connect(server)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(head("GET", "/resource_providers"))
        socks.append(sock)
    wait_for(lambda: False, 1)
    report(server.is_well(), "greedy: served beside unread lists", "")
    report(server.rss_mib() - before < UNREAD_MIB, "greedy: memory of unread lists",
           f"{before:.0f} MiB before, {server.rss_mib():.0f} now")
    for sock in socks:
        sock.close()
    report(wait_for(lambda: server.sockets() < 20, 10), "greedy: unread lists end", f"{server.sockets()} sockets")


def committed(report, berthd):
    """The limit of large answers is for reads: committed writes are answered, however long the answer is."""
    extra = {"text": "ü" * 300000}  # each is six characters in the answer
    with berth_baremetal.Berth(berthd, options={"berth": {"answer_memory": 1048576}}) as server:
        one = metal_client.MetalClient(server.port)
        answers = []

        def create(number):
            client = metal_client.MetalClient(server.port)
            raw = b'{"resource_class": "none", "name": "a%d", "extra": {"text": "%s"}}' % (number, extra["text"].encode())
            answers.append(client.ask("POST", "/v1/allocations", raw=raw))

        threads = [threading.Thread(target=create, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statuses = sorted(answer.status for answer in answers)
        rows = one.ask("GET", "/v1/allocations?fields=name").json["allocations"]
        report(statuses == [201] * 4 and len(rows) == 4, "greedy: what was committed is answered",
               f"{statuses}, {len(rows)} are there")
        refused = one.ask("GET", "/v1/allocations?fields=name,extra")
        report(refused.status == 503, "greedy: a large read beyond the limit", repr(refused)[:200])
        report(not server.complaint(), "greedy: the server is well", server.complaint())


def apis(report, berthd):
    """On each listener."""
    arguments = ("--valet-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
    requests = {"a bare CR": b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\rContent-Length: 34\r\n\r\n",
                "a bare LF": b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\nX-C: d\r\n\r\n",
                "a folded header": b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n",
                "a NUL": b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\nX-D: e\r\n\r\n",
                "a blank before a colon": b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 34\r\n\r\n"}
    with berth_baremetal.Berth(berthd, arguments=arguments) as server:
        with open(os.path.join(server.directory, server.id + ".out"), errors="replace") as file:
            ports = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", file.readline())]
        report(len(ports) == 4, "greedy: four listeners", str(ports))
        for port in ports:
            for name, data in requests.items():
                with socket.create_connection((HOME, port), timeout=5) as sock:
                    sock.sendall(data + INNER)
                    got = b""
                    while piece := sock.recv(65536):
                        got += piece
                report(got.startswith(b"HTTP/1.1 400 ") and got.count(b"HTTP/1.1 ") == 1, f"greedy: {name} at {port}",
                       repr(got[:300]))


def stopping(report, berthd):
    """A stop ends a search that outlasts its grace period, and logs the reason."""
    server = Server(berthd, access_log="false", stop_grace=1)
    with server:
        pathological.fill(server)
        server.good_statuses = {3}
        sock = pathological.start_query(server, pathological.endless())
        wait_for(lambda: pathological.cpu_share(server, 0.1) > 0.2, 5)
        server.process.terminate()
        answer = receive(sock, 15)
        sock.close()
        report(answer.status == 503 and b"stopping" in answer.body, "greedy: a search that a stop gives up", str(answer))
        server.process.wait(20)
    report("ended by itself with 3:" in (server.complaint or ""), "greedy: the stop reports that it cut requests off",
           server.complaint)


def run(report, berthd):
    server = Server(berthd, access_log="false")
    try:
        with server:
            server.must("POST", "/resource_providers", {"name": "home"})
            lists(report, server)
            unread(report, server)
            report(server.is_well(), "greedy: the server is well", server.tail())
        report(not server.complaint, "greedy: the server ends well", server.complaint)
        committed(report, berthd)
        apis(report, berthd)
        stopping(report, berthd)
    except Exception as error:  # an aborted part has failed; the other parts still run
        report(False, "greedy: broke off", f"{type(error).__name__}: {error}")
