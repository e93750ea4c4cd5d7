#!/usr/bin/python3
"""Bad input for a live berthd: malformed HTTP, bodies, slow and disappearing clients, pathological queries, requests
that are expensive for other clients, and an operator who makes every mistake.

    tests/hostile/run.py [--berthd build/berthd] [PART…]      parts: malformed bodies large slow pathological lanes metal greedy writes mixture
                                                           operator

For each: the API's own error or a closed connection; never a crash, a hang, unbounded growth or a
partial change; the server answers normally afterwards. The last line is `N passed, N failed`.
"""

import argparse
import os
import resource
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import bodies  # noqa: E402
import clumsy  # noqa: E402
import greedy  # noqa: E402
import lanes  # noqa: E402
import large  # noqa: E402
import malformed  # noqa: E402
import metal  # noqa: E402
import mixture  # noqa: E402
import pathological  # noqa: E402
import slow  # noqa: E402
import writes  # noqa: E402
from server import Server  # noqa: E402

DEADLINE_S, IDLE_S, PER_ADDRESS = 1, 2, 1100
RSS_MOST_MIB = 700


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, good, name, detail):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: {detail}"[:1500], flush=True)


def home(server):
    """A cloud that the attacks find, and must leave unchanged."""
    server.must("POST", "/resource_providers", {"name": "home", "uuid": bodies.PROVIDER})
    server.must("PUT", bodies.BASE + "/inventories",
                {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}})


def served(report, part, berthd):
    """Runs a part against a server of its own."""
    calls = {
        "malformed": lambda server: malformed.run(report, server),
        "bodies": lambda server: bodies.run(report, server),
        "slow": lambda server: slow.run(report, server, DEADLINE_S, IDLE_S, PER_ADDRESS),
        "pathological": lambda server: pathological.run(report, server),
    }
    server = Server(berthd, header_deadline=DEADLINE_S, body_deadline=DEADLINE_S, idle_timeout=IDLE_S,
                    max_connections_per_address=PER_ADDRESS, access_log="false")
    left_open = None
    try:
        with server:
            home(server)
            left_open = calls[part](server)
            if left_open:
                server.good_statuses = {3}  # a stop does not wait for endless searches, and reports that it aborted them
            report(not server.is_up() or server.rss_mib() < RSS_MOST_MIB, f"{part}: memory in the end",
                   f"{server.rss_mib():.0f} MiB")
    except Exception as error:  # an aborted part has failed; the others still run
        report(False, f"{part}: broke off", f"{type(error).__name__}: {error}")
    for sock in left_open or ():
        sock.close()
    report(not server.complaint, f"{part}: the server ends well", server.complaint)


def main():
    parts = ["malformed", "bodies", "large", "slow", "pathological", "lanes", "metal", "greedy", "writes", "mixture", "operator"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(parts)
    if unknown:
        parser.error("no such part: " + ", ".join(sorted(unknown)))
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # the parts with many clients need some thousands
    report = Report()
    for part in arguments.parts or parts:
        start = time.monotonic()
        before = report.passed, report.failed
        if part == "operator":
            clumsy.run(report, arguments.berthd)
        elif part == "lanes":
            lanes.run(report, arguments.berthd)
        elif part == "large":
            large.run(report, arguments.berthd)
        elif part == "metal":
            metal.run(report, arguments.berthd)
        elif part == "greedy":
            greedy.run(report, arguments.berthd)
        elif part == "mixture":
            mixture.run(report, arguments.berthd)
        elif part == "writes":
            writes.run(report, arguments.berthd)
        else:
            served(report, part, arguments.berthd)
        print("%-12s %6.1f s   %d passed, %d failed" % (
            part, time.monotonic() - start, report.passed - before[0], report.failed - before[1]), flush=True)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
