"""Expensive requests: processed outside the workers, in turns of projects and requests, with a time limit. Only
answers and counters are asserted; the time bounds are far above what is needed."""

import http.client
import json
import os
import sqlite3
import threading
import time

from bodies import BASE, PROVIDER
from pathological import endless
from server import HOME, Server, free_port, wait_for
from wire import connect, exchange, head, receive

NOW = ("2026-01-01 00:00:00", "2026-01-01 00:00:00")
# Each needs more steps than a worker has, however fast it is.
HOSTS, TRAITS, CLASSES, INVENTORIES, CONSUMERS, USERS, NODES, MEMBERS = 16000, 60000, 40000, 6000, 20000, 5000, 1000, 10000
MANY_HOSTS = 26000  # more than a worker examines
DEVICES = 12
IN_PIECES, PIECE_BYTES = ("providers", "allocations of a provider"), 240 * 1024
IN_PARTS = 4 << 20
ANSWER_S = 30


def uuid(kind, number):
    return f"{kind:08x}-0000-4000-8000-{number:012x}"


def rows(db, table, columns, values):
    names = columns.split() + ["created_at", "updated_at"]
    db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                   (value + NOW for value in values))


def fill(path):
    """Every list is long: provider 1 has all inventories and consumers, consumer 1 is on all hosts."""
    db = sqlite3.connect(path)
    rows(db, "projects", "id external_id", [(100, "a" * 32)])
    rows(db, "users", "id external_id", ((100 + i, f"user{i}") for i in range(USERS)))
    rows(db, "traits", "id name", ((100000 + i, f"CUSTOM_T{i}") for i in range(TRAITS)))
    rows(db, "resource_classes", "id name", ((100000 + i, f"CUSTOM_C{i}") for i in range(CLASSES)))
    rows(db, "resource_providers", "id uuid name generation root_provider_id parent_provider_id",
         ((100000 + i, uuid(1, i), f"host{i}", 1, 100000 + i, None) for i in range(HOSTS)))
    inventory = "resource_provider_id resource_class_id total reserved min_unit max_unit step_size allocation_ratio"
    rows(db, "inventories", inventory, ((100000 + i, 0, 1000000, 0, 1, 1000000, 1, 1.0) for i in range(HOSTS)))
    rows(db, "inventories", inventory, ((100000, 100000 + i, 10, 0, 1, 10, 1, 1.0) for i in range(INVENTORIES)))
    rows(db, "consumers", "id uuid project_id user_id generation",
         ((i + 1, uuid(2, i), 100, 100 + i % USERS, 1) for i in range(CONSUMERS)))
    allocation = "resource_provider_id consumer_id resource_class_id used"
    rows(db, "allocations", allocation, ((100000, uuid(2, i), 0, 1) for i in range(1, CONSUMERS)))
    rows(db, "allocations", allocation, ((100000 + i, uuid(2, 0), 0, 1) for i in range(HOSTS)))
    db.commit()
    db.close()


class Lane:
    """The number of jobs that the slow lane has begun, from the metrics."""

    def __init__(self, port):
        self.port = port

    def begun(self):
        answer = exchange(self, head("GET", "/metrics"), 10)
        for line in answer.body.decode().splitlines():
            if line.startswith("berth_slow_lane_jobs_begun_total "):
                return float(line.split()[1])
        raise RuntimeError(f"no metrics: {answer}")


class Address:
    """Another listener of the server, for wire.py."""

    def __init__(self, port):
        self.port = port


def server_of(berthd, **options):
    """A server with all its APIs, and a file that the test keeps."""
    admin = free_port()
    server = Server(berthd, apis=("baremetal", "valet"), access_log="false", admin_listen=f"{HOME}:{admin}", **options)
    server.ports = {"admin": admin, **server.apis}
    return server


def run(report, berthd):
    for part in (charged, turns, deadline, bodies):
        part(report, berthd)


def ended(report, server, name):
    report(not server.complaint, f"lanes: {name}: the server ends well", server.complaint)


