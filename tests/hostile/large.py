"""Large bodies, from clients without a token and from clients with a token: limited, and without effect on others."""

import json
import re
import resource
import socket
import threading
import time

from server import POLITE, Server, wait_for
from wire import connect, exchange, head, is_closed, receive, with_body

MIB = 1 << 20
ANONYMOUS = 100
BODY_MEMORY_MIB = 96
ADDRESS_SPACE_MIB = 1200
FAST_MS = 100  # maximum time of a simple read beside them, at the ninth decile


def anonymous(method, path, *lines):
    return ("\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *lines]) +
            "\r\n\r\n").encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def dense(size):
    return b"[" + b"{}," * ((size - 4) // 3) + b"{}]"


def keys(size):
    count = size // 13
    return b"{" + b",".join(b'"%08x":1' % i for i in range(count)) + b"}"


def numbers(size):
    return b"[" + b"1," * (size // 2 - 2) + b"1]"


def claims(count):
    """Consumers that claim from a host that does not exist."""
    return json.dumps({f"{n:08x}-0000-4000-8000-000000000001": {
        "allocations": {"00000001-0000-4000-8000-000000000002": {"resources": {"VCPU": 1}}}, "project_id": "p",
        "user_id": "u", "consumer_generation": None, "consumer_type": "INSTANCE"} for n in range(count)}).encode()


def run(report, berthd):
    options = {"body_memory": BODY_MEMORY_MIB * MIB, "access_log": "false", "body_deadline": 30}
    with Server(berthd, **options) as server:
        server.must("POST", "/resource_providers", {"name": "home"})
        codes(report, server)
        anonymous_clients(report, server)
        refused_first(report, server)
        budget(report, server)
        beside(report, server)
        report(server.is_well(), "large: the server is well", server.tail())
    report(not server.complaint, "large: the server ends well", server.complaint)
    what_is_made(report, berthd)
    no_abort(report, berthd)


def codes(report, server):
    """A 413 is an error like others: with a code from 1.23 on."""
    for version, wanted in (("1.22", None), ("1.23", "placement.undefined_code"), ("latest", "placement.undefined_code"),
                            ("1.99", None)):
        request = anonymous("POST", "/resource_providers", "X-Auth-Token: admin", "Content-Length: 104857600",
                           "Expect: 100-continue", f"OpenStack-API-Version: placement {version}")
        answer = exchange(server, request)
        code = json.loads(answer.body)["errors"][0].get("code") if answer.is_api() else "no error of the API"
        report(answer.status == 413 and code == wanted, f"large: code of a 413 in {version}", f"{answer} {code}")


def anonymous_clients(report, server):
    """A client without a token gets no memory for a body, and is answered when the body has arrived."""
    rss = server.rss_mib()
    for name, lines, pieces in (
            ("declared", ("Content-Length: 16777216",), [b" " * MIB] * 4),
            ("chunked", ("Transfer-Encoding: chunked",), [chunk(b" " * MIB)] * 4)):
        socks = [connect(server) for _ in range(ANONYMOUS)]
        for sock in socks:
            sock.sendall(anonymous("POST", "/allocations", *lines))
            for piece in pieces:
                sock.sendall(piece)
        grown = server.rss_mib() - rss
        report(grown < 64 + ANONYMOUS / 8, f"large: memory of {ANONYMOUS} anonymous clients, {name}", f"{grown:.0f} MiB more")
        rest = b" " * (12 * MIB) if name == "declared" else b"0\r\n\r\n"
        socks[0].sendall(rest)
        report(receive(socks[0]).status == 401, f"large: an anonymous client's body, {name}", "no 401")
        for sock in socks:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset
            sock.close()
    for method in ("POST", "PUT", "PATCH"):
        with connect(server) as sock:
            sock.sendall(anonymous(method, "/allocations", "Content-Length: 16777216", "Expect: 100-continue"))
            answer = receive(sock)
            report(answer.status == 401, f"large: {method}: an anonymous client with Expect gets its answer at once", str(answer))
            report(is_closed(sock, 3), f"large: {method}: and its connection ends", "it does not")


def refused_first(report, server):
    """Errors come in the same order as for small bodies, and connections stay open."""
    large = b" " * (64 << 10)
    with connect(server) as sock:
        for path, lines, wanted in (
                ("/allocations", ("X-Auth-Token: admin", "Content-Type: application/json"), 400),
                ("/nowhere", ("X-Auth-Token: admin", "Content-Type: application/json"), 404),
                ("/traits", ("X-Auth-Token: admin", "Content-Type: application/json"), 405),
                ("/allocations", ("X-Auth-Token: admin", "Content-Type: text/plain"), 415),
                ("/allocations", ("X-Auth-Token: admin",), 400),
                ("/allocations", ("Content-Type: text/plain",), 401), ("/", (), 400),
                ("/", ("Content-Type: text/plain",), 405)):
            for chunked in (False, True):
                framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(large)}"
                request = "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost",
                                       "OpenStack-API-Version: placement 1.28", framing, *lines]) + "\r\n\r\n"
                if chunked:
                    with connect(server) as own:  # which ends after the answer
                        own.sendall(request.encode() + chunk(large) + b"0\r\n\r\n")
                        answer = receive(own)
                else:
                    sock.sendall(request.encode() + large)
                    answer = receive(sock)
                if chunked and not any(line.startswith("Content-Type") for line in lines):
                    wanted = 415 if path != "/" else 405  # without a length no type is checked
                report(answer.status == wanted, f"large: POST {path} {lines} {framing}", f"{answer} {wanted}")
        sock.sendall(head())
        report(receive(sock).status == 200, "large: the connection stays", "")


