#!/usr/bin/python3
"""Clients that send requests continuously, as plain HTTP clients do, and report the result of every request.

    tests/running/hammer.py ADDRESS SECONDS [--keep N] [--once N] [--idlers N] [--path-prefix P] [--get PATH]

--get: only GET of exactly that path. ADDRESS: http://HOST:PORT, https://HOST:PORT (not verified), unix:/PATH. `keep`
clients keep their connection, `once` clients open one for each request, `idlers` keep one and send a request every two
seconds. No request is ever repeated. A client whose idle connection has been closed opens another one before its next
request. Ends early on SIGTERM; the output is one line of JSON: counts, failures, the longest request, the names of the
created providers.
"""

import argparse
import http.client
import json
import random
import select
import signal
import socket
import ssl
import sys
import threading
import time
import uuid

TIMEOUT_S = 30
FAILURES_SHOWN = 20

ending = threading.Event()
lock = threading.Lock()
made, failures, slow = [], [], []
answered = 0


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=TIMEOUT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(self.path)


def new_connection(address):
    if address.startswith("unix:"):
        return UnixConnection(address[5:])
    scheme, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    if scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(host, int(port), timeout=TIMEOUT_S, context=context)
    return http.client.HTTPConnection(host, int(port), timeout=TIMEOUT_S)


def is_stale(connection):
    """An idle connection that has become readable was closed by the server."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])


class Client:
    def __init__(self, address, prefix, keep, pause, get):
        self.address, self.prefix, self.keep, self.pause, self.get = address, prefix, keep, pause, get
        self.connection = None
        self.seed = random.Random(id(self))

    def question(self):
        if self.get:
            return None, "GET", self.get, None
        if self.seed.random() < 0.3:
            name = str(uuid.uuid4())
            return name, "POST", "/resource_providers", json.dumps({"name": name, "uuid": name})
        return None, "GET", self.seed.choice(["/", "/resource_providers?name=nobody", "/traits?name=in:HW_CPU_X86_AVX"]), None

    def ask(self):
        global answered
        name, method, path, body = self.question()
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        if body:
            headers["content-type"] = "application/json"
        if self.connection is not None and is_stale(self.connection):
            self.close()
        began = time.monotonic()
        try:
            if self.connection is None:
                self.connection = new_connection(self.address)
                self.connection.connect()
            self.connection.request(method, self.prefix + path, body, headers)
            answer = self.connection.getresponse()
            text = answer.read()
            good = answer.status == 200
            problem = f"{answer.status} {text[:200]}"
            if answer.will_close or not self.keep:
                self.close()
        except (OSError, http.client.HTTPException) as error:
            good, problem = False, f"{type(error).__name__}: {error}"
            self.close()
        took = time.monotonic() - began
        with lock:
            answered += good
            slow.append(took)
            if good and name:
                made.append(name)
            elif not good:
                failures.append(f"{method} {path} after {took * 1000:.0f} ms: {problem}")

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def run(self):
        while not ending.is_set():
            self.ask()
            ending.wait(self.pause(self.seed))
        self.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--keep", type=int, default=16)
    parser.add_argument("--once", type=int, default=16)
    parser.add_argument("--idlers", type=int, default=0)
    parser.add_argument("--path-prefix", default="")
    parser.add_argument("--get", metavar="PATH")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    short, long = (lambda seed: seed.random() * 0.05), (lambda seed: 2)
    clients = [Client(options.address, options.path_prefix, keep, pause, options.get) for keep, pause, count in
               ((True, short, options.keep), (False, short, options.once), (True, long, options.idlers))
               for _ in range(count)]
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    ending.wait(options.seconds)
    ending.set()
    for thread in threads:
        thread.join()
    print(json.dumps({"answered": answered, "failed": len(failures), "failures": failures[:FAILURES_SHOWN],
                      "longest_ms": round(max(slow, default=0) * 1000), "made": made}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
