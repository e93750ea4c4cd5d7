"""Shared by the cases of this folder: a directory of their own, servers in it, and names."""

import argparse
import os
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "crash"), os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import load  # noqa: E402, F401
import servers  # noqa: E402

HOST = "bbbbbbbb-0000-4000-8000-000000000001"
CHILD = "bbbbbbbb-0000-4000-8000-000000000002"


def consumer(number):
    return f"cccccccc-0000-4000-8000-{number:012d}"


def expect(good, what):
    if not good:
        raise AssertionError(what)


def wait_until(condition, seconds, what):
    """Fails with what() or the text `what` if the condition is not met in that time."""
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, what() if callable(what) else what)
        time.sleep(0.02)


def end_load(workers, threads):
    for worker in workers:
        worker.stopped = True
    for thread in threads:
        thread.join(30)
        expect(not thread.is_alive(), "a request was never answered")


def total_of(client, name="VCPU"):
    return client.must(200, "GET", f"/resource_providers/{HOST}/inventories")["inventories"][name]["total"]


class Case:
    """Each public method of a subclass is a case, which returns None or the reason why it was left out."""

    def __init__(self, program, directory):
        self.program, self.directory = os.path.abspath(program), directory

    def berthd(self, **more):
        return servers.Berthd(self.program, self.directory, **more)

    def python(self, **more):
        return servers.PythonService(self.directory, **more)


def main(doc, *kinds):
    """Runs the cases of these classes, or those named; returns the exit status."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    cases = {name: kind for kind in kinds for name in vars(kind) if not name.startswith("_")}
    score = servers.Score()
    for name in options.cases or cases:
        began, problem, note = time.monotonic(), None, None
        with tempfile.TemporaryDirectory(prefix=f"berth-{name}-", dir="/var/tmp") as directory:
            try:
                note = getattr(cases[name](options.berthd, directory), name)()
            except Exception as failure:
                problem = f"{failure!r}\n{traceback.format_exc()}"
        if note:
            print(f"       {name}: {note}")
        else:
            score.case(name, problem, time.monotonic() - began)
    return score.end()
