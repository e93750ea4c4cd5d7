"""What must hold while soak.py runs, and at its end."""

import contextlib
import datetime
import glob
import json
import os
import time

import over_capacity
import psycopg2
import pymysql
import servers
from processes import Beside, Failure, wait_until
from soak_clients import NOT_THERE

# (table, column of the consumer, condition) of rows that lack their counterpart
HALVES = (("consumers", "uuid", "uuid NOT IN (SELECT consumer_id FROM allocations)"),
          ("allocations", "consumer_id", "consumer_id NOT IN (SELECT uuid FROM consumers)"))
CLAIMS = "SELECT a.consumer_id, p.uuid, a.used FROM allocations a JOIN resource_providers p ON p.id = a.resource_provider_id"
AUDIT_PAUSE_S = 0.5
EQUAL_SECONDS_MOST = 120
CONSUMERS_ASKED = 100
WHOLE_LISTS = "/resource_providers", "/resource_classes", "/traits", "/allocation_candidates?resources=VCPU:1"
USAGES_VERSION = "1.37"  # from 1.38 on, the Python service's query is no PostgreSQL


class Auditor(Beside):
    """Asks the tables again and again whether a capacity is exceeded. `wrong`: what berth is to blame for, as far as it is known;
    `foreign`: what the Python service has done."""

    def __init__(self, databases):
        super().__init__()
        self.databases = databases
        self.times, self.wrong, self.foreign = 0, [], []

    def _work(self):
        while not self.is_over.wait(AUDIT_PAUSE_S):
            self.look()

    def look(self):
        with contextlib.suppress(psycopg2.Error, pymysql.MySQLError):  # a server that is down
            self.wrong += map(str, self.databases.current.sql(over_capacity.OVER_CAPACITY))
            self.times += 1

    def findings(self):
        """[(what, None or what is wrong)], after a last look."""
        self.look()
        if self.foreign:
            print(f"       how often the Python service has exceeded one: {len(self.foreign)}; the first time, {self.foreign[0]}", flush=True)
        yield "no capacity is or was exceeded by berth", f"{len(self.wrong)} times:\n" + "\n".join(self.wrong[:3]) if self.wrong else None


def is_by_python(verdict, makers):
    """makers: the services from which the last claims were requested; None: nobody knows."""
    return verdict.is_foreign and all(maker is not None and maker.is_python for maker in makers)


class ClusterAuditor(Auditor):
    """Asks every node. playing: returns what is going on."""

    def __init__(self, databases, journal, playing):
        super().__init__(databases)
        self.nodes, self.journal, self.playing = databases.cluster.nodes, journal, playing
        self.seen = set()

    def look(self):
        for node in self.databases.cluster.members():
            with contextlib.suppress(pymysql.MySQLError):
                found, log = over_capacity.look(node)
                self.times += 1
                for finding in found:
                    if finding.key not in self.seen:
                        self.seen.add(finding.key)
                        self._note(node, finding, log)

    def _note(self, node, finding, log):
        at = f"{datetime.datetime.now(datetime.timezone.utc):%H:%M:%S.%f}, in the journal {time.monotonic():.4f}"
        seen = over_capacity.texts_of(self.nodes)
        verdict = over_capacity.judge(finding, [node, *(other for other in self.nodes if other is not node)])
        makers = [self.journal.maker_of(consumer) for consumer in verdict.consumers]
        text = "\n".join([f"at {at}, during {self.playing()}, on {node.name}: {finding.text()}",
                          f"   log: {over_capacity.text_of_log(log)}", "asked again, at once:", *seen, verdict.text,
                          f"the last of it was requested from {[maker and maker.name for maker in makers]}"])
        (self.foreign if is_by_python(verdict, makers) else self.wrong).append(text)


def everything(port):
    """{request: its answer}, of all that a service shows."""
    client = servers.Client(port, timeout=120)

    def ask(path, version=servers.NEWEST):
        status, answer = client.ask("GET", path, version=version)
        return status, in_order(answer)

    providers = [provider["uuid"] for provider in client.must(200, "GET", "/resource_providers")["resource_providers"]]
    found = {path: ask(path) for path in WHOLE_LISTS}
    consumers = set()
    for provider in providers:
        for what in ("inventories", "usages", "aggregates", "traits", "allocations"):
            path = f"/resource_providers/{provider}/{what}"
            found[path] = ask(path)
        consumers.update(found[path_of_claims(provider)][1].get("allocations", {}))
    for consumer in sorted(consumers)[:CONSUMERS_ASKED]:
        found[f"/allocations/{consumer}"] = ask(f"/allocations/{consumer}")
    found["/usages"] = ask("/usages?project_id=p", USAGES_VERSION)
    return found


