#!/usr/bin/python3
"""Allocations without a consumer: the Python service leaves one if its connection breaks while it commits a claim.

    tests/databases/orphans.py --build build [--database postgres|mariadb|sqlite]

It then answers 500 and deletes the consumer that it has created for the claim, which was committed. Whatever berth reads, it
first gives such consumers a row: two instances that serve, with and without triggers (`db coexist`), and one that starts, also if
its connection or its process ends meanwhile. Before, the tools of docs/troubleshooting.md do the same. In a file, which loses no
connection, rows of consumers are deleted instead.

The last line is `N passed, N failed`."""

import argparse
import contextlib
import http.client
import os
import shutil
import sqlite3
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
MANY = 501  # more than a transaction of the tool creates
# (what, the message of berthd after which something happens)
STEPS = {
    "postgres": (("asks who has no row", {"kind": "Execute", "text": r"^SELECT c\.id, c\.uuid FROM consumers c WHERE c\.uuid = ANY"}),
                 ("has inserted the row", {"kind": "Execute", "text": r"^INSERT INTO consumers .* SELECT DISTINCT"})),
    "mariadb": (("asks who has no row", {"kind": "Query", "text": r"^SELECT c\.id,c\.uuid FROM consumers c WHERE c\.uuid IN"}),
                ("inserts the row", {"kind": "Query", "text": r"^BEGIN;.*INSERT INTO consumers .* SELECT"})),
}
NOBODY = "00000000-0000-0000-0000-000000000000"  # incomplete_consumer_project_id


