"""One client of a Bare Metal API, berth's or the real service's: sends requests, and waits for actions in the
background."""

import http.client
import json
import time
import urllib.parse

NEWEST = "1.82"
VERSION_HEADER = "x-openstack-ironic-api-version"
REST_SECONDS = 30


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self):
        return json.loads(self.text) if self.text else None

    @property
    def fault(self):
        return fault_of(self.text)

    def __repr__(self):
        return f"{self.status} {self.text[:2000]}"


def fault_of(text):
    """The text of an error in either of the two forms; None if there is no error."""
    try:
        message = json.loads(text)["error_message"]
        inner = json.loads(message)
        return inner["faultstring"] if "faultstring" in inner else inner["description"]
    except (ValueError, KeyError, TypeError):
        return None


class MetalClient:
    """`prefix` precedes every path, `headers` are sent with every request. Not thread-safe."""

    def __init__(self, port, version=NEWEST, prefix="", timeout=60, headers=None):
        self.port, self.version, self.prefix, self.timeout, self.headers = port, version, prefix, timeout, headers or {}
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, method, path, body=None, version=True, headers=None, raw=None):
        """`body` is sent as JSON, `raw` as it is; version None sends no header, True the API's own."""
        sent = {**self.headers, **(headers or {})}
        if version is not None:
            sent[VERSION_HEADER] = self.version if version is True else version
        data = raw
        if body is not None:
            data = json.dumps(body)
        if data is not None:
            sent.setdefault("content-type", "application/json")
            data = data.encode() if isinstance(data, str) else data
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        path = "".join(letter if letter.isascii() else urllib.parse.quote(letter) for letter in path)
        try:
            self.connection.request(method, self.prefix + path, data, sent)
            answer = self.connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if answer.will_close:
            self.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)

    def must(self, wanted, method, path, body=None, **more):
        answer = self.ask(method, path, body, **more)
        if answer.status != wanted:
            raise AssertionError(f"{method} {path}: {answer}, not {wanted}")
        return answer.json if answer.text else None

    def until(self, path, is_reached, seconds=REST_SECONDS):
        """Repeats GET until is_reached; returns the body."""
        end = time.monotonic() + seconds
        while True:
            body = self.must(200, "GET", path)
            if is_reached(body):
                return body
            if time.monotonic() > end:
                raise AssertionError(f"GET {path} stays at {json.dumps(body)[:1000]}")
            time.sleep(0.01)

    def at_rest(self, seconds=REST_SECONDS):
        """The answers to the lists of all nodes in detail and all allocations, once no action is in progress."""
        end = time.monotonic() + seconds
        while True:
            allocations = self.ask("GET", "/v1/allocations")  # read first, so that the nodes show what these have taken
            nodes = self.ask("GET", "/v1/nodes/detail")
            if nodes.status != 200 or allocations.status != 200:
                raise AssertionError(f"no state: {nodes}, {allocations}")
            if (all(is_steady(node) for node in nodes.json["nodes"])
                    and all(one["state"] != "allocating" for one in allocations.json["allocations"])):
                return nodes, allocations
            if time.monotonic() > end:
                raise AssertionError(f"no rest: {nodes}, {allocations}")
            time.sleep(0.01)

    # What every test needs.

    def provision(self, ident, verb, state, **more):
        self.must(202, "PUT", f"/v1/nodes/{ident}/states/provision", {"target": verb, **more})
        return self.until(f"/v1/nodes/{ident}", lambda node: node["provision_state"] == state and is_steady(node))

    def power(self, ident, target="power on", state="power on"):
        self.must(202, "PUT", f"/v1/nodes/{ident}/states/power", {"target": target})
        return self.until(f"/v1/nodes/{ident}", lambda node: node["power_state"] == state and is_steady(node))

    def make_node(self, state="available", power="power on", traits=(), maintenance=False, **fields):
        """A node brought to `state`: enroll, manageable, available or active."""
        node = self.must(201, "POST", "/v1/nodes", {"driver": "fake-hardware", **fields})
        ident = node["uuid"]
        if traits:
            self.must(204, "PUT", f"/v1/nodes/{ident}/traits", {"traits": list(traits)})
        if power:
            self.power(ident, power, power)
        steps = {"enroll": 0, "manageable": 1, "available": 2, "active": 3}[state]
        for verb, reached in (("manage", "manageable"), ("provide", "available"), ("active", "active"))[:steps]:
            self.provision(ident, verb, reached)
        if maintenance:
            self.must(202, "PUT", f"/v1/nodes/{ident}/maintenance")
        return self.must(200, "GET", f"/v1/nodes/{ident}")


# States that have a target although no action is in progress.
RESTING = ("deploy failed", "clean failed", "inspect failed", "adopt failed", "rescue failed", "unrescue failed", "error")


def is_steady(node):
    return (node["reservation"] is None and node["target_power_state"] is None
            and (node["target_provision_state"] is None or node["provision_state"] in RESTING))
