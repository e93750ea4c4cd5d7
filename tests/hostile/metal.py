"""Bad clients of the Bare Metal API: bodies, patches, arguments, names, and requests that could delay others. Each
gets an error in the API's form, and changes nothing."""

import json
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "baremetal"))

import berth_baremetal  # noqa: E402
import bodies  # noqa: E402
import metal_client  # noqa: E402

NODE = "/v1/nodes/aaaaaaaa-0000-4000-8000-00000000000a"
ALLOCATION = "/v1/allocations/cccccccc-0000-4000-8000-00000000000c"
EXTRA = {"list": [1, 2, 3], "object": {"a": {"b": None}}, "text": "xyz", "": 0}
# For the patch of a large object; the writer once needed 200 in a plain build, and many times that with sanitizers.
WRITER_MOST_MS = {"asan": 150, "tsan": 300, "": 60}
WAIT_MOST_S = 5  # of a small write beside a large one, also with sanitizers

ROUTES = [("POST", "/v1/allocations"), ("POST", "/v1/nodes"), ("PATCH", ALLOCATION), ("PATCH", NODE), ("PUT", NODE + "/states/provision"),
         ("PUT", NODE + "/states/power"), ("PUT", NODE + "/traits"), ("PUT", NODE + "/traits/CUSTOM_Q"), ("PUT", NODE + "/maintenance")]
# No body and a patch without operations are valid; so is a body of blanks.
HARMLESS = {("PATCH", "list"), ("PUT", "empty"), ("PUT", "blanks")}

POINTERS = ["", "/", "//", "/extra/", "/extra//", "/extra/~0", "/extra/~1", "/extra/~", "/extra/list/3/x", "/extra/list/4", "/extra/list/-/x",
            "/extra/list/-1", "/extra/list/01", "/extra/list/99999999999999999999", "/extra/text/0", "/extra/text/-", "/extra/text/9/9",
            "/extra/object/a/b/c", "/extra/object/x/y", "/name/x", "/uuid", "/state", "/id", "/links/0", "extra", "#/extra", "/extra/a b",
            "/extra/\0", "/extra/a\n", "/extra" + "/x" * 40, "/" + "x" * 100000]
OPERATIONS = [{"op": "test", "path": "/name", "value": "n"}, {"op": "move", "from": "/extra/text", "path": "/extra/x"},
              {"op": "copy", "from": "/extra/text", "path": "/extra/x"}, {"op": "copy", "path": "/extra/x", "value": 1}, {"path": "/extra/x", "value": 1},
              {"op": "add", "value": 1}, {"op": "add", "path": "/extra/x"}, {"op": ["add"], "path": "/extra/x", "value": 1},
              {"op": "add", "path": ["extra"], "value": 1}, {"op": "add", "path": "/extra/x", "value": 1, "from": "/name"},
              {"op": "add", "path": "/extra", "value": "x"}, {"op": "add", "path": "/extra", "value": [1]},
              {"op": "add", "path": "/name", "value": "x" * 256}, {"op": "add", "path": "/name", "value": "a b"}, {}, None, [], "add", 1]
QUERIES = ["limit=0", "limit=-1", "limit=", "limit=x", "limit=1&limit=2", "marker=x", "marker=dddddddd-0000-4000-8000-00000000000d", "sort_key=x",
           "sort_key=extra", "sort_key=id'--", "sort_dir=up", "fields=x", "fields=id", "fields=uuid&fields=name", "x", "=", "x=1&y=2", "%00=1",
           "%FF=1", "marker=%FF", "limit=%00", "&".join(f"a{i}=1" for i in range(2000)), "fields=" + ",".join(f"x{i}" for i in range(4000))]
NAMES = ["a%20b", "%00", "%0A", "a%2Fb", "%FF", "%ED%A0%80", "%", "%zz", "x" * 256, "x" * 5000, "*", "a,b", "'%20OR%201"]
VERSIONS = ["1", "1.", ".1", "1.0", "1.83", "2.0", "1.x", "1.1.1", "-1.5", "1.-5", "1.99999999999999999999", "1." + "0" * 5000 + "1", "latest1",
            "1.60;q=1", "\xd9\xa1.\xd9\xa1", "x" * 9000]


def is_refusal(answer, statuses):
    return answer.status in statuses and answer.fault is not None