def charged(report, berthd):
    """Each list is made on the slow lane if it is long, and on a worker if it is short."""
    first = server_of(berthd)
    with first:
        fill_apis(first)
        short = lists(Lane(first.ports["admin"]), first)
        database = first.directory + "/kept.db"
        first.process.terminate()
        first.process.wait()
        os.rename(first.directory + "/berth.db", database)
        fill(database)
        second = server_of(berthd, max_write_rows=20000)
        os.rename(database, second.directory + "/berth.db")
    for name, (status, jobs, _) in short.items():
        report(status == 200 and jobs == 0, f"lanes: short {name}", f"{status}, {jobs} jobs")
    with second:
        fill_apis(second, True)
        for name, (status, jobs, size) in lists(Lane(second.ports["admin"]), second, True).items():
            # of an answer sent in pieces while the client reads, each piece but the first is a job
            pieces = size // PIECE_BYTES
            # and of one sent in parts because it is large, a second
            expected = range(pieces // 2, 3 * pieces + 3) if name in IN_PIECES else (1, 2) if size > IN_PARTS else (1,)
            report(status == 200 and jobs in expected and size > 60, f"lanes: long {name}", f"{status}, {jobs} jobs, {size} bytes")
    ended(report, second, "charged")


def ask(port, method, path, body, *lines):
    data = json.dumps(body).encode()
    more = "Content-Type: application/json", f"Content-Length: {len(data)}", "X-OpenStack-Ironic-API-Version: 1.82"
    answer = exchange(Address(port), head(method, path, *more, *lines) + data, ANSWER_S)
    if answer.status not in (200, 201):
        raise RuntimeError(f"{method} {path}: {answer}")
    return json.loads(answer.body)


def fill_apis(server, many=False):
    """Fills berth's own tables through its APIs."""
    for i in range(NODES if many else 1):
        ask(server.ports["baremetal"], "POST", "/v1/nodes", {"driver": "fake-hardware", "name": f"node{many}{i}"})
    group = ask(server.ports["valet"], "POST", "/v1/groups", {"name": f"gold{many}", "type": "exclusivity"})
    members = [f"{i:032x}" for i in range(MEMBERS if many else 1)]
    ask(server.ports["valet"], "PUT", f"/v1/groups/{group['id']}/members", {"members": members})


def whole(port, path, line):
    """The status and the length of the body, however it is transferred."""
    connection = http.client.HTTPConnection(HOME, port, timeout=ANSWER_S)
    connection.request("GET", path, headers={"X-Auth-Token": "admin", "OpenStack-API-Version": "placement 1.39",
                                             **dict([line.split(": ")] if line else [])})
    answer = connection.getresponse()
    size = len(answer.read())
    connection.close()
    return answer.status, size


def lists(lane, server, many=False):
    """{name: (status, jobs of the slow lane, bytes)} of every list."""
    if not many:
        server.must("POST", "/resource_providers", {"name": "home", "uuid": PROVIDER})
        server.must("PUT", BASE + "/inventories",
                    {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}})
    provider = f"/resource_providers/{uuid(1, 0)}" if many else BASE
    group = json.loads(exchange(Address(server.ports["valet"]), head("GET", "/v1/groups"), ANSWER_S).body)["groups"][-1]["id"]
    ironic = "X-OpenStack-Ironic-API-Version: 1.82"
    asked = {
        "providers": ("", "/resource_providers", ""),
        "traits": ("", "/traits", ""),
        "classes": ("", "/resource_classes", ""),
        "allocations of a provider": ("", provider + "/allocations", ""),
        "usages of a provider": ("", provider + "/usages", ""),
        "inventories of a provider": ("", provider + "/inventories", ""),
        "allocations of a consumer": ("", f"/allocations/{uuid(2, 0)}", ""),
        "usages of a project": ("", "/usages?project_id=" + "a" * 32, ""),
        "candidates": ("", "/allocation_candidates?resources=VCPU:1", ""),
        "nodes": ("baremetal", "/v1/nodes/detail", ironic),
        "groups": ("valet", "/v1/groups", ""),
        "a group": ("valet", f"/v1/groups/{group}", ""),
    }
    found = {}
    for name, (api, path, line) in asked.items():
        before = lane.begun()
        status, size = whole(server.ports[api] if api else server.port, path, line)
        found[name] = status, lane.begun() - before, size
    return found


def fill_tree(server):
    tree = uuid(3, 0)
    server.must("PUT", "/resource_classes/CUSTOM_ODD")
    server.must("POST", "/resource_providers", {"name": "odd", "uuid": tree})
    for i in range(1, DEVICES + 1):
        server.must("POST", "/resource_providers", {"name": f"odd{i}", "uuid": uuid(3, i), "parent_provider_uuid": tree})
        server.must("PUT", f"/resource_providers/{uuid(3, i)}/inventories",
                    {"resource_provider_generation": 0, "inventories": {"CUSTOM_ODD": {"total": 999}}})


def head_of(project, target):
    return head("GET", target).replace(b"X-Auth-Token: admin\r\n", b"X-Auth-Token: admin:%s\r\n" % project.encode())


