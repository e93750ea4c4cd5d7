#!/usr/bin/python3
"""Debian's package of berth on clean roots: built, installed with its dependencies, run by its unit, booted with
systemd, upgraded, removed, purged, and beside Debian's own packages of the Python service.

    tests/package/run.py [CASE…]

Needs root (or sudo), and for the first run the network: downloads of debootstrap and apt are kept in
build/package-roots/. The last line is `N passed, N failed`. A case that cannot run on this machine says so, and does
not count.
"""

import inspect
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import inside  # noqa: E402
import packages  # noqa: E402
import root as roots  # noqa: E402
import servers  # noqa: E402
import source  # noqa: E402
from booted import Booted  # noqa: E402
from installed import Bare, Case, Installed  # noqa: E402


def install(base):
    """The layers of a root with the package in it."""
    with open(os.path.join(packages.WORK, "install.log"), "wb", 0) as log:
        case = Case(base, os.path.join(packages.WORK, "installed"), log)
        try:
            case._install()
        finally:
            case._root.keep()
    return case._root.layers


def play(kind, name, layers):
    """(problem, why it was left out)"""
    problem = note = None
    with open(os.path.join(packages.WORK, name + ".log"), "wb", 0) as log:
        case = kind(layers, os.path.join(packages.WORK, "root"), log)
        try:
            note = getattr(case, name)()
        except Exception as failure:
            problem = f"{failure!r:.2000}; see {log.name}"
            log.write(f"{failure}\n{traceback.format_exc()}".encode())
        finally:
            case._end()
    return problem, note


def play_all(names, score):
    servers.set_loopback_up()
    base = [os.path.join(roots.KEPT, roots.suite())]
    layers = {Installed: install(base), Bare: base, Booted: base}
    cases = {name: kind for kind in layers for name, _ in inspect.getmembers(kind, inspect.isfunction)
             if not name.startswith("_")}
    for name in names or cases:
        began = time.monotonic()
        problem, note = play(cases[name], name, layers[cases[name]])
        if note:
            print(f"       {name}: {note}", flush=True)
        else:
            score.case(name, problem, time.monotonic() - began)
    return score.end()


def main():
    inside.become_root()
    score = servers.Score()
    names = inside.arguments_inside(score)
    if names is not None:
        return play_all(names, score)
    if any(word.startswith("-") for word in sys.argv[1:]):
        print(__doc__)
        return 2
    score.case("no package is built of half a tree", source.problems())
    if not packages.prepare_or_say(score):
        return score.end()
    return inside.run_inside(__file__, score, *sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
