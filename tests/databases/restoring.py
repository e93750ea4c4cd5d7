#!/usr/bin/python3
"""berthd beside pg_restore without --single-transaction, or beside a dump of MariaDB, which show the states in between: empty and
partly filled tables.

    tests/databases/restoring.py --berthd build/berthd [--database postgres|mariadb]

The restore is made in three parts, with requests between them. A berthd that starts meanwhile waits, creates nothing in
the restore's way, and is ready after it. One that runs answers from no state in between, and reports only what is gone.
"""

import argparse
import concurrent.futures
import contextlib
import os
import shutil
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from mariadb import server_class  # noqa: E402
from postgres import Postgres, program  # noqa: E402
from processes import Failure, wait_until  # noqa: E402
from went_back import claim, events  # noqa: E402

PROVIDERS = 3
CLAIMS = 6  # fewer may have lost their consumers in another way
TRAIT = "HW_CPU_X86_AVX2"  # as every host of nova's has some: without any, it cannot be seen that the table of traits is not filled yet
UNFINISHED = "is it being restored?"


class OnPostgres:
    """All tables are removed, made anew, filled, and get their keys."""

    parts = ("pre-data", "data", "post-data")
    make = Postgres

    def __init__(self, server):
        self.server, self.file = server, os.path.join(server.place.path, "dump")

    def run(self, name, *arguments):
        self.server.place.run(program(name), "-h", self.server.socket_directory, "-p", str(self.server.port), "-U", "postgres", *arguments)

    def dump(self):
        self.run("pg_dump", "-Fc", "-f", self.file, self.server.database)

    def remove_tables(self):
        self.server.sql("DROP SCHEMA public CASCADE")
        self.server.sql("CREATE SCHEMA public AUTHORIZATION pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC")

    def restore(self, database, part):
        """Fails if anything is in the way of the restore."""
        self.run("pg_restore", "--exit-on-error", f"--section={part}", "-d", database, self.file)


class OnMariadb:
    """Each table is removed, made anew and filled before the next one. A part ends before the rows of a table to which others
    refer that have been filled."""

    make = staticmethod(server_class())
    ends = ("consumers", "projects", "resource_providers", "traits")
    parts = range(len(ends) + 1)

    def __init__(self, server):
        self.server = server

    def dump(self):
        path = os.path.join(self.server.place.path, "dump.sql")
        self.server.place.run("/usr/bin/mariadb-dump", "--no-defaults", f"--socket={self.server.socket}", "--user=root",
                              "--single-transaction", f"--result-file={path}", self.server.database)
        with open(path, "rb") as file:
            text = file.read()
        self.head = text[:text.index(b"\n--\n-- Table structure")]
        self.texts = []
        for table in self.ends:
            before, text = text.split(f"-- Dumping data for table `{table}`".encode())
            self.texts.append(before)
        self.texts.append(text)

    def remove_tables(self):
        """The dump does."""

    def restore(self, database, part):
        path = self.server.place.write("part.sql", "")
        with open(path, "wb") as file:
            file.write(self.head + b"\n--" + self.texts[part])
        self.server.place.run("/bin/sh", "-c", 'exec /usr/bin/mariadb --no-defaults --socket="$1" --user=root "$2" <"$3"', "sh",
                              self.server.socket, database, path)


DATABASES = {"postgres": OnPostgres, "mariadb": OnMariadb}


def is_answered(berth):
    try:
        return berth.client().ask("GET", "/")[0] == 200
    except OSError:
        return False


def starts_meanwhile(kind, server, make):
    first, *middle, last = kind.parts
    server.create_database("copy")
    berth = make(server.url("copy"))
    kind.restore("copy", first)
    with contextlib.suppress(RuntimeError):  # it is not ready in that time
        berth.start(0.5)
    with contextlib.suppress(Failure):
        wait_until(lambda: UNFINISHED in berth.log() or berth.process.poll() is not None, "no first attempt", 20)
    waits = berth.process.poll() is None and UNFINISHED in berth.log()
    yield "with empty tables it waits", waits, berth.log()[-1000:]
    for part in middle:
        kind.restore("copy", part)
        seen = len(berth.log())
        with contextlib.suppress(Failure):
            wait_until(lambda: UNFINISHED in berth.log()[seen:], "no second attempt", 20)
        yield "with more rows, too", UNFINISHED in berth.log()[seen:], berth.log()[-1000:]
    try:
        kind.restore("copy", last)
        yield "nothing is in the restore's way", True, None
    except Failure as failure:
        yield "nothing is in the restore's way", False, failure
    with contextlib.suppress(Failure):
        wait_until(lambda: is_answered(berth) or berth.process.poll() is not None, "it does not start", 20)
    there = is_answered(berth) and berth.client().ask("GET", "/resource_providers")[1]["resource_providers"]
    yield "then it serves everything", there and len(there) == PROVIDERS, berth.log()[-1000:]


def runs_meanwhile(kind, berth, provider, kept):
    *before, last = kind.parts
    database = kind.server.database
    lost, status = claim(berth.client(), provider, 1)
    client = berth.client()
    answers = []
    yield "a claim that will be gone", status == 204, status

    def ask():
        """At once, because each is answered after some seconds."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            paths = (f"/resource_providers/{provider}", "/resource_providers")
            reads = [pool.submit(berth.client().ask, "GET", path) for path in paths]
            write = pool.submit(claim, berth.client(), provider, 1)
            answers.extend([*(read.result()[0] for read in reads), write.result()[1]])

    kind.remove_tables()
    for part in before:
        kind.restore(database, part)
        ask()
    yield "nothing is answered from a state in between", set(answers) == {503}, answers
    yield "the log says why", UNFINISHED in berth.log(), berth.log()[-2000:]
    kind.restore(database, last)
    wait_until(lambda: client.ask("GET", f"/resource_providers/{provider}")[0] == 200, "reads do not work again")
    held = [client.ask("GET", f"/allocations/{consumer}")[1]["allocations"] for consumer in (kept, lost)]
    yield "what was restored is there, and no more", bool(held[0]) and not held[1], held
    named = [(line.get("kind"), line["state"]) for lines in events(berth) for line in lines if "state" in line]
    yield "what is gone is named, and no more", sorted(named) == [("consumer", "gone"), ("resource_provider", "older")], named
    yield "a claim", claim(client, provider, 1)[1] == 204, berth.log()[-2000:]


def cases(kind, server, make):
    berth = make(server.url()).start()
    client = berth.client()
    providers = [str(uuid.uuid4()) for _ in range(PROVIDERS)]
    for provider in providers:
        client.make_provider(provider, VCPU=100)
        client.must(200, "PUT", f"/resource_providers/{provider}/traits", {"resource_provider_generation": 1, "traits": [TRAIT]})
    kept, _ = [claim(client, providers[0], 1) for _ in range(CLAIMS)][0]
    kind.dump()
    yield from starts_meanwhile(kind, server, make)
    yield from runs_meanwhile(kind, berth, providers[0], kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--database", choices=DATABASES, default="postgres")
    arguments = parser.parse_args()
    chosen = DATABASES[arguments.database]
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(chosen.make())

        def make(url):
            directory = tempfile.mkdtemp(prefix="berth-restoring-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            berth = servers.Berthd(arguments.berthd, directory, connection=url,
                                   options=("[berth]", f"loss_directory = {directory}"))
            with open(berth.config_file, "a") as file:
                file.write("retry_interval = 1\nmax_retries = -1\n")
            stack.callback(berth.end)
            return berth

        for what, is_right, found in cases(chosen(server), server, make):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
