#!/usr/bin/python3
"""From three Python services to three instances of berthd, and back, on one PostgreSQL database, behind HAProxy and without a pause.

    tests/databases/rolling.py --build build

One after the other is replaced, as on three controllers, while clients claim, release and read through HAProxy. No request may
fail, no capacity be exceeded, and what was acknowledged must be there. HAProxy checks each with GET /.
"""

import argparse
import collections
import contextlib
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from haproxy import HAProxy  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import wait_until  # noqa: E402

CONTROLLERS, CLIENTS, HOSTS, CAPACITY = 3, 3, 6, 40
STEP_S = 1  # for which each mixture is used
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


class Clients:
    """Each claims and releases its own consumers, and reads them again."""

    def __init__(self, port, hosts):
        self.port, self.hosts, self.is_over = port, hosts, threading.Event()
        self.statuses, self.wrong, self.held = collections.Counter(), [], {}
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
        status, answer = client.claim(consumer, **{host: {"VCPU": 1}})
        self.note("claim", status, (204, 409), answer)
        if status != 204:
            return
        self.held[consumer] = host
        status, answer = client.ask("GET", f"/resource_providers/{host}")
        self.note("read", status, (200,), answer)
        if draw.random() < 0.8:
            end = time.monotonic() + 60
            while status != 204 and time.monotonic() < end:
                status, answer = client.ask("DELETE", f"/allocations/{consumer}")
                self.note("release", status, (204, 404), answer)  # 404: berthd learns a second later what the other claimed
                time.sleep(0.05 if status == 404 else 0)
            if status == 204:
                del self.held[consumer]

    def note(self, what, status, fine, answer):
        self.statuses[what, status] += 1
        if status not in fine:
            self.wrong.append(f"{what}: {status} {answer}")

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join(90)


def run(build, score, stack):
    directory = tempfile.mkdtemp(prefix="berth-rolling-")
    stack.callback(shutil.rmtree, directory, ignore_errors=True)
    server = stack.enter_context(Postgres({"max_connections": 200}))
    python = [servers.PythonService(directory, name=f"p{number}", connection=server.url(), sync=number == 0)
              for number in range(CONTROLLERS)]
    berths = [servers.Berthd(os.path.join(build, "berthd"), directory, connection=server.url(), sync=False)
              for _ in range(CONTROLLERS)]
    for one in (*python, *berths):
        stack.callback(one.end)
    for one in python:
        one.start()
    hosts = [str(uuid.uuid4()) for _ in range(HOSTS)]
    for number, host in enumerate(hosts):
        python[0].client(timeout=60).make_provider(host, f"host{number}", VCPU=CAPACITY)
    proxy = stack.enter_context(Proxy([one.port for one in python], [one.port for one in berths]))
    for number in range(CONTROLLERS):
        proxy.put_in(f"python{number}")
    clients = Clients(proxy.port, hosts)
    stack.callback(clients.end)
    for kinds in ((("python", python), ("berth", berths)), (("berth", berths), ("python", python))):
        (old, olds), (new, news) = kinds
        for number in range(CONTROLLERS):
            time.sleep(STEP_S)
            if news[number].process is None or news[number].process.poll() is not None:
                news[number].start()
            proxy.put_in(f"{new}{number}")
            proxy.take_out(f"{old}{number}")
            olds[number].stop()
            score.case(f"{new} instead of {old} on controller {number + 1}", "; ".join(clients.wrong[:3]) or None)
        if new == "berth":
            time.sleep(STEP_S)
            found = server.sql("SELECT count(*) FROM berth_instances")[0][0]
            score.case("all instances have a row", None if found == CONTROLLERS else str(found))
    clients.end()
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
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        run(arguments.build, score, stack)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
