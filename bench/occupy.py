#!/usr/bin/python3
"""The longest time for which a single request occupies a worker or the writer: expensive requests, each kind alone,
and the longest busy period of either thread meanwhile (bench/occupy_watch.c).

    bench/occupy.py [--berthd build/berthd] [--build build] [--runs 5] [KIND…]

Prints for each kind the status, and the milliseconds of the longest busy period: in processor time, and by the clock,
which includes the commits' syncs and other programs; the median of the runs. The cloud is that of bench/lanes.py, and
its 40 000 hosts have inventories."""

import argparse
import mmap
import os
import sqlite3
import statistics
import struct
import time

import clouds
import lanes
import measure
import occupy_kinds

HERE = os.path.dirname(os.path.abspath(__file__))
THREADS = "worker", "writer"
REST_S = 0.15


class Turns:
    """The longest busy periods so far: three numbers for each thread."""

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


def server_of(binary, build, work, turns):
    ports = {api: measure.free_port() for api in (occupy_kinds.VALET, occupy_kinds.METAL)}
    config = os.path.join(work, "occupy.conf")
    with open(config, "w") as file:
        for api, port in ports.items():
            file.write(f"[{api}]\nenabled = true\nlisten = 127.0.0.1:{port}\n")
    os.environ["BERTH_TURNS"], os.environ["LD_PRELOAD"] = turns, os.path.join(build, "bench", "liboccupy_watch.so")
    try:
        server = measure.berthd(binary, database(work), work, "--config-file", config)
    finally:
        del os.environ["BERTH_TURNS"], os.environ["LD_PRELOAD"]
    return server, {None: server.port, **ports}


def database(work):
    """The cloud of lanes.py, but its pool has three classes."""
    path = lanes.make(work)
    db = sqlite3.connect(path)
    pool = db.execute("SELECT id FROM resource_providers WHERE uuid = ?", (lanes.POOL,)).fetchone()[0]
    columns = [column for _, column, *_ in db.execute("PRAGMA table_info(inventories)") if column not in ("id", "resource_class_id")]
    for name in occupy_kinds.THREE.keys() - occupy_kinds.ONE.keys():
        db.execute(f"INSERT INTO inventories (resource_class_id, {', '.join(columns)}) SELECT ?, {', '.join(columns)}"
                   " FROM inventories WHERE resource_provider_id = ? AND resource_class_id = 2", (clouds.CLASSES[name], pool))
    db.commit()
    db.close()
    return path


def measured(binary, build, work, runs=5, names=()):
    path = os.path.join(work, "turns")
    turns = Turns(path)
    server, ports = server_of(binary, build, work, path)
    found = {}
    try:
        occupy_kinds.ask(ports[None], occupy_kinds.raw("GET", f"/resource_providers/{lanes.HOST}"))
        rows = {}
        for run in range(runs):
            for name, (api, prepare) in occupy_kinds.kinds(run):
                if names and name not in names:
                    continue
                request = prepare(ports)
                time.sleep(REST_S)
                turns.reset()
                status = occupy_kinds.ask(ports[api], request)
                time.sleep(REST_S)  # work after the answer counts, too
                rows.setdefault(name, []).append((turns.read(), status))
        for name, of_runs in rows.items():
            found[name] = {thread: [statistics.median(row[thread][k] for row, _ in of_runs) for k in range(2)]
                           for thread in THREADS}
            statuses = "/".join(sorted({status for _, status in of_runs}))
            print("%-28s %s  " % (name, statuses), "   ".join(
                "%s %7.2f cpu %7.2f clock" % (thread, *found[name][thread]) for thread in THREADS), flush=True)
    finally:
        server.stop()
    return found


def worst(found):
    """The longest busy period of each thread, and its request; requests that only Valet's own limits permit are
    listed separately."""
    def longest(thread, are_valet):
        names = [name for name in found if (name in occupy_kinds.OF_VALET) == are_valet]
        return max(((found[name][thread][0], name) for name in names), default=None)

    return {"worker": longest("worker", False), "writer": longest("writer", False),
            "writer, at Valet's limits": longest("writer", True)}


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
    found = measured(binary, arguments.build, arguments.work, arguments.runs, arguments.kinds)
    for thread, (ms, name) in filter(lambda item: item[1], worst(found).items()):
        print(f"{thread}: {ms:.2f} ms of processor time at most, {name}")


if __name__ == "__main__":
    main()
