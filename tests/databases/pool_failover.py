#!/usr/bin/python3
"""A failover behind PgBouncer: berthd stays connected to the pooler, and the server behind it is another one.

    tests/databases/pool_failover.py --build build

The standby that is promoted lacks the last commit of another program, of which berth's log says nothing. berthd must notice
the new server with its next request, show what that one has, and see what is written to it. When the pooler leads back to the
old primary, which still accepts writes, berthd must not use it.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from pgbouncer import PgBouncer  # noqa: E402
from postgres import Postgres  # noqa: E402
from promoted import claim_at_last, log_head, until  # noqa: E402
from standby import Standby  # noqa: E402
from went_back import claim, events  # noqa: E402

LOCK = 7090199032651317250  # of the next batch: PG_LOCK_BATCHES in locks.h
TRANSACTIONS = 50  # of the other program, that are lost: so many ids of transactions are given out again


def total(client, provider):
    """The provider's inventory of VCPU; None if it cannot be read."""
    status, answer = client.ask("GET", f"/resource_providers/{provider}/inventories")
    return answer["inventories"]["VCPU"]["total"] if status == 200 else None


def set_total(server, value):
    server.sql("UPDATE inventories SET total = %s", value)


def cases(old, new, pool, berths, provider):
    clients = [berth.client() for berth in berths]
    yield "what the other program wrote is read", [total(one, provider) for one in clients] == [100, 100], None
    with contextlib.closing(old.connect()) as holder, holder.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", (LOCK,))  # berthd would move the notes into its log, and name that loss
        new.await_caught_up()
        new.detach()
        for number in range(TRANSACTIONS):
            set_total(old, 200 + number)
        yield from lost_by_a_failover(new, pool, clients, provider)
    set_total(new, 33)
    found = [total(one, provider) for one in clients]
    yield "what is written to the new primary is read at once", found == [33, 33], found
    consumer = claim_at_last(clients[0], provider, 1)
    there = new.sql("SELECT 1 FROM consumers WHERE uuid = %s", consumer)
    yield "a claim is made there", bool(there), there
    found = {(line.get("kind"), line["state"]) for berth in berths for event in events(berth) for line in event if "state" in line}
    yield "berth itself has lost nothing", found <= {("resource_provider", "changed")}, found
    yield from back_to_the_old_one(old, new, pool, berths, provider)


def lost_by_a_failover(new, pool, clients, provider):
    found = [total(one, provider) for one in clients]
    yield "so is what will be lost", found == [199 + TRANSACTIONS] * 2, found
    new.promote()
    pool.point_at(new)
    found = [until(lambda: total(one, provider)) for one in clients]
    yield "what is lost is not shown", found == [100, 100], found


def back_to_the_old_one(old, new, pool, berths, provider):
    clients = [berth.client() for berth in berths]
    before = log_head(old)
    pool.point_at(old)
    answers = [claim(one, provider, 1)[1] for one in clients] + [total(one, provider) for one in clients]
    yield "nothing is answered from an old primary", answers == [503, 503, None, None], answers
    told = [berth.log().count("is an old primary on timeline 1, and timeline 2 has been used since") for berth in berths]
    yield "the log says why", all(told), [berth.log()[-2000:] for berth in berths]
    yield "nothing was written to it", log_head(old) == before, (log_head(old), before)
    pool.point_at(new)
    found = [until(lambda: total(one, provider)) for one in clients]
    yield "the new primary is used again", found == [33, 33] and claim_at_last(clients[1], provider, 1), found


def enable_coexist(build, berth):
    subprocess.run([os.path.join(build, "placement-manage"), "--config-file", berth.config_file, "db", "coexist", "enable"],
                   check=True, capture_output=True, timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        old = stack.enter_context(Postgres())
        new = stack.enter_context(Standby(old))
        pool = stack.enter_context(PgBouncer(old))
        berths = []
        for _ in range(2):
            directory = tempfile.mkdtemp(prefix="berth-pool-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            berths.append(stack.enter_context(servers.Berthd(os.path.join(arguments.build, "berthd"), directory,
                                                             connection=pool.url(),
                                                             options=("[berth]", f"loss_directory = {directory}"))))
        provider = str(uuid.uuid4())
        berths[0].client().make_provider(provider, name="host", VCPU=100)
        enable_coexist(arguments.build, berths[0])
        for what, is_right, found in cases(old, new, pool, berths, provider):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
