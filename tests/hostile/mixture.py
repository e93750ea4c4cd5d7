"""All at once: requests of every kind and size to the three APIs, from clients of every kind, in random order.
Effects of one request on memory, on its connection, or on a budget meet combinations that no test of one kind has.

    tests/hostile/mixture.py --berthd build-asan/berthd --seconds 600 --seed 7      on its own, for longer"""

import argparse
import json
import os
import random
import socket
import sys
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import large  # noqa: E402
import malformed  # noqa: E402
from server import HOME, Server, wait_for  # noqa: E402
from wire import parse  # noqa: E402

CLIENTS, SECONDS, MIB = 8, 6, 1 << 20
BODY_MEMORY_MIB = 64
RSS_MOST_MIB = 400  # the bodies, as much for answers, the cloud, and memory that sanitizers do not use
PROVIDERS = [str(uuid.UUID(int=n + 1)) for n in range(20)]
CONSUMERS = [str(uuid.UUID(int=n + 1000)) for n in range(50)]
AGGREGATES = [str(uuid.UUID(int=n + 9000)) for n in range(30)]
NODES = [f"node-{n}" for n in range(4)]
METAL, VALET = "baremetal", "valet"
HEADERS = {None: "OpenStack-API-Version: placement latest\r\n", METAL: "X-OpenStack-Ironic-API-Version: latest\r\n", VALET: ""}


def provider(rng):
    return "/resource_providers/" + rng.choice(PROVIDERS)


def size_of(rng, most):
    """Small sizes are as likely as large ones."""
    return int(most ** rng.random()) + 1


