#!/usr/bin/python3
"""Tests of plans and placements that gabbi cannot express: holds and claims in the resource API, what actions keep,
repeated bodies, races, unusual contents of the file, long lists.

    tests/valet/plans.py --berthd build/berthd [PART…]

Parts: see PARTS. The last line is `N passed, N failed`.
"""

import collections
import os
import sqlite3
import sys
import threading
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import contract  # noqa: E402
import parts  # noqa: E402

SERVER = "OS::Nova::Server"
GROUP = "OS::Valet::GroupAssignment"
TENANT = "b7d0e9b175294b649464caa3411adb3f"
TOKEN = "somebody:" + TENANT
PARTS = ("create", "groups", "repeat", "update", "migrate", "reserve", "reserve_of_a_freed_hold", "reserve_of_another_server",
         "delete",
         "projects", "races", "changed", "damage", "many", "two_racks", "generations")
FLAVOR = {"vcpus": 1, "ram": 512, "disk": 1}


def server(flavor=None, **more):
    return {"type": SERVER, "properties": {"flavor": flavor or FLAVOR}, **more}


def group(kind, level, *members, **more):
    return {"type": GROUP, "properties": {"group_type": kind, "level": level, "resources": list(members), **more}}


def body(stack, resources, **more):
    return {"plan_name": f"plan of {stack}", "stack_id": stack, "resources": resources, **more}


