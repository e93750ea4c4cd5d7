#!/usr/bin/python3
"""The real `openstack` client against berth: every command of osc-placement, its output compared with that of the
same walk against the Python service (walk.py has the commands).

    tests/e2e/run.py --berthd build/berthd [--show] [VERSION…]

The Python service runs on a copy of a database that berth created, so that standard classes and traits are equal. The
last line is `N passed, N failed`: a case is one command at one version.
"""

import argparse
import concurrent.futures
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402

VERSIONS = ("1.0", "1.29", "1.39")


def all_commands():
    return {point.name.replace("_", " ") for point in importlib.metadata.entry_points(group="openstack.placement.v1")}


def walk(server, version):
    done = subprocess.run(["/usr/bin/python3", "-B", os.path.join(HERE, "walk.py"), f"http://127.0.0.1:{server.port}",
                           version], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def loose(value):
    """Removes orders that no API guarantees: those of lists, of candidates' numbers, and inside texts."""
    if isinstance(value, dict):
        return {key: loose(item) for key, item in value.items() if key != "#"}
    if isinstance(value, list):
        return sorted((loose(item) for item in value), key=repr)
    if isinstance(value, str):
        return sorted(value.split(","))
    return value


def normal(arguments, status, out, err):
    """The parts that must be equal."""
    err = re.sub(r"req-[0-9a-f-]{36}", "req-ID", err)
    # The Python service prints the schema and the value, too (docs/differences.md).
    err = re.sub(r"(Failed validating '\w+' in schema[^:]*):.*(  On instance[^:(]*).*(\(HTTP 400\))", r"\1\2 \3", err, flags=re.S)
    err = re.sub(r"127\.0\.0\.1:\d+", "SERVER", err)
    if "--limit" in arguments:
        out = str(len(out.splitlines()))  # each server chooses its own
    else:
        try:
            out = loose(json.loads(out))
        except ValueError:
            out = sorted(re.sub(r"^\| +\d+ \|", "|", line) for line in out.splitlines())
    return status, out, err


def compare(program, version):
    """[(arguments, problem or None, worked)] of one walk."""
    with tempfile.TemporaryDirectory(prefix="berth-e2e-", dir="/var/tmp") as directory:
        with servers.Berthd(program, directory) as berth:
            berth.stop()
            shutil.copy(berth.database, os.path.join(directory, "python.db"))
            berth.start()
            with servers.PythonService(directory, name="python.db", sync=False) as python:
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    mine, other = pool.map(walk, (berth, python), (version, version))
            berth.stop()
    results = []
    for one, two in zip(mine, other, strict=True):
        problem = None if normal(*one) == normal(*two) else f"berth: {one[1:]}\n       Python: {two[1:]}"
        results.append((one[0], problem, one[1] == 0, one))
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--show", action="store_true", help="print every command's output")
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    options = parser.parse_args()
    score, worked, commands = servers.Score(), set(), all_commands()
    for version in options.versions:
        results = compare(options.berthd, version)
        good = sum(success for _, _, success, _ in results)
        print(f"{version}: {len(results)} commands, {good} of them succeed")
        for arguments, problem, success, answer in results:
            text = " ".join(arguments)
            if success:
                worked.add(max((name for name in commands if text.startswith(name + " ") or text == name), key=len))
            if options.show:
                print(version, text, *answer[1:], sep="\n  ")
            if problem is not None:
                score.case(f"{version}: {text}", problem)
            else:
                score.passed += 1
    if set(options.versions) == set(VERSIONS):
        missing = commands - worked
        score.case("every command has succeeded at some version", f"not {sorted(missing)}" if missing else None)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
