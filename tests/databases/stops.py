#!/usr/bin/python3
"""SIGTERM while berthd is busy with its database: a stop lasts for about a second, whatever the server does.

    tests/databases/stops.py --berthd build/berthd

While a large database is read at startup, from a server that sends rows or stands still; while everything is compared, because
the log went back; while the scrub or a request waits for the server; and while another session holds the lock of the next
batch, which a request or a bare metal node needs. Each time the server would take far longer than the test allows, and each time the row of the instance is deleted.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "baremetal")]

import psycopg2  # noqa: E402
import servers  # noqa: E402
from admin_pages import metrics  # noqa: E402
from faulty_proxy import FaultyProxy  # noqa: E402
from metal_client import MetalClient  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import wait_until  # noqa: E402
from stalled import LOCK  # noqa: E402
from startup import Run  # noqa: E402

MANY, FEW = 300000, 2000  # providers
SECONDS_MOST = 10  # on a busy machine
SLOW_ROWS, SLOW_S = 20, 0.25  # so that FEW rows take 25 s
DELAY_MS = 1000  # of a power operation
CUT_SHORT = 3  # some requests were not finished (docs/running.md)


def make_database(program, directory, server, database, count):
    """With that many providers, which no log names."""
    server.create_database(database)
    with servers.Berthd(program, directory, connection=server.url(database)) as berth:
        berth.stop()
    server.sql("SET session_replication_role = replica;"  # checks no foreign keys
               "INSERT INTO resource_providers (id, created_at, updated_at, uuid, name, generation, root_provider_id) SELECT n,"
               " now(), now(), md5(n::text)::uuid, 'host' || n, 0, n FROM generate_series(1, %s) n", count, database=database)
    server.sql("SELECT setval('resource_providers_id_seq', %s)", count, database=database)


def instances(server, database):
    return server.sql("SELECT count(*) FROM berth_instances", database=database)[0][0]


def lines(log):
    return [line.rsplit("] ", 1)[-1] for line in log.splitlines()]


class Stop:
    """What a SIGTERM led to. status: of the exit; left: the rows of instances that are there afterwards."""

    def __init__(self, server, database, send, wait, read_log):
        wait_until(lambda: instances(server, database) > 0, "there is no row of the instance")
        began = time.monotonic()
        send()
        self.status = wait()
        self.seconds = time.monotonic() - began
        self.left = instances(server, database)
        self.log = read_log()

    def cases(self, what, status=0):
        yield f"{what}: it ends soon", self.seconds < SECONDS_MOST, self.seconds
        yield f"{what}: the exit status", self.status == status, (self.status, self.log[-2000:])
        yield f"{what}: no row is left of it", self.left == 0, (self.left, self.log[-2000:])
        said = lines(self.log)
        yield f"{what}: the log says so", "stopping" in said and said[-1] == "stopped", self.log[-2000:]


def stop_running(server, database, berth):
    return Stop(server, database, berth.process.terminate, lambda: berth.process.wait(60), berth.log)


def loads(program, directory, server, proxy):
    database = "many"
    make_database(program, directory, server, database, MANY)
    which = {"sender": "server", "kind": "DataRow", "nth": 1000}
    for what, fault in (("rows arrive", lambda: proxy.delay(0, **which)), ("no row arrives", lambda: proxy.swallow(**which))):
        before = proxy.count("server", "DataRow")
        fault = fault()
        with Run(program, directory, server.url(database, port=proxy.port)) as berth:
            fault.wait()

            def wait():
                berth.process.wait(60)
                return berth.process.status

            yield from Stop(server, database, lambda: berth.process.signal(15), wait, berth.log).cases(f"a load, {what}")
            read = proxy.count("server", "DataRow") - before
            yield f"a load, {what}: in the middle", 1000 <= read < MANY, read
        proxy.recover()


def berthd(stack, program, directory, url, *options):
    return stack.enter_context(servers.Berthd(program, directory, connection=url, options=("[berth]", "stop_grace = 1", *options)))


def merge(program, directory, server, proxy):
    with contextlib.ExitStack() as stack:
        berth = berthd(stack, program, directory, server.url("few", port=proxy.port))
        berth.client().must(200, "POST", "/resource_providers", {"name": "named in the log"})
        reader = max(proxy.connections(), key=lambda connection: connection.counts["server"]["DataRow"])
        slow = proxy.delay(SLOW_S, sender="server", kind="DataRow", nth=SLOW_ROWS, times=None, number=reader.number)
        server.sql("DELETE FROM berth_log WHERE number = (SELECT max(number) FROM berth_log)", database="few")
        slow.wait(times=3)
        yield from stop_running(server, "few", berth).cases("a merge")
    proxy.recover()


def scrub(program, directory, server, proxy):
    with contextlib.ExitStack() as stack:
        swallowed = proxy.swallow(sender="client", kind="Parse", text=r"FROM resource_providers.*= ANY")
        berth = berthd(stack, program, directory, server.url("few", port=proxy.port), "scrub_interval = 1")
        swallowed.wait()
        yield from stop_running(server, "few", berth).cases("a scrub")
    proxy.recover()


def report(program, directory, server, proxy):
    """On the connection that has written the row of the instance, and is to delete it."""
    swallowed = proxy.swallow(sender="client", kind="Parse", text="xact_start")
    with contextlib.ExitStack() as stack:
        berth = berthd(stack, program, directory, server.url("few", port=proxy.port))
        swallowed.wait()
        yield from stop_running(server, "few", berth).cases("a report")
    proxy.recover()


def write(client, name, answers=None):
    """The status, which is also appended; None: it was not answered."""
    try:
        status = client.ask("POST", "/resource_providers", {"name": name})[0]
    except OSError:
        status = None
    if answers is not None:
        answers.append(status)
    return status


class Holder:
    """A session that holds the lock and works, so that no berthd ends it."""

    def __init__(self, server, database):
        self.server = server
        self.connection = psycopg2.connect(server.url(database, driver="postgresql"))
        self.cursor = self.connection.cursor()
        self.cursor.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        with contextlib.suppress(psycopg2.Error):  # at its end
            self.cursor.execute("SELECT pg_sleep(60)")

    def end(self):
        self.server.sql("SELECT pg_terminate_backend(%s)", self.connection.info.backend_pid)
        self.thread.join()
        self.connection.close()


def make_crowded(berth, other, admin):
    """From then on, the instance plans its batches under the lock: another one has committed first."""
    clients, number = (other.client(), berth.client()), 0
    while metrics(admin)["berth_writer_replanned_batches_total"] == 0:
        for client in clients:
            client.must(200, "POST", "/resource_providers", {"name": f"crowd{number}"})
            number += 1


def is_lock_awaited(server):
    return server.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")[0][0] > 0


def lock(program, directory, server, proxy):
    server.create_database("locked")
    admin = servers.free_port()
    with contextlib.ExitStack() as stack:
        berth = berthd(stack, program, directory, server.url("locked"), f"admin_listen = 127.0.0.1:{admin}")
        other = berthd(stack, program, directory, server.url("locked"))
        make_crowded(berth, other, admin)
        other.stop()
        holder = Holder(server, "locked")
        answers = []
        writing = threading.Thread(target=write, args=(berth.client(), "held up", answers))
        writing.start()
        wait_until(lambda: is_lock_awaited(server), "nobody waits for the lock")
        yield from stop_running(server, "locked", berth).cases("a lock", CUT_SHORT)
        writing.join()
        yield "a lock: the write is refused", answers in ([503], [None]), answers
        holder.end()
        names = server.sql("SELECT count(*) FROM resource_providers WHERE name = 'held up'", database="locked")
        yield "a lock: nothing is written", names[0][0] == 0, names


def node(program, directory, server, proxy):
    """No client waits, but the node's power operation is to be ended."""
    server.create_database("metal")
    with contextlib.ExitStack() as stack:
        berth = stack.enter_context(servers.Berthd(
            program, directory, connection=server.url("metal"), baremetal_port=servers.free_port(),
            options=("[berth]", "stop_grace = 1", "[baremetal]", f"fake_delay_ms = {DELAY_MS}")))
        client = MetalClient(berth.baremetal_port)
        uuid = client.make_node(state="enroll")["uuid"]
        for target in ["power off", "power on"] * 10:  # until the lock is held before the operation ends
            client.must(202, "PUT", f"/v1/nodes/{uuid}/states/power", {"target": target})
            holder = Holder(server, "metal")
            wait_until(lambda: is_lock_awaited(server) or client.ask("GET", f"/v1/nodes/{uuid}").json["power_state"] == target, "nothing happens")
            if is_lock_awaited(server):
                break
            holder.end()
        client.close()
        yield from stop_running(server, "metal", berth).cases("a node")
        holder.end()


def cases(program, directory, server, proxy):
    make_database(program, directory, server, "few", FEW)
    for part in (loads, merge, scrub, report, lock, node):
        yield from part(program, directory, server, proxy)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres())
        proxy = stack.enter_context(FaultyProxy(server.port))
        directory = tempfile.mkdtemp(prefix="berth-stops-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        for what, is_right, found in cases(arguments.berthd, directory, server, proxy):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
