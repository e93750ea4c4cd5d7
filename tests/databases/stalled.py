#!/usr/bin/python3
"""An instance that holds the lock for the next batch and does nothing with it: stopped, or on a machine that is gone.

    tests/databases/stalled.py --berthd build/berthd

Others end its connection and go on writing within the limit, and answer reads meanwhile; one that works is left alone.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import psycopg2  # noqa: E402
import servers  # noqa: E402
from admin_pages import metrics  # noqa: E402
from postgres import Postgres  # noqa: E402

LOCK = 7090199032651317250  # src/store/postgres/session/locks.h
LIMIT_MS = 8000  # by default, the write could be made after 2.5 s
WRITE_SECONDS_MOST, READ_SECONDS_MOST = 12, 1


def hold(server, then):
    """A session that holds the lock; with `then` it executes that, in a thread, and commits."""
    connection = psycopg2.connect(server.url(driver="postgresql"))
    cursor = connection.cursor()
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    if then is not None:
        thread = threading.Thread(target=lambda: (cursor.execute(then), connection.commit()))
        thread.start()
        return connection, thread
    return connection, None


def write_and_read(client, reader):
    """(status, seconds of the write, the longest read meanwhile)"""
    result = {}

    def write():
        began = time.monotonic()
        result["status"] = client.ask("POST", "/resource_providers", {"name": str(uuid.uuid4())})[0]
        result["seconds"] = time.monotonic() - began

    thread = threading.Thread(target=write)
    thread.start()
    longest = 0
    while thread.is_alive():
        began = time.monotonic()
        reader.must(200, "GET", "/resource_providers?name=none")
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.05)
    thread.join()
    return result["status"], result["seconds"], longest


def is_alive(connection):
    try:
        connection.cursor().execute("SELECT 1")
        return True
    except psycopg2.Error:
        return False


def cases(server, client, reader, admin):
    connection, _ = hold(server, None)
    status, seconds, longest = write_and_read(client, reader)
    yield "the write is made", status == 200, status
    yield "within the limit", LIMIT_MS / 2000 <= seconds < WRITE_SECONDS_MOST, seconds
    yield "reads do not wait", longest < READ_SECONDS_MOST, longest
    yield "the holder was disconnected", not is_alive(connection), "it is connected"
    found = metrics(admin)
    yield ("the metrics say so", found["berth_database_lock_timeouts_total"] >= 1
           and found["berth_database_stalled_connections_ended_total"] == 1, found)
    connection, thread = hold(server, "SELECT pg_sleep(4)")
    status, seconds, longest = write_and_read(client, reader)
    thread.join()
    yield "a holder that works is waited for", is_alive(connection), "it was disconnected"
    connection.close()
    yield "reads do not wait for it", longest < READ_SECONDS_MOST, longest
    status, seconds, _ = write_and_read(client, reader)
    yield "writes work afterwards", status == 200 and seconds < READ_SECONDS_MOST, (status, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres())
        directory = tempfile.mkdtemp(prefix="berth-stalled-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        admin = servers.free_port()
        berth = stack.enter_context(servers.Berthd(arguments.berthd, directory, connection=server.url(),
                                                   options=("[berth]", f"admin_listen = 127.0.0.1:{admin}",
                                                            f"stalled_instance_timeout = {LIMIT_MS}")))
        for what, is_right, found in cases(server, servers.Client(berth.port), servers.Client(berth.port), admin):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
