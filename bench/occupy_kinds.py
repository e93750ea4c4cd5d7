"""Expensive requests, and the largest writes that are accepted (bench/occupy.py measures both).

A kind is a name, the API (None: Placement), and a function that takes the ports of the APIs, creates what the request
needs, and returns the request."""

import json
import random
import socket

import clouds
import lanes
import questions
import valet

PROJECT = {"project_id": questions.PROJECT, "user_id": questions.USER}
VALET, METAL = "valet", "baremetal"
OF_VALET = "a plan of 1 000 servers", "it goes", "10 000 members"
BODY_BYTES, PLAN_BYTES = 8 << 20, (1 << 20) - 100


def raw(method, target, body=b"", headers="", version="1.39"):
    length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    return (f"{method} {target} HTTP/1.1\r\nHost: a\r\nX-Auth-Token: admin\r\nOpenStack-API-Version: placement {version}\r\n"
            f"X-OpenStack-Ironic-API-Version: 1.82\r\n{headers}{length}\r\n").encode() + body


def ask(port, request):
    """Returns the status once the whole answer has arrived."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as sock:
        head, _, body = request.partition(b"\r\n\r\n")
        answer = b""
        try:
            sock.sendall(head + b"\r\nConnection: close\r\n\r\n" + body)
        except OSError:
            pass  # it was answered before
        try:
            while piece := sock.recv(1 << 20):
                answer = answer or piece
        except OSError:
            pass
    return answer[9:12].decode() or "---"


def until(size, make):
    """A list of that many bytes as JSON."""
    return [make(i) for i in range(size // (len(json.dumps(make(0))) + 2))]


def text(value):
    return json.dumps(value).encode()


ALLOWED = 3000 - 20  # rows, without those of the provider and of names
NEW_ROWS, OTHER_ROWS, OLD_ROWS = 15, 7, 4  # that a consumer counts for, in addition to its allocations
ONE, THREE = {"DISK_GB": 1}, {"CUSTOM_DEVICE": 1, "VCPU": 1, "DISK_GB": 1}


def kind(request, *before, api=None):
    def prepare(ports):
        for earlier in before:
            ask(ports[api], earlier)
        return request
    return api, prepare


def allocations(name, numbers, resources, generation=None, owner=PROJECT):
    """The new allocations of those consumers on the pool."""
    claim = {"allocations": {lanes.POOL: {"resources": resources}} if resources else {}, **owner,
             "consumer_generation": generation, "consumer_type": "INSTANCE"}
    return {clouds.uuid(name, i): claim for i in numbers}


def claims(*which):
    return raw("POST", "/allocations", text(allocations(*which)))


def at_the_limit(run):
    """The largest writes that are accepted with the default options."""
    def more(resources):
        return {name: amount + 1 for name, amount in resources.items()}

    def new(resources):
        return kind(claims(f"{len(resources)}-{run}", range(ALLOWED // (NEW_ROWS + len(resources))), resources))

    def those(rows, resources, then, owner=PROJECT):
        """Creates consumers, and returns their new allocations."""
        name, numbers = f"{rows}-{len(resources)}-{len(then)}-{run}", range(ALLOWED // rows)
        before = [claims(name, numbers[i:i + 100], resources) for i in range(0, len(numbers), 100)]
        return kind(claims(name, numbers, then, 1, owner), *before)

    def place(*aggregates):
        return kind(raw("PUT", f"/resource_providers/{lanes.HOST}/aggregates", text(aggregates), "", "1.1"))

    yield "new consumers", new(ONE)
    yield "new consumers, three classes", new(THREE)
    yield "a consumer of many hosts", kind(raw("POST", "/allocations", text({clouds.uuid(f"wide{run}", 0): {
        "allocations": {clouds.provider_uuid(lanes.CLOUD, i + 2): {"resources": {"VCPU": 1}} for i in range(ALLOWED // 2)},
        **PROJECT, "consumer_generation": None, "consumer_type": "INSTANCE"}})))
    yield "their amounts", those(OLD_ROWS + 2, ONE, more(ONE))
    yield "their amounts, three classes", those(OLD_ROWS + 6, THREE, more(THREE))
    yield "their owners", those(OTHER_ROWS + 2, ONE, ONE, {**PROJECT, "project_id": questions.USER})
    yield "consumers that go", those(OTHER_ROWS + 1, ONE, {})
    yield "they go, three classes", those(OTHER_ROWS + 3, THREE, {})
    yield "new aggregates", place(*(clouds.uuid(f"aggregate{run}", i) for i in range(ALLOWED // 2)))
    yield "no aggregates", place()


def of_valet(run):
    """The largest that the Valet API's own limits accept."""
    servers = {f"s{i}": valet.server_of(f"s{run}-{i}", random.Random(i)) for i in range(1000)}
    plan = {"plan_name": f"plan {run}", "stack_id": clouds.uuid("stack", run), "resources": servers}

    members = [clouds.uuid("member", i) for i in range(10000)]

    def client(ports):
        return valet.planner(ports[VALET])

    def group(ports):
        return client(ports).must(201, "POST", "/v1/groups", {"name": f"g{run}", "type": "exclusivity"})["id"]

    def plan_id(ports):
        return client(ports).must(200, "GET", "/v1/plans")["plans"][-1]["id"]

    yield OF_VALET[0], (VALET, lambda ports: raw("POST", "/v1/plans", text(plan)))
    yield OF_VALET[1], (VALET, lambda ports: raw("DELETE", f"/v1/plans/{plan_id(ports)}"))
    yield OF_VALET[2], (VALET, lambda ports: raw("PUT", f"/v1/groups/{group(ports)}/members", text({"members": members})))


