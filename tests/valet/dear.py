#!/usr/bin/python3
"""Bodies that keep the planner busy: an answer in bounded time, other requests served meanwhile, and an end when the
client disconnects.

    tests/valet/dear.py --berthd build/berthd [PART…]

Parts: dear. The last line is `N passed, N failed`.
"""

import json
import os
import random
import socket
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import parts  # noqa: E402
import plans  # noqa: E402
from plans import TOKEN, body, group, server  # noqa: E402

PARTS = ("dear",)


def colours(nodes, hosts):
    """Resources: a random graph in which each edge is a diversity group, and the colours are hosts. It has no
    solution, and no short proof of that."""
    dice = random.Random(2)
    places = [f"h{i + 1}" for i in range(hosts)]
    resources = {f"n{i}": server({"vcpus": 1, "ram": 0, "disk": 0}, locations=places) for i in range(nodes)}
    for a in range(nodes):
        for b in range(a):
            if dice.random() < 0.5:
                resources[f"e{a}.{b}"] = group("diversity", "host", f"n{a}", f"n{b}")
    return resources


def seconds_used(berth):
    """Processor time of all threads."""
    with open(f"/proc/{berth.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_idle(berth):
    before = seconds_used(berth)
    time.sleep(0.5)
    return seconds_used(berth) - before < 0.05


def within(seconds, holds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Tests(plans.Tests):
    def test_dear(self):
        """Bodies that keep the planner busy."""
        small = {"vcpus": 1, "ram": 0, "disk": 0}
        with self.berth() as berth:
            cloud = self.cloud(berth, 60, vcpus=1000, a_rack=60)
            dice = random.Random(1)
            names = [f"s{i}" for i in range(56)]
            asked = body("equal", {
                **{name: server(small, locations=dice.sample(sorted(cloud.host), 12)) for name in names},
                **{f"d{i}": group("diversity", "host", *names) for i in range(1200)}})
            before = seconds_used(berth)
            answer = cloud.valet("POST", "/v1/plans", asked)
            self.case("equal groups: an answer", answer.status in (201, 409), answer)
            self.case("in time", seconds_used(berth) - before < 10, seconds_used(berth) - before)
            self.expect("nodes that lack a colour", cloud.valet("POST", "/v1/plans", body("colours", colours(120, 14))), 409)
        with self.berth(options=["[valet]", "step_limit = 1000000000"]) as berth:
            cloud = self.cloud(berth, 14, vcpus=1000, a_rack=14)
            head = ("POST /v1/plans HTTP/1.1", "Host: a", f"X-Auth-Token: {TOKEN}")
            text = json.dumps(body("colours", colours(120, 14))).encode()
            with socket.create_connection(("127.0.0.1", berth.valet_port), 10) as connection:
                connection.sendall("\r\n".join((*head, f"Content-Length: {len(text)}", "", "")).encode() + text)
                self.case("it is at it", within(30, lambda: seconds_used(berth) > 1.5), seconds_used(berth))
                self.expect("others are served", cloud.valet("GET", "/v1/plans"), 200)
            self.case("it ends with its client", within(30, lambda: is_idle(berth)), seconds_used(berth))


if __name__ == "__main__":
    sys.exit(parts.play(Tests, PARTS, __doc__))
