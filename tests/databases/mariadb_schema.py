#!/usr/bin/python3
"""The schema of a database on a MariaDB server: the cases of schema.py, for each character set and collation that deployers
use, and those that only a server without transactional DDL has. mysqldump shows what berth and the Python service leave.

    tests/databases/mariadb_schema.py [--build build] [--collations NAME,…] [CASE…]

The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid

import schema
from expectations import expect
from galera import Galera
from mariadb import SUPERUSER, numbers, server_class
from processes import wait_until
from schema import DEBIANS, NEWEST, REVISIONS, ROWS, Schema, finished, servers, without_steps

OWN_TABLES = schema.OWN_TABLES | {"berth_locks"}
COLLATIONS = ("utf8mb3_general_ci", "utf8mb4_unicode_ci", "utf8mb4_general_ci")
SHARED = ("from_nothing", "handed_back", "every_revision", "incomplete_rows", "unknown", "served_as_it_is", "at_once")
OWN = ("killed", "few_rights", "other_berths", "python_at_once", "locked", "unreachable", "renumbered")
CLUSTER = ("two_nodes", "renumbered")
PAGE = os.path.join(schema.ROOT, "docs/mariadb.md")
LAST_ID = 2 ** 31 - 1
QUERY = b"\x03"  # the first byte of a packet with a statement


class Killer:
    """A proxy in front of the server that kills a program when its statement number `count` has been sent on."""

    def __init__(self, port, count):
        self.server_port, self.count, self.seen, self.process = port, count, 0, None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server_port))
                threading.Thread(target=self._copy, args=(server, client), daemon=True).start()
                threading.Thread(target=self._watch, args=(client, server), daemon=True).start()

    def _copy(self, source, target):
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)

    def _watch(self, client, server):
        """Packets: three bytes of length, a number which is 0 in the first one of a command, the command."""
        with contextlib.suppress(OSError), self._ending(server), client.makefile("rb") as packets:
            while len(head := packets.read(4)) == 4:
                body = packets.read(int.from_bytes(head[:3], "little"))
                is_query = head[3] == 0 and body[:1] == QUERY
                server.sendall(head + body)
                self.seen += is_query
                if is_query and self.seen == self.count:
                    wait_until(lambda: self.process, "no process")
                    self.process.kill()

    @contextlib.contextmanager
    def _ending(self, connection):
        try:
            yield
        finally:
            connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()


class MariadbSchema(Schema):
    """Cases on one server, with databases of one collation."""

    shell_program = "mariadb_schema_shell"
    missing_roots = schema.MISSING_ROOTS.replace("generate_series(1, 60) AS i", f"(SELECT seq AS i FROM {numbers(1, 60)}) AS s") \
        .replace("'r' || i", "CONCAT('r', i)")
    missing_consumers = schema.MISSING_CONSUMERS.replace("generate_series(1, 120) AS i", f"(SELECT seq AS i FROM {numbers(1, 120)}) AS s") \
        .replace("'m' || (i / 2)", "CONCAT('m', i DIV 2)")
    own_table_names = OWN_TABLES

    def __init__(self, collation):
        self.charset, self.collation = collation.split("_")[0], collation
        self.server = self.start_server()
        self.names = (f"d{number}" for number in schema.itertools.count())
        self.place = self.server.place.make_directory("schema")
        self.templates, self.complete = {}, None
        for revision in (*REVISIONS, NEWEST):
            name = "at_" + revision
            self.create(name)
            self.python(name, "upgrade", revision)
            self.templates[revision] = self.dump(name, keep_ids=True)

    def start_server(self):
        return server_class()().start()

    # What the cases use.

    def create(self, name):
        self.server.create_database(name, self.charset, self.collation)

    def database(self, revision=None, *scripts):
        name = next(self.names)
        self.create(name)
        if revision:
            self.client("mariadb", name, script=self.templates[revision])
        for script in scripts:
            self.as_owner(name, script)
        return name

    def client(self, program, *words, script=None):
        run = subprocess.run([program, "--no-defaults", f"--socket={self.server.socket}", f"--user={SUPERUSER}", *words], input=script,
                             capture_output=True, text=True)
        expect(run.returncode == 0, f"{program} {words}: {run.stderr}")
        return run.stdout

    def as_owner(self, name, script):
        from pymysql.constants import CLIENT
        with contextlib.closing(self.server.connect(name, self.server.user, self.server.password, socket=False,
                                                    client_flag=CLIENT.MULTI_STATEMENTS)) as connection:
            with connection.cursor() as cursor:
                cursor.execute(script)
                while cursor.nextset():
                    pass

    def rows(self, name, text):
        return [tuple(row) for row in self.server.sql(text, database=name)]

    def tables(self, name):
        return [row[0] for row in self.rows(name, "SHOW TABLES")]

    def dump(self, name, *options, keep_ids=False):
        text = self.client("mysqldump", "--skip-comments", "--skip-extended-insert", *options, name)
        if keep_ids:
            return text
        text = re.sub(r" AUTO_INCREMENT=\d+", "", text)
        return re.sub(r" CHARACTER SET \w+ COLLATE ", " COLLATE ", text)  # MySQL adds it to tables that were restored

    def ignored(self, name):
        return [f"--ignore-table={name}.{table}" for table in self.tables(name) if table.startswith("berth_")]

    def schema(self, name):
        return self.dump(name, "--no-data", *self.ignored(name))

    def whole_schema(self, name):
        return self.dump(name, "--no-data")

    def everything(self, name):
        return self.dump(name, keep_ids=True)

    def data(self, name):
        """Every row of upstream's tables, a line each."""
        lines = []
        for table in self.tables(name):
            if not table.startswith("berth_"):
                lines += [table, *sorted("\t".join(map(str, row)) for row in self.rows(name, f"SELECT * FROM {table}"))]
        return "\n".join(lines) + "\n"

    def counts(self, name):
        """The number of rows of each table that has any."""
        counts = {table: self.rows(name, f"SELECT COUNT(*) FROM {table}")[0][0] for table in self.tables(name)}
        return {table: count for table, count in counts.items() if count}

    def own_tables(self, name):
        return {table for table in self.tables(name) if table.startswith("berth_")}

    def remove_berth(self, name):
        self.as_owner(name, "DROP TABLE " + ", ".join(sorted(OWN_TABLES)))

    def expect_schema(self, name, revision):
        """The server lists restored indexes after those that were kept."""
        found, wanted = self.schema(name), self.schema("at_" + revision)
        if revision == DEBIANS:
            found, wanted = sorted(re.split(r",?\n", found)), sorted(re.split(r",?\n", wanted))
        expect(found == wanted, f"not the schema of {revision}: {found}, {wanted}")
        self.expect_revision(name, revision)

    def expect_complete(self, name):
        """As a sync leaves a database, whatever happened before."""
        if self.complete is None:
            fresh = self.database()
            self.berth(fresh, "sync")
            self.expect_schema(fresh, NEWEST)
            self.complete = self.whole_schema(fresh)
        expect(self.whole_schema(name) == self.complete, "the tables differ")
        expect(self.rows(name, "SELECT version_num FROM alembic_version") == [(NEWEST,)], "the revision differs")
        expect(self.rows(name, "SELECT name FROM berth_locks ORDER BY name") == [("batches",)], "the locks differ")

    def await_quiet(self, name):
        """Until the server has executed what a program sent before it was killed."""
        question = f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '{name}' AND USER = '{self.server.user}'"
        wait_until(lambda: self.rows("mysql", question) == [(0,)], "a session is left")

    def kill_at(self, name, count, url=None):
        """Kills a sync after it has sent that many statements; whether it was still there."""
        killer = Killer(self.server.port, count)
        killer.process = self.berths(name, "sync", url=self.server.url(name, port=killer.port), begin=True)
        status, out, error = finished(killer.process)
        killer.close()
        self.await_quiet(name)
        expect(status in (0, -9), (status, out, error))
        return status == -9

    # Cases.

    def killed(self):
        """A sync that is killed at any statement is completed by the next one, and its rows are kept."""
        for revision, scripts, step in ((None, (), 1), ("b5c396305c25", (ROWS,), 1), (DEBIANS, (ROWS,), 3)):
            count = 1
            while True:
                name = self.database(revision, *scripts)
                before = self.counts(name)
                if not self.kill_at(name, count):
                    break
                if not revision:
                    status, out, error = self.shell("start", name)
                    expect(status == 0 or "has no schema: run" in out, (status, out, error))
                self.berth(name, "sync")
                self.expect_complete(name)
                after = self.counts(name)
                expect(before.items() <= after.items(), f"rows are lost: {before}, {after}")
                self.server.sql(f"DROP DATABASE {name}")
                count += step
            expect(count > 15, f"only {count} statements")
            self.expect_complete(name)
        name = self.database()
        for count in range(3, 60, 4):  # again and again
            self.kill_at(name, count)
        self.berth(name, "sync")
        self.expect_complete(name)

    def few_rights(self):
        """A user who may not create tables can serve a database that lacks nothing; otherwise one line says what to do."""
        if not self.rows("mysql", "SELECT 1 FROM user WHERE User = 'few'"):
            self.server.create_user("few", "berth-password")

        def grant(name):
            self.server.sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name}.* TO few@'%'", database="mysql")
            return self.server.url(name, user="few")

        lacks = ("lacks tables or columns of berth that this user may not create: run \"placement-manage db sync\" as a user with all "
                 "rights on the database, or let this user create them (")
        name = self.database(DEBIANS)
        url = grant(name)
        self.not_started(name, lacks, url=url)
        self.refused(name, "sync", because="command denied to user", url=url)
        empty = self.database()
        self.refused(empty, "sync", because="command denied to user", url=grant(empty))
        self.berth(name, "sync")
        self.start(name, url=url)
        before = self.everything(name)
        self.start(name, url=url)
        self.start(name, command="sync", url=url)
        expect(self.everything(name) == before, "a start changed something")
        self.as_owner(name, "ALTER TABLE berth_nodes DROP COLUMN driver")
        self.not_started(name, lacks, url=url)

    def other_berths(self):
        """Tables of an older berth are completed, and columns of a newer one stay."""
        name = self.database()
        self.berth(name, "sync")
        self.as_owner(name, "INSERT INTO berth_nodes (uuid, name) VALUES ('u', 'n'); DELETE FROM berth_locks;"
                            "ALTER TABLE berth_valet_plans DROP KEY berth_valet_plans_uuid; DROP TABLE berth_epochs, berth_log")
        self.start(name)
        self.expect_complete(name)
        self.as_owner(name, "ALTER TABLE berth_nodes ADD COLUMN later varchar(1) DEFAULT 'x', DROP COLUMN extra")
        self.start(name)
        found = self.rows(name, "SELECT id, uuid, name, later, extra FROM berth_nodes")
        expect(found == [(1, b"u", b"n", "x", None)], found)

    def python_at_once(self):
        """With the Python service's tool: whoever is refused says why in one line, and the database is as either of them makes it."""
        for revision in (None, "b5c396305c25"):
            name = self.database(revision)
            other = subprocess.Popen([schema.PYTHON_TOOL, "--newest", self.server.url(name), "upgrade", "head"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            while other.poll() is None:
                status, out, error = self.berths(name, "sync")
                expect(status == 0 or len(without_steps(error)) == 1, (status, error))
                time.sleep(0.02)
            other.communicate()
            self.berth(name, "sync")
            self.expect_revision(name, NEWEST)
            found, wanted = (sorted(re.split(r",?\n", self.schema(each))) for each in (name, "at_" + NEWEST))
            expect(found == wanted, sorted(set(found) ^ set(wanted)))
        name = self.database(DEBIANS)
        running = [self.shell("start", name, begin=True) for _ in range(2)]
        self.python(name, "start")
        expect(all(finished(process)[0] == 0 for process in running), "an instance did not start")
        found = self.rows(name, "SELECT (SELECT COUNT(*) FROM traits), (SELECT COUNT(*) FROM resource_classes)")
        expect(found == [(schema.TRAITS, schema.CLASSES)], found)

    def locked(self):
        """A start that has nothing to do waits for nobody. One that inserts the same names as another waits, and looks again."""
        name = self.database(NEWEST)
        self.start(name)
        with contextlib.closing(self.server.connect(name, autocommit=False)) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO berth_log VALUES (1, '', '', NOW(), '')")
            cursor.execute("SELECT name FROM berth_locks FOR UPDATE")
            self.start(name)
            status, out, error = self.shell("served", name)
            expect((status, out) == (0, NEWEST + "\nOK\n"), (status, out, error))
        name = self.database(DEBIANS)
        with contextlib.closing(self.server.connect(name, autocommit=False)) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO resource_classes (id, name) VALUES (2, 'DISK_GB')")
            cursor.execute("INSERT INTO traits (name) VALUES ('HW_CPU_X86_AVX')")
            waiting = self.shell("start", name, begin=True)
            question = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"
            wait_until(lambda: self.rows(name, question)[0][1] == "1", "no session waits")
            connection.commit()
        status, out, error = finished(waiting)
        expect(status == 0, (out, error))
        found = self.rows(name, "SELECT (SELECT COUNT(*) FROM traits), (SELECT COUNT(*) FROM resource_classes)")
        expect(found == [(schema.TRAITS, schema.CLASSES)], found)

    def instance(self, name):
        """Of berthd, on the last node of a cluster."""
        directory = tempfile.mkdtemp(prefix="berth-schema-", dir=self.place)
        return servers.Berthd(os.path.join(schema.ROOT, schema.build, "berthd"), directory, connection=self.nodes()[-1].url(name))

    def nodes(self):
        return [self.server]

    def await_same(self):
        """Until all nodes have everything."""

    def renumbered(self):
        """What the page about MariaDB says of ids that are used up, word for word; afterwards berthd serves everything."""
        name, provider = self.database(), str(uuid.uuid4())
        with self.instance(name) as berth:
            client = berth.client()
            client.make_provider(provider, VCPU=1000, DISK_GB=1000)
            held = [client.claim(str(uuid.uuid4()), **{provider: {"VCPU": 1, "DISK_GB": number}})[0] for number in range(1, 11)]
            expect(held == [204] * 10, held)
        self.await_same()
        listed = "SELECT consumer_id, resource_class_id, used FROM allocations ORDER BY id"
        before = self.rows(name, listed)
        for table in ("allocations", "consumers"):
            self.as_owner(name, f"UPDATE {table} SET id = id + 2000000000 ORDER BY id DESC; ALTER TABLE {table} AUTO_INCREMENT = {LAST_ID}")
        with self.instance(name) as berth:
            status, answer = berth.client().claim(str(uuid.uuid4()), **{provider: {"VCPU": 1, "DISK_GB": 1}})
            expect(status >= 400, f"there are ids: {status} {answer}")
        text = re.search(r"```sql\n(SET @number = 0;\n.*?)```", open(PAGE, encoding="utf-8").read(), re.DOTALL)[1]
        for table in ("allocations", "consumers"):
            self.as_owner(name, text.replace("allocations", table))
        expect(self.rows(name, listed) == before, "the order has changed")
        with self.instance(name) as berth:
            client = berth.client()
            status, answer = client.claim(str(uuid.uuid4()), **{provider: {"VCPU": 1, "DISK_GB": 1}})
            expect(status == 204, f"{status} {answer}")
            found = client.must(200, "GET", f"/resource_providers/{provider}/usages")["usages"]
            expect(found == {"VCPU": 11, "DISK_GB": 56}, found)
        self.await_same()
        for table in ("allocations", "consumers"):
            found = self.rows(name, f"SELECT MIN(id), MAX(id), COUNT(*) FROM {table}")[0]
            expect(found[0] >= 1 and found[1] < 1000000, f"{table} {found}")

    def unreachable(self):
        """One line, without the password."""
        name = self.database()
        for url, because in ((self.server.url(name, password="wrong-password"), "Access denied for user"),
                             (self.server.url("nowhere"), "'nowhere'"),
                             (self.server.url(name, port=servers.free_port()), "cannot be reached"),
                             (self.server.url(name, nonsense="berth-password"), "nonsense")):
            for words in (["sync"], ["version"], ["stamp", "head"]):
                self.refused(name, *words, because=because, url=url)


class ClusterSchema(MariadbSchema):
    """Cases on a Galera cluster of three nodes."""

    def start_server(self):
        self.cluster = Galera(nodes=3).start()
        return self.cluster.nodes[0]

    def close(self):
        self.cluster.end()

    def nodes(self):
        return self.cluster.nodes

    def await_same(self):
        self.cluster.await_same()

    def two_nodes(self):
        """Tools and instances on several nodes at once; one of them is killed."""
        urls = [node.url for node in self.cluster.nodes]
        for number, revision in enumerate((None, None, "b5c396305c25", "b5c396305c25", DEBIANS)):
            name = self.database(revision)
            self.cluster.await_same()
            running = [self.berths(name, "sync", url=url(name), begin=True) for url in urls[:2]]
            if number % 2 == 1:
                time.sleep(0.05)
                running[0].kill()
            for process in running[number % 2:]:
                status, out, error = finished(process)
                expect(status == 0, (revision, status, out, error))
            if number % 2 == 1:
                finished(running[0])
                self.await_quiet(name)
            starting = [self.shell("sync", name, url=url(name), begin=True) for url in urls]
            for process in starting:
                status, out, error = finished(process)
                expect((status, out) == (0, "OK\n"), (revision, status, out, error))
            self.cluster.await_same()
            found = self.rows(name, "SELECT (SELECT COUNT(*) FROM traits), (SELECT COUNT(*) FROM resource_classes)")
            expect(found == [(schema.TRAITS, schema.CLASSES)], found)
            self.expect_complete(name)


def run(name, cases):
    """The reason why the case failed, or None."""
    try:
        getattr(cases, name)()
    except Exception as failure:
        return f"{failure!r}\n{traceback.format_exc()}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--collations", default=",".join(COLLATIONS), metavar="NAME,...", help="all of them by default")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    schema.build = options.build
    unknown = set(options.cases) - set(SHARED + OWN + CLUSTER)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(SHARED + OWN + CLUSTER)}")
    collations = options.collations.split(",")
    if not set(collations) <= set(COLLATIONS):
        parser.error(f"the collations are {', '.join(COLLATIONS)}")
    score = servers.Score()
    groups = [(collation, MariadbSchema, SHARED + (OWN if collation == COLLATIONS[0] else ())) for collation in collations]
    if COLLATIONS[0] in collations:
        groups.append((COLLATIONS[0], ClusterSchema, CLUSTER))
    for collation, kind, names in groups:
        chosen = [name for name in names if not options.cases or name in options.cases]
        if not chosen:
            continue
        with contextlib.closing(kind(collation)) as cases:
            for name in chosen:
                began = time.monotonic()
                score.case(f"{name} {collation}", run(name, cases), time.monotonic() - began)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