def long_target(rng):
    size = rng.choice([size_of(rng, 62000), rng.randrange(1, 62000)])
    return rng.choice([
        lambda: "/" + "a" * size,
        lambda: "/a" * (size // 2),
        lambda: "/resource_providers?name=" + "%41" * (size // 3),
        lambda: "/resource_providers?" + "&".join(["a=1"] * (size // 4)),
        lambda: "/resource_providers?member_of=in:" + ",".join(str(uuid.UUID(int=n)) for n in range(size // 37)),
        lambda: "/allocation_candidates?resources=VCPU:1&required=in:" + ",".join(f"CUSTOM_{n}" for n in range(size // 12)),
        lambda: "/allocation_candidates?group_policy=none&" + "&".join(f"resources{n}=VCPU:1" for n in range(1, size // 20 + 2)),
        lambda: "/v1/nodes?fields=" + ",".join(["uuid"] * (size // 5)),
    ])()


def any_body(rng):
    size = size_of(rng, 3 * MIB)
    text = rng.choice([large.dense, large.keys, large.numbers, lambda n: b'"' + b"x" * n + b'"', lambda n: b"[" * n, lambda n: b"\xff" * n,
                       lambda n: b'{"a":' * (n // 5), lambda n: b'"' + b"\\u0041" * (n // 6) + b'"', lambda n: b" " * n])(size)
    return text[:rng.randrange(len(text) + 1)] if rng.random() < 0.2 else text


def claim(rng):
    resources = {"VCPU": rng.randrange(1, 4), "MEMORY_MB": 64}
    return {"allocations": {} if rng.random() < 0.3 else {rng.choice(PROVIDERS): {"resources": resources}}, "project_id": "p",
            "user_id": "u", "consumer_generation": rng.choice([None, None, 1, 2]), "consumer_type": "INSTANCE"}


def write(rng):
    """A request that may well be accepted."""
    at, number = provider(rng), rng.randrange(1000)
    generation = {"resource_provider_generation": rng.randrange(30)}
    servers = {f"s{n}": {"flavor": "m1", "name": f"n{number}-{n}"} for n in range(size_of(rng, 30))}
    return rng.choice([
        lambda: (None, "PUT", "/allocations/" + rng.choice(CONSUMERS), claim(rng)),
        lambda: (None, "POST", "/allocations", {rng.choice(CONSUMERS): claim(rng) for _ in range(size_of(rng, 40))}),
        lambda: (None, "DELETE", "/allocations/" + rng.choice(CONSUMERS), None),
        lambda: (None, "PUT", at + "/inventories", {**generation, "inventories": {
            "VCPU": {"total": 1000}, **{f"CUSTOM_{n}": {"total": 1} for n in range(size_of(rng, 60))}}}),
        lambda: (None, "PUT", at + "/traits", {**generation, "traits": rng.sample(["HW_CPU_X86_AVX", "HW_CPU_X86_SSE"], 1)}),
        lambda: (None, "PUT", at + "/aggregates", {**generation, "aggregates": rng.sample(AGGREGATES, rng.randrange(20))}),
        lambda: (None, "PUT", at, {"name": at[-6:], "parent_provider_uuid": rng.choice([None, *PROVIDERS])}),
        lambda: (METAL, "POST", "/v1/nodes", {"name": rng.choice(NODES), "driver": "fake-hardware", "resource_class": "x",
                                              "extra": {"a": "x" * size_of(rng, MIB)}}),
        lambda: (METAL, "PATCH", "/v1/nodes/" + rng.choice(NODES), [
            {"op": "add", "path": "/extra/b", "value": ["x"] * size_of(rng, 50000)}]),
        lambda: (METAL, "DELETE", "/v1/nodes/" + rng.choice(NODES), None),
        lambda: (METAL, "POST", "/v1/allocations", {"name": f"a{number % 9}", "resource_class": "x"}),
        lambda: (METAL, "DELETE", f"/v1/allocations/a{number % 9}", None),
        lambda: (VALET, "POST", "/v1/groups", {"name": f"g{number % 5}", "type": "exclusivity"}),
        lambda: (VALET, "POST", "/v1/plans", {"plan_name": f"p{number % 9}", "stack_id": CONSUMERS[number % 50], "resources": servers}),
    ])()


def read(rng):
    at, few = provider(rng), size_of(rng, 12)
    return rng.choice([
        (None, "/resource_providers"), (None, at), (None, at + "/allocations"), (None, "/usages?project_id=p"), (None, "/traits"),
        (None, "/allocation_candidates?resources=VCPU:1"),
        (None, "/allocation_candidates?group_policy=isolate&" + "&".join(f"resources{n}=VCPU:{n}" for n in range(1, few + 1))),
        (METAL, "/v1/nodes/detail"), (METAL, "/v1/allocations"), (VALET, "/v1/plans"), (VALET, "/v1/groups"), (VALET, "/v1/placements")])


def framed(rng, method, target, body, api):
    """With its length, in chunks, or with a wrong length."""
    token = "X-Auth-Token: admin\r\n" if rng.random() < 0.9 else ""
    head = f"{method} {target} HTTP/1.1\r\nHost: a\r\n{token}{HEADERS[api]}"
    if body is None:
        return (head + "\r\n").encode()
    head += "Content-Type: application/json\r\n"
    if rng.random() < 0.2:
        pieces = [body[i:i + 70000] for i in range(0, len(body), 70000)]
        return (head + "Transfer-Encoding: chunked\r\n\r\n").encode() + b"".join(map(large.chunk, pieces)) + b"0\r\n\r\n"
    length = len(body) + (rng.choice([-1, 1, 1000]) if rng.random() < 0.05 else 0)
    return (head + f"Content-Length: {max(length, 0)}\r\n\r\n").encode() + body


def any_request(rng):
    """(api, bytes)"""
    kind = rng.random()
    if kind < 0.10:
        return None, rng.choice(malformed.REQUESTS)[1]
    if kind < 0.30:
        target = long_target(rng)
        api = METAL if target.startswith("/v1") else None
        return api, framed(rng, rng.choice(["GET", "GET", "PUT", "DELETE"]), target, None, api)
    if kind < 0.45:
        api, method, target, _ = write(rng)
        return api, framed(rng, method, target, any_body(rng), api)
    if kind < 0.75:
        api, method, target, body = write(rng)
        return api, framed(rng, method, target, None if body is None else json.dumps(body).encode(), api)
    api, target = read(rng)
    return api, framed(rng, "GET", target, None, api)


class Client:
    """One of the clients: a connection for each API, kept for some requests."""

    def __init__(self, server, seed, end):
        self.server, self.rng, self.end = server, random.Random(seed), end
        self.open = {}
        self.statuses = {}
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def connection(self, api):
        if api not in self.open:
            port = self.server.apis[api] if api else self.server.port
            self.open[api] = socket.create_connection((HOME, port), timeout=5)
        return self.open[api]

    def drop(self, api):
        self.open.pop(api).close()

    def answer(self, sock):
        """The status of a whole answer; None: it is left unread, incomplete, or cut."""
        data = b""
        while len(data) < 64 * 1024 and b"chunked" not in data:
            got = sock.recv(65536)
            data += got
            whole = parse(data) if got else None
            if whole or not got:
                return whole and whole[0]
        return None

    def once(self):
        api, data = any_request(self.rng)
        sock = self.connection(api)
        manner = self.rng.random()
        if manner < 0.05:  # sends half of it and disconnects
            sock.sendall(data[:self.rng.randrange(len(data) + 1)])
            return self.drop(api)
        sock.sendall(data)
        if manner < 0.10:  # does not read
            time.sleep(self.rng.random() / 10)
            return self.drop(api)
        if manner < 0.15:
            sock.shutdown(socket.SHUT_WR)
        whole = self.answer(sock)
        if whole is not None and b"libmicrohttpd" not in whole.body:  # the library answers some 500 itself
            self.statuses[whole.status] = self.statuses.get(whole.status, 0) + 1
        if whole is None or manner < 0.20 or b"close" in whole.headers.lower():
            self.drop(api)

    def run(self):
        while time.monotonic() < self.end and self.server.is_up():
            try:
                self.once()
            except (OSError, ValueError):  # closed by the server; or what was received is not an answer, because of pipelining
                for api in list(self.open):
                    self.drop(api)
        for api in list(self.open):
            self.drop(api)


def fill(server):
    for number, name in enumerate(PROVIDERS):
        server.must("POST", "/resource_providers", {"name": f"host {number}", "uuid": name})
        server.must("PUT", f"/resource_providers/{name}/inventories", {
            "resource_provider_generation": 0, "inventories": {"VCPU": {"total": 1000}, "MEMORY_MB": {"total": 100000}}})


def run(report, berthd, seconds=SECONDS, seed=1, rss_most_mib=RSS_MOST_MIB):
    with Server(berthd, apis=(METAL, VALET), body_memory=BODY_MEMORY_MIB * MIB, access_log="false", header_deadline=2, body_deadline=2,
                query_deadline=2) as server:
        fill(server)
        end = time.monotonic() + seconds
        clients = [Client(server, f"{seed} {n}", end) for n in range(CLIENTS)]
        for client in clients:
            client.thread.join()
        statuses = {}
        for client in clients:
            for status, count in client.statuses.items():
                statuses[status] = statuses.get(status, 0) + count
        report(server.is_up(), f"mixture: seed {seed}: the server is up", server.tail())
        report({200, 204, 400, 404, 409, 413} <= statuses.keys(), "mixture: there is everything in it", str(statuses))
        report(500 not in statuses, "mixture: no internal error", str(statuses))
        if server.is_up():
            report(wait_for(server.is_well, 10), "mixture: the server is well", server.tail())
            report(server.rss_mib() < rss_most_mib, "mixture: memory afterwards", f"{server.rss_mib():.0f} MiB")
    report(not server.complaint, "mixture: the server ends well", server.complaint)
    return statuses


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults = []
    print(run(lambda good, name, detail: good or faults.append((name, detail)), arguments.berthd, arguments.seconds, arguments.seed, 4000))
    for name, detail in faults:
        print(f"FAILED {name}: {detail[-1500:]}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
