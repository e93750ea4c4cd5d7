#!/usr/bin/python3
"""From the Python service to berthd on all controllers, and back, on one database, behind HAProxy and without a pause.

    tests/databases/rolling.py --build build [--database postgres|mariadb|galera] [--sync] [--coexist] [--controllers N]

One after the other is replaced, as on three controllers, while clients claim, release and read through HAProxy. No request may
fail, no capacity be exceeded, and what was acknowledged must be there. HAProxy checks each with GET /. The three nodes of
Galera are behind another HAProxy, in the shape of kolla-ansible. Claims are repeated as nova repeats them; one that is refused
must be refused for want of capacity.

With --sync, berth's `placement-manage db sync` upgrades the schema while only the Python services serve, and `db stamp` sets it
back while only berthd serves. With --coexist, the triggers of `placement-manage db coexist` are there while both kinds of services
run, and no answer is older than an earlier one.

On MariaDB, a change of the schema may end transactions. berthd repeats its own. The Python service answers with 500, and these
requests are repeated: while triggers are made or removed beside it, and on Galera also during `db sync`, which fails nothing on a
single server. No other error is accepted, at no other time.
"""

import argparse
import collections
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from galera import PATIENT, Galera  # noqa: E402
from haproxy import Balancer, HAProxy  # noqa: E402
from mariadb import KOLLA, TRUST, server_class  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import wait_until  # noqa: E402
from python_over_capacity import ONE_ATTEMPT  # noqa: E402

CLIENTS, HOSTS, CAPACITY = 3, 6, 40
STEP_S = 1  # for which each mixture is used
# the errors of transactions that a change of the schema has ended, or kept from reading a table's triggers
ENDED = ("(1213, ", "(1412, ", "has an error in its body")
CLAIM_ATTEMPTS, PAUSE_S = 4, 2  # of nova's scheduler (retries() in report.py), and by how much its pauses grow
DEBIANS, NEWEST = "422ece571366", "a082b8bb98d0"
CONFIG = """
defaults
    mode http
    timeout connect 10s
    timeout client 60s
    timeout server 300s
    retries 3
    option redispatch
frontend placement
    bind 127.0.0.1:{port}
    default_backend controllers
backend controllers
    option httpchk GET /
    http-check expect status 200
    {python}
    {berth}
"""


class Proxy(HAProxy):
    """A server for each service of each controller; none gets requests until it is enabled."""

    def __init__(self, python_ports, berth_ports):
        lines = {kind: "\n    ".join(f"server {kind}{number} 127.0.0.1:{port} check inter 200ms rise 1 fall 2 disabled"
                                     for number, port in enumerate(ports))
                 for kind, ports in (("python", python_ports), ("berth", berth_ports))}
        port = servers.free_port()
        super().__init__(CONFIG.format(port=port, **lines), "controllers", port)

    def put_in(self, server):
        self.set_state(server, "ready")
        self.await_up(server)

    def take_out(self, server):
        self.set_state(server, "drain")
        wait_until(lambda: self.field(server, "scur") == "0", f"{server} still has requests", 60)
        self.set_state(server, "maint")


def databases(kind, stack):
    """(a server that is asked, the URL for the services)"""
    if kind == "postgres":
        server = stack.enter_context(Postgres({"max_connections": 200}))
        return server, server.url()
    # the rights of deployers' users are not enough for triggers beside a binary log
    options = {**KOLLA, **TRUST, "max_connections": 500}
    if kind == "mariadb":
        server = stack.enter_context(server_class()(options=options))
        return server, server.url()
    cluster = stack.enter_context(Galera(options=options, provider=PATIENT))
    balancer = stack.enter_context(Balancer(cluster.nodes, "kolla"))
    balancer.await_up(balancer.names[cluster.nodes[0]])
    return cluster.nodes[0], balancer.url()


HALF_DONE = "consumer generation conflict - expected 0 but got None"


