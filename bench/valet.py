"""Plans of stacks: the time of one, commit included, while 16 clients claim, and its cost for those clients.

The cloud has 1 000 hosts in 40 racks, 80 % or 99 % full, created again from each seed: a consumer of a non-member fills
each host to a level of its own, and six hosts are empty. A plan has 20 servers, two rack diversity groups and an
exclusivity group. The clients claim one unit of a class that nothing else uses, on hosts that are not empty: they
compete with the plans for the providers' generations, but do not fill the cloud. Impossible plans are measured as well."""

import http.client
import json
import os
import random
import shutil
import sqlite3
import statistics
import threading
import time
import uuid

import measure
import questions

HOSTS = 1000
RACKS = 40
EMPTY = 6
VCPU, RAM, DISK = 256, 524288, 4000
SEEDS = 20
CLIENTS = 16
RUNS, RUN_SECONDS = 5, 3  # of claims, alone and beside plans
PROJECT = "11111111111111111111111111111111"
OTHERS = "22222222222222222222222222222222"
LEVELS = (80, 99)
FLAVORS = ("m1.small", "m1.medium")


def host_uuid(number):
    return f"{number:08x}-0000-4000-8000-000000000001"


def rack_uuid(number):
    return f"{number:08x}-0000-4000-8000-000000000002"


def rack_of(number):
    return number * RACKS // HOSTS