class Cases:
    """All yield (what, whether it is right, what was found)."""

    def __init__(self, build, stack):
        self.build, self.stack = build, stack
        self.provider = str(uuid.uuid4())

    def start(self, kind, *words, **more):
        directory = tempfile.mkdtemp(prefix="berth-orphans-")
        self.stack.callback(shutil.rmtree, directory, ignore_errors=True)
        return self.stack.enter_context(kind(*words, directory, **more))

    @contextlib.contextmanager
    def stopped(self):
        """No instance serves meanwhile."""
        for berth, client in zip(self.berths, self.clients, strict=True):
            client.close()
            berth.stop()
        yield
        for berth in self.berths:
            berth.start()

    def tool(self, program, *words):
        done = subprocess.run([os.path.join(self.build, program), "--config-file", self.berths[0].config_file, *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def claim(self, client, consumer=None, amount=CLAIM, generation=None):
        """The status."""
        return client.claim(consumer or str(uuid.uuid4()), generation, **{self.provider: {"VCPU": amount}})[0]

    def rows(self, consumer):
        """How many rows it has: (allocations, consumers)."""
        return tuple(servers.rows(self.tables, f"SELECT count(*) FROM {table} WHERE {column} = ?", consumer)[0][0]
                     for table, column in (("allocations", "consumer_id"), ("consumers", "uuid")))

    def used(self, client):
        return client.must(200, "GET", f"/resource_providers/{self.provider}/usages")["usages"]["VCPU"]

    def all_used(self):
        return [self.used(client) for client in self.clients]

    def noticed(self, used):
        """What all instances count, as soon as it is that."""
        with contextlib.suppress(Failure):
            wait_until(lambda: self.all_used() == [used] * len(self.clients), "", NOTICED_S)
        return self.all_used()

    def is_listed(self, consumer):
        """As a consumer of nobody's, by all; what was found otherwise."""
        found = [client.must(200, "GET", f"/allocations/{consumer}") for client in self.clients]
        is_right = all(one["allocations"] and one["project_id"] == NOBODY for one in found)
        return is_right and self.rows(consumer) == (1, 1), (found, self.rows(consumer))

    def counted(self, consumers, when):
        """These are the only consumers of the provider, and have no rows."""
        used = len(consumers) * CLAIM
        found = self.noticed(used)
        yield f"{when}: berthd counts what has no consumer", found == [used] * len(self.clients), found
        for consumer in consumers:
            is_right, found = self.is_listed(consumer)
            yield f"{when}: and lists it", is_right, found
        found = self.clients[0].ask("DELETE", f"/resource_providers/{self.provider}/inventories")[0]
        yield f"{when}: its inventory is in use", found == 409, found
        found = [self.claim(self.clients[-1], amount=amount) for amount in (TOTAL - used + 1, TOTAL - used)]
        yield f"{when}: only what is left is given away", found == [409, 204], found
        found = self.clients[0].must(200, "GET", "/allocation_candidates?resources=VCPU:1")["allocation_requests"]
        yield f"{when}: then nothing is left", found == [], found
        found = self.claim(self.clients[0], consumers[0])
        yield f"{when}: a claim for a new consumer is refused", found == 409, found
        yield from self.released(consumers, when)

    def released(self, consumers, when):
        holders = self.clients[0].must(200, "GET", f"/resource_providers/{self.provider}/allocations")["allocations"]
        found = [self.clients[0].ask("DELETE", f"/allocations/{consumer}")[0] for consumer in holders]
        yield f"{when}: berthd deletes them", set(consumers) < set(holders) and set(found) == {204}, (holders, found)
        found = [self.rows(consumer) for consumer in holders]
        yield f"{when}: and their rows", set(found) == {(0, 0)}, found
        found = self.noticed(0)
        yield f"{when}: so that all is free again", found == [0] * len(self.clients), found


class ServerCases(Cases):
    def __init__(self, build, database, stack):
        super().__init__(build, stack)
        kind, wire = (Postgres, PostgresWire) if database == "postgres" else (lambda: Mariadb(options={**KOLLA, **TRUST}), MariadbWire)
        self.server = stack.enter_context(kind())
        self.tables = self.server.url()
        self.proxy = stack.enter_context(FaultyProxy(self.server.port, wire))
        self.steps = STEPS[database]
        self.to_first = stack.enter_context(FaultyProxy(self.server.port, wire))
        self.berths = [self.start(servers.Berthd, os.path.join(build, "berthd"), connection=self.server.url(port=port), sync=number == 0)
                       for number, port in enumerate((self.to_first.port, self.server.port))]
        self.clients = [servers.Client(berth.port) for berth in self.berths]
        self.cut_off = servers.Client(self.start(servers.PythonService, connection=self.server.url(port=self.proxy.port), sync=False).port)
        self.of_python = servers.Client(self.start(servers.PythonService, connection=self.server.url(), sync=False).port)
        self.clients[0].make_provider(self.provider, VCPU=TOTAL)
        first = str(uuid.uuid4())
        self.claim(self.cut_off, first)  # projects, users and types are there afterwards
        self.of_python.must(204, "DELETE", f"/allocations/{first}")

    def leave(self):
        """A consumer that the Python service, which does not know that it has committed the claim, leaves without a row."""
        consumer = str(uuid.uuid4())
        self.proxy.cut(sender="client", kind="Query", text="^COMMIT", nth=CLAIM_COMMIT, when="after")
        status = self.claim(self.cut_off, consumer)
        self.proxy.recover()
        if status != 500:
            raise Failure(f"the claim is answered with {status}")
        return consumer

    def all(self):
        yield from self.by_tools()
        consumers = [self.leave() for _ in range(2)]
        yield from self.counted(consumers, "without triggers")
        yield from self.held_before("without triggers")
        yield from self.interrupted()
        found = self.tool("placement-manage", "db", "coexist", "enable")
        yield "triggers are created", found[0] == 0, found
        consumers = [self.leave() for _ in range(2)]
        yield from self.counted(consumers, "with triggers")
        yield from self.held_before("with triggers")
        yield from self.at_start()

    def by_tools(self):
        with self.stopped():
            consumer = self.leave()
            found = self.rows(consumer)
            yield "the Python service leaves a claim without a consumer", found == (1, 0), found
            found = self.used(self.of_python)
            yield "which it counts as used", found == CLAIM, found
            found = self.of_python.ask("GET", f"/allocations/{consumer}")
            yield "and does not list", found == (200, {"allocations": {}}), found
            found = self.of_python.ask("DELETE", f"/allocations/{consumer}")[0]
            yield "or delete", found == 404, found
            found = self.tool("placement-status", "upgrade", "check")
            yield "placement-status counts it", found[0] == 1 and "There are 1 incomplete consumers" in found[1], found
            found = self.tool("placement-manage", "db", "online_data_migrations")
            yield "placement-manage completes it", found[0] == 0 and "1 migrated" in found[1], found
            found = self.rows(consumer)
            yield "with a row", found == (1, 1), found
            yield from self.many_by_tool()
        found = self.of_python.ask("DELETE", f"/allocations/{consumer}")[0]
        yield "so that it can be deleted", found == 204 and self.rows(consumer) == (0, 0), (found, self.rows(consumer))

    def many_by_tool(self):
        (provider,), = self.server.sql(f"SELECT id FROM resource_providers WHERE uuid = '{self.provider}'")
        self.server.sql("INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES "
                        + ", ".join(f"({provider}, 'many-{number}', {name}, 1)" for number in range(MANY) for name in (0, 1)))
        found = self.tool("placement-manage", "db", "online_data_migrations", "--max-count", str(MANY))
        yield "placement-manage completes many", f" {MANY} migrated" in found[1], found
        found = self.server.sql("SELECT count(*), count(DISTINCT uuid) FROM consumers WHERE uuid LIKE 'many-%'")
        yield "each once", [tuple(row) for row in found] == [(MANY, MANY)], found
        for table, column in (("allocations", "consumer_id"), ("consumers", "uuid")):
            self.server.sql(f"DELETE FROM {table} WHERE {column} LIKE 'many-%'")

    def interrupted(self):
        """The first instance, which is alone, does not come to the end. Nothing is given away that the consumer holds."""
        self.clients[1].close()
        self.berths[1].stop()
        for what, message in self.steps:
            yield from self.interrupted_at(f"the connection ends when berthd {what}", message, self.to_first.cut)
            yield from self.interrupted_at(f"berthd is killed when it {what}", message, self.to_first.swallow, kills=True)
        self.berths[1].start()

    def interrupted_at(self, when, message, interrupt, kills=False):
        fault = interrupt(sender="client", when="after", **message)
        consumer = self.leave()
        try:
            fault.wait()
        except Failure as failure:
            yield f"{when}: it comes to that", False, (failure, self.rows(consumer), self.berths[0].log()[-3000:])
            return
        if kills:
            self.clients[0].close()
            self.berths[0].kill()
            self.to_first.recover()
            self.berths[0].start()
        found = self.answered(TOTAL - CLAIM + 1)
        yield f"{when}: what it holds is not given away", found == 409, found
        found = self.used(self.clients[0]), self.used(self.of_python), self.rows(consumer)
        yield f"{when}: it has one row", found == (CLAIM, CLAIM, (1, 1)), found
        found = self.clients[0].ask("DELETE", f"/allocations/{consumer}")[0]
        yield f"{when}: and is deleted", found == 204 and self.rows(consumer) == (0, 0), found

    def answered(self, amount):
        """The status of a claim, as soon as it is not that there is no database."""
        found = []

        def ask():
            with contextlib.suppress(OSError, http.client.HTTPException):
                found.append(self.claim(self.clients[0], amount=amount))
            return found and found[-1] != 503

        with contextlib.suppress(Failure):
            wait_until(ask, "", NOTICED_S)
        return found[-1] if found else None

    def held_before(self, when):
        """A consumer that memory has is deleted, and created again by the Python service, with another id."""
        consumer = str(uuid.uuid4())
        found = self.claim(self.clients[0], consumer)
        used = self.noticed(CLAIM)
        yield f"{when}: memory has a consumer", found == 204 and used == [CLAIM] * 2, (found, used)
        self.server.sql(f"DELETE FROM consumers WHERE uuid = '{consumer}'")
        found = self.claim(self.of_python, consumer, 2 * CLAIM)
        yield f"{when}: the Python service replaces its allocation", found == 204, found
        found = self.noticed(2 * CLAIM)
        yield f"{when}: all count what it has now", found == [2 * CLAIM] * 2, found
        found = [client.ask("DELETE", f"/allocations/{consumer}")[0] for client in self.clients]
        yield f"{when}: and delete it", found == [204, 404] and self.rows(consumer) == (0, 0), (found, self.rows(consumer))
        found = self.noticed(0)
        yield f"{when}: nothing is left of it", found == [0] * 2, found

    def at_start(self):
        with self.stopped():
            consumers = [self.leave() for _ in range(2)]
        found = [(self.used(client), self.rows(consumers[0])) for client in self.clients]
        yield "at a start: berthd counts them before it serves", found == [(2 * CLAIM, (1, 1))] * 2, found
        found = self.berths[0].log()
        yield "at a start: and says so", "had allocations of consumers without a row (2, " in found, found[-1000:]
        yield from self.counted(consumers, "at a start")


class FileCases(Cases):
    def __init__(self, build, stack):
        super().__init__(build, stack)
        self.berths = [self.start(servers.Berthd, os.path.join(build, "berthd"))]
        self.tables = self.berths[0].database
        self.clients = [servers.Client(self.berths[0].port)]
        self.clients[0].make_provider(self.provider, VCPU=TOTAL)

    def leave(self, consumers):
        with contextlib.closing(sqlite3.connect(self.tables, timeout=10)) as connection, connection:
            for consumer in consumers:
                connection.execute("DELETE FROM consumers WHERE uuid = ?", (consumer,))

    def claimed(self):
        consumers = [str(uuid.uuid4()) for _ in range(2)]
        assert all(self.claim(self.clients[0], consumer) == 204 for consumer in consumers)
        return consumers

    def all(self):
        consumers = self.claimed()
        self.leave(consumers)
        yield from self.counted(consumers, "while berthd serves")
        consumers = self.claimed()
        with self.stopped():
            self.leave(consumers)
        found = self.berths[0].log()
        yield "at a start: berthd says so", "had allocations of consumers without a row (2, " in found, found[-1000:]
        yield from self.counted(consumers, "at a start")
        consumers = self.claimed()
        with self.stopped():
            self.leave(consumers)
            found = self.tool("placement-manage", "db", "online_data_migrations")
        yield "placement-manage completes them", found[0] == 0 and "2 migrated" in found[1], found
        yield from self.counted(consumers, "completed by a tool")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--database", choices=("postgres", "mariadb", "sqlite"), default="mariadb")
    options = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        cases = FileCases(options.build, stack) if options.database == "sqlite" else ServerCases(options.build, options.database, stack)
        for what, is_right, found in cases.all():
            score.case(what, None if is_right else str(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
