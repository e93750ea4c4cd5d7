"""berth on a database server: what is measured on each kind of server. on_postgres.py and on_mariadb.py have the rows that
only one of them has.

One and two instances are compared with the Python service on the same server, and with the server's client library alone.
Everything that is compared is measured alternately. Each cell of writes, and each one of the library that is compared with
it, starts on a fresh copy of its cloud."""

import contextlib
import os
import re
import statistics
import subprocess
import time

import clouds
import measure
import questions
import reference
from targets import good_rate, median_cell, run_json, say, say_cell

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(os.path.dirname(HERE), "tests", "databases")
PYTHON = "/usr/bin/python3"


class Instance:
    """berthd on a database of the servers. What these use is counted in."""

    close_each = False

    def __init__(self, bench, url, databases=None):
        self.databases = databases or bench.databases
        self.program = measure.berthd(bench.binary, url, bench.work)
        self.port, self.ready_s = self.program.port, self.program.ready_s

    def cpu_s(self):
        return self.program.cpu_s() + self.databases.cpu_s()

    def stop(self):
        self.program.stop()


class Bench:
    """A subclass has `kind`, the Databases; `prefix`, with which the names of its rows begin; ROWS, these names, and the
    methods that measure them; `needed`, the programs; REFERENCE_CELLS, those of the Python service."""

    outage_options = ()

    def __init__(self, binary, build, work, loader, kept=None, quick=False):
        """kept: the figures of the Python service, if it is not measured now."""
        self.binary, self.build, self.work, self.loader = binary, build, work, loader
        self.kept, self.quick = kept, quick
        self.rounds, self.seconds = (2, 1) if quick else (5, 4)
        self.facts, self.cells, self.reference_cells = {}, {}, {}
        self.databases = self.kind(work)
        self.python = None

    @classmethod
    def names(cls):
        return tuple(f"{cls.prefix}_{row}" for row in cls.ROWS)

    @classmethod
    def missing(cls):
        return [path for path in (*cls.needed, "/usr/bin/uwsgi", reference.MANAGE, "/usr/bin/placement-api")
                if not os.path.exists(path)]

    def close(self):
        if self.python:
            self.python.close()
        self.databases.close()

    # One cell each.

    def file(self, name):
        return questions.question_file(name, self.work)

    def reference_cell(self, name, connections):
        """Of the Python service, or the kept one; None: none is kept."""
        if self.kept is not None:
            return self.kept["cells"].get(name, {}).get(str(connections))
        cloud = questions.QUESTIONS[name].cloud
        if self.python is None:
            self.python = reference.Reference(self.work, self.databases)
        if self.python.cloud != cloud:
            self.python.start(cloud)
            self.loader.cell(self.python, self.file(name), 4, 60, count=8)
        cell = self.loader.cell(self.python, self.file(name), connections, 5, grace=60)
        say_cell(f"python {name}", cell)
        return cell

    def claim_cell(self, connections, seconds=None):
        """Claims at one instance on a fresh copy, with the mean size of a batch and the CPU of each side."""
        instance = Instance(self, self.databases.copy("big1k"))
        try:
            self.loader.cell(instance, self.file("claim"), 16, 0.2)
            before, own = self.databases.batches(), instance.program.cpu_s()
            cell = self.loader.cell(instance, self.file("claim"), connections, seconds or self.seconds)
            cell["berthd_us"] = (instance.program.cpu_s() - own) * 1e6 / max(cell["requests"], 1)
            cell["mean_batch"] = max(1, good_rate(cell) * cell["seconds"] / max(self.databases.batches() - before, 1))
            say_cell("claim", cell)
        finally:
            instance.stop()
        return cell

    def run_limit(self, url, mean_batch, seconds):
        return run_json(os.path.join(self.build, "bench", self.kind.limit), url, f"{mean_batch:.2f}", str(seconds))

    def raw(self, mean_batch, seconds=None):
        """The client library alone, on a fresh copy."""
        found = self.run_limit(self.databases.copy("big1k"), mean_batch, seconds or self.seconds)
        say(f"{self.kind.client}, {found['mean_batch']:.1f} claims each: {found['claims_per_s']:.0f} claims/s,"
            f" p50 {found['p50_us']:.0f} us, server {found['backend_us_per_claim']:.0f} us a claim")
        return found

    # The rows.

    def check_raw(self):
        """The library alone must send what berthd sends."""
        sent = []
        for program in (self.claim_twice, lambda url: self.run_limit(url, 1, 0.01)):
            url = self.databases.copy("big1k")
            sent.append(self.databases.statements(lambda: program(url)))
        if sent[0] != sent[1] or not sent[0]:
            raise RuntimeError(f"{self.kind.limit} does not send what berthd sends:\n{sent[0]}\n{sent[1]}")
        say(f"a batch has {len(sent[0])} statements")

    def claim_twice(self, url):
        """The first claim also creates the project and the user."""
        instance = Instance(self, url)
        try:
            self.loader.cell(instance, self.file("claim"), 1, 10, count=2)
        finally:
            instance.stop()

    def claims(self):
        self.check_raw()
        for connections in (16, 256):
            rounds = []
            for _ in range(self.rounds):
                theirs = self.reference_cell("claim", connections)
                own = self.claim_cell(connections)
                rounds.append((own, self.raw(own["mean_batch"]), theirs))
            own = median_by(rounds, lambda r: good_rate(r[0]))[0]
            against_raw = median_by(rounds, lambda r: good_rate(r[0]) / r[1]["claims_per_s"])
            self.keep("claim", own)
            fact = {"raw": pair(good_rate(against_raw[0]), against_raw[1]["claims_per_s"]),
                    "mean_batch": against_raw[1]["mean_batch"], "berthd_us": own["berthd_us"],
                    "database_us": own["cpu_us"] - own["berthd_us"], "raw_database_us": against_raw[1]["backend_us_per_claim"],
                    "raw_rounds": [round(good_rate(r[0]) / r[1]["claims_per_s"], 3) for r in rounds]}
            if rounds[0][2]:
                beside = median_by(rounds, lambda r: good_rate(r[0]) / good_rate(r[2]))
                fact["reference"] = pair(good_rate(beside[0]), good_rate(beside[2]))
                self.keep_reference("claim", beside[2])
            self.facts[f"claims_{connections}"] = fact
            say(f"claims at {connections}: {fact}")

    def single(self):
        """The latency of one client's claims, and of the library's batches of one claim. Some tens of microseconds decide, and
        the speed of the machine changes within seconds: so there are many short rounds, and each begins with the other of the two."""
        rounds = []
        for _ in range(self.rounds * 2):
            own = self.claim_cell(1, 1)
            raw = self.raw(1, 1)
            rounds += [(own, raw), (self.claim_cell(1, 1), raw)]
        own, raw = median_by(rounds, lambda r: r[0]["p50_us"] / r[1]["p50_us"])
        self.keep("claim", own)
        self.facts["single"] = pair(own["p50_us"], raw["p50_us"])
        say(f"one client's claim: {self.facts['single']}")

    def side_by_side(self, urls, connections, databases=None):
        """A cell of claims at an instance on each URL, all at the same time, with so many connections each."""
        claims = self.file("claim")
        with self.instances(urls, databases) as instances:
            for instance in instances:
                self.loader.cell(instance, claims, 16, 0.2)
            running = [self.loader.start(instance, claims, connections, self.seconds) for instance in instances]
            return [self.loader.finish(process) for process in running]

    @contextlib.contextmanager
    def instances(self, urls, databases=None):
        with contextlib.ExitStack() as stack:
            instances = []
            for url in urls:
                instances.append(Instance(self, url, databases))
                stack.callback(instances[-1].stop)
            yield instances

    def two(self):
        rounds = []
        for _ in range(self.rounds):
            one = self.side_by_side([self.databases.copy("big1k")], 32)
            both = self.side_by_side([self.databases.copy("big1k")] * 2, 16)
            rounds.append({"one": good_rate(one[0]), "rates": [good_rate(cell) for cell in both],
                           "other_answers": sum(map(other_answers, one + both))})
            say(f"two instances: {rounds[-1]}")
        middle = median_by(rounds, lambda r: sum(r["rates"]) / r["one"])
        self.facts["two"] = middle | {
            "least_share": statistics.median(min(r["rates"]) / sum(r["rates"]) for r in rounds),
            "other_answers": sum(r["other_answers"] for r in rounds)}

    def beside_embedded(self, databases, connections, *others):
        """Rounds of GET of one provider: the cell on the embedded store, that on the copy, and what the others return."""
        embedded = measure.berthd(self.binary, clouds.sqlite_copy("flat1k", self.work), self.work)
        instance = Instance(self, databases.copy("flat1k"), databases)
        try:
            return [[self.loader.cell(target, self.file("get_one"), connections, self.seconds / 2)
                     for target in (embedded, instance)] + [other(connections) for other in others]
                    for _ in range(self.rounds)]
        finally:
            embedded.stop()
            instance.stop()

    def keep_get(self, connections, rounds, **more):
        own = median_cell([r[1] for r in rounds])
        self.keep("get_one", own)
        say_cell("get_one", own)
        self.facts[f"get_{connections}"] = {
            "rps": median_by([pair(r[1]["rps"], r[0]["rps"]) for r in rounds], lambda p: p[0]),
            **{name: median_by([pair(*pair_of(r)) for r in rounds], lambda p: p[0]) for name, pair_of in more.items()}}
        say(f"GET at {connections}: {self.facts[f'get_{connections}']}")

    def start(self):
        """The first start on a copy creates berth's own tables, so it is not counted."""
        for cloud, runs in (("flat10k", 5), ("flat1m", 3)):
            if self.quick and cloud == "flat1m":
                continue
            started = time.monotonic()
            url, times = self.databases.once(cloud), []
            say(f"{cloud} is there after {time.monotonic() - started:.0f} s")
            for _ in range(runs + 1):
                instance = Instance(self, url)
                times.append(instance.ready_s)
                instance.stop()
            self.facts[f"ready_{cloud}"] = statistics.median(times[1:])
            say(f"{cloud}: ready after {', '.join(f'{t:.2f}' for t in times)} s, the first time included")

    def script(self, name, *arguments, before=()):
        """Runs a test that measures what a row needs. Returns whether it passed, and what it printed."""
        done = subprocess.run([*before, PYTHON, os.path.join(TESTS, name), "--berthd", self.binary, *arguments],
                              stdout=subprocess.PIPE, text=True)
        print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="", flush=True)
        return done.returncode == 0, done.stdout

    def outage(self):
        passed, text = self.script("outage.py", *self.outage_options, "--every", "--rounds", str(6 if self.quick else 100))
        found = [(int(n), float(s)) for n, s in re.findall(r"(\d+) rounds, at most ([\d.]+) s", text)]
        self.facts["outage"] = {"passed": passed, "rounds": sum(n for n, _ in found),
                                "longest_s": max((s for _, s in found), default=0)}

    def stale_reads(self, *options, before):
        """Each write is read at two instances; with more clients, batches are larger and a million takes less time."""
        passed, text = self.script("read_your_writes.py", "--instances", "3", "--clients", "16",
                                   "--attempts", str(20000 if self.quick else 1000000), *options,
                                   before=(PYTHON, os.path.join(TESTS, before[0]), *before[1:], "--"))
        found = re.search(r"(\d+) attempts, ", text)
        self.facts["stale"] = {"passed": passed, "attempts": int(found[1]) if found else 0}

    def measure(self, names):
        for row in self.ROWS:
            if f"{self.prefix}_{row}" in names:
                getattr(self, row)()

    def keep(self, name, cell):
        self.cells.setdefault(name, {})[str(cell["connections"])] = cell

    def keep_reference(self, name, cell):
        self.reference_cells.setdefault(name, {})[str(cell["connections"])] = cell


def pair(own, other):
    """(ratio, own, other)"""
    return round(own / max(other, 0.001), 3), round(own, 1), round(other, 1)


def median_by(items, key):
    return sorted(items, key=key)[len(items) // 2]


def other_answers(cell):
    """Requests that were not answered with 204."""
    return sum(cell["status"].values()) + cell["failed"] + cell["unanswered"] - cell["status"].get("204", 0)
