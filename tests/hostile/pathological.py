"""Queries that would take for ever: they end when their client disconnects, and do not delay others."""

import json
import threading
import time

from server import wait_for
from wire import connect, exchange, head, receive

DEVICES, GROUPS, UNITS = 12, 10, 10
FAST_MS = 100  # maximum time of a simple read beside them, at the ninth decile


def fill(server):
    """A wide tree, in which the last group of a query can be made not to fit."""
    uuid = "eeeeeeee-0000-4000-8000-0000000000%02d"
    server.must("PUT", "/resource_classes/CUSTOM_UNIT")
    server.must("PUT", "/resource_classes/CUSTOM_ODD")
    server.must("PUT", "/traits/CUSTOM_RARE")
    server.must("POST", "/resource_providers", {"name": "wide", "uuid": uuid % 99})
    for i in range(DEVICES):
        server.must("POST", "/resource_providers",
                    {"name": f"device{i}", "uuid": uuid % i, "parent_provider_uuid": uuid % 99})
        server.must("PUT", f"/resource_providers/{uuid % i}/inventories",
                    {"resource_provider_generation": 0,
                     "inventories": {"CUSTOM_UNIT": {"total": UNITS}, "CUSTOM_ODD": {"total": 999}}})


def query(groups=GROUPS, more=""):
    asked = "&".join(f"resources{i}=CUSTOM_UNIT:1" for i in range(1, groups + 1))
    return f"/allocation_candidates?{asked}&group_policy=none{more}"


def endless():
    """Distinct even amounts, three for each device: 11978 in all. 12 devices of 999 have room for 11988 by their
    sums, but for 11976 in even amounts: there is no candidate, and only trying all combinations shows that."""
    amounts = [288, *range(300, 370, 2)]
    groups = "&".join(f"resources{k}=CUSTOM_ODD:{amount}" for k, amount in enumerate(amounts, 1))
    return f"/allocation_candidates?{groups}&group_policy=none"


def start_query(server, target):
    sock = connect(server, timeout=30)
    sock.sendall(head("GET", target))
    return sock


def cpu_share(server, seconds):
    before = server.cpu_s()
    time.sleep(seconds)
    return (server.cpu_s() - before) / seconds


def run(report, server):
    fill(server)
    many(report, server)
    leaves(report, server)
    beside(report, server)
    unlimited(report, server)
    report(server.is_well(), "pathological: the server is well", server.tail())
    return [start_query(server, endless()) for _ in range(3)]  # the server is stopped with these in flight


def many(report, server):
    """500 queries with groups and same_subtree, all answered."""
    trees = "&".join(f"same_subtree=_A{i},_A{i + 1}" for i in range(0, 8, 2))
    asked = "&".join(f"resources_A{i}=CUSTOM_UNIT:1" for i in range(9))
    start = time.monotonic()
    target = f"/allocation_candidates?{asked}&{trees}&group_policy=none&limit=5"
    good = 0
    with connect(server) as sock:
        for i in range(500):
            sock.sendall(head("GET", target + "&required_A0=!CUSTOM_RARE" * (i % 2)))
            good += receive(sock, 10).status == 200
    took = time.monotonic() - start
    report(good == 500 and took < 20, "pathological: 500 questions of nine groups in four subtrees",
           f"{good} answered in {took:.1f} s")
    heavy = "&".join("same_subtree=" + ",".join(f"_A{i}" for i in range(60)) for _ in range(100))
    asked = "&".join(f"resources_A{i}=CUSTOM_UNIT:1" for i in range(60))
    answer = exchange(server, head("GET", f"/allocation_candidates?{asked}&{heavy}&group_policy=none&limit=3"), 20)
    report(answer.status == 200, "pathological: 60 groups in 100 subtrees", str(answer))


def leaves(report, server):
    sock = start_query(server, endless())
    busy = wait_for(lambda: cpu_share(server, 0.3) > 0.05, 5)
    report(busy, "pathological: the endless query works", "it ended at once: the test asks nothing")
    sock.close()
    for _ in range(40):
        start_query(server, endless()).close()  # most of them before their turn
    quiet = wait_for(lambda: cpu_share(server, 0.3) < 0.04, 10)
    report(quiet, "pathological: a query stops when its client has disconnected", f"CPU {cpu_share(server, 0.5):.2f}")


def beside(report, server):
    """Four in flight, and simple reads and writes meanwhile."""
    socks = [start_query(server, endless()) for _ in range(4)]
    times = []
    stop = threading.Event()

    def read():
        with connect(server) as sock:
            while not stop.is_set():
                start = time.monotonic()
                sock.sendall(head("GET", "/resource_providers?name=home"))
                if receive(sock, 10).status != 200:
                    return
                times.append((time.monotonic() - start) * 1000)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    time.sleep(1)
    written = server.ask("PUT", "/traits/CUSTOM_BESIDE", timeout=30)[0]
    for sock in socks:  # they disconnect while others keep the workers busy
        sock.close()
    time.sleep(1)
    stop.set()
    for reader in readers:
        reader.join()
    times.sort()
    slow = times[len(times) * 9 // 10] if times else float("inf")
    report(len(times) > 50 and slow < FAST_MS, "pathological: reads beside four endless queries",
           f"{len(times)} reads, the ninth decile {slow:.1f} ms")
    report(written in (201, 204), "pathological: a write beside them", str(written))
    report(wait_for(lambda: cpu_share(server, 0.3) < 0.04, 5), "pathological: all four stop", "CPU is used")


def unlimited(report, server):
    """More candidates than memory could hold, and no limit: refused, and memory stays bounded."""
    rss = server.rss_mib()
    most = [rss]
    done = threading.Event()

    def watch():
        while not done.is_set():
            most[0] = max(most[0], server.rss_mib())
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with start_query(server, query()) as sock:
        answer = receive(sock, 20)
    done.set()
    watcher.join()
    report(answer.status == 400 and answer.is_api() and b"more allocation candidates than one answer can hold. Ask for "
           b"fewer with limit." in answer.body, "pathological: more candidates than an answer holds", str(answer))
    report(most[0] - rss < 600, "pathological: memory of a query without limit",
           f"{rss:.0f} MiB before, {most[0]:.0f} in it")
    answer = exchange(server, head("GET", query(more="&limit=1000")))
    report(answer.status == 200 and len(json.loads(answer.body)["allocation_requests"]) == 1000,
           "pathological: the same with a limit", str(answer))
    with start_query(server, query()):
        time.sleep(0.2)
    report(wait_for(lambda: cpu_share(server, 0.3) < 0.04, 5), "pathological: it stops with its client", "CPU is used")
    report(wait_for(lambda: server.rss_mib() - rss < 64, 5), "pathological: its memory is given back",
           f"{rss:.0f} MiB before, {server.rss_mib():.0f} now")