def listed(server, project):
    """Whether the list of all hosts is answered."""
    connection = http.client.HTTPConnection(HOME, server.port, timeout=ANSWER_S)
    try:
        connection.request("GET", "/resource_providers", headers={"X-Auth-Token": "admin:" + project})
        answer = connection.getresponse()
        return answer.status == 200 and len(answer.read()) > 100 * MANY_HOSTS
    except TimeoutError:
        return False
    finally:
        connection.close()


def priorities(server):
    """The policies and nice values of all threads."""
    folder = f"/proc/{server.process.pid}/task"
    found = set()
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        found.add((int(fields[38]), int(fields[16])))
    return found


def turns(report, berthd):
    """Endless searches of one project, more than may run; another project's list, and one of its own."""
    server = Server(berthd, access_log="false", query_deadline=600)
    server.good_statuses = {0, 3}
    searches = []
    with server:
        database = server.directory + "/berth.db"
        fill_tree(server)
        db = sqlite3.connect(database)
        rows(db, "resource_providers", "id uuid name generation root_provider_id parent_provider_id",
             ((100000 + i, uuid(1, i), f"host{i}", 1, 100000 + i, None) for i in range(MANY_HOSTS)))
        db.commit()
        db.close()
        mine = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
        for number in (4, 12):
            while len(searches) < number:
                searches.append(connect(server, timeout=ANSWER_S))
                searches[-1].sendall(head_of("greedy", endless()))
            time.sleep(0.3)
            for project in ("other", "another"):
                report(listed(server, project), f"lanes: another project's list beside {number} endless searches",
                       f"not within {ANSWER_S} s")
            if number == 4:
                report(listed(server, "greedy"), "lanes: the same project's list beside its searches",
                       f"not within {ANSWER_S} s")
        report(priorities(server) == {mine}, "lanes: all threads have the same priority", f"{priorities(server)}, not {mine}")
        report(all(receive(sock, 0.01).status is None for sock in searches), "lanes: the searches are endless",
               "one was answered: the test asks nothing")
        for sock in searches:
            sock.close()
        before = server.cpu_s()
        quiet = wait_for(lambda: rests(server), 20)
        report(quiet, "lanes: they end with their clients", f"{server.cpu_s() - before:.1f} s of CPU")
    ended(report, server, "turns")


def rests(server):
    before = server.cpu_s()
    time.sleep(0.3)
    return server.cpu_s() - before < 0.05


def deadline(report, berthd):
    """Searches that run and those that wait for a permit are refused, with the reason, when their time is over."""
    server = Server(berthd, access_log="false", query_deadline=1)
    with server:
        fill_tree(server)
        answers = []

        def search():
            answers.append(exchange(server, head_of("greedy", endless()), ANSWER_S))

        threads = [threading.Thread(target=search) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        good = [answer for answer in answers if answer.status == 503 and answer.is_api() and
                json.loads(answer.body)["errors"][0]["code"] == "placement.query.deadline_exceeded" and
                b"it was not finished after 1 seconds. Request less." in answer.body]
        report(len(good) == 12, "lanes: endless searches end at their deadline",
               str(next((answer for answer in answers if answer not in good), None)))
        report(wait_for(lambda: rests(server), 20), "lanes: nothing runs on behind a deadline", "CPU is used")
    ended(report, server, "deadline")


def bodies(report, berthd):
    """A large body is parsed in slices: parsing ends when its client has disconnected."""
    text = b"{" + b",".join(b'"%d":0' % i for i in range(400000)) + b"}"
    request = head("PUT", BASE + "/traits", "Content-Type: application/json", f"Content-Length: {len(text)}") + text
    server = Server(berthd, access_log="false")
    server.good_statuses = {0, 3}
    with server:
        server.must("POST", "/resource_providers", {"name": "home", "uuid": PROVIDER})

        def cost(waits):
            before = server.cpu_s()
            sock = connect(server, timeout=ANSWER_S)
            sock.sendall(request)
            status = receive(sock, ANSWER_S).status if waits else None
            sock.close()
            wait_for(lambda: rests(server), 20)
            return status, server.cpu_s() - before

        (status, whole_s), (_, left_s) = cost(True), cost(False)
        report(status == 400 and left_s < whole_s * 2 / 3, "lanes: a body whose client has disconnected is not parsed to its end",
               f"{status}, {whole_s:.2f} s of CPU, and {left_s:.2f} s when it had gone")
    ended(report, server, "bodies")
