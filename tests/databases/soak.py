#!/usr/bin/python3
"""Instances of berthd on one PostgreSQL database while everything fails: kill -9, stopped processes, restarts of the server,
connections that are cut, delayed and swallowed, beside an old snapshot that stays open.

    tests/databases/soak.py --berthd build/berthd [--seconds S] [--seed N] [--faults NAME,…]

Clients claim and release capacity at random instances, and read at others what was acknowledged. At the end, without faults:
every acknowledged claim is there and every acknowledged release is not, no capacity is or was exceeded, and all instances
answer what the tables contain.
"""

import argparse
import collections
import contextlib
import http.client
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from faulty_proxy import FaultyProxy  # noqa: E402
from postgres import Postgres  # noqa: E402

INSTANCES, PROVIDERS, CAPACITY, CLIENTS = 3, 30, 40, 8
UNKNOWN = None  # a write without an answer, or with 503


class Instance:
    """berthd behind a proxy of its own; `lock` is held while it is killed and started."""

    def __init__(self, number, server, program):
        self.number = number
        self.directory = tempfile.mkdtemp(prefix="berth-soak-")
        self.proxy = FaultyProxy(server.port)
        self.proxy.__enter__()
        self.program, self.server = program, server
        self.berth = self.make()
        self.lock = threading.Lock()

    def make(self):
        return servers.Berthd(self.program, self.directory, connection=self.server.url(port=self.proxy.port))

    @property
    def port(self):
        return self.berth.port

    def kill_and_start(self):
        with self.lock:
            self.berth.kill()
            self.start()

    def start(self, seconds=60):
        """The server may be down: as its service manager would, tries again."""
        end = time.monotonic() + seconds
        while True:
            try:
                self.berth.start()
                return
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def freeze(self, seconds):
        with self.lock:
            os.kill(self.berth.process.pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(self.berth.process.pid, signal.SIGCONT)

    def end(self):
        self.berth.kill()
        self.proxy.__exit__(None, None, None)
        shutil.rmtree(self.directory, ignore_errors=True)


class Cloud:
    """What clients were told."""

    def __init__(self, instances, seed):
        self.instances = instances
        self.draw = random.Random(seed)
        self.providers = [str(uuid.uuid4()) for _ in range(PROVIDERS)]
        self.lock = threading.Lock()
        self.claims = {}  # consumer: (provider, amount) acknowledged
        self.doubtful = {}  # consumer: the states that are possible: a set of (provider, amount) and None
        self.counts = collections.Counter()
        self.wrong = []
        self.is_over = False

    def fill(self):
        client = servers.Client(self.instances[0].port)
        for number, provider in enumerate(self.providers):
            client.must(200, "POST", "/resource_providers", {"name": f"host{number}", "uuid": provider})
            client.must(200, "PUT", f"/resource_providers/{provider}/inventories",
                        {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": CAPACITY}}})

    def ask(self, instance, method, path, body=None):
        try:
            return servers.Client(instance.port, timeout=90).ask(method, path, body)
        except (OSError, http.client.HTTPException):
            return UNKNOWN, None

    def claim(self, draw):
        consumer, provider, amount = str(uuid.uuid4()), draw.choice(self.providers), draw.randint(1, 4)
        status, answer = self.ask(draw.choice(self.instances), "PUT", f"/allocations/{consumer}", {
            "allocations": {provider: {"resources": {"VCPU": amount}}}, "project_id": "p", "user_id": "u",
            "consumer_generation": None, "consumer_type": "INSTANCE"})
        with self.lock:
            self.counts[f"claim {status}"] += 1
            if status == 204:
                self.claims[consumer] = (provider, amount)
            elif status in (UNKNOWN, 503):
                self.doubtful[consumer] = {(provider, amount), None}
            elif status != 409:
                self.wrong.append(f"a claim is answered {status}: {answer}")
        if status == 204:
            self.check_read(draw, consumer, provider, amount)

    def check_read(self, draw, consumer, provider, amount):
        status, answer = self.ask(draw.choice(self.instances), "GET", f"/allocations/{consumer}")
        with self.lock:
            self.counts[f"read {status}"] += 1
            is_held = consumer in self.claims  # no other client has begun to release it
            if is_held and status == 200 and answer["allocations"].get(provider, {}).get("resources") != {"VCPU": amount}:
                self.wrong.append(f"a stale read: {answer}")

    def release(self, draw):
        with self.lock:
            if not self.claims:
                return
            consumer = draw.choice(list(self.claims))
            held = self.claims.pop(consumer)
        status, answer = self.ask(draw.choice(self.instances), "DELETE", f"/allocations/{consumer}")
        with self.lock:
            self.counts[f"release {status}"] += 1
            if status in (UNKNOWN, 503):
                self.doubtful[consumer] = {held, None}
            elif status == 409:
                self.claims[consumer] = held
            elif status != 204:
                self.wrong.append(f"the release of an acknowledged claim is answered {status}: {answer}")

    def client(self, seed):
        draw = random.Random(seed)
        while not self.is_over:
            if draw.random() < 0.55:
                self.claim(draw)
            else:
                self.release(draw)


def allocations(client, provider):
    return client.must(200, "GET", f"/resource_providers/{provider}/allocations")["allocations"]


def findings(cloud, server):
    """[(what, None or what is wrong)]"""
    held = {}
    for provider in cloud.providers:
        for consumer, entry in allocations(servers.Client(cloud.instances[0].port), provider).items():
            held[consumer] = (provider, entry["resources"]["VCPU"])
    lost = [consumer for consumer, claim in cloud.claims.items() if held.get(consumer) != claim]
    yield "nothing that was acknowledged is lost", f"{len(lost)} of {len(cloud.claims)}" if lost else None
    kept = [consumer for consumer in held if consumer not in cloud.claims and consumer not in cloud.doubtful]
    yield "nothing that was released or refused is there", f"{len(kept)}" if kept else None
    halves = [consumer for consumer, states in cloud.doubtful.items() if held.get(consumer) not in states]
    yield "what was not answered is done or not done", f"{halves[:3]}" if halves else None
    used = collections.Counter()
    for provider, amount in held.values():
        used[provider] += amount
    yield "no capacity is exceeded", None if max(used.values(), default=0) <= CAPACITY else str(used)
    table = {row[0]: (row[1], row[2]) for row in server.sql(
        "SELECT a.consumer_id, p.uuid, a.used FROM allocations a JOIN resource_providers p ON p.id = a.resource_provider_id")}
    yield "the tables have the same", None if table == held else f"{len(table)} and {len(held)} claims"
    for instance in cloud.instances[1:]:
        client = servers.Client(instance.port)
        other = {consumer: (provider, entry["resources"]["VCPU"]) for provider in cloud.providers
                 for consumer, entry in allocations(client, provider).items()}
        yield f"instance {instance.number} answers the same", None if other == held else "other claims"
    chain = server.sql("SELECT count(*), max(number) - min(number) + 1 FROM berth_log")[0]
    yield "the log has no gaps", None if chain[0] == chain[1] else str(chain)
    yield "no answer was wrong", None if not cloud.wrong else f"{len(cloud.wrong)}: {cloud.wrong[:3]}"
    yield "enough happened", None if cloud.counts["claim 204"] > 200 and cloud.counts["read 200"] > 100 else str(cloud.counts)


class Faults:
    """One after the other, for as long as the clients work."""

    def __init__(self, cloud, server, draw):
        self.cloud, self.server, self.draw = cloud, server, draw
        self.counts = collections.Counter()

    def kill(self):
        self.draw.choice(self.cloud.instances).kill_and_start()

    def freeze(self):
        self.draw.choice(self.cloud.instances).freeze(self.draw.choice([0.3, 1, 6]))

    def restart(self):
        self.server.restart(self.draw.choice(["fast", "immediate"]))

    def cut(self):
        self.draw.choice(self.cloud.instances).proxy.cut_all(self.draw.random() < 0.5)

    def cut_commit(self):
        proxy = self.draw.choice(self.cloud.instances).proxy
        proxy.cut(sender=self.draw.choice(["client", "server"]), text="COMMIT", when=self.draw.choice(["before", "after"]))
        time.sleep(0.3)
        proxy.recover()

    def swallow(self):
        proxy = self.draw.choice(self.cloud.instances).proxy
        proxy.swallow_all()
        time.sleep(self.draw.uniform(0.1, 2))
        proxy.recover()

    def delay(self):
        proxy = self.draw.choice(self.cloud.instances).proxy
        proxy.delay_all(self.draw.uniform(0.001, 0.05))
        time.sleep(self.draw.uniform(0.5, 1.5))
        proxy.recover()

    NAMES = ("kill", "freeze", "restart", "cut", "cut_commit", "swallow", "delay")

    def run(self, names, end):
        while time.monotonic() < end:
            time.sleep(self.draw.uniform(0.2, 1.5))
            name = self.draw.choice(names)
            getattr(self, name)()
            self.counts[name] += 1


def hold_snapshot(server):
    """An old snapshot, as a backup holds it; a restart of the server ends it."""
    connection = server.connect()
    connection.autocommit = False
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT count(*) FROM berth_log")
    return connection


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", default=",".join(Faults.NAMES), help="of " + ", ".join(Faults.NAMES))
    arguments = parser.parse_args()
    passed = failed = 0
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres())
        instances = []
        for number in range(INSTANCES):
            instances.append(Instance(number, server, arguments.berthd))
            stack.callback(instances[-1].end)
            instances[-1].start()
        cloud = Cloud(instances, arguments.seed)
        cloud.fill()
        snapshot = hold_snapshot(server)
        threads = [threading.Thread(target=cloud.client, args=(arguments.seed * 1000 + number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        faults = Faults(cloud, server, random.Random(arguments.seed))
        faults.run(arguments.faults.split(","), time.monotonic() + arguments.seconds)
        cloud.is_over = True
        for thread in threads:
            thread.join(120)
        with contextlib.suppress(Exception):
            snapshot.close()
        time.sleep(1)
        ended = [instance for instance in instances if instance.berth.process.poll() is not None]
        for instance in ended:
            print(f"FAILED instance {instance.number} has ended: {instance.berth.process.returncode} {instance.berth.log()[-3000:]}")
            failed += 1
        for what, wrong in findings(cloud, server) if not ended else []:
            print(f"ok     {what}" if wrong is None else f"FAILED {what}: {wrong}")
            passed += wrong is None
            failed += wrong is not None
        print(f"{dict(cloud.counts)}; {dict(faults.counts)}")
        if failed:
            for instance in instances:
                lines = [line for line in instance.berth.log().splitlines() if "requestlog" not in line and "Over capacity" not in line]
                print("\n".join(lines[-15:]))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
