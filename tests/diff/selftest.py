#!/usr/bin/python3
"""Validates the differential itself, without berthd.

1. Two references (with different orders of sets) show no difference.
2. Each corruption of selftest_server.py is found and classified correctly.
3. A reference with some of 8.0.0's bugs removed shows only intended differences, and the states stay in
   step: over-capacity writes, leftover consumers, the three bugs of candidates, the spread of limit.

    tests/diff/selftest.py [KIND ...]       corruptions to try; all if none is named

Two run at a time. The last line is `N passed, N failed`.
"""

import ast
import concurrent.futures
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "selftest_server.py")
MUST_HIT = ("over-capacity", "leftover-consumer", "amounts-grow", "shared-only-anchor", "nested-sharing", "limit-spread")


def kinds():
    """The server's table, without importing the service."""
    with open(SERVER) as file:
        table = re.search(r"^KINDS = (\{.*?^\})", file.read(), re.M | re.S).group(1)
    return ast.literal_eval(table)


def run(server, *more):
    command = [os.path.join(HERE, "run.py"), "--berthd", " ".join([SERVER] + list(server))] + list(more)
    done = subprocess.run(["/usr/bin/python3"] + command, capture_output=True, text=True, timeout=1200)
    return done.returncode, done.stdout + done.stderr


def agree():
    status, output = run([], "--same", "--oracle", "--requests", "900")
    return "two references agree", status == 0, output


def mended():
    # a seed whose walk uses all required entries
    status, output = run(["--newest"], "--allow-500", "--requests", "1800", "--first-seed", "2")
    hits = dict((name, int(n)) for n, name in re.findall(r"^ +(\d+)  ([\w-]+):", output, re.M))
    missed = [name for name in MUST_HIT if not hits.get(name)]
    return "mended faults are intended differences", status == 0 and not missed, output + "never hit: %s\n" % missed


def found(kind, wanted):
    status, output = run(["--mutate", kind], "--same", "--requests", "2500", "--failures", "1")
    first = re.search(r"^  (\S.*)$", output.split("-- request")[0], re.M)
    problem = first.group(1) if first else "nothing"
    return "%s is found: %s" % (kind, problem), status == 1 and re.fullmatch(wanted, problem) is not None, output


def timed(make, *arguments):
    began = time.monotonic()
    return (*make(*arguments), time.monotonic() - began)


def main():
    table = kinds()
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [] if sys.argv[1:] else [pool.submit(timed, mended), pool.submit(timed, agree)]
        jobs += [pool.submit(timed, found, kind, table[kind]) for kind in sys.argv[1:] or table]
        for job in concurrent.futures.as_completed(jobs):
            name, good, output, seconds = job.result()
            passed, failed = passed + good, failed + (not good)
            print("%-6s %s (%.0f s)" % ("ok" if good else "FAILED", name, seconds), flush=True)
            if not good:
                print(output[-3000:], flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
