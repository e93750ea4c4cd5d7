"""The faults of soak.py: a schedule from a seed, and what it does to the instances and their database, PostgreSQL."""

import collections
import contextlib
import os
import signal
import threading
import time

import soak_checks
from faulty_proxy import FaultyProxy
from pgbouncer import PgBouncer
from postgres import Postgres, servers, url
from standby import Standby

INSTANCES, POOLED = 3, {1}  # those behind PgBouncer
START_SECONDS_MOST = 300
SPARES = {"wal_keep_size": "4GB"}  # the standby must find what it has missed
BOUNCER_OPTIONS = {"server_login_retry": 1, "max_client_conn": 200}
PAUSES = 0.2, 1.5  # seconds between two faults


def schedule(seed_draw, seconds, names, faults):
    """[(seconds from the beginning, name, arguments)], the same for the same seed."""
    found, at = [], 0
    while True:
        at += seed_draw.uniform(*PAUSES)
        if at >= seconds:
            return found
        name = seed_draw.choice(names)
        arguments = faults[name](seed_draw)
        found.append((round(at, 3), name, arguments))
        at += arguments.get("seconds", 0)


def any_instance(draw):
    return draw.randrange(INSTANCES)


INSTANCE_FAULTS = {
    "kill": lambda draw: {"instance": any_instance(draw)},
    "kill_all": lambda draw: {},
    "freeze": lambda draw: {"instance": any_instance(draw), "seconds": draw.choice([0.3, 1, 6])},
    "cut": lambda draw: {"instance": any_instance(draw), "reset": draw.random() < 0.5},
    "cut_commit": lambda draw: {"instance": any_instance(draw), "sender": draw.choice(["client", "server"]),
                                "when": draw.choice(["before", "after"]), "seconds": 0.3},
    "swallow": lambda draw: {"instance": any_instance(draw), "seconds": round(draw.uniform(0.1, 2), 3)},
    "delay": lambda draw: {"instance": any_instance(draw), "latency": round(draw.uniform(0.001, 0.05), 4),
                           "seconds": round(draw.uniform(0.5, 1.5), 3)},
}
FAULTS = {
    **INSTANCE_FAULTS,
    "restart": lambda draw: {"how": draw.choice(["fast", "immediate"])},
    "kill_server": lambda draw: {},
    "freeze_server": lambda draw: {"seconds": round(draw.uniform(0.2, 4), 3)},
    "restart_bouncer": lambda draw: {},
}


def start(service):
    """The server may be down, or its connection may end: as a service manager would, tries again."""
    end = time.monotonic() + START_SECONDS_MOST
    while True:
        try:
            service.start(START_SECONDS_MOST)
            return
        except RuntimeError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


class Instance:
    """berthd behind proxies of its own, which the databases make. `lock` is held while it is killed,
    started or stopped."""

    is_python, is_strict = False, True

    def __init__(self, number, databases, program, directory):
        self.name = f"instance {number}"
        self.number = number
        self.lock = threading.Lock()
        self.unexpected = []  # ends that nobody caused
        self.proxies = databases.make_proxies(number)
        self.berth = servers.Berthd(program, directory, connection=databases.url_through(self.proxies),
                                    options=["[berth]", f"loss_directory = {directory}"])

    @property
    def port(self):
        return self.berth.port

    def start(self):
        start(self.berth)

    def note_end(self):
        if self.berth.process.poll() is not None:
            self.unexpected.append(f"{self.name} ended with {self.berth.process.returncode}: {self.berth.log()[-3000:]}")

    def recover(self):
        for proxy in self.proxies:
            proxy.recover()

    def end(self):
        self.berth.end()
        for proxy in self.proxies:
            proxy.end()


class Python:
    """The Python service on the same database. is_strict: it never reads what is older than an acknowledged write."""

    name, is_python = "python", True

    def __init__(self, server, directory, is_strict):
        self.is_strict = is_strict
        self.service = servers.PythonService(directory, sync=False, connection=server.url())

    @property
    def port(self):
        return self.service.port

    def __enter__(self):
        start(self.service)
        return self

    def __exit__(self, *exception):
        self.service.end()


