"""berth on PostgreSQL: one and two instances, compared with the Python service on the same server, with libpq alone, and
with the embedded store. Everything that is compared is measured alternately.

The server has PostgreSQL's default settings, the durable ones included. Each cell of writes, and each one of libpq that
is compared with it, starts on a fresh copy of its cloud, directly after a checkpoint."""

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import clouds
import measure
import questions
import reference
from targets import good_rate, median_cell, run_json, say, say_cell

HERE = os.path.dirname(os.path.abspath(__file__))
DATABASES = os.path.join(os.path.dirname(HERE), "tests", "databases")
PYTHON = "/usr/bin/python3"
MEASURED = "measured"  # the database of the cell
NAMES = ("pg_claims", "pg_single", "pg_two", "pg_get", "pg_candidates", "pg_start", "pg_stale", "pg_outage")
REFERENCE_CELLS = (("claim", 16), ("claim", 256), ("flat_10", 16))


def missing():
    needed = ("/usr/lib/postgresql/15/bin/postgres", "/usr/bin/uwsgi", reference.MANAGE, "/usr/bin/placement-api")
    return [path for path in needed if not os.path.exists(path)]


class Databases:
    """A PostgreSQL server in the work directory, with a database for each cloud, and copies of these."""

    def __init__(self, work):
        sys.path.append(DATABASES)
        import postgres
        self.work, self.clouds = work, set()
        usual, tempfile.tempdir = tempfile.tempdir, work  # its disk is measured
        try:
            self.server = postgres.Postgres({"log_line_prefix": "%m [%p] %d "})  # for statements_of()
        finally:
            tempfile.tempdir = usual
        try:
            self.server.start()
        except BaseException:
            self.server.end()
            raise

    def _run(self, text):
        return self.server.sql(text, database="postgres")

    def template(self, cloud):
        """The name of the database that has the cloud; nobody connects to it."""
        name = f"cloud_{cloud}"
        if cloud not in self.clouds:
            self.server.create_database(name)
            with contextlib.closing(self.server.connect(name)) as connection:
                clouds.fill_postgres(cloud, connection, self.server.url(name), self.work, reference.MANAGE)
            self.clouds.add(cloud)
        return name

    def copy(self, cloud, name=MEASURED):
        """A new copy of the cloud; returns its URL."""
        template = self.template(cloud)
        self._run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        # copies files between two checkpoints
        self._run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy OWNER {self.server.user}")
        return self.server.url(name, driver="postgresql")

    # For the Python service.

    def fill(self, cloud):
        self.copy(cloud, f"python_{cloud}")

    def url(self, cloud):
        return self.server.url(f"python_{cloud}")

    def pids(self):
        return measure.family(self.server.process.pid)

    def cpu_s(self):
        return measure.tree_cpu_s(self.server.process.pid)

    def close(self):
        self.server.end()


class Instance:
    """berthd on a database of the server. What the server uses is counted in."""

    close_each = False

    def __init__(self, bench, url):
        self.databases = bench.databases
        self.program = measure.berthd(bench.binary, url, bench.work)
        self.port, self.ready_s = self.program.port, self.program.ready_s

    def cpu_s(self):
        return self.program.cpu_s() + self.databases.cpu_s()

    def stop(self):
        self.program.stop()


def statements_of(log, database):
    """The statements of the last transaction that wrote a batch, as the server logged them for the database."""
    sessions = {}
    for line in log.splitlines():
        found = re.search(r"\[(\d+)\] " + database + r" LOG:  execute [^:]*: (.*)", line)
        if found:
            sessions.setdefault(found[1], []).append(found[2])
    for texts in sessions.values():
        last = max((i for i, text in enumerate(texts) if text.startswith("INSERT INTO berth_log")), default=None)
        if last is not None:
            begin = max(i for i in range(last) if texts[i].startswith("BEGIN"))
            return texts[begin:texts.index("COMMIT", last) + 1]
    return []


