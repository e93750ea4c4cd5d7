#!/usr/bin/python3
"""Plans that change: claims of hosts that the plan already uses, new constraints of servers that stay, servers that
keep their place, capacity freed by dropped servers; and random changes of all kinds, each answer checked.

    tests/valet/changes.py --berthd build/berthd [--walks N] [--seed N] [PART…]

Parts: claims, checked, keeps, released, foreign, shared_from_a_claimed_tree, overtaken, walk. The last line is `N
passed, N failed`.
"""

import os
import sqlite3
import sys
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import parts  # noqa: E402
import plans  # noqa: E402
import walk  # noqa: E402
from plans import TENANT, body, group, locations, server  # noqa: E402

PARTS = ("claims", "checked", "keeps", "released", "foreign",
         "shared_from_a_claimed_tree", "overtaken", "walk")


class Tests(plans.Tests):
    walks, seed = 12, 1

    def update(self, cloud, stack, resources):
        return cloud.valet("PUT", f"/v1/plans/{stack}", {"action": "update", "resources": resources})

    def take_claim(self, cloud, host, gold):
        """As an operator does."""
        cloud.place(200, "PUT", f"/resource_providers/{cloud.host[host]}/aggregates", {
            "resource_provider_generation": cloud.generation(host),
            "aggregates": [one for one in cloud.aggregates(host) if one != gold]})

    def reserve(self, cloud, *names):
        for name in names:
            self.expect(f"{name} is reserved", cloud.valet("POST", f"/v1/placements/{name}", {}), 201)

    def claimed(self, cloud, gold):
        return sorted(host for host in cloud.host if gold in cloud.aggregates(host))

    def test_claims(self):
        """A host with the plan's own holds is free for the plan."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 2)
            gold = self.group(berth, "gold", [TENANT])
            only = {"s": server(locations=["h1"])}
            cloud.plan(body("s", only))
            hold = cloud.placements()["s"]["id"]
            mine = {**only, "E": group("exclusivity", "host", "s", group_name="gold")}
            self.expect("a group for an existing server", self.update(cloud, "s", mine), 201)
            self.equal("its host is claimed", self.claimed(cloud, gold), ["h1"])
            self.equal("the hold is as it was", cloud.held(hold), {"h1": 1})
            self.take_claim(cloud, "h1", gold)
            self.expect("replan after an operator", cloud.valet("POST", "/v1/placements/s", {"action": "replan"}), 201)
            self.equal("it is claimed again", self.claimed(cloud, gold), ["h1"])
            # together with others of the plan in the group, on the host, as hold and as server
            real = str(uuid.uuid4())
            more = {**mine, real: server(locations=["h1"]), "E": group("exclusivity", "host", "s", real, group_name="gold")}
            self.expect("one more", self.update(cloud, "s", more), 201)
            self.equal("compute claims", cloud.claim(real, "h1", 1), 204)
            self.take_claim(cloud, "h1", gold)
            self.expect("replan beside one's own", cloud.valet("POST", "/v1/placements/s", {"action": "replan"}), 201)
            self.equal("it is claimed once more", self.claimed(cloud, gold), ["h1"])
            # but not together with one outside the group
            self.take_claim(cloud, "h1", gold)
            self.expect("a server of no group on an unclaimed host", self.update(cloud, "s", {**more, "t": server(locations=["h1"])}), 201)
            self.reserve(cloud, "t")
            self.refused("which is not free now", cloud.valet("POST", "/v1/placements/s", {"action": "replan"}), 409,
                         "'s'", "1 not free for exclusivity group 'gold'")
            # the whole rack
            self.expect("gone", cloud.valet("DELETE", "/v1/plans/s"), 204)
            cloud.claim(real, "h1", 0)
            both = {name: server(locations=[host]) for name, host in (("a", "h1"), ("b", "h2"))}
            cloud.plan(body("r", both))
            answer = self.update(cloud, "r", {**both, "E": group("exclusivity", "rack", "a", "b", group_name="gold")})
            self.expect("a rack for those in it", answer, 201)
            self.equal("all of it", self.claimed(cloud, gold), ["h1", "h2"])
            # a deleted placement has no effect on others
            self.expect("gone", cloud.valet("DELETE", "/v1/plans/r"), 204)
            cloud.plan(body("q", {"a": server(), "b": server(), "A": group("affinity", "host", "a", "b"),
                                  "E": group("exclusivity", "host", "a", group_name="gold")}))
            self.expect("a goes", cloud.valet("DELETE", "/v1/placements/a"), 204)
            self.expect("b, of no group now", cloud.valet("POST", "/v1/placements/b", {"action": "replan"}), 201)
            self.equal("is on no host of any", self.claimed(cloud, gold), [])

    def test_checked(self):
        """New constraints of an update hold for servers that stay, or the update is refused."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            gold, iron = self.group(berth, "gold", [TENANT]), self.group(berth, "iron", [TENANT])
            three = {"a": server(locations=["h1"], name="ann"), "b": server(locations=["h1"], name="bob"),
                     "c": server(locations=["h3"], name="cid")}
            cloud.plan(body("s", three))
            self.reserve(cloud, "a", "b", "c")
            state = cloud.placements()
            for name, more, texts in (
                    ("diversity", {"D": group("diversity", "host", "a", "b")}, ("'ann'", "'bob'", "'D'")),
                    ("diversity of racks", {"D": group("diversity", "rack", "a", "b")}, ("'ann'", "'bob'", "'D'")),
                    ("affinity", {"A": group("affinity", "host", "b", "c")}, ("'bob'", "'cid'")),
                    ("affinity of racks", {"A": group("affinity", "rack", "b", "c")}, ("'bob'", "'cid'")),
                    ("exclusivity", {"E": group("exclusivity", "host", "a", group_name="gold")},
                     ("no host for 'ann' (a)", "not free for exclusivity group 'gold'")),
                    ("exclusivity of racks", {"E": group("exclusivity", "rack", "a", group_name="gold")},
                     ("no host for 'ann' (a)", "not free for exclusivity group 'gold'")),
                    ("locations", {"a": server(locations=["h2", "h3"], name="ann")}, ("no host for 'ann' (a)", "1 not in locations")),
                    ("a zone", {"a": {"type": plans.SERVER, "name": "ann", "locations": ["h1"], "properties": {
                        "flavor": plans.FLAVOR, "availability_zone": "moon"}}}, ("no host for 'ann' (a)", "1 in another zone"))):
                self.refused(name, self.update(cloud, "s", {**three, **more}), 409, *texts)
                self.equal(name + ": unchanged", cloud.placements(), state)
            self.equal("nothing is claimed", self.claimed(cloud, gold), [])
            good = {**three, "D": group("diversity", "rack", "a", "c"), "A": group("affinity", "host", "a", "b"),
                    "E": group("exclusivity", "host", "c", group_name="gold")}
            self.expect("what holds", self.update(cloud, "s", good), 201)
            self.equal("the claim is made", self.claimed(cloud, gold), ["h3"])
            self.equal("nobody moved", cloud.placements(), state)
            self.refused("the claimed host is another group's", self.update(cloud, "s", {
                **good, "E": group("exclusivity", "host", "c", group_name="iron")}), 409, "'cid'", "held by exclusivity group 'gold'")
            self.refused("nor is it nobody's", self.update(cloud, "s", {
                **{name: one for name, one in good.items() if name != "E"}}), 409, "'cid'", "held by exclusivity group 'gold'")
            self.equal("iron has none", self.claimed(cloud, iron), [])
            # a constraint that others have broken is not checked again
            self.equal("compute claims", cloud.claim("00000000-0000-4000-8000-00000000000a", "h3", 1), 204)
            self.expect("gone", cloud.valet("DELETE", "/v1/plans/s"), 204)
            cloud.claim("00000000-0000-4000-8000-00000000000a", "h3", 0)
            one, two = str(uuid.uuid4()), str(uuid.uuid4())
            apart = {one: server(), two: server(), "D": group("diversity", "host", one, two)}
            cloud.plan(body("t", apart))
            for name in (one, two):
                self.equal("compute puts both on one host", cloud.claim(name, "h2", 1), 204)
            self.expect("the same again", self.update(cloud, "t", apart), 201)
            self.expect("with another server", self.update(cloud, "t", {**apart, "x": server()}), 201)
            self.expect("which is replanned", cloud.valet("POST", "/v1/placements/x", {"action": "replan"}), 201)
            self.refused("another constraint of the two", self.update(cloud, "t", {
                **apart, "R": group("diversity", "rack", one, two)}), 409, one, two)

    def test_keeps(self):
        """Servers that may stay do so when others are added or must move."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            where = {"o1": "h1", "o2": "h2", "o3": "h3"}
            cloud.plan(body("s", {name: server(locations=[host]) for name, host in where.items()}))
            old = {name: server() for name in where}
            # if decided first, a large one would take the room of o1 on h1
            answer = self.update(cloud, "s", {**old, "big": server({"vcpus": 4, "ram": 512, "disk": 1})})
            self.expect("a large one comes", answer, 201)
            self.equal("nobody moved", locations(answer.json["plan"]), {**where, "big": "h4"})
            # a server that needs more than its host has moves, and no other
            self.expect("the large one goes", self.update(cloud, "s", {
                **old, "p": server(locations=["h1"]), "q": server(locations=["h1"])}), 201)
            old.update(p=server(), q=server())
            answer = self.update(cloud, "s", {**old, "o1": server({"vcpus": 3, "ram": 512, "disk": 1})})
            self.expect("o1 grows", answer, 201)
            where = locations(answer.json["plan"])
            self.equal("the others stay", {name: where[name] for name in ("o2", "o3", "p", "q")},
                       {"o2": "h2", "o3": "h3", "p": "h1", "q": "h1"})
            self.case("it moves", where["o1"] != "h1", where)
            # two that must be apart from now on: one moves, and those beside both stay
            self.expect("gone", cloud.valet("DELETE", "/v1/plans/s"), 204)
            large = {"vcpus": 3, "ram": 512, "disk": 1}
            cloud.plan(body("d", {"a": server(locations=["h1"]), "b": server(locations=["h1"]),
                                  "c": server(large, locations=["h2"]), "d": server(large, locations=["h3"])}))
            answer = self.update(cloud, "d", {"a": server(), "b": server(), "c": server(large), "d": server(large),
                                              "n": server(large), "D": group("diversity", "host", "a", "b")})
            self.expect("apart", answer, 201)
            where = locations(answer.json["plan"])
            self.equal("the large ones stay", (where["c"], where["d"]), ("h2", "h3"))
            self.case("and the two are apart", where["a"] != where["b"], where)
            # a reservation moves only servers that it must move
            self.expect("gone", cloud.valet("DELETE", "/v1/plans/d"), 204)
            full = {"vcpus": 4, "ram": 512, "disk": 1}
            where = {"a": "h4", "b": "h2", "c": "h1"}
            cloud.plan(body("t", {name: server(full, locations=[host]) for name, host in where.items()}))
            answer = self.update(cloud, "t", {name: server(full) for name in where})
            self.expect("all may be anywhere", answer, 201)
            self.equal("and are where they were", locations(answer.json["plan"]), where)
            self.expect("a goes to b's host", cloud.valet("POST", "/v1/placements/a", {"locations": ["h2"]}), 201)
            after = locations(cloud.valet("GET", "/v1/plans/t").json["plan"])
            self.equal("a is there, c is where it was", (after["a"], after["c"]), ("h2", "h1"))

    def test_released(self):
        """Capacity of servers that an update drops is available to servers that it adds."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 2, vcpus=1)
            gold = self.group(berth, "gold", [TENANT])
            cloud.plan(body("s", {"a": server(), "b": server()}))
            where = locations(cloud.valet("GET", "/v1/plans/s").json["plan"])
            answer = self.update(cloud, "s", {"a": server(), "c": server()})
            self.expect("one for another on a full cloud", answer, 201)
            self.equal("in its place", locations(answer.json["plan"]), {"a": where["a"], "c": where["b"]})
            self.equal("held once", cloud.used(), {"h1": 1, "h2": 1})
            # the host of the dropped server becomes the group's
            answer = self.update(cloud, "s", {"a": server(), "d": server(), "E": group("exclusivity", "host", "d", group_name="gold")})
            self.expect("for one of a group", answer, 201)
            self.equal("its place is claimed", self.claimed(cloud, gold), [where["b"]])
            answer = self.update(cloud, "s", {"a": server(), "e": server(), "E": group("exclusivity", "host", "e", group_name="gold")})
            self.expect("for another of the group", answer, 201)
            self.equal("the claim stays", (self.claimed(cloud, gold), cloud.used()), ([where["b"]], {"h1": 1, "h2": 1}))
            self.refused("for one of none", self.update(cloud, "s", {"a": server(), "f": server()}), 409,
                         "'f'", "1 held by exclusivity group 'gold'")
            self.expect("the claim ends with it", self.update(cloud, "s", {"a": server()}), 201)
            self.equal("nothing is claimed", self.claimed(cloud, gold), [])
            self.expect("and then", self.update(cloud, "s", {"a": server(), "f": server()}), 201)

    def test_foreign(self):
        """A plan's own server of a project that is not a member keeps its host from being claimed, because it would
        then be foreign."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 1)
            gold, real, all_of_it = self.group(berth, "gold", [TENANT]), str(uuid.uuid4()), "admin:" + TENANT
            cloud.plan(body("s", {real: server()}), token=all_of_it)
            self.equal("built by others", cloud.claim(real, "h1", 1, "other"), 204)
            self.equal("it is the plan's", cloud.held(cloud.placements()[real]["id"]), {})
            mine = {real: server(), "E": group("exclusivity", "host", real, group_name="gold")}
            self.refused("not free", self.update(cloud, "s", mine), 409, "1 not free for exclusivity group 'gold'")
            self.equal("nothing is claimed", self.claimed(cloud, gold), [])
            self.equal("built anew", (cloud.claim(real, "h1", 0, "other"), cloud.claim(real, "h1", 1)), (204, 204))
            self.expect("free now", self.update(cloud, "s", mine), 201)
            self.equal("claimed", self.claimed(cloud, gold), ["h1"])

    def test_shared_from_a_claimed_tree(self):
        """Storage shared by a part of a host belongs to the host: non-members of the group that claims it get other
        storage."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 3)
            gold, pool = self.group(berth, "gold", [TENANT]), str(uuid.uuid4())
            both = [pool]
            for name in ("h1", "h2"):
                which = cloud.host[name]
                cloud.place(200, "PUT", f"/resource_providers/{which}/inventories", {
                    "resource_provider_generation": cloud.generation(name),
                    "inventories": {"VCPU": {"total": 4}, "MEMORY_MB": {"total": 65536}}})
            cloud.join("h1", both)
            for number, host in enumerate(("h2", "h3")):
                which = str(uuid.uuid4())
                part = f"/resource_providers/{which}"
                cloud.place(200, "POST", "/resource_providers", {
                    "name": f"disks{number}", "uuid": which, "parent_provider_uuid": cloud.host[host]})
                cloud.place(200, "PUT", part + "/inventories", {
                    "resource_provider_generation": 0, "inventories": {"DISK_GB": {"total": 10 if number else 1000}}})
                cloud.place(200, "PUT", part + "/traits", {
                    "resource_provider_generation": 1, "traits": ["MISC_SHARES_VIA_AGGREGATE"]})
                cloud.place(200, "PUT", part + "/aggregates", {"resource_provider_generation": 2, "aggregates": both})
            cloud.join("h2", [gold])
            disk = {"vcpus": 1, "ram": 512, "disk": 10}
            other = "x:" + "f" * 32
            first = cloud.valet("POST", "/v1/plans", body("s", {"a": server(disk, locations=["h1"])}), token=other)
            self.expect("from the other", first, 201)
            self.refused("no more of it", cloud.valet("POST", "/v1/plans", body(
                "t", {"b": server(disk, locations=["h1"])}), token=other), 409, "no host for 'b'", "1 without capacity")
            self.expect("for a member", cloud.valet("POST", "/v1/plans", body("t", {"b": server(disk, locations=["h1"])})), 201)

    def test_overtaken(self):
        """The claim of a host with a server that stays is compared at the commit: another program writes between
        search and commit."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 2)
            gold = self.group(berth, "gold", [TENANT])
            cloud.plan(body("s", {"a": server(locations=["h1"])}))
            self.reserve(cloud, "a")
            cloud.join("h1", [*cloud.aggregates("h1"), gold])
            answers = []
            shell = sqlite3.connect(berth.database, isolation_level=None)
            shell.execute("BEGIN IMMEDIATE")
            update = threading.Thread(target=lambda: answers.append(self.update(cloud, "s", {
                "a": server(locations=["h1"]), "E": group("exclusivity", "host", "a", group_name="gold")})))
            update.start()
            time.sleep(0.5)  # by then it has searched, and waits for the lock
            shell.execute("DELETE FROM resource_provider_aggregates WHERE aggregate_id = "
                          "(SELECT id FROM placement_aggregates WHERE uuid = ?)", (gold,))
            shell.execute("COMMIT")
            shell.close()
            update.join()
            self.expect("it is searched again", answers[0], 201)
            self.equal("the host is claimed for it", self.claimed(cloud, gold), ["h1"])

    def test_walk(self):
        """Random changes."""
        for number in range(self.walks):
            with self.berth() as berth:
                problems = walk.play(self, berth, self.seed + number)
                self.case(f"walk {self.seed + number}", not problems, "; ".join(problems[:3]))


if __name__ == "__main__":
    sys.exit(parts.play(Tests, PARTS, __doc__, ("walks", "seed")))