def always(run):
    """Requests that are expensive at any limit."""
    lines = "\r\n".join(f"X-{i}: {i}" for i in range(1000)) + "\r\n"
    aggregates = ",".join(clouds.uuid("aggregate", i) for i in range(1600))
    traits = ",".join(f"CUSTOM_{i}" for i in range(5000))[:60000]
    place = lambda *request: kind(raw(*request))
    yield "a small GET", place("GET", f"/resource_providers/{lanes.HOST}")
    yield "60 KiB of path", place("GET", "/" + "a" * 60000)
    yield "60 KiB of path in segments", place("GET", "/a" * 30000)
    yield "60 KiB of escapes", place("GET", "/resource_providers?name=" + "%41" * 20000)
    yield "30 KiB of member_of", place("GET", f"/resource_providers?member_of=in:{aggregates[:37 * 800 - 1]}")
    yield "60 KiB of member_of", place("GET", f"/resource_providers?member_of=in:{aggregates}")
    yield "60 KiB of required", place("GET", f"/allocation_candidates?resources=VCPU:1&required=in:{traits}")
    yield "60 KiB of arguments", place("GET", "/resource_providers?" + "&".join(["a=1"] * 15000))
    yield "60 KiB of groups", place("GET", "/allocation_candidates?group_policy=none&" + "&".join(
        f"resources{i}=VCPU:1" for i in range(3000))[:60000])
    yield "a header of 60 KiB", place("GET", "/resource_providers", b"", f"X-A: {'a' * 60000}\r\n")
    yield "60 KiB of cookies", place("GET", "/resource_providers", b"", f"Cookie: {'; '.join(['a=b'] * 12000)}\r\n")
    yield "a token of 60 KiB", place("GET", "/resource_providers", b"", f"X-Service-Token: {'a' * 60000}\r\n")
    yield "1 000 headers", place("GET", "/resource_providers", b"", lines)
    yield "a list of 40 000 hosts", place("GET", "/resource_providers")
    yield "1 000 candidates", place("GET", "/allocation_candidates?resources=VCPU:1&limit=1000")
    yield "candidates of 40 000 hosts", place("GET", "/allocation_candidates?resources=VCPU:1")
    yield "candidates, three classes", place("GET", "/allocation_candidates?" + questions.THREE)
    yield "an endless search", place("GET", lanes.endless())
    yield "200 000 consumers", place("GET", f"/resource_providers/{lanes.POOL}/allocations")
    yield "their usages", place("GET", f"/resource_providers/{lanes.POOL}/usages")
    yield "usages of a project", place("GET", f"/usages?project_id={questions.PROJECT}")
    names = [f"CUSTOM_{i:060}" for i in range(BODY_BYTES // 66)]
    yield "8 MiB of traits", place("PUT", f"/resource_providers/{lanes.HOST}/traits", text(
        {"resource_provider_generation": 1, "traits": names}))
    yield "8 MiB of numbers", place("PUT", f"/resource_providers/{lanes.HOST}/traits", text(
        {"resource_provider_generation": 1, "traits": [1] * (BODY_BYTES // 3)}))
    yield "8 MiB of no JSON", place("PUT", f"/resource_providers/{lanes.HOST}/traits", b"[" * BODY_BYTES)
    yield "15 KiB of no JSON", place("PUT", f"/resource_providers/{lanes.HOST}/traits", b"[" * 15000)
    yield "15 KiB of traits", place("PUT", f"/resource_providers/{lanes.HOST}/traits", text(
        {"resource_provider_generation": 1, "traits": [f"CUSTOM_{i}" for i in range(1000)]}))
    yield "inventories of 8 MiB", place("PUT", f"/resource_providers/{lanes.HOST}/inventories", text(
        {"resource_provider_generation": 1, "inventories": {f"CUSTOM_{i:060}": {"total": 1} for i in range(90000)}}))
    yield "aggregates of 8 MiB", place("PUT", f"/resource_providers/{lanes.HOST}/aggregates", text(
        [clouds.uuid("many", i) for i in range(BODY_BYTES // 40)]), "", "1.1")
    broad = clouds.uuid("broad", run)
    many = [clouds.uuid("broadly", i) for i in range(20000)]
    yield "a tree of 20 000 memberships moves", kind(
        raw("PUT", f"/resource_providers/{broad}", text({"name": f"broad {run}", "parent_provider_uuid": lanes.HOST})),
        raw("POST", "/resource_providers", text({"name": f"broad {run}", "uuid": broad})),
        *(raw("PUT", f"/resource_providers/{broad}/aggregates", text(many[:count]), "", "1.1")
          for count in range(1000, len(many) + 1, 1000)))
    yield "claims of 1 000 consumers", kind(claims(f"few{run}", range(1000), ONE))
    yield "claims of 20 000 consumers", kind(claims(f"many{run}", range(20000), ONE))
    yield "and without them", kind(claims(f"many{run}", range(20000), {}))
    yield "a reshape of 8 MiB", place("POST", "/reshaper", text({"inventories": {
        clouds.uuid("reshape", i): {"resource_provider_generation": 0, "inventories": {}} for i in range(80000)},
        "allocations": {}}))
    yield "a node of 1 MiB", kind(raw("POST", "/v1/nodes", text({"driver": "fake-hardware", "extra": {"a": "x" * 900000}})), api=METAL)
    node = clouds.uuid("thick", run)
    parts = [raw("PATCH", f"/v1/nodes/{node}", text([{"op": "add", "path": f"/{name}/a", "value": "x" * 980000}]))
             for name in ("extra", "properties", "driver_info")]
    yield "a node of 3 MiB", kind(parts.pop(), raw("POST", "/v1/nodes", text({"driver": "fake-hardware", "uuid": node})),
                                  *parts, api=METAL)
    yield "a node of many values", kind(raw("POST", "/v1/nodes", text({"driver": "fake-hardware", "extra": {
        f"k{i}": i for i in range(60000)}})), api=METAL)
    yield "a plan of 1 MiB", kind(raw("POST", "/v1/plans", text({"stack": until(PLAN_BYTES, lambda i: {"name": f"s{i}"})})), api=VALET)


def kinds(run):
    """(name, (api, function)) of that run."""
    yield from always(run)
    yield from at_the_limit(run)
    yield from of_valet(run)
