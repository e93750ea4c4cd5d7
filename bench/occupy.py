#!/usr/bin/python3
"""The longest time that a single request occupies a worker or the writer: requests that are made to be expensive, each
kind alone, and the longest turn of either thread meanwhile (bench/occupy_watch.c).

    bench/occupy.py [--berthd build/berthd] [--build build] [--runs 5] [KIND…]

Prints for each kind the status, and milliseconds of the longest turn: of processor time, and by the clock, which has the
commits' syncs and other programs in it; the median of the runs. The cloud is that of bench/lanes.py, and its 40 000 hosts
have inventories."""

import argparse
import json
import mmap
import os
import socket
import statistics
import struct
import time

import clouds
import lanes
import measure
import questions

HERE = os.path.dirname(os.path.abspath(__file__))
THREADS = "worker", "writer"
SETTLE_S = 0.15
CONSUMER = "consumer"
PROJECT = {"project_id": questions.PROJECT, "user_id": questions.USER}
VALET, METAL = "valet", "baremetal"
BODY_BYTES, PLAN_BYTES = 8 << 20, (1 << 20) - 100


class Turns:
    """The longest turns so far: three numbers for each thread."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(24 * len(THREADS)))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def reset(self):
        self.map[:] = bytes(len(self.map))

    def read(self):
        numbers = struct.unpack(f"{3 * len(THREADS)}Q", self.map[:])
        return {thread: (numbers[3 * i + 1] / 1e6, numbers[3 * i + 2] / 1e6) for i, thread in enumerate(THREADS)}


def raw(method, target, body=b"", headers="", version="1.39"):
    length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    return (f"{method} {target} HTTP/1.1\r\nHost: a\r\nX-Auth-Token: admin\r\nOpenStack-API-Version: placement {version}\r\n"
            f"X-OpenStack-Ironic-API-Version: 1.82\r\n{headers}{length}\r\n").encode() + body


def until(size, make):
    """A list of so many bytes as JSON."""
    return [make(i) for i in range(size // (len(json.dumps(make(0))) + 2))]


def text(value):
    return json.dumps(value).encode()


def allocations(kind, count):
    """Claims of so many new consumers, one unit of the pool each."""
    return {clouds.uuid(kind, i): {"allocations": {lanes.POOL: {"resources": {"DISK_GB": 1}}}, **PROJECT,
                                   "consumer_generation": None, "consumer_type": "INSTANCE"} for i in range(count)}


def kinds(run=0):
    """Name, door, and what is sent in that run."""
    lines = "\r\n".join(f"X-{i}: {i}" for i in range(1000)) + "\r\n"
    aggregates = ",".join(clouds.uuid("aggregate", i) for i in range(1600))
    traits = ",".join(f"CUSTOM_{i}" for i in range(5000))[:60000]
    place = lambda *request: (None, raw(*request))
    yield "a small GET", place("GET", f"/resource_providers/{lanes.HOST}")
    yield "60 KiB of path", place("GET", "/" + "a" * 60000)
    yield "60 KiB of path in segments", place("GET", "/a" * 30000)
    yield "60 KiB of escapes", place("GET", "/resource_providers?name=" + "%41" * 20000)
    yield "30 KiB of member_of", place("GET", f"/resource_providers?member_of=in:{aggregates[:37 * 800 - 1]}")
    yield "60 KiB of member_of", place("GET", f"/resource_providers?member_of=in:{aggregates}")
    yield "60 KiB of required", place("GET", f"/allocation_candidates?resources=VCPU:1&required=in:{traits}")
    yield "60 KiB of arguments", place("GET", "/resource_providers?" + "&".join(["a=1"] * 15000))
    yield "60 KiB of groups", place("GET", "/allocation_candidates?group_policy=none&" + "&".join(
        f"resources{i}=VCPU:1" for i in range(3000))[:60000])
    yield "a header of 60 KiB", place("GET", "/resource_providers", b"", f"X-A: {'a' * 60000}\r\n")
    yield "60 KiB of cookies", place("GET", "/resource_providers", b"", f"Cookie: {'; '.join(['a=b'] * 12000)}\r\n")
    yield "a token of 60 KiB", place("GET", "/resource_providers", b"", f"X-Service-Token: {'a' * 60000}\r\n")
    yield "1 000 headers", place("GET", "/resource_providers", b"", lines)
    yield "a list of 40 000 hosts", place("GET", "/resource_providers")
    yield "1 000 candidates", place("GET", "/allocation_candidates?resources=VCPU:1&limit=1000")
    yield "candidates of 40 000 hosts", place("GET", "/allocation_candidates?resources=VCPU:1")
    yield "candidates, three classes", place("GET", "/allocation_candidates?" + questions.THREE)
    yield "an endless search", place("GET", lanes.endless())
    yield "200 000 consumers", place("GET", f"/resource_providers/{lanes.POOL}/allocations")
    yield "their usages", place("GET", f"/resource_providers/{lanes.POOL}/usages")
    yield "usages of a project", place("GET", f"/usages?project_id={questions.PROJECT}")
    names = [f"CUSTOM_{i:060}" for i in range(BODY_BYTES // 66)]
    yield "8 MiB of traits", place("PUT", f"/resource_providers/{lanes.HOST}/traits", text(
        {"resource_provider_generation": 1, "traits": names}))
    yield "8 MiB of numbers", place("PUT", f"/resource_providers/{lanes.HOST}/traits", text(
        {"resource_provider_generation": 1, "traits": [1] * (BODY_BYTES // 3)}))
    yield "8 MiB of no JSON", place("PUT", f"/resource_providers/{lanes.HOST}/traits", b"[" * BODY_BYTES)
    yield "15 KiB of no JSON", place("PUT", f"/resource_providers/{lanes.HOST}/traits", b"[" * 15000)
    yield "15 KiB of traits", place("PUT", f"/resource_providers/{lanes.HOST}/traits", text(
        {"resource_provider_generation": 1, "traits": [f"CUSTOM_{i}" for i in range(1000)]}))
    yield "inventories of 8 MiB", place("PUT", f"/resource_providers/{lanes.HOST}/inventories", text(
        {"resource_provider_generation": 1, "inventories": {f"CUSTOM_{i:060}": {"total": 1} for i in range(90000)}}))
    yield "aggregates of 8 MiB", place("PUT", f"/resource_providers/{lanes.HOST}/aggregates", text(
        [clouds.uuid("many", i) for i in range(BODY_BYTES // 40)]), "", "1.1")
    yield "claims of 1 000 consumers", place("POST", "/allocations", text(allocations(f"few{run}", 1000)))
    yield "claims of 20 000 consumers", place("POST", "/allocations", text(allocations(f"many{run}", 20000)))
    yield "and without them", place("POST", "/allocations", text(
        {uuid: {**claim, "consumer_generation": 1, "allocations": {}} for uuid, claim in allocations(f"many{run}", 20000).items()}))
    yield "a reshape of 8 MiB", place("POST", "/reshaper", text({"inventories": {
        clouds.uuid("reshape", i): {"resource_provider_generation": 0, "inventories": {}} for i in range(80000)},
        "allocations": {}}))
    yield "a node of 1 MiB", (METAL, raw("POST", "/v1/nodes", text({"driver": "fake-hardware", "extra": {"a": "x" * 900000}})))
    yield "a node of many values", (METAL, raw("POST", "/v1/nodes", text({"driver": "fake-hardware", "extra": {
        f"k{i}": i for i in range(60000)}})))
    yield "a plan of 1 MiB", (VALET, raw("POST", "/v1/plans", text({"stack": until(PLAN_BYTES, lambda i: {"name": f"s{i}"})})))


def server_of(binary, build, work, turns):
    ports = {door: measure.free_port() for door in (VALET, METAL)}
    config = os.path.join(work, "occupy.conf")
    with open(config, "w") as file:
        for door, port in ports.items():
            file.write(f"[{door}]\nenabled = true\nlisten = 127.0.0.1:{port}\n")
    os.environ["BERTH_TURNS"], os.environ["LD_PRELOAD"] = turns, os.path.join(build, "bench", "liboccupy_watch.so")
    try:
        server = measure.berthd(binary, database(work), work, "--config-file", config)
    finally:
        del os.environ["BERTH_TURNS"], os.environ["LD_PRELOAD"]
    return server, {None: server.port, **ports}


def database(work):
    """The lanes' cloud."""
    return lanes.make(work)


