#!/usr/bin/python3
"""A real Keystone, the real keystonemiddleware in the Python service, and berth: the same requests with tokens of
every role and scope, valid and invalid, must get the same answers; and the `openstack` client uses berth through
Keystone's catalog.

    tests/keystone/run.py --berthd build/berthd [--show] [PART…]

Parts: tokens, settings, revocation, client, metal, valet. The Python service 8.0.0 gets the newest release's rules from
a policy file, so that both have the same rules; its database is a copy of one that berth created. The last line is `N
passed, N failed`: a case is one request with one token, or one command.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

import cloud as clouds  # noqa: E402
import metal  # noqa: E402
import servers  # noqa: E402
import valet  # noqa: E402

ADMIN_OR_SERVICE = "role:admin or role:service"
OTHER_RULES = {"placement:usages": ADMIN_OR_SERVICE + " or (role:reader and project_id:%(project_id)s)"}
CREDENTIALS = {  # name: access rules
    "app": None,
    "app-get": [("GET", "/resource_classes"), ("GET", "/trait*")],
    "app-put": [("PUT", "/traits/**"), ("POST", "/resource_providers"), ("DELETE", "/resource_providers/{uuid}")],
    "app-none": [],
}


def requests_of(number, project):
    """[(method, path, body)] for one token; the objects that it writes to are not used by other tokens."""
    return [
        ("GET", "/", None),
        ("GET", "/traits?name=startswith:HW_CPU_X86_AVX", None),
        ("GET", "/resource_classes", None),
        ("GET", "/resource_classes/CUSTOM_NONE", None),
        ("GET", f"/usages?project_id={project}", None),
        ("GET", "/usages?project_id=another", None),
        ("PUT", f"/traits/CUSTOM_T{number}", None),
        ("POST", "/resource_providers", {"name": f"host-{number}", "uuid": f"00000000-0000-4000-8000-{number:012}"}),
        ("DELETE", f"/resource_providers/00000000-0000-4000-8000-{number:012}", None),
        ("POST", "/reshaper", {}),
        ("GET", "/nowhere", None),
    ]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers = status, headers
        text = re.sub(r"req-[0-9a-f-]{36}", "req-ID", body.decode(errors="replace"))
        # The Python service prints the schema, too (docs/differences.md).
        self.body = re.sub(r"Failed validating.*?\"(, \"code\": )", r'..."\1', text)

    def parts(self):
        """The parts that clients use. The type of an empty body does not matter."""
        kind = self.headers.get("content-type") if self.body else None
        return {"status": self.status, "www-authenticate": self.headers.get("www-authenticate"), "content-type": kind,
                "version": self.headers.get("openstack-api-version"),
                "request-id": bool(self.headers.get("x-openstack-request-id")), "body": loose(self.body)}


def loose(text):
    """JSON without orders that no API guarantees."""
    def walk(value):
        if isinstance(value, dict):
            return {key: walk(item) for key, item in value.items()}
        return sorted(map(walk, value), key=repr) if isinstance(value, list) else value
    try:
        return walk(json.loads(text))
    except ValueError:
        return text


def ask(server, method, path, body, headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        sent = {"openstack-api-version": "placement 1.39", **headers}
        if body is not None:
            sent["content-type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


class Pair:
    """berth and the Python service with the same settings, each with a database of its own."""

    def __init__(self, program, directory, lines):
        self.directory = tempfile.mkdtemp(dir=directory)
        policy = os.path.join(self.directory, "policy.yaml")
        write_policy(policy)
        lines = [*lines, "[oslo_policy]", "enforce_scope = false"]  # as in 8.0.0
        self.berth = servers.Berthd(program, self.directory, name="berth.db", strategy="keystone", options=lines)
        self.python = servers.PythonService(
            self.directory, name="python.db", sync=False, strategy="keystone", environment={"LOG": "1"},
            options=[*lines, f"policy_file = {policy}", "[DEFAULT]", "use_stderr = true"])

    def __enter__(self):
        self.berth.start()
        self.berth.stop()
        shutil.copy(self.berth.database, self.python.database)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda server: server.start(), (self.berth, self.python)))
        return self

    def __exit__(self, *exception):
        self.berth.end()
        self.python.kill()

    def differ(self, method, path, body, headers):
        """(berth's status, the difference, or None)."""
        mine, other = (ask(server, method, path, body, headers).parts() for server in (self.berth, self.python))
        wrong = {name: (mine[name], other[name]) for name in mine if mine[name] != other[name]}
        return mine["status"], "; ".join(f"{name}: {str(mine)[:300]} instead of {str(other)[:300]}"
                                         for name, (mine, other) in wrong.items()) or None


def write_policy(path):
    import placement.policies
    with open(path, "w") as file:
        for rule in placement.policies.list_rules():
            if rule.name.startswith("placement:"):
                file.write(f"{json.dumps(rule.name)}: {json.dumps(OTHER_RULES.get(rule.name, ADMIN_OR_SERVICE))}\n")


class Tests:
    def __init__(self, program, directory, show):
        self.program, self.directory, self.show = program, directory, show
        self.score = servers.Score()
        self.number = 0

    def case(self, name, problem):
        if problem is not None or self.show:
            self.score.case(name, problem)
        else:
            self.score.passed += 1

    def make_tokens(self):
        """{name: headers}"""
        cloud, keystone = self.cloud, self.keystone
        tokens = {
            "admin": cloud.token("boss"), "member": cloud.token("member"), "reader": cloud.token("reader"),
            "service": cloud.token("nova", "service"),
            "unscoped": keystone.log_in_user("nobody"),
            "system admin": keystone.log_in_user("boss", {"system": {"all": True}}),
            "system reader": keystone.log_in_user("reader", {"system": {"all": True}}),
            "domain admin": keystone.log_in_user("boss", {"domain": {"id": "default"}}),
            "trust": cloud.make_trust_token("boss", "trusted"),
            "none": "", "nonsense": "gAAAAABnonsense", "short": "x", "uuid": "0123456789abcdef0123456789abcdef",
        }
        tokens["cut"] = tokens["admin"][:-5]
        tokens["blank inside"] = tokens["admin"][:20] + " " + tokens["admin"][20:]
        for name, rules in CREDENTIALS.items():
            tokens[name] = keystone.log_in_credential(cloud.make_credential("boss", name, rules))
        tokens["expired"], expired_service = clouds.expired_tokens(keystone, [("boss", "work"), ("nova", "service")])
        tokens["revoked"] = cloud.token("member")
        cloud.revoke(tokens["revoked"])
        tokens["of a disabled user"] = cloud.token("leaver")
        cloud.must(200, "PATCH", f"/v3/users/{cloud.users['leaver']}", {"user": {"enabled": False}})
        headers = {name: {"x-auth-token": token} for name, token in tokens.items()}
        for name, user, service in (
                ("admin, service", "admin", tokens["service"]), ("admin, bad service", "admin", "nonsense"),
                ("admin, member as service", "admin", tokens["member"]),
                ("admin, expired service", "admin", expired_service), ("expired, service", "expired", tokens["service"]),
                ("expired, member as service", "expired", tokens["member"]),
                ("expired, expired service", "expired", expired_service),
                ("revoked, service", "revoked", tokens["service"]),
                ("app-none, service", "app-none", tokens["service"]), ("bad, service", "nonsense", tokens["service"])):
            headers[name] = {"x-auth-token": tokens[user], "x-service-token": service}
        headers["only a service"] = {"x-service-token": tokens["service"]}
        headers["no header"] = {}
        headers["storage token"] = {"x-storage-token": tokens["admin"]}
        spoofed = {"x-user-id": "root", "x-roles": "admin", "x-project-id": "p", "x-identity-status": "Confirmed",
                   "openstack-system-scope": "all", "x-is-admin-project": "True", "x-service-roles": "service"}
        headers["spoofed, no token"] = spoofed
        headers["spoofed, member"] = {"x-auth-token": tokens["member"], **spoofed}
        headers["html"] = {"x-auth-token": "nonsense", "accept": "text/html"}
        return headers

    def play(self, pair, label, tokens, paths=None):
        """For a refused token a few requests suffice: each queries Keystone again."""
        for name, headers in tokens.items():
            self.number += 1
            refused = 0
            for method, path, body in requests_of(self.number, self.cloud.projects["work"]):
                if refused == 2 or (paths is not None and path.split("?")[0] not in paths):
                    continue
                status, problem = pair.differ(method, path, body, headers)
                refused = refused + 1 if status in (401, 503) and not name.startswith("app-") else 0
                self.case(f"{label}: {name}: {method} {path}", problem)

    def pair(self, **settings):
        return Pair(self.program, self.directory, clouds.own_login(self.keystone, **settings))

    def test_tokens(self):
        """Every token, every request; then the lines of both logs."""
        with self.pair(service_type="placement") as pair:
            self.play(pair, "tokens", self.tokens)
            self.compare_logs(pair)
            token = self.tokens["app-put"]["x-auth-token"]  # may not GET
            twice = {"x-auth-token": token, "x-service-token": token}
            statuses = [ask(server, "GET", "/traits", None, twice).status for server in (pair.berth, pair.python)]
            # the one documented difference of these tokens: see docs/differences.md
            self.case("tokens: access rules, one token twice", None if statuses == [401, 200] else str(statuses))

    def compare_logs(self, pair):
        """Compares the brackets of the request lines, for requests with an identity, and their texts."""
        def lines(server):
            found = re.findall(r"INFO placement.requestlog \[(\S+) req-[0-9a-f-]{36} ([^\]]*)\] (.* status: (\d+) .*)$",
                               re.sub(r"\x1b\[\d+m", "", server.log()), re.M)
            # requests without an identity show the client's unverified claims there (docs/differences.md) sorted: the
            # Python service logs after its answer, so the next request's line may come first
            return sorted((who[:2], re.sub(r" len: \d+", "", text)) for *who, text, status in found
                          if status != "401" and '"GET /"' not in text)

        deadline = time.monotonic() + 10  # berth writes them a moment later
        while time.monotonic() < deadline and len(lines(pair.berth)) < len(lines(pair.python)):
            time.sleep(0.1)
        mine, other = lines(pair.berth), lines(pair.python)
        self.case("log: as many lines", None if len(mine) == len(other) > 100 else f"{len(mine)} and {len(other)}")
        for number, (one, two) in enumerate(zip(mine, other)):
            self.case(f"log: line {number}", None if one == two else f"{one} instead of {two}")
        scopes = {tuple(len(word) > 1 for word in who[1].split()) for who, _ in mine}
        self.case("log: scopes", None if len(scopes) >= 4 else f"only {scopes}")

    def test_settings(self):
        """Other settings, fewer requests."""
        some = {"/", "/traits", "/resource_classes", "/nowhere"}
        credential = self.cloud.make_own_credential("placement")
        for label, settings in {
            "delayed": {"delay_auth_decision": "true", "service_token_roles_required": "true"},
            "below a path, no service_type": {"auth_url": self.keystone.url + "/identity/",
                                              "www_authenticate_uri": None, "service_token_roles": "member,admin"},
            "application credential": {
                "auth_type": "v3applicationcredential", "auth_url": self.keystone.url + "/identity",
                "username": None, "password": None, "user_domain_name": None, "project_name": None,
                "project_domain_name": None, "application_credential_id": credential["id"],
                "application_credential_secret": credential["secret"], "service_type": "compute"},
            "v3password, ids": {
                "auth_type": "v3password", "auth_url": self.keystone.url + "/v3/", "username": None,
                "user_id": self.cloud.users["placement"], "user_domain_name": None, "project_name": None,
                "project_id": self.cloud.projects["service"], "project_domain_name": None,
                "region_name": "RegionOne", "interface": "admin", "include_service_catalog": "false"},
            "v3token": {
                "auth_type": "v3token", "auth_url": self.keystone.url + "/v3", "username": None, "password": None,
                "user_domain_name": None, "token": self.cloud.token("placement", "service")},
            "default domain, system scope": {
                "user_domain_name": None, "default_domain_id": "default", "project_name": None,
                "project_domain_name": None, "system_scope": "all", "username": "boss"},
            "no such region": {"region_name": "RegionTwo"},
            "wrong password": {"password": "wrong"},
        }.items():
            with self.pair(**settings) as pair:
                if label == "no such region":  # the Python service answers 500
                    answer = ask(pair.berth, "GET", "/traits", None, self.tokens["admin"])
                    self.case(label, None if answer.status == 503 else str(answer.parts()))
                    continue
                tokens = self.tokens
                if settings.get("include_service_catalog"):  # the Python service: 500 for access rules
                    tokens = {name: headers for name, headers in tokens.items() if not name.startswith("app-")}
                if label == "wrong password":  # berth does not query these
                    tokens = {name: headers for name, headers in tokens.items()
                              if name not in ("blank inside", "only a service")}
                self.play(pair, label, tokens, some)

    def test_revocation(self):
        """A revoked token is refused after token_cache_time at the latest; until then it may be accepted."""
        with self.pair(token_cache_time="3") as pair:
            token = self.cloud.token("boss")
            headers = {"x-auth-token": token}
            for server in (pair.berth, pair.python):
                ask(server, "GET", "/resource_classes", None, headers)
            self.cloud.revoke(token)
            began = time.monotonic()
            for server in (pair.berth, pair.python):
                answer = ask(server, "GET", "/resource_classes", None, headers)
                soon = time.monotonic() - began < 2
                self.case(f"cached: {server.id}", None if answer.status == 200 or not soon else str(answer.parts()))
            time.sleep(max(0.0, began + 4 - time.monotonic()))
            self.case("revoked", pair.differ("GET", "/resource_classes", None, headers)[1])
            answer = ask(pair.berth, "GET", "/resource_classes", None, headers)
            self.case("revoked: 401", None if answer.status == 401 else str(answer.parts()))

    def test_client(self):
        """openstack resource provider …, through Keystone and its catalog."""
        lines = clouds.own_login(self.keystone, service_type="placement")
        directory = tempfile.mkdtemp(dir=self.directory)
        with servers.Berthd(self.program, directory, port=self.placement_port, strategy="keystone",
                            options=lines) as berth:
            uuid = "11111111-2222-4333-8444-555555555555"
            status, out, err = self.openstack("boss", "create", "host1", "--uuid", uuid)
            self.case("client: create", self.verdict_of(status == 0 and json.loads(out)["uuid"] == uuid, out, err))
            status, out, err = self.openstack("boss", "list")
            self.case("client: list", self.verdict_of(status == 0 and [p["name"] for p in json.loads(out)] == ["host1"],
                                                 out, err))
            status, out, err = self.openstack("nova", "show", uuid, project="service")
            self.case("client: show", self.verdict_of(status == 0 and json.loads(out)["name"] == "host1", out, err))
            self.client_credential(berth, uuid)
            status, out, err = self.openstack("member", "list")
            self.case("client: a member", self.verdict_of(status != 0 and "HTTP 403" in err, out, err))
            self.case("client: end", self.verdict_of(berth.stop() == 0, berth.log()[-500:], ""))

    def client_credential(self, berth, uuid):
        """The example of docs/keystone.md: an admin's credential that can only read."""
        rules = os.path.join(self.directory, "rules.json")
        with open(rules, "w") as file:
            json.dump([{"service": "placement", "method": "GET", "path": path}
                       for path in ("/resource_providers", "/resource_providers/**", "/usages")], file)
        status, out, err = self.client("boss", "work", "application", "credential", "create", "monitoring", "--role",
                                       "admin", "--secret", "s3cret", "--access-rules", rules)
        self.case("client: a credential", self.verdict_of(status == 0, out, err))
        more = {"OS_AUTH_TYPE": "v3applicationcredential", "OS_AUTH_URL": self.keystone.url + "/v3",
                "OS_APPLICATION_CREDENTIAL_ID": json.loads(out)["id"], "OS_APPLICATION_CREDENTIAL_SECRET": "s3cret"}
        for arguments, good in ((("list",), True), (("show", uuid), True), (("create", "host9"), False)):
            status, out, err = self.client(None, None, "resource", "provider", *arguments, **more)
            self.case(f"client: with a credential: {arguments[0]}", self.verdict_of((status == 0) == good, out, err))
        refused = '"POST /resource_providers" status: 401' in berth.log()  # the client's output does not show it
        self.case("client: with a credential: log", None if refused else berth.log()[-800:])

    def test_metal(self):
        """The bare metal API: see metal.py."""
        metal.MetalTests(self).run()

    def test_valet(self):
        """The Valet API: see valet.py."""
        valet.ValetTests(self).run()

    @staticmethod
    def verdict_of(good, out, err):
        return None if good else f"{out} {err}"

    def openstack(self, user, *arguments, project="work"):
        return self.client(user, project, "resource", "provider", *arguments)

    def client(self, user, project, *arguments, **more):
        """(status, out, err) of the openstack client; user None: as given in `more`."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        if user is not None:
            environment.update(OS_AUTH_URL=self.keystone.url, OS_USERNAME=user, OS_PASSWORD="secret",
                               OS_PROJECT_NAME=project, OS_USER_DOMAIN_ID="default", OS_PROJECT_DOMAIN_ID="default")
        environment.update(OS_PLACEMENT_API_VERSION="1.39", OS_IDENTITY_API_VERSION="3", **more)
        done = subprocess.run(["openstack", *arguments, "-f", "json"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300, env=environment)
        return done.returncode, done.stdout, done.stderr

    def run(self, wanted):
        self.placement_port = servers.free_port()
        self.metal_port = servers.free_port()
        with clouds.Keystone(self.directory) as self.keystone:
            self.cloud = clouds.Cloud(self.keystone)
            self.cloud.make_service("placement", f"http://127.0.0.1:{self.placement_port}")
            self.cloud.make_service("baremetal", f"http://127.0.0.1:{self.metal_port}")
            self.cloud.make_service("valet", "http://127.0.0.1:8090")
            self.tokens = self.make_tokens()
            for part in ("tokens", "settings", "revocation", "client", "metal", "valet"):
                if not wanted or part in wanted:
                    getattr(self, "test_" + part)()
        return self.score.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", required=True)
    parser.add_argument("--show", action="store_true", help="print the cases that passed, too")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="berth-keystone-", dir="/var/tmp") as directory:
        return Tests(options.berthd, directory, options.show).run(options.parts)


if __name__ == "__main__":
    sys.exit(main())
