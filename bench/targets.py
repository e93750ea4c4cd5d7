"""What is measured of each target: the reference, the limits, berthd."""

import http.client
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import time

import clouds
import measure
import questions
from questions import QUESTIONS
from reference import Reference

REFERENCE_QUESTIONS = ("get_one", "flat_10", "flat_all", "list_all", "usages", "nested_10",
                       "nested_all", "sharing_10", "flat10k_10", "claim", "claim_one",
                       "post_shared", "post_disjoint")
BERTH_QUESTIONS = REFERENCE_QUESTIONS + ("flat1m_10", "usages_1m", "wide_isolate", "wide_none")
CONNECTIONS = (1, 16, 256)
# The costs of these are compared with the limits, which are measured alternately with them: the machine's speed changes
# by a third within minutes.
IN_TURNS = ("get_one", "flat_10", "flat_all", "list_all", "usages", "nested_10", "nested_all", "flat10k_10", "flat1m_10")
ROUNDS = 5
# So close to its goal that the Python service is measured alternately with it, too.
CLOSE_TO_REFERENCE = ("get_one",)


def say(text):
    print(f"  {text}", flush=True)


def say_cell(name, cell):
    say(f"{name:14} {cell['connections']:4} conn {cell['rps']:10.1f}/s  p50 {cell['p50_us']:10.0f} us"
        f"  p99 {cell['p99_us']:10.0f} us  cpu {cell['cpu_us']:10.1f} us  "
        f"{cell['answer_bytes']:9.0f} B  {cell['status']}"
        + (f"  {cell['unanswered']} unanswered" if cell["unanswered"] else ""))


def good_rate(cell):
    """Requests/s that were answered with 2xx."""
    good = sum(n for status, n in cell["status"].items() if status.startswith("2"))
    return cell["rps"] * good / max(cell["requests"], 1)


