#!/usr/bin/python3
"""A standby that is promoted without the primary's last commits, and two berthd with both servers in their URL.

    tests/databases/promoted.py --berthd build/berthd

At first the old primary goes on running, and of one berthd only the connection that writes has reached the new one: what the
others say must not count any more. What was acknowledged and is gone is named by the berthd that had it, and only by it. The
old primary then comes back as it was, first in the URL and accepting writes, and must not be used; if it is the only one that
is there, requests are answered 503.
"""

import argparse
import concurrent.futures
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import has_ended  # noqa: E402
from standby import Standby  # noqa: E402
from went_back import claim, events, gone_consumers, used  # noqa: E402

MINE = "datname = 'placement' AND application_name = 'berthd'"


def shut(server):
    """Connections that are open stay; there are no new ones."""
    server.place.write("data/pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 reject\n")
    server.configure(log_min_messages="warning")


def open_again(server):
    server._write_access()


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def log_head(server):
    return server.sql("SELECT max(number), count(*) FROM berth_log")[0]


def claim_at_last(client, provider, amount):
    """The first attempts may meet connections that have just ended."""
    for _ in range(20):
        consumer, status = claim(client, provider, amount)
        if status == 204:
            return consumer
        time.sleep(0.1)
    return None


def is_there(client, consumer):
    return bool(client.must(200, "GET", f"/allocations/{consumer}")["allocations"])


def wait_is_cancelled(old, new, berths, provider):
    """The standby does not answer, and somebody cancels the wait for it: the claim is made, and only the primary has it."""
    client = servers.Client(berths[0].port)
    new.require()
    new.detach()
    waiting = f"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE {MINE} AND wait_event = 'SyncRep'"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answer = pool.submit(claim, client, provider, 1)
        until(lambda: answer.done() or old.sql(waiting) and False)
        consumer, status = answer.result()
    new.require(False)
    yield "a cancelled wait for the standby", status == 204 and is_there(client, consumer), status
    yield "the log warns of it", berths[0].log().count("somebody cancelled the wait for a synchronous standby; batch") == 1, None
    new.attach()


def switched_over(old, new, berth):
    """A planned switch: the primary shuts down while a commit waits for the standby, and the standby gets the commit then."""
    client = berth.client()
    provider = str(uuid.uuid4())
    client.make_provider(provider, name="host", VCPU=100)
    claim(client, provider, 1)  # takes ids for the next claims as well, which would wait, too
    new.require()
    receiver = new.sql("SELECT pid FROM pg_stat_wal_receiver")[0][0]
    os.kill(receiver, signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answer = pool.submit(claim, client, provider, 1)
        waits = until(lambda: old.sql(f"SELECT pid FROM pg_stat_activity WHERE {MINE} AND wait_event = 'SyncRep'"))
        old.send(signal.SIGINT)
        until(lambda: not waits or has_ended(waits[0][0]))
        os.kill(receiver, signal.SIGCONT)
        old.process.wait(30)
        new.promote()
        consumer, status = answer.result()
    yield "a commit waited while the primary was shut down", bool(waits), None
    yield "the claim is made on its successor", status == 204 and is_there(client, consumer), (status, berth.log()[-2000:])
    yield "no warning that it may be lost", "a failover may lose it" not in berth.log(), berth.log()[-2000:]


def writer_moves_first(old, new, berths, provider, lost):
    one = servers.Client(berths[0].port)
    shut(old)
    new.promote()
    # of the first berthd, the connection that has committed
    old.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {MINE} AND query = 'COMMIT'"
            " ORDER BY state_change DESC LIMIT 1")
    kept = claim_at_last(one, provider, 1)
    yield "a claim on the new primary", kept is not None, berths[0].log()[-2000:]
    yield "it is read", is_there(one, kept), used(one, provider)
    yield "it is on the new primary", used(one, provider) == new.sql("SELECT sum(used) FROM allocations")[0][0], None
    gone = [gone_consumers(lines) for lines in events(berths[0])]
    yield "what was lost is named, once", len(gone) == 1 and set(gone[0]) == set(lost), gone


