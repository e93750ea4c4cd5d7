#!/usr/bin/python3
"""The longest time that a single request occupies a worker or the writer: requests that are made to be expensive, each
kind alone, and the longest turn of either thread meanwhile (bench/occupy_watch.c).

    bench/occupy.py [--berthd build/berthd] [--build build] [--runs 5] [KIND…]

Prints for each kind the status, and milliseconds of the longest turn: of processor time, and by the clock, which has the
commits' syncs and other programs in it; the median of the runs. The cloud is that of bench/lanes.py, and its 40 000 hosts
have inventories."""

import argparse
import itertools
import json
import mmap
import os
import socket
import sqlite3
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


ALLOWED = 2400 - 20  # rows, without those of the provider and of names
NEW_ROWS, OLD_ROWS = 5, 2  # that a consumer counts for, beside its allocations
ONE, THREE = {"DISK_GB": 1}, {"CUSTOM_DEVICE": 1, "VCPU": 1, "DISK_GB": 1}


def allocations(kind, numbers, resources, generation=None, owner=PROJECT):
    """What those consumers are to hold of the pool."""
    claim = {"allocations": {lanes.POOL: {"resources": resources}} if resources else {}, **owner,
             "consumer_generation": generation, "consumer_type": "INSTANCE"}
    return {clouds.uuid(kind, i): claim for i in numbers}


def claims(*which):
    return raw("POST", "/allocations", text(allocations(*which)))


def at_the_limit(run):
    """The largest writes that are accepted, as requests that come before and the one that counts."""
    def more(resources):
        return {name: amount + 1 for name, amount in resources.items()}

    def those(rows, resources, then, owner=PROJECT):
        """Consumers that there are: what they are to hold afterwards."""
        kind, numbers = f"{rows}-{len(resources)}-{len(then)}-{run}", range(ALLOWED // rows)
        before = [claims(kind, numbers[i:i + 100], resources) for i in range(0, len(numbers), 100)]
        return None, claims(kind, numbers, then, 1, owner), *before

    yield "new consumers", (None, claims(f"new{run}", range(ALLOWED // (NEW_ROWS + 1)), ONE))
    yield "new consumers, three classes", (None, claims(f"three{run}", range(ALLOWED // (NEW_ROWS + 3)), THREE))
    yield "their amounts", those(OLD_ROWS + 2, ONE, more(ONE))
    yield "their amounts, three classes", those(OLD_ROWS + 6, THREE, more(THREE))
    yield "their owners", those(NEW_ROWS + 2, ONE, ONE, {**PROJECT, "project_id": questions.USER})
    yield "consumers that go", those(NEW_ROWS + 1, ONE, {})
    yield "they go, three classes", those(NEW_ROWS + 3, THREE, {})
    aggregates = [clouds.uuid(f"aggregate{run}", i) for i in range(ALLOWED // 2)]
    place = lambda *request: raw("PUT", f"/resource_providers/{lanes.HOST}/aggregates", text(list(request)), "", "1.1")
    yield "new aggregates", (None, place(*aggregates))
    yield "no aggregates", (None, place())

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
    yield "claims of 1 000 consumers", (None, claims(f"few{run}", range(1000), ONE))
    yield "claims of 20 000 consumers", (None, claims(f"many{run}", range(20000), ONE))
    yield "and without them", (None, claims(f"many{run}", range(20000), {}))
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
    """The lanes' cloud, whose pool has three classes here."""
    path = lanes.make(work)
    db = sqlite3.connect(path)
    pool = db.execute("SELECT id FROM resource_providers WHERE uuid = ?", (lanes.POOL,)).fetchone()[0]
    columns = [column for _, column, *_ in db.execute("PRAGMA table_info(inventories)") if column not in ("id", "resource_class_id")]
    for name in THREE.keys() - ONE.keys():
        db.execute(f"INSERT INTO inventories (resource_class_id, {', '.join(columns)}) SELECT ?, {', '.join(columns)}"
                   " FROM inventories WHERE resource_provider_id = ? AND resource_class_id = 2", (clouds.CLASSES[name], pool))
        db.commit()
    db.close()
    return path


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
            for name, (door, request, *before) in itertools.chain(kinds(run), at_the_limit(run)):
                if names and name not in names:
                    continue
                for earlier in before:
                    ask(ports[door], earlier)
                time.sleep(SETTLE_S)
                turns.reset()
                status = ask(ports[door], request)
                time.sleep(SETTLE_S)  # what comes behind the answer counts, too
                rows.setdefault(name, []).append((turns.read(), status))
        for name, of_runs in rows.items():
            found[name] = {thread: [statistics.median(row[thread][k] for row, _ in of_runs) for k in range(2)]
                           for thread in THREADS}
            statuses = "/".join(sorted({status for _, status in of_runs}))
            print("%-28s %s  " % (name, statuses), "   ".join(
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
