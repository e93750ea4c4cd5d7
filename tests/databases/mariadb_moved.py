#!/usr/bin/python3
"""A proxy that continues berthd's connections on another node of a Galera cluster (moving_proxy.py).

    tests/databases/mariadb_moved.py --berthd build/berthd

There, nothing is as berthd has configured it: a node that is behind answers at once what it has. What another instance has
acknowledged must be read all the same.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from galera import Galera  # noqa: E402
from moving_proxy import MovingProxy  # noqa: E402

ROUNDS, TOTAL = 30, 1000


class Reads:
    """One instance reaches the first node through the proxy, and reads; the other writes to the first node."""

    def __init__(self, reader, writer, proxy):
        self.reader, self.writer, self.proxy = reader.client(), writer.client(), proxy
        self.provider = str(uuid.uuid4())
        self.writer.make_provider(self.provider, VCPU=TOTAL)

    def once(self, node):
        """What is wrong with a read after a write; None: nothing. Before the read, all connections move to the node."""
        consumer = str(uuid.uuid4())
        status, answer = self.writer.claim(consumer, **{self.provider: {"VCPU": 1}})
        if status != 204:
            return f"a claim is answered {status} {answer}"
        self.proxy.move(node)
        status, answer = self.reader.ask("GET", f"/allocations/{consumer}")
        if status != 200:
            return f"a read is answered {status} {answer}"
        found = answer["allocations"].get(self.provider, {}).get("resources")
        return None if found == {"VCPU": 1} else f"a read finds {found}"

    def many(self, node):
        before = self.proxy.moved
        faults = [fault for fault in (self.once(node) for _ in range(ROUNDS)) if fault]
        if self.proxy.moved - before < ROUNDS:
            faults.append(f"only {self.proxy.moved - before} connections were moved")
        return f"{len(faults)} faults: {faults[:3]}" if faults else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        first, second = stack.enter_context(Galera(nodes=2)).nodes
        proxy = stack.enter_context(MovingProxy(first))
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="berth-moved-"))
        writer = stack.enter_context(servers.Berthd(arguments.berthd, directory, connection=first.url()))
        reader = stack.enter_context(servers.Berthd(arguments.berthd, directory, connection=first.url(port=proxy.port)))
        reads = Reads(reader, writer, proxy)
        score.case("reads are as new as writes while connections stay where they are", reads.once(first))
        score.case("while they move to another connection of the node", reads.many(first))
        score.case("while they move to another node", reads.many(second))
        with second.held_back():
            score.case("while they move to a node that is behind", reads.many(second))
        score.case("and afterwards", reads.once(first))
        log = reader.log()
        score.case("no commit counts as lost", log if " went back" in log else None)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
