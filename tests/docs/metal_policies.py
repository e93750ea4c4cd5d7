"""Whether the policy rule that the reference names for a route of the Bare Metal API is the one that the route
checks. In a berthd where every rule is a separate role, a caller with all roles except those named is refused, and a
caller with only those (and those for seeing objects) is not."""

import contextlib
import json
import os
import re
import sys
import tempfile

import markdown
import metal

TESTS = os.path.join(markdown.ROOT, "tests")
sys.path += [os.path.join(TESTS, name) for name in ("", "baremetal", "keystone")]  # appended: names of this folder come first

import metal_client  # noqa: E402
import fake  # noqa: E402
import servers  # noqa: E402

SEEING = {"baremetal:node:get", "baremetal:allocation:get"}
NAMED = re.compile(r"`(baremetal:[\w:]+)`")
NODE = {"name": "n", "driver": "fake-hardware", "resource_class": "x"}
BODIES = {  # what a write needs to reach the rule and pass it
    ("POST", "/v1/allocations"): {"resource_class": "none"},
    ("PATCH", "/v1/allocations/{}"): [{"op": "add", "path": "/extra/a", "value": 1}],
    ("POST", "/v1/nodes"): {"driver": "fake-hardware"},
    ("PATCH", "/v1/nodes/{}"): [{"op": "add", "path": "/description", "value": "x"}],
    ("PUT", "/v1/nodes/{}/states/provision"): {"target": "manage"},
    ("PUT", "/v1/nodes/{}/states/power"): {"target": "power on"},
    ("PUT", "/v1/nodes/{}/traits"): {"traits": ["CUSTOM_A"]},
}
QUERIES = {"/v1/nodes/validate": "?node=n"}


def named_rules(pages):
    """[(method, path, {rule}, where)]: from the first sentence of a section, or from a row."""
    for page in pages:
        for method, path, section in metal.sections(page):
            if path not in ("/", "/v1"):
                sentence = section.text.strip().split("\n\n")[0].split(". ")[0]
                yield method, metal.anonymous(path), set(NAMED.findall(sentence)), f"{page.path}:{section.first}"
        for method, path, _, rule in metal.ROW.findall(page.text):
            yield method, metal.anonymous(path), {rule}, page.path


def filled(path):
    """With this node, this allocation, this driver."""
    path = path.replace("/v1/allocations/{}", "/v1/allocations/a").replace("/v1/nodes/{}", "/v1/nodes/n")
    path = path.replace("/v1/drivers/{}", "/v1/drivers/fake-hardware").replace("/v1/conductors/{}", "/v1/conductors/here")
    return path.replace("/traits/{}", "/traits/CUSTOM_A") + QUERIES.get(path, "")


class Rules:
    def __init__(self, program, directory, stack):
        self.all = {"baremetal:" + name for name in
                    re.findall(r'RULE\(\s*"([\w:]+)"', metal.read("src/policy/rules_baremetal.c"))}
        self.keystone = fake.FakeKeystone()
        stack.callback(self.keystone.stop)
        policy = os.path.join(directory, "policy.yaml")
        with open(policy, "w", encoding="utf-8") as file:
            json.dump({rule: "role:" + rule.replace(":", ".") for rule in self.all}, file)
        login = {"www_authenticate_uri": "http://public:5000", "auth_url": self.keystone.url, "auth_type": "password",
                 "username": "placement", "password": "secret", "user_domain_name": "Default", "project_name": "service",
                 "project_domain_name": "Default"}
        options = ["[keystone_authtoken]", *(f"{name} = {value}" for name, value in login.items()), "[oslo_policy]", "enforce_scope = false",
                   f"policy_file = {policy}", "enforce_new_defaults = true", "[baremetal]", "host = here", "fake_delay_ms = 0"]
        self.server = stack.enter_context(servers.Berthd(program, directory, strategy="keystone", options=options,
                                                         baremetal_port=servers.free_port()))
        self.stack, self.callers = stack, 0
        self.admin = self.caller(self.all)

    def caller(self, rules):
        self.callers += 1
        token = self.keystone.add(f"t-{self.callers}", roles=tuple(sorted(rule.replace(":", ".") for rule in rules)))
        metal_api = metal_client.MetalClient(self.server.baremetal_port, headers={"x-auth-token": token})
        self.stack.callback(metal_api.close)
        return metal_api

    def prepare(self):
        """The node n, of the allocation a."""
        if self.admin.ask("GET", "/v1/nodes/n").status == 404:
            self.admin.make_node("available", traits=["CUSTOM_A"], **NODE)
        self.admin.at_rest()
        if self.admin.ask("GET", "/v1/nodes/n").json["provision_state"] != "available":
            self.admin.provision("n", "provide", "available")
        if self.admin.ask("GET", "/v1/allocations/a").status == 404:
            self.admin.must(201, "POST", "/v1/allocations", {"name": "a", "resource_class": "x", "candidate_nodes": ["n"]})
            self.admin.until("/v1/allocations/a", lambda one: one["state"] == "active")

    def verdict_of(self, method, path, named):
        """The difference from the page, or None."""
        if not named or not named <= self.all:
            return f"names {sorted(named)}"
        self.prepare()
        # a caller who may list everything may list
        without = self.all - named - {rule + "_all" for rule in named if rule.endswith(":list")}
        arguments = method, filled(path), BODIES.get((method, path))
        refused = self.caller(without).ask(*arguments)
        if refused.status not in (403, 404):
            return f"without {sorted(named)}: {refused}"
        self.prepare()
        allowed = self.caller(named | SEEING).ask(*arguments)
        return f"with {sorted(named)} alone: {allowed}" if allowed.status in (401, 403, 404) else None


def check(report, programs):
    pages = [markdown.Page(path) for path in (metal.ALLOCATIONS, metal.NODES)]
    routes = list(named_rules(pages))
    report("routes of bare metal with a policy", None if len(routes) > 40 else f"only {len(routes)}")
    with tempfile.TemporaryDirectory(prefix="berth-docs-policies-") as directory, contextlib.ExitStack() as stack:
        rules = Rules(os.path.join(programs, "berthd"), directory, stack)
        for method, path, named, where in routes:
            report(f"{where} {method} {path}: policy", rules.verdict_of(method, path, named))
