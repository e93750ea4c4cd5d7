"""The Python service (Debian's 8.0.0) on the same file: beside berth, before it, and after it."""

import os
import shutil
import subprocess

import case
from case import CHILD, HOST, consumer, expect, servers

OLD_REVISION = "422ece571366"


class Interchange(case.Case):
    def python_beside(self):
        """The Python service and berth write to one file alternately; each sees the other's writes at once."""
        with self.berthd() as berth, self.python(sync=False) as python:
            mine, other = berth.client(), python.client()
            mine.make_provider(HOST, "host", VCPU=1000)
            for number in range(10):
                uuid = f"dddddddd-0000-4000-8000-{number:012d}"
                other.make_provider(uuid, f"python-{number}", VCPU=8)
                got = mine.must(200, "GET", f"/resource_providers/{uuid}/inventories")["inventories"]["VCPU"]["total"]
                expect(got == 8, got)
                status, answer = mine.claim(consumer(2 * number), None, **{HOST: {"VCPU": 1}, uuid: {"VCPU": 2}})
                expect(status == 204, answer)
                used = other.must(200, "GET", f"/resource_providers/{uuid}/usages")["usages"]
                expect(used == {"VCPU": 2}, used)
                status, answer = other.claim(consumer(2 * number + 1), None, **{uuid: {"VCPU": 6}})
                expect(status == 204, answer)
                status, answer = mine.claim(consumer(100 + number), None, **{uuid: {"VCPU": 1}})
                expect(status == 409, f"more than there is: {status} {answer}")
            expect(snapshot(mine) == snapshot(other), "the two show different states")

    def python_database(self):
        """berth opens and serves a database created by the Python service, with and without sync_on_startup."""
        with self.python(sync=True) as python:
            populate(python.client())
            before = snapshot(python.client())
        shutil.copy(python.database, os.path.join(self.directory, "again.db"))
        for name, sync in (("placement.db", True), ("again.db", False)):
            with self.berthd(name=name, sync=sync) as server:
                client = server.client()
                expect(snapshot(client) == before, difference(before, snapshot(client)))
                status, answer = client.claim(consumer(50), None, **{HOST: {"VCPU": 1}})
                expect(status == 204, answer)
                server.stop()

    def berth_database(self):
        """The Python service 8.0.0 serves a database of berth: unchanged with sync_on_startup off, and after
        `placement-manage db stamp` of its revision with it on."""
        with self.berthd() as server:
            populate(server.client())
            before = snapshot(server.client())
            server.stop()
        with self.python(sync=False) as python:
            expect(snapshot(python.client()) == before, difference(before, snapshot(python.client())))
            status, answer = python.client().claim(consumer(50), None, **{HOST: {"VCPU": 1}})
            expect(status == 204, answer)
            before = snapshot(python.client())
        subprocess.run([os.path.join(os.path.dirname(self.program), "placement-manage"), "--config-file", server.config_file, "db", "stamp", OLD_REVISION], check=True,
                       stdout=subprocess.DEVNULL)
        with self.python(sync=True) as python:
            expect(snapshot(python.client()) == before, difference(before, snapshot(python.client())))
        with self.python(sync=True, name="its-own.db") as own:
            pass
        schema = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name NOT LIKE 'berth%' ORDER BY 1, 2"
        ours, theirs = servers.rows(server.database, schema), servers.rows(own.database, schema)
        expect(ours == theirs, f"schemas differ: {set(ours) ^ set(theirs)}")
        with self.berthd(sync=True) as server:  # and back
            expect(snapshot(server.client()) == before, difference(before, snapshot(server.client())))


def populate(client):
    """A little of everything."""
    aggregate = "eeeeeeee-0000-4000-8000-000000000001"
    client.must(201, "PUT", "/traits/CUSTOM_FAST")
    client.must(201, "PUT", "/resource_classes/CUSTOM_THING")
    client.make_provider(HOST, "host", VCPU=16, MEMORY_MB=4096, CUSTOM_THING=3)
    client.must(200, "POST", "/resource_providers", {"name": "child é", "uuid": CHILD, "parent_provider_uuid": HOST})
    client.set_inventory(CHILD, 0, SRIOV_NET_VF=8)
    client.must(200, "PUT", f"/resource_providers/{HOST}/traits",
                {"traits": ["CUSTOM_FAST", "HW_CPU_X86_AVX2"], "resource_provider_generation": 1})
    client.must(200, "PUT", f"/resource_providers/{HOST}/aggregates",
                {"aggregates": [aggregate], "resource_provider_generation": 2})
    client.must(204, "PUT", f"/allocations/{consumer(1)}",
                servers.claim_body(None, {HOST: {"VCPU": 2, "CUSTOM_THING": 1}, CHILD: {"SRIOV_NET_VF": 1}}))
    client.must(204, "PUT", f"/allocations/{consumer(2)}", {
        "allocations": {HOST: {"resources": {"MEMORY_MB": 512}}}, "project_id": "another", "user_id": "user",
        "consumer_generation": None, "consumer_type": "MIGRATION"})
    client.must(204, "PUT", f"/allocations/{consumer(3)}", {
        "allocations": {HOST: {"resources": {"MEMORY_MB": 256}}}, "project_id": "another", "user_id": "user",
        "consumer_generation": None}, version="1.36")


def sorted_deep(value):
    if isinstance(value, dict):
        return {key: sorted_deep(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((sorted_deep(item) for item in value), key=repr)
    return value


def snapshot(client):
    """Every answer that shows the state, lists sorted."""
    paths = ["/resource_providers", "/resource_classes/CUSTOM_THING",
             "/traits?name=startswith:CUSTOM_", "/usages?project_id=project",
             "/usages?project_id=another", "/allocation_candidates?resources=VCPU:1&resources1=SRIOV_NET_VF:1",
             "/allocation_candidates?resources=VCPU:1,MEMORY_MB:1&required=CUSTOM_FAST"]
    providers = client.must(200, "GET", "/resource_providers")["resource_providers"]
    for provider in providers:
        base = "/resource_providers/" + provider["uuid"]
        paths += [base, *(base + part for part in ("/inventories", "/usages", "/aggregates", "/traits", "/allocations"))]
    paths += ["/allocations/" + consumer(number) for number in range(60)]
    answers = {}
    for path in paths:
        status, answer = client.ask("GET", path)
        for error in (answer or {}).get("errors", ()):
            error.pop("request_id")
        answers[path] = (status, sorted_deep(answer))
    return answers


def difference(before, after):
    for path in sorted(set(before) | set(after)):
        if before.get(path) != after.get(path):
            return f"{path}: {before.get(path)} became {after.get(path)}"
    return "the same"