class Cloud:
    """A server with hosts h1, h2… of `vcpus` each, in racks r1, r2… of `a_rack` hosts."""

    def __init__(self, tests, berth, hosts, vcpus=4, a_rack=2):
        self.tests, self.berth, self.vcpus = tests, berth, vcpus
        self.client = berth.client()
        self.host, self.rack_aggregate = {}, {}
        for trait in ("CUSTOM_VALET_RACK", "CUSTOM_VALET_ZONE"):
            self.client.ask("PUT", f"/traits/{trait}")
        for number in range(hosts):
            if number % a_rack == 0:
                self.add_rack(number // a_rack + 1)
            self.add_host(number + 1, number // a_rack + 1)

    def place(self, wanted, method, path, asked=None):
        status, answer = self.client.ask(method, path, asked)
        if status != wanted:
            raise AssertionError(f"{method} {path}: {status} {answer}")
        return answer

    def add_rack(self, number):
        which, self.rack_aggregate[number] = str(uuid.uuid4()), str(uuid.uuid4())
        self.place(200, "POST", "/resource_providers", {"name": f"r{number}", "uuid": which})
        self.place(200, "PUT", f"/resource_providers/{which}/traits",
                   {"resource_provider_generation": 0, "traits": ["CUSTOM_VALET_RACK"]})
        self.place(200, "PUT", f"/resource_providers/{which}/aggregates",
                   {"resource_provider_generation": 1, "aggregates": [self.rack_aggregate[number]]})

    def add_host(self, number, rack):
        which = self.host[f"h{number}"] = str(uuid.uuid4())
        self.place(200, "POST", "/resource_providers", {"name": f"h{number}", "uuid": which})
        self.place(200, "PUT", f"/resource_providers/{which}/inventories", {"resource_provider_generation": 0, "inventories": {
            "VCPU": {"total": self.vcpus}, "MEMORY_MB": {"total": 65536}, "DISK_GB": {"total": 1000}}})
        self.place(200, "PUT", f"/resource_providers/{which}/aggregates",
                   {"resource_provider_generation": 1, "aggregates": [self.rack_aggregate[rack]]})

    def valet(self, method, path, asked=None, token=TOKEN):
        return contract.send(self.berth.valet_port, method, path, asked, token=token)

    def plan(self, asked, token=TOKEN):
        """Creates a plan; returns its JSON."""
        answer = self.valet("POST", "/v1/plans", asked, token)
        if answer.status != 201:
            raise AssertionError(answer)
        return answer.json["plan"]

    def placements(self, **filters):
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        return {one["orchestration_id"]: one
                for one in self.valet("GET", "/v1/placements?" + query, token="admin").json["placements"]}

    def held(self, consumer):
        """{host: vcpus} of a consumer."""
        names = {which: name for name, which in self.host.items()}
        found = self.place(200, "GET", f"/allocations/{consumer}")["allocations"]
        return {names[which]: part["resources"]["VCPU"] for which, part in found.items()}

    def used(self):
        """{host: vcpus in use}, without unused hosts."""
        usage = {name: self.place(200, "GET", f"/resource_providers/{which}/usages")["usages"]["VCPU"]
                 for name, which in self.host.items()}
        return {name: count for name, count in usage.items() if count}

    def claim(self, consumer, host, vcpus, project=TENANT):
        resources = {"VCPU": vcpus} if vcpus else None
        status, old = self.client.ask("GET", f"/allocations/{consumer}")
        return self.client.ask("PUT", f"/allocations/{consumer}", {
            "allocations": {self.host[host]: {"resources": resources}} if vcpus else {}, "project_id": project,
            "user_id": "u", "consumer_generation": old.get("consumer_generation"), "consumer_type": "INSTANCE"})[0]

    def aggregates(self, host):
        return self.place(200, "GET", f"/resource_providers/{self.host[host]}/aggregates")["aggregates"]

    def join(self, host, aggregates):
        """Puts the host into these; returns the generation in the answer."""
        return self.place(200, "PUT", f"/resource_providers/{self.host[host]}/aggregates", {
            "resource_provider_generation": self.generation(host), "aggregates": aggregates})["resource_provider_generation"]

    def traits(self, host, names):
        return self.place(200, "PUT", f"/resource_providers/{self.host[host]}/traits", {
            "resource_provider_generation": self.generation(host), "traits": names})["resource_provider_generation"]

    def generation(self, host):
        return self.place(200, "GET", f"/resource_providers/{self.host[host]}")["generation"]


def locations(plan):
    return {name: part["location"] for name, part in plan["placements"].items()}


class Tests(contract.Tests):
    def cloud(self, berth, hosts=4, **more):
        return Cloud(self, berth, hosts, **more)

    def equal(self, name, found, wanted):
        self.case(name, found == wanted, f"{found}, not {wanted}")

    def refused(self, name, answer, status, *texts):
        self.expect(name, answer, status)
        explanation = answer.explanation if answer.status >= 400 else ""
        self.case(name + ": words", explanation.startswith("Valet error: ") and all(text in explanation for text in texts), explanation)

    def test_create(self):
        """A plan's holds are consumers of the resource API."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            plan = cloud.plan(body("s1", {"a": server({"vcpus": 2, "ram": 1024, "disk": 5, "ephemeral": 1, "swap": 1}, name="web-1"),
                                          "v": {"type": "OS::Cinder::Volume"}}))
            self.equal("keys of a plan", sorted(plan), ["id", "name", "placements", "stack_id"])
            self.equal("its placements", sorted(plan["placements"]), ["a"])
            self.equal("name", plan["placements"]["a"]["name"], "web-1")
            one = cloud.placements()["a"]
            self.equal("keys of a placement", sorted(one), ["id", "location", "name", "orchestration_id", "plan_id",
                                                            "reserved", "resource_id"])
            self.equal("placement", (one["plan_id"], one["resource_id"], one["reserved"], one["location"]),
                       (plan["id"], None, False, plan["placements"]["a"]["location"]))
            hold = cloud.place(200, "GET", f"/allocations/{one['id']}")
            self.equal("hold", (hold["consumer_type"], hold["project_id"], hold["user_id"]), ("VALET_HOLD", TENANT, "somebody"))
            self.equal("amounts", [part["resources"] for part in hold["allocations"].values()],
                       [{"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 7}])
            self.equal("where", list(cloud.held(one["id"])), [one["location"]])
            self.equal("by stack", cloud.valet("GET", "/v1/plans/s1").json["plan"], plan)
            self.equal("by id", cloud.valet("GET", f"/v1/plans/{plan['id']}").json["plan"], plan)
            # nothing of an impossible plan is left
            before = cloud.used()
            self.refused("no room", cloud.valet("POST", "/v1/plans", body("s2", {
                "b": server(), "c": server({"vcpus": 9, "ram": 1, "disk": 1}, name="big")})), 409, "'big'", "(c)", "without capacity")
            self.equal("nothing allocated", cloud.used(), before)
            self.equal("nothing stored", len(cloud.placements()), 1)
            self.refused("nowhere", cloud.valet("POST", "/v1/plans", body("s2", {"b": server()}, locations=["h99"])), 409,
                         "'b'", "4 not in locations")
            limited = cloud.plan(body("s3", {"b": server(locations=["h3", "h4"])}, locations=["h1", "h3"]))
            self.equal("both lists bind", locations(limited), {"b": "h3"})
            self.expect("an id of another plan", cloud.valet("POST", "/v1/plans", body("s4", {"a": server()})), 409)
            self.expect("of another project", cloud.valet("POST", "/v1/plans", body("s4", {"a": server()}), token="x:y"), 409)

    def test_groups(self):
        """Affinity, diversity, exclusivity with their claims."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 6)
            gold = self.group(berth, "gold", [TENANT])
            plan = cloud.plan(body("pairs", {
                **{name: server(name=name) for name in ("a1", "a2", "b1", "b2")},
                "A": group("affinity", "host", "a1", "a2"), "B": group("affinity", "host", "b1", "b2"),
                "D": group("diversity", "rack", "A", "B"), "E": group("exclusivity", "host", "A", group_name="gold")}))
            where = locations(plan)
            self.case("pairs", where["a1"] == where["a2"] != where["b1"] == where["b2"], where)
            rack = {f"h{n + 1}": n // 2 for n in range(6)}
            self.case("racks differ", rack[where["a1"]] != rack[where["b1"]], where)
            self.equal("claimed", [gold in cloud.aggregates(f"h{n}") for n in range(1, 7)],
                       [f"h{n}" == where["a1"] for n in range(1, 7)])
            self.case("non-members are kept off", cloud.claim(str(uuid.uuid4()), where["a1"], 1, "nonmember") == 409)
            self.refused("no member", cloud.valet("POST", "/v1/plans", body("other", {
                "x": server(), "E": group("exclusivity", "host", "x", group_name="gold")}), token="other:other"), 409, "gold")
            unknown = cloud.valet("POST", "/v1/plans", body("other", {
                "x": server(), "E": group("exclusivity", "host", "x", group_name="foosball")}))
            self.expect("no such group", unknown, 409)
            self.equal("the seed's words", unknown.explanation, "Valet error: Exclusivity group 'foosball' not found")
            racked = cloud.plan(body("rack", {"r1": server(name="r1"), "R": group("exclusivity", "rack", "r1", group_name="gold")}))
            mine = rack[locations(racked)["r1"]]
            self.equal("a rack is claimed", [gold in cloud.aggregates(f"h{n}") for n in range(1, 7) if rack[f"h{n}"] == mine],
                       [True, True])
            self.expect("the rack's plan goes", cloud.valet("DELETE", "/v1/plans/rack"), 204)
            self.expect("the pairs go", cloud.valet("DELETE", f"/v1/plans/{plan['id']}"), 204)
            self.equal("no use is left", cloud.used(), {})
            self.equal("no servers: constraints are checked", cloud.valet("POST", "/v1/plans", body("none", {
                "E": group("exclusivity", "host", "v", group_name="foosball"), "v": {"type": "x"}})).status, 409)
            self.equal("no servers", cloud.valet("POST", "/v1/plans", body("none", {"v": {"type": "x"}})).json, {"plan": {}})
            self.equal("nothing stored", cloud.valet("GET", "/v1/plans").json, {"plans": []})

    def test_repeat(self):
        """Repeated creates."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            asked = body("s", {"a": server(), "b": server()})
            plan = cloud.plan(asked)
            used = cloud.used()
            self.equal("again", cloud.plan(asked), plan)
            shuffled = dict(reversed(list(asked.items())), resources=dict(reversed(list(asked["resources"].items()))), locations=[])
            self.equal("in another order", cloud.plan(shuffled), plan)
            self.equal("with a timeout", cloud.plan(dict(asked, timeout="60")), plan)
            self.equal("nothing more is held", cloud.used(), used)
            for name, other in (("name", dict(asked, plan_name="x")), ("locations", dict(asked, locations=["h1"])),
                                ("resources", body("s", {"a": server()}))):
                self.refused("another " + name, cloud.valet("POST", "/v1/plans", other), 409, "'s'")
            update = {"action": "update", "plan_name": "new", "resources": {"a": server(), "c": server()}}
            updated = cloud.valet("PUT", "/v1/plans/s", update).json["plan"]
            self.equal("the update's body is the one", cloud.plan(
                {"plan_name": "new", "stack_id": "s", "resources": update["resources"]}), updated)
            self.expect("the old one no more", cloud.valet("POST", "/v1/plans", asked), 409)
            other = cloud.plan(body("s", {"z": server()}), token="x:y")
            self.case("another project's stack", other["id"] != plan["id"], other)
            self.equal("one's own comes first", cloud.valet("GET", "/v1/plans/s").json["plan"]["id"], plan["id"])
            self.expect("of several others none", cloud.valet("GET", "/v1/plans/s", token="admin"), 404)
            self.equal("but by id", cloud.valet("GET", f"/v1/plans/{other['id']}", token="admin").status, 200)

    def test_update(self):
        """What an update keeps."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4, vcpus=2)
            plan = cloud.plan(body("s", {name: server(name=name) for name in "abc"}))
            before = cloud.placements()
            self.expect("reserve", cloud.valet("POST", "/v1/placements/a", {"resource_id": "real-a"}), 201)
            answer = cloud.valet("PUT", "/v1/plans/s", {"action": "update", "resources": {
                "a": server(name="a"), "b": server(name="bee"), "d": server(name="d")}})
            self.expect("update", answer, 201)
            after = cloud.placements()
            self.equal("who is there", sorted(after), ["a", "b", "d"])
            self.equal("answer", sorted(answer.json["plan"]["placements"]), ["a", "b", "d"])
            self.equal("a is kept", after["a"], dict(before["a"], resource_id="real-a", reserved=True))
            self.equal("b is kept, with its new name", after["b"], dict(before["b"], name="bee"))
            self.equal("c's hold is gone", cloud.held(before["c"]["id"]), {})
            self.equal("in use", sum(cloud.used().values()), 3)
            # a reserved server with another flavor stays on its host
            grown = {"vcpus": 2, "ram": 512, "disk": 1}
            answer = cloud.valet("PUT", "/v1/plans/s", {"action": "update", "resources": {
                "a": server(grown, name="a"), "b": server(name="bee"), "d": server(name="d")}})
            if answer.status == 201:
                self.equal("grown in its place", cloud.held(before["a"]["id"]), {before["a"]["location"]: 2})
            else:
                self.refused("no room in its place", answer, 409, "'a'")
            state = cloud.placements()
            self.refused("no solution", cloud.valet("PUT", "/v1/plans/s", {"action": "update", "resources": {
                "e": server({"vcpus": 99, "ram": 1, "disk": 1})}}), 409, "'e'")
            self.equal("unchanged", cloud.placements(), state)
            self.expect("another's id", cloud.valet("POST", "/v1/plans", body("t", {"x": server()})), 201)
            self.refused("an id of another plan", cloud.valet("PUT", "/v1/plans/s", {"action": "update", "resources": {
                "x": server()}}), 409, "'x'")
            renamed = cloud.valet("PUT", f"/v1/plans/{plan['id']}", {"action": "update", "plan_name": "other", "resources": {}})
            self.equal("nothing is left of it", renamed.json["plan"], dict(plan, name="other", placements={}))
            self.equal("but the plan", cloud.valet("GET", "/v1/plans/s").json["plan"]["name"], "other")
            self.equal("in use at last", sum(cloud.used().values()), 1)
            for name, asked in (("no action", {"resources": {}}), ("another action", {"action": "move", "resources": {}}),
                                ("a list", {"action": "update", "resources": []}), ("none", {"action": "update"}),
                                ("locations", {"action": "update", "resources": {}, "locations": []}),
                                ("hosts", {"action": "update", "resources": {}, "excluded_hosts": []}),
                                ("an empty name", {"action": "update", "resources": {}, "plan_name": ""})):
                self.expect("update with " + name, cloud.valet("PUT", "/v1/plans/s", asked), 400)
            self.expect("of an unknown id", cloud.valet("PUT", "/v1/plans/nobody", {"action": "update", "resources": {}}), 404)

    def test_migrate(self):
        """One server moves, and with it those that are bound to it."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            cloud.plan(body("s", {"a": server(), "b": server(), "c": server(), "A": group("affinity", "host", "a", "b")}))
            before = cloud.placements()
            for name in "ac":
                cloud.valet("POST", f"/v1/placements/{name}", {"resource_id": "real-" + name})
            asked = {"action": "migrate", "resources": ["real-c"]}
            self.expect("no role", cloud.valet("PUT", "/v1/plans/s", asked), 401)
            self.expect("the body comes before the role", cloud.valet("PUT", "/v1/plans/s", {"action": "migrate"}), 400)
            answer = cloud.valet("PUT", "/v1/plans/s", asked, token="admin")
            self.expect("migrate", answer, 201)
            after = cloud.placements()
            self.case("c is elsewhere", after["c"]["location"] != before["c"]["location"], after)
            self.equal("c is not reserved, and keeps its id", (after["c"]["reserved"], after["c"]["resource_id"]),
                       (False, "real-c"))
            self.equal("the others stay", [after[name]["location"] for name in "ab"], [before[name]["location"] for name in "ab"])
            self.equal("a is still reserved", after["a"]["reserved"], True)
            self.equal("the hold went with it", cloud.held(before["c"]["id"]), {after["c"]["location"]: 1})
            others = sorted(set(cloud.host) - {before["a"]["location"]})
            answer = cloud.valet("PUT", "/v1/plans/s", {"action": "migrate", "resources": ["b"], "excluded_hosts": others[1:]},
                                 token="admin")
            self.expect("the bound ones", answer, 201)
            self.equal("go together", {locations(answer.json["plan"])[name] for name in "ab"}, {others[0]})
            self.equal("and are not reserved", cloud.placements()["a"]["reserved"], False)
            state = cloud.placements()
            self.refused("nowhere to go", cloud.valet("PUT", "/v1/plans/s", {
                "action": "migrate", "resources": ["c"], "excluded_hosts": sorted(cloud.host)}, token="admin"), 409, "'c'")
            self.equal("unchanged", cloud.placements(), state)
            cloud.plan(body("t", {"x": server()}))
            for name, more in (("another plan's", {"resources": ["x"]}), ("two", {"resources": ["a", "b"]}),
                               ("none", {"resources": []}), ("text", {"resources": "a"}), ("numbers", {"resources": [1]}),
                               ("an object", {"resources": {}}), ("hosts as text", {"resources": ["a"], "excluded_hosts": "h"}),
                               ("a number as host", {"resources": ["a"], "excluded_hosts": [1]}),
                               ("something else", {"resources": ["a"], "locations": []})):
                self.expect("migrate " + name, cloud.valet("PUT", "/v1/plans/s", {"action": "migrate", **more}, token="admin"), 400)
            # an existing server stays, and gets a hold on its new host
            cloud.claim(before["c"]["id"], "h1", 0)
            real = str(uuid.uuid4())
            cloud.plan(body("u", {real: server()}))
            there = cloud.placements()[real]
            self.equal("compute claims", cloud.claim(real, there["location"], 1), 204)
            self.equal("the hold is dropped", cloud.held(there["id"]), {})
            answer = cloud.valet("PUT", "/v1/plans/u", {"action": "migrate", "resources": [real]}, token="admin")
            self.expect("migrate an existing server", answer, 201)
            target = locations(answer.json["plan"])[real]
            self.case("elsewhere", target != there["location"], target)
            self.equal("both are held", (cloud.held(real), cloud.held(there["id"])), ({there["location"]: 1}, {target: 1}))

    def test_reserve(self):
        """Reserve, replan, and the ids that servers have."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            cloud.plan(body("s", {"a": server(), "b": server(), "D": group("diversity", "host", "a", "b")}))
            before = cloud.placements()
            home = before["a"]["location"]
            answer = cloud.valet("POST", "/v1/placements/a", {"locations": [home], "resource_id": "real"})
            self.expect("reserve", answer, 201)
            self.equal("placement", answer.json, {"placement": dict(before["a"], reserved=True, resource_id="real")})
            self.equal("again", cloud.valet("POST", f"/v1/placements/{before['a']['id']}", {}).json, answer.json)
            free = next(name for name in sorted(cloud.host) if name not in (home, before["b"]["location"]))
            answer = cloud.valet("POST", "/v1/placements/a", {"locations": [free, "nowhere"]})
            self.expect("replan", answer, 201)
            self.equal("elsewhere", answer.json["placement"], dict(before["a"], location=free, reserved=True, resource_id="real"))
            self.equal("with its hold", cloud.held(before["a"]["id"]), {free: 1})
            self.equal("b stays", cloud.placements()["b"], before["b"])
            # b must move for a
            answer = cloud.valet("POST", "/v1/placements/a", {"locations": [before["b"]["location"]]})
            self.expect("one that must move does", answer, 201)
            after = cloud.placements()
            self.equal("a has b's place", after["a"]["location"], before["b"]["location"])
            self.case("b moved, unreserved", after["b"]["location"] != before["b"]["location"] and not after["b"]["reserved"], after)
            self.expect("b too", cloud.valet("POST", "/v1/placements/b", {"resource_id": "real-b"}), 201)
            state = cloud.placements()
            self.refused("a reserved one does not", cloud.valet("POST", "/v1/placements/a", {
                "locations": [state["b"]["location"]]}), 409)
            self.equal("unchanged", cloud.placements(), state)
            self.expect("replan", cloud.valet("POST", "/v1/placements/a", {"action": "replan"}), 201)
            self.refused("another's id", cloud.valet("POST", "/v1/placements/a", {"resource_id": "real-b"}), 409, "'real-b'")
            self.refused("another's orchestration id", cloud.valet("POST", "/v1/placements/a", {"resource_id": "b"}), 409, "'b'")
            for name, asked in (("text", {"locations": "h1"}), ("a number", {"locations": [1]}), ("an id that is none", {"resource_id": 1}),
                                ("an empty id", {"resource_id": ""}), ("another action", {"action": "move"}),
                                ("a null", {"locations": None}), ("something else", {"x": 1})):
                self.expect("reserve with " + name, cloud.valet("POST", "/v1/placements/a", asked), 400)
            self.expect("without a body", cloud.valet("POST", "/v1/placements/a"), 400)
            self.expect("of an unknown id", cloud.valet("POST", "/v1/placements/nobody", {}), 404)
            # a server that exists before its id is recorded
            real = str(uuid.uuid4())
            cloud.plan(body("t", {"x": server()}))
            there = cloud.placements()["x"]
            self.equal("compute claims", cloud.claim(real, there["location"], 1), 204)
            self.equal("both are held", cloud.held(there["id"]), {there["location"]: 1})
            self.expect("reported", cloud.valet("POST", "/v1/placements/x", {"resource_id": real}), 201)
            self.equal("the hold is gone", cloud.held(there["id"]), {})
            self.equal("where it is", cloud.placements()["x"]["location"], there["location"])

    def test_reserve_of_a_freed_hold(self):
        """A hold that was deleted through the resource API is created again, so that reserved capacity is held."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 2)
            cloud.plan(body("s", {"a": server()}))
            before = cloud.placements()["a"]
            home = before["location"]
            other = next(name for name in cloud.host if name != home)

            def free_hold():
                cloud.place(204, "DELETE", f"/allocations/{before['id']}")

            free_hold()
            answer = cloud.valet("POST", "/v1/placements/a", {"locations": [home]})
            self.expect("reserve", answer, 201)
            self.equal("where it was", answer.json["placement"], dict(before, reserved=True))
            self.equal("and held", cloud.held(before["id"]), {home: 1})
            free_hold()
            self.expect("with no limit", cloud.valet("POST", "/v1/placements/a", {}), 201)
            self.equal("there again", cloud.held(before["id"]), {home: 1})
            free_hold()
            full = str(uuid.uuid4())
            self.equal("another takes it", cloud.claim(full, home, 4), 204)
            state = cloud.placements()
            self.refused("no room", cloud.valet("POST", "/v1/placements/a", {"locations": [home]}), 409, "without capacity")
            self.equal("unchanged", cloud.placements(), state)
            self.expect("anywhere", cloud.valet("POST", "/v1/placements/a", {}), 201)
            self.equal("elsewhere, and held", (cloud.held(before["id"]), cloud.placements()["a"]["location"]), ({other: 1}, other))
            free_hold()
            self.equal("a server fills it", cloud.claim(str(uuid.uuid4()), other, 3), 204)
            real = str(uuid.uuid4())
            self.equal("and the real one", cloud.claim(real, other, 1), 204)
            answer = cloud.valet("POST", "/v1/placements/a", {"resource_id": real})
            self.expect("its server exists", answer, 201)
            self.equal("and needs no hold", (cloud.held(before["id"]), answer.json["placement"]["location"]), ({}, other))

    def test_reserve_of_another_server(self):
        """The id in a reservation may belong to a server on another host: that host is reported and checked."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 3, vcpus=8)
            for asked, wanted, held in (
                    ({}, "h2", {}),  # it stays where it is
                    ({"locations": ["h1"]}, None, {}),  # beside its other server a hold would be dropped
                    ({"locations": ["h1", "h3"]}, "h3", {"h3": 1}),
                    ({"locations": ["h2"]}, "h2", {})):
                name = str(uuid.uuid4())
                cloud.plan(body(name, {name: server()}))
                one, other = cloud.placements()[name], str(uuid.uuid4())
                self.equal("it is built", cloud.claim(name, "h1", 1), 204)
                self.equal("its hold has gone", cloud.held(one["id"]), {})
                self.equal("another is built", cloud.claim(other, "h2", 1), 204)
                answer = cloud.valet("POST", f"/v1/placements/{one['id']}", {**asked, "resource_id": other})
                if wanted is None:
                    self.refused("no place", answer, 409, "1 excluded")
                    continue
                self.expect("reserved", answer, 201)
                self.equal("the location", answer.json["placement"]["location"], wanted)
                self.equal("shown", cloud.valet("GET", f"/v1/placements/{name}").json, answer.json)
                self.equal("held", cloud.held(one["id"]), held)
            self.equal("it ends", cloud.claim(name, "h1", 0), 204)
            answer = cloud.valet("POST", f"/v1/placements/{name}", {"resource_id": str(uuid.uuid4())})
            self.expect("reserved for a server that does not exist yet", answer, 201)
            self.equal("held, since nobody's is it", list(cloud.held(one["id"])), [answer.json["placement"]["location"]])

    def test_delete(self):
        """Holds are deleted, berth's own claims end."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            plan = cloud.plan(body("s", {"a": server(), "b": server()}))
            before = cloud.placements()
            self.expect("a placement", cloud.valet("DELETE", "/v1/placements/a"), 204)
            self.equal("its hold", cloud.held(before["a"]["id"]), {})
            self.equal("the plan", sorted(cloud.valet("GET", "/v1/plans/s").json["plan"]["placements"]), ["b"])
            self.expect("again", cloud.valet("DELETE", "/v1/placements/a"), 404)
            self.expect("b is replanned without it", cloud.valet("POST", "/v1/placements/b", {"action": "replan"}), 201)
            self.expect("the plan", cloud.valet("DELETE", f"/v1/plans/{plan['id']}"), 204)
            self.expect("again", cloud.valet("DELETE", f"/v1/plans/{plan['id']}"), 404)
            self.equal("placements", cloud.placements(), {})
            self.equal("in use", cloud.used(), {})
            self.equal("made again", sorted(cloud.plan(body("s", {"a": server(), "b": server()}))["placements"]), ["a", "b"])

    def test_projects(self):
        """The plans that callers see."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            dashed = str(uuid.UUID(TENANT))
            mine = cloud.plan(body("s", {"a": server()}))
            other = cloud.plan(body("t", {"b": server()}), token="x:y")
            self.equal("mine", cloud.valet("GET", "/v1/plans").json, {"plans": [mine]})
            self.equal("in the other form", cloud.valet("GET", "/v1/plans", token="z:" + dashed.upper()).json, {"plans": [mine]})
            self.equal("an administrator's", cloud.valet("GET", "/v1/plans", token="admin").json, {"plans": [mine, other]})
            self.equal("placements", [one["name"] for one in cloud.valet("GET", "/v1/placements").json["placements"]], ["a"])
            their = cloud.placements()["b"]["id"]
            for method, path, asked in (("GET", "/v1/plans/t", None), ("DELETE", "/v1/plans/" + other["id"], None),
                                        ("PUT", "/v1/plans/t", {"action": "update", "resources": {}}),
                                        ("GET", "/v1/placements/b", None), ("DELETE", "/v1/placements/" + their, None),
                                        ("POST", "/v1/placements/b", {}), ("FROB", "/v1/plans/t", None),
                                        ("OPTIONS", "/v1/placements/b", None)):
                self.expect(f"{method} {path} of another", cloud.valet(method, path, asked), 404)
            for query, names in (("name=a", ["a"]), ("plan_id=" + mine["id"], ["a"]), ("orchestration_id=b", ["b"]),
                                 ("id=" + their, ["b"]), ("reserved=true", []), ("reserved=false", ["a", "b"]),
                                 ("resource_id=x", []), ("location=h9", []), ("name=a&orchestration_id=b", []),
                                 ("plan_id=nobody", []), ("plan_id=" + mine["id"] + "&reserved=false&name=a", ["a"])):
                answer = cloud.valet("GET", "/v1/placements?" + query, token="admin")
                self.equal("filter " + query, [one["name"] for one in answer.json["placements"]], names)
            where = cloud.placements()["a"]["location"]
            self.case("filter location", "a" in cloud.placements(location=where))
            for query in ("reserved=True", "reserved=", "x=1", "name=a&name=a", "name=%ff"):
                self.expect("filter " + query, cloud.valet("GET", "/v1/placements?" + query), 400)

    def test_races(self):
        """Concurrent creates: one plan for each stack, no host over capacity."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4, vcpus=3)
            answers = collections.Counter()
            lock = threading.Lock()

            def run(requests):
                for asked, token in requests:
                    answer = cloud.valet("POST", "/v1/plans", asked, token)
                    with lock:
                        answers[answer.status, answer.json.get("plan", {}).get("id") if answer.status == 201 else
                                answer.explanation.split("'")[0]] += 1

            same = body("same", {"s1": server(), "s2": server()})
            run_all = lambda lists: [thread.join() for thread in [self.thread(run, one) for one in lists]]  # noqa: E731
            run_all([[(same, TOKEN)] * 4] * 4)
            self.equal("one plan", [(key[0], count) for key, count in answers.items()], [(201, 16)])
            self.equal("held once", sum(cloud.used().values()), 2)
            answers.clear()
            run_all([[(body(f"{n}.{i}", {f"{n}.{i}": server()}), TOKEN) for i in range(5)] for n in range(4)])
            made = sum(count for key, count in answers.items() if key[0] == 201)
            self.equal("as many as there is room", made, 10)
            self.equal("the others are refused", {key[0] for key in answers}, {201, 409})
            self.equal("all hosts are full", cloud.used(), {name: 3 for name in cloud.host})
            self.equal("placements and holds", len(cloud.placements()), 12)
            answers.clear()
            held = cloud.placements()
            gone = [f"{n}.{i}" for n in range(4) for i in range(5) if f"{n}.{i}" in held]
            run_all([[(body(f"new {n}", {f"new {n}": server()}), TOKEN)] * 3 for n in range(3)])
            self.case("nothing fits", all(key[0] == 409 for key in answers), answers)
            cloud.valet("DELETE", f"/v1/plans/{gone[0]}")
            self.equal("room again", cloud.valet("POST", "/v1/plans", body("new 0", {"new 0": server()})).status, 201)

    def thread(self, run, *arguments):
        thread = threading.Thread(target=run, args=arguments)
        thread.start()
        return thread

    def test_changed(self):
        """Claims of compute beside plans: capacity is respected, plans are searched again."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 2, vcpus=20)
            stop, odd = threading.Event(), []

            def compute(number):
                client, consumer = berth.client(), str(uuid.uuid4())
                host = cloud.host[f"h{number % 2 + 1}"]
                while not stop.is_set():
                    for resources in ({"VCPU": 7}, {}):
                        status, old = client.ask("GET", f"/allocations/{consumer}")
                        client.ask("PUT", f"/allocations/{consumer}", {
                            "allocations": {host: {"resources": resources}} if resources else {}, "project_id": "p",
                            "user_id": "u", "consumer_generation": old.get("consumer_generation"), "consumer_type": "INSTANCE"})

            def plans(number):
                for i in range(25):
                    stack = f"{number}.{i}"
                    answer = cloud.valet("POST", "/v1/plans", body(stack, {stack: server({"vcpus": 6, "ram": 1, "disk": 1})}))
                    if answer.status == 201:
                        status = cloud.valet("DELETE", f"/v1/plans/{stack}").status
                        if status != 204:
                            odd.append(status)
                    elif answer.status != 409 or not answer.explanation.startswith("Valet error: "):
                        odd.append(answer)

            computes = [self.thread(compute, number) for number in range(2)]
            for thread in [self.thread(plans, number) for number in range(3)]:
                thread.join()
            stop.set()
            for thread in computes:
                thread.join()
            self.equal("answers", odd, [])
            self.equal("no plans are left", cloud.placements(), {})
            self.case("capacity", all(count <= 20 for count in cloud.used().values()), cloud.used())

    def test_damage(self):
        """A file with contents that no service writes."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            for stack, content in (("s", "{}"), ("t", "[1"), ("u", '{"version":1,"servers":[{"id":"x"}],"groups":[]}')):
                cloud.plan(body(stack, {stack + "1": server()}))
                with sqlite3.connect(berth.database if hasattr(berth, "database") else
                                     os.path.join(berth.directory, "placement.db")) as shell:
                    shell.execute("UPDATE berth_valet_plans SET content = ? WHERE stack_id = ?", (content, stack))
                shell.close()
                self.equal("it is shown", sorted(cloud.valet("GET", f"/v1/plans/{stack}").json["plan"]["placements"]), [stack + "1"])
                self.expect("it is reserved", cloud.valet("POST", f"/v1/placements/{stack}1", {}), 201)
                self.refused("it is not replanned", cloud.valet("POST", f"/v1/placements/{stack}1", {"action": "replan"}), 409)
                self.refused("nor migrated", cloud.valet("PUT", f"/v1/plans/{stack}", {
                    "action": "migrate", "resources": [stack + "1"]}, token="admin"), 409)
                self.expect("it is updated", cloud.valet("PUT", f"/v1/plans/{stack}", {
                    "action": "update", "resources": {stack + "1": server()}}), 201)
                self.expect("and then replanned", cloud.valet("POST", f"/v1/placements/{stack}1", {"action": "replan"}), 201)
                self.expect("and deleted", cloud.valet("DELETE", f"/v1/plans/{stack}"), 204)

    def test_many(self):
        """Long bodies, long lists, limits."""
        with self.berth(options=["[valet]", "max_servers = 200"]) as berth:
            cloud = self.cloud(berth, 4, vcpus=1000)
            small = {"vcpus": 1, "ram": 0, "disk": 0}
            noise = {f"v{i}": {"type": "x", "properties": {"user_data": "x" * 1000}} for i in range(2000)}
            plan = cloud.plan(body("long", {**noise, **{f"s{i}": server(small) for i in range(200)}}))
            self.equal("placements", len(plan["placements"]), 200)
            self.equal("shown", len(cloud.valet("GET", "/v1/plans/long").json["plan"]["placements"]), 200)
            self.equal("listed", len(cloud.placements()), 200)
            self.expect("too many servers", cloud.valet("POST", "/v1/plans", body("more", {f"t{i}": server(small) for i in range(201)})), 400)
            self.equal("again", cloud.plan(body("long", {**noise, **{f"s{i}": server(small) for i in range(200)}})), plan)
            for number in range(30):
                cloud.plan(body(f"p{number}", {f"p{number}.{i}": server(small) for i in range(100)}))
            self.equal("all", len(cloud.placements()), 3200)
            self.equal("all plans", len(cloud.valet("GET", "/v1/plans").json["plans"]), 31)
            deep = {"x": 1}
            for _ in range(30):
                deep = {"x": deep}
            self.expect("too deep", cloud.valet("POST", "/v1/plans", body("deep", {"a": dict(server(small), metadata=deep)})), 400)
            self.expect("too long a name", cloud.valet("POST", "/v1/plans", dict(body("n", {}), plan_name="x" * 256)), 400)
            self.expect("a long name", cloud.valet("POST", "/v1/plans", dict(body("n", {"n": server(small)}), plan_name="ä" * 255)), 201)
            self.expect("a long body", cloud.valet("POST", "/v1/plans", body("l", {"l": {"type": "x", "x": "y" * (8 << 20)}})), 413)

    def test_two_racks(self):
        """A host in two racks is claimed with either, and gets no server that is bound to a rack."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            gold = self.group(berth, "gold", [TENANT])
            cloud.join("h2", [cloud.rack_aggregate[1], cloud.rack_aggregate[2]])
            plan = cloud.plan(body("s", {"a": server(locations=["h1", "h2"]),
                                         "E": group("exclusivity", "rack", "a", group_name="gold")}))
            self.equal("on the host of one rack", locations(plan), {"a": "h1"})
            self.equal("all of the rack", [gold in cloud.aggregates(f"h{n}") for n in range(1, 5)], [True, True, False, False])
            self.equal("non-members", cloud.claim(str(uuid.uuid4()), "h2", 1, "nonmember"), 409)
            self.refused("the other rack is of the group's host and one more", cloud.valet("POST", "/v1/plans", body("t", {
                "b": server(locations=["h2"]), "E": group("exclusivity", "rack", "b", group_name="gold")})), 409, "without rack")
            plan = cloud.plan(body("t", {"b": server(locations=["h3", "h4"]),
                                         "E": group("exclusivity", "rack", "b", group_name="gold")}))
            self.equal("the other rack", [gold in cloud.aggregates(f"h{n}") for n in range(1, 5)], [True] * 4)
            self.expect("the first goes", cloud.valet("DELETE", "/v1/plans/s"), 204)
            self.equal("h2 stays", [gold in cloud.aggregates(f"h{n}") for n in range(1, 5)], [False, True, True, True])
            self.expect("the second goes", cloud.valet("DELETE", "/v1/plans/t"), 204)
            self.equal("all free", [gold in cloud.aggregates(f"h{n}") for n in range(1, 5)], [False] * 4)

    def test_generations(self):
        """The answer to a write has the generation that the next write needs, even if a claim has followed."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 6, a_rack=2)
            gold = self.group(berth, "gold", [TENANT])
            cloud.plan(body("s", {"a": server(locations=["h1"]), "E": group("exclusivity", "rack", "a", group_name="gold")}))
            other, one = cloud.rack_aggregate[2], cloud.rack_aggregate[1]
            self.equal("it joins", cloud.join("h3", [one]), cloud.generation("h3"))
            self.equal("and is claimed", gold in cloud.aggregates("h3"), True)
            self.equal("it leaves", cloud.join("h3", [other, gold]), cloud.generation("h3"))
            self.equal("and is free", gold in cloud.aggregates("h3"), False)
            which = cloud.host["h4"]
            self.equal("shares", cloud.traits("h4", ["MISC_SHARES_VIA_AGGREGATE"]), cloud.generation("h4"))
            self.equal("is in the rack's aggregate", cloud.join("h4", [one]), cloud.generation("h4"))
            self.equal("and no host", gold in cloud.aggregates("h4"), False)
            self.equal("a host again", cloud.traits("h4", []), cloud.generation("h4"))
            self.equal("is claimed", gold in cloud.aggregates("h4"), True)
            for wanted, parent in ((False, "h6"), (True, None)):
                answer = cloud.place(200, "PUT", f"/resource_providers/{which}", {
                    "name": "h4", "parent_provider_uuid": parent and cloud.host[parent]})
                self.equal(f"below {parent}", answer["generation"], cloud.generation("h4"))
                self.equal("claimed", gold in cloud.aggregates("h4"), wanted)


if __name__ == "__main__":
    sys.exit(parts.play(Tests, PARTS, __doc__))
