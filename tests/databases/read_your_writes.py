#!/usr/bin/python3
"""Reads on one instance of what another has just acknowledged: never stale.

    tests/databases/with_postgres.py tests/databases/read_your_writes.py --berthd build/berthd [--attempts N] [--instances N]
                                     [--clients N]
    tests/databases/with_mariadb.py --galera tests/databases/read_your_writes.py …       each instance has a node of its own
    tests/databases/with_mariadb.py --galera --haproxy tests/databases/read_your_writes.py --switch SECONDS …

With --switch, the instances reach the nodes through HAProxy, which leads to another node every so many seconds. All old sessions
are ended, or every other time, each second one: then sessions are on two nodes.

Clients change a consumer's claim on one instance and read it on the others as soon as the change is answered; each of these
reads is an attempt. Each client is a process, with connections and consumers of its own.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import socket
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from haproxy import Control  # noqa: E402

CONSUMERS, TOTAL, AMOUNT_MOST = 20, 1_000_000, 1000
SHOWN_MOST = 3
NODES = "node1", "node2", "node3"
TIMEOUT_S = 120
SWITCHES_WITHIN_S = 60


class Connection:
    """Kept alive, and with little overhead, so that many attempts fit in a second."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method, path, body=b""):
        """(status, body)"""
        self.socket.sendall(b"%s %s HTTP/1.1\r\nHost: berth\r\nX-Auth-Token: admin\r\nOpenStack-API-Version: placement 1.39\r\n"
                            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (method, path, len(body), body))
        head, _, rest = self._read_until_head_ends().partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
        while len(rest) < length:
            rest += self._receive()
        return int(head[9:12]), rest

    def _receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the connection has ended")
        return data

    def _read_until_head_ends(self):
        data = self._receive()
        while b"\r\n\r\n" not in data:
            data += self._receive()
        return data


class Client:
    def __init__(self, ports, provider, attempts, seed):
        self.connections = [Connection(port) for port in ports]
        self.provider, self.attempts = provider, attempts
        self.draw = random.Random(seed)
        self.consumers = {str(uuid.uuid4()): (None, 0) for _ in range(CONSUMERS)}  # generation, amount
        self.made, self.stale, self.wrong = 0, [], []

    def run(self):
        names = list(self.consumers)
        while self.made < self.attempts:
            writer, *readers = self.draw.sample(self.connections, len(self.connections))
            consumer = self.draw.choice(names)
            amount = self.consumers[consumer][1] % AMOUNT_MOST + 1
            if self.write(writer, consumer, amount):
                for reader in readers:
                    self.read(reader, consumer, amount)
        return self.made, self.stale, self.wrong

    def write(self, writer, consumer, amount):
        """Whether it was acknowledged."""
        generation, _ = self.consumers[consumer]
        body = json.dumps({"allocations": {self.provider: {"resources": {"VCPU": amount}}}, "project_id": "p", "user_id": "u",
                           "consumer_generation": generation, "consumer_type": "INSTANCE"}).encode()
        status, answer = writer.ask(b"PUT", b"/allocations/" + consumer.encode(), body)
        if status != 204:
            self.made += 1
            self.wrong.append(f"a write is answered {status} {answer[:300]}")
        return status == 204

    def read(self, reader, consumer, amount):
        status, answer = reader.ask(b"GET", b"/allocations/" + consumer.encode())
        self.made += 1
        found = json.loads(answer) if status == 200 else {}
        resources = found.get("allocations", {}).get(self.provider, {}).get("resources")
        if status != 200:
            self.wrong.append(f"a read is answered {status} {answer[:300]}")
        elif resources != {"VCPU": amount}:
            self.stale.append(f"{resources}, not {amount}")
        else:
            self.consumers[consumer] = found["consumer_generation"], amount


def run_client(arguments):
    return Client(*arguments).run()


def race(ports, attempts, clients):
    """(attempts, stale reads, other faults) of all clients."""
    first = servers.Client(ports[0])
    providers = [str(uuid.uuid4()) for _ in range(clients)]
    for provider in providers:
        first.make_provider(provider, VCPU=TOTAL)
    work = [(ports, provider, -(-attempts // clients), number) for number, provider in enumerate(providers)]
    with multiprocessing.Pool(clients) as pool:
        results = pool.map(run_client, work, chunksize=1)
    made, stale, wrong = zip(*results)
    return sum(made), sum(stale, []), sum(wrong, [])


class Switching(threading.Thread):
    """HAProxy leads new sessions to one node after the other."""

    def __init__(self, pause):
        super().__init__()
        self.pause, self.times, self.is_over = pause, 0, threading.Event()

    def run(self):
        control = Control(os.environ["BERTH_TEST_HAPROXY_CONTROL"], "mariadb_back")
        while not self.is_over.wait(self.pause):
            old, self.times = NODES[self.times % len(NODES)], self.times + 1
            new = NODES[self.times % len(NODES)]
            control.use_only(new, [node for node in NODES if node != new])
            if self.times % 2:
                control.end_some_sessions_of(old)
            else:
                control.end_sessions_of(old)

    def __enter__(self):
        if self.pause:
            self.start()
        return self

    def __exit__(self, *exception):
        self.is_over.set()
        if self.pause:
            self.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--attempts", type=int, default=10000)
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--switch", type=float, metavar="SECONDS")
    arguments = parser.parse_args()
    score = servers.Score()
    urls = servers.new_databases(arguments.instances, pooled=arguments.switch is not None)
    with contextlib.ExitStack() as stack:
        berths = []
        for url in urls:
            directory = tempfile.mkdtemp(prefix="berth-reads-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            berths.append(stack.enter_context(servers.Berthd(arguments.berthd, directory, connection=url)))
        began = time.monotonic()
        with Switching(arguments.switch) as switching:
            attempts, stale, wrong = race([berth.port for berth in berths], arguments.attempts, arguments.clients)
            while switching.times < len(NODES) and arguments.switch is not None and time.monotonic() < began + SWITCHES_WITHIN_S:
                more = race([berth.port for berth in berths], arguments.attempts, arguments.clients)
                attempts, stale, wrong = attempts + more[0], stale + more[1], wrong + more[2]
        seconds = time.monotonic() - began
        score.case("no read is stale", f"{len(stale)} of {attempts}: {stale[:SHOWN_MOST]}" if stale else None)
        score.case("every request succeeds", f"{len(wrong)} of {attempts}: {wrong[:SHOWN_MOST]}" if wrong else None)
        if arguments.switch is not None:
            score.case("HAProxy has led to each node", None if switching.times >= len(NODES) else f"{switching.times} changes")
        print(f"{attempts} attempts, {attempts / seconds:.0f}/s, on {arguments.instances} instances by {arguments.clients} clients")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
