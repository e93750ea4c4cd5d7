#!/usr/bin/python3
"""The schema of a database on a PostgreSQL server: berth and the Python service (Debian's, and with the newest revision)
work on the same databases in turn, and pg_dump shows what each of them leaves.

    tests/databases/schema.py [--build build] [CASE…]

The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import traceback

import postgres
from expectations import expect
from faulty_proxy import FaultyProxy
from pgbouncer import PgBouncer
from postgres import Postgres, servers
from processes import wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON_TOOL = shutil.which("python_tool.py") or os.path.join(ROOT, "tests", "databases", "python_tool.py")
REVISIONS = ("b4ed3a175331", "611cd6dffd7b", "b5c396305c25", "422ece571366")
DEBIANS, NEWEST = "422ece571366", "a082b8bb98d0"
TRAITS, CLASSES = 377, 21
# MySQL does not let a new row refer to an id that it is about to get itself.
ROWS = """
INSERT INTO resource_providers (created_at, uuid, name, generation, parent_provider_id)
    VALUES ('2020-01-02 03:04:05.000006', 'p1', 'n1', 0, NULL), (NULL, 'p2', 'n2', 7, 1), (NULL, 'p3', 'n3', NULL, NULL);
UPDATE resource_providers SET root_provider_id = CASE id WHEN 3 THEN 3 ELSE 1 END;
INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size,
    allocation_ratio) VALUES (1, 0, 8, 0, 1, 8, 1, 16.1);
INSERT INTO placement_aggregates (uuid) VALUES ('a1'), (NULL), (NULL);
INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id) VALUES (1, 1);
INSERT INTO traits (name) VALUES ('CUSTOM_A');
INSERT INTO resource_provider_traits (trait_id, resource_provider_id) VALUES (1, 2);
INSERT INTO projects (external_id) VALUES ('project');
INSERT INTO users (external_id) VALUES ('user');
INSERT INTO consumers (uuid, project_id, user_id, generation) VALUES ('c0', 1, 1, 3);
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (1, 'c0', 0, 1);
"""
MISSING_ROOTS = """
INSERT INTO resource_providers (uuid, name, generation, parent_provider_id)
    SELECT 'r' || i, 'r' || i, 0, CASE WHEN i % 7 = 0 THEN 1 END FROM generate_series(1, 60) AS i;
"""
MISSING_CONSUMERS = """
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)
    SELECT 1 + i % 3, 'm' || (i / 2), i % 2, 1 FROM generate_series(1, 120) AS i;
