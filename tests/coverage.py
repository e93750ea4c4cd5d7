#!/usr/bin/python3
"""Line coverage of src/: the functional suites on a build that counts, then a report by folder.

    tests/coverage.py [--report]     --report: of what was counted before, without running anything

The build is build-gcov/, and the lines that nothing ran are in build-gcov/uncovered.txt, by file. What is killed does not
write its counts, so suites of kills are left out. The last line is `N passed, N failed`: a case is a suite, and one is the
goal.
"""

import argparse
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = "build-gcov"
GOAL_PERCENT = 90
PYTHON = "/usr/bin/python3"
BERTHD = BUILD + "/berthd"

SUITES = [
    ["tests/units.py", BUILD],
    ["tests/api/run.py", "--berthd", BERTHD],
    ["tests/valet/api.py", "--berthd", BERTHD],
    ["tests/valet/contract.py", "--berthd", BERTHD],
    ["tests/valet/plans.py", "--berthd", BERTHD],
    ["tests/valet/changes.py", "--berthd", BERTHD, "--walks", "3"],
    ["tests/valet/ids.py", "--berthd", BERTHD],
    ["tests/valet/answers.py", "--berthd", BERTHD],
    ["tests/baremetal/api.py", "--berthd", BERTHD],
    ["tests/baremetal/clients.py", "--berthd", BERTHD],
    ["tests/policy/run.py", "--build", BUILD],
    ["tests/keystone/run.py", "--berthd", BERTHD],
    ["tests/keystone/faults.py", "--berthd", BERTHD],
    ["tests/conf/run.py", "--build", BUILD],
    ["tests/conf/reload.py", "--berthd", BERTHD],
    ["tests/cli/run.py", "--build", BUILD],
    ["tests/cli/operator.py", "--build", BUILD],
    ["tests/logging/run.py", "--berthd", BERTHD, "files", "daemons", "reasons", "configurations"],
    ["tests/admin/run.py", "--berthd", BERTHD],
    ["tests/faults/run.py", "--berthd", BERTHD],
    ["tests/faults/backups.py", "--berthd", BERTHD],
    ["tests/hostile/run.py", "--berthd", BERTHD, "malformed", "bodies", "slow", "metal", "greedy"],
    ["tests/running/run.py", "--berthd", BERTHD, "--quick", "tls", "sockets", "words", "status", "stop", "restart"],
]


def run_suites():
    """The names of those that failed."""
    if not os.path.exists(os.path.join(ROOT, BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, "--buildtype=debug", "-Db_coverage=true", "-Doptimization=0",
                        "-Dc_args=-fprofile-update=atomic"], cwd=ROOT, check=True)
    subprocess.run(["ninja", "-C", BUILD, "--quiet"], cwd=ROOT, check=True)
    subprocess.run(["find", BUILD, "-name", "*.gcda", "-delete"], cwd=ROOT, check=True)
    failed = []
    for suite in SUITES:
        done = subprocess.run([PYTHON, *suite], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        last = (done.stdout.splitlines() or ["no output"])[-1]
        print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {' '.join(suite)}: {last}", flush=True)
        if done.returncode:
            failed.append(suite[0])
            print("\n".join(line for line in done.stdout.splitlines() if line.startswith("FAILED"))[:3000], flush=True)
    return failed


def counted_lines():
    """{file below src/: {line: whether anything ran it}}"""
    lines = collections.defaultdict(dict)
    found = subprocess.run(["find", os.path.join(BUILD, "src"), "-name", "*.gcno"], cwd=ROOT, capture_output=True, text=True)
    for notes in sorted(found.stdout.split()):
        done = subprocess.run(["gcov", "--json-format", "--stdout", os.path.abspath(os.path.join(ROOT, notes))],
                              cwd=os.path.join(ROOT, BUILD), capture_output=True, text=True)
        for text in done.stdout.splitlines():
            for file in json.loads(text)["files"]:
                name = os.path.relpath(os.path.normpath(os.path.join(ROOT, BUILD, file["file"])), ROOT)
                if not name.startswith("src/"):
                    continue
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[name][number] = lines[name].get(number, False) or line["count"] > 0
    return lines


def spans(numbers):
    """[1, 2, 3, 7] as "1-3, 7"."""
    text, begin, last = [], None, None
    for number in [*sorted(numbers), None]:
        if begin is not None and number != last + 1:
            text.append(f"{begin}-{last}" if last > begin else f"{begin}")
            begin = None
        begin = number if begin is None else begin
        last = number
    return ", ".join(text)


def report(lines):
    """The percentage of lines that were run."""
    folders = collections.defaultdict(lambda: [0, 0])
    with open(os.path.join(ROOT, BUILD, "uncovered.txt"), "w", encoding="utf-8") as file:
        for name, counted in sorted(lines.items()):
            missing = [number for number, ran in counted.items() if not ran]
            folder = os.path.dirname(name)
            folders[folder][0] += len(counted) - len(missing)
            folders[folder][1] += len(counted)
            if missing:
                file.write(f"{name}: {spans(missing)}\n")
    for folder, (ran, all_of_it) in sorted(folders.items()):
        print(f"{100 * ran / all_of_it:6.1f} %  {ran:6} of {all_of_it:6}  {folder}")
    ran, all_of_it = (sum(counts[i] for counts in folders.values()) for i in (0, 1))
    percent = 100 * ran / max(1, all_of_it)
    print(f"{percent:6.1f} %  {ran:6} of {all_of_it:6}  src")
    return percent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    failed = [] if options.report else run_suites()
    percent = report(counted_lines())
    if percent < GOAL_PERCENT:
        print(f"FAILED less than {GOAL_PERCENT} %")
        failed.append("the goal")
    count = 1 if options.report else len(SUITES) + 1
    print(f"{count - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
