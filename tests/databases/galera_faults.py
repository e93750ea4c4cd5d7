#!/usr/bin/python3
"""Three Galera nodes behind HAProxy in kolla-ansible's shape, which fail in every way while three instances of berthd serve.

    tests/databases/galera_faults.py --berthd build/berthd [--faults NAME,…] [--rounds N] [--seed N] [--clients N]
                                     [--providers N] [--pause SECONDS] [--keep DIRECTORY]

Two instances reach the cluster through HAProxy; the third has a node of its own, so that two nodes write. Clients claim and
release capacity at random instances, and read at others what was acknowledged. After each fault, every instance must acknowledge
writes again. In some faults the cluster loses commits that it has acknowledged. From `beside_python` on, the Python service serves the
same clients.

At the end: every acknowledged write is in the tables of every node, except those that the cluster lost, each of which an
instance has named in its file; nothing that was refused is; no capacity is or was exceeded by berth (over_capacity.py); no read
was stale; all instances, a new one and the Python service answer the same.
"""

import argparse
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import pymysql  # noqa: E402
import servers  # noqa: E402
import soak_checks  # noqa: E402
from galera import MARIABACKUP, Galera  # noqa: E402
from haproxy import Balancer  # noqa: E402
from mariadb import KOLLA  # noqa: E402
from processes import Failure, wait_until  # noqa: E402
from soak_clients import Clients, Journal  # noqa: E402

PROVIDERS, CAPACITY = 10, 16
CHECKS_MS = 100  # between two of HAProxy's checks, instead of two seconds
PATIENCE_S = 120
WRITES_AGAIN, LOST_WRITES_LEAST = 3, 5
DISK_MB = 160
FULL = "No space left on device|Disk is full|Errcode: 28"  # what a server says in its log


class Service:
    """is_strict: it reads what was acknowledged on another node. The Python service does not wait until its node has it."""

    def __init__(self, name, server, is_python=False):
        self.name, self.server, self.is_python, self.is_strict = name, server, is_python, not is_python

    @property
    def port(self):
        return self.server.port


class Cloud:
    """What runs. `current`: any node that the tables can be read from."""

    def __init__(self, arguments, stack, directory):
        self.program, self.directory, self.stack = arguments.berthd, directory, stack
        self.cluster = stack.enter_context(Galera(options={**KOLLA, "log_slave_updates": True}, copies=MARIABACKUP))
        self.balancer = stack.enter_context(Balancer(self.cluster.nodes, inter_ms=CHECKS_MS))
        for node in self.cluster.nodes:
            self.balancer.await_up(node.name)
        self.urls = [self.balancer.url(), self.balancer.url(), self.cluster.nodes[2].url()]
        self.instances = [Service(f"instance {number}", self.start(url)) for number, url in enumerate(self.urls)]
        self.services = list(self.instances)
        self.journal = Journal(os.path.join(directory, "journal"))

    def start(self, url):
        more = ["[berth]", f"loss_directory = {self.directory}"]
        return self.stack.enter_context(servers.Berthd(self.program, self.directory, connection=url, options=more))

    def start_python(self):
        python = servers.PythonService(self.directory, sync=False, connection=self.balancer.url())
        return self.stack.enter_context(python)

    @property
    def current(self):
        members = self.cluster.members()
        if not members:
            raise pymysql.OperationalError("no node is in the primary component")
        return members[-1]

    def await_writes(self, service, number):
        before = self.journal.count_of(service)
        wait_until(lambda: self.journal.count_of(service) >= before + number,
                   lambda: f"{service.name} acknowledges nothing: {dict(self.journal.counts)}, {service.server.log()[-2000:]}",
                   PATIENCE_S)

    def await_all(self, number=WRITES_AGAIN):
        for service in self.services:
            self.await_writes(service, number)

    def await_named(self, instances, seen):
        """seen: how often each had named what was lost before."""
        for instance in instances:
            wait_until(lambda: named_by(instance) > seen[instance], lambda: f"{instance.name} does not notice: {instance.server.log()[-2000:]}",
                       PATIENCE_S)


