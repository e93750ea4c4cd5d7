#!/usr/bin/python3
"""kill -9 under load, and SIGTERM under load: no acknowledged write is lost, and no write is partial.

    tests/crash/kill.py --berthd build/berthd [--kills 100] [--terms 10] [--seed N]
    tests/databases/with_mariadb.py -- tests/crash/kill.py …        on a server

The last line is `N passed, N failed`.
"""

import argparse
import os
import random
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import load  # noqa: E402
import servers  # noqa: E402

WORKERS = 8
TERM_SECONDS = 5


def one_round(server, workers, chance, end):
    """Load, the end of the server, a restart, the check. (problem, seconds that the stop took)."""
    for worker in workers:
        worker.client.port = server.port
    threads = load.start(workers)
    time.sleep(chance.uniform(0.02, 0.25))
    began = time.monotonic()
    status = end(server)
    took = time.monotonic() - began
    for thread in threads:
        thread.join(30)
        if thread.is_alive():
            return "a request got neither an answer nor an end", took
    server.start()
    return (f"exit status {status}" if status else load.check_all(workers, server.client())), took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--terms", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print("seed", options.seed)
    chance, score = random.Random(options.seed), servers.Score()
    with tempfile.TemporaryDirectory(prefix="berth-kill-", dir="/var/tmp") as directory:
        with servers.Berthd(options.berthd, directory, connection=servers.new_database()) as server:
            load.fill(server.client(), WORKERS)
            workers = [load.Worker(n, server.client(timeout=20), chance.random()) for n in range(WORKERS)]
            for number in range(options.kills):
                problem, _ = one_round(server, workers, chance, lambda s: s.kill())
                if problem:
                    score.case(f"kill {number + 1}", problem)
                    print(server.log()[-2000:])
                    return score.end()
                score.passed += 1
            print(f"{options.kills} kills, {sum(w.acknowledged for w in workers)} writes acknowledged")
            for worker in workers:
                worker.ending = True
            for number in range(options.terms):
                try:
                    problem, took = one_round(server, workers, chance, lambda s: s.stop())
                except Exception as failure:
                    problem, took = repr(failure), 0
                if not problem and took > TERM_SECONDS:
                    problem = f"took {took:.1f} s"
                score.case(f"SIGTERM {number + 1}", problem, took)
                if problem:
                    print(server.log()[-2000:])
                    return score.end()
            score.case("everything ever acknowledged", load.check_all(workers, server.client(), everything=True))
            server.stop()
            if server.database is not None:
                found = servers.rows(server.database, "PRAGMA integrity_check")
                score.case("integrity_check", None if found == [("ok",)] else found[:3])
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
