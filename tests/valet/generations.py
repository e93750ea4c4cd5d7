#!/usr/bin/python3
"""The generations that clients see: a request increments those of the providers that it changes by exactly one, and
no others, whatever it changes and through whichever API.

    tests/valet/generations.py --berthd build/berthd [PART…]

Parts: plan, group, migrate, release, reshaper. The last line is `N passed, N failed`.
"""

import os
import sys
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), *(os.path.join(os.path.dirname(HERE), name) for name in ("api", "baremetal"))]
sys.dont_write_bytecode = True

import metal_client  # noqa: E402
import parts  # noqa: E402
import plans  # noqa: E402
import servers  # noqa: E402
from plans import TENANT, body, group, locations, server  # noqa: E402

PARTS = ("plan", "group", "migrate", "release", "reshaper")
METAL = ["[baremetal]", "host = here", "fake_delay_ms = 20",
         "[placement]", f"incomplete_consumer_project_id = {TENANT}"]  # the project of nodes' consumers


class Tests(plans.Tests):
    def generations(self, cloud):
        found = cloud.place(200, "GET", "/resource_providers")["resource_providers"]
        return {one["name"]: one["generation"] for one in found}

    def raised(self, name, cloud, before, wanted):
        """The increments of generations that have changed."""
        after = self.generations(cloud)
        self.equal(name, {one: after[one] - before[one] for one in after if after[one] != before[one]}, wanted)
        return after

    def exclusive(self, cloud, stack, level, **more):
        return cloud.plan(body(stack, {stack + "-a": server(**more),
                                       "E": group("exclusivity", level, stack + "-a", group_name="gold")}))

    def test_plan(self):
        """A hold and the group's aggregate are created, and deleted, with one request."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            gold = self.group(berth, "gold", [TENANT])
            before = self.generations(cloud)
            self.exclusive(cloud, "s", "host", locations=["h2"])
            self.equal("claimed", gold in cloud.aggregates("h2"), True)
            before = self.raised("create", cloud, before, {"h2": 1})
            self.exclusive(cloud, "t", "rack", locations=["h3"])
            self.equal("a rack is claimed", [gold in cloud.aggregates(name) for name in ("h3", "h4")], [True, True])
            before = self.raised("create, with a rack", cloud, before, {"h3": 1, "h4": 1})
            self.expect("delete", cloud.valet("DELETE", "/v1/plans/s"), 204)
            self.equal("free", gold in cloud.aggregates("h2"), False)
            before = self.raised("delete", cloud, before, {"h2": 1})
            self.expect("delete, with a rack", cloud.valet("DELETE", "/v1/plans/t"), 204)
            self.raised("of a rack", cloud, before, {"h3": 1, "h4": 1})

    def test_group(self):
        """Creating a group changes no provider; deleting it removes its aggregate."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 3)
            before = self.generations(cloud)
            gold = self.group(berth, "gold", [TENANT])
            self.raised("create", cloud, before, {})
            cloud.join("h2", [gold, cloud.rack_aggregate[1]])
            before = self.generations(cloud)
            self.expect("no members", cloud.valet("DELETE", f"/v1/groups/{gold}/members", token="admin"), 204)
            self.expect("delete", cloud.valet("DELETE", f"/v1/groups/{gold}", token="admin"), 204)
            self.equal("nobody's", gold in cloud.aggregates("h2"), False)
            self.raised("delete of a group", cloud, before, {"h2": 1})

    def test_migrate(self):
        """The host that a server leaves, and its new host."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 2)
            plan = cloud.plan(body("s", {"a": server()}))
            before = self.generations(cloud)
            answer = cloud.valet("PUT", "/v1/plans/s", {"action": "migrate", "resources": ["a"]}, token="admin")
            self.expect("migrate", answer, 201)
            self.case("elsewhere", locations(answer.json["plan"]) != locations(plan), answer)
            before = self.raised("both hosts", cloud, before, {"h1": 1, "h2": 1})
            gold = self.group(berth, "gold", [TENANT])
            self.expect("update", cloud.valet("PUT", "/v1/plans/s", {"action": "update", "resources": {
                "a": server(), "b": server({"vcpus": 1, "ram": 1, "disk": 1}),
                "E": group("exclusivity", "host", "b", group_name="gold")}}), 201)
            where = cloud.placements()["b"]["location"]
            self.equal("claimed", gold in cloud.aggregates(where), True)
            self.raised("update", cloud, before, {where: 1})

    def test_release(self):
        """A node is released, and with it a rack's claim ends."""
        with self.berth(baremetal_port=servers.free_port(), options=METAL) as berth:
            cloud = self.cloud(berth, 2)
            gold = self.group(berth, "gold", [TENANT])
            metal_api = metal_client.MetalClient(berth.baremetal_port)
            metal_api.make_node("available", name="node", resource_class="metal")
            node = metal_api.must(200, "GET", "/v1/nodes/node")["uuid"]
            cloud.host["node"] = node
            cloud.join("node", [cloud.rack_aggregate[1]])
            self.exclusive(cloud, "s", "rack", locations=["h1"])
            self.equal("the node is the rack's", gold in cloud.aggregates("node"), True)
            before = self.generations(cloud)
            metal_api.must(201, "POST", "/v1/allocations", {"resource_class": "metal", "name": "one"})
            metal_api.until("/v1/allocations/one", lambda one: one["state"] == "active")
            before = self.raised("allocate", cloud, before, {node: 1})
            self.expect("delete of the plan", cloud.valet("DELETE", "/v1/plans/s"), 204)
            self.equal("still the group's", gold in cloud.aggregates("node"), True)
            before = self.raised("one host", cloud, before, {"h1": 1})
            metal_api.must(204, "DELETE", "/v1/allocations/one")
            self.equal("nobody's", [gold in cloud.aggregates(name) for name in ("node", "h1", "h2")], [False] * 3)
            self.raised("release", cloud, before, {node: 1, "h1": 1, "h2": 1})
            metal_api.close()

    def test_reshaper(self):
        """The one exception, as in the Python service: inventories are written before and after the allocations, and
        a consumer's provider is counted once more."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            consumer = str(uuid.uuid4())
            cloud.claim(consumer, "h1", 1)
            before = self.generations(cloud)
            asked = {"inventories": {cloud.host[name]: {
                "resource_provider_generation": before[name], "inventories": {
                    "VCPU": {"total": 4}, "MEMORY_MB": {"total": 65536 - 1}}} for name in ("h1", "h2")},
                "allocations": {consumer: {"allocations": {cloud.host["h2"]: {"resources": {"VCPU": 1}}},
                                           "project_id": TENANT, "user_id": "u", "consumer_generation": 1,
                                           "consumer_type": "INSTANCE"}}}
            cloud.place(204, "POST", "/reshaper", asked)
            self.equal("moved", cloud.held(consumer), {"h2": 1})
            self.raised("the reshaper", cloud, before, {"h1": 2, "h2": 3})


if __name__ == "__main__":
    sys.exit(parts.play(Tests, PARTS, __doc__))