def ask(port, request):
    """The status, when all of the answer has come."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as sock:
        head, _, body = request.partition(b"\r\n\r\n")
        answer = b""
        try:
            sock.sendall(head + b"\r\nConnection: close\r\n\r\n" + body)
        except OSError:
            pass  # it has been answered before
        try:
            while piece := sock.recv(1 << 20):
                answer = answer or piece
        except OSError:
            pass
    return answer[9:12].decode() or "---"


def measured(binary, build, work, runs=5, names=()):
    path = os.path.join(work, "turns")
    turns = Turns(path)
    server, ports = server_of(binary, build, work, path)
    found = {}
    try:
        ask(ports[None], raw("GET", f"/resource_providers/{lanes.HOST}"))
        rows = {}
        for run in range(runs):
            for name, (door, request) in kinds(run):
                if names and name not in names:
                    continue
                time.sleep(SETTLE_S)
                turns.reset()
                status = ask(ports[door], request)
                time.sleep(SETTLE_S)  # what comes behind the answer counts, too
                rows.setdefault(name, []).append((turns.read(), status))
        for name, of_runs in rows.items():
            found[name] = {thread: [statistics.median(row[thread][k] for row, _ in of_runs) for k in range(2)]
                           for thread in THREADS}
            print("%-28s %s  " % (name, of_runs[0][1]), "   ".join(
                "%s %7.2f cpu %7.2f clock" % (thread, *found[name][thread]) for thread in THREADS), flush=True)
    finally:
        server.stop()
    for thread in THREADS:
        worst = max(found, key=lambda name: found[name][thread][0])
        print(f"{thread}: {found[worst][thread][0]:.2f} ms of processor time at most, {worst}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd")
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--work", default="/var/tmp/berth-bench")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    binary = arguments.berthd or os.path.join(arguments.build, "berthd")
    measured(binary, arguments.build, arguments.work, arguments.runs, arguments.kinds)


if __name__ == "__main__":
    main()
