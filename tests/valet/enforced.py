#!/usr/bin/python3
"""Exclusivity groups and holds against claims of all kinds (Valet spec, 8.2 and 8.3): through both APIs of a running
berthd, with the Python service on the same file, and while plans are made. Where the combination of rows matters,
rows of placements are written into the file.

    tests/valet/enforced.py [--berthd build/berthd]

The last line is `N passed, N failed`.
"""

import argparse
import http.client
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "baremetal")]
sys.dont_write_bytecode = True

import metal_client  # noqa: E402
import servers  # noqa: E402

MEMBER = "b7d0e9b1-7529-4b64-9464-caa3411adb3f"
NON_MEMBER = "65c3e5ee-5ee0-428c-aa5e-5275c58ead61"
H1, H2, H3 = ("aaaaaaaa-0000-4000-8000-00000000000%d" % n for n in (1, 2, 3))
HELD = "Resource provider 'host-1' is held by exclusivity group 'gold'."
METAL = ["[baremetal]", "host = here", "fake_delay_ms = 20"]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def new():
    return str(uuid.uuid4())


def write(database, sql, *values):
    with sqlite3.connect(database, timeout=10) as connection:
        connection.execute(sql, values)
    connection.close()


def make_placement(database, placement, server):
    write(database, "INSERT OR IGNORE INTO berth_valet_plans (id, uuid, name, stack_id, project_id, user_id)"
          " VALUES (1, ?, 'web', 'web', ?, 'user')", str(uuid.UUID(int=1)), MEMBER)
    write(database, "INSERT INTO berth_valet_placements (uuid, plan_id, name, orchestration_id, location, reserved)"
          " VALUES (?, 1, 'web', ?, 'nowhere', 0)", placement, server)


def body(project, resources_of, generation=None, kind="INSTANCE"):
    return {**servers.claim_body(generation, resources_of), "project_id": project, "consumer_type": kind}


class Berthd(servers.Berthd):
    def __init__(self, program, directory):
        super().__init__(program, directory, baremetal_port=servers.free_port(), valet_port=servers.free_port(),
                         options=METAL)

    def valet(self, method, path, body=None):
        """(status, answer) of the Valet API for an admin of the member project."""
        connection = http.client.HTTPConnection("127.0.0.1", self.valet_port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"x-auth-token": "admin", "x-project-id": MEMBER})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()


class World:
    """Three hosts of eight VCPU, the first of them claimed by the group, with an older server of a non-member."""

    def __init__(self, program, directory):
        self.server = Berthd(program, directory).start()
        self.client = self.server.client()
        for number, host in enumerate((H1, H2, H3), 1):
            self.client.make_provider(host, f"host-{number}", VCPU=8)
        self.old = new()
        self.must_put(self.old, NON_MEMBER, {H1: {"VCPU": 2}})
        self.group = self.server.valet("POST", "/v1/groups", {"name": "gold", "type": "exclusivity"})[1]["id"]
        status, answer = self.server.valet("PUT", f"/v1/groups/{self.group}/members", {"members": [MEMBER]})
        expect(status == 201, answer)
        self.dedicate(H1, [self.group])

    def dedicate(self, host, aggregates):
        generation = self.client.must(200, "GET", f"/resource_providers/{host}")["generation"]
        self.client.must(200, "PUT", f"/resource_providers/{host}/aggregates",
                         {"aggregates": aggregates, "resource_provider_generation": generation})

    def generation_of(self, consumer):
        return self.client.must(200, "GET", f"/allocations/{consumer}").get("consumer_generation")

    def put(self, consumer, project, resources_of, kind="INSTANCE"):
        return self.client.ask("PUT", f"/allocations/{consumer}",
                               body(project, resources_of, self.generation_of(consumer), kind))

    def must_put(self, *claim, **more):
        status, answer = self.put(*claim, **more)
        expect(status == 204, f"{claim}: {status} {answer}")

    def post(self, claims):
        return self.client.ask("POST", "/allocations", {
            consumer: body(project, resources_of, self.generation_of(consumer))
            for consumer, (project, resources_of) in claims.items()})

    def held(self, consumer):
        return self.client.must(200, "GET", f"/allocations/{consumer}")["allocations"]

    def is_member_of(self, host, aggregate):
        answer = self.client.must(200, "GET", f"/resource_providers/{host}/aggregates")
        return aggregate in answer["aggregates"]