class Clients:
    """Each claims and releases its own consumers, and reads them again. is_late: berthd may learn a second later what the Python
    service has written. may_be_ended: the schema is changed beside the Python service, on a database that then ends transactions."""

    def __init__(self, port, hosts, is_late):
        self.port, self.hosts, self.is_late, self.is_over = port, hosts, is_late, threading.Event()
        self.statuses, self.wrong, self.held = collections.Counter(), [], {}
        self.may_be_ended = False
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def work(self, number):
        draw, client = random.Random(number), servers.Client(self.port, timeout=60)
        while not self.is_over.is_set():
            consumer, host = str(uuid.uuid4()), draw.choice(self.hosts)
            try:
                self.live(client, consumer, host, draw)
            except Exception as failure:  # a connection that ends is a failed request, too
                self.wrong.append(repr(failure))

    def live(self, client, consumer, host, draw):
        if not self.claim(client, consumer, host, draw):
            return
        self.held[consumer] = host
        status, answer = client.ask("GET", f"/resource_providers/{host}")
        if not self.was_ended(status, answer):
            self.note("read", status, (200,), answer)
        if draw.random() < 0.8 and self.release(client, consumer):
            del self.held[consumer]

    def claim(self, client, consumer, host, draw):
        """Whether the consumer has got it. The Python service creates the consumer in a transaction of its own. If the one of the
        claim is ended, the consumer may stay, and the claim cannot be repeated for it."""
        conflicts, was_ended = 0, False
        while not self.is_over.is_set():
            status, answer = client.claim(consumer, **{host: {"VCPU": 1}})
            if self.was_ended(status, answer):
                was_ended = True
                continue
            if was_ended and is_conflict(status, answer) and HALF_DONE in answer["errors"][0]["detail"]:
                self.statuses["claim, left half done", status] += 1
                return False
            if is_conflict(status, answer) and conflicts < CLAIM_ATTEMPTS - 1:
                conflicts += 1
                self.statuses["claim, concurrent update", status] += 1
                time.sleep(draw.uniform(0, conflicts * PAUSE_S))
                continue
            if is_refusal(status, answer):
                self.statuses["claim, no capacity", status] += 1
            else:
                self.note("claim", status, (204,), answer)
            return status == 204
        return False

    def release(self, client, consumer):
        end, was_ended = time.monotonic() + 60, False
        while time.monotonic() < end:
            status, answer = client.ask("DELETE", f"/allocations/{consumer}")
            if self.was_ended(status, answer):  # the Python service may have deleted the allocations before, in another transaction
                was_ended = True
                continue
            self.note("release", status, (204, 404) if self.is_late or was_ended else (204,), answer)
            if status == 204 or (status == 404 and was_ended and not self.is_late):
                return True
            time.sleep(0.05 if status == 404 else 0)
        return False

    def was_ended(self, status, answer):
        """Whether the request is to be repeated, because the schema was changed."""
        ended = self.may_be_ended and status == 500 and any(error in str(answer) for error in ENDED)
        if ended:
            self.statuses["ended by a change of the schema", status] += 1
        return ended

    def note(self, what, status, fine, answer):
        self.statuses[what, status] += 1
        if status not in fine:
            self.wrong.append(f"{what}: {status} {answer}")

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join(90)


def is_conflict(status, answer):
    """Another claim of the same provider came between: nova's scheduler repeats it."""
    return status == 409 and answer["errors"][0]["code"] == "placement.concurrent_update"


def is_refusal(status, answer):
    return status == 409 and not is_conflict(status, answer) and "Unable to allocate inventory" in answer["errors"][0]["detail"]


class Tool:
    """berth's placement-manage, while clients use the services. Its methods return the reasons for a failure."""

    def __init__(self, build, url, clients, ask):
        self.build, self.url, self.clients, self.ask = build, url, clients, ask

    def run(self, *words, may_end):
        """may_end: the change of the schema may end transactions of the Python service."""
        wrong = len(self.clients.wrong)
        self.clients.may_be_ended = may_end
        done = subprocess.run([os.path.join(self.build, "placement-manage"), "db", *words], capture_output=True, text=True, timeout=120,
                              env={"OS_PLACEMENT_DATABASE__CONNECTION": self.url, "PATH": "/usr/bin:/bin", "HOME": "/"})
        time.sleep(STEP_S)  # those that have begun before are answered
        self.clients.may_be_ended = False
        if done.returncode != 0:
            return repr(done.stdout + done.stderr)
        return "; ".join(self.clients.wrong[wrong:][:3]) or None

    def change(self, *words, revision, may_end):
        """The revision is then this one."""
        problem = self.run(*words, may_end=may_end)
        found = self.ask("SELECT version_num FROM alembic_version")
        return problem or (None if [row[0] for row in found] == [revision] else f"{found}")


