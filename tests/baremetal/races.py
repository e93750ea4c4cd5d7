#!/usr/bin/python3
"""A hundred allocations through the Bare Metal API, a hundred claims through Placement's and a hundred plans through
Valet's for the same ten nodes, all at once: no node is given out twice, each plan succeeds completely or not at all,
and every client that gets no node gets the reason.

    tests/baremetal/races.py --berthd build/berthd [ROUND…]

Rounds: plain, plans (with the Valet API), flips (operators set and clear maintenance of nodes meanwhile), powers (and
lock them), two (two berthd on one file); each is run several times, and all nodes are released in between. The last
line is `N passed, N failed`.
"""

import argparse
import http.client
import json
import os
import random
import sys
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import berth_baremetal  # noqa: E402
import metal_client  # noqa: E402
import servers  # noqa: E402

NODES, CLIENTS, REQUESTS_EACH, TIMES = 10, 25, 4, 5
CLASS, IN_PLACEMENT = "gold", "CUSTOM_GOLD"
REASONS = ("no available nodes match the resource class gold.", "all nodes were filtered out during reservation.",
           " suitable nodes.")


class Race:
    """The answers that the clients of a round received."""

    def __init__(self, berths, nodes):
        self.berths, self.nodes = berths, nodes
        self.lock = threading.Lock()
        self.allocations, self.claimed, self.problems = [], {}, []
        self.held, self.plans = {}, []  # placements of plans, their nodes; ids of plans
        self.active = 0
        self.over = threading.Event()

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    def run(self, target, number):
        try:
            target(number)
        except Exception as failure:  # otherwise the failure of a thread would go unnoticed
            self.problem(f"{target.__name__} {number}: {failure!r}")

    def placement(self, number):
        return servers.Client(self.berths[number % len(self.berths)].placement_port)

    def metal_api(self, number):
        return metal_client.MetalClient(self.berths[number % len(self.berths)].port)

    def allocate(self, number):
        client = self.metal_api(number)
        for _ in range(REQUESTS_EACH):
            made = client.must(201, "POST", "/v1/allocations", {"resource_class": CLASS})
            if made["state"] != "allocating" or made["node_uuid"] is not None:
                self.problem(f"POST answers {made}")
            with self.lock:
                self.allocations.append(made["uuid"])
        client.close()

    def claim(self, number):
        client, chance = self.placement(number), random.Random(number)
        for _ in range(REQUESTS_EACH):
            consumer, node = str(uuid.uuid4()), chance.choice(self.nodes)
            status, answer = client.claim(consumer, **{node: {IN_PLACEMENT: 1}})
            if status == 204:
                with self.lock:
                    self.claimed[consumer] = node
            elif status != 409 or "Unable to allocate inventory" not in str(answer):
                self.problem(f"a claim is answered {status} {answer}")
        client.close()

    def valet(self, number, method, path, body=None):
        """(status, answer)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.berths[number % len(self.berths)].valet_port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"x-auth-token": "admin"})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def plan(self, number):
        """Each plan needs one node, or two."""
        chance = random.Random(number)
        node = {"type": "OS::Nova::Server", "properties": {"flavor": {
            "vcpus": 0, "ram": 0, "disk": 0, "extra_specs": {f"resources:{IN_PLACEMENT}": "1"}}}}
        for _ in range(REQUESTS_EACH):
            names = [str(uuid.uuid4()) for _ in range(chance.choice((1, 2)))]
            status, answer = self.valet(number, "POST", "/v1/plans", {
                "plan_name": "race", "stack_id": str(uuid.uuid4()), "resources": {name: node for name in names}})
            if status == 201:
                plan = answer["plan"]
                shown = self.valet(number, "GET", "/v1/placements?plan_id=" + plan["id"])[1]["placements"]
                if {one["orchestration_id"]: one["location"] for one in shown} != {
                        name: one["location"] for name, one in plan["placements"].items()} or len(shown) != len(names):
                    self.problem(f"of {plan} there is {shown}")
                with self.lock:
                    self.plans.append(plan["id"])
                    self.held.update({one["id"]: one["location"] for one in shown})
            elif status != 409 or not answer["explanation"].startswith(("Valet error: no ", "Valet error: the cloud changed")):
                self.problem(f"a plan is answered {status} {answer}")

    def flip(self, number):
        client, chance = self.metal_api(number), random.Random(number)
        while not self.over.is_set():
            path = f"/v1/nodes/{chance.choice(self.nodes)}/maintenance"
            answer = client.ask(chance.choice(["PUT", "DELETE", "DELETE"]), path)
            if answer.status not in (202, 409):
                self.problem(f"{path} is answered {answer}")
        client.close()

    def power(self, number):
        client, chance = self.metal_api(number), random.Random(number)
        while not self.over.is_set():
            path = f"/v1/nodes/{chance.choice(self.nodes)}/states/power"
            answer = client.ask("PUT", path, {"target": chance.choice(["power on", "power off"])})
            if answer.status not in (202, 409):
                self.problem(f"{path} is answered {answer}")
            time.sleep(0.02)
        client.close()

    def watch(self, number):
        """A node is never held twice, and never free while a consumer has it."""
        client = self.placement(number)
        while not self.over.is_set():
            for node in self.nodes:
                held = client.must(200, "GET", f"/resource_providers/{node}/allocations")["allocations"]
                if len(held) > 1:
                    self.problem(f"node {node} is held by {sorted(held)}")
            time.sleep(0.002)
        client.close()


def verdict_of(race):
    """The first problem at the end, or None; and how many nodes each API gave out."""
    client, placement = race.metal_api(0), race.placement(0)
    nodes, allocations = client.at_rest()
    nodes = {node["uuid"]: node for node in nodes.json["nodes"]}
    found = {one["uuid"]: one for one in allocations.json["allocations"]}
    if sorted(found) != sorted(race.allocations):
        return f"{len(race.allocations)} allocations were made, {len(found)} are there"
    active = {one["uuid"]: one["node_uuid"] for one in found.values() if one["state"] == "active"}
    if len(set(active.values())) != len(active):
        return f"a node has two allocations: {active}"
    for one in found.values():
        reason = one["last_error"]
        if one["state"] == "error" and not (reason.startswith(f"Failed to process allocation {one['uuid']}: ")
                                            and reason.endswith(REASONS)):
            return f"an allocation ends with {reason!r}"
    holders = {**active, **race.claimed, **race.held}
    for node in race.nodes:
        wanted = sorted(holder for holder, at in holders.items() if at == node)
        held = placement.must(200, "GET", f"/resource_providers/{node}/allocations")["allocations"]
        if sorted(held) != wanted or len(wanted) > 1:
            return f"node {node}: answered {wanted}, Placement shows {sorted(held)}"
        if nodes[node]["instance_uuid"] != next((one for one in wanted if one in active), None):
            return f"node {node} has the instance {nodes[node]['instance_uuid']}, its allocation is {wanted}"
        inventory = placement.must(200, "GET", f"/resource_providers/{node}/inventories")["inventories"][IN_PLACEMENT]
        is_free = nodes[node]["instance_uuid"] is None and not nodes[node]["maintenance"]
        if inventory["total"] != 1 or inventory["reserved"] != (0 if is_free else 1):
            return f"node {node}: {inventory}, {nodes[node]['instance_uuid']}"
    race.active = len(active)
    return None


def give_back(race):
    client, placement = race.metal_api(0), race.placement(0)
    for allocation in race.allocations:
        client.must(204, "DELETE", f"/v1/allocations/{allocation}")
    for consumer in race.claimed:
        placement.must(204, "DELETE", f"/allocations/{consumer}")
    for plan in race.plans:
        if race.valet(0, "DELETE", f"/v1/plans/{plan}")[0] != 204:
            raise RuntimeError(f"plan {plan} cannot be deleted")
    for node in race.nodes:
        client.must(202, "DELETE", f"/v1/nodes/{node}/maintenance")
    client.close()
    placement.close()


def one_race(berths, nodes, more, wants_all):
    """(problem, how many allocations, claims and placements of plans got a node)."""
    race = Race(berths, nodes)
    kinds = [race.allocate, race.claim] + ([race.plan] if berths[0].valet_port else [])
    clients = [(kind, n) for kind in kinds for n in range(CLIENTS)]
    random.Random(1).shuffle(clients)
    others = [(race.watch, 0)] + [(getattr(race, what), n) for what, count in more.items() for n in range(count)]
    threads = [threading.Thread(target=race.run, args=one, daemon=True) for one in others + clients]
    for thread in threads:
        thread.start()
    for thread in threads[len(others):]:
        thread.join(120)
    race.over.set()
    for thread in threads:
        thread.join(60)
        if thread.is_alive():
            race.problem("a request is never answered")
            break
    problem = race.problems[0] if race.problems else verdict_of(race)
    got = [race.active, len(race.claimed), len(race.held)]
    if not problem and wants_all and sum(got) != NODES:
        problem = f"{sum(got)} of {NODES} nodes were got"
    if not problem:
        give_back(race)
    return problem, got


def races(score, name, berths, more, wants_all):
    client = metal_client.MetalClient(berths[0].port)
    nodes = [client.make_node(resource_class=CLASS)["uuid"] for _ in range(NODES)]
    client.close()
    began, got, problem = time.monotonic(), [0, 0, 0], None
    for _ in range(TIMES):
        problem, more_got = one_race(berths, nodes, more, wants_all)
        got = [a + b for a, b in zip(got, more_got)]
        if problem:
            break
    what = f"{got[0]} allocations, {got[1]} claims and {got[2]} placements of plans got a node"
    if not problem and not (got[0] and got[1] and (got[2] or not berths[0].valet_port)):
        problem = what + ": that was no race"
    score.case(f"{name}: {what}", problem, time.monotonic() - began)
    if problem:
        print(berths[0].log()[-2000:])


def beside(first, program, **more):
    """Another berthd on the same file."""
    second = berth_baremetal.Berth(program, **more)
    with open(second.config_file) as file:
        text = file.read()
    with open(second.config_file, "w") as file:
        file.write(text.replace(second.database, first.database))
    return second


ROUNDS = {
    "plain": ({}, 1),
    "plans": ({}, 1),
    "flips": ({"flip": 3}, 1),
    "powers": ({"flip": 2, "power": 2}, 1),
    "two": ({"flip": 2}, 2),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("rounds", nargs="*", metavar="ROUND", help=", ".join(ROUNDS))
    arguments = parser.parse_args()
    score = servers.Score()
    for name in arguments.rounds or ROUNDS:
        more, count = ROUNDS[name]
        port = servers.free_port() if name == "plans" else None
        berths = [berth_baremetal.Berth(arguments.berthd, arguments=("--valet-listen", f"127.0.0.1:{port}") if port else ())]
        berths[0].valet_port = port
        try:
            berths[0].start()
            for _ in range(1, count):
                berths.append(beside(berths[0], arguments.berthd))
                berths[-1].start()
            races(score, name, berths, more, wants_all=not more)
        finally:
            for berth in berths:
                berth.kill()
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
