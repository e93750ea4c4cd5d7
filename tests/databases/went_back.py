#!/usr/bin/python3
"""A database that went back, as after a restored backup or a failover that lost commits.

    tests/databases/went_back.py --berthd build/berthd

berthd must notice it at the next read or write, answer what the database has, say so in its log, and go on writing on top of
that; another instance answers the same, and numbers of the log that were used before are no obstacle.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from postgres import Postgres  # noqa: E402

CAPACITY = 10


def claim(client, provider, amount):
    consumer = str(uuid.uuid4())
    body = {"allocations": {provider: {"resources": {"VCPU": amount}}}, "project_id": "p", "user_id": "u",
            "consumer_generation": None, "consumer_type": "INSTANCE"}
    return consumer, client.ask("PUT", f"/allocations/{consumer}", body)[0]


def go_back(server, state):
    """The tables as they were when the log ended with that number: nothing was claimed yet."""
    number, generation = state
    server.sql(f"""BEGIN; DELETE FROM berth_log WHERE number > {number}; DELETE FROM allocations; DELETE FROM consumers;
                   UPDATE resource_providers SET generation = {generation}; COMMIT""")


def used(client, provider):
    return client.must(200, "GET", f"/resource_providers/{provider}/usages")["usages"].get("VCPU", 0)


def cases(server, berths):
    one, other = (servers.Client(berth.port) for berth in berths)
    provider = str(uuid.uuid4())
    one.must(200, "POST", "/resource_providers", {"name": "host", "uuid": provider})
    one.must(200, "PUT", f"/resource_providers/{provider}/inventories",
             {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": CAPACITY}}})
    state = server.sql("SELECT max(l.number), max(p.generation) FROM berth_log l, resource_providers p")[0]
    for first, what in ((lambda: used(one, provider), "a read"), (lambda: claim(one, provider, 1)[1], "a write")):
        before = [claim(one, provider, 3)[0] for _ in range(3)]
        yield f"{what}: the claims were made", used(other, provider) == 9, used(other, provider)
        go_back(server, state)
        # as many batches of another instance as were lost: their numbers are those of the lost ones
        for _ in range(3):
            claim(other, provider, 2)
        first()
        held = server.sql("SELECT coalesce(sum(used), 0) FROM allocations")[0][0]
        yield f"{what}: what it answers is in the database", used(one, provider) == held, (used(one, provider), held)
        yield f"{what}: the other instance agrees", used(other, provider) == held, (used(other, provider), held)
        there = [consumer for consumer in before if one.must(200, "GET", f"/allocations/{consumer}")["allocations"]]
        yield f"{what}: what is gone is not shown", not there, there
        while claim(one, provider, 1)[1] == 204:
            pass
        held = server.sql("SELECT coalesce(sum(used), 0) FROM allocations")[0][0]
        yield f"{what}: capacity is used, and not exceeded", held == CAPACITY, held
        go_back(server, state)
        yield f"{what}: once more", used(one, provider) == used(other, provider) == 0, (used(one, provider), used(other, provider))
    told = [berth.log().count("went back") for berth in berths]
    yield "the log says so", all(told), told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    passed = failed = 0
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres())
        berths = []
        for _ in range(2):
            directory = tempfile.mkdtemp(prefix="berth-back-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            berths.append(stack.enter_context(servers.Berthd(arguments.berthd, directory, connection=server.url())))
        for what, is_right, found in cases(server, berths):
            print(f"ok     {what}" if is_right else f"FAILED {what}: {found}")
            passed += bool(is_right)
            failed += not is_right
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
