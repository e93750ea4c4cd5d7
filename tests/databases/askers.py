#!/usr/bin/python3
"""What workers do by themselves: they ask for the newest state, on connections of their own, and commit claims.

    tests/databases/askers.py --berthd build/berthd

While new connections hang, or end at once, reads go on with those that are there, are not held up by those that are being made,
and do not try to make them all the time. When connections can be made again, workers get theirs. A worker commits a claim while
nobody else writes, and nothing else: other plans may look at all that there is.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from admin_pages import metrics  # noqa: E402
from faulty_proxy import FaultyProxy  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import wait_until  # noqa: E402
from read_your_writes import Connection  # noqa: E402

CLIENTS, SECONDS, PAUSE_S = 8, 7, 0.01
MEDIAN_MOST, LONGEST_MOST = 0.2, 3  # seconds, on a busy machine; with a wait for a connection, the median would be a second
ATTEMPTS_MOST = 5  # within SECONDS: after pauses of 1, 2 and 4 s, and of a session that is replaced
WRITE_EVERY = 10
SESSIONS = 5  # without those of workers: of the writer, its reads, the head, housekeeping and the observer
CLAIMS, CLASSES = 30, 10
SERIES_MOST = 4  # of claims, if a machine that stalls leaves most of them to the writer


class Reader(threading.Thread):
    def __init__(self, port, end):
        super().__init__(daemon=True)
        self.connection, self.end = Connection(port), end
        self.statuses, self.seconds = set(), []

    def run(self):
        while time.monotonic() < self.end:
            began = time.monotonic()
            self.statuses.add(ask(self.connection))
            self.seconds.append(time.monotonic() - began)
            if len(self.seconds) % WRITE_EVERY == 0:
                name = str(uuid.uuid4()).encode()
                self.statuses.add(self.connection.ask(b"POST", b"/resource_providers", b'{"name": "%s"}' % name)[0])
            time.sleep(PAUSE_S)


def ask(connection):
    return connection.ask(b"GET", b"/allocations/" + str(uuid.uuid4()).encode())[0]


def sessions(server, database):
    return server.sql("SELECT count(*) FROM pg_stat_activity WHERE datname = %s", database)[0][0]


def read(berth):
    """(statuses, seconds) of all reads."""
    readers = [Reader(berth.port, time.monotonic() + SECONDS) for _ in range(CLIENTS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(60)
    return set().union(*(reader.statuses for reader in readers)), sum((reader.seconds for reader in readers), [])


def cases(program, directory, server, proxy):
    for what, fault in (("new connections hang", proxy.swallow), ("new connections end", proxy.cut)):
        database = f"askers{proxy.count('client', 'Startup')}"
        server.create_database(database)
        with servers.Berthd(program, directory, connection=server.url(database, port=proxy.port)) as berth:
            wait_until(lambda: sessions(server, database) == SESSIONS, lambda: f"{sessions(server, database)} sessions")
            fault = fault(sender="client", kind="Startup", times=None)
            made = proxy.count("client", "Startup")
            statuses, seconds = read(berth)
            attempts = proxy.count("client", "Startup") - made
            yield f"{what}: requests are answered", statuses == {200}, statuses
            yield f"{what}: at once", statistics.median(seconds) < MEDIAN_MOST, statistics.median(seconds)
            yield f"{what}: none waits long", max(seconds) < LONGEST_MOST, max(seconds)
            yield f"{what}: workers try to connect, but not all the time", 1 <= attempts <= ATTEMPTS_MOST, attempts
            before = sessions(server, database)
            proxy.recover()
            client = Connection(berth.port)
            wait_until(lambda: ask(client) == 200 and sessions(server, database) > before, f"{what}: no worker gets a connection afterwards", 60)
            yield f"{what}: workers get connections afterwards", True, None


def committed_by_workers(admin):
    return metrics(admin)["berth_writer_direct_batches_total"]


def claim(client, provider, admin):
    """(statuses, how many were committed by workers) of CLAIMS claims."""
    before = committed_by_workers(admin)
    statuses = {client.claim(str(uuid.uuid4()), **{provider: {"VCPU": 1}})[0] for _ in range(CLAIMS)}
    return statuses, committed_by_workers(admin) - before


def own_commits(program, directory, server):
    server.create_database("commits")
    admin = servers.free_port()
    with servers.Berthd(program, directory, connection=server.url("commits"), options=("[berth]", f"admin_listen = 127.0.0.1:{admin}")) as berth:
        client, provider = berth.client(), str(uuid.uuid4())
        client.make_provider(provider, VCPU=CLAIMS * SERIES_MOST)
        series = [claim(client, provider, admin)]
        while series[-1][1] < CLAIMS / 2 and len(series) < SERIES_MOST:
            series.append(claim(client, provider, admin))
        yield ("a worker commits claims", all(statuses == {204} for statuses, _ in series) and
               CLAIMS / 2 <= series[-1][1] <= CLAIMS, series)
        committed = committed_by_workers(admin)
        for number in range(CLASSES):
            client.must(201, "PUT", f"/resource_classes/CUSTOM_{number}")
            client.must(204, "DELETE", f"/resource_classes/CUSTOM_{number}")
        yield "and no classes", committed_by_workers(admin) == committed, committed_by_workers(admin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres())
        proxy = stack.enter_context(FaultyProxy(server.port))
        directory = tempfile.mkdtemp(prefix="berth-askers-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        for what, is_right, found in (*cases(arguments.berthd, directory, server, proxy), *own_commits(arguments.berthd, directory, server)):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