def named_by(instance):
    return instance.server.log().count("names all of it")


class Faults:
    """Each method is a fault, after which the cluster is whole again."""

    def __init__(self, cloud, draw):
        self.cloud, self.cluster, self.balancer, self.draw = cloud, cloud.cluster, cloud.balancer, draw

    def used(self):
        """The node that HAProxy leads to."""
        return max(self.cluster.nodes[:2], key=self.balancer.sessions)

    def other(self, node):
        return self.draw.choice([other for other in self.cluster.nodes if other is not node])

    def wait(self, least, most=None):
        time.sleep(self.draw.uniform(least, most or least))

    def beside_python(self):
        """What the Python service writes is not named if it is lost before an instance has read it."""
        if not any(service.is_python for service in self.cloud.services):
            self.cloud.services.append(Service("python", self.cloud.start_python(), True))

    # Nodes that end.

    def kill_used(self):
        node = self.used()
        node.kill()
        self.wait(0.5, 2)
        node.start()

    def kill_other(self):
        node = self.other(self.used())
        node.kill()
        self.wait(0.5, 2)
        node.start()

    def kill_own(self):
        """That of the instance which has no other."""
        self.cluster.nodes[2].kill()
        self.wait(0.5, 2)
        self.cluster.nodes[2].start()

    def kill_two(self):
        """In quick succession: the third has no quorum, until they are back."""
        node = self.used()
        for one in (node, self.other(node)):
            one.kill()
            self.wait(0.05, 0.5)
        self.wait(1, 2)
        for one in self.cluster.nodes:
            if not one.is_running():
                one.launch()
        self.cluster.await_size(3)

    def kill_all(self):
        """At once, and they remember each other."""
        self.cluster.kill_all()
        self.wait(0.1, 1)
        self.cluster.start_all()

    def recover(self):
        """At once, and the operator begins the cluster with the node that has the most."""
        self.cluster.kill_all()
        self.wait(0.1, 1)
        self.cluster.recover()

    def stop_used(self):
        node = self.used()
        node.stop()
        self.wait(0.1, 1)
        node.start()

    def replace_used(self):
        self.used().replace()

    # Nodes that say nothing, or that nobody hears.

    def freeze_briefly(self):
        """For less time than until the others notice."""
        node = self.used()
        node.freeze()
        self.wait(0.2, 0.6)
        node.thaw()

    def freeze(self):
        node = self.used()
        node.freeze()
        self.wait(2, 4)
        node.thaw()
        self.cluster.await_size(3)

    def freeze_all(self):
        for node in self.cluster.nodes:
            node.freeze()
        self.wait(0.5, 2)
        for node in self.cluster.nodes:
            node.thaw()
        self.cluster.await_size(3)

    def isolate(self):
        node = self.used()
        node.isolate()
        self.wait(2, 4)
        node.isolate(False)
        self.cluster.await_size(3)

    # Nodes that are behind.

    def desync(self):
        node = self.used()
        node.desync()
        self.wait(1)
        node.desync(False)
        self.cluster.await_size(3)

    def held_back(self):
        """The node in use executes nothing: reads and writes wait, or are refused."""
        with self.used().held_back():
            self.wait(0.5, 2)

    def behind(self):
        """HAProxy leads to a node that is behind."""
        old, new = self.cluster.nodes[:2]
        with new.held_back():
            self.wait(0.5)
            self.balancer.use(new)
            self.balancer.end_sessions(old)
            self.wait(1)
        self.balancer.use_any()

    def switch(self):
        """To and fro. Old sessions stay where they are, and every other time they are ended."""
        for number in range(6):
            old, new = self.used(), self.cluster.nodes[(number + 1) % 2]
            self.balancer.use(new)
            if number % 2:
                self.balancer.end_sessions(old)
            self.wait(0.2, 0.5)
        self.balancer.use_any()

    def full_disk(self):
        """The node in use cannot write until somebody removes something. Before, it gets a disk of its own."""
        node = self.cluster.nodes[0]
        node.stop()
        kept = node.data + "-kept"
        os.rename(node.data, kept)
        node.place.make_directory("data")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "berth-test", node.data], stderr=subprocess.DEVNULL).returncode:
            os.rmdir(node.data)
            os.rename(kept, node.data)
            raise Failure("no tmpfs can be mounted here")
        try:
            subprocess.run(["cp", "-a", kept + "/.", node.data], check=True)
            node.place.own(node.data)
            node.start()
            self.balancer.use_any()
            self.cloud.await_all()
            with contextlib.suppress(OSError), open(node.data + "/ballast", "wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
            wait_until(lambda: re.search(FULL, node.log()), lambda: f"the disk is not full: {node.log()[-2000:]}")
            self.wait(5)
            print("       " + " ".join(str((service.name, self.cloud.journal.count_of(service))) for service in self.cloud.services))
            os.unlink(node.data + "/ballast")
            if not node.is_running():
                node.start()
            self.cluster.await_size(3)
            self.cloud.await_all()
        finally:
            if node.is_running():
                node.stop()
            subprocess.run(["cp", "-a", node.data + "/.", kept], check=True)
            subprocess.run(["umount", "-l", node.data], check=True)
            os.rmdir(node.data)
            os.rename(kept, node.data)
        node.start()

    # The cluster loses what it has acknowledged.

    @contextlib.contextmanager
    def losing(self, instances):
        """What these acknowledge from now on may be lost, until the journal is told that it is no more. Each of them must then
        name it."""
        assert not any(service.is_python for service in self.cloud.services), "its lost writes need not be named"
        seen = {instance: named_by(instance) for instance in instances}
        self.cloud.journal.lose_from_now()
        yield
        self.cloud.await_named(instances, seen)

    def split(self):
        """The node in use has lost the others, and somebody makes it go on alone. Its commits are lost when it joins again. After
        another fault, instances may still have sessions on the second node, and what they write there is not lost."""
        alone, second = self.cluster.nodes[:2]
        self.balancer.end_sessions(second)
        wait_until(lambda: self.balancer.sessions(second) == 0, "sessions stay on the second node")
        with self.losing(self.cloud.instances[:2]):
            alone.isolate()
            wait_until(lambda: not alone.is_primary(), "the node does not notice that it is alone")
            alone.set_provider(**{"pc.bootstrap": 1})
            alone.await_ready()
            self.cloud.await_all(LOST_WRITES_LEAST)
            alone.kill()
            self.cloud.journal.lose_no_more()
            alone.wipe()
        alone.start()

    def begin_with_oldest(self):
        """All have ended at once, and somebody begins the cluster with a node that was behind, and discards the others."""
        oldest, *others = self.cluster.nodes[1], self.cluster.nodes[0], self.cluster.nodes[2]
        with self.losing(self.cloud.instances):
            with contextlib.suppress(pymysql.MySQLError), oldest.held_back():
                self.cloud.await_all(LOST_WRITES_LEAST)
                self.cluster.kill_all()
            self.cloud.journal.lose_no_more()
            oldest.options["wsrep_desync"] = False
            for node in others:
                node.wipe()
            self.cluster.recover([oldest])
            for node in others:
                node.start()

    def restore_backup(self):
        """The operator goes back to a backup of one node, made while all served; the others get a copy of it."""
        first, *others = self.cluster.nodes
        with self.losing(self.cloud.instances):
            backup = first.back_up("backup")
            self.cloud.await_all(LOST_WRITES_LEAST)
            self.cluster.kill_all()
            self.cloud.journal.lose_no_more()
            first.restore(backup)
            for node in others:
                node.wipe()
                node.start()
        shutil.rmtree(backup)


FAULTS = ("split", "begin_with_oldest", "restore_backup", "full_disk", "beside_python", "kill_used", "kill_other", "kill_own",
          "kill_two", "kill_all", "recover", "stop_used", "replace_used", "freeze_briefly", "freeze", "freeze_all", "isolate",
          "desync", "held_back", "behind", "switch")


class Run:
    def __init__(self, cloud, arguments):
        self.cloud, self.arguments = cloud, arguments
        self.draw = random.Random(arguments.seed)
        self.faults = Faults(cloud, self.draw)
        self.playing = "the beginning"

    def play(self, score):
        cloud = self.cloud
        client = servers.Client(cloud.instances[0].port)
        providers = [str(uuid.UUID(int=self.draw.getrandbits(128))) for _ in range(self.arguments.providers)]
        for number, provider in enumerate(providers):
            client.make_provider(provider, f"host{number}", VCPU=CAPACITY)
        clients = Clients(cloud.journal, cloud.services, providers, self.arguments.clients, self.arguments.pause, self.arguments.seed)
        clients.start()
        try:
            with soak_checks.ClusterAuditor(cloud, cloud.journal, lambda: self.playing) as auditor:
                cloud.await_all()
                for name in [name for name in self.arguments.faults.split(",") for _ in range(self.arguments.rounds)]:
                    self.play_one(name, score)
        finally:
            clients.end()
        return auditor

    def play_one(self, name, score):
        began = time.monotonic()
        self.playing = name
        try:
            getattr(self.faults, name)()
            back = time.monotonic()
            self.playing = f"what follows {name}"
            self.cloud.await_all()
            wrong = None
        except (Failure, pymysql.MySQLError) as problem:
            wrong, back = repr(problem), time.monotonic()
        now = time.monotonic()
        score.case(f"{name}: every instance acknowledges writes afterwards", wrong, now - began)
        print(f"       {now - back:.1f} s after it; {dict(self.cloud.journal.counts)}", flush=True)
        if wrong:
            raise SystemExit(score.end() or 1)

    def check(self, auditor, score):
        cloud = self.cloud
        for instance in cloud.instances:
            ended = instance.server.process.poll()
            score.case(f"{instance.name} has not ended", None if ended is None else f"with {ended}: {instance.server.log()[-3000:]}")
        cloud.cluster.await_same()
        tables = [soak_checks.state_of_tables(node) for node in cloud.cluster.nodes]
        score.case("all nodes have the same tables", None if all(table == tables[0] for table in tables) else "not all")
        for what, wrong in soak_checks.journal_findings(cloud.journal, tables[0], cloud.directory):
            score.case(what, wrong)
        soak_checks.finish_for_python(cloud.journal, cloud.cluster.nodes[0])
        cloud.cluster.await_same()
        fresh, python = cloud.start(cloud.balancer.url()), cloud.start_python()
        for what, wrong in soak_checks.replica_findings(cloud, cloud.instances, fresh, python):
            score.case(what, wrong)
        for what, wrong in auditor.findings():
            score.case(what, wrong)
        wrong = cloud.journal.wrong
        score.case("no answer was wrong or stale", f"{len(wrong)}: {wrong[:3]}" if wrong else None)
        lost = soak_checks.gone(cloud.journal, tables[0])
        print(f"{dict(cloud.journal.counts)}; acknowledged by {dict(cloud.journal.acknowledged)}; {len(lost)} lost by the cluster; "
              f"{auditor.times} audits")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--faults", default=",".join(FAULTS), metavar="NAME,…", help="of " + ", ".join(FAULTS))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--providers", type=int, default=PROVIDERS, help="fewer are full more often")
    parser.add_argument("--pause", type=float, default=0.02, metavar="SECONDS", help="of a client between two requests")
    parser.add_argument("--keep", metavar="DIRECTORY", help="the journal and the logs are copied there")
    arguments = parser.parse_args()
    score, directory = servers.Score(), tempfile.mkdtemp(prefix="berth-galera-")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        if arguments.keep:
            stack.callback(shutil.copytree, directory, arguments.keep, dirs_exist_ok=True)
        run = Run(Cloud(arguments, stack, directory), arguments)
        run.check(run.play(score), score)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
