"""The Bare Metal API with a real Keystone: who may do what (baremetal-allocations spec, section 7) with tokens of
every role and scope, access rules that permit one of berth's two APIs and not the other, policy files, and the real
clients. Run by run.py."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, "baremetal")]

import cloud as clouds  # noqa: E402
import metal_client  # noqa: E402
import servers  # noqa: E402

SERVICE_ROLE = {"service_role": "role:service and project_name:service"}  # as docs/policies.md configures nova's service
RULES = {  # of application credentials: the rules of each
    "metal": [("baremetal", "GET", "/v1/nodes"), ("baremetal", "POST", "/v1/allocations"),
              ("baremetal", "GET", "/metal/v1/nodes")],
    "metal-all": [("baremetal", method, "/**") for method in ("GET", "POST")],
    "placement-all": [("placement", method, "/**") for method in ("GET", "POST")],
    "both": [("baremetal", "GET", "/v1/nodes"), ("placement", "GET", "/traits")],
    "other": [("bare-metal", "GET", "/**"), ("compute", "GET", "/**")],
    # as in docs/keystone.md
    "pipeline": [("baremetal", "POST", "/v1/allocations"), ("baremetal", "GET", "/v1/allocations"),
                 ("baremetal", "GET", "/v1/allocations/**"), ("baremetal", "DELETE", "/v1/allocations/*")],
    "free": None,
}
NEW_DEFAULTS = ["[oslo_policy]", "enforce_new_defaults = true", "enforce_scope = true"]


class Berth(contextlib.ExitStack):
    """berthd with both APIs and the tests' Keystone. API(NAME) is the Bare Metal API for that caller."""

    def __init__(self, tests, policy=None, lines=(), keystone=None, **metal):
        super().__init__()
        directory = tempfile.mkdtemp(dir=tests.directory)
        options = clouds.own_login(tests.keystone, **{"service_type": "placement", **(keystone or {})}) + list(lines)
        if "[oslo_policy]" not in options:
            options += ["[oslo_policy]", "enforce_scope = false"]  # as in 21.4.4
        if policy is not None:
            path = os.path.join(directory, "policy.yaml")
            with open(path, "w") as file:
                json.dump(policy, file)
            options += [f"policy_file = {path}"]
        options += ["[baremetal]", *(f"{name} = {value}" for name, value in {"fake_delay_ms": 20, **metal}.items())]
        self.who = tests.who
        self.server = servers.Berthd(tests.program, directory, strategy="keystone", options=options,
                                     port=tests.placement_port, baremetal_port=tests.metal_port)

    def __enter__(self):
        super().__enter__()
        self.enter_context(self.server)
        return self

    def metal_api(self, who):
        return self.enter_context(contextlib.closing(metal_client.MetalClient(self.server.baremetal_port, headers=self.who[who])))

    def ask(self, who, method, path, body=None, port=None):
        headers = {"openstack-api-version": "placement 1.39", **self.who[who]}
        with contextlib.closing(metal_client.MetalClient(port or self.server.baremetal_port, headers=headers)) as metal_api:
            return metal_api.ask(method, path, body)


