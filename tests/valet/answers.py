#!/usr/bin/python3
"""Special cases of the Valet API's answers: repeated creates, ignored parts of a body, texts of errors, links, rows and
traits that are gone, placements with two servers, and an invalid catalogue of flavors.

    tests/valet/answers.py --berthd build/berthd [PART…]

Parts: again, stacks, bound, ignored, faults, hosts, orphans, unknown, two_servers, too_long, catalogue. The last line is `N passed, N failed`.
"""

import json
import os
import signal
import socket
import sqlite3
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import contract  # noqa: E402
import parts  # noqa: E402
import plans  # noqa: E402
from plans import body, group, locations, server  # noqa: E402

PARTS = ("again", "stacks", "bound", "ignored", "faults", "hosts", "orphans", "unknown", "two_servers", "too_long",
         "catalogue")


class Tests(plans.Tests):
    def test_again(self):
        """A repeated create is answered with the plan in its current state, here without a placement."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            asked = body("s", {"a": server(), "b": server()})
            plan = cloud.plan(asked)
            self.expect("one goes", cloud.valet("DELETE", "/v1/placements/a"), 204)
            left = dict(plan, placements={"b": plan["placements"]["b"]})
            used = cloud.used()
            for when in ("", " after a kill"):
                self.equal("again" + when, cloud.plan(asked), left)
                self.equal("by its stack" + when, cloud.valet("GET", "/v1/plans/s").json["plan"], left)
                self.equal("by its id" + when, cloud.valet("GET", f"/v1/plans/{plan['id']}").json["plan"], left)
                self.equal("nothing more is held" + when, cloud.used(), used)
                if not when:
                    berth.kill()
                    berth.start()
                    cloud.client = berth.client()
            self.expect("an update brings it back", cloud.valet("PUT", "/v1/plans/s", {
                "action": "update", "resources": asked["resources"]}), 201)
            self.equal("both", sorted(cloud.plan(dict(asked, plan_name=plan["name"]))["placements"]), ["a", "b"])

    def test_stacks(self):
        """The existing plan of the stack is checked before a body without servers."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            plan = cloud.plan(body("s", {"a": server()}))
            for name, resources in (("nothing", {}), ("a volume", {"v": {"type": "volume"}})):
                self.equal(f"{name} of a new stack", cloud.valet("POST", "/v1/plans", body("t", resources)).json, {"plan": {}})
                self.refused(f"{name} of a stack that has a plan", cloud.valet("POST", "/v1/plans", body("s", resources)), 409, "'s'")
            self.equal("the plan stands", cloud.valet("GET", "/v1/plans/s").json["plan"], plan)
            empty = {"action": "update", "resources": {"v": {"type": "volume"}}}
            left = cloud.valet("PUT", "/v1/plans/s", empty).json["plan"]
            self.equal("what the update said", cloud.plan(body("s", empty["resources"])), left)
            self.refused("bad constraints first", cloud.valet("POST", "/v1/plans", body("s", {
                "G": group("affinity", "host", "nobody")})), 400, "'nobody'")

    def test_bound(self):
        """The plan's own locations remain in force, and count when a create is repeated."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            plan = cloud.plan(body("s", {"a": server()}, locations=["h2", "h3"]))
            resources = {"a": server(), "b": server(), "c": server(locations=["h1", "h3"])}
            update = {"action": "update", "resources": resources}
            answer = cloud.valet("PUT", "/v1/plans/s", update)
            self.expect("update", answer, 201)
            self.case("within the locations", set(locations(answer.json["plan"]).values()) <= {"h2", "h3"}, answer)
            self.equal("c in both", locations(answer.json["plan"])["c"], "h3")
            again = body("s", resources, locations=["h2", "h3"])
            self.equal("again", cloud.plan(again), answer.json["plan"])
            for name, other in (("no locations", body("s", resources)), ("others", body("s", resources, locations=["h2"])),
                                ("what it was", body("s", {"a": server()}, locations=["h2", "h3"]))):
                self.refused(name, cloud.valet("POST", "/v1/plans", other), 409, "'s'")
            self.refused("an update beyond them", cloud.valet("PUT", "/v1/plans/s", {
                "action": "update", "resources": {"a": server(locations=["h1"])}}), 409, "4 not in locations")
            self.equal("unchanged", cloud.valet("GET", f"/v1/plans/{plan['id']}").json["plan"], answer.json["plan"])

    def test_ignored(self):
        """Ignored parts are only limited by the size of the body; used parts have limits."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            long = "x" * 300
            self.expect("timeout", cloud.valet("POST", "/v1/plans", body("s", {"a": server()}, timeout=long)), 201)
            self.expect("of an update", cloud.valet("PUT", "/v1/plans/s", {
                "action": "update", "resources": {"a": server()}, "timeout": long}), 201)
            self.expect("of a migration", cloud.valet("PUT", "/v1/plans/s", {
                "action": "migrate", "resources": ["a"], "timeout": long, "plan_name": long}, token="admin"), 201)
            self.expect("a name that is used", cloud.valet("PUT", "/v1/plans/s", {
                "action": "update", "resources": {"a": server()}, "plan_name": long}), 400)
            for name, timeout in (("a number", 60), ("null", None)):
                self.expect("timeout as " + name, cloud.valet("POST", "/v1/plans", body("t", {"t": server()}, timeout=timeout)), 400)
            big = str(2 ** 70)

            def raw(stack, text, **more):
                return json.dumps(body(stack, {stack: server(metadata={"n": "BIG"}), "v": {
                    "type": "x", "properties": {"n": "BIG", "at": [1]}}}, **more)).replace('"BIG"', text).encode()

            for number, text in enumerate((big, "-" + big, "9223372036854775808", "[1, " + big + "]")):
                asked = raw(f"n{number}", text)
                answer = cloud.valet("POST", "/v1/plans", asked)
                self.expect(f"{text} in what is ignored", answer, 201)
                self.equal(f"{text} again", cloud.valet("POST", "/v1/plans", asked).json, answer.json)
            beside = json.dumps(body("b", {"b": server({"vcpus": 2, "ram": 5, "disk": 1}), "v": {"type": "x", "n": "BIG"}}))
            self.expect("beside an amount", cloud.valet("POST", "/v1/plans", beside.replace('"BIG"', big).encode()), 201)
            self.equal("which counts", list(cloud.held(cloud.placements()["b"]["id"]).values()), [2])
            used = json.dumps(body("c", {"c": server({"vcpus": "BIG", "ram": 5, "disk": 1})})).replace('"BIG"', big)
            self.refused("as an amount", cloud.valet("POST", "/v1/plans", used.encode()), 400, "vcpus")
            named = json.dumps(body("BIG", {"c": server()})).replace('"BIG"', big)
            self.expect("as a stack", cloud.valet("POST", "/v1/plans", named.encode()), 400)
            for name, text in (("half a pair", '"\\ud800"'), ("a NUL in a key", '{"\\u0000": 1}'), ("no UTF-8", '"\\xff"'),
                               ("beyond a real", "1e999")):
                self.expect(name, cloud.valet("POST", "/v1/plans", raw("m", text).replace(b"\\xff", b"\xff")), 400)
            self.refused("a class that is not there", cloud.valet("POST", "/v1/plans", body("d", {"d": server({
                "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {"resources:NO_SUCH_CLASS": "0"}})})), 400, "'NO_SUCH_CLASS'")
            self.expect("one that is, and goes", cloud.valet("POST", "/v1/plans", body("d", {"d": server({
                "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {"resources:DISK_GB": "0"}})})), 201)
            nobody, both = group("affinity", "rack", "v"), group("affinity", "rack", "N", "f")
            answer = cloud.valet("POST", "/v1/plans", body("f", {"f": server(), "v": {"type": "x"}, "N": nobody, "A": both}))
            self.expect("a group without servers binds none", answer, 201)
            self.equal("and is no server", list(answer.json["plan"]["placements"]), ["f"])

    def test_faults(self):
        """A tenant learns which part is broken, but not its address; the log has the rest."""
        with self.berth() as berth:
            away = berth.database + "-away"
            os.rename(berth.database, away)
            for path in ("/v1/status", "/v1/plans", "/v1/placements", "/v1/groups"):
                answer = self.expect(path, contract.send(berth.valet_port, "GET", path), 500)
                self.case(path + " names it", "store" in answer.explanation, answer)
                self.case(path + " no more", not any(word in answer.explanation for word in (
                    "/", "placement.db", "SELECT", "sqlite")), answer)
            self.case("the log has it", berth.database in berth.log(), berth.log()[-500:])
            os.rename(away, berth.database)

    def test_hosts(self):
        """Links are absolute, even for a client that names no host."""
        with self.berth() as berth:
            for path, end in (("/", "/v1/"), ("/v1", "/v1/groups/")):
                for version in ("1.0", "1.1"):
                    host = "" if version == "1.0" else "Host: named:1\r\n"
                    with socket.create_connection(("127.0.0.1", berth.valet_port)) as connection:
                        connection.sendall(f"GET {path} HTTP/{version}\r\n{host}Connection: close\r\n\r\n".encode())
                        got = b""
                        while piece := connection.recv(65536):
                            got += piece
                    href = contract.Answer(got).json["versions"][0]["links"][0]["href"]
                    wanted = f"127.0.0.1:{berth.valet_port}" if version == "1.0" else "named:1"
                    self.equal(f"{path} of {version}", href, f"http://{wanted}{end}")

    def shell(self, berth, *statement):
        shell = sqlite3.connect(berth.database)
        with shell:
            shell.execute(*statement)
        shell.close()

    def test_orphans(self):
        """Placements whose plan is gone, or does not know them."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            cloud.plan(body("s", {"a": server()}))
            a = cloud.placements()["a"]
            self.shell(berth, "DELETE FROM berth_valet_plans")
            self.equal("its project does not see it", cloud.valet("GET", "/v1/placements").json, {"placements": []})
            self.expect("nor reserves it", cloud.valet("POST", "/v1/placements/a", {}), 404)
            self.equal("an administrator does", list(cloud.placements()), ["a"])
            answer = cloud.valet("POST", "/v1/placements/a", {}, token="admin")
            self.refused("but cannot reserve it", answer, 409, "plan is gone")
            self.equal("it is held", cloud.held(a["id"]), {a["location"]: 1})
            self.expect("it is deleted", cloud.valet("DELETE", "/v1/placements/a", token="admin"), 204)
            self.equal("with its hold", (cloud.held(a["id"]), cloud.placements()), ({}, {}))
            cloud.plan(body("t", {"b": server(), "c": server()}))
            before = cloud.placements()
            extra = str(uuid.uuid4())
            self.shell(berth, "INSERT INTO berth_valet_placements (uuid, plan_id, name, orchestration_id, location, reserved, "
                       "created_at) SELECT ?, plan_id, 'more', 'more', 'h9', 0, created_at FROM berth_valet_placements "
                       "WHERE orchestration_id = 'b'", (extra,))
            self.expect("b is replanned", cloud.valet("POST", "/v1/placements/b", {"action": "replan"}), 201)
            self.equal("all stay", cloud.placements()["more"]["id"], extra)
            answer = cloud.valet("PUT", "/v1/plans/t", {"action": "migrate", "resources": ["c"]}, token="admin")
            self.expect("c is migrated", answer, 201)
            found = locations(answer.json["plan"])
            self.equal("shown with its plan", (sorted(found), found["b"], found["more"]),
                       (["b", "c", "more"], before["b"]["location"], "h9"))
            self.case("c is elsewhere", found["c"] != before["c"]["location"], found)
            answer = cloud.valet("POST", "/v1/placements/more", {"action": "replan"})
            self.refused("it is not replanned", answer, 409, "the plan of 'more' does not know it any more")
            answer = cloud.valet("PUT", "/v1/plans/t", {"action": "update", "resources": {"b": server(), "c": server()}})
            self.expect("an update", answer, 201)
            self.equal("drops it", sorted(cloud.placements()), ["b", "c"])

    def test_unknown(self):
        """What a plan names may be gone when it is planned again."""
        with self.berth() as berth:
            cloud = self.cloud(berth)
            cloud.place(201, "PUT", "/traits/CUSTOM_LAB")
            cloud.traits("h2", ["CUSTOM_LAB"])
            lab = server({**plans.FLAVOR, "extra_specs": {"trait:CUSTOM_LAB": "required"}})
            cloud.plan(body("s", {"a": lab, "b": server(locations=["h1"])}))
            state = cloud.placements()
            self.equal("where the trait is", state["a"]["location"], "h2")
            cloud.traits("h2", [])
            cloud.place(204, "DELETE", "/traits/CUSTOM_LAB")
            for name, answer in (("replan", cloud.valet("POST", "/v1/placements/b", {"action": "replan"})),
                                 ("migrate", cloud.valet("PUT", "/v1/plans/s", {"action": "migrate", "resources": ["b"]},
                                                         token="admin"))):
                self.refused(name, answer, 409, "'a'", "there is no trait 'CUSTOM_LAB'")
            self.equal("unchanged", cloud.placements(), state)
            self.expect("it is reserved", cloud.valet("POST", "/v1/placements/b", {}), 201)
            self.expect("updated", cloud.valet("PUT", "/v1/plans/s", {
                "action": "update", "resources": {"a": server(), "b": server()}}), 201)

    def test_two_servers(self):
        """A placement whose two ids belong to two servers does not move to a host where only the second one is."""
        with self.berth() as berth:
            cloud = self.cloud(berth, 4)
            for beside, excluded, wanted in (("h2", ["h3"], "h4"), ("h1", ["h2", "h4"], "h3")):
                name, other = str(uuid.uuid4()), str(uuid.uuid4())
                cloud.plan(body(name, {name: server(locations=["h1"])}))
                self.expect("reserved", cloud.valet("POST", f"/v1/placements/{name}", {"resource_id": other}), 201)
                self.equal("both are built", (cloud.claim(other, "h1", 1), cloud.claim(name, beside, 1)), (204, 204))
                answer = cloud.valet("PUT", f"/v1/plans/{name}", {
                    "action": "update", "resources": {name: server()}})
                self.expect("anywhere", answer, 201)
                answer = cloud.valet("PUT", f"/v1/plans/{name}", {
                    "action": "migrate", "resources": [other], "excluded_hosts": excluded}, token="admin")
                self.expect("migrated", answer, 201)
                self.equal("to the one host left", locations(answer.json["plan"]), {name: wanted})
                self.equal("and held there", cloud.held(cloud.placements()[name]["id"]), {wanted: 1})
                answer = cloud.valet("PUT", f"/v1/plans/{name}", {
                    "action": "migrate", "resources": [other], "excluded_hosts": sorted(set(cloud.host) - {beside})}, token="admin")
                if beside == "h2":
                    self.refused("not beside the other", answer, 409, "excluded")
                else:
                    self.expect("back to both", answer, 201)
                    self.equal("without a hold", cloud.held(cloud.placements()[name]["id"]), {})

    def test_too_long(self):
        """A plan whose text is longer than a row can hold is refused: the body is short, its flavor is not."""
        names = [f"CUSTOM_{i:03}_" + "X" * 200 for i in range(100)]
        path = os.path.join(self.directory, "long.json")
        with open(path, "w") as file:
            json.dump({"long": {"vcpus": 1, "ram": 1, "disk": 0,
                                "extra_specs": {f"trait:{name}": "required" for name in names}}}, file)
        with self.berth(options=["[valet]", "max_servers = 1000", f"flavors = {path}"]) as berth:
            cloud = self.cloud(berth, 1, vcpus=2000)
            for name in names:
                cloud.place(201, "PUT", "/traits/" + name)
            cloud.traits("h1", names)
            many = {f"s{i}": server("long") for i in range(900)}
            self.refused("too many", cloud.valet("POST", "/v1/plans", body("s", many)), 400,
                         "more than a plan can hold")
            self.equal("nothing is held", (cloud.placements(), cloud.used()), ({}, {}))
            self.expect("fewer", cloud.valet("POST", "/v1/plans", body("s", dict(list(many.items())[:100]))), 201)
            self.refused("an update", cloud.valet("PUT", "/v1/plans/s", {"action": "update", "resources": many}), 400,
                         "more than a plan can hold")
            self.equal("unchanged", (len(cloud.placements()), cloud.used()), (100, {"h1": 100}))

    def test_catalogue(self):
        """Flavors come from the last valid file."""
        path = os.path.join(self.directory, "flavors.json")

        def write(text):
            with open(path, "w") as file:
                file.write(text)

        def reload(berth, line):
            before = berth.log().count(line)
            berth.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + 20
            while berth.log().count(line) == before and time.monotonic() < end:
                time.sleep(0.02)
            self.case("logged: " + line, berth.log().count(line) > before, berth.log()[-600:])

        write('{"tiny": {"id": "7", "vcpus": 1, "ram": 1, "disk": 0}}')
        with self.berth(options=["[valet]", f"flavors = {path}"]) as berth:
            cloud = self.cloud(berth)
            self.equal("by name and id", sorted(cloud.plan(body("s", {"a": server("tiny"), "b": server("7")}))["placements"]), ["a", "b"])
            self.refused("no other", cloud.valet("POST", "/v1/plans", body("t", {"c": server("m1.small")})), 400, "'m1.small'")
            for number, bad in enumerate(("{", "[]", '{"tiny": 1}', '{"tiny": {"vcpus": 1}}', "")):
                write(bad)
                reload(berth, "the flavors stay as they were")
                cloud.plan(body(f"bad{number}", {f"bad{number}": server("tiny")}))
            os.remove(path)
            reload(berth, "the flavors stay as they were")
            cloud.plan(body("gone", {"gone": server("7")}))
            write('{"big": {"vcpus": 3, "ram": 1, "disk": 0}}')
            end = time.monotonic() + 20
            berth.process.send_signal(signal.SIGHUP)
            while cloud.valet("POST", "/v1/plans", body("u", {"u": server("big")})).status != 201 and time.monotonic() < end:
                time.sleep(0.02)
            self.equal("the new one", list(cloud.held(cloud.placements()["u"]["id"]).values()), [3])
            self.refused("the old one is gone", cloud.valet("POST", "/v1/plans", body("v", {"v": server("tiny")})), 400, "'tiny'")
            self.expect("plans that use it continue", cloud.valet("POST", "/v1/placements/a", {"action": "replan"}), 201)
        write("{")
        try:
            with self.berth(options=["[valet]", f"flavors = {path}"]):
                self.case("it does not start", False)
        except RuntimeError as error:
            self.case("it does not start", f"The flavors of {path} cannot be used" in str(error), error)


if __name__ == "__main__":
    sys.exit(parts.play(Tests, PARTS, __doc__))
