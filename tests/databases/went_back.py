#!/usr/bin/python3
"""A database that went back, as after a restored backup or a failover that lost commits.

    tests/databases/went_back.py --berthd build/berthd [--database postgres|mariadb]

berthd must notice it at the next read or write, answer what the database has, name everything that is gone in its log and in
a file, and go on writing on top of that; another instance answers the same, and numbers of the log that were used before are
no obstacle.
"""

import argparse
import contextlib
import glob
import http.client
import json
import os
import shutil
import sys
import tempfile
import threading
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from mariadb import server_class  # noqa: E402
from postgres import Postgres, program  # noqa: E402
from processes import Failure, wait_until  # noqa: E402

CAPACITY = 10


def claim(client, provider, amount):
    consumer = str(uuid.uuid4())
    body = {"allocations": {provider: {"resources": {"VCPU": amount}}}, "project_id": "p", "user_id": "u",
            "consumer_generation": None, "consumer_type": "INSTANCE"}
    return consumer, client.ask("PUT", f"/allocations/{consumer}", body)[0]


def epochs(server):
    return set(server.sql("SELECT epoch, number, began_at, reason FROM berth_epochs"))


def go_back(server, state, keeps_epochs):
    """The tables as they were when the log ended with that number: nothing was claimed yet. Returns the epochs that are
    left."""
    number, generation = state
    forget = "" if keeps_epochs else f"DELETE FROM berth_epochs WHERE number > {number};"
    server.run(f"""BEGIN; DELETE FROM berth_log WHERE number > {number}; DELETE FROM allocations; DELETE FROM consumers;
                   UPDATE resource_providers SET generation = {generation}; {forget} COMMIT""")
    return epochs(server)


def events(berth):
    """The files about what was lost, oldest first: the lines of each."""
    paths = sorted(glob.glob(os.path.join(berth.directory, "lost-*.jsonl")), key=os.path.getmtime)
    return [[json.loads(line) for line in open(path)] for path in paths]


def gone_consumers(lines):
    """{uuid of a consumer that is gone: what it held of which provider}"""
    return {line["uuid"]: [(one["resource_provider"], one["resource_class"], one["used"]) for one in line["had"]["allocations"]]
            for line in lines if line.get("kind") == "consumer" and line["state"] == "gone"}


def used(client, provider):
    return client.must(200, "GET", f"/resource_providers/{provider}/usages")["usages"].get("VCPU", 0)


def restarted(server, berth, provider, state):
    """Killed, and the database went back before it starts again: it still finds out, once."""
    claim(berth.client(), provider, 1)
    berth.kill()
    newest = server.sql("SELECT max(number) FROM berth_log")[0][0]
    left = go_back(server, state, True)
    told = f"no longer has batch {newest}, which this berthd had before it was restarted"
    berth.start()
    yield "a restart: the log says that batches are gone", berth.log().count(told) == 1, berth.log()[-2000:]
    yield "a restart: it serves what is there", used(berth.client(), provider) == 0 and claim(berth.client(), provider, 1)[1] == 204, None
    yield "a restart: an epoch has begun", len(epochs(server) - left) == 1, epochs(server)
    berth.kill()
    berth.start()
    yield "a restart: it is found out once", berth.log().count(told) == 1 and used(berth.client(), provider) == 1, None
    berth.kill()
    with open(glob.glob(os.path.join(berth.directory, "acknowledged-*"))[0], "r+b") as file:
        file.write(bytes(128))
    berth.start()
    yield "a restart: a damaged file is no obstacle", used(berth.client(), provider) == 1, None


class Reader(threading.Thread):
    """Reads a provider again and again; how often it was not found."""

    def __init__(self, berth, provider):
        super().__init__()
        self.client, self.path = berth.client(), f"/resource_providers/{provider}"
        self.missed, self.is_over = 0, False
        self.start()

    def run(self):
        while not self.is_over:
            with contextlib.suppress(OSError, http.client.HTTPException):  # of a test that has failed
                self.missed += self.client.ask("GET", self.path)[0] == 404

    def end(self):
        self.is_over = True
        self.join()
        return self.missed


