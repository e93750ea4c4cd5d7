#!/usr/bin/python3
"""Runs the unit tests and the replay of the fuzz corpora of a build directory, and counts cmocka's tests.

    tests/units.py BUILD [--slow N]       N: how much longer tests may take than in a plain build

The last line is `N passed, N failed`; a program that is no cmocka test counts as one.
"""

import argparse
import json
import os
import re
import subprocess
import sys


def count(test):
    text = test.get("stdout", "") + test.get("stderr", "")
    passed = sum(int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) test", text, re.M))
    failed = sum(int(n) for n in re.findall(r"^\[  FAILED  \] (\d+) test", text, re.M))
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if passed + failed == 0:
        return (1, 0) if good else (0, 1)
    return passed, failed if good else max(failed, 1)  # a crash leaves no FAILED line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--slow", type=int, default=1)
    options = parser.parse_args()
    log = os.path.join(options.build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    subprocess.run(["meson", "test", "-C", options.build, "--no-rebuild", "--print-errorlogs",
                    "--timeout-multiplier", str(options.slow)])
    passed = failed = 0
    with open(log) as lines:
        for line in lines:
            test = json.loads(line)
            good, bad = count(test)
            passed, failed = passed + good, failed + bad
            if bad:
                print(f"FAILED {test['name']}: {bad} of {good + bad}, {test['result']}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
