#!/usr/bin/python3
"""Several instances of berthd on one database, each claiming the same capacity at the same time.

    tests/databases/with_postgres.py tests/databases/instances.py --berthd build/berthd [--instances N] [--seconds S]
    tests/databases/with_postgres.py --pgbouncer tests/databases/instances.py --pooled …
    tests/databases/with_mariadb.py --galera tests/databases/instances.py …         each has a node of its own
    tests/databases/with_mariadb.py --galera --haproxy tests/databases/instances.py --pooled …

Every instance has the same clients. No capacity may be exceeded, what one instance has acknowledged must be seen by the next
read on another, no claim may fail for another reason than capacity, and each instance gets its share.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]

import servers  # noqa: E402

PROVIDERS, CAPACITY, CLIENTS = 20, 150, 8
LEAST_SHARE = 1 / 3  # of an equal part


class Race:
    def __init__(self, berths, seconds):
        self.berths = berths
        self.end = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.texts = []
        self.accepted = [0] * len(berths)
        self.reads = 0
        self.stale = []
        self.providers = [str(uuid.uuid4()) for _ in range(PROVIDERS)]

    def fill(self):
        client = servers.Client(self.berths[0].port)
        for provider in self.providers:
            client.ask("POST", "/resource_providers", {"name": provider, "uuid": provider})
            inventories = {"VCPU": {"total": CAPACITY}, "MEMORY_MB": {"total": 1000000}, "DISK_GB": {"total": 1000000}}
            status, answer = client.ask("PUT", f"/resource_providers/{provider}/inventories",
                                        {"resource_provider_generation": 0, "inventories": inventories})
            assert status == 200, answer

    def claim(self, index, seed):
        draw = random.Random(seed)
        mine = servers.Client(self.berths[index].port)
        other = servers.Client(self.berths[(index + 1) % len(self.berths)].port)
        while time.monotonic() < self.end:
            consumer, provider = str(uuid.uuid4()), draw.choice(self.providers)
            status, answer = mine.ask("PUT", f"/allocations/{consumer}", {
                "allocations": {provider: {"resources": {"VCPU": 1, "MEMORY_MB": 4, "DISK_GB": 1}}}, "project_id": "p",
                "user_id": "u", "consumer_generation": None, "consumer_type": "INSTANCE"})
            shown = other.ask("GET", f"/allocations/{consumer}")[1]["allocations"] if status == 204 else None
            with self.lock:
                self.statuses[status] += 1
                self.accepted[index] += status == 204
                self.reads += status == 204
                if status != 204 and not (status == 409 and "exceed" in str(answer)):
                    self.texts.append(f"{status} {answer}")
                if shown is not None and provider not in shown:
                    self.stale.append(consumer)

    def run(self):
        threads = [threading.Thread(target=self.claim, args=(index, index * CLIENTS + client))
                   for index in range(len(self.berths)) for client in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def used(self, berth):
        client = servers.Client(berth.port)
        return {provider: client.ask("GET", f"/resource_providers/{provider}/usages")[1]["usages"]["VCPU"]
                for provider in self.providers}


def findings(race, least_share):
    """[(what, None or what is wrong)]"""
    used = [race.used(berth) for berth in race.berths]
    total = sum(race.accepted)
    least = min(race.accepted)
    yield "claims were made", None if total > 100 else f"only {total}"
    yield "no claim fails for another reason", f"{len(race.texts)}: {race.texts[:3]}" if race.texts else None
    yield "no capacity is exceeded", None if max(used[0].values()) <= CAPACITY else str(used[0])
    yield "what was acknowledged is there", None if sum(used[0].values()) == total else f"{sum(used[0].values())} of {total}"
    yield "all instances answer the same", None if all(one == used[0] for one in used) else str(used)
    yield "no read is stale", None if not race.stale else f"{len(race.stale)} of {race.reads}"
    yield ("each instance gets its share",
           None if least >= least_share * total / len(race.berths) else f"{race.accepted}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--least-share", type=float, default=LEAST_SHARE, metavar="PART",
                        help="of an equal part of the claims; no lock lets the writers on several nodes take turns")
    parser.add_argument("--pooled", action="store_true", help="through PgBouncer in transaction mode, or HAProxy")
    arguments = parser.parse_args()
    directories = [tempfile.mkdtemp(prefix="berth-instances-") for _ in range(arguments.instances)]
    passed = failed = 0
    urls = servers.new_databases(arguments.instances, arguments.pooled)
    with contextlib.ExitStack() as stack:
        for directory in directories:
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
        berths = [stack.enter_context(servers.Berthd(arguments.berthd, directory, connection=url))
                  for directory, url in zip(directories, urls)]
        race = Race(berths, arguments.seconds)
        race.fill()
        race.end = time.monotonic() + arguments.seconds
        race.run()
        for what, wrong in findings(race, arguments.least_share):
            print(f"ok     {what}" if wrong is None else f"FAILED {what}: {wrong}")
            passed += wrong is None
            failed += wrong is not None
    print(f"{dict(race.statuses)}; accepted by each instance: {race.accepted}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
