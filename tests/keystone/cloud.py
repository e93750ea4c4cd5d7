"""A real Keystone with the users, projects, roles and tokens that the tests need."""

import http.client
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]

import servers  # noqa: E402

CONFIGURATION = """[DEFAULT]
log_file = {directory}/keystone.log
[database]
connection = sqlite:///{directory}/keystone.db
sqlite_synchronous = false
[identity]
password_hash_rounds = 4
[token]
expiration = {expiration}
caching = false
[revoke]
caching = false
[fernet_tokens]
key_repository = {directory}/fernet
[fernet_receipts]
key_repository = {directory}/fernet-receipts
[credential]
key_repository = {directory}/credential
[cache]
enabled = true
backend = dogpile.cache.memory
"""
# Without a cache each query takes Keystone a second. Tokens are not cached, so that changes of them take effect at
# once.


class Keystone(servers.Server):
    """The server; another one with another lifetime of tokens may be started on the same directory."""

    ready = "keystone: ready"

    def __init__(self, directory, expiration=3600, name="keystone"):
        self.directory, self.environment, self.limits, self.process = directory, {}, None, None
        self.port = servers.free_port()
        self.id = name
        self.config_directory = os.path.join(directory, name + ".d")
        os.makedirs(self.config_directory, exist_ok=True)
        self.config_file = os.path.join(self.config_directory, "keystone.conf")
        with open(self.config_file, "w") as file:
            file.write(CONFIGURATION.format(directory=directory, expiration=expiration))

    def command(self):
        return ["/usr/bin/python3", "-B", os.path.join(HERE, "keystone_server.py"), self.config_file, str(self.port)]

    def start(self, seconds=300):
        return super().start(seconds)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, token=None, headers=None):
        """(status, body, headers)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            sent = {"content-type": "application/json", **(headers or {})}
            if token:
                sent["x-auth-token"] = token
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None, answer.headers
        finally:
            connection.close()

    def log_in(self, identity, scope=None):
        """A token: {"methods": …}, and the scope or none."""
        auth = {"identity": identity}
        if scope is not None:
            auth["scope"] = scope
        status, body, headers = self.ask("POST", "/v3/auth/tokens", {"auth": auth})
        if status != 201:
            raise RuntimeError(f"login: {status} {body}")
        return headers["x-subject-token"]

    def log_in_user(self, name, scope=None):
        """With the password of all users here; domain Default."""
        return self.log_in({"methods": ["password"], "password": {"user": {
            "name": name, "password": "admin" if name == "admin" else "secret", "domain": {"id": "default"}}}}, scope)

    def log_in_credential(self, credential):
        return self.log_in({"methods": ["application_credential"], "application_credential": {
            "id": credential["id"], "secret": credential["secret"]}})


def on_project(name):
    return {"project": {"name": name, "domain": {"id": "default"}}}


class Cloud:
    """The objects that an administrator creates in a new Keystone: projects `service` and `work`, a user for each
    role, and the service's own."""

    def __init__(self, keystone):
        self.keystone = keystone
        self.admin = keystone.log_in_user("admin", on_project("admin"))
        roles = self.must(200, "GET", "/v3/roles")["roles"]
        self.roles = {role["name"]: role["id"] for role in roles}
        if "service" not in self.roles:
            self.roles["service"] = self.must(201, "POST", "/v3/roles", {"role": {"name": "service"}})["role"]["id"]
        self.projects, self.users = {}, {}
        for name in ("service", "work", "other"):
            self.projects[name] = self.must(201, "POST", "/v3/projects", {
                "project": {"name": name, "domain_id": "default"}})["project"]["id"]
        for user, project, role in (("placement", "service", "admin"), ("nova", "service", "service"),
                                    ("boss", "work", "admin"), ("member", "work", "member"),
                                    ("reader", "work", "reader"), ("nobody", None, None),
                                    ("leaver", "work", "admin"), ("trusted", None, None)):
            self.make_user(user)
            if role:
                self.grant(f"projects/{self.projects[project]}", user, role)
        self.grant("projects/" + self.projects["service"], "placement", "service")
        for target in ("system", "domains/default"):
            self.grant(target, "boss", "admin")
            self.grant(target, "reader", "reader")

    def must(self, wanted, method, path, body=None, token=None):
        status, answer, _ = self.keystone.ask(method, path, body, token or self.admin)
        if status != wanted:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def make_user(self, name):
        self.users[name] = self.must(201, "POST", "/v3/users", {"user": {
            "name": name, "domain_id": "default", "password": "secret"}})["user"]["id"]

    def grant(self, target, user, role):
        self.must(204, "PUT", f"/v3/{target}/users/{self.users[user]}/roles/{self.roles[role]}")

    def token(self, user, project="work"):
        return self.keystone.log_in_user(user, on_project(project))

    def make_service(self, kind, url):
        """An entry of the catalog."""
        service = self.must(201, "POST", "/v3/services", {"service": {"type": kind, "name": kind}})["service"]["id"]
        for interface in ("public", "internal", "admin"):
            self.must(201, "POST", "/v3/endpoints", {"endpoint": {
                "service_id": service, "interface": interface, "region_id": "RegionOne", "url": url}})

    def make_credential(self, user, name, rules=None):
        """An application credential of a user on the user's project; rules: [(method, path)] of placement, or
        [(service, method, path)], or None."""
        wanted = {"name": name, "roles": [{"name": "admin"}]}
        if rules is not None:
            full = [rule if len(rule) == 3 else ("placement", *rule) for rule in rules]
            wanted["access_rules"] = [{"service": service, "method": method, "path": path} for service, method, path in full]
        return self.must(201, "POST", f"/v3/users/{self.users[user]}/application_credentials",
                         {"application_credential": wanted}, self.token(user))["application_credential"]

    def make_own_credential(self, user):
        """The same for a user on the project service, as services have it."""
        return self.must(201, "POST", f"/v3/users/{self.users[user]}/application_credentials",
                         {"application_credential": {"name": "own"}},
                         self.token(user, "service"))["application_credential"]

    def make_trust_token(self, trustor, trustee):
        """The trustee's token for the trustor's permissions on `work`."""
        trust = self.must(201, "POST", "/v3/OS-TRUST/trusts", {"trust": {
            "trustor_user_id": self.users[trustor], "trustee_user_id": self.users[trustee], "impersonation": False,
            "project_id": self.projects["work"], "roles": [{"name": "admin"}]}}, self.token(trustor))["trust"]
        return self.keystone.log_in_user(trustee, {"OS-TRUST:trust": {"id": trust["id"]}})

    def revoke(self, token):
        status, body, _ = self.keystone.ask("DELETE", "/v3/auth/tokens", token=self.admin,
                                            headers={"x-subject-token": token})
        if status != 204:
            raise RuntimeError(f"revocation: {status} {body}")


def expired_tokens(keystone, users):
    """Tokens of users on projects, [(user, project)], that were valid for two seconds: from a second Keystone with
    the same keys and database."""
    with Keystone(keystone.directory, expiration=2, name="short") as short:
        tokens = [short.log_in_user(user, on_project(project)) for user, project in users]
    time.sleep(2.5)
    return tokens


def own_login(keystone, **more):
    """Lines of [keystone_authtoken]; more: additional or changed options, None removes one."""
    options = {"www_authenticate_uri": "http://public.example:5000", "auth_url": keystone.url, "auth_type": "password",
               "username": "placement", "password": "secret", "user_domain_name": "Default",
               "project_name": "service", "project_domain_name": "Default", **more}
    return ["[keystone_authtoken]", *(f"{name} = {value}" for name, value in options.items() if value is not None)]