def old_one_comes_back(old, new, berths, provider):
    clients = [servers.Client(berth.port) for berth in berths]
    old.stop("immediate")
    os.kill(berths[1].process.pid, signal.SIGCONT)
    shown = [until(lambda: client.ask("GET", f"/resource_providers/{provider}/usages")[0] == 200) and used(client, provider)
             for client in clients]
    yield "both agree", shown[0] == shown[1], shown
    yield "who had not read what was lost names nothing", not events(berths[1]), events(berths[1])
    open_again(old)
    old.launch()
    old.await_ready()
    before = log_head(old)
    new.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {MINE}")
    for number, client in enumerate(clients):
        consumer = claim_at_last(client, provider, 1)
        yield f"berthd {number} writes on the new primary", consumer is not None, berths[number].log()[-2000:]
        there = new.sql("SELECT 1 FROM consumers WHERE uuid = %s", consumer)
        yield f"berthd {number}: the claim is there", there and is_there(client, consumer), there
    yield "nothing was written to the old primary", log_head(old) == before, (log_head(old), before)
    yield "nothing more went back", [len(events(berth)) for berth in berths] == [1, 0], [len(events(berth)) for berth in berths]


def only_the_old_one(old, new, berths, provider):
    clients = [servers.Client(berth.port) for berth in berths]
    shown = used(clients[0], provider)
    before = log_head(old)
    new.stop("immediate")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        writes = pool.map(lambda client: claim(client, provider, 1)[1], clients)
        reads = pool.map(lambda berth: servers.Client(berth.port).ask("GET", f"/resource_providers/{provider}/usages")[0], berths)
        statuses = [*writes, *reads]
    yield "without the new primary, nothing is answered", set(statuses) == {503}, statuses
    told = [berth.log().count("is an old primary on timeline 1, and timeline 2 has been used since") for berth in berths]
    yield "the log says why", all(told), told
    yield "nothing was written to the old primary", log_head(old) == before, (log_head(old), before)
    new.launch()
    new.await_ready()
    yield "the new primary is used again", until(lambda: clients[0].ask(
        "GET", f"/resource_providers/{provider}/usages")[0] == 200) and used(clients[0], provider) == shown, None


def cases(old, new, berths):
    one, other = (servers.Client(berth.port) for berth in berths)
    provider = str(uuid.uuid4())
    one.must(200, "POST", "/resource_providers", {"name": "host", "uuid": provider})
    one.must(200, "PUT", f"/resource_providers/{provider}/inventories",
             {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 100}}})
    kept = claim(one, provider, 1)[0]
    yield "both berthd read", is_there(other, kept) and is_there(one, kept), None
    yield from wait_is_cancelled(old, new, berths, provider)
    new.await_caught_up()
    new.detach()
    os.kill(berths[1].process.pid, signal.SIGSTOP)  # or it would read what will be lost
    lost = [claim(one, provider, 2)[0] for _ in range(3)]
    yield "claims that will be lost", all(is_there(one, consumer) for consumer in lost), None
    yield from writer_moves_first(old, new, berths, provider, lost)
    yield from old_one_comes_back(old, new, berths, provider)
    yield from only_the_old_one(old, new, berths, provider)


def with_berths(program, count, stack):
    """(a primary, its standby, instances of berthd whose URL names both)"""
    old = stack.enter_context(Postgres())
    new = stack.enter_context(Standby(old))
    hosts = f"host=127.0.0.1:{old.port}&host=127.0.0.1:{new.port}&target_session_attrs=read-write"
    url = f"postgresql://{old.user}:{old.password}@/{old.database}?{hosts}"
    berths = []
    for _ in range(count):
        directory = tempfile.mkdtemp(prefix="berth-promoted-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        berths.append(stack.enter_context(servers.Berthd(program, directory, connection=url,
                                                         options=("[berth]", f"loss_directory = {directory}"))))
    return old, new, berths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        old, new, (berth,) = with_berths(arguments.berthd, 1, stack)
        for what, is_right, found in switched_over(old, new, berth):
            score.case(what, None if is_right else repr(found))
    with contextlib.ExitStack() as stack:
        for what, is_right, found in cases(*with_berths(arguments.berthd, 2, stack)):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
