#!/usr/bin/python3
"""Power cuts: a VFS below SQLite keeps unsynced writes in the process, so that killing it loses them. All
acknowledged writes must be there afterwards; with synchronous=OFF some must be missing, or this test proves nothing.
Where syncs and writes fail, refused writes must not be there either.

    tests/crash/powercut.py --build build [--cuts 30] [--reconstructions 150] [--seed N]

The last line is `N passed, N failed`.
"""

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import load  # noqa: E402
import servers  # noqa: E402

WORKERS = 6
EARLY = (0, 128)  # this many of 256 unsynced writes reach the disk nevertheless
FAILING = 40  # of 1024 syncs and writes, where some fail
CHECKPOINTED_BYTES = 8 << 20  # the database file only becomes this large through a checkpoint
SIZE_SECONDS_MOST = 60


def sound(database):
    found = servers.rows(database, "PRAGMA integrity_check")
    return None if found == [("ok",)] else f"integrity_check: {found[:3]}"


def wait_for_size(database, least):
    """Until the file has that many bytes, but not for ever."""
    end = time.monotonic() + SIZE_SECONDS_MOST
    while time.monotonic() < end and (not os.path.exists(database) or os.path.getsize(database) < least):
        time.sleep(0.05)
    time.sleep(0.5)  # it goes on after the checkpoint


def cut_store(program, database, synchronous, early, wait):
    """Commits until it is killed, which is after wait(); (last id acknowledged, problem)."""
    out = database + ".out"
    with open(out, "wb") as file:
        child = subprocess.Popen([program, database, synchronous, str(early)], stdout=file, stderr=subprocess.PIPE)
        wait()
        child.kill()
        # at INFO the log only mentions the schema
        errors = "".join(line for line in child.communicate()[1].decode().splitlines(True) if " INFO " not in line)
    with open(out) as file:
        lines = file.read().splitlines()
    return int(lines[-1]) if lines else 0, errors or None


def missing(database, last):
    """A problem, or None: traits are committed in the order of their ids. A cut may come before the tables exist."""
    if last == 0:
        return None
    there = servers.rows(database, "SELECT coalesce(max(id), 0) FROM traits")[0][0]
    return f"{last} was acknowledged, {there} is the last there" if there < last else None


def check_store(score, options, chance, directory):
    program = os.path.join(options.build, "tests/crash/powercut_store")
    for early in EARLY:
        database, total, problem = os.path.join(directory, f"store-{early}.db"), 0, None
        for number in range(options.cuts):
            last, problem = cut_store(program, database, "full", early, lambda: time.sleep(chance.uniform(0.05, 0.4)))
            problem = problem or missing(database, last) or (number % 5 == 0 and sound(database)) or None
            if problem:
                problem = f"cut {number + 1}: {problem}"
                break
            total = max(total, last)
        if not problem and total == 0:
            problem = "no cut came after a commit: this proves nothing"
        # The connection that checked it has checkpointed, at its close, only durable data.
        score.case(f"store, {options.cuts} cuts, {early} of 256 writes early, {total} commits kept", problem)
    database = os.path.join(directory, "checkpoints.db")
    last, problem = cut_store(program, database, "full", 128, lambda: wait_for_size(database, CHECKPOINTED_BYTES))
    size = os.path.getsize(database)
    if not problem and size < CHECKPOINTED_BYTES:
        problem = f"no checkpoint was made in {last} commits ({size} bytes)"
    score.case("store, cut long after a checkpoint", problem or missing(database, last) or sound(database))
    lost = 0
    for number in range(5):
        database = os.path.join(directory, f"off-{number}.db")
        cut_store(program, database, "full", 0, lambda: time.sleep(0.3))  # a valid file to begin with
        sound(database)
        last, problem = cut_store(program, database, "off", 0, lambda: time.sleep(0.4))
        try:
            lost += bool(missing(database, last))
        except sqlite3.DatabaseError:
            lost += 1  # without syncs the file may also be damaged
    score.case("store, synchronous=OFF loses something", None if lost else "5 cuts lost nothing: this proves nothing")


def check_faults(score, options, directory):
    """Syncs and writes also fail: cuts at random moments inside the process, which checks them itself."""
    program = os.path.join(options.build, "tests/crash/powercut_faults")
    done = subprocess.run([program, directory, str(options.seed), str(options.reconstructions)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    lines = done.stdout.splitlines() or ["it printed nothing"]
    score.case(f"store, some syncs and writes fail: {lines[-1]}", "\n".join(lines[:10]) if done.returncode else None)


def check_daemon(score, options, chance, directory):
    library = os.path.abspath(os.path.join(options.build, "tests/crash/libpowercut.so"))
    berthd = os.path.join(options.build, "berthd")
    plain = servers.Berthd(berthd, directory)
    with plain:
        load.fill(plain.client(), WORKERS)
        plain.stop()
        workers = [load.Worker(n, plain.client(timeout=20), chance.random()) for n in range(WORKERS)]
        for early, failing in [(early, 0) for early in EARLY] + [(EARLY[1], FAILING)]:
            problem = None
            for worker in workers:
                worker.refused = 0 if failing else None
            for number in range(options.cuts):
                cut = servers.Berthd(berthd, directory, environment={"LD_PRELOAD": library,
                                                                     "POWERCUT_EARLY": str(early),
                                                                     "POWERCUT_FAIL": str(failing)})
                with cut:
                    if "powercut: in place" not in cut.log():
                        problem = "the VFS is not in place"
                        break
                    for worker in workers:
                        worker.client.port = cut.port
                    threads = load.start(workers)
                    time.sleep(chance.uniform(0.02, 0.3))
                    cut.kill()
                for thread in threads:
                    thread.join(30)
                plain.start()
                problem = load.check_all(workers, plain.client())
                plain.stop()
                if problem:
                    problem = f"cut {number + 1}: {problem}"
                    break
            total = sum(worker.acknowledged for worker in workers)
            refused = sum(worker.refused or 0 for worker in workers)
            if failing and not problem and refused == 0:
                problem = "nothing was refused: this proves nothing"
            score.case(f"berthd, {options.cuts} cuts, {early} of 256 writes early, {failing} of 1024 fail, {total} writes "
                       f"acknowledged, {refused} refused", problem or sound(plain.database))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--cuts", type=int, default=30)
    parser.add_argument("--reconstructions", type=int, default=150)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print("seed", options.seed)
    score = servers.Score()
    with tempfile.TemporaryDirectory(prefix="berth-powercut-", dir="/var/tmp") as directory:
        check_store(score, options, random.Random(options.seed), directory)
        check_faults(score, options, directory)
        check_daemon(score, options, random.Random(options.seed + 1), directory)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
