#!/usr/bin/python3
"""Allocations without a consumer: the Python service leaves one if its connection breaks while it commits a claim.

    tests/databases/orphans.py --build build [--database postgres|mariadb]

It then answers 500 and deletes the consumer that it has created for the claim, which was committed. docs/troubleshooting.md says
how an operator finds such allocations and gives them consumers, beside a berthd that serves, with `db coexist` enabled.

The last line is `N passed, N failed`."""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from faulty_proxy import FaultyProxy  # noqa: E402
from mariadb import KOLLA, TRUST, Mariadb  # noqa: E402
from mariadb_wire import MariadbWire  # noqa: E402
from postgres import Postgres  # noqa: E402
from postgres_wire import PostgresWire  # noqa: E402
from processes import Failure, wait_until  # noqa: E402

TOTAL, CLAIM = 16, 2
CLAIM_COMMIT = 2  # of the COMMITs of a claim for a new consumer: the first one creates that
NOTICED_S = 30
NOBODY = "00000000-0000-0000-0000-000000000000"  # incomplete_consumer_project_id


class Cases:
    """All yield (what, whether it is right, what was found)."""

    def __init__(self, build, database, stack):
        self.build, self.stack = build, stack
        kind, wire = (Postgres, PostgresWire) if database == "postgres" else (lambda: Mariadb(options={**KOLLA, **TRUST}), MariadbWire)
        self.server = stack.enter_context(kind())
        self.proxy = stack.enter_context(FaultyProxy(self.server.port, wire))
        self.berth = self.start(servers.Berthd, os.path.join(build, "berthd"), connection=self.server.url())
        self.cut_off = self.start(servers.PythonService, connection=self.server.url(port=self.proxy.port), sync=False)
        self.python = self.start(servers.PythonService, connection=self.server.url(), sync=False)
        enabled = self.tool("placement-manage", "db", "coexist", "enable")
        assert enabled[0] == 0, enabled
        self.provider = str(uuid.uuid4())
        self.of_berth, self.of_python = (servers.Client(service.port) for service in (self.berth, self.python))
        self.of_berth.make_provider(self.provider, VCPU=TOTAL)
        self.claim(self.cut_off)  # projects, users and types are there afterwards

    def start(self, kind, *words, **more):
        directory = tempfile.mkdtemp(prefix="berth-orphans-")
        self.stack.callback(shutil.rmtree, directory, ignore_errors=True)
        return self.stack.enter_context(kind(*words, directory, **more))

    def claim(self, service, consumer=None):
        """The status."""
        return servers.Client(service.port).claim(consumer or str(uuid.uuid4()), **{self.provider: {"VCPU": CLAIM}})[0]

    def rows(self, consumer):
        """How many rows it has: (allocations, consumers)."""
        return tuple(self.server.sql(f"SELECT count(*) FROM {table} WHERE {column} = '{consumer}'")[0][0]
                     for table, column in (("allocations", "consumer_id"), ("consumers", "uuid")))

    def used(self, client):
        return client.must(200, "GET", f"/resource_providers/{self.provider}/usages")["usages"]["VCPU"]

    def tool(self, program, *words):
        done = subprocess.run([os.path.join(self.build, program), "--config-file", self.berth.config_file, *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def left_by_python(self):
        before, consumer = self.used(self.of_python), str(uuid.uuid4())
        self.proxy.cut(sender="client", kind="Query", text="^COMMIT", nth=CLAIM_COMMIT, when="after")
        status = self.claim(self.cut_off, consumer)
        self.proxy.recover()
        yield "the Python service does not know that it has committed a claim", status == 500, status
        found = self.rows(consumer)
        yield "and leaves it without a consumer", found == (1, 0), found
        found = self.used(self.of_python) - before
        yield "which it counts as used", found == CLAIM, found
        found = self.of_python.ask("GET", f"/allocations/{consumer}")
        yield "and does not list", found == (200, {"allocations": {}}), found
        found = self.of_python.ask("DELETE", f"/allocations/{consumer}")[0]
        yield "or delete", found == 404, found
        yield from self.completed(consumer, self.used(self.of_python))

    def completed(self, consumer, used):
        """By an operator, while berthd serves."""
        found = self.tool("placement-status", "upgrade", "check")
        yield "placement-status counts it", found[0] == 1 and "There are 1 incomplete consumers" in found[1], found
        found = self.tool("placement-manage", "db", "online_data_migrations")
        yield "placement-manage completes it", found[0] == 0 and "1 migrated" in found[1], found
        with contextlib.suppress(Failure):
            wait_until(lambda: self.used(self.of_berth) == used, "", NOTICED_S)
        found = self.used(self.of_berth)
        yield "berthd then counts it", found == used, f"{found} of {used}"
        found = self.of_berth.must(200, "GET", f"/allocations/{consumer}")
        yield "and lists it", found["project_id"] == NOBODY and len(found["allocations"]) == 1, found
        found = self.of_berth.ask("DELETE", f"/allocations/{consumer}")[0]
        yield "and deletes it", found == 204 and self.rows(consumer) == (0, 0), (found, self.rows(consumer))
        found = [self.used(client) for client in (self.of_berth, self.of_python)]
        yield "so that it is free again", found == [used - CLAIM] * 2, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--database", choices=("postgres", "mariadb"), default="mariadb")
    options = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        for what, is_right, found in Cases(options.build, options.database, stack).left_by_python():
            score.case(what, None if is_right else str(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