def held_later(client, consumer):
    """What it holds. A read that the restore has ended, because each waited for the other, is answered 503."""
    answers = []

    def is_answered():
        status, answer = client.ask("GET", f"/allocations/{consumer}")
        answers.append(answer)
        return status == 200
    wait_until(is_answered, "reads do not work again")
    return answers[-1]["allocations"]


def make_dump(server):
    """As the page about the database says."""
    dump = os.path.join(server.place.path, "dump")
    if isinstance(server, Postgres):
        server.place.run(program("pg_dump"), "-h", server.socket_directory, "-p", str(server.port), "-U", "postgres", "-Fc", "-f", dump,
                         server.database)
    else:
        server.place.run("/usr/bin/mariadb-dump", "--no-defaults", f"--socket={server.socket}", "--user=root", "--single-transaction",
                         f"--result-file={dump}", "--databases", server.database)
    return dump


def restore(server, dump):
    """Replaces all tables: on MariaDB one after the other, so that states in between can be seen. PostgreSQL may end it instead of a read, when each waits for the other."""
    if not isinstance(server, Postgres):
        server.place.run("/bin/sh", "-c", 'exec /usr/bin/mariadb --no-defaults --socket="$1" --user=root <"$2"', "sh", server.socket, dump)
        return
    for _ in range(50):
        with contextlib.suppress(Failure):
            server.place.run(program("pg_restore"), "-h", server.socket_directory, "-p", str(server.port), "-U", "postgres",
                             "--clean", "--single-transaction", "-d", server.database, dump)
            return
    raise Failure("pg_restore fails again and again")


def everything_of(berth):
    """What it answers, without the times at which it does."""
    client = berth.client()
    names = sorted(client.must(200, "GET", "/traits")["traits"])
    classes = sorted(one["name"] for one in client.must(200, "GET", "/resource_classes")["resource_classes"])
    listed = client.must(200, "GET", "/resource_providers")["resource_providers"]
    providers = sorted((one["uuid"], one["name"], one["generation"]) for one in listed)
    held = {uuid: [client.must(200, "GET", f"/resource_providers/{uuid}/{what}") for what in ("inventories", "allocations", "traits")]
            for uuid, _, _ in providers}
    return names, classes, providers, held


def replaced(server, berths, provider):
    """All tables are replaced: what is in them both times is there at any moment. On PostgreSQL, one transaction does so, as with
    pg_restore; on MariaDB, berthd may read and name a state in between, but not for long."""
    dump = make_dump(server)
    everything = everything_of(berths[0])
    for number in range(3):
        lost = claim(berths[0].client(), provider, 1)[0]
        known = [berth.client().ask("GET", f"/allocations/{lost}")[1]["allocations"] for berth in berths]
        yield f"replaced {number}: all have read what will be gone", all(known), known
        seen = [len(berth.log()) for berth in berths]
        readers = [Reader(berth, provider) for berth in berths]
        restore(server, dump)
        for reader in readers:
            reader.is_over = True
        there = [held_later(berth.client(), lost) for berth in berths]
        yield f"replaced {number}: what is gone is not shown", not any(there), there
        missed = [reader.end() for reader in readers]
        yield f"replaced {number}: no read misses what is there", not any(missed), missed
        with contextlib.suppress(Failure):
            wait_until(lambda: all(everything_of(berth) == everything for berth in berths), "it is not the same", 20)
        found = [everything_of(berth) for berth in berths]
        yield f"replaced {number}: everything that was restored is there", all(one == everything for one in found), found
        told = [berth.log()[old:] for berth, old in zip(berths, seen)]
        named = [{line["uuid"] for lines in events(berth) for line in lines if line.get("kind") == "consumer"} for berth in berths]
        yield f"replaced {number}: it is named", all("went back" in text for text in told) and all(lost in one for one in named), told
        if isinstance(server, Postgres):
            wrong = [text for text in told if f"gone: consumer {lost}" not in text or "gone: resource_provider" in text or "gone: trait" in text]
            yield f"replaced {number}: nothing else is named", not wrong, wrong


