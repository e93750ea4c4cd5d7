#!/usr/bin/python3
"""Line coverage of src/: runs the functional suites on a build that counts, then reports by folder.

    tests/coverage.py [--report | --add WORD...]

--report: report what was counted before, run nothing. --add: run only the suites whose command has one of these words,
and add their counts to those of before.

The build is build-gcov/. The lines that nothing ran are in build-gcov/uncovered.txt, by file and function. tests/uncovered.md
lists the functions that may have such lines, each with the reason; a function that has some and is not listed is a failure.
A process that is killed does not write its counts, so suites of kills are left out, and servers.py stops its servers in
order. The last line is `N passed, N failed`: each suite is a case, the goal is one, and the list is one.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = "build-gcov"
LIST = "tests/uncovered.md"
GOAL_PERCENT = 90
PYTHON = "/usr/bin/python3"
BERTHD = BUILD + "/berthd"

SUITES = [
    ["tests/units.py", BUILD, "--slow", "4", "--without", "valet/solve/cost"],  # which measures time
    ["tests/api/run.py", "--berthd", BERTHD],
    ["tests/valet/api.py", "--berthd", BERTHD],
    ["tests/valet/contract.py", "--berthd", BERTHD],
    ["tests/valet/plans.py", "--berthd", BERTHD],
    ["tests/valet/changes.py", "--berthd", BERTHD, "--walks", "3"],
    ["tests/valet/ids.py", "--berthd", BERTHD],
    ["tests/valet/answers.py", "--berthd", BERTHD],
    ["tests/valet/enforced.py", "--berthd", BERTHD],
    ["tests/baremetal/api.py", "--berthd", BERTHD],
    ["tests/baremetal/clients.py", "--berthd", BERTHD],
    ["tests/policy/run.py", "--build", BUILD],
    ["tests/keystone/run.py", "--berthd", BERTHD],
    ["tests/keystone/faults.py", "--berthd", BERTHD],
    ["tests/conf/run.py", "--build", BUILD],
    ["tests/databases/sessions.py", "--build", BUILD],
    ["tests/databases/schema.py", "--build", BUILD],
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


def build():
    if not os.path.exists(os.path.join(ROOT, BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, "--buildtype=debug", "-Db_coverage=true", "-Doptimization=0",
                        "-Dc_args=-fprofile-update=atomic"], cwd=ROOT, check=True)
    subprocess.run(["ninja", "-C", BUILD, "--quiet"], cwd=ROOT, check=True)


def run_suites(suites):
    """The names of those that failed."""
    failed = []
    for suite in suites:
        done = subprocess.run([PYTHON, *suite], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, "BERTH_COUNTS_LINES": "1"})
        last = (done.stdout.splitlines() or ["no output"])[-1]
        print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {' '.join(suite)}: {last}", flush=True)
        if done.returncode:
            failed.append(suite[0])
            print("\n".join(line for line in done.stdout.splitlines() if line.startswith("FAILED"))[:3000], flush=True)
    return failed


def counted_lines():
    """{file below src/: {line: (its function, whether anything ran it)}}"""
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
                    function, ran = lines[name].get(number, (line.get("function_name", "?"), False))
                    lines[name][number] = function, ran or line["count"] > 0
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


def uncovered_functions(lines):
    """{(file below src/, function): the lines that nothing ran}"""
    found = collections.defaultdict(list)
    for name, counted in sorted(lines.items()):
        for number, (function, ran) in sorted(counted.items()):
            if not ran:
                found[name.removeprefix("src/"), function].append(number)
    return found


def listed_functions():
    """The (file below src/, function) of each row of tests/uncovered.md."""
    with open(os.path.join(ROOT, LIST), encoding="utf-8") as file:
        return set(re.findall(r"^\| `([\w/.]+)` \| `(\w+)` \|", file.read(), re.M))


def report(lines):
    """The percentage of lines that were run."""
    folders = collections.defaultdict(lambda: [0, 0])
    for name, counted in sorted(lines.items()):
        folder = os.path.dirname(name)
        folders[folder][0] += sum(ran for _, ran in counted.values())
        folders[folder][1] += len(counted)
    for folder, (ran, all_of_it) in sorted(folders.items()):
        print(f"{100 * ran / all_of_it:6.1f} %  {ran:6} of {all_of_it:6}  {folder}")
    ran, all_of_it = (sum(counts[i] for counts in folders.values()) for i in (0, 1))
    percent = 100 * ran / max(1, all_of_it)
    print(f"{percent:6.1f} %  {ran:6} of {all_of_it:6}  src")
    return percent


def compare_with_list(uncovered):
    """Whether each function with uncovered lines is listed. Listed ones that are covered may be so by chance: a race, the
    load of the machine. They are only named."""
    with open(os.path.join(ROOT, BUILD, "uncovered.txt"), "w", encoding="utf-8") as file:
        for (name, function), numbers in uncovered.items():
            file.write(f"{name} {function}: {spans(numbers)}\n")
    listed = listed_functions()
    for name, function in sorted(listed - uncovered.keys()):
        print(f"covered this time, but listed: {name} {function}")
    missing = sorted(uncovered.keys() - listed)
    for name, function in missing:
        print(f"FAILED not in {LIST}: {name} {function}: {spans(uncovered[name, function])}")
    return not missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--add", nargs="+", metavar="WORD")
    options = parser.parse_args()
    suites = [suite for suite in SUITES if not options.add or any(word in " ".join(suite) for word in options.add)]
    if options.report:
        suites = []
    else:
        build()
    if not options.report and not options.add:
        subprocess.run(["find", BUILD, "-name", "*.gcda", "-delete"], cwd=ROOT, check=True)
    failed = run_suites(suites)
    lines = counted_lines()
    if report(lines) < GOAL_PERCENT:
        print(f"FAILED less than {GOAL_PERCENT} %")
        failed.append("the goal")
    if not compare_with_list(uncovered_functions(lines)):
        failed.append("the list")
    print(f"{len(suites) + 2 - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