def alone_is_read(server, announced):
    with connect(server) as sock:
        sock.sendall(announced + b" " * (16 * MIB))
        return receive(sock, 10).status == 400


def budget(report, server):
    """Bodies from one address: as many as there is memory for; the others are refused, other addresses are not."""
    rss = server.rss_mib()
    announced = with_body("POST", "/allocations", b"", length=16 * MIB)
    socks = [connect(server) for _ in range(30)]
    for sock in socks:
        sock.sendall(announced + b" " * (15 * MIB))
    grown = server.rss_mib() - rss
    report(grown < BODY_MEMORY_MIB + 32, "large: memory of 30 bodies", f"{grown:.0f} MiB more")
    other = connect(server, POLITE)
    other.sendall(with_body("POST", "/allocations", b'{"x": "' + b"x" * (6 * MIB) + b'"}',
                            "X-Project-Id: other").replace(b"X-Auth-Token: admin", b"X-Auth-Token: other:other"))
    answer = receive(other, 10)
    report(answer.status in (400, 403), "large: another address finds room", str(answer))
    other.close()
    refused = 0
    for sock in socks:
        sock.sendall(b" " * MIB)
    for sock in socks:
        answer = receive(sock, 10)
        if answer.status == 503:
            refused += 1
            error = json.loads(answer.body)["errors"][0]
            good = error["code"] == "placement.undefined_code" and re.search(rb"\r\nretry-after: 1", answer.headers, re.I)
            report(good, "large: what a refusal says", str(answer))
        else:
            report(answer.status == 400, "large: what was read", str(answer))
    # processing a body needs memory, too: of those begun at once, all may have to be refused
    report(25 <= refused <= 30, "large: bodies beyond the limit", f"{refused} of 30 refused")
    alone = wait_for(lambda: alone_is_read(server, announced), 10)
    report(alone, "large: one of them alone is read", "refused for 10 s")
    for sock in socks:
        sock.sendall(head())
        report(receive(sock).status == 200, "large: refused ones are served again", "")
        sock.close()
    gone = wait_for(lambda: server.rss_mib() - rss < 24, 5)
    report(gone, "large: memory is given back", f"{rss:.0f} MiB before, {server.rss_mib():.0f} now")


def beside(report, server):
    """Bodies of many values: refused for the memory they would need, or parsed while others are served."""
    rss = server.rss_mib()
    texts = {"objects": (dense(16 * MIB - 16), 413), "keys": (keys(15 * MIB), 413), "numbers": (numbers(15 * MIB), 413),
             "some objects": (dense(MIB // 2), 400), "some keys": (keys(MIB), 400), "some numbers": (numbers(MIB), 400)}
    times, statuses, most = [], {name: set() for name in texts}, [0]
    stop = threading.Event()

    def send(name):
        text, _ = texts[name]
        with connect(server, timeout=60) as sock:
            while not stop.is_set():
                sock.sendall(with_body("POST", "/allocations", text))
                statuses[name].add(receive(sock, 60).status)

    def read():
        with connect(server, POLITE) as sock:
            while not stop.is_set():
                start = time.monotonic()
                sock.sendall(head("GET", "/resource_providers?name=home"))
                if receive(sock, 10).status != 200:
                    return
                times.append((time.monotonic() - start) * 1000)
                most[0] = max(most[0], server.rss_mib() - rss)

    threads = [threading.Thread(target=send, args=(name,)) for name in texts] + [threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    stop.set()
    for thread in threads:
        thread.join()
    for name, (_, wanted) in texts.items():
        report(statuses[name] and statuses[name] <= {wanted, 503}, f"large: {name}", str(statuses[name]))
    times.sort()
    ninth = times[len(times) * 9 // 10] if times else 1e9
    report(ninth < FAST_MS, "large: reads beside them", f"ninth decile {ninth:.0f} ms of {len(times)}")
    report(most[0] < BODY_MEMORY_MIB + 48, "large: memory of their values", f"{most[0]:.0f} MiB more")


def what_is_made(report, berthd):
    """Memory for processing a document counts, too: claims are refused if there is only memory for the document."""
    found = {}
    for mib in (40, 51, 70):  # one request may use half
        with Server(berthd, access_log="false", max_write_rows=1000000, body_memory=mib * MIB) as server:
            found[mib] = exchange(server, with_body("POST", "/allocations", claims(10000)), 30)
        report(not server.complaint, "large: the server ends well", server.complaint)
    texts = {40: (413, b"more values than this service takes"), 51: (413, b"needs more memory than this service gives to one"),
             70: (400, b"")}
    for mib, (status, text) in texts.items():
        report(found[mib].status == status and text in found[mib].body, f"large: claims where there are {mib} MiB",
               f"{found[mib].status} {found[mib].body[:300]}")


def no_abort(report, berthd):
    """If memory is short, clients get an error."""
    limit = ADDRESS_SPACE_MIB * MIB
    with Server(berthd, access_log="false", limits={resource.RLIMIT_AS: (limit, limit)}) as server:
        server.must("POST", "/resource_providers", {"name": "home"})
        statuses = set()
        for name, text in (("objects", dense(16 * MIB - 16)), ("keys", keys(15 * MIB)), ("text", b'"' + b"x" * (15 * MIB) + b'"'), ("claims", claims(40000))):
            socks = [connect(server, timeout=30) for _ in range(60)]
            for sock in socks:
                try:
                    sock.sendall(with_body("POST", "/allocations", text))
                except OSError:
                    pass
            for sock in socks:
                statuses.add(receive(sock, 60).status)
                sock.close()
        report(statuses <= {400, 413, 503}, "large: statuses where memory is short", str(statuses))
        report(server.is_well(), "large: well where memory is short", server.tail())
    report(not server.complaint, "large: no abort where memory is short", server.complaint)