class MetalTests:
    """`tests` is run.py's Tests: its Keystone, its cloud, its score."""

    def __init__(self, tests):
        self.tests, self.cloud, self.keystone = tests, tests.cloud, tests.keystone
        tests.who = self.make_callers()

    def make_callers(self):
        """Users of two projects and of the system with each role. {name: headers}"""
        cloud, tokens = self.cloud, {}
        for name in ("manager", "nothing"):
            if name not in cloud.roles:
                cloud.roles[name] = cloud.must(201, "POST", "/v3/roles", {"role": {"name": name}})["role"]["id"]
        for role in ("admin", "manager", "member", "reader", "nothing", "service"):
            for target, where in (("system", "system"), ("p1", "work"), ("p2", "other")):
                name = f"{target} {role}"
                cloud.make_user(name)
                cloud.grant("system" if target == "system" else "projects/" + cloud.projects[where], name, role)
                tokens[name] = (self.keystone.log_in_user(name, {"system": {"all": True}}) if target == "system"
                                else cloud.token(name, where))
        tokens["nova"] = cloud.token("nova", "service")
        tokens["domain"] = self.keystone.log_in_user("boss", {"domain": {"id": "default"}})
        tokens["unscoped"] = self.keystone.log_in_user("nobody")
        tokens["nonsense"] = "nonsense"
        who = {name: {"x-auth-token": token} for name, token in tokens.items()}
        who["nobody"] = {}
        who["liar"] = {**who["p1 nothing"], "x-roles": "admin", "openstack-system-scope": "all",
                       "x-identity-status": "Confirmed", "x-project-id": "p", "x-is-admin-project": "True"}
        return who

    def case(self, name, good, said=None):
        self.tests.case("bare metal: " + name, None if good else str(said))

    def expect(self, name, answer, status, words=None):
        self.case(name, answer.status == status and (words is None or words in (answer.fault or answer.text)),
                  f"{answer}, not {status} {words or ''}")

    def run(self):
        for part in ("access_rules", "allocations", "lists", "nodes", "masks", "callers", "legacy", "files", "clients"):
            getattr(self, "test_" + part)()

    # Access rules.

    def test_access_rules(self):
        """A rule permits the API of the service that it names, and no other."""
        self.credentials = {name: self.cloud.make_credential("boss", "m-" + name, rules) for name, rules in RULES.items()}
        for name, credential in self.credentials.items():
            self.tests.who["app " + name] = {"x-auth-token": self.keystone.log_in_credential(credential)}
        wanted = {  # bare metal's GET /v1/nodes, /v1/drivers, /metal/v1/nodes; Placement's GET /traits, POST
            "metal": (200, 401, 200, 401, 401), "metal-all": (200, 200, 200, 401, 401),
            "placement-all": (401, 401, 401, 200, 400), "both": (200, 401, 401, 200, 401),
            "other": (401, 401, 401, 401, 401), "free": (200, 200, 200, 200, 400),
        }
        with Berth(self.tests, prefix="/metal") as berth:
            for name, statuses in wanted.items():
                got = (*(berth.ask("app " + name, "GET", path).status
                         for path in ("/v1/nodes", "/v1/drivers", "/metal/v1/nodes")),
                       berth.ask("app " + name, "GET", "/traits", port=berth.server.port).status,
                       berth.ask("app " + name, "POST", "/resource_providers", {}, port=berth.server.port).status)
                self.case(f"access rules: {name}", got == statuses, f"{got}, not {statuses}")
            self.expect("access rules: the root", berth.ask("app other", "GET", "/v1"), 200)
            self.tests.who["app of a service"] = {
                **self.tests.who["app other"], "x-service-token": self.tests.who["nova"]["x-auth-token"]}
            self.expect("access rules: a service", berth.ask("app of a service", "GET", "/v1/nodes"), 200)
        for settings, statuses in (
                ({"service_type": "bare-metal"}, [401, 401, 401]), ({"service_type": ""}, [401, 401, 401]),
                ({"service_type": "placement"}, [401, 200, 401]), ({"keystone": {"service_type": None}}, [200, 401, 200])):
            with Berth(self.tests, **settings) as berth:
                got = [berth.ask("app " + name, "GET", "/v1/nodes").status for name in ("metal", "placement-all", "both")]
                self.case(f"access rules: {settings}", got == statuses, f"{got}, not {statuses}")

    # Allocations.

    def make_nodes(self, berth):
        """n1 of p1, n2 of p2, n3 without an owner, leased by p1, n0 without an owner: all of one class and free."""
        root = berth.metal_api("system admin")
        p1, p2 = self.cloud.projects["work"], self.cloud.projects["other"]
        for name, owners in (("n0", {}), ("n1", {"owner": p1}), ("n2", {"owner": p2}), ("n3", {"lessee": p1})):
            root.make_node(name=name, resource_class="x", **owners)
        return root, p1, p2

    def test_allocations(self):
        """The table of section 7, line by line."""
        with Berth(self.tests, lines=NEW_DEFAULTS) as berth:
            root, p1, p2 = self.make_nodes(berth)
            callers = ("system member", "system reader", "p1 member", "p1 reader", "p2 member")
            owners = {"system member": None, "p1 member": p1, "p2 member": p2}

            def line(name, statuses, method, path, body=None, prepare=None):
                for who, status in zip(callers, statuses):
                    if prepare:
                        prepare()
                    answer = berth.ask(who, method, path, body)
                    self.expect(f"{name}: {who}", answer, status)
                    if method == "POST" and answer.status == 201:
                        wanted = body["owner"] if "owner" in body else owners[who]
                        self.case(f"{name}: {who}: owner", answer.json["owner"] == wanted, answer)
                        root.until("/v1/allocations/" + answer.json["uuid"], lambda a: a["state"] != "allocating")
                        root.must(204, "DELETE", "/v1/allocations/" + answer.json["uuid"])

            line("no owner", (201, 403, 201, 403, 201), "POST", "/v1/allocations", {"resource_class": "x"})
            line("owner p1", (201, 403, 201, 403, 403), "POST", "/v1/allocations", {"resource_class": "x", "owner": p1})
            line("owner null", (201, 403, 201, 403, 201), "POST", "/v1/allocations", {"resource_class": "x"})
            line("candidate n1", (201, 403, 201, 403, 400), "POST", "/v1/allocations",
                 {"resource_class": "x", "candidate_nodes": ["n1"]})
            line("node n1", (500, 403, 500, 403, 400), "POST", "/v1/allocations", {"node": "n1", "name": "left"},
                 prepare=lambda: root.ask("DELETE", "/v1/allocations/left"))
            root.ask("DELETE", "/v1/allocations/left")
            self.owned(berth, root, p1, p2)
            held = {"resource_class": "x", "name": "a1", "owner": p1, "candidate_nodes": ["n1"]}

            def hold():
                if root.ask("GET", "/v1/allocations/a1").status == 404:
                    root.must(201, "POST", "/v1/allocations", held)
                    root.until("/v1/allocations/a1", lambda a: a["state"] == "active")

            root.must(201, "POST", "/v1/allocations", {"resource_class": "x", "name": "a0", "candidate_nodes": ["n0"]})
            line("GET one of p1", (200, 200, 200, 200, 404), "GET", "/v1/allocations/a1", prepare=hold)
            line("GET one without owner", (200, 200, 404, 404, 404), "GET", "/v1/allocations/a0")
            line("PATCH one of p1", (200, 403, 200, 403, 404), "PATCH", "/v1/allocations/a1",
                 [{"op": "add", "path": "/extra/a", "value": 1}])
            line("GET n1's", (200, 200, 200, 200, 404), "GET", "/v1/nodes/n1/allocation")
            line("DELETE one of p1", (204, 403, 204, 403, 404), "DELETE", "/v1/allocations/a1", prepare=hold)
            line("DELETE n1's", (204, 403, 204, 403, 404), "DELETE", "/v1/nodes/n1/allocation", prepare=hold)
            for method, path, body in (("POST", "/v1/allocations", {"resource_class": "x"}), ("GET", "/v1/allocations", None)):
                answer = berth.ask("p1 nothing", method, path, body)
                self.expect(f"no role: {method}", answer, 403,
                            "Access was denied to the following resource: baremetal:allocation:")
            hold()
            for method, path in (("GET", "/v1/allocations/a1"), ("DELETE", "/v1/allocations/a1"),
                                 ("GET", "/v1/nodes/n1/allocation"), ("DELETE", "/v1/nodes/n1/allocation")):
                self.expect(f"no role: {method} {path}", berth.ask("p1 nothing", method, path), 404)

    def owned(self, berth, root, p1, p2):
        """A project's allocations only get nodes that it owns or leases."""
        taken = set()
        for name in ("first", "second", "third"):
            berth.metal_api("p1 member").must(201, "POST", "/v1/allocations", {"resource_class": "x", "name": name})
            taken.add(root.until("/v1/allocations/" + name, lambda a: a["state"] != "allocating")["node_uuid"])
        mine = {root.must(200, "GET", "/v1/nodes/" + name)["uuid"] for name in ("n1", "n3")}
        self.case("owned or leased nodes only", taken == mine | {None}, taken)
        for name in ("first", "second", "third"):
            berth.metal_api("p1 member").must(204, "DELETE", "/v1/allocations/" + name)
        body = {"resource_class": "x", "candidate_nodes": ["n3", "n0"]}
        self.expect("candidates: one has no owner", berth.ask("p1 member", "POST", "/v1/allocations", body), 400,
                    "Nodes cannot be found: n0")

    def test_lists(self):
        """Which objects lists show to which callers, and their filters."""
        with Berth(self.tests, lines=NEW_DEFAULTS) as berth:
            root, p1, p2 = self.make_nodes(berth)
            for name, owner, node in (("a0", None, "n0"), ("a1", p1, "n1"), ("a2", p2, "n2"), ("a3", p1, "n3")):
                body = {"resource_class": "x", "name": name, "candidate_nodes": [node]}
                root.must(201, "POST", "/v1/allocations", {**body, **({"owner": owner} if owner else {})})
                root.until("/v1/allocations/" + name, lambda a: a["state"] == "active")
            every, first, second = ["a0", "a1", "a2", "a3"], ["a1", "a3"], ["a2"]
            for path, wanted in {
                "": (every, every, first, first, second),
                f"?owner={p1}": (first, first, first, first, 403),
                f"?owner={p2}": (second, second, 403, 403, second),
                "?owner=unknown": ([], [], 403, 403, 403),
                "?node=n1": (["a1"], ["a1"], ["a1"], ["a1"], 404),
                "?node=n2": (["a2"], ["a2"], 404, 404, ["a2"]),
                "?node=n3": (["a3"], ["a3"], ["a3"], ["a3"], 404),
                "?state=active&limit=1": (["a0"], ["a0"], ["a1"], ["a1"], ["a2"]),
            }.items():
                for who, names in zip(("system member", "system reader", "p1 member", "p1 reader", "p2 reader"), wanted):
                    self.names(f"list of allocations {path.replace(p1, 'p1').replace(p2, 'p2')}: {who}",
                               berth.ask(who, "GET", "/v1/allocations" + path), "allocations", names)
            every, first = ["n0", "n1", "n2", "n3"], ["n1", "n3"]
            for path, wanted in {
                "/v1/nodes": (every, first, ["n2"], 403), "/v1/nodes/detail": (every, first, ["n2"], 403),
                f"/v1/nodes?owner={p1}": (["n1"], ["n1"], [], 403), f"/v1/nodes?lessee={p1}": (["n3"], ["n3"], [], 403),
                "/v1/nodes?resource_class=x&sort_key=name&sort_dir=desc": (every[::-1], first[::-1], ["n2"], 403),
            }.items():
                for who, names in zip(("system reader", "p1 reader", "p2 member", "p1 nothing"), wanted):
                    self.names(f"list of nodes {path.replace(p1, 'p1')}: {who}", berth.ask(who, "GET", path), "nodes", names)
            page = berth.ask("p1 reader", "GET", "/v1/nodes?limit=1").json
            rest = berth.ask("p1 reader", "GET", page["next"].split(str(berth.server.baremetal_port), 1)[1]).json
            self.case("pages of one's own", [one["name"] for one in page["nodes"] + rest["nodes"]] == first, (page, rest))

    def names(self, case, answer, what, wanted):
        got = answer.status if answer.status != 200 else [one["name"] for one in answer.json[what]]
        self.case(case, got == wanted, f"{answer}, not {wanted}")

    # Nodes.

    def test_nodes(self):
        """What owners, lessees and others may do to nodes."""
        with Berth(self.tests, lines=NEW_DEFAULTS, policy=SERVICE_ROLE) as berth:
            root, p1, p2 = self.make_nodes(berth)
            callers = ("system member", "system reader", "p1 admin", "p1 member", "p1 reader", "p2 admin", "nova")
            for method, path, body, statuses in (
                    ("GET", "/v1/nodes/n1", None, (200, 200, 200, 200, 200, 404, 200)),
                    ("GET", "/v1/nodes/n3", None, (200, 200, 200, 200, 200, 404, 200)),
                    ("GET", "/v1/nodes/n0", None, (200, 200, 404, 404, 404, 404, 200)),
                    ("GET", "/v1/nodes/n1/states", None, (200, 200, 200, 200, 200, 404, 200)),
                    ("PATCH", "/v1/nodes/n1", [{"op": "add", "path": "/extra/a", "value": 1}],
                     (200, 403, 200, 200, 403, 404, 200)),
                    ("PATCH", "/v1/nodes/n1", [{"op": "replace", "path": "/name", "value": "n1"}],
                     (200, 403, 200, 200, 403, 404, 200)),
                    ("PATCH", "/v1/nodes/n1", [{"op": "replace", "path": "/owner", "value": p1}],
                     (200, 403, 403, 403, 403, 404, 200)),
                    ("PATCH", "/v1/nodes/n1", [{"op": "replace", "path": "/lessee", "value": p2}],
                     (200, 403, 200, 200, 403, 403, 200)),
                    ("PATCH", "/v1/nodes/n1", [{"op": "remove", "path": "/lessee"}],
                     (200, 403, 200, 200, 403, 404, 200)),
                    ("PATCH", "/v1/nodes/n3", [{"op": "replace", "path": "/name", "value": "n3"}],
                     (200, 403, 403, 403, 403, 404, 200)),
                    ("PUT", "/v1/nodes/n1/traits", {"traits": ["CUSTOM_A"]}, (204, 403, 204, 403, 403, 404, 204)),
                    ("PUT", "/v1/nodes/n1/maintenance", None, (202, 403, 202, 202, 403, 404, 202)),
                    ("DELETE", "/v1/nodes/n1/maintenance", None, (202, 403, 202, 202, 403, 404, 202)),
                    ("PUT", "/v1/nodes/n1/states/power", {"target": "power on"}, (202, 403, 202, 202, 403, 404, 202)),
                    ("PUT", "/v1/nodes/n3/states/power", {"target": "power on"}, (202, 403, 202, 202, 403, 404, 202)),
                    ("PATCH", "/v1/nodes/n3", [{"op": "add", "path": "/instance_info/a", "value": 1}],
                     (200, 403, 200, 403, 403, 404, 200)),
                    ("POST", "/v1/nodes", {"driver": "fake-hardware"}, (403, 403, 201, 403, 403, 201, 201)),
                    ("DELETE", "/v1/nodes/n1", None, (403, 403, None, 403, 403, 404, None)),
                    ("GET", "/v1/drivers", None, (200, 200, 403, 403, 403, 403, 403)),
                    ("GET", "/v1/drivers/fake-hardware", None, (200, 200, 403, 403, 403, 403, 403)),
                    ("GET", "/v1/conductors", None, (200, 200, 403, 403, 403, 403, 403)),
                    ("GET", "/v1/conductors/elsewhere", None, (404, 404, 403, 403, 403, 403, 403)),
                    ("GET", "/v1/shards", None, (200, 200, 403, 403, 403, 403, 200))):
                for who, status in zip(callers, statuses):
                    if status is None:
                        continue
                    root.at_rest()
                    said = "" if body is None else json.dumps(body)[:60].replace(p1, "p1").replace(p2, "p2")
                    answer = berth.ask(who, method, path, body)
                    self.expect(f"{method} {path} {said}: {who}", answer, status)
                    if method == "POST" and status == 201:
                        owner = {"p1 admin": p1, "p2 admin": p2, "nova": self.cloud.projects["service"]}[who]
                        self.case(f"a node's owner: {who}", answer.json["owner"] == owner, answer)
            body = {"driver": "fake-hardware", "owner": p2}
            self.expect("another project's node", berth.ask("p1 admin", "POST", "/v1/nodes", body), 400,
                        "A node that a project creates can have no other owner.")
            uuid = berth.ask("p1 admin", "POST", "/v1/nodes", {"driver": "fake-hardware"}).json["uuid"]
            self.expect("one's own node goes", berth.ask("p1 admin", "DELETE", "/v1/nodes/" + uuid), 204)

    def test_masks(self):
        """Fields that only some callers see."""
        redacted = {"last_error": "** Value Redacted - Requires baremetal:node:get:last_error permission. **",
                    "reservation": "** Redacted - requires baremetal:node:get:reservation permission. **"}
        with Berth(self.tests, lines=NEW_DEFAULTS, policy=SERVICE_ROLE) as berth:
            p1 = self.cloud.projects["work"]
            root = berth.metal_api("system admin")
            info = {"ipmi_password": "hidden", "ipmi_address": "10.0.0.1"}
            root.make_node(name="n", owner=p1, lessee=self.cloud.projects["other"], driver_info=info,
                           instance_info={"image_url": "http://hidden", "a": 1})
            for who in ("system admin", "system reader", "p1 admin", "p1 reader", "p2 reader", "nova"):
                for path in ("/v1/nodes/n", "/v1/nodes/detail", "/v1/nodes?fields=driver_info,instance_info,last_error,"
                             "reservation,driver_internal_info"):
                    answer = berth.ask(who, "GET", path)
                    self.case(f"secrets: {who}: {path}", answer.status == 200 and "hidden" not in answer.text, answer)
                    shown = answer.json["nodes"][0] if "nodes" in answer.json else answer.json
                    sees = who in ("system admin", "system reader", "nova", "p1 admin", "p1 reader")
                    wanted = ({"ipmi_password": "******", "ipmi_address": "10.0.0.1"} if sees
                              else {"content": "** Redacted - requires baremetal:node:get:driver_info permission. **"})
                    self.case(f"driver_info: {who}: {path}", shown["driver_info"] == wanted, shown)
                    for name, words in redacted.items():
                        self.case(f"{name}: {who}: {path}", shown[name] == (None if sees else words), shown)

    # Callers, other settings.

    def test_callers(self):
        """Invalid tokens, and tokens without permission for this API."""
        with Berth(self.tests, lines=NEW_DEFAULTS) as berth:
            for who, status in (("nobody", 401), ("nonsense", 401), ("unscoped", 403), ("domain", 403), ("liar", 403)):
                for path in ("/v1/nodes", "/v1/allocations"):
                    self.expect(f"{who}: {path}", berth.ask(who, "GET", path), status)
                self.expect(f"{who}: /v1", berth.ask(who, "GET", "/v1"), 200)
                self.expect(f"{who}: /", berth.ask(who, "GET", "/"), 200)
            answer = berth.ask("nobody", "GET", "/v1/nodes")
            self.case("401: where to get a token", answer.headers["www-authenticate"] == 'Keystone uri="http://public.example:5000"',
                      answer.headers)

    def test_legacy(self):
        """Without the new defaults an admin of any project is equivalent to a system admin."""
        with Berth(self.tests, lines=["[oslo_policy]", "enforce_new_defaults = false", "enforce_scope = false"]) as berth:
            root, p1, p2 = self.make_nodes(berth)
            body = {"resource_class": "x", "owner": p1, "name": "a"}
            for who, statuses in {"p2 admin": (201, 200, 200, 200, 204), "p2 member": (201, 404, 404, 200, 404)}.items():
                got = [berth.ask(who, "POST", "/v1/allocations", body).status]
                root.at_rest()
                got += [berth.ask(who, method, path).status for method, path in (
                    ("GET", "/v1/allocations/a"), ("GET", "/v1/nodes/n0"), ("GET", "/v1/nodes"), ("DELETE", "/v1/allocations/a"))]
                self.case(f"old defaults: {who}", tuple(got) == statuses, got)

    def test_files(self):
        """Rules in a file take effect in the API of their service, at once."""
        policy = {"baremetal:allocation:create": "role:nothing", "baremetal:node:list": "!",
                  "placement:traits:list": "!", "placement:usages": "role:reader"}
        with Berth(self.tests, policy=policy, lines=NEW_DEFAULTS) as berth:
            p1 = self.cloud.projects["work"]
            for who, body, status in (("p1 nothing", {}, 201), ("p1 member", {}, 403), ("p1 nothing", {"owner": "p"}, 403),
                                      ("system member", {"owner": p1}, 201)):
                self.expect(f"files: {who}: {body}",
                            berth.ask(who, "POST", "/v1/allocations", {"resource_class": "x", **body}), status)
            self.expect("files: no lists", berth.ask("p1 reader", "GET", "/v1/nodes"), 403)
            self.expect("files: no traits", berth.ask("p1 reader", "GET", "/traits", port=berth.server.port), 403)
            self.expect("files: usages", berth.ask("p1 reader", "GET", "/usages?project_id=p", port=berth.server.port), 200)

    # Clients.

    def client(self, who, command, program="openstack", **more):
        """(status, out, err) of a client that logs in as that user."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        user, project = who
        environment.update(OS_AUTH_URL=self.keystone.url + "/v3", OS_IDENTITY_API_VERSION="3")
        if user is not None:
            environment.update(OS_USERNAME=user, OS_PASSWORD="secret", OS_USER_DOMAIN_ID="default",
                               **({"OS_PROJECT_NAME": project, "OS_PROJECT_DOMAIN_ID": "default"} if project
                                  else {"OS_SYSTEM_SCOPE": "all"}))
        environment.update(more)
        words = (["openstack", "baremetal"] if program == "openstack" else ["baremetal"]) + command.split()
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, env=environment)
        return done.returncode, done.stdout, done.stderr

    def says(self, who, command, good=True, words="", **more):
        status, out, err = self.client(who, command, **more)
        self.case(f"client: {who[0]}: {command}", (status == 0) == good and words in out + err, f"{status} {out} {err}")
        return out

    def test_clients(self):
        """`openstack baremetal` and `baremetal` with passwords and application credentials, through the catalog."""
        admin, member, other = ("system admin", None), ("p1 member", "work"), ("p2 member", "other")
        p1 = self.cloud.projects["work"]
        with Berth(self.tests, lines=NEW_DEFAULTS) as berth:
            self.says(admin, "node create --driver fake-hardware --resource-class x --name n")
            self.says(admin, f"node set n --owner {p1}")
            for program, command in (("baremetal", "node manage n --wait"), ("openstack", "node provide n --wait"),
                                     ("baremetal", "node power on n")):
                self.says(admin, command, program=program)
            berth.metal_api("system admin").at_rest()
            self.says(member, "allocation create --resource-class x --name mine --wait -f json", words='"state": "active"')
            self.says(other, "allocation show mine", good=False, words="could not be found")
            self.says(other, "allocation list -f value", words="")
            self.says(member, f"allocation list --owner {p1} -f value", words="mine")
            self.says(other, f"allocation list --owner {p1}", good=False, words="Access was denied")
            self.says(("p1 reader", "work"), "allocation delete mine", good=False, words="Access was denied")
            self.says(member, "allocation set mine --extra a=b", program="baremetal")
            self.says(member, "allocation delete mine")
        with Berth(self.tests):
            for name, command, good in (("pipeline", "allocation create --resource-class x --name p", True),
                                        ("pipeline", "allocation list", True),
                                        ("pipeline", "allocation list --limit 1", True), ("pipeline", "allocation delete p", True),
                                        ("pipeline", "node list", False), ("metal", "node list", True), ("metal", "driver list", False),
                                        ("placement-all", "node list", False), ("metal-all", "driver list", True)):
                credential = self.credentials[name]
                self.says((None, name), command, good=good, OS_AUTH_TYPE="v3applicationcredential",
                          OS_APPLICATION_CREDENTIAL_ID=credential["id"], OS_APPLICATION_CREDENTIAL_SECRET=credential["secret"])
