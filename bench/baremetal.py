"""Bare metal: the time of an allocation from its POST until it is active, how many are possible per second, and the
cost of a list of all nodes; for berth, and for the real service (Debian's python3-ironic) on the same machine.

Both have the same 10 000 available nodes. There are 16 clients, each with a connection of its own, which send POST and
then GET until the allocation is no longer allocating. In one measurement each client begins the next allocation at
once, which shows how many per second are possible, with the machine full of clients; in the other all clients together
begin RATE per second, which shows how long one takes. The list is read in pages of 1 000 by following `next`. Both
databases are in memory (/dev/shm): commits are not counted."""

import concurrent.futures
import http.client
import json
import multiprocessing
import os
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

import measure

HERE = os.path.dirname(os.path.abspath(__file__))

NODES = 10000
CLIENTS = 16
RATE = 400  # twice the required rate
RESOURCE_CLASS = "bench"
HEADERS = {"X-OpenStack-Ironic-API-Version": "1.82", "Content-Type": "application/json"}
POLL_S = 0.001


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body), HEADERS)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text) if text else None

    def close(self):
        self.connection.close()


def in_threads(port, work):
    """Runs work(client, number) in CLIENTS threads; raises an exception that one of them raised."""
    problems = []

    def run(number):
        client = Client(port)
        try:
            work(client, number)
        except Exception as problem:  # pylint: disable=broad-except
            problems.append(problem)
        finally:
            client.close()
    threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def wait_for(client, path, is_done):
    while not is_done(client.ask("GET", path)):
        time.sleep(POLL_S)


def enrol(client, name):
    """Creates a node and makes it available, as a user does."""
    client.ask("POST", "/v1/nodes", {"driver": "fake-hardware", "resource_class": RESOURCE_CLASS, "name": name})
    for target, state in (("manage", "manageable"), ("provide", "available")):
        client.ask("PUT", f"/v1/nodes/{name}/states/provision", {"target": target})
        wait_for(client, f"/v1/nodes/{name}?fields=provision_state,reservation",
                 lambda node: node["provision_state"] == state and node["reservation"] is None)
    client.ask("PUT", f"/v1/nodes/{name}/states/power", {"target": "power on"})
    wait_for(client, f"/v1/nodes/{name}?fields=power_state,reservation",
             lambda node: node["power_state"] == "power on" and node["reservation"] is None)


def allocate(client):
    """Returns the seconds from the POST until the allocation is active; then deletes it."""
    begun = time.perf_counter()
    made = client.ask("POST", "/v1/allocations", {"resource_class": RESOURCE_CLASS})
    path = f"/v1/allocations/{made['uuid']}"
    while True:
        state = client.ask("GET", path)["state"]
        if state != "allocating":
            break
        time.sleep(POLL_S)
    if state != "active":
        raise RuntimeError(f"allocation {made['uuid']}: {state}")
    took = time.perf_counter() - begun
    client.ask("DELETE", path)  # so that the next one finds the same number of nodes
    return took


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def allocate_until(port, begin, end, step):
    """Returns the seconds of each allocation. One begins in each `step`, or at once if that is 0 or already over."""
    client, took = Client(port), []
    while begin < end:
        time.sleep(max(0, begin - time.monotonic()))
        took.append(allocate(client))
        begin = begin + step if step else time.monotonic()
    client.close()
    return took


def measure_allocations(port, seconds, rate=None):
    """Each client is a process: threads would wait for each other in Python, milliseconds each time."""
    begun, step = time.monotonic(), CLIENTS / rate if rate else 0
    with concurrent.futures.ProcessPoolExecutor(CLIENTS, multiprocessing.get_context("fork")) as pool:
        working = [pool.submit(allocate_until, port, begun + number * step / CLIENTS, begun + seconds, step)
                   for number in range(CLIENTS)]
        took = [one for client in working for one in client.result()]
    spent = time.monotonic() - begun
    return {"allocations": len(took), "per_s": len(took) / spent, "p50_ms": 1000 * percentile(took, 0.5),
            "p99_ms": 1000 * percentile(took, 0.99)}


def measure_list(port, pids, rounds):
    """Reads all nodes: CPU of the server, the mean of the rounds (a tick is long), and time, their median."""
    times, before = [], measure.cpu_s(pids)
    client = Client(port)
    for _ in range(rounds):
        begun, nodes, path = time.perf_counter(), 0, "/v1/nodes?limit=1000"
        while path:
            page = client.ask("GET", path)
            nodes += len(page["nodes"])
            link = urllib.parse.urlsplit(page.get("next", ""))
            path = f"{link.path}?{link.query}" if page.get("next") else None
        times.append(time.perf_counter() - begun)
        if nodes != NODES:
            raise RuntimeError(f"{nodes} nodes in the list")
    client.close()
    return {"cpu_ms": 1000 * (measure.cpu_s(pids) - before) / rounds, "ms": 1000 * percentile(times, 0.5)}


def berth(binary, work, seconds):
    with tempfile.TemporaryDirectory(prefix="berth-bench-", dir="/dev/shm") as memory:
        return berth_on(os.path.join(memory, "baremetal.db"), binary, work, seconds)


def berth_on(database, binary, work, seconds):
    port = measure.free_port()
    server = measure.berthd(binary, database, work, "--baremetal-listen", f"127.0.0.1:{port}")
    try:
        in_threads(port, lambda client, number: [enrol(client, f"n{n}") for n in range(number, NODES, CLIENTS)])
        found = {"list": measure_list(port, server.pids(), 20)}
        found["allocate"] = measure_allocations(port, seconds)
        found["paced"] = measure_allocations(port, seconds, RATE)
        return found
    finally:
        server.stop()


def copy_nodes(path):
    """Copies the file's one node NODES - 1 times."""
    file = sqlite3.connect(path)
    columns = [row[1] for row in file.execute("PRAGMA table_info(nodes)")]
    row = dict(zip(columns, file.execute(f"SELECT {', '.join(columns)} FROM nodes").fetchone()))
    rows = [tuple({**row, "id": row["id"] + n, "uuid": str(uuid.uuid4()), "name": f"n{n}"}[c] for c in columns)
            for n in range(1, NODES)]
    file.executemany(f"INSERT INTO nodes ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows)
    file.commit()
    file.close()


def ironic(seconds):
    """The real service as it is deployed: API and conductor as two processes."""
    sys.path.append(os.path.join(HERE, "..", "tests", "baremetal"))
    import real_ironic  # pylint: disable=import-outside-toplevel
    with real_ironic.Ironic(apart=True) as service:
        client = Client(service.port)
        enrol(client, "n0")
        client.close()
        copy_nodes(os.path.join(service.directory, "ironic.sqlite"))
        pids = measure.with_descendants(process.pid for process in service.processes)
        return {"list": measure_list(service.port, pids, 2), "allocate": measure_allocations(service.port, seconds)}
