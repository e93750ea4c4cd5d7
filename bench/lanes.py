#!/usr/bin/python3
"""The cost of expensive requests for other clients: small reads beside endless searches, large lists, large bodies,
and a provider with 200 000 consumers; and the time of another project's list beside endless searches of one project.

    bench/lanes.py [--berthd FILE] [--build build] [--work DIRECTORY] [--runs 3]

The cloud has 40 000 hosts, a host with 12 devices for which no search can succeed, and a pool that all clients use."""

import argparse
import http.client
import itertools
import json
import os
import sqlite3
import statistics
import time

import clouds
import measure
import questions

HERE = os.path.dirname(os.path.abspath(__file__))
CLOUD = "lanes"
CONSUMERS = 200000
CONNECTIONS, SECONDS = 16, 2
POOL = clouds.provider_uuid(CLOUD, 1)
HOST = clouds.provider_uuid(CLOUD, 2)
ENDLESS_PROJECT, OTHER_PROJECT = "admin:endless", "admin:other"


def as_project(requests, token):
    return [text.replace(b"X-Auth-Token: admin\r\n", b"X-Auth-Token: %s\r\n" % token.encode()) for text in requests]


def endless():
    """Distinct even amounts that fit 12 devices of 999 by their sums, but not in even amounts: there is no
    candidate, and only trying all combinations shows that."""
    amounts = [288, *range(300, 370, 2)]
    tree = clouds.provider_uuid(CLOUD, 0)
    groups = "&".join(f"resources{k}=CUSTOM_DEVICE:{amount}&in_tree{k}={tree}" for k, amount in enumerate(amounts, 1))
    return f"/allocation_candidates?{groups}&group_policy=none"


def make(work):
    """The database, with one provider that has unusually many consumers."""
    path = clouds.sqlite_copy(CLOUD, work)
    db = sqlite3.connect(path)
    stamp = (clouds.NOW, clouds.NOW)
    db.execute("PRAGMA synchronous=OFF")
    db.executemany(clouds.insert_statement("consumers", "id uuid project_id user_id generation", "?"),
                   ((i + 1, clouds.uuid("consumer", i), 1, 1, 1) + stamp for i in range(CONSUMERS)))
    pool = db.execute("SELECT id FROM resource_providers WHERE uuid = ?", (POOL,)).fetchone()[0]
    db.executemany(clouds.insert_statement("allocations", "resource_provider_id consumer_id resource_class_id used", "?"),
                   ((pool, clouds.uuid("consumer", i), clouds.CLASSES["DISK_GB"], 1) + stamp for i in range(CONSUMERS)))
    db.commit()
    db.close()
    return path


def large_body():
    """15 MiB of traits that do not exist."""
    names = (f"CUSTOM_{i:060}" for i in itertools.count())
    return {"resource_provider_generation": 0, "traits": list(itertools.islice(names, 15 * 2**20 // 71))}


def requests_files(work):
    claim = questions.request("PUT", f"/allocations/{questions.FRESH}", questions.consumer(
        {POOL: {"resources": {"DISK_GB": 1}}}))
    return {name: questions.write_file(f"lanes-{name}", requests, work) for name, requests in (
        ("get", questions.get(f"/resource_providers/{HOST}")),
        ("endless", as_project(questions.get(endless()), ENDLESS_PROJECT)),
        ("list", as_project(questions.get("/resource_providers"), OTHER_PROJECT)),
        ("consumers", as_project(questions.get(f"/resource_providers/{POOL}/allocations"), OTHER_PROJECT)),
        ("bodies", as_project([questions.request("PUT", f"/resource_providers/{HOST}/traits", large_body())],
                              OTHER_PROJECT)),
        ("claims", [claim]))}


class Bench:
    def __init__(self, binary, build, work, runs):
        self.loader, self.work, self.runs = measure.Loader(build), work, runs
        self.server = measure.berthd(binary, make(work), work)
        self.files = requests_files(work)

    def p99_us(self):
        return self.loader.cell(self.server, self.files["get"], CONNECTIONS, SECONDS)

    def beside(self, *loads):
        """Cells of small reads beside loads of (name, connections)."""
        cells = []
        for _ in range(self.runs):
            running = [self.loader.start(self.server, self.files[name], connections, SECONDS + 1, grace=0)
                       for name, connections in loads]
            time.sleep(0.5)
            cell = self.p99_us()
            answers = [json.loads(process.communicate()[0]) for process in running]
            cell["answered"] = [answer["requests"] for answer in answers]
            cells.append(cell)
        cells.sort(key=lambda cell: cell["p99_us"])
        middle = cells[len(cells) // 2]
        return {key: middle[key] for key in ("p50_us", "p99_us", "max_us", "requests") if key in middle} | {
            "answered": middle.get("answered")}

    def list_ms(self, of=statistics.median):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        times = []
        for _ in range(max(3, self.runs)):
            start = time.monotonic()
            connection.request("GET", "/resource_providers", headers={
                "X-Auth-Token": OTHER_PROJECT, "OpenStack-API-Version": f"placement {questions.MICROVERSION}"})
            answer = connection.getresponse()
            body = answer.read()
            times.append((time.monotonic() - start) * 1000)
            if answer.status != 200 or len(body) < 1000000:
                raise RuntimeError(f"the list: {answer.status} {body[:200]}")
        connection.close()
        return of(times)

    def lists(self):
        alone = self.list_ms()
        searches = self.loader.start(self.server, self.files["endless"], 4, 60, grace=0)
        time.sleep(0.5)
        try:
            return {"alone_ms": round(alone, 1), "beside_ms": round(self.list_ms(max), 1)}
        finally:
            searches.terminate()
            searches.wait()
            searches.stdout.close()

    def all(self):
        facts = {"alone": self.beside()}
        facts["endless"] = self.beside(("endless", 4))
        facts["lists"] = self.beside(("list", 2))
        facts["bodies"] = self.beside(("bodies", 4))
        facts["consumers"] = self.beside(("consumers", 2), ("claims", 1))
        facts["list"] = self.lists()
        return facts


def measured(binary, build, work, runs=3):
    bench = Bench(binary, build, work, runs)
    try:
        return bench.all()
    finally:
        bench.server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", help="the berthd to measure (berthd in the build directory)")
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--work", default="/var/tmp/berth-bench")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    binary = options.berthd or os.path.join(options.build, "berthd")
    for what, fact in measured(binary, options.build, options.work, options.runs).items():
        print(what, json.dumps(fact))
