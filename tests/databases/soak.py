#!/usr/bin/python3
"""Three instances of berthd on one database while everything fails.

    tests/databases/soak.py --berthd build/berthd [--galera] [--minutes M] [--seed N] [--faults NAME,…] [--clients N]
                            [--pause SECONDS] [--no-python] [--keep DIRECTORY]

The database is PostgreSQL's, beside an old snapshot that stays open: one instance reaches the server through PgBouncer, the
others have the server and its standby in their URL. With --galera, it is that of three nodes behind HAProxy, which leads to
another one every few seconds (soak_galera.py).

Clients claim and release capacity at random instances, and read at others what was acknowledged. Meanwhile, by a schedule that depends on the seed
only: instances and servers are killed, stopped and restarted, connections are cut, delayed and swallowed. For a third of the
time, the Python service serves the same clients. At last the server fails, and its standby, which lacks the newest commits, is
promoted; then the faults go on.

At the end: every acknowledged write is in the tables, except those that the promotion lost, each of which an instance has named
in its file; nothing that was refused is; no capacity is or was exceeded by berth; no read was stale; all instances, a new one and
the Python service answer the same.
"""

import argparse
import contextlib
import os
import random
import shutil
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
import soak_checks  # noqa: E402
import soak_faults  # noqa: E402
import soak_galera  # noqa: E402
from processes import wait_until  # noqa: E402
from soak_clients import Clients, Journal  # noqa: E402

PROVIDERS, CAPACITY = 10, 16
LONGER_MOST = 1.5  # than the schedule
PATIENCE_S = 300  # for what a slow machine delays
PYTHON_WRITES_LEAST, LOST_WRITES_LEAST, WRITES_LEAST = 10, 15, 200


def kind_of(arguments):
    return soak_galera if arguments.galera else soak_faults