"""
OWN_TABLES = {"berth_log", "berth_epochs", "berth_instances", "berth_foreign", "berth_nodes", "berth_node_allocations",
              "berth_valet_groups", "berth_valet_members", "berth_valet_claims", "berth_valet_plans", "berth_valet_placements"}
build = None


def upgrade_checks(table):
    """What placement-status prints, apart from the width of its table and from the check that only berth makes."""
    text = "".join("".join(line.strip("|").split()) for line in table.splitlines() if line.startswith("| "))
    return [check for check in text.split("Check:")[1:] if not check.startswith("DatabaseServer")]


class Schema:
    """Cases on one server. Each has databases of its own, made from templates. mariadb_schema.py has the same on MariaDB."""

    shell_program = "schema_shell"
    missing_roots, missing_consumers = MISSING_ROOTS, MISSING_CONSUMERS
    own_table_names = OWN_TABLES

    def __init__(self):
        self.server = Postgres().start()
        self.names = (f"d{number}" for number in itertools.count())
        self.place = self.server.place.make_directory("schema")
        for revision in REVISIONS:
            self.server.create_database("at_" + revision)
            self.python("at_" + revision, "upgrade", revision)
        self.server.create_database("at_" + NEWEST)
        self.python("at_" + NEWEST, "upgrade", NEWEST)

    def close(self):
        self.server.end()

    # What the cases use.

    def database(self, revision=None, *scripts):
        """The name of a new database: empty, or as the Python service leaves it at that revision, with rows."""
        name = next(self.names)
        template = f" TEMPLATE at_{revision}" if revision else ""
        self.server.sql(f"CREATE DATABASE {name} OWNER berth{template}", database="postgres")
        for script in scripts:
            self.as_owner(name, script)
        return name

    def as_owner(self, name, script):
        """Executes a script as the user who owns the tables."""
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-c", script], check=True, capture_output=True, text=True,
                       env={**os.environ, **self.server.variables(name)})

    def rows(self, name, text):
        return self.server.sql(text, database=name)

    def python(self, name, *command):
        """The Python service, with the newest revision."""
        run = subprocess.run([PYTHON_TOOL, "--newest", self.server.url(name), *command], capture_output=True, text=True)
        expect(run.returncode == 0, f"python_tool {command}: {run.stderr[-1500:]}")

    def _tool(self, program, url, *words, begin=False, category="db", parameters=""):
        path = os.path.join(self.place, next(self.names) + ".conf")
        with open(path, "w") as file:
            file.write("[DEFAULT]\nuse_stderr = true\n[placement_database]\nconnection = " + url.replace("$", "$$") + "\n"
                       "connection_parameters = " + parameters + "\n")
        command = [program, "--config-file", path, category, *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return process if begin else finished(process)

    def debians(self, name, *words):
        """placement-manage of the Python service in Debian."""
        return self._tool("placement-manage", self.server.url(name), *words)

    def berths(self, name, *words, url=None, **more):
        """placement-manage of berth."""
        return self._tool(os.path.join(ROOT, build, "placement-manage"), url or self.server.url(name), *words, **more)

    def berth(self, name, *words, **more):
        status, out, error = self.berths(name, *words, **more)
        expect(status == 0, f"{words}: {status}, {out}{error}")
        return out

    def refused(self, name, *words, because, **more):
        """berth's tool fails with one line that contains the text, and changes nothing."""
        before = self.everything(name)
        status, out, error = self.berths(name, *words, **more)
        lines = without_steps(error)
        expect(status == 1 and out == "" and len(lines) == 1, f"{words}: {status}, {out!r}, {error!r}")
        expect(because in lines[0] and "berth-password" not in error, f"{words}: {error!r}, not {because!r}")
        expect(self.everything(name) == before, f"{words} changed the database")

    def shell(self, command, name, url=None, begin=False):
        process = subprocess.Popen([os.path.join(ROOT, build, "tests/databases", self.shell_program), command, url or self.server.url(name)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return process if begin else finished(process)

    def start(self, name, command="start", **more):
        """What an instance does when it starts."""
        status, out, error = self.shell(command, name, **more)
        expect(status == 0 and out == "OK\n" and without_steps(error) == [], f"{command}: {status}, {out}{error}")

    def not_started(self, name, because, command="start", **more):
        before = self.everything(name)
        status, out, error = self.shell(command, name, **more)
        expect(status == 1 and out.count("\n") == 1 and because in out and "berth-password" not in out + error,
               f"{command}: {status}, {out!r} {error!r}, not {because!r}")
        expect(self.everything(name) == before, "the database has changed")

    def dump(self, name, *options):
        """What pg_dump shows, without what differs at each run."""
        text = subprocess.run(["pg_dump", "-h", self.server.socket_directory, "-p", str(self.server.port), "-U", postgres.SUPERUSER,
                               *options, name], check=True, capture_output=True, text=True).stdout
        return "\n".join(line for line in text.splitlines() if not re.match(r"\\(un)?restrict ", line))

    def schema(self, name):
        """Upstream's tables."""
        return self.dump(name, "--schema-only", "--exclude-table=berth_*")

    def data(self, name):
        return self.dump(name, "--data-only", "--exclude-table=berth_*")

    def everything(self, name):
        return self.dump(name)

    def whole_schema(self, name):
        """With berth's own tables."""
        return self.dump(name, "--schema-only")

    def remove_berth(self, name):
        self.as_owner(name, documented("DROP TABLE"))

    def own_tables(self, name):
        return {row[0] for row in self.rows(name, "SELECT relname FROM pg_class WHERE relname LIKE 'berth\\_%%' AND relkind = 'r'")}

    def expect_revision(self, name, revision):
        found = self.rows(name, "SELECT version_num FROM alembic_version")
        expect(found == [(revision,)], found)
        told = self.berth(name, "version")
        expect(told == revision + "\n", told)

    def expect_schema(self, name, revision):
        found, wanted = self.schema(name), self.schema("at_" + revision)
        expect(found == wanted, "not the schema of " + revision + ": " + str(sorted(set(found.splitlines()) ^ set(wanted.splitlines()))))
        self.expect_revision(name, revision)

    @contextlib.contextmanager
    def transaction(self, name):
        """A function that executes statements in an open transaction, which is committed at the end."""
        with contextlib.closing(self.server.connect(name)) as connection, connection.cursor() as cursor:
            cursor.execute("BEGIN")
            yield cursor.execute
            cursor.execute("COMMIT")

    def await_waiting(self, name):
        """Until a session waits for a lock."""
        question = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        wait_until(lambda: self.rows(name, question) == [(1,)], "no session waits")

    # Cases.

    def from_nothing(self):
        """A new database is the one that the Python service makes, and each tool finds nothing to do after the other."""
        name = self.database()
        told = self.berth(name, "version")
        expect(told == "None\n", told)
        status, out, error = self.berths(name, "sync")
        expect(status == 0 and out == "", (status, out))
        expect(re.search(r" INFO alembic\.runtime\.migration \[-\] Creating the schema at a082b8bb98d0$", error, re.M), error)
        self.expect_schema(name, NEWEST)
        expect(self.own_tables(name) == self.own_table_names, self.own_tables(name))
        expect(self.rows(name, "SELECT count(*) FROM traits") == [(0,)], "db sync inserts rows")
        before = self.everything(name)
        status, out, error = self.berths(name, "sync")
        expect((status, out, error) == (0, "", ""), (status, out, error))
        self.python(name, "upgrade", "head")
        expect(self.everything(name) == before, "a second sync changed something")

    def handed_back(self):
        """Stamped with the revision of an older service, it is that service's database."""
        name = self.database()
        self.berth(name, "sync")
        self.start(name)
        data = self.data(name)
        self.berth(name, "stamp", "422e")
        self.expect_schema(name, DEBIANS)
        for words in (["version"], ["sync"]):
            status, out, error = self.debians(name, *words)
            expect(status == 0, f"{words}: {out}{error}")
        self.expect_schema(name, DEBIANS)
        expect(self.data(name) == data.replace(NEWEST, DEBIANS), "the rows have changed")
        self.python(name, "upgrade", "head")
        self.expect_schema(name, NEWEST)
        self.start(name)
        expect(self.data(name) == data, "the rows have changed")
        self.berth(name, "stamp", "422e")
        self.remove_berth(name)
        expect(self.own_tables(name) == set() and self.schema(name) == self.whole_schema(name), "something of berth is left")
        self.expect_schema(name, DEBIANS)

    def every_revision(self):
        """An upgrade by berth and one by the newest Python tool have the same result, rows included."""
        for revision in REVISIONS:
            ours, theirs = self.database(revision, ROWS), self.database(revision, ROWS)
            if revision != DEBIANS:
                self.not_started(ours, f"is at the old schema revision {revision}: run \"placement-manage db sync\"")
            status, out, error = self.berths(ours, "sync")
            expect(status == 0, error)
            steps = re.findall(r"Running upgrade (\w+) -> (\w+)", error)
            chain = REVISIONS + (NEWEST,)
            expect(steps == list(zip(chain, chain[1:]))[chain.index(revision):], steps)
            self.python(theirs, "upgrade", "head")
            self.expect_schema(ours, NEWEST)
            expect(self.schema(theirs) == self.schema(ours), "the Python service's schema differs")
            expect(self.data(ours) == self.data(theirs), "the rows differ")
            expect("16.1\n" in self.data(ours) and "\tc0\t" in self.data(ours), "there were no rows")
            started = self.database(revision, ROWS)
            self.start(started, "sync")
            self.expect_schema(started, NEWEST)

    def incomplete_rows(self):
        """Rows that old releases left incomplete are refused, and completed as the Python service completes them."""
        untimed = ("SELECT uuid, root_provider_id, parent_provider_id, updated_at IS NULL FROM resource_providers ORDER BY 1",
                   "SELECT uuid, p.external_id, u.external_id, generation, c.created_at IS NULL, c.updated_at IS NULL FROM consumers c"
                   " JOIN projects p ON p.id = project_id JOIN users u ON u.id = user_id ORDER BY 1",
                   # the Python service creates the owner of incomplete consumers even if there are none
                   "SELECT external_id, created_at IS NULL FROM projects p WHERE external_id = 'project' OR EXISTS"
                   " (SELECT 1 FROM consumers WHERE project_id = p.id) ORDER BY 1",
                   "SELECT external_id, created_at IS NULL FROM users u WHERE external_id = 'user' OR EXISTS"
                   " (SELECT 1 FROM consumers WHERE user_id = u.id) ORDER BY 1")
        for scripts, because in (((ROWS, self.missing_roots), "a resource provider lacks its root provider id"),
                                 ((ROWS, self.missing_consumers), "an allocation lacks its consumer"),
                                 ((ROWS, self.missing_roots, self.missing_consumers), "a resource provider lacks its root provider id")):
            ours, theirs = self.database("b4ed3a175331", *scripts), self.database("b4ed3a175331", *scripts)
            self.refused(ours, "sync", because=because)
            told = [self._tool(program, self.server.url(name), "check", category="upgrade")
                    for program, name in ((os.path.join(ROOT, build, "placement-status"), ours), ("placement-status", theirs))]
            expect(told[0][0] == told[1][0] > 0 and upgrade_checks(told[0][1]) == upgrade_checks(told[1][1]) != [], told)
            status, out, error = self.berths(ours, "online_data_migrations", "--max-count", "10")
            expect(status == 1 and "10 rows matched query" in out, (status, out, error))
            status, out, error = self.berths(ours, "online_data_migrations")
            expect(status == 0 and error == "", (status, out, error))
            # the columns that the Python service's code reads exist only in the newest schema
            self.as_owner(theirs, "ALTER TABLE consumers ADD COLUMN consumer_type_id integer")
            status, out, error = self.debians(theirs, "online_data_migrations")
            expect(status == 0, (status, out, error))
            for question in untimed:
                expect(self.rows(ours, question) == self.rows(theirs, question), question)
            self.berth(ours, "sync")
            self.expect_schema(ours, NEWEST)

    def unknown(self):
        """A database that is not understood is left alone."""
        known = "which this version does not know"
        for revision in ("0123456789ab", "a082"):
            name = self.database(DEBIANS, ROWS, f"UPDATE alembic_version SET version_num = '{revision}'")
            self.refused(name, "sync", because=f"is at schema revision {revision}, {known}")
            self.not_started(name, known)
            self.not_started(name, known, command="sync")
        name = self.database(DEBIANS, "INSERT INTO alembic_version VALUES ('a082b8bb98d0')")
        for words in (["sync"], ["version"]):
            self.refused(name, *words, because="has more than one schema revision")
        for script in ("DROP TABLE alembic_version", "DELETE FROM alembic_version",
                       "DROP TABLE alembic_version, resource_provider_traits, resource_providers"):
            name = self.database(DEBIANS, script)
            self.refused(name, "sync", because="has tables but no schema revision: stamp it with its revision")
            self.not_started(name, "has no schema: run \"placement-manage db sync\"")
        self.not_started(self.database(), "has no schema: run \"placement-manage db sync\"")
        name = self.database()
        self.refused(name, "stamp", "0123456789ab", because="there is no schema revision '0123456789ab'")
        self.berth(name, "stamp", "422e")
        self.expect_revision(name, DEBIANS)
        self.berth(name, "stamp", "base")
        expect(self.berth(name, "version") == "None\n", "a revision is left")

    def broken_off(self):
        """A sync that ends in the middle has done nothing, and the next one succeeds."""
        for revision, text in ((None, "^CREATE TABLE traits"), (None, "^COMMIT$"), ("b5c396305c25", "^DROP INDEX"),
                               (DEBIANS, "^CREATE TABLE berth_nodes")):
            name = self.database(revision)
            before = self.everything(name)
            with FaultyProxy(self.server.port) as proxy:
                fault = proxy.cut(sender="client", kind="Execute", text=text, when="before")
                status, out, error = self.berths(name, "sync", url=self.server.url(name, port=proxy.port))
                fault.wait()
            expect(status == 1 and "berth-password" not in error, (status, error))
            expect(self.everything(name) == before, "something was done")
            self.berth(name, "sync")
            self.expect_schema(name, NEWEST)

    def served_as_it_is(self):
        """A start changes nothing of upstream's but missing standard names, which are those of the Python service."""
        ours, theirs = self.database(DEBIANS, ROWS), self.database(DEBIANS, ROWS)
        self.start(ours)
        self.python(theirs, "start")
        self.expect_schema(ours, DEBIANS)
        expect(self.own_tables(ours) == self.own_table_names, self.own_tables(ours))
        question = "SELECT id, name, created_at IS NULL, updated_at IS NULL FROM resource_classes ORDER BY id"
        expect(self.rows(ours, question) == self.rows(theirs, question), self.rows(ours, question))
        question = "SELECT name, created_at IS NULL, updated_at IS NULL FROM traits"
        expect(set(self.rows(ours, question)) > set(self.rows(theirs, question)), "traits of the Python service are missing")
        wanted = ["CUSTOM_A", *read("data/standard_traits.txt").split()]
        found = [row[0] for row in self.rows(ours, "SELECT name FROM traits ORDER BY id")]
        expect(found == wanted, "traits are in another order")
        before = self.data(ours)
        self.python(ours, "start")
        expect(self.data(ours) == before, "the Python service's start changed rows")
        before = self.rows(theirs, "SELECT * FROM traits ORDER BY id")
        self.start(theirs)
        expect(self.rows(theirs, "SELECT * FROM traits ORDER BY id")[:len(before)] == before, "a start changed traits")
        self.as_owner(ours, "DELETE FROM traits WHERE id IN (7, 9); DELETE FROM resource_classes WHERE id = 3")
        self.start(ours)
        found = self.rows(ours, "SELECT (SELECT count(*) FROM traits), id FROM resource_classes WHERE name = 'PCI_DEVICE'")
        expect(found == [(TRAITS + 1, 3)], found)

    def at_once(self):
        """Several tools and instances on one database, all of which succeed."""
        for revision, command in ((None, "sync"), ("b5c396305c25", "sync"), (DEBIANS, "start")):
            name = self.database(revision)
            running = [self.shell(command, name, begin=True) for _ in range(4)]
            if command == "sync":
                running += [self.berths(name, "sync", begin=True) for _ in range(3)]
            for process in running:
                status, out, error = finished(process)
                expect(status == 0, (command, status, out, error))
            self.expect_schema(name, NEWEST if command == "sync" else DEBIANS)
            found = self.rows(name, "SELECT (SELECT count(*) FROM traits), (SELECT count(*) FROM resource_classes)")
            expect(found == [(TRAITS, CLASSES)] and self.own_tables(name) == self.own_table_names, found)

    def locked(self):
        """A tool waits for another one. A start only waits if there is something to do, and survives it if another
        program does that meanwhile."""
        key = re.search(r'PG_LOCK_SCHEMA "(\d+)"', read("src/store/postgres/session/locks.h")).group(1)
        name = self.database(DEBIANS)
        self.start(name)
        before = self.everything(name)
        with self.transaction(name) as execute:
            execute(f"SELECT pg_advisory_xact_lock({key})")
            self.start(name)
            waiting = self.berths(name, "sync", begin=True)
            self.await_waiting(name)
            expect(waiting.poll() is None and self.everything(name) == before, "it did not wait")
        expect(finished(waiting)[0] == 0, "it failed")
        self.expect_schema(name, NEWEST)
        name = self.database(DEBIANS)
        with self.transaction(name) as execute:
            execute("INSERT INTO resource_classes (id, name) VALUES (0, 'VCPU')")
            execute("INSERT INTO traits (name) VALUES ('HW_CPU_X86_AVX')")
            waiting = self.shell("start", name, begin=True)
            self.await_waiting(name)
        status, out, error = finished(waiting)
        expect(status == 0, (out, error))
        found = self.rows(name, "SELECT (SELECT count(*) FROM traits), (SELECT count(*) FROM resource_classes)")
        expect(found == [(TRAITS, CLASSES)], found)

    def in_use(self):
        """Services use the tables in another order than a change of the schema, which gives way and is repeated."""
        name = self.database(DEBIANS)
        for words, revision in ((("sync",), NEWEST), (("stamp", DEBIANS), DEBIANS)):
            with self.transaction(name) as execute:
                execute("UPDATE resource_providers SET generation = 0")
                waiting = self.berths(name, *words, begin=True)
                self.await_waiting(name)
                execute("INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size,"
                        " allocation_ratio) VALUES (1, 1, 1, 0, 1, 1, 1, 1)")
                execute("DELETE FROM inventories")
                expect(waiting.poll() is None, "it did not wait")
            status, out, error = finished(waiting)
            expect(status == 0, (out, error))
            self.expect_schema(name, revision)
        with self.transaction(name) as execute:
            execute("SELECT * FROM inventories")
            waiting = self.shell("sync", name, begin=True)
            self.await_waiting(name)
        status, out, error = finished(waiting)
        expect(status == 0, (out, error))
        self.expect_schema(name, NEWEST)

    def at_once_with_python(self):
        """With the Python service, which takes no lock: whoever is refused has done nothing, and succeeds later."""
        for revision in (None, "b5c396305c25"):
            name = self.database(revision)
            problems = []

            def other(name=name, problems=problems):
                try:
                    self.python(name, "upgrade", "head")
                except AssertionError as problem:
                    problems.append(str(problem))

            thread = threading.Thread(target=other)
            thread.start()
            while thread.is_alive():
                status, out, error = self.berths(name, "sync")
                expect(status == 0 or len(without_steps(error)) == 1, (status, error))
                time.sleep(0.05)
            thread.join()
            self.berth(name, "sync")
            self.python(name, "upgrade", "head")
            self.expect_schema(name, NEWEST)
        name = self.database(DEBIANS)
        running = [self.shell("start", name, begin=True) for _ in range(2)]
        self.python(name, "start")
        expect(all(finished(process)[0] == 0 for process in running), "an instance did not start")
        found = self.rows(name, "SELECT (SELECT count(*) FROM traits), (SELECT count(*) FROM resource_classes)")
        expect(found == [(TRAITS, CLASSES)], found)

    def few_rights(self):
        """A user who may not create tables can serve a database that lacks nothing; otherwise one line says what to do."""
        if not self.rows("postgres", "SELECT FROM pg_roles WHERE rolname = 'few'"):
            self.server.sql("CREATE ROLE few LOGIN PASSWORD 'berth-password'", database="postgres")
        grant = documented("GRANT ").replace(" TO placement_service", " TO few")
        name = self.database(DEBIANS, grant)
        url = self.server.url(name, user="few")
        lacks = ("lacks tables or columns of berth that this user may not create: run \"placement-manage db sync\" as the owner of "
                 "the tables, or let this user create them (")
        self.not_started(name, lacks, url=url)
        self.refused(name, "sync", because="must be owner of", url=url)
        empty = self.database()
        self.refused(empty, "sync", because="permission denied for schema public", url=self.server.url(empty, user="few"))
        self.berth(name, "sync")
        self.as_owner(name, grant)
        self.start(name, url=url)
        self.start(name, url=url)
        self.as_owner(name, "ALTER TABLE berth_nodes DROP COLUMN driver")
        self.not_started(name, lacks, url=url)

    def other_berths(self):
        """Tables of an older berth are completed, and columns of a newer one stay."""
        fresh, name = self.database(), self.database()
        self.berth(fresh, "sync")
        self.berth(name, "sync")
        self.as_owner(name, "INSERT INTO berth_nodes (uuid, name) VALUES ('u', 'n')")
        self.as_owner(name,
                      "ALTER TABLE berth_valet_plans DROP CONSTRAINT uniq_berth_valet_plans0uuid; DROP TABLE berth_epochs;"
                      "ALTER TABLE berth_node_allocations DROP COLUMN consumer_adopted")
        self.start(name)
        expect(self.dump(name, "--schema-only") == self.dump(fresh, "--schema-only"), "not completed")
        self.as_owner(name, "ALTER TABLE berth_nodes ADD COLUMN later text DEFAULT 'x', DROP COLUMN name")
        self.start(name)
        found = self.rows(name, "SELECT id, uuid, name, later FROM berth_nodes")
        expect(found == [(1, "u", None, "x")], found)
        found = self.rows(name, "SELECT conname FROM pg_constraint WHERE conrelid = 'berth_nodes'::regclass ORDER BY 1")
        expect(found == [("berth_nodes_pkey",), ("uniq_berth_nodes0instance_uuid",), ("uniq_berth_nodes0name",),
                         ("uniq_berth_nodes0uuid",)], found)

    def other_schema(self):
        """The search_path decides where the tables are, as for the Python service."""
        name = self.database("b5c396305c25", "CREATE SCHEMA own")
        url = self.server.url(name, options="-csearch_path=own")
        public = self.dump(name, "--schema=public")
        expect(self.berth(name, "version", url=url) == "None\n", "the other schema's revision")
        self.berth(name, "sync", url=url)
        self.start(name, url=url)
        for more in ({"url": url}, {"parameters": "options=-csearch_path%3Down"}):
            expect(self.berth(name, "version", **more) == NEWEST + "\n", f"another revision with {more}")
        expect(self.dump(name, "--schema=public") == public, "the other schema has changed")
        ours = self.dump(name, "--schema-only", "--table=own.*", "--exclude-table=own.berth_*")
        wanted = self.dump("at_" + NEWEST, "--schema-only", "--table=public.*")
        expect(ours == wanted.replace("public.", "own.").replace("Schema: public", "Schema: own"), "another schema")
        expect("CREATE TABLE own.berth_log" in self.dump(name), "berth's own tables are elsewhere")

    def behind_pool(self):
        with PgBouncer(self.server) as pool:
            name = self.database()
            self.berth(name, "sync", url=pool.url(name))
            self.start(name, url=pool.url(name))
            self.expect_schema(name, NEWEST)

    def ids(self):
        """How far the ids are used up: sequences may be ahead of the rows, and rows of the sequences."""
        name = self.database(NEWEST, "SELECT setval('allocations_id_seq', 2147483000)")
        self.as_owner(name, "ALTER SEQUENCE users_id_seq RENAME TO renamed; SELECT setval('renamed', 5); ALTER TABLE projects ALTER id DROP DEFAULT;"
                            "ALTER SEQUENCE projects_id_seq OWNED BY NONE; INSERT INTO resource_classes (id, name) VALUES (10000, 'CUSTOM_X')")
        status, out, error = self.shell("ids", name)
        found = {line.split()[0]: tuple(int(word) for word in line.split()[1:]) for line in out.splitlines()[:-1]}
        wanted = {table: (1, 0, 0) for table in ("consumer_types", "consumers", "inventories", "placement_aggregates",
                                                 "resource_providers", "traits")}
        wanted.update(allocations=(1, 2147483000, 0), users=(1, 5, 0), projects=(0, 0, 0), resource_classes=(1, 0, 10000))
        expect(status == 0 and found == wanted, (status, out, error))

    def unreachable(self):
        """One line, without the password."""
        name = self.database()
        for url, because in ((self.server.url(name, password="wrong-password"), "password authentication failed for user"),
                             (self.server.url("nowhere"), 'database "nowhere" does not exist'),
                             (self.server.url(name, port=servers.free_port()), "Connection refused"),
                             (self.server.url(name, nonsense="berth-password"), "nonsense")):
            for words in (["sync"], ["version"], ["stamp", "head"]):
                self.refused(name, *words, because=because, url=url)
            status, out, error = self.berths(name, "online_data_migrations", url=url)
            expect(status == 2 and "password@" not in out + error and "berth-password" not in out + error, (status, out, error))


def read(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


def documented(what):
    """The SQL in docs/postgresql.md that contains the text."""
    found = [block for block in re.findall(r"^```sql\n(.*?)^```", read("docs/postgresql.md"), re.M | re.S) if what in block]
    expect(len(found) == 1, f"{what} is in {len(found)} blocks")
    return found[0]


def without_steps(error):
    """The lines on standard error, except those of migrations."""
    return [line for line in error.splitlines() if " INFO alembic.runtime.migration " not in line]


def finished(process):
    out, error = process.communicate(timeout=300)
    return process.returncode, out, error


def run(name, schema):
    """The reason why the case failed, or None."""
    try:
        getattr(schema, name)()
    except Exception as failure:
        return f"{failure!r}\n{traceback.format_exc()}"
    return None


def main():
    global build
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    build = options.build
    cases = ("from_nothing", "handed_back", "every_revision", "incomplete_rows", "unknown", "broken_off", "served_as_it_is", "at_once", "locked",
             "in_use", "at_once_with_python", "few_rights", "other_berths", "other_schema", "behind_pool", "ids", "unreachable")
    unknown = [name for name in options.cases if name not in cases]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(cases)}")
    score, schema = servers.Score(), Schema()
    for name in options.cases or cases:
        began = time.monotonic()
        score.case(name, run(name, schema), time.monotonic() - began)
    schema.close()
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