def ask(one, method, path, raw=None, **more):
    """The answer; None: the connection was closed while the body was being sent."""
    try:
        return one.ask(method, path, raw=raw, **more)
    except OSError:
        return None


def refused(report, one, name, method, path, raw=None, statuses=(400, 404, 413), **more):
    answer = ask(one, method, path, raw, **more)
    good = is_refusal(answer, statuses) if answer else len(raw) > bodies.MIB
    report(good, f"metal: {name}: {method} {path[:60]}", repr(answer)[:300])


def texts(report, one):
    for name, text in bodies.TEXTS:
        for method, path in ROUTES:
            if (method, name) in HARMLESS:
                continue
            refused(report, one, name, method, path, text, (400, 413))
    for depth in (26, 1000):
        for method, path in ROUTES:
            refused(report, one, f"{depth} deep", method, path, b'{"extra": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}", (400,))


def patches(report, one):
    for path in (ALLOCATION, NODE):
        for op in ("replace", "remove"):
            for pointer in POINTERS:
                operation = {"op": op, "path": pointer, **({"value": 1} if op == "replace" else {})}
                refused(report, one, f"{op} {pointer[:40]!r}", "PATCH", path, json.dumps([operation]), (400,))
        for operation in OPERATIONS:
            first = {"op": "add", "path": "/extra/half", "value": 1}
            refused(report, one, f"{str(operation)[:60]}", "PATCH", path, json.dumps([first, operation]), (400,))
        many = [{"op": "add", "path": "/extra/x", "value": 1}] * 1001
        refused(report, one, "1001 operations", "PATCH", path, json.dumps(many), (400,))


def arguments(report, one):
    for query in QUERIES:
        for path in ("/v1/allocations", "/v1/nodes", "/v1/nodes/detail"):
            refused(report, one, query[:40], "GET", f"{path}?{query}", statuses=(400, 404, 414, 431))
    for name in NAMES:
        for method, path in (("GET", "/v1/allocations/%s"), ("DELETE", "/v1/allocations/%s"), ("GET", "/v1/nodes/%s"), ("DELETE", "/v1/nodes/%s"),
                             ("GET", "/v1/nodes/%s/allocation"), ("DELETE", "/v1/nodes/%s/traits"), ("PUT", NODE + "/traits/%s"),
                             ("GET", "/v1/allocations?node=%s")):
            refused(report, one, f"name {name[:20]}", method, path % name)
    for version in VERSIONS:
        refused(report, one, f"version {version[:20]!r}", "GET", "/v1/allocations", statuses=(406,), version=version)


def growth(report, one):
    """An object does not grow beyond 1 MiB, however it is extended."""
    for path in (ALLOCATION, NODE):
        pieces = [one.ask("PATCH", path, [{"op": "add", "path": f"/extra/piece{i}", "value": "x" * 600000}]).status for i in range(3)]
        report(pieces == [200, 400, 400], f"metal: growth of {path[:16]}", pieces)
        one.must(200, "PATCH", path, [{"op": "remove", "path": "/extra/piece0"}])


def heavy(report, server, one):
    """Other clients do not wait for large requests that end in an error or not at all."""
    bulk = [("traits", {"traits": [f"CUSTOM_{i}" for i in range(50000)]}), ("a trait often", {"traits": ["CUSTOM_A"] * 70000 + ["CUSTOM_Z"]}),
            ("nodes", {"candidate_nodes": ["free"] * 100000, "traits": ["CUSTOM_Z"]}), ("unknown nodes", {"candidate_nodes": [f"n{i}" for i in range(70000)]}),
            ("members", {f"k{i}": 1 for i in range(60000)})]
    for name, body in bulk:
        waits = []
        other = metal_client.MetalClient(server.port)
        sender = threading.Thread(target=lambda: one.ask("POST", "/v1/allocations", {"resource_class": "big", "name": "bulk", **body}))
        sender.start()
        while sender.is_alive() or not waits or other.ask("GET", "/v1/allocations?state=allocating").json["allocations"]:
            begin = time.monotonic()
            other.must(204, "PUT", NODE + "/traits", {"traits": ["CUSTOM_A"]})
            waits.append(time.monotonic() - begin)
        sender.join()
        report(max(waits) < WAIT_MOST_S, f"metal: others beside an allocation of many {name}", f"{max(waits):.1f} s")
        found = other.ask("GET", "/v1/allocations/bulk?fields=state")
        report(found.status == 404 or found.json["state"] == "error", f"metal: an allocation of many {name}", repr(found)[:200])
        if found.status == 200:
            other.must(204, "DELETE", "/v1/allocations/bulk")


def writer_ms(server):
    """The processor time of the writer's thread so far."""
    folder = f"/proc/{server.process.pid}/task"
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/comm") as file:
            if file.read().strip() != "writer":
                continue
        with open(f"{folder}/{thread}/schedstat") as file:
            return int(file.read().split()[0]) / 1e6
    raise RuntimeError("there is no writer")


def patch_all(server, path, patches):
    """Each patch by a separate client, at the same time, until it is applied; returns the statuses."""
    statuses = []

    def send(operations):
        client = metal_client.MetalClient(server.port)
        while True:
            answer = client.ask("PATCH", path, operations)
            statuses.append(answer.status)
            if answer.status != 409 or "please retry" not in str(answer.fault):
                return

    senders = [threading.Thread(target=send, args=(operations,)) for operations in patches]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    return set(statuses)


def large_objects(report, berthd, server, one):
    """A small patch of a large object occupies the writer only for as long as storing it takes, and none is lost."""
    one.must(201, "POST", "/v1/nodes", {"driver": "fake-hardware", "name": "large"})
    one.must(201, "POST", "/v1/allocations", {"name": "large", "resource_class": "none"})
    large = {"list": [1] * 340000}
    for path, fields in (("/v1/nodes/large", ("extra", "properties", "driver_info", "instance_info")), ("/v1/allocations/large", ("extra",))):
        for field in fields:
            one.must(200, "PATCH", path, [{"op": "add", "path": "/" + field, "value": large}])
        for name, status, operations in (("an insertion", 200, [{"op": "add", "path": "/extra/list/0", "value": 1}] * 1000),
                                         ("what is not there", 400, [{"op": "remove", "path": "/extra/none"}]),
                                         ("the object's end", 200, [{"op": "add", "path": "/extra/list", "value": large["list"]}])):
            before = writer_ms(server)
            one.must(status, "PATCH", path, operations)
            took = writer_ms(server) - before
            most = next(ms for sanitizer, ms in WRITER_MOST_MS.items() if sanitizer in berthd)
            report(took < most, f"metal: the writer, for {name} in {path}", f"{took:.0f} ms")
        statuses = patch_all(server, path, [[{"op": "add", "path": f"/extra/k{i}", "value": i}] for i in range(6)])
        report(statuses <= {200, 409}, f"metal: patches of {path} at the same time", statuses)
        extra = one.must(200, "GET", path)["extra"]
        report(len(extra) == 7, f"metal: none of the patches of {path} is lost", list(extra))
        one.must(204, "DELETE", path)


def state(one):
    nodes, allocations = one.at_rest()
    rows = json.loads(nodes.text), json.loads(allocations.text)
    for row in rows[0]["nodes"] + rows[1]["allocations"]:
        del row["updated_at"]
    return rows


def run(report, berthd):
    try:
        attack(report, berthd)
    except Exception as error:  # an aborted part has failed; the other parts still run
        report(False, "metal: broke off", f"{type(error).__name__}: {error}")


def attack(report, berthd):
    with berth_baremetal.Berth(berthd) as server:
        one = metal_client.MetalClient(server.port)
        one.must(201, "POST", "/v1/nodes", {"driver": "fake-hardware", "uuid": NODE[-36:], "name": "node", "extra": EXTRA})
        one.must(204, "PUT", NODE + "/traits", {"traits": ["CUSTOM_A"]})
        one.make_node(name="free", resource_class="big", traits=["CUSTOM_A"])
        one.must(201, "POST", "/v1/allocations", {"uuid": ALLOCATION[-36:], "name": "allocation", "resource_class": "none", "extra": EXTRA})
        before = state(one)
        texts(report, one)
        patches(report, one)
        arguments(report, one)
        growth(report, one)
        heavy(report, server, one)
        large_objects(report, berthd, server, one)
        report(state(one) == before, "metal: nothing changed", "the state differs")
        report(not server.complaint(), "metal: the server is well", server.complaint())
