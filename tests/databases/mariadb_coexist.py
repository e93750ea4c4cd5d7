#!/usr/bin/python3
"""The triggers of `placement-manage db coexist` on MariaDB servers, with the Python service writing beside them: what it is
told, that it notices nothing of them, and that everything it changes is noted.

    tests/databases/mariadb_coexist.py [--build build]

The last line is `N passed, N failed`. With BERTH_TEST_ON=mysql in the environment, the servers are MySQL's (mysql.py).
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from beside_python import claim, new, provider_of, work_at_once  # noqa: E402
from galera import PATIENT, Galera  # noqa: E402
from mariadb import KOLLA, SUPERUSER, TRUST, server_class  # noqa: E402

SECONDS = 2
ENABLED = (0, "enabled, changes waiting: 0")


class Tool:
    def __init__(self, program):
        self.program = program

    def start(self, url, *words):
        return subprocess.Popen([self.program, "db", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={"OS_PLACEMENT_DATABASE__CONNECTION": url, "PATH": "/usr/bin:/bin", "HOME": "/"})

    def run(self, url, *words):
        """(exit code, what it printed)"""
        process = self.start(url, *words)
        said = process.communicate(timeout=120)[0].strip()
        return process.returncode, said


class Notes:
    """Cases on one database. All of them yield (what, whether it is right, what was found)."""

    def __init__(self, tool, server, url):
        self.tool, self.server, self.url = tool, server, url

    def noted(self):
        """What is noted, and no longer is."""
        found = set(self.server.sql("SELECT entity, entity_id, consumer_uuid FROM berth_foreign"))
        self.server.sql("DELETE FROM berth_foreign")
        return found

    def ids(self, table, column, value):
        return {row[0] for row in self.server.sql(f"SELECT id FROM {table} WHERE {column} = '{value}'")}

    def status(self):
        return self.tool.run(self.url, "coexist", "status")

    def enable(self):
        found = self.tool.run(self.url, "sync")
        yield "the tables are there", found[0] == 0, found
        yield "it is disabled at first", self.status() == (0, "disabled, changes waiting: 0"), self.status()
        found = self.tool.run(self.url, "coexist", "enable")
        yield "it can be enabled", found == (0, ""), found
        yield "and says so", self.status() == ENABLED, self.status()

    def kinds(self, python):
        """Each request of the Python service, and the entities that it changes."""
        provider, trait, aggregate = new(), "CUSTOM_" + new().replace("-", "_").upper(), new()
        resource = "CUSTOM_" + new().replace("-", "_").upper()
        consumer = new()
        python.must(200, "POST", "/resource_providers", {"name": provider, "uuid": provider})
        (id,) = self.ids("resource_providers", "uuid", provider)
        host = ("provider", id, "")
        # The service writes its standard names at its first request.
        yield "a provider", host in self.noted(), id
        python.must(201, "PUT", f"/traits/{trait}")
        (id,) = self.ids("traits", "name", trait)
        found = self.noted()
        yield "a trait", found == {("trait", id, "")}, found
        generation = python.must(200, "GET", f"/resource_providers/{provider}")["generation"]
        python.must(200, "PUT", f"/resource_providers/{provider}/traits", {"resource_provider_generation": generation,
                                                                            "traits": [trait]})
        found = self.noted()
        yield "a trait of a provider", found == {host}, found
        python.must(200, "PUT", f"/resource_providers/{provider}/aggregates", [aggregate], version="1.1")
        (id,) = self.ids("placement_aggregates", "uuid", aggregate)
        found = self.noted()
        yield "an aggregate of a provider", found == {host, ("aggregate", id, "")}, found
        python.must(201, "PUT", f"/resource_classes/{resource}")
        (id,) = self.ids("resource_classes", "name", resource)
        found = self.noted()
        yield "a resource class", found == {("class", id, "")}, found
        generation = python.must(200, "GET", f"/resource_providers/{provider}")["generation"]
        python.must(200, "PUT", f"/resource_providers/{provider}/inventories", {
            "resource_provider_generation": generation, "inventories": {"VCPU": {"total": 100}}})
        found = self.noted()
        yield "an inventory", found == {host}, found
        claimed = claim(python, provider, 5, consumer)[1]
        (id,) = self.ids("consumers", "uuid", consumer)
        found = self.noted()
        yield "a claim", claimed == 204 and {host, ("consumer", id, consumer), ("consumer", 0, consumer)} <= found, found
        yield "with its owners", {"project", "user", "consumer type"} <= {entity for entity, _, _ in found}, found
        python.must(204, "DELETE", f"/allocations/{consumer}")
        found = self.noted()
        yield "its end", {("consumer", 0, consumer), ("consumer", id, consumer)} <= found, found
        python.must(204, "DELETE", f"/resource_providers/{provider}")
        found = self.noted()
        yield "a provider that is gone", host in found, found
        python.must(200, "GET", "/resource_providers")
        yield "reads are not noted", self.noted() == set(), "notes"

    def race(self, pythons):
        """Claims at once: the service answers as without triggers, and each accepted claim is noted. On two nodes of a cluster
        it gives up after some refusals of the cluster (500), with and without triggers."""
        providers = [provider_of(pythons[0], new()) for _ in range(2)]
        self.noted()
        others, accepted = [], []
        end = time.monotonic() + SECONDS

        def work(port):
            client = servers.Client(port, timeout=60)
            turn = 0
            while time.monotonic() < end:
                turn += 1
                consumer, status = claim(client, providers[turn % 2])
                if status == 204:
                    accepted.append(consumer)
                elif status != 409:
                    others.append(status)
        work_at_once(threading.Thread(target=work, args=(client.port,)) for client in pythons for _ in range(3))
        found = {uuid for entity, _, uuid in self.noted() if entity == "consumer"}
        allowed = {500} if len(pythons) > 1 else set()
        yield f"claims are answered ({len(accepted)})", accepted and set(others) <= allowed, others[:5]
        yield "each accepted claim is noted", set(accepted) <= found, len(set(accepted) - found)

    def killed(self):
        """The tool is killed at any time: the status says what is missing, and the next one goes on."""
        for action, wanted in (("disable", (0, "disabled, changes waiting: 0")), ("enable", ENABLED)) * 3:
            process = self.tool.start(self.url, "coexist", action)
            before = self.server.sql("SELECT count(*) FROM information_schema.triggers")
            while process.poll() is None and self.server.sql("SELECT count(*) FROM information_schema.triggers") == before:
                pass
            process.send_signal(signal.SIGKILL)
            process.communicate()
            code, said = self.status()
            complete = said.startswith(("enabled", "disabled"))
            yield f"killed while it {action}s: {said}", code == (0 if complete else 1) and "changes waiting" in said, (code, said)
            found = self.tool.run(self.url, "coexist", action)
            yield "the next one goes on", found == (0, "") and self.status() == wanted, (found, self.status())

    def disable(self):
        found = self.tool.run(self.url, "coexist", "disable")
        yield "it can be disabled", found == (0, ""), found
        left = self.server.sql("SELECT trigger_name FROM information_schema.triggers WHERE trigger_name LIKE 'berth%'")
        yield "nothing is left of it", left == [] and self.status() == (0, "disabled, changes waiting: 0"), left


@contextlib.contextmanager
def service_on(url):
    with tempfile.TemporaryDirectory() as directory:
        with servers.PythonService(directory, connection=url, sync=False) as python:
            yield servers.Client(python.port, timeout=60)


def alone(tool):
    """kolla's settings."""
    with server_class()(options={**KOLLA, **TRUST}) as server:
        notes = Notes(tool, server, server.url(charset="utf8"))
        yield from notes.enable()
        with service_on(notes.url) as python:
            yield from notes.kinds(python)
            yield from notes.race([python])
        yield from notes.killed()
        yield from notes.disable()


