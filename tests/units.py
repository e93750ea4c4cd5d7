#!/usr/bin/python3
"""Runs the unit tests and the replay of the fuzz corpora of a build directory, and counts cmocka's tests.

    tests/units.py BUILD [--slow N] [--only PREFIX,... | --without PREFIX,...] [--targets]

--slow: by how much the limits of the tests' time are multiplied, which are for a plain build on a machine that does nothing else.
--only, --without: runs, or leaves out, the tests whose names begin with a prefix, or match a pattern as of the shell. --targets:
runs nothing, but prints the targets of ninja that these tests need, and all others that no test needs.

The last line is `N passed, N failed`; a program that is not a cmocka test counts as one.
"""

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys


REASONS_MOST = 6  # lines for each test
BUSY = 4  # beside other parts and other work, tests have taken five times as long as alone


def text_of(test):
    return test.get("stdout", "") + test.get("stderr", "")


def reasons(test):
    """The lines that say why it failed: of cmocka, of check() and of sanitizers, or else what was printed last, as by a server
    that did not start."""
    text = text_of(test)
    found = re.findall(r"^(?:\[  ERROR   \]|\[   LINE   \]|.*check failed: |SUMMARY: |.*runtime error: ).*", text, re.M)
    return found[:REASONS_MOST] or text.strip().splitlines()[-REASONS_MOST:]


def count(test):
    text = text_of(test)
    passed = sum(int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) test", text, re.M))
    failed = sum(int(n) for n in re.findall(r"^\[  FAILED  \] (\d+) test", text, re.M))
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if passed + failed == 0:
        return (1, 0) if good else (0, 1)
    return passed, failed if good else max(failed, 1)  # a crash leaves no FAILED line


def matches(name, entries):
    """Whether it begins with one of them, or matches one that is a pattern."""
    return any(fnmatch.fnmatchcase(name, entry) if "*" in entry else name.startswith(entry) for entry in entries)


def names(build, only, without):
    """Those that match an entry of `only`, or none of `without`; meson accepts them as [project:]name."""
    lines = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--list"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines()
    found = [line.split(" / ", 1)[1].strip() for line in lines if " / " in line]
    unused = [entry for entry in only + without if not any(matches(name, (entry,)) for name in found)]
    if unused:
        raise SystemExit(f"no test begins with {', '.join(unused)}")
    return [name for name in found if matches(name, only or ("",)) and not matches(name, without)]


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", build, what], stdout=subprocess.PIPE, check=True).stdout)


def targets(build, chosen):
    """What ninja builds by default, except the programs that only other tests need, and the libraries, which come along."""
    needed, needless = set(), set()
    for test in introspect(build, "--tests"):
        (needed if test["name"] in chosen else needless).update(test["depends"])
    return [os.path.relpath(file, build) for target in introspect(build, "--targets") for file in target["filename"]
            if target["build_by_default"] and target["type"] != "static library" and target["id"] not in needless - needed]


def prefixes(text):
    return tuple(text.split(","))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--slow", type=int, default=BUSY)
    parser.add_argument("--only", type=prefixes, default=())
    parser.add_argument("--without", type=prefixes, default=())
    parser.add_argument("--targets", action="store_true")
    options = parser.parse_args()
    chosen = names(options.build, options.only, options.without)
    if options.targets:
        print("\n".join(targets(os.path.abspath(options.build), chosen)))
        return 0
    log = os.path.join(options.build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    subprocess.run(["meson", "test", "-C", options.build, "--no-rebuild", "--print-errorlogs",
                    "--timeout-multiplier", str(options.slow), *chosen])
    passed = failed = 0
    with open(log) as lines:
        for line in lines:
            test = json.loads(line)
            good, bad = count(test)
            passed, failed = passed + good, failed + bad
            if bad:
                print(f"FAILED {test['name']}: {bad} of {good + bad}, {test['result']}")
                for line in reasons(test):
                    print(f"    {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
