"""The Valet API with a real Keystone: tokens of every role and scope, projects as members of groups, visibility of
plans, access rules that permit only this API. Run by run.py."""

import contextlib
import http.client
import json
import os
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, "api"), os.path.join(TESTS, "valet")]

import cloud as clouds  # noqa: E402
import servers  # noqa: E402
import words  # noqa: E402

RULES = {  # of application credentials
    "valet": [("valet", "GET", "/v1/groups"), ("valet", "GET", "/v1/groups/*"), ("valet", "GET", "/p/v1/status")],
    "valet-all": [("valet", method, "/**") for method in ("GET", "POST", "PUT", "DELETE")],
    "placement-all": [("placement", method, "/**") for method in ("GET", "POST")],
    "free": None,
}


class ValetTests:
    """`tests` is run.py's Tests: its Keystone, its cloud, its score."""

    def __init__(self, tests):
        self.tests, self.cloud, self.keystone = tests, tests.cloud, tests.keystone

    def case(self, name, good, said=None):
        self.tests.case("valet: " + name, None if good else str(said))

    @contextlib.contextmanager
    def berth(self, keystone=None, **valet):
        directory = tempfile.mkdtemp(dir=self.tests.directory)
        options = clouds.own_login(self.keystone, **{"service_type": "placement", **(keystone or {})})
        options += ["[valet]", *(f"{name} = {value}" for name, value in valet.items())]
        with servers.Berthd(self.tests.program, directory, strategy="keystone", options=options,
                            valet_port=servers.free_port()) as server:
            yield server

    def ask(self, server, token, method, path, body=None):
        """(status, headers, text)"""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.valet_port, timeout=300)) as connection:
            headers = {} if token is None else {"x-auth-token": token}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def expect(self, name, answer, status):
        fault = words.fault_in(*answer)
        self.case(name, answer[0] == status and not fault, f"{fault or ''} {answer}, not {status}")
        return json.loads(answer[2]) if answer[0] in (200, 201) and status == answer[0] else None

    def run(self):
        for part in ("tokens", "members", "plans", "access_rules"):
            getattr(self, "test_" + part)()

    def test_tokens(self):
        """401 for every insufficient token, with the URL of Keystone."""
        cloud = self.cloud
        log_in = self.keystone.log_in_user
        tokens = {  # groups, status, plans without a project
            "admin": (cloud.token("boss"), 200, 200), "member": (cloud.token("member"), 401, 200),
            "reader": (cloud.token("reader"), 401, 200), "service": (cloud.token("nova", "service"), 401, 200),
            "unscoped": (log_in("nobody"), 401, 401), "system": (log_in("boss", {"system": {"all": True}}), 401, 401),
            "domain": (log_in("boss", {"domain": {"id": "default"}}), 401, 401),
            "none": (None, 401, 401), "empty": ("", 401, 401), "nonsense": ("nonsense", 401, 401),
        }
        with self.berth() as server:
            for name, (token, groups, status) in tokens.items():
                for path, wanted in (("/v1/groups", groups), ("/v1/status", status)):
                    answer = self.ask(server, token, "GET", path)
                    self.expect(f"{name}: {path}", answer, wanted)
                    who = answer[1].get("www-authenticate")
                    self.case(f"{name}: {path}: where to get a token",
                              who == ('Keystone uri="http://public.example:5000"' if wanted == 401 else None), who)
                self.expect(f"{name}: an unknown method", self.ask(server, token, "PATCH", "/v1/groups"),
                            405 if groups == 200 else 401)
                self.expect(f"{name}: nowhere", self.ask(server, token, "GET", "/v1/nowhere"), 404 if status == 200 else 401)
                self.expect(f"{name}: versions", self.ask(server, token, "GET", "/"), 200)
            for header in ("x-roles", "x-project-id", "x-identity-status"):
                with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.valet_port, timeout=60)) as connection:
                    connection.request("GET", "/v1/groups", headers={"x-auth-token": tokens["member"][0], header: "admin"})
                    self.case(f"a liar's {header}", connection.getresponse().status == 401)

    def test_members(self):
        """Projects that exist, and no others."""
        cloud, boss = self.cloud, self.cloud.token("boss")
        work, other = cloud.projects["work"], cloud.projects["other"]
        gone = cloud.must(201, "POST", "/v3/projects", {"project": {"name": "gone", "domain_id": "default"}})["project"]["id"]
        off = cloud.must(201, "POST", "/v3/projects", {
            "project": {"name": "off", "domain_id": "default", "enabled": False}})["project"]["id"]
        with self.berth() as server:
            group = self.expect("a group", self.ask(server, boss, "POST", "/v1/groups", {
                "name": "g", "type": "exclusivity"}), 201)["id"]
            at = f"/v1/groups/{group}/members"
            self.expect("an existing project", self.ask(server, boss, "PUT", at, {"members": [gone]}), 201)
            cloud.must(204, "DELETE", f"/v3/projects/{gone}")
            for name, members, status in (
                    ("one that has gone", [gone], 409), ("one of three", [work, uuid.uuid4().hex, other], 409),
                    ("a name", ["work"], 409), ("nothing", [""], 409), ("dots", [".."], 409), ("a path", ["../users"], 409),
                    ("no text", [work, 5], 409), ("two", [work, other], 201), ("in the other form", [str(uuid.UUID(work))], 201),
                    ("one that is off", [off], 201), ("nobody", [], 201)):
                self.expect(f"members: {name}", self.ask(server, boss, "PUT", at, {"members": members}), status)
            shown = json.loads(self.ask(server, boss, "GET", f"/v1/groups/{group}")[2])["group"]["members"]
            self.case("members: in their order", shown == [off, work, other, gone], shown)
            self.expect("members: a caller who is not an admin", self.ask(server, cloud.token("member"), "PUT", at, {"members": [work]}), 401)
            self.expect("members: a deleted project can be removed", self.ask(server, boss, "DELETE", f"{at}/{gone}"), 204)
            self.expect("members: an unknown group first", self.ask(server, boss, "PUT", "/v1/groups/x/members", {}), 404)
            many = [f"{number:032x}" for number in range(50)]
            self.expect("members: many unknown projects", self.ask(server, boss, "PUT", at, {"members": many}), 409)
        with self.berth({"username": "nova"}) as server:  # its role is service, which may not list projects
            group = json.loads(self.ask(server, boss, "POST", "/v1/groups", {"name": "g", "type": "exclusivity"})[2])["id"]
            self.expect("members: a service that may not query projects", self.ask(
                server, boss, "PUT", f"/v1/groups/{group}/members", {"members": [work]}), 503)

    def placement(self, server, token, method, path, body=None):
        """(status, body)"""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), {
                "x-auth-token": token, "openstack-api-version": "placement 1.39", "content-type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None

    def test_plans(self):
        """A member's plan on a host claimed for its project: others neither see it nor claim anything there."""
        cloud, boss, member = self.cloud, self.cloud.token("boss"), self.cloud.token("member")
        cloud.grant("projects/" + cloud.projects["other"], "nobody", "member")
        nonmember = cloud.token("nobody", "other")
        hosts = {f"host{number}": str(uuid.uuid4()) for number in (1, 2)}
        resources = {
            "w": {"type": "OS::Nova::Server", "properties": {"flavor": {"vcpus": 1, "ram": 1, "disk": 1}}},
            "g": {"type": "OS::Valet::GroupAssignment", "properties": {
                "group_type": "exclusivity", "level": "host", "group_name": "own", "resources": ["w"]}}}
        plan = {"plan_name": "p", "stack_id": "s", "resources": resources}
        with self.berth() as server:
            for name, host in hosts.items():
                got = [self.placement(server, boss, "POST", "/resource_providers", {"name": name, "uuid": host}),
                       self.placement(server, boss, "PUT", f"/resource_providers/{host}/inventories", {
                           "resource_provider_generation": 0,
                           "inventories": {name: {"total": 8} for name in ("VCPU", "MEMORY_MB", "DISK_GB")}})]
                self.case(f"plans: {name}", [answer[0] for answer in got] == [200, 200], got)
            group = self.expect("plans: a group", self.ask(server, boss, "POST", "/v1/groups", {
                "name": "own", "type": "exclusivity"}), 201)["id"]
            self.expect("plans: of no member", self.ask(server, member, "POST", "/v1/plans", plan), 409)
            self.expect("plans: a member", self.ask(server, boss, "PUT", f"/v1/groups/{group}/members", {
                "members": [cloud.projects["work"]]}), 201)
            made = self.expect("plans: made", self.ask(server, member, "POST", "/v1/plans", plan), 201)["plan"]
            self.expect("plans: a non-member's", self.ask(server, nonmember, "POST", "/v1/plans", plan), 409)
            at = f"/v1/plans/{made['id']}"
            for name, path in (("id", at), ("stack", "/v1/plans/s"), ("placement", "/v1/placements/w")):
                for who, token, status in (("its own", member, 200), ("admin", boss, 200), ("a non-member", nonmember, 404)):
                    self.expect(f"plans: by {name}: {who}", self.ask(server, token, "GET", path), status)
            seen = json.loads(self.ask(server, nonmember, "GET", "/v1/plans")[2])
            self.case("plans: a non-member's list", seen == {"plans": []}, seen)
            for method, path, body in (("DELETE", at, None), ("POST", "/v1/placements/w", {}),
                                       ("PUT", at, {"action": "update", "resources": {}})):
                self.expect(f"plans: a non-member's {method}", self.ask(server, nonmember, method, path, body), 404)
            where = made["placements"]["w"]["location"]
            claim = {"allocations": {hosts[where]: {"resources": {"VCPU": 1}}}, "user_id": "u", "consumer_generation": None,
                     "consumer_type": "INSTANCE"}
            for name, status in (("other", 409), ("work", 204)):
                got = self.placement(server, boss, "PUT", f"/allocations/{uuid.uuid4()}", {
                    **claim, "project_id": cloud.projects[name]})
                held = f"Resource provider '{where}' is held by exclusivity group 'own'."
                good = got[0] == status and (status == 204 or held in got[1]["errors"][0]["detail"])
                self.case(f"plans: a claim of project {name}", good, got)
            moving = {"action": "migrate", "resources": ["w"]}
            self.expect("plans: a member's migrate", self.ask(server, member, "PUT", at, moving), 401)
            moved = self.expect("plans: migrate", self.ask(server, boss, "PUT", at, moving), 201)["plan"]
            self.case("plans: it has moved", {where, moved["placements"]["w"]["location"]} == set(hosts), moved)
            self.expect("plans: deleted", self.ask(server, member, "DELETE", at), 204)

    def test_access_rules(self):
        """A rule permits the API of the service that it names, and no other."""
        tokens = {name: self.keystone.log_in_credential(self.cloud.make_credential("boss", "v-" + name, rules))
                  for name, rules in RULES.items()}
        wanted = {  # GET /v1/groups, /v1/status, /p/v1/status, POST /v1/groups, Placement's GET /traits
            "valet": (200, 401, 200, 401, 401), "valet-all": (200, 200, 200, 400, 401),
            "placement-all": (401, 401, 401, 401, 200), "free": (200, 200, 200, 400, 200),
        }
        with self.berth(prefix="/p") as server:
            for name, statuses in wanted.items():
                got = [self.ask(server, tokens[name], *call)[0] for call in (
                    ("GET", "/v1/groups"), ("GET", "/v1/status"), ("GET", "/p/v1/status"), ("POST", "/v1/groups", {}))]
                with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
                    connection.request("GET", "/traits", headers={
                        "x-auth-token": tokens[name], "openstack-api-version": "placement 1.39"})
                    got.append(connection.getresponse().status)
                self.case(f"access rules: {name}", tuple(got) == statuses, f"{got}, not {statuses}")
            encoded = self.ask(server, tokens["valet"], "GET", "/v1/groups/a%2Fmembers")[0]
            self.case("access rules: an encoded slash is one", encoded == 401, encoded)
        for service_type, status in (("", 401), ("other", 401)):
            with self.berth(service_type=service_type) as server:
                got = self.ask(server, tokens["valet-all"], "GET", "/v1/groups")[0]
                self.case(f"access rules: service_type = {service_type!r}", got == status, got)