class Soak:
    def __init__(self, arguments, stack, directory):
        self.draw = random.Random(arguments.seed)
        self.kind = kind_of(arguments)
        self.seconds, self.names = arguments.minutes * 60, (arguments.faults or ",".join(self.kind.FAULTS)).split(",")
        self.clients, self.pause = arguments.clients, arguments.pause
        self.has_python = not arguments.no_python
        self.program, self.directory, self.seed = arguments.berthd, directory, arguments.seed
        self.databases = self.kind.Databases(stack)
        stack.callback(self.databases.drop_snapshot)
        self.instances = []
        for number in range(soak_faults.INSTANCES):
            self.instances.append(soak_faults.Instance(number, self.databases, self.program, directory))
            stack.callback(self.instances[-1].end)
            self.instances[-1].start()
        self.faults = self.kind.Faults(self.databases, self.instances)
        self.journal = Journal(os.path.join(directory, "journal"))
        self.services = list(self.instances)
        self.stack = stack
        self.stage = "without the Python service"

    def fill(self):
        client = servers.Client(self.instances[0].port)
        providers = [str(uuid.UUID(int=self.draw.getrandbits(128))) for _ in range(PROVIDERS)]
        for number, provider in enumerate(providers):
            client.make_provider(provider, f"host{number}", VCPU=CAPACITY)
        return providers

    def run(self):
        self.databases.hold_snapshot()
        clients = Clients(self.journal, self.services, self.fill(), self.clients, self.pause, self.seed)
        clients.start()
        try:
            with self.databases.auditor(self.journal, lambda: self.stage) as auditor, self.databases.switcher(self.seed) as self.switcher:
                self._play(1 / 3)
                self._beside_python()
                self._play(4 / 15)
                if self.databases.has_standby:
                    self._promote()
                self._play(1 / 15)
        finally:
            clients.end()
        for instance in self.instances:
            instance.recover()
        return auditor

    def _play(self, share):
        seconds = share * self.seconds
        self.faults.play(soak_faults.schedule(self.draw, seconds, self.names, self.kind.FAULTS), LONGER_MOST * seconds)

    def _python(self, server):
        return soak_faults.Python(server, self.directory, self.databases.python_is_strict)

    def _await_writes(self, service, number):
        before = self.journal.count_of(service)
        wait_until(lambda: self.journal.count_of(service) >= before + number,
                   f"{service.name} acknowledges nothing: {dict(self.journal.counts)}", PATIENCE_S)

    def _beside_python(self):
        if not self.has_python:
            self._play(1 / 3)
            return
        with self._python(self.databases.primary) as python:
            print("the Python service runs", flush=True)
            self.stage = "with the Python service"
            self.services.append(python)
            self._play(1 / 3)
            self._await_writes(python, PYTHON_WRITES_LEAST)
            self.services.remove(python)
        print("the Python service has ended", flush=True)
        self.stage = "after the Python service"

    def _promote(self):
        """All instances have acknowledged writes that the standby never gets."""
        print("the standby is detached", flush=True)
        self.journal.lose_from_now()
        self.databases.detach(PATIENCE_S)
        for instance in self.instances:
            self._await_writes(instance, LOST_WRITES_LEAST)
        self.databases.fail_over()
        self.journal.lose_no_more()
        print("the standby is promoted", flush=True)
        self.databases.promote()
        for instance in self.instances:
            self._await_writes(instance, 1)
            wait_until(lambda: "names all of it" in instance.berth.log(), f"{instance.name} has not noticed it", PATIENCE_S)

    def findings(self, auditor):
        """[(what, None or what is wrong)]"""
        for instance in self.instances:
            instance.note_end()
            yield f"{instance.name} never ended by itself", str(instance.unexpected) if instance.unexpected else None
        table = soak_checks.state_of_tables(self.databases.current)
        yield from soak_checks.journal_findings(self.journal, table, self.directory)
        fresh = servers.Berthd(self.program, self.directory, connection=self.databases.current.url())
        self.stack.enter_context(fresh)
        with self._python(self.databases.current) as python:
            yield from soak_checks.replica_findings(self.databases, self.instances, fresh, python)
        yield from auditor.findings()
        wrong = self.journal.wrong
        yield "no answer was wrong or stale", f"{len(wrong)}: {wrong[:3]}" if wrong else None
        if self.switcher:
            yield "HAProxy led to another node every few seconds", self.switcher.finding(self.seconds)
        lost = soak_checks.gone(self.journal, table)
        if self.databases.has_standby:
            yield "the promotion lost writes", None if lost else "none"
        few = self.journal.total() < WRITES_LEAST or not auditor.times or not self.journal.counts["make 409"]
        yield "enough happened", f"{dict(self.journal.counts)}, {auditor.times} audits" if few else None
        print(f"{dict(self.journal.counts)}; acknowledged by {dict(self.journal.acknowledged)}; {len(lost)} lost by the promotion; "
              f"{auditor.times} audits; {dict(self.faults.counts)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--galera", action="store_true", help="on a Galera cluster behind HAProxy")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--pause", type=float, default=0.02, metavar="SECONDS", help="of a client between two requests")
    parser.add_argument("--faults", help=f"of {', '.join(soak_faults.FAULTS)}; with --galera of {', '.join(soak_galera.FAULTS)}")
    parser.add_argument("--no-python", action="store_true", help="without the Python service among the services that write")
    parser.add_argument("--keep", metavar="DIRECTORY", help="the journal and the logs are copied there")
    arguments = parser.parse_args()
    passed = failed = 0
    directory = tempfile.mkdtemp(prefix="berth-soak-")
    print(f"seed {arguments.seed}, {arguments.minutes} minutes", flush=True)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        soak = Soak(arguments, stack, directory)
        for what, wrong in soak.findings(soak.run()):
            print(f"ok     {what}" if wrong is None else f"FAILED {what}: {wrong}", flush=True)
            passed += wrong is None
            failed += wrong is not None
        if arguments.keep:
            shutil.copytree(directory, arguments.keep, dirs_exist_ok=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