def assert_refused(answered):
    status, answer = answered
    expect(status == 409, answered)
    error = answer["errors"][0]
    expect(HELD in error["detail"] and error["code"] == "placement.undefined_code", answered)


def one_server(world):
    """PUT: refused completely for a non-member; accepted for a member, and on other hosts."""
    server = new()
    assert_refused(world.put(server, NON_MEMBER, {H1: {"VCPU": 1}}))
    expect(world.held(server) == {}, world.held(server))
    world.must_put(server, NON_MEMBER, {H2: {"VCPU": 1}})
    world.must_put(new(), MEMBER, {H1: {"VCPU": 1}})


def several_servers(world):
    """POST: one non-member among members, and none of them is written."""
    ours, theirs = new(), new()
    assert_refused(world.post({ours: (MEMBER, {H1: {"VCPU": 1}}), theirs: (NON_MEMBER, {H1: {"VCPU": 1}})}))
    expect(world.held(ours) == {}, "a part of it was written")


def reshaper(world):
    """The same through the reshaper."""
    server = new()
    there = world.client.must(200, "GET", f"/resource_providers/{H1}/inventories")
    for project, wanted in ((NON_MEMBER, 409), (MEMBER, 204)):
        answered = world.client.ask("POST", "/reshaper", {
            "inventories": {H1: there}, "allocations": {server: body(project, {H1: {"VCPU": 1}})}})
        if wanted == 409:
            assert_refused(answered)
        else:
            expect(answered[0] == wanted, answered)


def moved_provider(world):
    """A provider on which a non-member has something cannot be moved into a group's tree; an empty one can."""
    client, server = world.client, new()
    for name, busy, wanted in (("busy", True, 409), ("empty", False, 200)):
        provider = new()
        client.make_provider(provider, name, VCPU=4)
        if busy:
            world.must_put(server, NON_MEMBER, {provider: {"VCPU": 1}})
        for parent in (H1, None):
            answered = client.ask("PUT", f"/resource_providers/{provider}", {"name": name, "parent_provider_uuid": parent})
            if wanted == 409 and parent == H1:
                assert_refused(answered)
            else:
                expect(answered[0] == 200, answered)
            root = client.must(200, "GET", f"/resource_providers/{provider}")["root_provider_uuid"]
            expect(root == (H1 if parent and wanted == 200 else provider), root)
    world.must_put(server, NON_MEMBER, {H2: {"VCPU": 1}})


def bare_metal(world):
    """A node that a group claims is not available to others: the error is the bare metal service's own."""
    metal_api = metal_client.MetalClient(world.server.baremetal_port)
    try:
        metal_api.make_node("available", name="node-1", resource_class="metal")
        node = metal_api.must(200, "GET", "/v1/nodes/node-1")["uuid"]
        world.dedicate(node, [world.group])
        metal_api.must(201, "POST", "/v1/allocations", {"resource_class": "metal", "name": "refused"})
        metal_api.until("/v1/allocations/refused", lambda one: one["state"] == "error")
        why = metal_api.must(200, "GET", "/v1/allocations/refused")["last_error"]
        expect("no available nodes match the resource class metal" in why, why)
        world.dedicate(node, [])
        metal_api.must(201, "POST", "/v1/allocations", {"resource_class": "metal", "name": "taken"})
        metal_api.until("/v1/allocations/taken", lambda one: one["state"] == "active")
    finally:
        metal_api.close()


def not_in_the_way(world):
    """An older server may be rewritten, migrated, evacuated and shrunk, but not grown."""
    old, migration = world.old, new()
    world.must_put(old, NON_MEMBER, {H1: {"VCPU": 2}})
    assert_refused(world.put(old, NON_MEMBER, {H1: {"VCPU": 3}}))
    status, answer = world.post({migration: (NON_MEMBER, {H1: {"VCPU": 2}}), old: (NON_MEMBER, {H2: {"VCPU": 2}})})
    expect(status == 204, answer)
    status, answer = world.post({migration: (NON_MEMBER, {}), old: (NON_MEMBER, {H1: {"VCPU": 2}})})
    expect(status == 204, answer)
    world.must_put(old, NON_MEMBER, {H1: {"VCPU": 2}, H2: {"VCPU": 2}})
    world.must_put(old, NON_MEMBER, {H1: {"VCPU": 1}})
    assert_refused(world.put(old, NON_MEMBER, {H1: {"VCPU": 2}}))
    world.client.must(204, "DELETE", f"/allocations/{old}")
    assert_refused(world.put(old, NON_MEMBER, {H1: {"VCPU": 1}}))