def expect(target, path):
    """GET outside any measurement."""
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    connection.request("GET", path, headers={
        "X-Auth-Token": "admin", "OpenStack-API-Version": f"placement {questions.MICROVERSION}"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"GET {path}: {answer.status} {text[:200]}")
    return json.loads(text)


def last_units(target, loader, work):
    """16 connections claim the last 160 units of one host. Returns how many succeeded, by the answers and by the
    host's own usages."""
    file = questions.question_file("last_units", work)
    cell = loader.cell(target, file, 16, 30, count=500, grace=60)
    usages = expect(target, "/resource_providers/"
                    f"{clouds.provider_uuid('big1k', 1000)}/usages")["usages"]
    return {"answered": sum(n for s, n in cell["status"].items() if s.startswith("2")),
            "used": usages["VCPU"]}


def measure_reference(work, loader, wanted):
    """All cells of the Python service, each limited to some tens of seconds."""
    cells, facts = {}, {"load_average": os.getloadavg()[0]}
    reference = Reference(work)
    try:
        for cloud in dict.fromkeys(QUESTIONS[name].cloud for name in wanted):
            reference.start(cloud)
            names = [name for name in wanted if QUESTIONS[name].cloud == cloud]
            say(f"reference: {cloud}, {len(names)} questions")
            for name in names:
                cells[name] = reference_cells(reference, loader, name, work)
            if cloud == "flat1k":
                facts["rss_bytes"] = measure.rss_bytes(reference.pids())
            if cloud == "big1k":
                reference.fill(cloud)
                reference.start(cloud)
                facts["last_units"] = last_units(reference, loader, work)
                say(f"reference: of the last 160 units {facts['last_units']}")
    finally:
        reference.close()
    return cells, facts


def reference_cells(reference, loader, name, work):
    question, cells = QUESTIONS[name], {}
    file = questions.question_file(name, work)
    huge = question.cloud == "flat10k"
    loader.cell(reference, file, 4, 60, count=4 if huge else 8)
    for connections in (1, 16) if huge else CONNECTIONS:
        # Slow answers are waited for, but not on 256 connections, which would take minutes.
        crowd = question.slow and connections == 256
        cell = loader.cell(reference, file, connections, 20 if crowd else 6,
                           grace=0 if crowd else 60)
        cells[str(connections)] = cell
        say_cell(name, cell)
        if cell["unanswered"]:  # they are still in its queues
            reference.start(question.cloud)
            loader.cell(reference, file, 4, 60, count=8)
    return cells


def measure_limits(build, work, loader, sizes, seconds, connections):
    """Bare libmicrohttpd and bare sockets, by size of the answer."""
    cells = {"http": {}, "socket": {}}
    for kind in cells:
        port = measure.free_port()
        arguments = [os.path.join(build, "bench", f"limit_{kind}"), str(port), "2"]
        if kind == "http":
            arguments += [str(size) for size in sizes]
        server = measure.Program(arguments, port, f"limit_{kind}: ready",
                                 os.path.join(work, "limit.log"))
        try:
            for size in sizes:
                file = questions.write_file("limit", questions.get(f"/{size}"), work)
                loader.cell(server, file, 16, 0.2)
                cells[kind][str(size)] = {
                    str(c): loader.cell(server, file, c, seconds) for c in connections}
                for cell in cells[kind][str(size)].values():
                    say_cell(kind, cell)
        finally:
            server.stop()
    return cells


class Limits:
    """Bare libmicrohttpd and a bare socket with answers of one size, to be measured alternately with berth."""

    def __init__(self, build, work, loader, size):
        self.loader, self.servers = loader, {}
        self.file = questions.write_file("limit", questions.get(f"/{size}"), work)
        for kind in ("http", "socket"):
            port = measure.free_port()
            arguments = [os.path.join(build, "bench", f"limit_{kind}"), str(port), "2"]
            self.servers[kind] = measure.Program(arguments + ([str(size)] if kind == "http" else []), port,
                                                 f"limit_{kind}: ready", os.path.join(work, "limit.log"))
            loader.cell(self.servers[kind], self.file, 16, 0.2)

    def cell(self, kind, connections, seconds):
        return self.loader.cell(self.servers[kind], self.file, connections, seconds)

    def stop(self):
        for server in self.servers.values():
            server.stop()


def median_cell(cells):
    return sorted(cells, key=lambda cell: cell["cpu_us"])[len(cells) // 2]


def run_json(*command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def measure_sync(build, work, seconds):
    return run_json(os.path.join(build, "bench", "limit_commit"), "sync", work, str(seconds))


def measure_groups(build):
    """The search alone, in a separate process: each case's CPU, the best of five."""
    lines = subprocess.run([os.path.join(build, "bench", "groups"), "2000000000"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    cases = [json.loads(line) for line in lines]
    for case in cases:
        say(f"groups: {case}")
    return cases


def measure_commits(build, work, batch, seconds):
    copy = clouds.sqlite_copy("big1k", work)
    result = run_json(os.path.join(build, "bench", "limit_commit"), copy, f"{batch:.2f}",
                      str(seconds))
    say(f"raw commits, {result['mean_batch']:.1f} claims each: {result['claims_per_s']:.0f} claims/s,"
        f" {result['commits_per_s']:.0f} commits/s, cpu {result['cpu_us_per_claim']:.1f} us a claim")
    return result


class Berth:
    """berthd, measured. Each cell of writes starts on a fresh copy of its cloud."""

    def __init__(self, binary, build, work, loader, seconds, connections):
        self.binary, self.build, self.work, self.loader = binary, build, work, loader
        self.seconds, self.connections = seconds, connections
        self.cells, self.commits, self.facts = {}, {}, {}
        self.beside = {}  # by question and connections: the limits' cells
        self.server = self.cloud = self.database = None

    def start(self, cloud):
        self.stop()
        self.database = clouds.sqlite_copy(cloud, self.work)
        self.server = measure.berthd(self.binary, self.database, self.work)
        self.cloud = cloud

    def stop(self):
        if self.server:
            self.server.stop()
            self.server = self.cloud = None

    def rss(self):
        return measure.rss_bytes(self.server.pids())

    def head(self):
        """The number of commits, counted by berth's log."""
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as db:
            return db.execute("SELECT seq FROM berth_head").fetchone()[0]

    def ask_in_turns(self, name, connections):
        """At one and at 16 connections: the median of several rounds, each alternating with the limits."""
        question = QUESTIONS[name]
        file = questions.question_file(name, self.work)
        if self.cloud != question.cloud:
            self.start(question.cloud)
        size = round(self.loader.cell(self.server, file, 16, 0.2)["answer_bytes"])
        limits = Limits(self.build, self.work, self.loader, size)
        self.beside[name] = {}
        try:
            for c in connections:
                rounds = {"berth": [], "http": [], "socket": []}
                for _ in range(ROUNDS):
                    rounds["berth"].append(self.loader.cell(self.server, file, c, self.seconds / ROUNDS))
                    for kind in limits.servers:
                        rounds[kind].append(limits.cell(kind, c, self.seconds / ROUNDS))
                self.cells[name][str(c)] = median_cell(rounds["berth"])
                self.cells[name][str(c)]["rss_growth_bytes"] = 0
                self.beside[name][str(c)] = {kind: median_cell(rounds[kind]) for kind in limits.servers}
                say_cell(name, self.cells[name][str(c)])
        finally:
            limits.stop()

    def ask_beside_reference(self, name):
        """At 16 connections, alternating with the Python service: the median of the ratios, and its round."""
        question, file = QUESTIONS[name], questions.question_file(name, self.work)
        reference, rounds = Reference(self.work), []
        try:
            reference.start(question.cloud)
            self.start(question.cloud)
            self.loader.cell(reference, file, 4, 60, count=8)
            for _ in range(2 * ROUNDS - 1):
                theirs = self.loader.cell(reference, file, 16, self.seconds, grace=60)["cpu_us"]
                own = self.loader.cell(self.server, file, 16, self.seconds / ROUNDS)["cpu_us"]
                rounds.append((theirs / own, theirs, own))
        finally:
            reference.close()
        self.facts.setdefault("beside_reference", {})[name] = sorted(rounds)[len(rounds) // 2]
        say(f"berthd: {name}, the Python service's CPU over ours: " + ", ".join(f"{r[0]:.0f}" for r in rounds))

    def ask(self, name):
        question, self.cells[name] = QUESTIONS[name], {}
        file = questions.question_file(name, self.work)
        turns = [c for c in self.connections if c < 256 and name in IN_TURNS]
        if turns:
            self.ask_in_turns(name, turns)
        for connections in self.connections:
            if connections in turns:
                continue
            if question.writes or self.cloud != question.cloud:
                self.start(question.cloud)
                self.loader.cell(self.server, file, 16, 0.2)
            before = self.head() if question.writes else 0
            rss = self.rss()
            cell = self.loader.cell(self.server, file, connections, self.seconds)
            cell["rss_growth_bytes"] = self.rss() - rss
            self.cells[name][str(connections)] = cell
            say_cell(name, cell)
            if question.writes:
                cell["mean_batch"] = good_rate(cell) * cell["seconds"] / max(
                    self.head() - before, 1)
            if name == "claim":
                # at once, because the speed of the disk changes within minutes; alone, because it is the same file
                self.stop()
                self.commits[str(connections)] = measure_commits(
                    self.build, self.work, max(cell["mean_batch"], 1), self.seconds)

    def write_in_turns(self, narrow, broad, runs):
        """How many times as fast one write is answered as the other. The speed of the disk changes, so each is first
        as often as second."""
        ratios = []
        for number in range(runs):
            rates = {}
            for name in (narrow, broad) if number % 2 == 0 else (broad, narrow):
                self.start(QUESTIONS[name].cloud)
                file = questions.question_file(name, self.work)
                self.loader.cell(self.server, file, 16, 0.2)
                rates[name] = good_rate(self.loader.cell(self.server, file, 16, self.seconds / 2))
            ratios.append(rates[narrow] / rates[broad])
        self.facts.setdefault("turns", {})[narrow] = statistics.median(ratios)
        say(f"berthd: {narrow} against {broad} at 16 connections: " + ", ".join(f"{r:.2f}" for r in ratios))

    def last_units(self):
        self.start("big1k")
        self.facts["last_units"] = last_units(self.server, self.loader, self.work)
        say(f"berthd: of the last 160 units {self.facts['last_units']}")

    def memory(self):
        self.start("empty")
        expect(self.server, "/")
        idle = self.rss()
        sockets = []
        text = questions.request("GET", "/resource_classes")
        for _ in range(512):
            s = socket.create_connection(("127.0.0.1", self.server.port))
            s.sendall(text)
            s.recv(65536)
            sockets.append(s)
        per_connection = (self.rss() - idle) / len(sockets)
        for s in sockets:
            s.close()
        self.start("bare10k")
        bare = self.rss()
        self.start("flat10k")
        allocations = clouds.CLOUDS["flat10k"].consumers * 3
        self.facts["memory"] = {
            "idle": idle, "host": (bare - idle) / 10000,
            "allocation": (self.rss() - bare) / allocations, "connection": per_connection}
        say(f"berthd: memory {self.facts['memory']}")
        self.start("flat1k")
        loader_file = questions.question_file("flat_all", self.work)
        self.loader.cell(self.server, loader_file, 16, 1)
        self.facts["rss_bytes"] = self.rss()

    def start_times(self, runs=5):
        times = []
        for _ in range(runs):
            self.start("flat10k")
            times.append(self.server.ready_s)
        self.facts["ready_s"] = statistics.median(times)
        say(f"berthd: ready after {self.facts['ready_s']:.3f} s")

    def slow_lane(self, runs=5):
        self.start("wide")
        ask = questions.question_file("wide_get_one", self.work)
        heavy = questions.question_file("pathological", self.work)
        alone, beside = [], []
        for _ in range(runs):
            alone.append(self.loader.cell(self.server, ask, 16, 2)["p99_us"])
            loads = self.loader.start(self.server, heavy, 4, 3, grace=0)
            time.sleep(0.5)
            beside.append(self.loader.cell(self.server, ask, 16, 2)["p99_us"])
            answered = json.loads(loads.communicate()[0])
        time.sleep(0.5)
        before = measure.cpu_s(self.server.pids())
        time.sleep(1)
        self.facts["slow_lane"] = {
            "alone_us": statistics.median(alone), "beside_us": statistics.median(beside),
            "left_running_cpu_s": measure.cpu_s(self.server.pids()) - before,
            "pathological_answered": answered["requests"]}
        say(f"berthd: slow lane {self.facts['slow_lane']}")