def path_of_claims(provider):
    return f"/resource_providers/{provider}/allocations"


def in_order(value):
    """Lists may be in any order."""
    if isinstance(value, dict):
        return {key: in_order(each) for key, each in value.items()}
    if isinstance(value, list):
        return sorted((in_order(each) for each in value), key=lambda each: json.dumps(each, sort_keys=True))
    return value


def difference(one, other):
    """None, or the first request that is answered differently."""
    for path in sorted(one.keys() | other.keys()):
        if one.get(path) != other.get(path):
            return f"{path}: {str(one.get(path))[:700]} and {str(other.get(path))[:700]}"
    return None


def state_of_tables(server):
    """{id: state} of the clients' consumers and providers."""
    found = {consumer: (provider, used) for consumer, provider, used in server.sql(CLAIMS)}
    found.update(server.sql("SELECT uuid, name FROM resource_providers WHERE name LIKE 'soak %'"))
    return found


def gone(journal, table):
    """The things that the tables have in another state than was acknowledged, because the promotion lost commits."""
    return [thing for thing in journal.things if table.get(thing.id, NOT_THERE) not in thing.possible and journal.may_be_lost(thing)
            and table.get(thing.id, NOT_THERE) in thing.history]


def named(directory):
    """{(uuid, "gone" or "appeared")} of the instances' files about what the database has lost."""
    found = set()
    for path in glob.glob(os.path.join(directory, "lost-*.jsonl")):
        with open(path) as file:
            lines = [json.loads(line) for line in file]
        if not lines or not lines[-1].get("end"):
            raise Failure(f"{path} has no end")
        found.update((line["uuid"], line["state"]) for line in lines if "uuid" in line)
    return found


def journal_findings(journal, table, directory):
    """[(what, None or what is wrong)]"""
    things = gone(journal, table)
    lost = {thing.id for thing in things}
    names = named(directory)
    unnamed = [thing.id for thing in things if (thing.id, "gone" if thing.told is not NOT_THERE else "appeared") not in names]
    yield "what the database lost is named", f"not {len(unnamed)} of {len(things)}: {unnamed[:3]}" if unnamed else None
    wrong = [thing for thing in journal.things if table.get(thing.id, NOT_THERE) not in thing.possible and thing.id not in lost]
    missing = [thing.id for thing in wrong if thing.told is not NOT_THERE]
    yield "nothing that was acknowledged is lost", f"{len(missing)} of {len(journal.things)}: {missing[:3]}" if missing else None
    there = [thing.id for thing in wrong if thing.told is NOT_THERE]
    yield "nothing that was released or refused is there", f"{len(there)}: {there[:3]}" if there else None
    strange = table.keys() - {thing.id for thing in journal.things}
    yield "nothing is there that nobody wrote", str(strange) if strange else None


def finish_for_python(journal, server):
    """Removes what the Python service has left half done: consumers and allocations are written in several transactions of its
    (docs/mariadb.md). berth notices the loss of an allocation whose consumer stays with its next scrub, in an hour. What an
    instance may have written last stays as it is, for the checks to find."""
    by_python = {thing.id for thing in journal.things if thing.is_last_by_python}
    for table, column, is_half in HALVES:
        left = {name for name, in server.sql(f"SELECT {column} FROM {table} WHERE {is_half}")} & by_python
        for name in left:
            server.sql(f"DELETE FROM {table} WHERE {column} = %s", name)
        print(f"       {len(left)} {table} that the Python service has left: {sorted(left)[:3]}", flush=True)


def replica_findings(databases, instances, fresh, python):
    """The fresh instance and the Python service have just read the tables."""
    right = everything(fresh.port)
    for instance in instances:
        try:
            wait_until(lambda: difference(right, everything(instance.port)) is None, "", EQUAL_SECONDS_MOST, pause=0.5)
            wrong = None
        except Failure:
            wrong = difference(right, everything(instance.port))
        yield f"{instance.name} answers what the tables contain", wrong
    yield "the Python service answers the same", difference(right, everything(python.port))
    chain = databases.current.sql("SELECT count(*), max(number) - min(number) + 1 FROM berth_log")[0]
    yield "the log has no gaps", None if chain[0] == chain[1] else str(chain)
    broken = databases.current.sql("SELECT count(*) FROM allocations WHERE consumer_id NOT IN (SELECT uuid FROM consumers)")
    yield "every allocation has its consumer", None if broken == [(0,)] else str(broken)
