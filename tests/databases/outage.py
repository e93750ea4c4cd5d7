#!/usr/bin/python3
"""A database that is unavailable and comes back, again and again.

    tests/databases/outage.py --berthd build/berthd [--mariadb | --galera] [--rounds N] [--every] [--seconds S]

Meanwhile one instance, whose reads are strict, answers them with 503 rather than with what may be old. Two others go on: one
whose reads are bounded by a day, and one whose reads are strict, but continue while the database is unavailable. Once the server
accepts connections again, the first write must be acknowledged within `--seconds`: by the fastest round of each kind of outage,
or with --every, which wants a quiet machine, by every round. With --galera, three nodes are behind HAProxy, and what counts is
the moment from which another client's writes succeed.
"""

import argparse
import collections
import contextlib
import http.client
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import pymysql  # noqa: E402
import servers  # noqa: E402
from faulty_proxy import FaultyProxy  # noqa: E402
from galera import Galera  # noqa: E402
from haproxy import Balancer  # noqa: E402
from mariadb import server_class  # noqa: E402
from mariadb_wire import MariadbWire  # noqa: E402
from postgres import Postgres  # noqa: E402
from postgres_wire import PostgresWire  # noqa: E402
from processes import wait_until  # noqa: E402

DOWN_S = 0.1, 1.5
PATIENCE_S = 120
WRITE_PAUSE_S = 0.005
PROBE_S = 1
CHECKS_MS = 100  # between two of HAProxy's checks, instead of two seconds
# of the instance that answers 503, and of those that go on reading
OPTIONS = {"strict": [], "bounded": ["[berth]", "reads = bounded", "staleness = 86400000"],
           "continued": ["[berth]", "reads_while_unavailable = 3600"]}


class Outages:
    """By name: how the database becomes unavailable, and comes back. Each returns when that has happened."""

    def __init__(self, server, proxies):
        self.server, self.proxies = server, proxies
        end_and_start = {"stopped": server.stop, "killed": server.kill}
        if isinstance(server, Postgres):
            end_and_start["stopped at once"] = lambda: server.stop("immediate")
        self.kinds = {name: (end, self._start) for name, end in end_and_start.items()}
        self.kinds["refused"] = self._refuse, self._recover
        self.kinds["swallowed"] = self._swallow, self._recover
        self.kinds["frozen"] = server.freeze, server.thaw

    def await_back(self):
        """When the database is available."""
        return time.monotonic()

    def settle(self):
        """After a round."""

    def _start(self):
        self.server.launch()
        self.server.await_ready(PATIENCE_S)

    def _refuse(self):
        for proxy in self.proxies:
            proxy.refuse()
            proxy.cut_all()

    def _swallow(self):
        for proxy in self.proxies:
            proxy.swallow_all()

    def _recover(self):
        for proxy in self.proxies:
            proxy.recover()


class ClusterOutages(Outages):
    """Of all nodes, or of so many that the rest has no quorum."""

    def __init__(self, cluster, balancer, proxies):
        self.cluster, self.balancer, self.proxies = cluster, balancer, proxies
        self.kinds = {"killed": (cluster.kill_all, self._launch), "without quorum": (self._kill_most, self._launch),
                      "stopped": (cluster.stop_all, self._begin_again), "refused": (self._refuse, self._recover),
                      "swallowed": (self._swallow, self._recover), "frozen": (self._freeze, self._thaw)}
        first = cluster.nodes[0]
        first.create_database("probe")
        first.sql("CREATE TABLE probe (id INT AUTO_INCREMENT PRIMARY KEY)", database="probe")

    def await_back(self):
        limits = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), PROBE_S)
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                with contextlib.closing(pymysql.connect(host="127.0.0.1", port=self.balancer.port, user=self.cluster.nodes[0].user,
                                                        password=self.cluster.nodes[0].password, database="probe", **limits)) as probe:
                    probe.query("INSERT INTO probe VALUES (NULL)")
                    probe.commit()
                    return time.monotonic()
            except (OSError, pymysql.MySQLError):
                if time.monotonic() > end:
                    raise
                time.sleep(WRITE_PAUSE_S)

    def settle(self):
        self._launch()
        self.cluster.await_size(len(self.cluster.nodes))

    def _launch(self):
        for node in self.cluster.nodes:
            if not node.is_running():
                node.launch()

    def _kill_most(self):
        for node in self.cluster.nodes[:2]:
            node.kill()

    def _begin_again(self):
        """The last one to be stopped has everything."""
        self.cluster.nodes[-1].launch(bootstrap=True)

    def _freeze(self):
        for node in self.cluster.nodes:
            node.freeze()

    def _thaw(self):
        for node in self.cluster.nodes:
            node.thaw()


