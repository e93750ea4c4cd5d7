#!/usr/bin/python3
"""The Python service allocates more than there is on MariaDB, without Galera and without berthd; berthd does not.

    tests/databases/python_over_capacity.py --berthd build/berthd

A service is about to claim the last unit of a provider and has seen that it is free; before it writes, another one claims it. The
Python service then finds another generation of the provider, asks for the new one in a second transaction, and checks the
capacity again in the first one, whose snapshot is as old as before. berthd is asked to do the same.

With innodb_snapshot_isolation, as MariaDB has it from 11.6.2 on by default, the server refuses the first transaction's change of the
generation. The Python service then answers 500, also if it tries each claim only once.

The binary log tells such a case from a fault of berth's (over_capacity.py), which is checked here as well."""

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import types
import urllib.request
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import over_capacity  # noqa: E402
import servers  # noqa: E402
from mariadb import KOLLA, SYSTEM, Mariadb  # noqa: E402
from processes import Failure, wait_until  # noqa: E402
from soak_checks import is_by_python  # noqa: E402

TOTAL = 16
PYTHON, BERTH = types.SimpleNamespace(is_python=True), types.SimpleNamespace(is_python=False)  # services of a journal
ISOLATION = "innodb_snapshot_isolation"
ONE_ATTEMPT = ("[placement]", "allocation_conflict_retry_count = 1")
WAITING = "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%INSERT INTO allocations%'"
LOOK_PAUSE_S = 0.15  # whoever asks more often gets the same answer again


def consumer_between(first):
    """A new one whose uuid begins so; the index of allocations has them in that order."""
    return first + str(uuid.uuid4())[1:]