def holds(world, python):
    """The hold is dropped by the server's first claim, even on a host without room for both; no other request may
    write it."""
    placement, server = new(), new()
    python.must(204, "PUT", f"/allocations/{placement}", body(MEMBER, {H3: {"VCPU": 8}}, kind="VALET_HOLD"))
    make_placement(world.server.database, placement, server)
    status, answer = world.put(placement, MEMBER, {H3: {"VCPU": 4}}, kind="VALET_HOLD")
    expect(status == 409 and "is kept for a placement of Valet" in str(answer), answer)
    expect(world.put(new(), MEMBER, {H3: {"VCPU": 1}})[0] == 409, "the host is full")
    world.must_put(server, MEMBER, {H3: {"VCPU": 8}})
    expect(world.held(placement) == {} and list(world.held(server)) == [H3], "both, or none")
    world.client.must(204, "DELETE", f"/allocations/{server}")


def beside_python(world, python):
    """After writes of the Python service holds are dropped, claims end with berth's next write, and breaches are
    logged once."""
    placement, server, last = new(), new(), new()
    python.must(204, "PUT", f"/allocations/{placement}", body(MEMBER, {H2: {"VCPU": 1}}, kind="VALET_HOLD"))
    make_placement(world.server.database, placement, server)
    world.must_put(last, MEMBER, {H3: {"VCPU": 1}})
    world.dedicate(H3, [world.group])
    write(world.server.database, "INSERT INTO berth_valet_claims (group_id, provider_uuid, is_rack) VALUES (1, ?, 0)",
          H3)
    expect(world.is_member_of(H3, world.group), "the claim ended too early")
    python.must(204, "PUT", f"/allocations/{server}", body(MEMBER, {H2: {"VCPU": 1}}))
    python.must(204, "DELETE", f"/allocations/{last}")
    breach = new()
    python.must(204, "PUT", f"/allocations/{breach}", body(NON_MEMBER, {H1: {"VCPU": 1}}))
    world.must_put(new(), MEMBER, {H1: {"VCPU": 1}})
    expect(world.held(placement) == {} and list(world.held(server)) == [H2], "the hold is beside its server")
    expect(not world.is_member_of(H3, world.group), "the claim of an empty host")
    world.must_put(new(), NON_MEMBER, {H3: {"VCPU": 1}})
    line = f"Another program has given project {NON_MEMBER} more of resource provider 'host-1', which is held by " \
        "exclusivity group 'gold'."
    end = time.monotonic() + 5
    while line not in world.server.log() and time.monotonic() < end:
        time.sleep(0.05)
    expect(world.server.log().count(line) == 1, f"logged {world.server.log().count(line)} times")
    expect(python.must(200, "GET", f"/resource_providers/{H3}/aggregates")["aggregates"] == [], "what Python sees")


def upgrade_check(world):
    """placement-status does not count holds as orphans."""
    tool = os.path.join(os.path.dirname(world.server.program), "placement-status")
    done = subprocess.run([tool, "--config-file", world.server.config_file, "upgrade", "check"], capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 0 and "Warning" not in done.stdout, done.stdout + done.stderr)


def plan_of(number):
    """Two servers on a host claimed by the group."""
    names = [f"{number}-a", f"{number}-b"]
    servers_of = {name: {"type": "OS::Nova::Server", "properties": {"flavor": "m1.tiny"}} for name in names}
    groups = {"together": ("affinity", None, names), "alone": ("exclusivity", "gold", ["together"])}
    return {"plan_name": f"plan-{number}", "stack_id": f"stack-{number}", "resources": {**servers_of, **{
        name: {"type": "ATT::Valet::GroupAssignment", "properties": {
            "group_type": kind, "level": "host", "resources": listed, **({"group_name": group} if group else {})}}
        for name, (kind, group, listed) in groups.items()}}}


