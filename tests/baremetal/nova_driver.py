#!/usr/bin/python3
"""Debian's nova with its ironic driver and a Bare Metal API: what it writes to Placement for twenty nodes, and that
it writes nothing the second time.

    tests/baremetal/nova_driver.py --berthd build/berthd     both orders: the driver first, the mirror first
    tests/baremetal/nova_driver.py --reference               the real services, Ironic and Placement, to validate the test

The driver must have written what rules C1 and C2 of the specification require. The last line is `N passed, N failed`.
"""

import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import berth_baremetal  # noqa: E402
import metal_client  # noqa: E402
import servers  # noqa: E402

ROUND_SECONDS = 240
INSTANCES = [f"aaaaaaaa-0000-4000-8000-{number:012}" for number in range(10)]

# What `metal_client.make_node` creates, followed by `more`, which it cannot create.
NODES = [
    {"name": "enrolled", "state": "enroll", "power": None, "resource_class": "big"},
    {"name": "enrolled-on", "state": "enroll", "resource_class": "big"},
    {"name": "managed", "state": "manageable", "resource_class": "big", "traits": ["CUSTOM_A"]},
    {"name": "free", "resource_class": "big", "traits": ["CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_VMX"]},
    {"name": "free-off", "power": "power off", "resource_class": "big"},
    {"name": "power-unknown", "power": None, "resource_class": "big"},
    {"name": "odd-class", "resource_class": "baremetal.GPU-large__v2/ÿß"},
    {"name": "maintained", "resource_class": "big", "maintenance": True},
    {"name": "held", "resource_class": "big", "instance_uuid": INSTANCES[0]},
    {"name": "held-maintained", "resource_class": "big", "instance_uuid": INSTANCES[1], "maintenance": True},
    {"name": "deployed", "state": "active", "resource_class": "big", "instance_uuid": INSTANCES[2]},
    {"name": "deployed-alone", "state": "active", "resource_class": "big"},
    {"name": "deployed-maintained", "state": "active", "resource_class": "big", "instance_uuid": INSTANCES[3], "maintenance": True},
    {"name": "deployed-off", "state": "active", "power": "power off", "resource_class": "big", "instance_uuid": INSTANCES[4]},
    {"name": "allocated", "resource_class": "only", "traits": ["CUSTOM_A"], "more": "allocate"},
    {"name": "released", "resource_class": "once", "more": "release"},
    {"name": "rescued", "state": "active", "resource_class": "big", "more": "rescue"},
    {"name": "clean-failed", "state": "manageable", "resource_class": "big", "more": "fail"},
    {"name": "owned", "resource_class": "big", "owner": "p1", "lessee": "p2"},
    {"name": "retired", "state": "manageable", "resource_class": "big", "retired": True},
]
CLASSLESS = {"name": "classless"}


class Wrong(Exception):
    pass


def expect(wanted, got, what):
    if wanted != got:
        raise Wrong(f"{what}: {got!r}, not {wanted!r}")


def make_nodes(metal):
    for fields in NODES + [CLASSLESS]:
        fields = dict(fields)
        more = fields.pop("more", None)
        uuid = metal.make_node(**fields)["uuid"]
        if more in ("allocate", "release"):
            made = metal.must(201, "POST", "/v1/allocations", {"resource_class": fields["resource_class"], "uuid": INSTANCES[5 if more == "allocate" else 6]})
            metal.until("/v1/allocations/" + made["uuid"], lambda one: one["state"] == "active")
            if more == "release":
                metal.must(204, "DELETE", "/v1/allocations/" + made["uuid"])
        elif more == "rescue":
            metal.provision(uuid, "rescue", "rescue", rescue_password="x")
        elif more == "fail":
            metal.provision(uuid, "clean", "clean failed", clean_steps=[{"interface": "deploy", "step": "nothing"}])


