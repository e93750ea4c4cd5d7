#!/usr/bin/python3
"""`placement-manage db copy`: an embedded database on PostgreSQL, MariaDB and a Galera cluster.

    tests/databases/copying.py [--build build] [PART…]

Copies are compared row by row with their source by other means than berth's; then berthd and the Python service serve them,
and answer as on the source. Copies are killed, and their connections cut, at many bytes: nobody serves what is left, and the
next copy is complete. Targets that are not empty, and values that they cannot hold, are refused before anything is written.

The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import itertools
import os
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import copy_cases  # noqa: E402
import servers  # noqa: E402
from copy_cases import Cutter, Source, Tool, raw  # noqa: E402
from galera import PATIENT, Galera  # noqa: E402
from mariadb import server_class  # noqa: E402
from postgres import Postgres  # noqa: E402

NEWEST = "a082b8bb98d0"
POINTS = 7  # at which a copy is killed, and cut
LARGE_ROWS = 400000  # to copy them takes seconds
LOG_S = 10.5  # a little more than there is between two lines of progress in a log
PROGRESS = re.compile(r"(?:checking \w+: \d+|(?:copying|comparing) \w+: \d+ of \d+) rows, \d+ rows/s")
NEW = {"name": "new", "uuid": "00000000-0000-4000-8000-0000000000ff"}


class Target:
    """A server on which each case gets a database of its own."""

    def __init__(self, server, collation=None):
        self.server, self.collation = server, collation
        self.is_mariadb = not isinstance(server, Postgres)
        self.names = (f"d{number}" for number in itertools.count())

    def create(self):
        name = next(self.names)
        if self.is_mariadb:
            collation = self.collation or "utf8mb3_general_ci"
            self.server.create_database(name, collation.split("_")[0], collation)
        else:
            self.server.create_database(name)
        return name

    def rows(self, name, expected):
        return copy_cases.server_rows(self.server, name, expected, "`" if self.is_mariadb else '"')

    def activity(self):
        """Who may hold a lock."""
        asks = (("SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.innodb_trx") if self.is_mariadb
                else ("SELECT pid, state, query FROM pg_stat_activity",))
        return [self.server.sql(text) for text in asks]

    def counts(self, name):
        return [self.server.sql(f"SELECT count(*) FROM {table}", database=name)[0][0] for table in copy_cases.TABLES]


class Copying:
    """Cases on one server. All of them yield (what, problem or None)."""

    def __init__(self, target, source, tool):
        self.target, self.source, self.tool = target, source, tool
        self.expected = copy_cases.sqlite_rows(source.path)

    def is_complete(self, name):
        return copy_cases.differences(self.expected, self.target.rows(name, self.expected), self.target.is_mariadb)

    def copied(self, what, name, url):
        code, out, errors = self.tool.copy(url)
        is_right = code == 0 and out.startswith("Copied ")
        yield f"{what}: it is copied", None if is_right else (code, out, errors, self.target.activity())
        yield f"{what}: each row is there", self.is_complete(name)

    def rounded(self, answers):
        """With the digits that a FLOAT shows."""
        return copy_cases.with_six_digits(answers) if self.target.is_mariadb else answers

    # ---- parts ----

    def served(self):
        name = self.target.create()
        url = self.target.server.url(name)
        yield from self.copied("a copy", name, url)
        yield from self.noticed()
        found = self.source.read_from(url)
        wrong = [(one, other) for one, other in zip(self.rounded(self.source.answers), found) if one != other]
        yield f"berthd answers {len(found)} requests as from SQLite", wrong[:1] or None
        before = self.rounded(self.source.read_python(None))
        wrong = [(one, other) for one, other in zip(before, self.source.read_python(url))
                 if one != other and not (one[0].startswith("/usages") and not self.target.is_mariadb)]  # its statement fails there
        yield f"the Python service answers {len(before)} requests as from SQLite", wrong[:1] or None
        yield from self.written(url)
        yield "the source is as it was", copy_cases.differences(self.expected, copy_cases.sqlite_rows(self.source.path), False)

    def noticed(self):
        _, _, errors = self.tool.copy(self.target.server.url(self.target.create()))
        is_named = "fractions are cut off" in errors and "are rounded, the first is that of inventories with id " in errors
        yield "what becomes of times and ratios is said", None if is_named == self.target.is_mariadb else repr(errors)

    def written(self, url):
        """New rows get new ids from both services."""
        with self.source.instance(url) as berth:
            status, answer = raw(berth.port, "POST", "/resource_providers", copy_cases.json.dumps(NEW))
            yield "berthd creates a provider", None if status == 200 else answer
            status, _ = servers.Client(berth.port).claim(copy_cases.new(), **{self.source.uuids[0]: {"VCPU": 1}})
            yield "and a claim", None if status == 204 else status
            status, answer = raw(berth.port, "PUT", "/resource_classes/CUSTOM_NEXT")
            yield "and a resource class", None if status == 201 else answer
        with servers.PythonService(self.source.directory, connection=url, sync=False) as python:
            client = servers.Client(python.port)
            client.make_provider(copy_cases.new(), VCPU=1)
            status, _ = client.claim(copy_cases.new(), **{self.source.uuids[0]: {"VCPU": 1}})
            yield "so does the Python service", None if status == 204 else status

    def prepared(self):
        """Targets that are as good as empty, and what is then in the way."""
        name = self.target.create()
        url = self.target.server.url(name)
        yield "db sync", None if self.tool.run("sync", connection=url)[0] == 0 else "failed"
        with self.source.instance(url) as berth:
            yield "an instance has served it", None if raw(berth.port, "GET", "/traits")[0] == 200 else "not served"
            yield from self.refused("while an instance serves it", url, "in use by berthd")
            berth.stop()
        yield from self.copied("afterwards", name, url)
        yield from self.refused("twice", url, "the target is not empty: its table resource_classes has custom names")

    def refused(self, what, url, text, tool=None):
        code, out, errors = (tool or self.tool).copy(url)
        is_line = errors.startswith("placement-manage: ") and "\n" not in errors and "berth-password" not in errors
        yield f"{what}: refused in one line", None if code == 1 and not out and text in errors and is_line else (code, out, errors)

    def is_untouched(self, name):
        """A refusal leaves the schema at most."""
        version = self.tool.version(self.target.server.url(name))
        if version == "None":
            return None
        return None if version == NEWEST and sum(self.target.counts(name)) == 0 else (version, self.target.counts(name))

    def unfit(self):
        """(what, statement on a copy of the source, text of the refusal), of values that the target cannot hold."""
        name = "UPDATE resource_providers SET name = {} WHERE id = 3"
        yield "a long name", name.format(f"'{'n' * 201}'"), "resource_providers with id 3: name has more than 200 characters"
        yield "no UTF-8", name.format("CAST(x'ff61' AS TEXT)"), "resource_providers with id 3: name is not valid UTF-8"
        yield "a large number", "UPDATE inventories SET total = 3000000000 WHERE id = 2", "inventories with id 2: total is not a number of 32"
        yield "no number", "UPDATE inventories SET total = 'x' WHERE id = 2", "inventories with id 2: total is not of the column's type"
        yield "no time", "UPDATE traits SET created_at = 'x' WHERE id = 2", "traits with id 2: created_at is not of the column's type"
        yield "no JSON", "UPDATE berth_nodes SET extra = '{' WHERE id = 2", "berth_nodes with id 2: extra is not JSON"
        yield "no parent", "UPDATE resource_providers SET parent_provider_id = 999 WHERE id = 3", "parent_provider_id 999: no row of"
        yield "no trait", "DELETE FROM traits WHERE name = 'CUSTOM_FAST'", "no row of traits has this id"
        if not self.target.is_mariadb:
            yield "U+0000", name.format("'a' || char(0)"), "name contains U+0000"
            return
        yield "equal names", name.format("'HOST0'"), "resource_providers with name 'HOST0' and 'host0': they are equal to it"
        yield "a blank", name.format("'host0 '"), "resource_providers with name 'host0' and 'host0 ': they are equal to it"
        if self.target.collation.startswith("utf8mb3"):
            yield "four bytes", name.format("char(128512)"), "name contains the character"

    def values(self):
        for what, statement, text in self.unfit():
            name = self.target.create()
            path = os.path.join(self.source.directory, "unfit.db")
            shutil.copy(self.source.path, path)
            with contextlib.closing(copy_cases.sqlite3.connect(path)) as connection:
                connection.execute(statement)
                connection.commit()
            yield from self.refused(what, self.target.server.url(name), text, Tool(self.tool.program, path))
            yield f"{what}: nothing is written", self.is_untouched(name)

    def altered(self):
        """A server that changes what is written is found out."""
        name = self.target.create()
        url = self.target.server.url(name)
        self.tool.run("sync", connection=url)
        if self.target.is_mariadb:
            self.target.server.sql("CREATE TRIGGER t BEFORE INSERT ON projects FOR EACH ROW SET NEW.external_id = 'other'", database=name)
        else:
            self.target.server.sql("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.external_id = 'other'; RETURN NEW; END $$;"
                                   "CREATE TRIGGER t BEFORE INSERT ON projects FOR EACH ROW EXECUTE FUNCTION f()", database=name)
        if not self.target.is_mariadb:
            yield from self.dropped_and_added(name, url)
        code, out, errors = self.tool.copy(url)
        is_named = "projects with id 1: external_id is 'other' instead of 'project'" in errors
        yield "a value that differs is named", None if is_named else repr(errors)
        yield "and the copy fails", None if code == 1 and "1 rows of the target differ from the source" in errors and not out else (code, out)
        yield from self.unfinished("it", name, url)
        self.target.server.sql("DROP TRIGGER t" + ("" if self.target.is_mariadb else " ON projects"), database=name)
        yield from self.copied("without that", name, url)

    def dropped_and_added(self, name, url):
        """The server leaves out a row of one table, and adds some to another."""
        columns, rows = self.expected["allocations"]
        first = min(row[columns.index("id")] for row in rows)
        self.target.server.sql(
            f"CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = {first} THEN RETURN NULL; END IF;"
            "INSERT INTO projects (external_id) VALUES ('p' || NEW.id); RETURN NEW; END $$;"
            "ALTER TABLE projects DISABLE TRIGGER t; ALTER SEQUENCE projects_id_seq RESTART 100;"
            "CREATE TRIGGER t BEFORE INSERT ON allocations FOR EACH ROW EXECUTE FUNCTION g()", database=name)
        code, _, errors = self.tool.copy(url)
        yield "rows that are only in the target are named", None if "projects with id 100: only in the target" in errors else repr(errors)
        yield "at most ten of them", None if errors.count("only in the target") == 10 else repr(errors)
        yield "all are counted", None if code == 1 and f"{len(rows)} rows of the target differ" in errors else repr(errors)
        self.target.server.sql(
            f"CREATE OR REPLACE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = {first} THEN RETURN NULL; END IF;"
            "RETURN NEW; END $$", database=name)
        _, _, errors = self.tool.copy(url)
        text = f"allocations with id {first}: missing in the target"
        yield "a missing row is named", None if text in errors and "1 rows" in errors else repr(errors)
        self.target.server.sql("DROP TRIGGER t ON allocations; ALTER TABLE projects ENABLE TRIGGER t", database=name)

    def unfinished(self, what, name, url):
        """What is left is not served, and not taken for a database without schema."""
        version = self.tool.version(url)
        if not version.startswith("berth_copying_"):
            yield f"{what}: nothing is left", self.is_untouched(name)
            return
        text = 'has an unfinished copy: run "placement-manage db copy" again'
        for command in (("sync",), ("stamp", "head")):
            found = self.tool.run(*command, connection=url)
            yield f"{what}: db {command[0]} refuses it", None if found[0] == 1 and text in found[2] else found
        try:
            with self.source.instance(url):
                yield f"{what}: berthd refuses it", "it is served"
        except RuntimeError as failure:
            yield f"{what}: berthd refuses it", None if text in str(failure) else failure

    def interrupted(self):
        name = self.target.create()
        cutter = Cutter(self.target.server.port)
        code, _, errors = self.tool.copy(self.target.server.url(name, port=cutter.port))
        cutter.close()
        yield "through a proxy", None if code == 0 else repr(errors)
        kinds = set()
        for number in range(POINTS):
            most = cutter.seen * (2 * number + 1) // (2 * POINTS)
            yield from self.interrupted_at(most, bool(number % 2), kinds)
        yield "some were unfinished", None if (NEWEST in kinds or "None" in kinds) and len(kinds) > 1 or not self.target.is_mariadb else kinds

    def interrupted_at(self, most, kills, kinds):
        what = f"{'killed' if kills else 'cut'} after {most} bytes"
        name = self.target.create()
        cutter = Cutter(self.target.server.port, most, kills)
        cutter.process = self.tool.start("copy", "--to", self.target.server.url(name, port=cutter.port))
        _, errors = cutter.process.communicate(timeout=120)
        cutter.close()
        url = self.target.server.url(name)
        yield f"{what}: it ends", None if cutter.process.returncode == (-9 if kills else 1) and cutter.has_cut else repr(errors)
        kinds.add(self.tool.version(url)[:14])
        if not (self.tool.version(url) == NEWEST and self.is_complete_if_any(name)):
            yield from self.unfinished(what, name, url)
            yield from self.copied(f"{what}, again", name, url)

    def is_complete_if_any(self, name):
        """The last byte may have been that of the answer to the last COMMIT."""
        return sum(self.target.counts(name)) > 0 and self.is_complete(name) is None

    def at_once(self):
        """Two copies to one target: one of them at most succeeds, and the target is then complete."""
        name = self.target.create()
        url = self.target.server.url(name)
        self.tool.run("sync", connection=url)
        paths = [self.source.path, os.path.join(self.source.directory, "second.db")]
        shutil.copy(*paths)
        tools = [Tool(self.tool.program, path) for path in paths]
        running = [tool.start("copy", "--to", url) for tool in tools]
        ends = [process.communicate(timeout=120) for process in running]
        codes = sorted(process.returncode for process in running)
        yield f"two at once: {codes}", None if codes in ([0, 1], [1, 1]) else (codes, ends)
        if codes == [0, 1]:
            yield "one is complete", self.is_complete(name)
        else:
            yield from self.unfinished("both failed", name, url)


def once(source, tool):
    """What does not depend on the server, or needs no target."""
    def refused(what, words, text, code=1, **more):
        found = tool.run("copy", *words, **more)
        return what, None if found[0] == code and not found[1] and text in found[2] else found

    yield refused("without --to", (), "--to", 2)
    yield refused("to SQLite", ("--to", "sqlite:////tmp/x.db"), "is not the URL of a database server")
    yield refused("to nothing that is known", ("--to", "oracle://x/y"), "is not the URL of a database server")
    yield refused("to a server that is not there", ("--to", "postgresql://u:p@127.0.0.1:1/d"), "127.0.0.1")
    yield refused("from a server", ("--to", "postgresql://u:p@127.0.0.1:1/d"), "only an SQLite database can be copied",
                  connection="postgresql://u:p@127.0.0.1:2/d")
    yield refused("from nothing", ("--to", "postgresql://u:p@127.0.0.1:1/d"), "cannot be opened", connection="sqlite:////nowhere/x.db")
    yield refused("from memory", ("--to", "postgresql://u:p@127.0.0.1:1/d"), "in memory", connection="sqlite://")
    with source.instance(None) as berth:
        yield refused("from a database in use", ("--to", "postgresql://u:p@127.0.0.1:1/d"), f"in use by process {berth.process.pid}")


def from_standard_input(source, tool):
    with Postgres() as server:
        process = tool.start("copy", "--to", "-", input=copy_cases.subprocess.PIPE)
        out, errors = process.communicate(server.url() + "\n", timeout=120)
        yield "the URL on standard input", None if process.returncode == 0 and out.startswith("Copied ") else (out, errors)


def large(source, tool):
    """A tool for a copy of the source that takes seconds."""
    path = source.path + ".large"
    with contextlib.closing(sqlite3.connect(source.path)) as one, contextlib.closing(sqlite3.connect(path)) as other:
        one.backup(other)
        other.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO traits (name)"
                      " SELECT 'CUSTOM_' || i FROM n", (LARGE_ROWS,))
        other.commit()
    return Tool(tool.program, path)


def progress(source, tool):
    """On a terminal one line that is written again and again, and erased before the result; otherwise one every ten seconds."""
    tool = large(source, tool)
    with Postgres() as server:
        code, shown = tool.on_a_terminal("copy", "--to", server.url())
        shown = re.sub(r"^\d{4}-[^\n]* INFO alembic[^\n]*\n", "", shown, flags=re.M)
        *lines, result = shown.replace("\r\n", "\n").split("\r\033[K")
        yield "on a terminal: it is copied", None if code == 0 and re.fullmatch(r"Copied \d+ rows in [^\n]*\n", result) else (code, result)
        wrong = [line for line in lines if not PROGRESS.fullmatch(line)]
        yield "on a terminal: each line shows how far it is", wrong[:3] or None
        steps = {line.split(":")[0] for line in lines}
        yield "on a terminal: both long steps are shown", None if {"copying traits", "comparing traits"} <= steps else steps
        far = [(int(found[1]), int(found[2])) for found in (re.match(r"copying traits: (\d+) of (\d+)", line) for line in lines) if found]
        is_fine = far == sorted(far) and all(0 < rows <= most and most > LARGE_ROWS for rows, most in far)
        yield "on a terminal: the rows become more", None if is_fine else far
        server.create_database("again")
        began = time.monotonic()
        process = tool.start("copy", "--to", server.url("again"))
        time.sleep(0.3)
        process.send_signal(signal.SIGSTOP)
        time.sleep(LOG_S)
        process.send_signal(signal.SIGCONT)
        out, errors = process.communicate(timeout=120)
        lines = [line for line in errors.splitlines() if " INFO alembic" not in line]
        is_fine = process.returncode == 0 and "\r" not in errors and lines and all(map(PROGRESS.fullmatch, lines))
        yield "otherwise: a line after ten seconds", None if is_fine else (process.returncode, out, errors)
        yield "otherwise: and no other", None if len(lines) <= (time.monotonic() - began) / 10 else lines


ALL = ("served", "prepared", "values", "altered", "interrupted", "at_once")
PARTS = {
    "postgres": (Postgres, None, ALL),
    "utf8mb3": (server_class(), "utf8mb3_general_ci", ALL),
    "utf8mb4": (server_class(), "utf8mb4_unicode_ci", ("served", "values")),
    "galera": (lambda: Galera(nodes=2, provider=PATIENT), "utf8mb3_general_ci", ("served", "interrupted", "at_once")),
}


def cases_of(part, source, tool):
    make, collation, names = PARTS[part]
    with make() as server:
        copying = Copying(Target(server.nodes[0] if part == "galera" else server, collation), source, tool)
        for name in names:
            for what, problem in getattr(copying, name)():
                yield f"{name}: {what}", problem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(["once", *PARTS]))
    arguments = parser.parse_args()
    score = servers.Score()
    with tempfile.TemporaryDirectory(prefix="berth-copying-", dir=servers.directory_in_memory(1 << 28)) as directory:
        source = Source(os.path.join(arguments.build, "berthd"), directory)
        tool = Tool(os.path.abspath(os.path.join(arguments.build, "placement-manage")), source.path)
        for part in arguments.parts or ["once", *PARTS]:
            cases = itertools.chain(*(cases(source, tool) for cases in (once, from_standard_input, progress))) if part == "once" \
                else cases_of(part, source, tool)
            for what, problem in cases:
                score.case(f"{part}: {what}", problem and str(problem)[:2000])
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