def race(world):
    """Non-members claim hosts while plans claim them for the group: the first one succeeds, the other is refused."""
    client, chance = world.client, random.Random(11)
    hosts = [str(uuid.UUID(int=0xABC0000 + number)) for number in range(8)]
    for number, host in enumerate(hosts):
        client.make_provider(host, f"race-{number}", VCPU=64, MEMORY_MB=65536, DISK_GB=1000)
    statuses, stop = {204: 0, 409: 0}, threading.Event()

    def claim_and_leave(own):
        theirs = servers.Client(world.server.port)
        while not stop.is_set():
            consumer, host = new(), own.choice(hosts)
            status, answer = theirs.ask("PUT", f"/allocations/{consumer}", body(NON_MEMBER, {host: {"VCPU": 1}}))
            statuses[status] = statuses.get(status, 0) + 1
            if status == 409 and "is held by exclusivity group 'gold'." not in str(answer):
                statuses["odd"] = answer
            if status == 204:
                time.sleep(own.random() * 0.01)
                theirs.must(204, "DELETE", f"/allocations/{consumer}")
        theirs.close()

    threads = [threading.Thread(target=claim_and_leave, args=(random.Random(seed),)) for seed in range(4)]
    for thread in threads:
        thread.start()
    made, looked = [], 0
    try:
        for number in range(150):
            status, answer = world.server.valet("POST", "/v1/plans", plan_of(number))
            expect(status in (201, 409), answer)
            made += [answer["plan"]["id"]] if status == 201 else []
            for name in {one["location"] for one in answer["plan"]["placements"].values()} if status == 201 else ():
                host = client.must(200, "GET", f"/resource_providers?name={name}")["resource_providers"][0]["uuid"]
                there = client.must(200, "GET", f"/resource_providers/{host}/allocations")["allocations"]
                projects = {client.must(200, "GET", f"/allocations/{one}").get("project_id") for one in there}
                expect(world.is_member_of(host, world.group) and projects <= {MEMBER, None}, (name, projects))
                looked += host in hosts
            while len(made) > chance.randrange(6):
                expect(world.server.valet("DELETE", "/v1/plans/" + made.pop(0))[0] == 204, "a plan that stays")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for plan in made:
        world.server.valet("DELETE", "/v1/plans/" + plan)
    expect(set(statuses) == {204, 409}, statuses)
    expect(min(statuses[204], statuses[409], looked) > 10, f"too little happened: {statuses}, {looked}")
    left = [host for host in hosts if world.is_member_of(host, world.group)]
    expect(left == [], f"claims of empty hosts: {left}")


def audit(world, python):
    """berth audit: no findings at first, then a hold whose placement is deleted and a placement whose hold and
    server are."""
    tool = [os.path.join(os.path.dirname(world.server.program), "berth"), "audit", "--config-file",
            world.server.config_file]

    def look(code):
        done = subprocess.run(tool, capture_output=True, text=True, check=False)
        expect(done.returncode == code, (done.returncode, done.stdout, done.stderr))
        return done.stdout.splitlines()

    write(world.server.database, "DELETE FROM berth_valet_placements")
    expect(look(0) == [], "something")
    hold, placement = new(), new()
    python.must(204, "PUT", f"/allocations/{hold}", body(MEMBER, {H2: {"VCPU": 1}}, kind="VALET_HOLD"))
    make_placement(world.server.database, placement, new())
    write(world.server.database, "DELETE FROM berth_valet_plans")
    expect(look(1) == [f"hold {hold} of project {MEMBER}: its placement no longer exists",
                       f"placement {placement} of a plan that no longer exists: neither its hold nor its server exists; "
                       "it was on nowhere"], look(1))
    upgrade_check(world)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--berthd", default="build/berthd")
    program = os.path.abspath(parser.parse_args().berthd)
    score = servers.Score()
    alone = [one_server, several_servers, reshaper, moved_provider, bare_metal, not_in_the_way, race, upgrade_check]
    with tempfile.TemporaryDirectory(prefix="berth-valet-") as directory:
        world = World(program, directory)
        python = servers.PythonService(directory, sync=False)
        try:
            with python:
                for play in [*alone, holds, beside_python, audit]:
                    try:
                        play(world, *([] if play in alone else [python.client()]))
                        score.case(play.__name__)
                    except (AssertionError, OSError, KeyError) as problem:
                        score.case(play.__name__, repr(problem))
        finally:
            world.server.kill()
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