def cases(server, berths):
    one, other = (servers.Client(berth.port) for berth in berths)
    provider = str(uuid.uuid4())
    one.must(200, "POST", "/resource_providers", {"name": "host", "uuid": provider})
    one.must(200, "PUT", f"/resource_providers/{provider}/inventories",
             {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": CAPACITY}}})
    state = server.sql("SELECT max(l.number), max(p.generation) FROM berth_log l, resource_providers p")[0]
    left = None
    for first, what, keeps in ((lambda: used(one, provider), "a read", True), (lambda: claim(one, provider, 1)[1], "a write", False)):
        before = [claim(one, provider, 3)[0] for _ in range(3)]
        if left is not None:
            yield f"{what}: one epoch has begun", len(epochs(server) - left) == 1, epochs(server)
        yield f"{what}: the claims were made", used(other, provider) == 9, used(other, provider)
        seen = [len(events(berth)) for berth in berths]
        left = go_back(server, state, keeps)
        # as many batches of another instance as were lost: their numbers are those of the lost ones
        for _ in range(3):
            claim(other, provider, 2)
        first()
        held = server.sql("SELECT coalesce(sum(used), 0) FROM allocations")[0][0]
        yield f"{what}: what it answers is in the database", used(one, provider) == held, (used(one, provider), held)
        yield f"{what}: the other instance agrees", used(other, provider) == held, (used(other, provider), held)
        there = [consumer for consumer in before if one.must(200, "GET", f"/allocations/{consumer}")["allocations"]]
        yield f"{what}: what is gone is not shown", not there, there
        for berth, old in zip(berths, seen):
            new = events(berth)[old:]
            yield f"{what}: {berth.id} has one file about it", len(new) == 1, new
            gone = gone_consumers(new[0])
            wanted = {consumer: [(provider, "VCPU", 3)] for consumer in before}
            yield f"{what}: {berth.id} names what is gone", all(gone.get(one) == had for one, had in wanted.items()), gone
            header, last = new[0][0], new[0][-1]
            yield (f"{what}: {berth.id} says what the file is about",
                   header["had_batch"] > state[0] and last == {"end": True, "losses": len(new[0]) - 2}, (header, last))
            told = [consumer for consumer in before if f"gone: consumer {consumer} of project p" in berth.log()]
            yield f"{what}: {berth.id} names them in its log", len(told) == len(before), told
        while claim(one, provider, 1)[1] == 204:
            pass
        held = server.sql("SELECT coalesce(sum(used), 0) FROM allocations")[0][0]
        yield f"{what}: capacity is used, and not exceeded", held == CAPACITY, held
        began = epochs(server) - left
        yield (f"{what}: one epoch has begun, whoever wrote first", len(began) == 1 and state[0] < min(began)[1] <= state[0] + 3,
               (began, state))
        left = go_back(server, state, keeps)
        yield f"{what}: once more", used(one, provider) == used(other, provider) == 0, (used(one, provider), used(other, provider))
    yield from replaced(server, berths, provider)
    yield from restarted(server, berths[0], provider, state)
    told = [berth.log().count("went back") for berth in berths]
    yield "the log says so", all(told), told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--database", choices=("postgres", "mariadb"), default="postgres")
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres() if arguments.database == "postgres" else server_class()())
        berths = []
        for _ in range(2):
            directory = tempfile.mkdtemp(prefix="berth-back-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            berths.append(stack.enter_context(servers.Berthd(arguments.berthd, directory, connection=server.url(),
                                                             options=("[berth]", f"loss_directory = {directory}"))))
        for what, is_right, found in cases(server, berths):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