class Nova:
    def __init__(self, directory, metal_url, placement_port):
        self.config_file = os.path.join(directory, "nova.conf")
        placement = f"http://127.0.0.1:{placement_port}"
        with open(self.config_file, "w") as file:
            file.write(f"""[DEFAULT]
host = compute-1
state_path = {directory}
[oslo_concurrency]
lock_path = {directory}
[compute]
provider_config_location = {directory}/providers
[ironic]
auth_type = none
endpoint_override = {metal_url}
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
endpoint_override = {placement}
""")

    def run(self, what, *nodes, instances=INSTANCES):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_") and not name.lower().endswith("_proxy")}
        done = subprocess.run(["/usr/bin/python3", "-B", os.path.join(HERE, "nova_compute.py"), self.config_file, ",".join(instances), what, *nodes],
                              capture_output=True, text=True, timeout=ROUND_SECONDS, env=clean)
        if done.returncode:
            raise Wrong(f"nova: exit {done.returncode}: {done.stderr[-3000:]}")
        return json.loads(done.stdout.splitlines()[-1])


def rows_of(database):
    """{table: its rows} of the whole file."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)
    try:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in names}
    finally:
        connection.close()


def changed(before, after):
    """The rows that differ, as text, or ''."""
    said = ""
    for name in sorted(set(before) | set(after)):
        old, new = before.get(name, []), after.get(name, [])
        if old != new:
            said += f"{name}: gone {[row for row in old if row not in new][:5]}, new {[row for row in new if row not in old][:5]}; "
    return said


def normal_class(name):
    """As nova's: each run of characters that are not ASCII letters or digits, including underscores, becomes one
    underscore."""
    return "CUSTOM_" + re.sub("[^0-9A-Za-z]+", "_", name).upper()


def check_providers(metal, placement):
    """C1 and C2 for each node with a class, from the view of Placement's clients."""
    providers = {one["uuid"]: one for one in placement.must(200, "GET", "/resource_providers")["resource_providers"]}
    for node in metal.must(200, "GET", "/v1/nodes/detail")["nodes"]:
        if node["resource_class"] is None:
            continue
        name, uuid = node["name"], node["uuid"]
        expect((uuid, None, uuid), tuple(providers[uuid][key] for key in ("name", "parent_provider_uuid", "root_provider_uuid")), f"{name}'s provider")
        is_free = (node["provision_state"] == "available" and not node["maintenance"] and node["power_state"] not in (None, "error")
                   and node["instance_uuid"] is None)
        expect({normal_class(node["resource_class"]): {"total": 1, "reserved": 0 if is_free else 1, "min_unit": 1, "max_unit": 1, "step_size": 1,
                                                       "allocation_ratio": 1.0}},
               placement.must(200, "GET", f"/resource_providers/{uuid}/inventories")["inventories"], f"{name}'s inventory")
        traits = set(placement.must(200, "GET", f"/resource_providers/{uuid}/traits")["traits"])
        expect(set(node["traits"]), {trait for trait in traits if not trait.startswith("COMPUTE_")}, f"{name}'s traits")


def check_round(done, metal):
    """Every node was reported except the one without a class, which nova refuses."""
    nodes = {node["uuid"]: node for node in metal.must(200, "GET", "/v1/nodes/detail")["nodes"]}
    expect(set(nodes), set(done), "the driver's nodes")
    for uuid, problem in done.items():
        if nodes[uuid]["resource_class"] is None:
            expect(True, (problem or "").startswith("NoResourceClass"), f"the classless node: {problem}")
        else:
            expect(None, problem, nodes[uuid]["name"])


def twice(nova, metal, placement, database):
    """The first round writes what it must, the second nothing."""
    check_round(nova.run("round"), metal)
    check_providers(metal, placement)
    before = rows_of(database)
    check_round(nova.run("round"), metal)
    expect("", changed(before, rows_of(database)), "the second round changed rows")


def notices(nova, metal, placement, database):
    """A round after a change writes that change, which proves that the rounds without one did check."""
    before = rows_of(database)
    metal.must(202, "PUT", "/v1/nodes/free/maintenance")
    check_round(nova.run("round"), metal)
    check_providers(metal, placement)
    expect(True, bool(changed(before, rows_of(database))), "a change of a node changed rows")