class Cases:
    """All yield (what, whether it is right, what was found)."""

    def __init__(self, program, stack):
        self.stack = stack
        self.server = stack.enter_context(Mariadb(options={**KOLLA, ISOLATION: False}))
        self.admin = servers.free_port()
        self.berth = self.start(servers.Berthd, program, options=("[berth]", f"admin_listen = 127.0.0.1:{self.admin}"))
        self.pythons = [self.start(servers.PythonService, sync=False) for _ in range(2)]
        self.careful = self.start(servers.PythonService, sync=False, options=ONE_ATTEMPT)
        self.client = servers.Client(self.berth.port)
        self.exceeded = []  # providers, in that order

    def start(self, kind, *words, **more):
        directory = tempfile.mkdtemp(prefix="berth-over-")
        self.stack.callback(shutil.rmtree, directory, ignore_errors=True)
        return self.stack.enter_context(kind(*words, directory, connection=self.server.url(), **more))

    def full_but_one(self):
        """A new provider. What separates the consumers in the index of allocations is its first claim."""
        provider = str(uuid.uuid4())
        self.client.make_provider(provider, VCPU=TOTAL)
        assert self.client.claim(consumer_between("8"), **{provider: {"VCPU": TOTAL - 1}})[0] == 204
        return provider

    @contextlib.contextmanager
    def held_up(self, consumer):
        """Nobody can allocate to this consumer, or to one after it; who tries has seen the tables before."""
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT id FROM allocations WHERE consumer_id = %s FOR UPDATE", (consumer,))
            yield
            cursor.execute("COMMIT")

    def race(self, late, early):
        """(the provider, the status of the late one, of the early one)"""
        provider, consumer, found = self.full_but_one(), consumer_between("f"), []

        def claim(service, consumer):
            found.append(servers.Client(service.port, timeout=60).claim(consumer, **{provider: {"VCPU": 1}})[0])

        claiming = threading.Thread(target=claim, args=(late, consumer))
        time.sleep(LOOK_PAUSE_S)  # the server would show who waited in the last race
        with self.held_up(consumer):
            claiming.start()
            wait_until(lambda: self.server.sql(WAITING, database=SYSTEM), "nobody waits", 30, pause=LOOK_PAUSE_S)
            claim(early, consumer_between("0"))
        claiming.join()
        return provider, found[1], found[0]

    def finding(self, provider):
        """None, or what is over the capacity."""
        return next((found for found in over_capacity.look(self.server)[0] if found.uuid == provider), None)

    def races(self):
        python, other = self.pythons
        for early, name in ((other, "another Python service"), (self.berth, "berthd")):
            provider, *statuses = self.race(python, early)
            found = self.finding(provider)
            yield f"the Python service claims what {name} has claimed", statuses == [204, 204], statuses
            yield "so that more is allocated than there is", found is not None and found.used == TOTAL + 1, found
            if found is not None:
                verdict = over_capacity.judge(found, [self.server])
                yield "and the log says that it was not berth", verdict.is_foreign, verdict.text
                yield "and that it was repeated", "has repeated a claim" in verdict.text, verdict.text
                yield "and who", [consumer[0] for consumer in verdict.consumers] == ["f"], verdict.consumers
                excused = [is_by_python(verdict, [maker]) for maker in (PYTHON, BERTH, None)]
                yield "which excuses only what the Python service was asked for", excused == [True, False, False], excused
            yield from self.beside(provider)
        provider, *statuses = self.race(self.careful, other)
        yield "if it tries once only, it refuses", statuses == [409, 204] and self.finding(provider) is None, statuses

    def isolated(self):
        """The setting is for new sessions."""
        self.server.configure(**{ISOLATION: True})
        self.server.kill_sessions()
        for early, name in ((self.pythons[1], "another Python service"), (self.berth, "berthd")):
            for late, how in ((self.pythons[0], "the Python service"), (self.careful, "one that tries once only")):
                provider, *statuses = self.race(late, early)
                yield f"with {ISOLATION}, {how} cannot claim what {name} has claimed", statuses == [500, 204], statuses
                yield "so that no more is allocated than there is", self.finding(provider) is None, self.finding(provider)
        provider, *statuses = self.race(self.berth, self.pythons[0])
        yield "berthd answers as without it", statuses == [409, 204], statuses
        yield "and no more is allocated than there is", self.finding(provider) is None, self.finding(provider)
        self.server.configure(**{ISOLATION: False})
        self.server.kill_sessions()

    def beside(self, provider):
        """What berthd makes of it."""
        found = self.client.claim(consumer_between("0"), **{provider: {"VCPU": 1}})[0]
        yield "berthd allocates nothing more of it", found == 409, found
        path = f"/resource_providers/{provider}/usages"
        with contextlib.suppress(Failure):
            wait_until(lambda: self.client.must(200, "GET", path)["usages"] == {"VCPU": TOTAL + 1}, "", 20)
        found = self.client.must(200, "GET", path)["usages"]
        yield "and shows how much is allocated", found == {"VCPU": TOTAL + 1}, found
        found = self.count_over()
        yield "and counts the provider", found == 1, found
        self.exceeded.append(provider)
        yield "and names the first one, once", self.is_named(), self.berth.log()[-2000:]
        consumer = next(iter(self.client.must(200, "GET", f"/resource_providers/{provider}/allocations")["allocations"]))
        found = self.client.ask("DELETE", f"/allocations/{consumer}")[0]
        yield "and lets go of a claim", found == 204, found
        while self.finding(provider) is not None:
            consumer = next(iter(self.client.must(200, "GET", f"/resource_providers/{provider}/allocations")["allocations"]))
            self.client.must(204, "DELETE", f"/allocations/{consumer}")
        found = self.count_over()
        yield "and no longer counts it when enough is released", found == 0, found

    def count_over(self):
        """What berthd's gauge says."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=30) as answer:
            return float(re.search(r"^berth_providers_over_capacity (.+)$", answer.read().decode(), re.M)[1])

    def is_named(self):
        """Whether the log does; the next ones may come within the same minute."""
        log = self.berth.log()
        first, *others = [log.count(f"VCPU of resource provider {provider} (") for provider in self.exceeded]
        return first == 1 and all(count <= 1 for count in others) and f": {TOTAL + 1} of {TOTAL}" in log

    def write(self, provider, is_berth=False, generation="generation + 1"):
        """A claim of one unit by a transaction as berth's or as another program's."""
        consumer = str(uuid.uuid4())
        log = """INSERT INTO berth_log SELECT number + 1, mark, digest, written_at, entries FROM berth_log
            ORDER BY number DESC LIMIT 1;""" if is_berth else ""
        claim = f"""INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)
            SELECT id, '{consumer}', 0, 1 FROM resource_providers WHERE uuid = '{provider}';"""
        self.server.run(f"""BEGIN; {log} {claim}
            UPDATE resource_providers SET generation = {generation} WHERE uuid = '{provider}'; COMMIT""")

    def written(self, first, last, between=0, afterwards=()):
        """The verdict on two claims of one unit, by the arguments of write(). between: what is added to the generation without a
        trace in the log. afterwards: statements."""
        provider = self.full_but_one()
        self.write(provider, **first)
        self.server.run(f"SET sql_log_bin = 0; UPDATE resource_providers SET generation = generation + {between} WHERE uuid = '{provider}'")
        self.write(provider, **last)
        for text in afterwards:
            self.server.run(text.format(provider=provider))
        return over_capacity.judge(self.finding(provider), [self.server])

    def by_berth(self):
        """What must not be excused."""
        verdict = self.written({"is_berth": True}, {})
        yield "what the Python service's transaction has exceeded is not berth's fault", verdict.is_foreign, verdict.text
        verdict = self.written({}, {"is_berth": True})
        yield "what berth's has exceeded is", not verdict.is_foreign and "-> " in verdict.text, verdict.text
        verdict = self.written({"is_berth": True, "generation": "generation"}, {})
        is_named = "berth has allocated without a new generation" in verdict.text
        yield "so is what it gave others no chance to notice", not verdict.is_foreign and is_named, verdict.text
        verdict = self.written({"is_berth": True}, {"generation": "generation"})
        yield "a claim without a new generation is not excused", not verdict.is_foreign and "-> " in verdict.text, verdict.text
        verdict = self.written({"is_berth": True}, {}, between=1)
        yield "nor is one on a generation that nobody left there", not verdict.is_foreign and "-> " in verdict.text, verdict.text

    def in_older_logs(self):
        """The server was started again since."""
        started = "FLUSH BINARY LOGS"
        verdict = self.written({"is_berth": True}, {}, afterwards=[started])
        yield "older logs tell as well that it was not berth", verdict.is_foreign, verdict.text
        verdict = self.written({}, {"is_berth": True}, afterwards=[started])
        yield "and that it was", not verdict.is_foreign and "-> " in verdict.text, verdict.text
        unlogged = """SET sql_log_bin = 0; INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)
            SELECT id, uuid(), 0, 1 FROM resource_providers WHERE uuid = '{provider}'"""
        verdict = self.written({"is_berth": True}, {}, afterwards=[started, unlogged])
        yield "if they have everything that is allocated", verdict is over_capacity.UNKNOWN, verdict.text

    def by_nobody(self):
        finding = over_capacity.Finding(10 ** 9, "", 0, 1, 2, (), 1)
        found = over_capacity.judge(finding, [self.server])
        yield "what no log has is no other program's", found is over_capacity.UNKNOWN, found

    def berth_refuses(self):
        provider, *statuses = self.race(self.berth, self.pythons[0])
        yield "berthd does not claim what the Python service has claimed", statuses == [409, 204], statuses
        yield "and no more is allocated than there is", self.finding(provider) is None, self.finding(provider)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        cases = Cases(arguments.berthd, stack)
        for part in (cases.races, cases.berth_refuses, cases.isolated, cases.by_nobody, cases.by_berth, cases.in_older_logs):  # the last one leaves a strange log
            for what, is_right, found in part():
                score.case(what, None if is_right else str(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
