#!/usr/bin/python3
"""Plans, their servers' claims and non-members' claims at once, through both APIs, while berthd is killed:
acknowledged writes are there completely, refused ones are not, and the books (books.py) are correct after each kill.

    tests/valet/chaos.py --berthd build/berthd [--rounds 15] [--berths N] [--seed N]
    tests/databases/with_postgres.py tests/valet/chaos.py --berthd build/berthd …     on PostgreSQL instead of a file

The last line is `N passed, N failed`.
"""

import argparse
import http.client
import json
import os
import random
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import books  # noqa: E402
import servers  # noqa: E402

MEMBER = "11111111111111111111111111111111"
NON_MEMBER = "22222222222222222222222222222222"
HOSTS, RACKS, VCPU = 12, 4, 16
QUIET = 4  # of the hosts without non-members: one added to a claimed rack brings none into it
LOST = (OSError, http.client.HTTPException)  # no complete answer: killed


def host_name(number):
    return f"host-{number:02}"


def host_uuid(number):
    return f"{number:08x}-0000-4000-8000-00000000000a"


def rack_uuid(number):
    return f"{number:08x}-0000-4000-8000-00000000000b"


class ValetClient:
    """The Valet API, as an admin of the member project."""

    """`ports`: each request goes to the next one."""

    def __init__(self, *ports):
        self.connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=30) for port in ports]
        self.asked = 0

    def ask(self, method, path, body=None):
        self.connection = self.connections[self.asked % len(self.connections)]
        self.asked += 1
        self.connection.request(method, path, None if body is None else json.dumps(body),
                                {"x-auth-token": "admin", "x-project-id": MEMBER})
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    def must(self, wanted, method, path, body=None):
        status, answer = self.ask(method, path, body)
        if status != wanted:
            raise AssertionError(f"{method} {path}: {status} {answer}, not {wanted}")
        return answer


def build(berth):
    client = berth.client()
    client.must(201, "PUT", "/traits/CUSTOM_VALET_RACK")
    for number in range(HOSTS):
        client.make_provider(host_uuid(number), host_name(number), VCPU=VCPU, MEMORY_MB=65536, DISK_GB=1000)
        client.must(200, "PUT", f"/resource_providers/{host_uuid(number)}/aggregates",
                    {"resource_provider_generation": 1, "aggregates": [rack_uuid(number % RACKS)]})
    for number in range(RACKS):
        path = f"/resource_providers/{rack_uuid(number)}"
        client.make_provider(rack_uuid(number), f"rack-{number}")
        client.must(200, "PUT", path + "/aggregates",
                    {"resource_provider_generation": 0, "aggregates": [rack_uuid(number)]})
        client.must(200, "PUT", path + "/traits", {"resource_provider_generation": 1, "traits": ["CUSTOM_VALET_RACK"]})
    valet_api = ValetClient(berth.valet_port)
    group = valet_api.must(201, "POST", "/v1/groups", {"name": "gold", "type": "exclusivity"})
    valet_api.must(201, "PUT", f"/v1/groups/{group['id']}/members", {"members": [MEMBER]})


class Known:
    """The answers that clients received."""

    def __init__(self):
        self.lock = threading.Lock()
        self.plans = {}      # plan's id: set of orchestration ids; acknowledged, with no request in flight since
        self.unknown = set()  # plans with a request that was not answered
        self.gone = set()    # plans whose deletion was acknowledged
        self.deleted_servers = set()
        self.problems = []
        self.counts = {}

    def count(self, what, status):
        with self.lock:
            self.counts[what, status] = self.counts.get((what, status), 0) + 1

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    def take(self, chance):
        """A plan that no other worker uses until it is put back; None: there is none."""
        with self.lock:
            if not self.plans:
                return None, None
            plan = chance.choice(sorted(self.plans))
            return plan, self.plans.pop(plan)

    def put(self, plan, servers_of_it):
        with self.lock:
            self.plans[plan] = servers_of_it


def constraint(kind, level, members, **more):
    return {"type": "OS::Valet::GroupAssignment",
            "properties": {"group_type": kind, "level": level, "resources": members, **more}}


def some_resources(chance):
    names = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(chance.randint(1, 5))]
    resources = {name: {"type": "OS::Nova::Server", "properties": {
        "flavor": {"vcpus": chance.randint(1, 4), "ram": 1024, "disk": 10}}} for name in names}
    if len(names) > 1 and chance.random() < 0.6:
        resources["apart"] = constraint("diversity", chance.choice(("host", "rack")), names[:chance.randint(2, 4)])
    if chance.random() < 0.5:
        resources["own"] = constraint("exclusivity", chance.choice(("host", "host", "rack")),
                                      chance.sample(names, chance.randint(1, len(names))), group_name="gold")
    return resources, set(names)