class Writer:
    """Writes all the time; a write that fails is tried again at once."""

    def __init__(self, port):
        self.client = servers.Client(port, timeout=PATIENCE_S)
        self.acknowledged = collections.deque()  # (name, when)
        self.is_over = False
        self.wrong = []
        self.thread = threading.Thread(target=self._work)

    def _work(self):
        while not self.is_over:
            name = str(uuid.uuid4())
            try:
                status, answer = self.client.ask("POST", "/resource_providers", {"name": name})
            except (OSError, http.client.HTTPException) as problem:
                status, answer = None, problem
            if status == 200:
                self.acknowledged.append((name, time.monotonic()))
            elif status != 503:
                self.wrong.append((status, answer))
            time.sleep(WRITE_PAUSE_S)

    def first_after(self, moment):
        return wait_until(lambda: next(((name, when) for name, when in list(self.acknowledged) if when >= moment), None),
                          "no write is acknowledged", PATIENCE_S)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.is_over = True
        self.thread.join()


class Rounds:
    def __init__(self, outages, writer, ports, draw):
        """ports: of the instances, by the names of OPTIONS"""
        self.outages, self.writer, self.ports, self.draw = outages, writer, ports, draw
        self.took = collections.defaultdict(list)
        self.wrong = []

    def play(self, number):
        kind = list(self.outages.kinds)[number % len(self.outages.kinds)]
        end, come_back = self.outages.kinds[kind]
        before, _ = self.writer.first_after(time.monotonic())
        end()
        try:
            time.sleep(self.draw.uniform(*DOWN_S))
            self._read(kind)
        finally:
            come_back()
        back = self.outages.await_back()
        name, when = self.writer.first_after(back)
        self.took[kind].append(when - back)
        found = self._await_names(before), self._await_names(name)
        if found != (1, 1):
            self.wrong.append(f"{kind}: {found} of what was acknowledged before and after is shown")
        # it has to find out first that the database is available
        wait_until(lambda: self._names("continued", before) == self._names("continued", name) == 1,
                   f"{kind}: reads continue to be from memory", PATIENCE_S)
        self.outages.settle()

    def _await_names(self, name):
        """Of the instance with strict reads. A session that reads may be lost later than one that writes."""
        wait_until(lambda: self._names("strict", name) != 503, "reads fail", PATIENCE_S)
        return self._names("strict", name)

    def _names(self, which, name):
        status, answer = servers.Client(self.ports[which], timeout=PATIENCE_S).ask("GET", f"/resource_providers?name={name}")
        return len(answer["resource_providers"]) if status == 200 else status

    def _read(self, kind):
        """A server that only says nothing may still answer within a strict read's deadline, when it is back."""
        wanted = {"bounded": 0, "continued": 0}
        if kind not in ("swallowed", "frozen"):
            wanted["strict"] = 503
        for which, right in wanted.items():
            found = self._names(which, "none")
            if found != right:
                self.wrong.append(f"{kind}, {which}: a read is answered {found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--mariadb", action="store_true")
    parser.add_argument("--galera", action="store_true")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Galera()) if arguments.galera else None
        server = stack.enter_context(Balancer(cluster.nodes, inter_ms=CHECKS_MS) if cluster else
                                     server_class()() if arguments.mariadb else Postgres())
        wire = PostgresWire if isinstance(server, Postgres) else MariadbWire
        berths, proxies = {}, []
        for which, options in OPTIONS.items():
            proxies.append(stack.enter_context(FaultyProxy(server.port, wire)))
            directory = tempfile.mkdtemp(prefix="berth-outage-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            berths[which] = stack.enter_context(servers.Berthd(arguments.berthd, directory, options=options,
                                                               connection=server.url(port=proxies[-1].port)))
        for berth in berths.values():  # what counts is the age of the last query that found memory up to date
            servers.Client(berth.port).must(200, "GET", "/resource_providers")
        with Writer(berths["strict"].port) as writer:
            ports = {which: berth.port for which, berth in berths.items()}
            outages = ClusterOutages(cluster, server, proxies) if cluster else Outages(server, proxies)
            rounds = Rounds(outages, writer, ports, random.Random(arguments.seed))
            for number in range(arguments.rounds):
                rounds.play(number)
        wrong = rounds.wrong + writer.wrong
        score.case("reads go on or are refused, as configured", f"{len(wrong)}: {wrong[:3]}" if wrong else None)
        for kind, took in rounds.took.items():
            counted = max(took) if arguments.every else min(took)
            shown = " ".join(f"{seconds:.2f}" for seconds in sorted(took))
            score.case(f"{kind}: the first write after it is back", None if counted <= arguments.seconds else f"after {shown} s")
            print(f"       {len(took)} rounds, at most {max(took):.2f} s")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
