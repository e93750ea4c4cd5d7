#!/usr/bin/python3
"""The real `openstack` client against berth: every command of osc-placement, its output compared with that of
the same walk against the Python service (walk.py has the commands).

    tests/e2e/run.py --berthd build/berthd [--show] [VERSION…]

The Python service runs on a copy of a database that berth made, so that standard classes and traits are equal.
The last line is `N passed, N failed`: a case is one command at one version.
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
sys.path[:0] = [os.path.dirname(HERE)]

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
    """Orders that no API promises are taken out: those of lists, of candidates' numbers, and inside texts."""
    if isinstance(value, dict):
        return {key: loose(item) for key, item in value.items() if key != "#"}
    if isinstance(value, list):
        return sorted((loose(item) for item in value), key=repr)
    if isinstance(value, str):
        return sorted(value.split(","))
    return value


def normal(arguments, status, out, err):
    """What must be equal."""
    err = re.sub(r"req-[0-9a-f-]{36}", "req-ID", err)
    # The Python service prints the schema and the value, too (docs/differences.md).
    err = re.sub(r"(Failed validating '\w+' in schema[^:]*):.*(  On instance[^:(]*).*(\(HTTP 400\))", r"\1\2 \3", err, flags=re.S)
    err = re.sub(r"127\.0\.0\.1:\d+", "SERVER", err)
    if "--limit" in arguments:
        out = str(len(out.splitlines()))  # which one is each server's own choice
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


def readme(program):
    """The README's three lines, as a newcomer would paste them; a problem or None."""
    with open(os.path.join(HERE, "..", "..", "README.md")) as file:
        lines = [line for line in re.search(r"^```sh curl\n(.*?)^```$", file.read(), re.M | re.S).group(1).splitlines() if line]
    with tempfile.TemporaryDirectory(prefix="berth-readme-", dir="/var/tmp") as directory:
        with servers.Berthd(program, directory) as berth:
            out = [subprocess.run(["sh", "-c", line.replace("127.0.0.1:8778", f"127.0.0.1:{berth.port}")],
                                  capture_output=True, text=True).stdout for line in lines + lines[1:2]]
    if len(lines) != 3 or '"name": "host1"' not in out[0] or '"VCPU": {"total": 16' not in out[0]:
        return f"no provider: {out[0]}"
    uuid = json.loads(out[1])["allocation_requests"][0]["allocations"].popitem()[0]
    if not out[2].startswith("HTTP/1.1 204"):
        return f"no claim: {out[2]}"
    used = json.loads(out[3])["provider_summaries"][uuid]["resources"]["VCPU"]["used"]
    return None if used == 2 else f"{used} of VCPU are used"


def readme_metal(program):
    """The README's bare metal block, as `./dev run` prints it, in one shell; a problem or None."""
    with open(os.path.join(HERE, "..", "..", "README.md")) as file:
        block = re.search(r"^```sh baremetal\n(.*?)^```$", file.read(), re.M | re.S).group(1)
    metal_port = servers.free_port()
    with tempfile.TemporaryDirectory(prefix="berth-readme-", dir="/var/tmp") as directory:
        with servers.Berthd(program, directory, baremetal_port=metal_port) as berth:
            for shown, port in (("127.0.0.1:8778", berth.port), ("127.0.0.1:6385", metal_port)):
                if shown not in block:
                    return f"nobody asks {shown}"
                block = block.replace(shown, f"127.0.0.1:{port}")
            clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
            done = subprocess.run(["sh", "-e"], input=block, capture_output=True, text=True, timeout=300, env=clean)
    used = re.search(r"\| CUSTOM_X +\| +(\d+) \|", done.stdout)
    good = done.returncode == 0 and re.search(r"\| state +\| active +\|", done.stdout) and used and used.group(1) == "1"
    return None if good else f"{done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--show", action="store_true", help="print every command's output")
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    options = parser.parse_args()
    score, worked, commands = servers.Score(), set(), all_commands()
    score.case("the README's three lines", readme(options.berthd))
    score.case("the README's bare metal", readme_metal(options.berthd))
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
            if problem:
                score.case(f"{version}: {text}", problem)
            else:
                score.passed += 1
    if set(options.versions) == set(VERSIONS):
        missing = commands - worked
        score.case("every command has succeeded at some version", f"not {sorted(missing)}" if missing else None)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