class Worker(threading.Thread):
    def __init__(self, berths, known, seed, stop, act):
        super().__init__(daemon=True)
        self.berth, self.known, self.stop, self.act = berths[0], known, stop, act
        self.chance = random.Random(seed)
        self.valet_api, self.client = ValetClient(*(one.valet_port for one in berths)), self.berth.client()

    def run(self):
        try:
            while not self.stop.is_set():
                self.act(self)
        except LOST:
            pass
        except Exception as failure:  # pylint: disable=broad-except
            self.known.problem(repr(failure))

    def tell(self, what, status, fine):
        self.known.count(what, status)
        if status not in fine:
            self.known.problem(f"{what}: {status}")


def create(worker):
    resources, names = some_resources(worker.chance)
    status, answer = worker.valet_api.ask("POST", "/v1/plans", {"plan_name": "p", "stack_id": str(uuid.uuid4()),
                                                          "resources": resources})
    worker.tell("create", status, (201, 409))
    if status == 201:
        worker.known.put(answer["plan"]["id"], names)
        if set(answer["plan"]["placements"]) != names:
            worker.known.problem(f"not all are placed: {answer}")


def on_a_plan(worker, what, method, path, body, after):
    """One request about a plan that no other worker uses meanwhile. after(status, answer, servers) returns the
    plan's servers then; None: it is deleted."""
    plan, names = worker.known.take(worker.chance)
    if plan is None:
        return
    try:
        status, answer = worker.valet_api.ask(method, path.format(plan=plan, one=worker.chance.choice(sorted(names) or ["-"])),
                                         body(worker, names))
    except LOST:
        worker.known.unknown.add(plan)
        raise
    worker.tell(what, status, (201, 204, 409, 404) if what == "reserve" else (201, 204, 409))
    left = after(status, answer, names)
    if left is None:
        worker.known.gone.add(plan)
    else:
        worker.known.put(plan, left)


def update(worker):
    resources, names = some_resources(worker.chance)
    on_a_plan(worker, "update", "PUT", "/v1/plans/{plan}", lambda *_: {"action": "update", "resources": resources},
              lambda status, _, before: names if status == 201 else before)


def migrate(worker):
    on_a_plan(worker, "migrate", "PUT", "/v1/plans/{plan}",
              lambda one, names: {"action": "migrate", "resources": [one.chance.choice(sorted(names))]},
              lambda status, _, before: before)


def reserve(worker):
    hosts = [host_name(number) for number in worker.chance.sample(range(HOSTS), 4)]
    on_a_plan(worker, "reserve", "POST", "/v1/placements/{one}",
              lambda *_: {"locations": hosts, "action": worker.chance.choice(("reserve", "replan"))},
              lambda status, _, before: before)


def give_up(worker):
    on_a_plan(worker, "delete", "DELETE", "/v1/plans/{plan}", lambda *_: None,
              lambda status, _, before: None if status == 204 else before)


def build_server(worker):
    """As compute does: the server is claimed on its placement's host; later it may be deleted."""
    plan, names = worker.known.take(worker.chance)
    if plan is None:
        return
    try:
        name = worker.chance.choice(sorted(names))
        status, answer = worker.valet_api.ask("GET", f"/v1/placements/{name}")
        worker.tell("show", status, (200,))
        place = answer["placement"]["location"]
        number = int(place[len("host-"):])
        body = {"allocations": {host_uuid(number): {"resources": {"VCPU": 1, "MEMORY_MB": 1024, "DISK_GB": 10}}},
                "project_id": MEMBER, "user_id": "user", "consumer_generation": None, "consumer_type": "INSTANCE"}
        status, _ = worker.client.ask("PUT", f"/allocations/{name}", body)
        worker.tell("server", status, (204, 409))
        if status == 204 and worker.chance.random() < 0.7:
            worker.known.deleted_servers.add(name)
            status, _ = worker.client.ask("DELETE", f"/allocations/{name}")
            worker.tell("server goes", status, (204,))
    finally:
        worker.known.put(plan, names)


def plan(worker):
    known = len(worker.known.plans)
    acts = (create, update, migrate, reserve, give_up, give_up if known > 4 else create, build_server)
    worker.chance.choice(acts)(worker)


