#!/usr/bin/python3
"""The ids in plans: which placements they belong to, their forms, and which consumers count as servers.

    tests/valet/ids.py --berthd build/berthd [PART…]

Parts: taken, frozen, owners, moved, forms, names, trusted. The last line is `N passed, N failed`.
"""

import os
import sqlite3
import sys
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import parts  # noqa: E402
import plans  # noqa: E402
from plans import TENANT, body, group, locations, server  # noqa: E402

OTHER = "65c3e5ee5ee0428caa5e5275c58ead61"
THEIRS = "else:" + OTHER
PARTS = ("taken", "frozen", "owners", "moved", "forms", "names", "trusted")


def update(resources, **more):
    return {"action": "update", "resources": resources, **more}


class Tests(plans.Tests):
    def test_taken(self):
        """An id belongs to one placement of all projects, as either kind of id."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            cloud.plan(body("s", {"a": server(), "b": server()}))
            own = cloud.placements()
            self.expect("reserve", cloud.valet("POST", "/v1/placements/a", {"resource_id": "real-a"}), 201)
            cloud.plan(body("t", {"x": server()}))
            for whose, token in (("one's own", plans.TOKEN), ("another's", THEIRS)):
                for what, taken in (("orchestration id", "a"), ("resource id", "real-a"), ("placement's id", own["b"]["id"])):
                    self.refused(f"create with {whose} {what}", cloud.valet(
                        "POST", "/v1/plans", body("new", {taken: server()}), token), 409, f"'{taken}'")
            for taken in ("a", "real-a", own["b"]["id"]):
                self.refused(f"update with {taken}", cloud.valet("PUT", "/v1/plans/t", update({
                    "x": server(), taken: server()})), 409, f"'{taken}'")
            self.refused("a resource id of the same plan", cloud.valet("PUT", "/v1/plans/s", update({
                "a": server(), "real-a": server()})), 409, "'real-a'")
            state = cloud.placements()
            for name, taken in (("an orchestration id", "a"), ("a resource id", "real-a"), ("a hold", own["a"]["id"]),
                                ("its own hold", state["x"]["id"])):
                self.refused("reserve with " + name, cloud.valet("POST", "/v1/placements/x", {"resource_id": taken}), 409,
                             f"'{taken}'")
            self.equal("nothing has changed", cloud.placements(), state)
            self.expect("its own orchestration id", cloud.valet("POST", "/v1/placements/x", {"resource_id": "x"}), 201)
            self.expect("an id that goes is free", cloud.valet("PUT", "/v1/plans/s", update({
                "b": server(), "real-a": server()})), 201)
            self.equal("and taken", sorted(cloud.placements(plan_id=own["a"]["plan_id"])), ["b", "real-a"])

    def test_frozen(self):
        """A file in which two placements have one id, as older files may: both plans remain usable."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            cloud.plan(body("s", {"a": server(), "b": server()}))
            cloud.plan(body("t", {"x": server()}))
            self.expect("reserve", cloud.valet("POST", "/v1/placements/a", {"resource_id": "real"}), 201)
            with sqlite3.connect(os.path.join(berth.directory, "placement.db")) as shell:
                shell.execute("UPDATE berth_valet_placements SET orchestration_id = 'real' WHERE orchestration_id = 'x'")
                shell.execute("UPDATE berth_valet_plans SET content = replace(content, '\"x\"', '\"real\"')")
            shell.close()
            for placement in ("a", "b", "real"):
                for action in ("reserve", "replan"):
                    self.expect(f"{action} {placement}", cloud.valet("POST", f"/v1/placements/{placement}", {"action": action}), 201)
            self.expect("update", cloud.valet("PUT", "/v1/plans/s", update({"a": server(), "b": server(), "c": server()})), 201)
            self.expect("migrate", cloud.valet("PUT", "/v1/plans/t", {"action": "migrate", "resources": ["real"]}, token="admin"), 201)
            self.refused("it is not recorded anew", cloud.valet("POST", "/v1/placements/b", {"resource_id": "real"}), 409, "'real'")

    def test_owners(self):
        """A server belongs to the plan's project; consumers of other projects neither reveal nor change anything."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            theirs, late, planned = (str(uuid.uuid4()) for _ in range(3))
            cloud.plan(body("s", {"a": server(locations=["h1"]), "b": server(locations=["h1"])}))
            own = cloud.placements()
            self.equal("their server", cloud.claim(theirs, "h2", 1, OTHER), 204)
            self.expect("it is recorded", cloud.valet("POST", "/v1/placements/a", {"resource_id": theirs}), 201)
            self.equal("the hold stays", cloud.held(own["a"]["id"]), {"h1": 1})
            self.equal("they move", cloud.claim(theirs, "h1", 1, OTHER), 204)
            self.equal("the hold still stays", cloud.held(own["a"]["id"]), {"h1": 1})
            # without a hold the location would follow the server
            self.equal("the hold is freed", cloud.client.ask("DELETE", f"/allocations/{own['a']['id']}")[0], 204)
            self.equal("they move again", cloud.claim(theirs, "h3", 1, OTHER), 204)
            self.equal("where it was", cloud.placements()["a"]["location"], "h1")
            self.equal("in the plan", locations(cloud.valet("GET", "/v1/plans/s").json["plan"])["a"], "h1")
            self.expect("a server of no plan is planned again", cloud.valet("POST", "/v1/placements/a", {"action": "replan"}), 201)
            self.equal("and held", cloud.held(own["a"]["id"]), {"h1": 1})
            # a plan created with the id of their server
            self.equal("their other server", cloud.claim(planned, "h4", 1, OTHER), 204)
            plan = cloud.plan(body("t", {planned: server(locations=["h4"])}))
            self.equal("is held beside it", cloud.held(cloud.placements()[planned]["id"]), {"h4": 1})
            self.equal("by its id", locations(plan), {planned: "h4"})
            # a claim after that
            self.expect("recorded before it exists", cloud.valet("POST", "/v1/placements/b", {"resource_id": late}), 201)
            self.equal("theirs", cloud.claim(late, "h1", 1, OTHER), 204)
            self.equal("does not drop", cloud.held(own["b"]["id"]), {"h1": 1})
            self.equal("a hold of another's plan is no server", cloud.valet(
                "POST", "/v1/placements/b", {"resource_id": own["a"]["id"]}).status, 409)

    def test_moved(self):
        """A consumer whose project changes; a project in another form."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            real, dashed = str(uuid.uuid4()), str(uuid.UUID(TENANT)).upper()
            cloud.plan(body("s", {"a": server(locations=["h1"])}))
            hold = cloud.placements()["a"]["id"]
            self.expect("reserve", cloud.valet("POST", "/v1/placements/a", {"resource_id": real}), 201)
            self.equal("another's", cloud.claim(real, "h2", 1, OTHER), 204)
            self.equal("no server", cloud.held(hold), {"h1": 1})
            self.equal("it becomes the project's", cloud.claim(real, "h2", 1, dashed), 204)
            self.equal("the hold goes", cloud.held(hold), {})
            self.equal("location", cloud.placements()["a"]["location"], "h2")
            self.equal("it becomes another's", cloud.claim(real, "h3", 1, OTHER), 204)
            self.equal("it was last seen", cloud.placements()["a"]["location"], "h2")
            self.equal("and comes back", cloud.claim(real, "h3", 1), 204)
            self.equal("it is there", cloud.placements()["a"]["location"], "h3")

    def test_forms(self):
        """All forms of a UUID are one id, which is shown as it was sent."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            first, second = uuid.uuid4(), uuid.uuid4()
            sent = str(first).upper()
            plan = cloud.plan(body("s", {sent: server(locations=["h1"])}))
            self.equal("as sent", list(plan["placements"]), [sent])
            hold = cloud.placements()[sent]["id"]
            for form in (str(first), first.hex, first.hex.upper(), sent):
                self.refused(f"{form} is another's", cloud.valet("POST", "/v1/plans", body("t", {form: server()})), 409)
                self.equal(f"found by {form}", cloud.valet("GET", f"/v1/placements/{form}").status, 200)
            self.equal("compute claims", cloud.claim(str(first), "h1", 1), 204)
            self.equal("its hold goes", cloud.held(hold), {})
            self.equal("compute moves", cloud.claim(str(first), "h2", 1), 204)
            self.equal("location", cloud.placements()[sent]["location"], "h2")
            self.expect("its own id in another form", cloud.valet("POST", f"/v1/placements/{sent}", {"resource_id": first.hex}), 201)
            self.equal("as sent, too", cloud.placements()[sent]["resource_id"], first.hex)
            cloud.plan(body("t", {"b": server(locations=["h3"]), "c": server()}))
            theirs = cloud.placements()["b"]["id"]
            self.expect("without hyphens", cloud.valet("POST", "/v1/placements/b", {"resource_id": second.hex.upper()}), 201)
            self.refused("once", cloud.valet("POST", "/v1/placements/c", {"resource_id": str(second)}), 409)
            self.refused("no hold in another form", cloud.valet("POST", "/v1/placements/c", {
                "resource_id": uuid.UUID(theirs).hex.upper()}), 409)
            self.equal("compute claims", cloud.claim(str(second), "h4", 1), 204)
            self.equal("the hold goes", cloud.held(theirs), {})
            self.equal("location by resource id", cloud.placements()["b"]["location"], "h4")
            self.expect("migrate by another form", cloud.valet("PUT", "/v1/plans/t", {
                "action": "migrate", "resources": [str(second)]}, token="admin"), 201)
            twice = body("u", {str(second)[:-1] + "0": server(), (second.hex[:-1] + "0").upper(): server()})
            self.refused("twice in one body", cloud.valet("POST", "/v1/plans", twice), 400)
            self.expect("an update keeps it", cloud.valet("PUT", "/v1/plans/s", update({first.hex: server()})), 201)
            self.equal("as it was", [(one["id"], one["resource_id"]) for one in cloud.placements().values()
                                     if one["plan_id"] == plan["id"]], [(hold, first.hex)])

    def test_names(self):
        """An entry of a group's list is one resource, by its id or its name."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            other, odd = {"type": "OS::Cinder::Volume"}, 0
            for ids, good in (
                    ({"a": server(name="web"), "web": other}, False),
                    ({"a": server(name="web"), "b": dict(other, name="web")}, False),
                    ({"a": server(name="web"), "web": server()}, False),
                    ({"a": server(name="web"), "b": server(name="web")}, False),
                    ({"a": dict(other, name="web"), "web": other}, False),
                    ({"web": server(), "b": dict(other, name="web")}, False),
                    ({"web": server(name="a"), "a": server(name="web")}, False),
                    ({"web": server(name="web"), "b": other}, True),
                    ({"web": server(name="b"), "b": other}, True),
                    ({"web": other}, True),
                    ({"a": server(name="web"), "b": other}, True)):
                odd += 1
                resources = {**ids, "s": server(), "D": group("diversity", "host", "web", "s")}
                answer = cloud.valet("POST", "/v1/plans", body(f"n{odd}", resources))
                if good:
                    self.expect(f"{sorted(ids)} {odd}", answer, 201)
                    cloud.valet("DELETE", f"/v1/plans/n{odd}")
                else:
                    self.refused(f"{sorted(ids)} {odd}", answer, 400, "'web'")

    def test_trusted(self):
        """In a plan whose ids came from an administrator servers of any project count, until another caller adds
        one."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            theirs = [str(uuid.uuid4()) for _ in range(3)]
            service = "admin:" + OTHER
            cloud.plan(body(theirs[0], {theirs[0]: server(locations=["h1"])}), token=service)
            cloud.plan(body("two", {"a": server(locations=["h2"]), "b": server()}), token=service)
            holds = cloud.placements()
            self.equal("compute claims", cloud.claim(theirs[0], "h1", 1), 204)
            self.equal("the hold goes", cloud.held(holds[theirs[0]]["id"]), {})
            self.equal("compute moves", cloud.claim(theirs[0], "h3", 1), 204)
            self.equal("location", cloud.placements()[theirs[0]]["location"], "h3")
            self.expect("an administrator records", cloud.valet("POST", "/v1/placements/a", {"resource_id": theirs[1]}, token="admin"), 201)
            self.equal("it comes", cloud.claim(theirs[1], "h4", 1), 204)
            self.equal("it is seen", cloud.placements()["a"]["location"], "h4")
            self.expect("a colleague reserves", cloud.valet("POST", "/v1/placements/b", {}, token=THEIRS), 201)
            self.equal("it is still seen", cloud.placements()["a"]["location"], "h4")
            self.equal("a non-member's server", cloud.claim(theirs[2], "h3", 1), 204)
            self.expect("a colleague records", cloud.valet("POST", "/v1/placements/b", {"resource_id": theirs[2]}, token=THEIRS), 201)
            self.equal("a moves on", cloud.claim(theirs[1], "h1", 1), 204)
            self.equal("and is not seen any more", cloud.placements()["a"]["location"], "h4")


if __name__ == "__main__":
    sys.exit(parts.play(Tests, PARTS, __doc__))