class Databases:
    """The primary, its standby, PgBouncer, and an old snapshot that is held open. Instances have both servers in their URL, or
    PgBouncer."""

    has_standby, python_is_strict = True, True

    def __init__(self, stack):
        self.primary = stack.enter_context(Postgres(options=SPARES))
        self.standby = stack.enter_context(Standby(self.primary))
        self.bouncer = stack.enter_context(PgBouncer(self.primary, BOUNCER_OPTIONS))
        self.current = self.primary
        self.snapshot = None

    def make_proxies(self, number):
        ports = [self.bouncer.port] if number in POOLED else [self.primary.port, self.standby.port]
        return [FaultyProxy(port) for port in ports]

    def url_through(self, proxies):
        server, first = self.primary, proxies[0].port
        if len(proxies) == 1:
            return server.url(port=first)
        hosts = "&".join(f"host=127.0.0.1:{proxy.port}" for proxy in proxies)
        attributes = f"?{hosts}&target_session_attrs=read-write"
        return url(server.user, server.password, server.database, first).replace(f"127.0.0.1:{first}", "") + attributes

    def switcher(self, _seed):
        """None: nothing leads to another server but a promotion."""
        return contextlib.nullcontext()

    def auditor(self, _journal, _playing):
        """The Python service exceeds no capacity on PostgreSQL: its transactions see what is committed meanwhile."""
        return soak_checks.Auditor(self)

    def hold_snapshot(self):
        """As a backup holds it. The end of a server ends it: then again."""
        self.drop_snapshot()
        self.snapshot = self.current.connect()
        self.snapshot.autocommit = False
        with self.snapshot.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SELECT count(*) FROM berth_log")

    def detach(self, seconds):
        """From now on the standby gets no commits; it has all that were acknowledged before."""
        self.standby.await_caught_up(seconds)
        self.standby.detach()

    def fail_over(self):
        self.primary.kill()

    def promote(self):
        self.standby.promote()
        self.current = self.standby
        self.bouncer.point_at(self.standby)
        self.hold_snapshot()

    def drop_snapshot(self):
        with contextlib.suppress(Exception):
            self.snapshot.close()


@contextlib.contextmanager
def stopped(process):
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


class InstanceFaults:
    """Does what a schedule names, to instances and their connections."""

    def __init__(self, databases, instances):
        self.databases, self.instances = databases, instances
        self.counts = collections.Counter()

    def play(self, events, seconds_most):
        """On a slow machine, the last ones are left out."""
        began = time.monotonic()
        for number, (at, name, arguments) in enumerate(events):
            if time.monotonic() - began > seconds_most:
                print(f"{len(events) - number} of {len(events)} faults are left out", flush=True)
                return
            while (left := began + at - time.monotonic()) > 0:
                time.sleep(min(left, 0.5))
            print(f"{time.monotonic() - began:8.1f} {name} {arguments}", flush=True)
            getattr(self, name)(**arguments)
            self.counts[name] += 1

    def kill(self, instance):
        one = self.instances[instance]
        with one.lock:
            one.note_end()
            one.berth.kill()
            one.start()

    def kill_all(self):
        with contextlib.ExitStack() as locks:
            for one in self.instances:
                locks.enter_context(one.lock)
                one.note_end()
                one.berth.kill()
            for one in self.instances:
                one.start()

    def freeze(self, instance, seconds):
        one = self.instances[instance]
        with one.lock:
            one.note_end()
            with stopped(one.berth.process):
                time.sleep(seconds)

    def cut(self, instance, reset):
        for proxy in self.instances[instance].proxies:
            proxy.cut_all(reset)

    def cut_commit(self, instance, sender, when, seconds):
        for proxy in self.instances[instance].proxies:
            proxy.cut(sender=sender, text="COMMIT", when=when)
        time.sleep(seconds)
        self.instances[instance].recover()

    def swallow(self, instance, seconds):
        for proxy in self.instances[instance].proxies:
            proxy.swallow_all()
        time.sleep(seconds)
        self.instances[instance].recover()

    def delay(self, instance, latency, seconds):
        for proxy in self.instances[instance].proxies:
            proxy.delay_all(latency)
        time.sleep(seconds)
        self.instances[instance].recover()


class Faults(InstanceFaults):
    """Also to PostgreSQL's servers and PgBouncer."""

    def restart(self, how):
        self.databases.current.restart(how)
        self.databases.hold_snapshot()

    def kill_server(self):
        self.databases.current.kill()
        self.databases.current.start()
        self.databases.hold_snapshot()

    def freeze_server(self, seconds):
        self.databases.current.freeze()
        time.sleep(seconds)
        self.databases.current.thaw()

    def restart_bouncer(self):
        self.databases.bouncer.stop()
        self.databases.bouncer.start()
