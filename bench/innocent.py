#!/usr/bin/python3
"""The effect of bad clients on innocent ones: the time of a small GET, on kept and on new connections, beside one
kind of bad client at a time.

    bench/innocent.py [--berthd build/berthd] [--hosts 40000] [--seconds 5] [KIND…]

Prints one line for each kind: how many requests were answered and how many failed, p50, p99 and the longest time, and
the memory of the server."""

import argparse
import http.client
import multiprocessing
import os
import resource
import socket
import sqlite3
import sys
import threading
import time
import uuid

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "tests", "hostile"))

from server import Server  # noqa: E402
from wire import head  # noqa: E402

IP_BIND_ADDRESS_NO_PORT = 24  # Linux; this Python has no name for it
INNOCENTS = 4
PAUSE_S = 0.002
NOW = "2026-01-01 00:00:00.000000"


class Innocents:
    """Half of them keep their connection."""

    def __init__(self, server):
        self.server, self.times, self.failed, self.ended = server, [], 0, False
        self.threads = [threading.Thread(target=self.ask, args=(i % 2 == 0,)) for i in range(INNOCENTS)]
        for thread in self.threads:
            thread.start()

    def ask(self, keeps):
        connection = None
        while not self.ended:
            start = time.perf_counter()
            try:
                if connection is None:
                    connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
                    connection.sock = connected(self.server, "127.0.0.9", 10)
                connection.request("GET", "/resource_providers?name=home", headers={"X-Auth-Token": "admin"})
                connection.getresponse().read()
                self.times.append(time.perf_counter() - start)
            except (OSError, http.client.HTTPException):
                self.failed += 1
                connection = None
            if connection and not keeps:
                connection.close()
                connection = None
            time.sleep(PAUSE_S)

    def watch(self, seconds):
        """Returns what they measured in that time."""
        self.times, self.failed = [], 0
        time.sleep(seconds)
        times = sorted(self.times) or [0]
        return {"answered": len(self.times), "failed": self.failed, "p50_ms": times[len(times) // 2] * 1000,
                "p99_ms": times[len(times) * 99 // 100] * 1000, "longest_ms": times[-1] * 1000,
                "rss_mib": self.server.rss_mib()}

    def end(self):
        self.ended = True
        for thread in self.threads:
            thread.join()


def fill(server, hosts):
    database = sqlite3.connect(server.directory + "/berth.db", timeout=30)
    database.executemany(
        "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, created_at, updated_at) "
        "VALUES (?, ?, ?, 0, ?, ?, ?)",
        [(100 + i, str(uuid.uuid5(uuid.NAMESPACE_DNS, str(i))), f"host{i}", 100 + i, NOW, NOW) for i in range(hosts)])
    database.commit()
    database.close()


def connected(server, source, timeout_s):
    """The port is chosen for each server, because ports of connections to earlier servers would soon be exhausted."""
    sock = socket.socket()
    sock.settimeout(timeout_s)
    sock.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.bind((source, 0))
    sock.connect(("127.0.0.1", server.port))
    return sock


def connect(server, number=0):
    return connected(server, f"127.0.0.{10 + number % 3}", 5)


def unread(server):
    """100 lists whose answers are never read."""
    socks = [connect(server) for _ in range(100)]
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(head("GET", "/resource_providers"))
    return socks


def unfinished(server):
    """4 300 requests from three addresses that are never completed."""
    socks = []
    for i in range(4300):
        try:
            sock = connect(server, i)
            sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-A: ")
            socks.append(sock)
        except OSError:
            pass
    return socks


class Repeater(multiprocessing.Process):
    """A separate process, so that it takes no time from the innocent clients' interpreter."""

    def __init__(self, server, act):
        super().__init__(target=self.repeat, args=(server, act), daemon=True)
        self.start()

    @staticmethod
    def repeat(server, act):
        while True:
            try:
                with connect(server) as sock:
                    act(sock)
            except OSError:
                pass

    def close(self):
        self.kill()
        self.join()


def repeat(act, count):
    return lambda server: [Repeater(server, act) for _ in range(count)]


def malformed(sock):
    sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\rContent-Length: 9\r\n\r\n")
    sock.recv(65536)


def leave(sock):
    sock.sendall(b"POST /resource_providers HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n{")
    sock.shutdown(socket.SHUT_WR)


def read_lists(sock):
    sock.sendall(head("GET", "/resource_providers", "Connection: close"))
    while sock.recv(1 << 20):
        pass


KINDS = [("nobody", lambda server: []), ("malformed", repeat(malformed, 2)), ("half, then gone", repeat(leave, 2)),
         ("unfinished", unfinished), ("unread lists", unread), ("readers of lists", repeat(read_lists, 4))]


def beside(binary, start, hosts, seconds):
    """What innocent clients measure beside one kind of bad client."""
    server = Server(binary, access_log="false")
    with server:
        server.must("POST", "/resource_providers", {"name": "home"})
        fill(server, hosts)
        server.must("GET", "/resource_providers?name=home")
        innocents = Innocents(server)
        time.sleep(1)
        left = start(server)
        found = innocents.watch(seconds)
        innocents.end()
        for sock in left:
            sock.close()
    if server.complaint:
        print(server.complaint)
    return found


def measured(binary, hosts=40000, seconds=5, runs=1, kinds=None):
    """By kind, the run with the median p99."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    found = {}
    for kind, start in KINDS:
        if kinds and kind not in kinds:
            continue
        turns = sorted((beside(binary, start, hosts, seconds) for _ in range(runs)), key=lambda turn: turn["p99_ms"])
        found[kind] = turns[len(turns) // 2]
        print("%-22s" % kind, "  ".join(f"{what} {figure:.2f}" if isinstance(figure, float) else f"{what} {figure:6}"
                                       for what, figure in found[kind].items()), flush=True)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--hosts", type=int, default=40000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="only these: " + ", ".join(kind for kind, _ in KINDS))
    arguments = parser.parse_args()
    measured(arguments.berthd, arguments.hosts, arguments.seconds, arguments.runs, arguments.kinds)


if __name__ == "__main__":
    main()