def cluster(tool):
    """The service on two nodes, whose notes are on both."""
    with Galera(nodes=2, options=TRUST, provider=PATIENT) as cluster:
        one, other = cluster.nodes
        notes = Notes(tool, one, one.url(charset="utf8"))
        yield from notes.enable()
        found = tool.run(other.url(charset="utf8"), "coexist", "status")
        yield "it is enabled on each node", found == ENABLED, found
        with service_on(notes.url) as here, service_on(other.url(charset="utf8")) as there:
            yield from notes.race([here, there])
        yield from notes.disable()


def refused(tool):
    """What a user or a server does not allow is said in one line, and changes nothing."""
    with server_class()(options=KOLLA) as server:
        url = server.url(charset="utf8")
        found = tool.run(url, "coexist", "enable")
        yield "before the tables are there", found[0] == 1 and 'run "placement-manage db sync"' in found[1], found
        tool.run(url, "sync")
        found = tool.run(url, "coexist", "enable")
        yield "a binary log without trust", found[0] == 1 and "SET GLOBAL log_bin_trust_function_creators = 1" in found[1], found
        yield "in one line", "\n" not in found[1] and "berth-password" not in found[1], found
        found = tool.run(url, "coexist", "status")
        yield "nothing is changed", found == (0, "disabled, changes waiting: 0"), found
        found = tool.run(server.url(socket=True, user=SUPERUSER, password=""), "coexist", "enable")
        yield "root may do it", found == (0, ""), found
        found = tool.run(url, "coexist", "status")
        yield "and the user sees it", found == ENABLED, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    arguments = parser.parse_args()
    tool = Tool(os.path.abspath(os.path.join(arguments.build, "placement-manage")))
    score = servers.Score()
    for part in (refused, alone, cluster):
        for what, is_right, found in part(tool):
            score.case(f"{part.__name__}: {what}", None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
