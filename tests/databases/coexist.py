#!/usr/bin/python3
"""Two instances of berthd and the Python service on one database, with `placement-manage db coexist enable`.

    tests/databases/coexist.py --berthd build/berthd [--database postgres|mariadb|galera] [--attempts N] [--seconds S]

Each read on either instance, directly after the Python service has answered, shows what it has written, and so it does after
statements of any other program: enabled and disabled while both serve, and beside claims of all three. beside_python.py tests
what holds without the triggers.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import psycopg2  # noqa: E402
import servers  # noqa: E402
from beside_python import (  # noqa: E402
    DATABASES, OWNER, PYTHON_OWNER, claim, claims_are_kept, new, provider_of, refuses_unseen_changes, score_cases, soon,
    two_and_python, used, work_at_once)
from mariadb import numbers  # noqa: E402

BIG = 5000  # rows of one statement that are too many to be named


# By whether the server is MariaDB.
TRIGGERS = {False: "SELECT tgname::text FROM pg_trigger WHERE tgname LIKE 'berth%' UNION ALL"
                   " SELECT proname::text FROM pg_proc WHERE proname LIKE 'berth%'",
            True: "SELECT trigger_name FROM information_schema.triggers WHERE trigger_name LIKE 'berth%'"}
SERIES = {False: f"SELECT gen_random_uuid()::text, 'big' || i, 0 FROM generate_series(1, {BIG}) i",
          True: f"SELECT UUID(), CONCAT('big', seq), 0 FROM {numbers(1, BIG)}"}
OTHER_USER = {False: "CREATE ROLE other LOGIN PASSWORD 'other'; GRANT USAGE ON SCHEMA public TO other;"
                     "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO other;"
                     "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO other; REVOKE ALL ON berth_foreign FROM other",
              True: "CREATE USER other@'%' IDENTIFIED BY 'other'; GRANT SELECT ON placement.* TO other@'%';"
                    "GRANT INSERT ON traits TO other@'%'"}


class Tool:
    def __init__(self, program, url):
        self.program, self.url = program, url

    def run(self, *words, url=None):
        """(exit code, what it printed)"""
        done = subprocess.run([self.program, "db", *words], capture_output=True, text=True, timeout=120,
                              env={"OS_PLACEMENT_DATABASE__CONNECTION": url or self.url, "PATH": "/usr/bin:/bin", "HOME": "/"})
        return done.returncode, (done.stdout + done.stderr).strip()


class Coexist:
    """All cases yield (what, whether it is right, what was found)."""

    def __init__(self, server, berths, python, tool, kind, attempts, seconds):
        self.server, self.tool, self.attempts, self.seconds = server, tool, attempts, seconds
        self.is_mariadb, self.is_cluster = kind != "postgres", kind == "galera"
        self.may_give_up = self.is_cluster or refuses_unseen_changes(server)
        self.berths = [servers.Client(berth.port) for berth in berths]
        self.python = servers.Client(python.port, timeout=60)

    def status(self):
        return self.tool.run("coexist", "status")

    def everywhere(self, what, ask, wanted):
        for number, client in enumerate(self.berths):
            found = ask(client)
            yield f"{what}, on instance {number}", found == wanted, found

    def enable(self):
        yield "it is disabled at first", self.status() == (0, "disabled, changes waiting: 0"), self.status()
        provider = provider_of(self.berths[0], new())
        self.server.sql(f"""UPDATE inventories SET total = 7 WHERE resource_provider_id =
            (SELECT id FROM resource_providers WHERE uuid = '{provider}')""")
        found = self.tool.run("coexist", "enable")
        yield "it can be enabled while everybody serves", found == (0, ""), found
        yield "and says so", self.status()[1].startswith("enabled, "), self.status()

        def total(client):
            return client.must(200, "GET", f"/resource_providers/{provider}/inventories")["inventories"]["VCPU"]["total"]
        yield from self.everywhere("what SQL has changed before that, and nobody noticed, is read again", total, 7)
        found = self.tool.run("coexist", "enable")
        yield "twice is once", found == (0, "") and self.status()[1].startswith("enabled, "), (found, self.status())

    def own_writes(self):
        provider = provider_of(self.berths[0], new())
        for _ in range(20):
            claim(self.berths[0], provider)
        found = self.server.sql("SELECT count(*) FROM berth_foreign")[0][0]
        yield "berth's own writes are not noted", found == 0, found

    def reads_after_writes(self):
        """Each read is the first one after the write."""
        provider = provider_of(self.python, new(), 1000000)
        stale, consumer, generation = [], new(), None
        for attempt in range(self.attempts):
            status = claim(self.python, provider, attempt + 1, consumer, generation)[1]
            if status != 204:
                stale.append(f"a claim is answered {status}")
                break
            found = self.berths[attempt % 2].must(200, "GET", f"/allocations/{consumer}")
            amount = found["allocations"].get(provider, {}).get("resources", {}).get("VCPU")
            generation = found.get("consumer_generation")
            other = used(self.berths[1 - attempt % 2], provider)
            if (amount, other) != (attempt + 1, attempt + 1):
                stale.append((attempt + 1, amount, other))
                break
        yield f"no read of {2 * self.attempts} is stale", not stale, stale[:3]

    def refusals_beside_writes(self):
        """What the Python service has claimed is released at an instance whose other requests are committed meanwhile: a
        request that is refused beside them must not be refused because of what was so before."""
        provider, own = provider_of(self.python, new(), 1000000), provider_of(self.berths[0], new(), 1000000)
        is_over, wrong = threading.Event(), []

        def write():
            client = servers.Client(self.berths[0].port, timeout=60)
            while not is_over.is_set():
                claim(client, own)

        def release():
            python, client = servers.Client(self.python.port, timeout=60), servers.Client(self.berths[0].port, timeout=60)
            for _ in range(self.attempts):
                consumer, status = claim(python, provider)
                if status == 204:
                    wrong.extend({client.ask("DELETE", f"/allocations/{consumer}")[0]} - {204})
            is_over.set()

        work_at_once(threading.Thread(target=work) for work in (write, write, write, write, release))
        yield f"no release of {self.attempts} is refused", not wrong, wrong[:3]

    def kinds(self):
        """Everything that the Python service writes, each read once and at once."""
        provider, name, trait = new(), new(), "CUSTOM_" + new().replace("-", "_").upper()
        self.python.must(200, "POST", "/resource_providers", {"name": name, "uuid": provider})
        yield from self.everywhere("a new provider", lambda c: c.ask("GET", f"/resource_providers/{provider}")[0], 200)
        self.python.must(200, "PUT", f"/resource_providers/{provider}", {"name": name + "2"})
        yield from self.everywhere("a new name", lambda c: c.must(200, "GET", f"/resource_providers/{provider}")["name"],
                                   name + "2")
        self.python.must(201, "PUT", f"/traits/{trait}")
        yield from self.everywhere("a new trait", lambda c: c.ask("GET", f"/traits/{trait}")[0], 204)
        self.python.must(200, "PUT", f"/resource_providers/{provider}/traits",
                         {"resource_provider_generation": 0, "traits": [trait]})
        yield from self.everywhere("of a provider", lambda c: c.must(200, "GET", f"/resource_providers/{provider}/traits")["traits"],
                                   [trait])
        self.python.must(200, "PUT", f"/resource_providers/{provider}/aggregates", [aggregate := new()], version="1.1")
        yield from self.everywhere("an aggregate without a new generation", lambda c: c.must(
            200, "GET", f"/resource_providers/{provider}/aggregates")["aggregates"], [aggregate])
        self.python.must(200, "PUT", f"/resource_providers/{provider}/aggregates", [], version="1.1")
        yield from self.everywhere("which is gone", lambda c: c.must(
            200, "GET", f"/resource_providers/{provider}/aggregates")["aggregates"], [])
        resource = "CUSTOM_" + new().replace("-", "_").upper()
        self.python.must(201, "PUT", f"/resource_classes/{resource}")
        yield from self.everywhere("a resource class", lambda c: c.ask("GET", f"/resource_classes/{resource}")[0], 200)
        self.python.must(204, "DELETE", f"/resource_classes/{resource}")
        yield from self.everywhere("which is gone", lambda c: c.ask("GET", f"/resource_classes/{resource}")[0], 404)
        host = provider_of(self.python, new())
        consumer = claim(self.python, host, 5)[0]
        yield from self.everywhere("a claim", lambda c: used(c, host), 5)
        self.python.must(204, "DELETE", f"/allocations/{consumer}")
        yield from self.everywhere("that has ended", lambda c: used(c, host), 0)
        self.python.must(204, "DELETE", f"/resource_providers/{host}")
        yield from self.everywhere("a provider that is gone", lambda c: c.ask("GET", f"/resource_providers/{host}")[0], 404)

    def any_program(self):
        """Statements that leave all generations as they are."""
        provider = provider_of(self.berths[0], new())
        consumer = claim(self.berths[0], provider, 3)[0]
        self.server.sql(f"UPDATE allocations SET used = 4 WHERE consumer_id = '{consumer}'")
        yield from self.everywhere("an amount", lambda c: used(c, provider), 4)
        self.server.sql(f"DELETE FROM allocations WHERE consumer_id = '{consumer}'")
        yield from self.everywhere("an allocation that is gone", lambda c: used(c, provider), 0)
        self.server.run(f"INSERT INTO resource_providers (uuid, name, generation) {SERIES[self.is_mariadb]};"
                        "UPDATE resource_providers SET root_provider_id = id WHERE name LIKE 'big%'")
        yield from self.everywhere("too many rows to be named", lambda c: len(
            [one for one in c.must(200, "GET", "/resource_providers")["resource_providers"] if one["name"].startswith("big")]), BIG)
        self.server.run("UPDATE resource_providers SET root_provider_id = NULL WHERE name LIKE 'big%';"
                        "DELETE FROM resource_providers WHERE name LIKE 'big%'")
        yield from self.everywhere("which are gone", lambda c: len(
            [one for one in c.must(200, "GET", "/resource_providers")["resource_providers"] if one["name"].startswith("big")]), 0)
        # MariaDB has no triggers for it
        self.server.sql("DELETE FROM allocations" if self.is_mariadb else "TRUNCATE allocations")
        host = provider_of(self.python, new())
        yield from self.everywhere("a table that was emptied", lambda c: used(c, provider), 0)
        yield from self.everywhere("and what came after it", lambda c: c.ask("GET", f"/resource_providers/{host}")[0], 200)

    def late_commit(self):
        """A transaction that began before others, and ends after them."""
        provider = provider_of(self.python, new(), 50)
        with contextlib.closing(self.server.connect()) as slow:
            # otherwise MariaDB locks the gap in which others insert
            for statement in (["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"] if self.is_mariadb else []) + ["BEGIN"]:
                slow.cursor().execute(statement)
            slow.cursor().execute(f"""UPDATE inventories SET total = 40 WHERE resource_provider_id =
                (SELECT id FROM resource_providers WHERE uuid = '{provider}')""")
            for _ in range(5):
                other = provider_of(self.python, new())
                yield from self.everywhere("beside an open transaction", lambda c: c.ask("GET", f"/resource_providers/{other}")[0],
                                           200)
            soon(lambda: self.status()[1], "enabled, changes waiting: 0")
            slow.cursor().execute("COMMIT")

        def total(client):
            return client.must(200, "GET", f"/resource_providers/{provider}/inventories")["inventories"]["VCPU"]["total"]
        yield from self.everywhere("which then ends", total, 40)

    def moved(self):
        found = soon(lambda: self.status()[1], "enabled, changes waiting: 0")
        yield "what was noted is moved into the log", found == "enabled, changes waiting: 0", found

    def race(self):
        """Claims of all three at once, and reads of what the Python service has just claimed."""
        providers = [provider_of(self.berths[0], new()) for _ in range(3)]
        accepted, others, stale = [0, 0, 0], [], []
        end = time.monotonic() + self.seconds

        def work(index, port):
            client = servers.Client(port, timeout=60)
            readers = [servers.Client(berth.port) for berth in self.berths] if index == 2 else []
            turn = 0
            while time.monotonic() < end:
                turn += 1
                consumer, status = claim(client, providers[turn % 3], owner=PYTHON_OWNER if index == 2 else OWNER)
                accepted[index] += status == 204
                if status not in (204, 409) and not (index == 2 and status == 500 and self.may_give_up):
                    others.append((index, status))
                for reader in readers:
                    found = reader.must(200, "GET", f"/allocations/{consumer}")["allocations"]
                    if bool(found) != (status == 204):
                        stale.append((status, found))

        work_at_once(threading.Thread(target=work, args=(index, client.port))
                     for index, client in enumerate([*self.berths, self.python]) for _ in range(2))
        yield from claims_are_kept(self.server, providers, sum(accepted), others)
        yield "no read is stale", not stale, stale[:3]

    def dropped_table(self):
        if self.is_mariadb:  # the triggers then do nothing (mariadb_coexist.py)
            return
        try:
            self.server.sql("DROP TABLE berth_foreign")
            found = "it was dropped"
        except psycopg2.Error as error:
            found = str(error)
        yield "the table cannot be dropped under the triggers", "depend on it" in found, found

    def other_user(self):
        self.server.run(OTHER_USER[self.is_mariadb])
        with contextlib.closing(self.server.connect(user="other", password="other", socket=False)) as connection:
            connection.cursor().execute("INSERT INTO traits (name) VALUES ('CUSTOM_OF_ANOTHER_ROLE')")
        yield from self.everywhere("a program may not write berth's tables", lambda c: c.ask(
            "GET", "/traits/CUSTOM_OF_ANOTHER_ROLE")[0], 204)
        url = self.server.url().replace("berth:berth-password@", "other:other@")
        part = "grant TRIGGER on it" if self.is_mariadb else "as the owner of its tables"
        found = self.tool.run("coexist", "disable", url=url)
        yield "not everybody may disable it", found[0] == 1 and part in found[1], found
        found = self.tool.run("coexist", "enable", url=url)
        yield "or enable it", found[0] == 1 and part in found[1], found

    def disable(self):
        provider = provider_of(self.python, new())
        found = self.tool.run("coexist", "disable")
        yield "it can be disabled while everybody serves", found == (0, ""), found
        yield "and says so", self.status() == (0, "disabled, changes waiting: 0"), self.status()
        left = self.server.sql(TRIGGERS[self.is_mariadb])
        yield "nothing is left of it", left == [], left
        yield from self.everywhere("what was noted is not lost", lambda c: c.ask("GET", f"/resource_providers/{provider}")[0], 200)
        provider = provider_of(self.python, new())
        for client in self.berths:
            found = soon(lambda: client.ask("GET", f"/resource_providers/{provider}")[0], 200)
            yield "later writes are noticed as before", found == 200, found
        found = self.tool.run("coexist", "disable")
        yield "twice is once", found == (0, ""), found
        found = self.tool.run("coexist", "enable", url="sqlite:////nowhere.sqlite")
        yield "SQLite does not need it", found[0] == 1 and "not needed for SQLite" in found[1], found

    def cases(self):
        for case in (self.enable, self.own_writes, self.reads_after_writes, self.refusals_beside_writes, self.kinds,
                     self.any_program, self.late_commit, self.moved, self.race, self.dropped_table, self.other_user, self.disable):
            yield from case()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--database", choices=DATABASES, default="postgres")
    parser.add_argument("--attempts", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    score = servers.Score()
    with two_and_python(arguments.berthd, arguments.database) as (server, berths, python):
        tool = Tool(os.path.join(os.path.dirname(arguments.berthd), "placement-manage"), server.url())
        coexist = Coexist(server, berths, python, tool, arguments.database, arguments.attempts, arguments.seconds)
        score_cases(score, coexist.cases(), berths)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
