#!/usr/bin/python3
"""Proves the differential itself, without berthd.

1. Two references (with different orders of sets) show no difference.
2. Each corruption of selftest_server.py is found.
3. A reference with some of 8.0.0's faults taken out shows only intended differences, and the states stay in
   step: over-capacity writes, leftover consumers, the three faults of candidates, the spread of limit.

    tests/diff/selftest.py [KIND ...]       corruptions to try; all if none is named
"""

import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
SERVER = os.path.join(HERE, "selftest_server.py")
KINDS = re.search(r'KINDS = \((.*?)\)', open(SERVER).read(), re.S).group(1).replace('"', " ").split()
MUST_HIT = ("over-capacity", "leftover-consumer", "amounts-grow", "shared-only-anchor", "nested-sharing", "limit-spread")


def run(server, *more):
    command = [os.path.join(HERE, "run.py"), "--berthd", " ".join([SERVER] + list(server))] + list(more)
    done = subprocess.run(["/usr/bin/python3"] + command, capture_output=True, text=True, timeout=1200)
    return done.returncode, done.stdout + done.stderr


def main():
    passed = failed = 0

    def judge(name, good, output):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        print("%-6s %s (%.0f s)" % ("ok" if good else "FAILED", name, time.monotonic() - began), flush=True)
        if not good:
            print(output[-3000:])

    if len(sys.argv) == 1:
        began = time.monotonic()
        status, output = run([], "--same", "--oracle", "--requests", "3000")
        judge("two references agree", status == 0, output)
        began = time.monotonic()
        status, output = run(["--newest"], "--allow-500", "--requests", "5000")
        hits = dict((name, int(n)) for n, name in re.findall(r"^ +(\d+)  ([\w-]+):", output, re.M))
        judge("mended faults are intended differences", status == 0 and all(hits.get(n) for n in MUST_HIT), output)
    for kind in sys.argv[1:] or KINDS:
        began = time.monotonic()
        status, output = run(["--mutate", kind], "--same", "--requests", "2500", "--failures", "1")
        found = re.findall(r"^  (\S.*)$", output.split("-- request")[0], re.M)
        judge("%s is found: %s" % (kind, "; ".join(found[:2])), status == 1 and "harness itself" not in output, output)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