class Client:
    def __init__(self, port, **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"X-Auth-Token": "admin", "Content-Type": "application/json", **headers}

    def ask(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    def must(self, status, method, path, body=None):
        got, answer = self.ask(method, path, body)
        if got != status:
            raise RuntimeError(f"{method} {path}: {got} {answer}")
        return answer


def placement(port):
    return Client(port, **{"OpenStack-API-Version": "placement 1.39"})


def planner(port):
    return Client(port, **{"X-Project-Id": PROJECT})


def inventory(total):
    return {"total": total, "max_unit": total, "allocation_ratio": 1.0}


def make_cloud(binary, path, work):
    """Creates the cloud through the API, without the consumers that fill it."""
    valet_port = measure.free_port()
    server = measure.berthd(binary, path, work, "--valet-listen", f"127.0.0.1:{valet_port}")
    try:
        client = placement(server.port)
        client.must(201, "PUT", "/traits/CUSTOM_VALET_RACK")
        client.must(201, "PUT", "/resource_classes/CUSTOM_CLAIMED")
        inventories = {"VCPU": inventory(VCPU), "MEMORY_MB": inventory(RAM), "DISK_GB": inventory(DISK),
                       "CUSTOM_CLAIMED": inventory(2000000000)}
        for number in range(HOSTS):
            path = f"/resource_providers/{host_uuid(number)}"
            client.must(200, "POST", "/resource_providers", {"name": f"compute-{number:04}", "uuid": host_uuid(number)})
            client.must(200, "PUT", path + "/inventories",
                        {"resource_provider_generation": 0, "inventories": inventories})
            client.must(200, "PUT", path + "/aggregates",
                        {"resource_provider_generation": 1, "aggregates": [rack_uuid(rack_of(number))]})
        for number in range(RACKS):
            path = f"/resource_providers/{rack_uuid(number)}"
            client.must(200, "POST", "/resource_providers", {"name": f"rack-{number:02}", "uuid": rack_uuid(number)})
            client.must(200, "PUT", path + "/aggregates",
                        {"resource_provider_generation": 0, "aggregates": [rack_uuid(number)]})
            client.must(200, "PUT", path + "/traits",
                        {"resource_provider_generation": 1, "traits": ["CUSTOM_VALET_RACK"]})
        group = planner(valet_port).must(201, "POST", "/v1/groups", {"name": "gold", "type": "exclusivity"})
        planner(valet_port).must(201, "PUT", f"/v1/groups/{group['id']}/members", {"members": [PROJECT]})
        client.must(204, "PUT", f"/allocations/{uuid.uuid4()}", allocations(0, {"VCPU": 1}, OTHERS))
    finally:
        server.stop()


def allocations(host, resources, project):
    return {"allocations": {host_uuid(host): {"resources": resources}}, "project_id": project, "user_id": project,
            "consumer_generation": None, "consumer_type": "INSTANCE"}


def fill(path, level, seed):
    """Writes what a non-member holds on each host; returns the numbers of the hosts that stay empty."""
    chance = random.Random(seed)
    empty = set(chance.sample(range(HOSTS), EMPTY))
    free = HOSTS * VCPU * (100 - level) // 100 - EMPTY * VCPU  # to be spread over the others
    shares = {number: chance.random() ** 2 for number in range(HOSTS) if number not in empty}
    scale = free / sum(shares.values())
    file = sqlite3.connect(path)
    classes = dict(file.execute("SELECT name, id FROM resource_classes"))
    providers = dict(file.execute("SELECT uuid, id FROM resource_providers"))
    project = file.execute("SELECT id FROM projects WHERE external_id = ?", (OTHERS,)).fetchone()[0]
    user = file.execute("SELECT id FROM users WHERE external_id = ?", (OTHERS,)).fetchone()[0]
    kind = file.execute("SELECT id FROM consumer_types WHERE name = 'INSTANCE'").fetchone()[0]
    file.execute("DELETE FROM allocations")
    file.execute("DELETE FROM consumers")
    for at, (number, share) in enumerate(sorted(shares.items()), 1):
        consumer = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        left = min(VCPU - 1, int(share * scale + chance.random()))
        file.execute("INSERT INTO consumers (id, uuid, project_id, user_id, generation, consumer_type_id)"
                     " VALUES (?, ?, ?, ?, 1, ?)", (at, consumer, project, user, kind))
        used = {"VCPU": VCPU - left, "MEMORY_MB": RAM - left * 2048, "DISK_GB": DISK - left * 20 if left < 150 else DISK // 2}
        file.executemany("INSERT INTO allocations (consumer_id, resource_provider_id, resource_class_id, used)"
                         " VALUES (?, ?, ?, ?)",
                         [(consumer, providers[host_uuid(number)], classes[name], amount) for name, amount in used.items()])
    file.commit()
    file.close()
    return empty


def server_of(name, chance):
    return {"name": name, "type": "OS::Nova::Server", "properties": {"flavor": chance.choice(FLAVORS)}}


def group_of(kind, level, members, **more):
    return {"type": "ATT::Valet::GroupAssignment",
            "properties": {"group_type": kind, "level": level, "resources": members, **more}}


def plan_body(seed):
    """20 servers: two rack diversity groups of eight, and an exclusivity group of four, two of which are in a
    diversity group."""
    chance = random.Random(seed)
    names = [f"server-{number}-{uuid.UUID(int=chance.getrandbits(128), version=4)}" for number in range(20)]
    resources = {name: server_of(name, chance) for name in names}
    resources["first"] = group_of("diversity", "rack", names[:8])
    resources["second"] = group_of("diversity", "rack", names[8:16])
    resources["own"] = group_of("exclusivity", "host", names[14:18], group_name="gold")
    return {"plan_name": f"plan {seed}", "stack_id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            "resources": resources}


def impossible_bodies():
    """A name, and a plan that is impossible."""
    chance = random.Random(1)
    names = [f"x{number}" for number in range(RACKS + 1)]
    servers = {name: server_of(name, chance) for name in names}
    apart = {"plan_name": "apart", "stack_id": str(uuid.uuid4()),
             "resources": {**servers, "all": group_of("diversity", "rack", names)}}
    alone = {"plan_name": "alone", "stack_id": str(uuid.uuid4()),
             "resources": {**{name: servers[name] for name in names[:20]},
                           "apart": group_of("diversity", "host", names[:20]),
                           "own": group_of("exclusivity", "host", names[:20], group_name="gold")}}
    large = {**server_of("y", chance), "properties": {"flavor": {"vcpus": 40, "ram": 2048, "disk": 20}}}
    crowd = {"plan_name": "crowd", "stack_id": str(uuid.uuid4()),
             "resources": {**{f"y{number}": {**large, "name": f"y{number}"} for number in range(20)},
                           "together": group_of("affinity", "rack", [f"y{number}" for number in range(20)])}}
    return {"41 servers on 40 racks": apart, "20 exclusive hosts of 6 empty ones": alone,
            "a rack for 20 times 40 VCPU": crowd}


def claims_file(empty, work):
    hosts = [number for number in range(HOSTS) if number not in empty]
    random.Random(2).shuffle(hosts)
    # INSTANCE, project and user exist already: a claim only writes rows of consumers and allocations
    asked = [questions.request("PUT", f"/allocations/{questions.FRESH}", {
        "allocations": {host_uuid(host): {"resources": {"CUSTOM_CLAIMED": 1}}}, "project_id": OTHERS, "user_id": OTHERS,
        "consumer_generation": None}) for host in hosts]
    return questions.write_file("valet_claims", asked, work)


class Claimers:
    """16 connections that claim as fast as they can for that many seconds."""

    def __init__(self, server, loader, file, seconds):
        self.loader = loader
        self.process = loader.start(server, file, CLIENTS, seconds)

    def finish(self):
        result = self.loader.finish(self.process)
        bad = {status: count for status, count in result["status"].items() if not status.startswith("2")}
        if bad:
            raise RuntimeError(f"claims: {bad}")
        return result


def plan_once(client, body):
    """The milliseconds until the answer, and the answer."""
    begun = time.perf_counter()
    status, answer = client.ask("POST", "/v1/plans", body)
    return 1000 * (time.perf_counter() - begun), status, answer


class Cloud:
    """A berthd on a copy of the cloud, filled from a seed."""

    def __init__(self, binary, template, work, level, seed):
        self.path = os.path.join(work, "valet.db")
        shutil.copyfile(template, self.path)
        self.empty = fill(self.path, level, seed)
        self.valet_port = measure.free_port()
        self.server = measure.berthd(binary, self.path, work, "--valet-listen", f"127.0.0.1:{self.valet_port}")
        self.client = planner(self.valet_port)

    def close(self):
        self.server.stop()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(self.path + suffix):
                os.remove(self.path + suffix)


def time_plans(make, loader, work, level):
    """For each seed the time of one plan beside the claims; the plan is deleted again."""
    took = []
    for seed in range(SEEDS):
        cloud = make(level, seed)
        try:
            claimers = Claimers(cloud.server, loader, claims_file(cloud.empty, work), 1.2)
            time.sleep(0.6)
            ms, status, answer = plan_once(cloud.client, plan_body(seed))
            claimers.finish()
            if status != 201:
                raise RuntimeError(f"{level} % full, seed {seed}: {status} {answer}")
            took.append(ms)
        finally:
            cloud.close()
    return {"median_ms": statistics.median(took), "worst_ms": max(took)}


def keep_planning(client, pause_s, stop, took):
    """Creates and deletes plans, with that pause between them, until stop is set."""
    seed = 1000
    while not stop.is_set():
        body = plan_body(seed)
        ms, status, answer = plan_once(client, body)
        if status != 201:
            raise RuntimeError(f"seed {seed}: {status} {answer}")
        took.append(ms)
        client.must(204, "DELETE", f"/v1/plans/{answer['plan']['id']}")
        seed += 1
        stop.wait(pause_s)


def claims_beside(make, loader, work, level):
    """p99 of the claims alone, beside twenty plans, and beside one client that creates and deletes plans as fast as
    it can, alternately on one cloud. Creating a plan writes as much as twenty claims, and so does deleting it: the
    last case is a second load."""
    cloud = make(level, 0)
    found = {"alone_us": [], "beside_us": [], "without_end_us": []}
    took = {"beside_us": [], "without_end_us": []}
    try:
        file = claims_file(cloud.empty, work)
        Claimers(cloud.server, loader, file, 1).finish()
        for _ in range(RUNS):
            found["alone_us"].append(Claimers(cloud.server, loader, file, RUN_SECONDS).finish()["p99_us"])
            for what, pause_s in (("beside_us", RUN_SECONDS / SEEDS), ("without_end_us", 0)):
                stop = threading.Event()
                thread = threading.Thread(target=keep_planning, args=(cloud.client, pause_s, stop, took[what]))
                thread.start()
                found[what].append(Claimers(cloud.server, loader, file, RUN_SECONDS).finish()["p99_us"])
                stop.set()
                thread.join()
    finally:
        cloud.close()
    return {**{what: statistics.median(us) for what, us in found.items()},
            "plans_per_s": {what: len(ms) / RUNS / RUN_SECONDS for what, ms in took.items()}}


def time_impossible(make, loader, work, level):
    cloud = make(level, 0)
    found = {}
    try:
        claimers = Claimers(cloud.server, loader, claims_file(cloud.empty, work), 5)
        for what, body in impossible_bodies().items():
            ms, status, answer = plan_once(cloud.client, body)
            if status != 409:
                raise RuntimeError(f"{what}: {status} {answer}")
            found[what] = {"ms": ms, "said": answer["explanation"]}
        claimers.finish()
    finally:
        cloud.close()
    return found


def berth(binary, work, loader):
    template = os.path.join(work, "valet-template.db")
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(template + suffix):
            os.remove(template + suffix)
    make_cloud(binary, template, work)

    def make(level, seed):
        return Cloud(binary, template, work, level, seed)
    return {str(level): {"plan": time_plans(make, loader, work, level),
                         "beside": claims_beside(make, loader, work, level),
                         "impossible": time_impossible(make, loader, work, level)} for level in LEVELS}
