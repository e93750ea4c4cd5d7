#!/usr/bin/python3
"""Reads while the database is unavailable: [berth] reads_while_unavailable.

    tests/databases/unavailable.py --berthd build/berthd [--mariadb] [--every]

The server is shut down; it is stopped by a signal, so that it neither answers nor refuses; a proxy swallows what is sent to it. For each, one instance lets reads continue for some seconds and another, without the option, refuses them at once. Reads
that continue must never be older than that, and as soon as the database answers again, reads must be strict: they show what
another instance has committed.
"""

import argparse
import contextlib
import http.client
import json
import os
import shutil
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from admin_pages import metrics  # noqa: E402
from faulty_proxy import FaultyProxy  # noqa: E402
from mariadb import server_class  # noqa: E402
from mariadb_wire import MariadbWire  # noqa: E402
from postgres import Postgres  # noqa: E402
from postgres_wire import PostgresWire  # noqa: E402
from processes import wait_until  # noqa: E402

SECONDS = 5  # of which a second goes by until the server counts as unavailable, and more if the machine is busy
CREATED = 20
LATE_S = 1.5  # more, until the first refusal is seen: a query may take that long to be found unanswered


def shut_down(server, proxy):
    if isinstance(server, Postgres):
        server.stop("immediate")
    else:
        server.stop()
    return server.start


def freeze(server, proxy):
    server.freeze()
    return server.thaw


def swallow(server, proxy):
    proxy.swallow_all()
    return proxy.recover


def read(port):
    """(status, the number of providers, the seconds it took, whether there is a Retry-After)"""
    began = time.monotonic()
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", "/resource_providers", headers={"x-auth-token": "admin"})
        answer = connection.getresponse()
        text = answer.read()
    count = answer.status == 200 and len(json.loads(text)["resource_providers"])
    return answer.status, count, time.monotonic() - began, answer.getheader("Retry-After") is not None


def outage(what, break_it, server, proxy, tolerant, strict, direct, providers):
    """Yields (what, whether it is right, what was found). `providers`: how many there are."""
    status, count, _, _ = read(tolerant)
    known = time.monotonic()  # the answer was the newest state at some moment before
    yield f"{what}: before", status == 200 and count == providers, (status, count)
    mend = break_it(server, proxy)
    try:
        status, count, _, _ = read(tolerant)
        yield f"{what}: a read continues", status == 200 and count == providers, (status, count)
        refused = []
        waiting = threading.Thread(target=lambda: refused.extend(read(strict)))
        waiting.start()
        served, slow, last = 0, 0, known
        while time.monotonic() < known + SECONDS + 30:
            began = time.monotonic()
            status, count, took, has_retry = read(tolerant)
            if status != 200:
                break
            served, slow, last = served + 1, slow + (took > 0.5), began
            time.sleep(0.01)
        yield f"{what}: reads continue for most of the time", last - known > SECONDS - LATE_S and served > 20, (last - known, served)
        yield f"{what}: and no longer", last - known < SECONDS + LATE_S, last - known
        yield f"{what}: few of them wait", slow <= 5, (slow, served)
        yield (f"{what}: then they are refused, with Retry-After",
               status == 503 and has_retry, (status, has_retry))
        waiting.join()
        yield (f"{what}: without the option they are refused at once, with Retry-After",
               refused[0] == 503 and refused[3], refused)
    finally:
        mend()
    wait_until(lambda: read(tolerant)[0] == 200, "reads are refused")
    wait_until(lambda: direct.ask("PUT", f"/traits/CUSTOM_{providers}")[0] == 201, "writes are refused")
    stale = 0
    for number in range(CREATED):
        direct.must(200, "POST", "/resource_providers", {"name": f"{what} {number}"})
        stale += read(tolerant)[1] != providers + number + 1
    yield f"{what}: reads are strict again", stale == 0, stale


CASES = (shut_down, freeze, swallow)


def cases(program, every, stack, server, proxy):
    def berth(url, *options):
        directory = tempfile.mkdtemp(prefix="berth-unavailable-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        return stack.enter_context(servers.Berthd(program, directory, connection=url, options=options))

    admin = servers.free_port()
    option = ("[berth]", f"reads_while_unavailable = {SECONDS}", f"admin_listen = 127.0.0.1:{admin}")
    through = server.url(port=proxy.port)
    instances = [berth(through, *option), berth(through), berth(server.url())]
    tolerant, strict = instances[0].port, instances[1].port
    direct = servers.Client(instances[2].port, timeout=60)
    providers = 0
    for break_it in CASES if every else CASES[:2]:
        yield from outage(break_it.__name__.replace("_", " "), break_it, server, proxy, tolerant, strict, direct, providers)
        providers += CREATED
    found = metrics(admin)
    yield ("so do the metrics", found["berth_reads_while_unavailable_total"] > 40 and found["berth_head_queries_failed_total"] > 1
           and found["berth_database_connections_total"] > 4 and found["berth_database_connections_failed_total"] > 1, found)
    log = instances[0].log()
    yield ("the log says so", all(log.count(line) >= 2 for line in (
        f"For up to {SECONDS} s, reads are answered from memory", "Reads are answered 503 from now on", "the database answers again")), log)
    server.sql("ALTER TABLE berth_log RENAME TO hidden_log")
    status = servers.Client(strict).ask("GET", "/resource_providers?name=none")[0]
    server.sql("ALTER TABLE hidden_log RENAME TO berth_log")
    log = instances[1].log()
    said = 'relation "berth_log" does not exist' if isinstance(server, Postgres) else "Table 'placement.berth_log' doesn't exist"
    yield ("the log says what is wrong", status == 503 and said + ". Reads are answered" in log, log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--mariadb", action="store_true")
    parser.add_argument("--every", action="store_true", help="also with a proxy that swallows what is sent to the server")
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(server_class()() if arguments.mariadb else Postgres())
        proxy = stack.enter_context(FaultyProxy(server.port, MariadbWire if arguments.mariadb else PostgresWire))
        for what, is_right, found in cases(arguments.berthd, arguments.every, stack, server, proxy):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