class Bench:
    def __init__(self, binary, build, work, loader, kept=None, quick=False):
        """kept: the figures of the Python service, if it is not measured now."""
        self.binary, self.build, self.work, self.loader = binary, build, work, loader
        self.kept, self.quick = kept, quick
        self.rounds, self.seconds = (2, 1) if quick else (5, 4)
        self.facts, self.cells, self.reference_cells = {}, {}, {}
        self.databases = Databases(work)
        self.python = None

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

    def log_number(self):
        return self.databases.server.sql("SELECT coalesce(max(number), 0) FROM berth_log", database=MEASURED)[0][0]

    def claim_cell(self, connections):
        """Claims at one instance on a fresh copy, with the mean size of a batch and the CPU of each side."""
        instance = Instance(self, self.databases.copy("big1k"))
        try:
            self.loader.cell(instance, self.file("claim"), 16, 0.2)
            before, own = self.log_number(), instance.program.cpu_s()
            cell = self.loader.cell(instance, self.file("claim"), connections, self.seconds)
            cell["berthd_us"] = (instance.program.cpu_s() - own) * 1e6 / max(cell["requests"], 1)
            cell["mean_batch"] = max(1, good_rate(cell) * cell["seconds"] / max(self.log_number() - before, 1))
            say_cell("claim", cell)
        finally:
            instance.stop()
        return cell

    def raw(self, mean_batch):
        """libpq alone, on a fresh copy."""
        url = self.databases.copy("big1k")
        found = run_json(os.path.join(self.build, "bench", "limit_postgres"), url, f"{mean_batch:.2f}", str(self.seconds))
        say(f"libpq, {found['mean_batch']:.1f} claims each: {found['claims_per_s']:.0f} claims/s, p50 {found['p50_us']:.0f} us,"
            f" server {found['backend_us_per_claim']:.0f} us a claim")
        return found

    # The rows.

    def check_raw(self):
        """limit_postgres must send what berthd sends."""
        sent = []
        for program in (self.claim_twice, lambda url: run_json(
                os.path.join(self.build, "bench", "limit_postgres"), url, "1", "0.01")):
            url = self.databases.copy("big1k")
            self.databases.server.sql(f"ALTER DATABASE {MEASURED} SET log_statement = 'all'")
            at = len(self.databases.server.log())
            program(url)
            sent.append(statements_of(self.databases.server.log()[at:], MEASURED))
        if sent[0] != sent[1] or not sent[0]:
            raise RuntimeError(f"limit_postgres does not send what berthd sends:\n{sent[0]}\n{sent[1]}")
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
        """The latency of one client's claims, and of libpq's batches of one claim."""
        rounds = []
        for _ in range(self.rounds):
            own = self.claim_cell(1)
            rounds.append((own, self.raw(1)))
        own, raw = median_by(rounds, lambda r: r[0]["p50_us"] / r[1]["p50_us"])
        self.keep("claim", own)
        self.facts["single"] = pair(own["p50_us"], raw["p50_us"])
        say(f"one client's claim: {self.facts['single']}")

    def two_rates(self, connections):
        """Good rates of as many instances, at the same time."""
        url, claims = self.databases.copy("big1k"), self.file("claim")
        with contextlib.ExitStack() as stack:
            instances = []
            for _ in connections:
                instances.append(Instance(self, url))
                stack.callback(instances[-1].stop)
            for instance in instances:
                self.loader.cell(instance, claims, 16, 0.2)
            running = [self.loader.start(instance, claims, count, self.seconds)
                       for instance, count in zip(instances, connections)]
            return [self.loader.finish(process) for process in running]

    def two(self):
        rounds = []
        for _ in range(self.rounds):
            one, both = self.two_rates((32,)), self.two_rates((16, 16))
            rates = [good_rate(cell) for cell in both]
            answers = [sum(cell["status"].values()) + cell["failed"] + cell["unanswered"] - cell["status"].get("204", 0)
                       for cell in one + both]
            rounds.append({"one": good_rate(one[0]), "rates": rates, "other_answers": sum(answers)})
            say(f"two instances: {rounds[-1]}")
        middle = median_by(rounds, lambda r: sum(r["rates"]) / r["one"])
        self.facts["two"] = middle | {
            "least_share": statistics.median(min(r["rates"]) / sum(r["rates"]) for r in rounds),
            "other_answers": sum(r["other_answers"] for r in rounds)}

    def select(self, connections):
        url = self.databases.server.url(MEASURED, driver="postgresql")
        return run_json(os.path.join(self.build, "bench", "limit_select"), url, str(connections), str(self.seconds / 2))

    def get(self):
        """GET of one provider on the embedded store and on PostgreSQL, and SELECT 1."""
        embedded = measure.berthd(self.binary, clouds.sqlite_copy("flat1k", self.work), self.work)
        instance = Instance(self, self.databases.copy("flat1k"))
        try:
            for connections in (1, 16):
                rounds = []
                for _ in range(self.rounds):
                    rounds.append([self.loader.cell(target, self.file("get_one"), connections, self.seconds / 2)
                                   for target in (embedded, instance)] + [self.select(connections)])
                own = median_cell([r[1] for r in rounds])
                self.keep("get_one", own)
                say_cell("get_one", own)
                self.facts[f"get_{connections}"] = {
                    "rps": median_by([pair(r[1]["rps"], r[0]["rps"]) for r in rounds], lambda p: p[0]),
                    "p50": median_by([pair(r[1]["p50_us"], r[2]["p50_us"]) for r in rounds], lambda p: p[0]),
                    "added": median_by([pair(r[1]["p50_us"] - r[0]["p50_us"], r[2]["p50_us"]) for r in rounds],
                                       lambda p: p[0])}
                say(f"GET at {connections}: {self.facts[f'get_{connections}']}")
        finally:
            embedded.stop()
            instance.stop()

    def candidates(self):
        instance = Instance(self, self.databases.copy("flat1k"))
        rounds = []
        try:
            for _ in range(self.rounds):
                theirs = self.reference_cell("flat_10", 16)
                rounds.append((self.loader.cell(instance, self.file("flat_10"), 16, self.seconds / 2), theirs))
        finally:
            instance.stop()
        own = median_cell([r[0] for r in rounds])
        self.keep("flat_10", own)
        say_cell("flat_10", own)
        if rounds[0][1]:
            own, theirs = median_by(rounds, lambda r: r[1]["cpu_us"] / r[0]["cpu_us"])
            self.keep_reference("flat_10", theirs)
            self.facts["candidates"] = pair(theirs["cpu_us"], own["cpu_us"])
            say(f"candidates: {self.facts['candidates']}")

    def start(self):
        """The first start on a copy creates berth's own tables, so it is not counted."""
        for cloud, runs in (("flat10k", 5), ("flat1m", 3)):
            if self.quick and cloud == "flat1m":
                continue
            started = time.monotonic()
            url, times = self.databases.copy(cloud), []
            say(f"{cloud} filled and copied in {time.monotonic() - started:.0f} s")
            for _ in range(runs + 1):
                instance = Instance(self, url)
                times.append(instance.ready_s)
                instance.stop()
            self.facts[f"ready_{cloud}"] = statistics.median(times[1:])
            say(f"{cloud}: ready after {', '.join(f'{t:.2f}' for t in times)} s, the first time included")

    def script(self, name, *arguments, before=()):
        """Runs a test that measures what a row needs. Returns whether it passed, and what it printed."""
        done = subprocess.run([*before, PYTHON, os.path.join(DATABASES, name), "--berthd", self.binary, *arguments],
                              stdout=subprocess.PIPE, text=True)
        print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="", flush=True)
        return done.returncode == 0, done.stdout

    def stale(self):
        """Each write is read at two instances; with more clients, batches are larger and a million takes less time."""
        passed, text = self.script("read_your_writes.py", "--instances", "3", "--clients", "16",
                                   "--attempts", str(20000 if self.quick else 1000000),
                                   before=(PYTHON, os.path.join(DATABASES, "with_postgres.py"), "--"))
        self.facts["stale"] = {"passed": passed, "attempts": int(re.search(r"(\d+) attempts, ", text)[1])}

    def outage(self):
        passed, text = self.script("outage.py", "--every", "--rounds", str(6 if self.quick else 100))
        found = [(int(n), float(s)) for n, s in re.findall(r"(\d+) rounds, at most ([\d.]+) s", text)]
        self.facts["outage"] = {"passed": passed, "rounds": sum(n for n, _ in found), "longest_s": max(s for _, s in found)}

    def measure(self, names):
        acts = {"pg_claims": self.claims, "pg_single": self.single, "pg_two": self.two, "pg_get": self.get,
                "pg_candidates": self.candidates, "pg_start": self.start, "pg_stale": self.stale, "pg_outage": self.outage}
        for name in names:
            acts[name]()

    def keep(self, name, cell):
        self.cells.setdefault(name, {})[str(cell["connections"])] = cell

    def keep_reference(self, name, cell):
        self.reference_cells.setdefault(name, {})[str(cell["connections"])] = cell


def pair(own, other):
    """(ratio, own, other)"""
    return round(own / max(other, 0.001), 3), round(own, 1), round(other, 1)


def median_by(items, key):
    return sorted(items, key=key)[len(items) // 2]