def run(build, score, stack, kind, syncs, coexists, controllers):
    directory = tempfile.mkdtemp(prefix="berth-rolling-")
    stack.callback(shutil.rmtree, directory, ignore_errors=True)
    server, url = databases(kind, stack)
    is_mariadb = kind != "postgres"
    options = ONE_ATTEMPT if is_mariadb else ()  # as docs/upgrade.md has it
    python = [servers.PythonService(directory, name=f"p{number}", connection=url, sync=number == 0, options=options)
              for number in range(controllers)]
    berths = [servers.Berthd(os.path.join(build, "berthd"), directory, connection=url, sync=False)
              for _ in range(controllers)]
    for one in (*python, *berths):
        stack.callback(one.end)
    for one in python:
        one.start()
    hosts = [str(uuid.uuid4()) for _ in range(HOSTS)]
    for number, host in enumerate(hosts):
        python[0].client(timeout=60).make_provider(host, f"host{number}", VCPU=CAPACITY)
    proxy = stack.enter_context(Proxy([one.port for one in python], [one.port for one in berths]))
    for number in range(controllers):
        proxy.put_in(f"python{number}")
    clients = Clients(proxy.port, hosts, is_late=not coexists)
    stack.callback(clients.end)
    tool = Tool(build, url, clients, server.sql)
    if syncs:
        time.sleep(STEP_S)
        score.case("db sync while the Python services serve", tool.change("sync", revision=NEWEST, may_end=kind == "galera"))
    for kinds in ((("python", python), ("berth", berths)), (("berth", berths), ("python", python))):
        (old, olds), (new, news) = kinds
        for number in range(controllers):
            time.sleep(STEP_S)
            if news[number].process is None or news[number].process.poll() is not None:
                news[number].start()
            if coexists and number == 0:  # berth's tables are there, and no request has reached two kinds of services
                score.case(f"db coexist is enabled before {new} serves",
                           tool.run("coexist", "enable", may_end=is_mariadb and new == "berth"))
            proxy.put_in(f"{new}{number}")
            proxy.take_out(f"{old}{number}")
            olds[number].stop()
            score.case(f"{new} instead of {old} on controller {number + 1}", "; ".join(clients.wrong[:3]) or None)
        if coexists:
            score.case(f"db coexist is disabled when only {new} serves",
                       tool.run("coexist", "disable", may_end=is_mariadb and new == "python"))
        if new == "berth":
            time.sleep(STEP_S)
            found = server.sql("SELECT count(*) FROM berth_instances")[0][0]
            score.case("all instances have a row", None if found == controllers else str(found))
        if syncs and new == "berth":
            score.case("db stamp while only berthd serves", tool.change("stamp", DEBIANS, revision=DEBIANS, may_end=False))
    clients.end()
    if clients.wrong:
        for number, berth in enumerate(berths):
            print(f"berthd on controller {number + 1}:\n{berth.log()[-3000:]}")
    check(score, clients, python[0].client(timeout=60), hosts)


def check(score, clients, client, hosts):
    print(f"       {sum(clients.statuses.values())} requests: {dict(clients.statuses)}")
    used = {host: client.must(200, "GET", f"/resource_providers/{host}/usages")["usages"].get("VCPU", 0) for host in hosts}
    score.case("no capacity is exceeded", None if max(used.values()) <= CAPACITY else str(used))
    missing = [consumer for consumer, host in clients.held.items()
               if host not in client.must(200, "GET", f"/allocations/{consumer}")["allocations"]]
    score.case("what was acknowledged is there", f"{len(missing)} of {len(clients.held)} are gone" if missing else None)
    score.case("nothing else is there", None if sum(used.values()) == len(clients.held) else f"{used}, {len(clients.held)}")
    claims = clients.statuses["claim", 204]
    score.case("claims were made", None if claims > 50 else f"only {claims}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", default="build")
    parser.add_argument("--database", choices=("postgres", "mariadb", "galera"), default="postgres")
    parser.add_argument("--sync", action="store_true")
    parser.add_argument("--coexist", action="store_true")
    parser.add_argument("--controllers", type=int, default=3)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        run(arguments.build, score, stack, arguments.database, arguments.sync, arguments.coexist, arguments.controllers)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