def reference_cases(directory):
    """(name, problem) with the real services."""
    with servers.PythonService(directory) as service:
        import real_ironic
        with real_ironic.Ironic() as ironic:
            metal, placement = metal_client.MetalClient(ironic.port), service.client()
            make_nodes(metal)
            nova = Nova(directory, ironic.url, service.port)
            for case in (twice, notices):
                yield case.__doc__, attempt(case, nova, metal, placement, service.database)


def mirror_first(options):
    """The mirror has written the providers: the driver adds its own traits, and then nothing more."""
    with berth_baremetal.Berth(options.berthd) as berth:
        metal, placement = metal_client.MetalClient(berth.port), servers.Client(berth.placement_port)
        nova = Nova(berth.directory, berth.url, berth.placement_port)
        make_nodes(metal)
        yield "mirror first: what the mirror wrote", attempt(check_providers, metal, placement)
        for case in (twice, notices):
            yield "mirror first: " + case.__doc__, attempt(case, nova, metal, placement, berth.database)
        yield "mirror first: " + forgotten.__doc__, attempt(forgotten, nova, metal, placement, berth.database)


def forgotten(nova, metal, placement, database):
    """A node that another service holds is not the driver's: nova tries to delete its provider, which stays."""
    node = metal.must(200, "GET", "/v1/nodes/allocated")
    done = nova.run("round", instances=[])
    expect(False, node["uuid"] in done, "the driver lists the node")
    before = rows_of(database)
    nova.run("forget", node["uuid"])
    expect("", changed(before, rows_of(database)), "rows changed")


def driver_first(options):
    """The driver has written the providers, without a mirror: they are adopted, and stay unchanged."""
    with berth_baremetal.Berth(options.berthd, options={"baremetal": {"mirror": "false"}}) as berth:
        metal, placement = metal_client.MetalClient(berth.port), servers.Client(berth.placement_port)
        nova = Nova(berth.directory, berth.url, berth.placement_port)
        make_nodes(metal)
        yield "driver first: without a mirror", attempt(twice, nova, metal, placement, berth.database)
        uuid = metal.must(200, "GET", "/v1/nodes/free")["uuid"]
        aggregate = [INSTANCES[9]]
        provider = placement.must(200, "GET", f"/resource_providers/{uuid}")
        placement.must(200, "PUT", f"/resource_providers/{uuid}/aggregates",
                       {"aggregates": aggregate, "resource_provider_generation": provider["generation"]})
        berth.stop()
        with open(berth.config_file) as file:
            text = file.read()
        with open(berth.config_file, "w") as file:
            file.write(text.replace("mirror = false", "mirror = true"))
        berth.start()
        metal, placement = metal_client.MetalClient(berth.port), servers.Client(berth.placement_port)
        nova = Nova(berth.directory, berth.url, berth.placement_port)
        for node in metal.must(200, "GET", "/v1/nodes")["nodes"]:
            metal.must(200, "PATCH", f"/v1/nodes/{node['uuid']}", [{"op": "add", "path": "/extra/seen", "value": True}])
        yield "driver first: adopted", attempt(check_providers, metal, placement)
        for case in (twice, notices):
            yield "driver first: " + case.__doc__, attempt(case, nova, metal, placement, berth.database)
        kept = placement.must(200, "GET", f"/resource_providers/{uuid}/aggregates")["aggregates"]
        yield "driver first: aggregates stay", None if kept == aggregate else str(kept)


def attempt(function, *arguments):
    try:
        function(*arguments)
    except (Wrong, AssertionError, KeyError, OSError, subprocess.TimeoutExpired) as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    berth_baremetal.add_arguments(parser)
    options = parser.parse_args()
    score = servers.Score()
    if options.reference:
        with tempfile.TemporaryDirectory(prefix="nova-driver-") as directory:
            for name, problem in reference_cases(directory):
                score.case(name, problem)
    else:
        for order in (mirror_first, driver_first):
            try:
                for name, problem in order(options):
                    score.case(name, problem)
            except (AssertionError, RuntimeError, OSError) as problem:
                score.case(order.__doc__, f"{type(problem).__name__}: {problem}")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