def claim_as_non_member(worker):
    number = worker.chance.randrange(QUIET, HOSTS)
    consumer = str(uuid.uuid4())
    body = {"allocations": {host_uuid(number): {"resources": {"VCPU": worker.chance.randint(1, 4)}}},
            "project_id": NON_MEMBER, "user_id": "user", "consumer_generation": None, "consumer_type": "INSTANCE"}
    status, _ = worker.client.ask("PUT", f"/allocations/{consumer}", body)
    worker.tell("nonmember", status, (204, 409))
    if status == 204:
        time.sleep(worker.chance.random() * 0.02)
        worker.tell("nonmember goes", worker.client.ask("DELETE", f"/allocations/{consumer}")[0], (204,))


def verdict_of(berth, known):
    found = list(known.problems)
    rows = {}
    for _, plan_id, orchestration, _ in books.placements(berth.tables):
        rows.setdefault(plan_id, set()).add(orchestration)
    plans = {row[0] for row in servers.rows(berth.tables, "SELECT uuid FROM berth_valet_plans")}
    for plan_id, names in known.plans.items():
        if plan_id not in plans or rows.get(plan_id, set()) != names:
            found.append(f"plan {plan_id} has {rows.get(plan_id)}, not {names}")
    found += [f"plan {plan_id} is there again" for plan_id in known.gone & plans]
    return found + books.problems(berth.tables, known.deleted_servers)


def operate(worker):
    """Moves hosts from rack to rack, and disables them."""
    number = worker.chance.randrange(QUIET)
    path = f"/resource_providers/{host_uuid(number)}"
    _, known = worker.client.ask("GET", path + "/aggregates")
    generation = known["resource_provider_generation"]
    if worker.chance.random() < 0.5:
        racks = {rack_uuid(rack) for rack in range(RACKS)}
        status, _ = worker.client.ask("PUT", path + "/aggregates", {
            "resource_provider_generation": generation,
            "aggregates": sorted(set(known["aggregates"]) - racks | {rack_uuid(worker.chance.randrange(RACKS))})})
    else:
        status, _ = worker.client.ask("PUT", path + "/traits", {
            "resource_provider_generation": generation,
            "traits": ["COMPUTE_STATUS_DISABLED"] if worker.chance.random() < 0.2 else []})
    worker.tell("operate", status, (200, 409))
    time.sleep(worker.chance.random() * 0.02)


def play_round(berths, known, seed, kill):
    """Each berthd on the file has clients; all are stopped at once, or one of two goes on."""
    stop = threading.Event()
    acts = [plan, plan, plan, claim_as_non_member, claim_as_non_member, operate]
    first = [berths[number % len(berths)] for number in range(len(acts))]
    workers = [Worker([one, *(other for other in berths if other is not one)], known, f"{seed}-{number}", stop, act)
               for number, (one, act) in enumerate(zip(first, acts))]
    for worker in workers:
        worker.start()
    time.sleep(0.1 + random.Random(seed).random() * 0.5)
    if kill:
        berths[0].kill()
        if len(berths) > 1:
            time.sleep(0.2)
    stop.set()
    for worker in workers:
        worker.join(60)
    if not kill:
        berths[0].stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--berths", type=int, default=1, help="on one database; the requests of each client go to one after the other")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    score, known = servers.Score(), Known()
    with tempfile.TemporaryDirectory(prefix="berth-valet-") as directory:
        url = servers.new_database()  # None: a file
        berths = [servers.Berthd(options.berthd, directory, valet_port=servers.free_port(), connection=url)
                  for _ in range(options.berths)]
        berth = berths[0]
        try:
            for one in berths:
                one.start()
            build(berth)
            for number in range(options.rounds):
                play_round(berths, known, f"{options.seed}-{number}", kill=number % 3 != 2)
                berth.start()
                found = verdict_of(berth, known)
                score.case(f"round {number + 1}", "; ".join(found[:5]) or None)
                if found:
                    break
                # a plan with an unanswered request may be in either state; it is not used again
                for plan_id in known.unknown:
                    ValetClient(berth.valet_port).ask("DELETE", f"/v1/plans/{plan_id}")
                known.unknown.clear()
            else:
                for what in ("create", "update", "migrate", "reserve", "delete", "server", "nonmember"):
                    done = [status for one, status in known.counts if one == what and status < 300]
                    score.case(f"some did: {what}", None if done else "none succeeded")
        except Exception as failure:  # pylint: disable=broad-except
            score.case("to the end", repr(failure))
        finally:
            print("       " + ", ".join(f"{count} {what} {status}" for (what, status), count in
                                        sorted(known.counts.items())))
            if score.failed:
                print(berth.log()[-3000:])
            for one in berths:
                one.kill()
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
