#!/usr/bin/python3
"""The real clients with a Bare Metal API: `openstack baremetal`, `baremetal` (python3-ironicclient) and
openstacksdk.

    tests/baremetal/clients.py --berthd build/berthd | --reference [FLOW…]

Each flow has a server and a process of its own: they mostly wait, two seconds between a client's polls. The programs'
own shells run in forks (starting one takes a second); one flow starts them as a user does. The last line is `N passed,
N failed`.
"""

import argparse
import concurrent.futures
import contextlib
import io
import json
import multiprocessing
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

for unwanted in [name for name in os.environ if name.startswith("OS_") or name.lower().endswith("_proxy")]:
    del os.environ[unwanted]

import ironicclient.shell  # noqa: E402
import openstackclient.shell  # noqa: E402

import berth_baremetal  # noqa: E402
import servers  # noqa: E402

COMMAND_SECONDS = 120
NOBODY = "aaaaaaaa-0000-4000-8000-00000000000f"
WRITTEN = "bbbbbbbb-0000-4000-8000-000000000001"


class Wrong(Exception):
    """A client's output differs from what was expected."""


def expect(wanted, got, what):
    if wanted != got:
        raise Wrong(f"{what}: {got!r}, not {wanted!r}")


def in_process(function, *arguments):
    """Returns the function's result from a process of its own, because the clients keep state in globals."""
    said, says = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: says.send(function(*arguments)))
    child.start()
    answer = said.recv() if said.poll(COMMAND_SECONDS) else None
    child.kill()
    child.join()
    if answer is None:
        raise Wrong(f"{arguments}: no answer in {COMMAND_SECONDS} s")
    return answer


class Shell:
    """Commands of one program."""

    def __init__(self, program, server):
        self.program, self.url = program, server.url
        self.placement_port = getattr(server, "placement_port", None)  # berth's other API

    def run(self, text, version=None):
        """(exit status, standard output, standard error) of the command line `baremetal` + `text`."""
        options = ["--os-baremetal-api-version", version] if version else []
        return in_process(self._run, options, shlex.split(text))

    def _run(self, options, arguments):
        out, err = io.StringIO(), io.StringIO()
        os.environ.update(OS_AUTH_TYPE="none", OS_ENDPOINT=self.url)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                if self.program == "openstack":
                    status = openstackclient.shell.main([*options, "baremetal", *arguments])
                else:
                    status = ironicclient.shell.main([*options, *arguments])
            except SystemExit as end:
                status = end.code
        return int(status or 0), out.getvalue(), err.getvalue()

    def ok(self, text, version=None):
        status, out, err = self.run(text, version)
        if status:
            raise Wrong(f"{self.program}: {text}: exit {status}: {out} {err}")
        return out

    def show(self, text, version=None):
        """The JSON that it prints."""
        out = self.ok(text + " -f json", version)
        try:
            return json.loads(out)
        except ValueError:
            raise Wrong(f"{self.program}: {text}: no JSON: {out}")

    def refused(self, words, text, version=None):
        status, out, err = self.run(text, version)
        if status == 0 or words not in out + err:
            raise Wrong(f"{self.program}: {text}: exit {status}, not {words!r}: {out} {err}")


def life(shell):
    """From enrolment to release."""
    made = shell.show("node create --driver fake-hardware --resource-class big --name n1 --property cpus=4 --extra rack=7")
    expect("enroll", made["provision_state"], "a new node's state")
    uuid = made["uuid"]
    shell.refused("no available nodes match the resource class big", "allocation create --resource-class big --wait --name early")
    expect("error", shell.show("allocation show early")["state"], "what was refused")
    shell.ok("allocation delete early")
    shell.refused("can not be performed", "node provide n1")
    shell.ok("node manage n1 --wait 30")
    expect("manageable", shell.show("node show n1")["provision_state"], "after manage")
    shell.ok("node provide n1 --wait 30")
    shell.refused("no available nodes match", "allocation create --resource-class big --wait --name dark")
    shell.ok("allocation delete dark")
    shell.ok("node power on n1")
    power_is_on(shell, "n1")
    shell.ok("node add trait n1 CUSTOM_GPU HW_CPU_X86_VMX")
    expect(["CUSTOM_GPU", "HW_CPU_X86_VMX"], sorted(row["Traits"] for row in shell.show("node trait list n1")), "traits")
    made = shell.show(f"allocation create --resource-class big --trait CUSTOM_GPU --candidate-node n1 --name web-01 --uuid {WRITTEN}"
                      " --extra ticket=17 --wait 30")
    for name, wanted in (("state", "active"), ("node_uuid", uuid), ("name", "web-01"), ("resource_class", "big"), ("traits", ["CUSTOM_GPU"]),
                         ("candidate_nodes", [uuid]), ("last_error", None), ("uuid", WRITTEN), ("extra", {"ticket": 17}), ("owner", None)):
        expect(wanted, made[name], "allocation's " + name)
    node = shell.show("node show n1")
    for name, wanted in (("instance_uuid", WRITTEN), ("allocation_uuid", WRITTEN), ("provision_state", "available"), ("power_state", "power on"),
                         ("resource_class", "big"), ("properties", {"cpus": 4}), ("extra", {"rack": 7}), ("reservation", None)):
        expect(wanted, node[name], "node's " + name)
    lists(shell, uuid)
    shell.ok("allocation set web-01 --name web-02 --extra a=b")
    shell.ok("allocation unset web-02 --extra ticket")
    expect({"a": "b"}, shell.show("allocation show web-02")["extra"], "extra after set and unset")
    shell.refused("web-02 already exists", "allocation create --resource-class big --name web-02")
    shell.refused("is associated with instance", "node delete n1")
    shell.ok("node deploy n1 --wait 30")
    shell.refused("because the node is active", "allocation delete web-02")
    shell.ok("node rebuild n1 --wait 30")
    shell.ok("node undeploy n1 --wait 30")
    shell.refused("web-02 could not be found", "allocation show web-02")
    expect([], shell.show("allocation list"), "allocations after undeploy")
    shell.ok("node delete n1")
    expect([], shell.show("node list"), "nodes at the end")


def power_is_on(shell, name):
    for _ in range(100):
        if shell.show(f"node show {name} --fields power_state target_power_state") == {"power_state": "power on", "target_power_state": None}:
            return
    raise Wrong("the power does not come")


def lists(shell, uuid):
    row = {"UUID": uuid, "Name": "n1", "Instance UUID": WRITTEN, "Power State": "power on", "Provisioning State": "available",
           "Maintenance": False}
    expect([row], shell.show("node list"), "node list")
    expect([{"UUID": uuid, "Resource Class": "big"}], shell.show("node list --resource-class big --fields uuid resource_class"), "fields of nodes")
    expect([], shell.show("node list --provision-state active"), "node list of a state")
    row = {"UUID": WRITTEN, "Name": "web-01", "Resource Class": "big", "State": "active", "Node UUID": uuid}
    expect([row], shell.show("allocation list"), "allocation list")
    expect([row], shell.show(f"allocation list --node {uuid}"), "allocation list of a node")
    expect([row], shell.show("allocation list --state active --resource-class big"), "allocation list, filtered")
    expect([], shell.show("allocation list --state error"), "allocation list of a state")
    expect([{"UUID": WRITTEN}], shell.show("allocation list --fields uuid"), "fields of allocations")
    expect(1, len(shell.show("node list --long")), "node list --long")
    expect(1, len(shell.show("allocation list --long")), "allocation list --long")
    shell.refused("could not be found", f"allocation list --node {NOBODY}")


def care(shell):
    """Maintenance, fields, traits, validation, drivers."""
    uuid = shell.show("node create --driver fake-hardware --name n2")["uuid"]
    shell.ok("node maintenance set n2 --reason fan")
    node = shell.show("node show n2")
    expect((True, "fan"), (node["maintenance"], node["maintenance_reason"]), "maintenance")
    shell.ok("node maintenance unset n2")
    node = shell.show("node show n2")
    expect((False, None), (node["maintenance"], node["maintenance_reason"]), "no maintenance")
    shell.ok("node set n2 --resource-class small --owner p1 --description words --property ram=8 --driver-info password=x --name n3")
    node = shell.show("node show n3")
    for name, wanted in (("resource_class", "small"), ("owner", "p1"), ("description", "words"), ("properties", {"ram": 8}),
                         ("driver_info", {"password": "******"}), ("uuid", uuid)):
        expect(wanted, node[name], "set " + name)
    shell.ok("node unset n3 --resource-class --owner --description --property ram --name")
    node = shell.show(f"node show {uuid}")
    for name, wanted in (("resource_class", None), ("owner", None), ("description", None), ("properties", {}), ("name", None)):
        expect(wanted, node[name], "unset " + name)
    shell.ok(f"node add trait {uuid} CUSTOM_A CUSTOM_B")
    shell.ok(f"node remove trait {uuid} CUSTOM_A")
    expect(["CUSTOM_B"], [row["Traits"] for row in shell.show(f"node trait list {uuid}")], "traits")
    shell.ok(f"node remove trait {uuid} --all")
    expect([], shell.show(f"node trait list {uuid}"), "no traits")
    shell.refused("NO_TRAIT", f"node add trait {uuid} NO_TRAIT")
    rows = {row["Interface"]: row["Result"] for row in shell.show(f"node validate {uuid}")}
    for name in ("boot", "deploy", "management", "network", "power"):
        expect(True, rows[name], "validate " + name)
    drivers = shell.show("driver list")
    expect(["fake-hardware"], [row["Supported driver(s)"] for row in drivers], "drivers")
    expect("fake-hardware", shell.show("driver show fake-hardware")["name"], "driver")
    expect(1, len(shell.show("conductor list")), "conductors")
    for text in ("port list", "port group list", "chassis list", "volume connector list", "volume target list", f"port list --node {uuid}",
                 f"node vif list {uuid}", f"node history list {uuid}"):
        expect([], shell.show(text), text)
    shell.refused(f"Node {NOBODY} could not be found", f"node show {NOBODY}")
    shell.refused("ipmi", "node create --driver ipmi")
    shell.ok(f"node delete {uuid}")


def versions(shell):
    """The features of a version, and version negotiation."""
    shell.ok("node create --driver fake-hardware --name n1 --resource-class big")
    expect("big", shell.show("node show n1", version="1.61")["resource_class"], "at 1.61")
    expect([], shell.show("allocation list", version="1.52"), "at 1.52")
    expect([], shell.show("allocation list", version="latest"), "at the newest")
    shell.refused("The API version does not allow allocations", "allocation list", version="1.51")
    made = shell.show("allocation create --resource-class x --name a", version="1.52")
    expect(("allocating", "a"), (made["state"], made["name"]), "created at 1.52")
    shell.refused("", "allocation create --resource-class x --owner p1", version="1.59")
    expect("p1", shell.show("allocation create --resource-class x --owner p1", version="1.60")["owner"], "owner")


def by_hand(shell):
    """Started as a user does: the lines that a newcomer tries first."""
    environment = {**os.environ, "OS_AUTH_TYPE": "none", "OS_ENDPOINT": shell.url}
    program = ["/usr/bin/openstack", "baremetal"] if shell.program == "openstack" else ["/usr/bin/baremetal"]  # not ../preloaded.py's

    def say(status, text):
        done = subprocess.run([*program, *shlex.split(text)], capture_output=True, text=True, env=environment, timeout=120)
        expect(status, done.returncode, f"{text}: {done.stdout} {done.stderr}: exit status")
        return done.stdout + done.stderr

    say(0, "node create --driver fake-hardware --resource-class X --name n")
    said = say(1, "allocation create --resource-class X --wait")
    expect(True, "no available nodes match the resource class X" in said, said)
    say(0, "node manage n --wait")
    say(0, "node provide n --wait")
    say(0, "node power on n")
    power_is_on(shell, "n")
    expect(True, "active" in say(0, "allocation create --resource-class X --wait"), "the allocation")
    if shell.placement_port:
        used_in_placement(shell)


def used_in_placement(shell):
    """Resources allocated through this API are in use for Placement's clients."""
    uuid = shell.show("node show n")["uuid"]
    environment = {**os.environ, "OS_AUTH_TYPE": "admin_token", "OS_TOKEN": "admin", "OS_ENDPOINT": f"http://127.0.0.1:{shell.placement_port}"}
    done = subprocess.run(["openstack", "resource", "provider", "usage", "show", uuid, "-f", "json"], capture_output=True, text=True,
                          env=environment, timeout=120)
    expect(0, done.returncode, done.stdout + done.stderr)
    expect([{"resource_class": "CUSTOM_X", "usage": 1}], json.loads(done.stdout), "usage in Placement")


def sdk(url):
    """openstacksdk's conn.baremetal."""
    import openstack
    from openstack import exceptions
    cloud = openstack.connect(load_envvars=False, load_yaml_config=False, auth_type="none", endpoint=url, baremetal_endpoint_override=url)
    metal = cloud.baremetal
    node = metal.create_node(driver="fake-hardware", name="s1", resource_class="sdk", provision_state="enroll")
    expect("enroll", node.provision_state, "a new node")
    expect("available", metal.create_node(driver="fake-hardware", name="s2", resource_class="sdk").provision_state, "a node as older clients make it")
    metal.delete_node("s2")
    node = metal.set_node_provision_state(node, "manage", wait=True, timeout=30)
    expect("manageable", node.provision_state, "after manage")
    node = metal.set_node_provision_state(node, "provide", wait=True, timeout=30)
    metal.set_node_power_state(node, "power on", wait=True, timeout=30)
    metal.set_node_traits(node, ["CUSTOM_A"])
    metal.add_node_trait(node, "CUSTOM_B")
    metal.remove_node_trait(node, "CUSTOM_A")
    expect(["CUSTOM_B"], metal.get_node("s1").traits, "traits")
    allocation = metal.create_allocation(resource_class="sdk", name="a1", traits=["CUSTOM_B"])
    expect(("allocating", None), (allocation.state, allocation.node_id), "a new allocation")
    allocation = metal.wait_for_allocation(allocation, timeout=30)
    expect(("active", node.id), (allocation.state, allocation.node_id), "the allocation")
    expect(allocation.id, metal.get_node("s1").allocation_id, "the node's allocation")
    expect(["a1"], [one.name for one in metal.allocations(state="active")], "the list")
    expect("a2", metal.update_allocation(allocation, name="a2", extra={"answer": 42}).name, "an update")
    expect({"answer": 42}, metal.get_allocation("a2").extra, "extra")
    expect("a3", metal.patch_allocation(allocation, [{"op": "replace", "path": "/name", "value": "a3"}]).name, "a patch")
    failed = metal.create_allocation(resource_class="nothing")
    try:
        metal.wait_for_allocation(failed, timeout=30)
        raise Wrong("an allocation that cannot be was waited for")
    except exceptions.ResourceFailure as problem:
        expect(True, "no available nodes match" in str(problem), str(problem))
    expect("error", metal.wait_for_allocation(failed, ignore_error=True).state, "the failed one")
    metal.delete_allocation(failed)
    metal.set_node_maintenance(node, "fan")
    expect("fan", metal.get_node(node).maintenance_reason, "maintenance")
    metal.unset_node_maintenance(node)
    expect(True, all(result.result for result in metal.validate_node(node).values()), "validation")
    metal.update_node(node, extra={"rack": 7})
    expect({"rack": 7}, metal.get_node(node).extra, "a node's update")
    metal.delete_allocation("a3")
    expect([], [one.name for one in metal.allocations() if one.name == "a3"], "after the end")
    expect(None, metal.get_node("s1").instance_id, "the node after the end")
    for number in range(5):
        metal.create_allocation(resource_class="nothing", name=f"page-{number}")
    expect(5, len(list(metal.allocations(limit=2))), "allocations in pages")
    expect(["fake-hardware"], [driver.name for driver in metal.drivers()], "drivers")
    expect([], list(metal.ports()), "ports")
    metal.delete_node(node)
    expect(None, metal.find_node("s1"), "the node at the end")
    try:
        metal.get_allocation(NOBODY)
        raise Wrong("nobody was found")
    except exceptions.NotFoundException as problem:
        expect(True, f"Allocation {NOBODY} could not be found" in str(problem), str(problem))


def negotiation(url):
    """The version that ironicclient and openstacksdk negotiate."""
    import openstack
    from ironicclient import client
    from keystoneauth1 import adapter, noauth, session
    metal = client.get_client(1, session=session.Session(auth=noauth.NoAuth(endpoint=url)), os_ironic_api_version="latest", endpoint=url)
    metal.node.list()
    expect("1.78", metal.current_api_version, "ironicclient's newest")
    fixed = client.get_client(1, session=session.Session(auth=noauth.NoAuth(endpoint=url)), os_ironic_api_version=["1.60", "1.61", "1.99"],
                              endpoint=url)
    expect([], fixed.allocation.list(), "a list of versions")
    expect("1.61", fixed.current_api_version, "of a list of versions")
    data = adapter.Adapter(session.Session(auth=noauth.NoAuth(endpoint=url)), service_type="baremetal", endpoint_override=url).get_endpoint_data()
    expect(((1, 1), (1, 82)), (data.min_microversion, data.max_microversion), "discovery")
    cloud = openstack.connect(load_envvars=False, load_yaml_config=False, auth_type="none", endpoint=url, baremetal_endpoint_override=url)
    node = cloud.baremetal.create_node(driver="fake-hardware", provision_state="enroll")
    expect("1.76", cloud.baremetal.get_node(node.id).microversion, "openstacksdk's for nodes")
    expect("1.58", cloud.baremetal.create_allocation(resource_class="x").microversion, "openstacksdk's for allocations")


SHELL_FLOWS = (life, care, versions, by_hand)
FLOWS = {**{f"{program} {flow.__name__}": (flow, program) for flow in SHELL_FLOWS for program in ("openstack", "baremetal")},
         "sdk": (sdk, None), "negotiation": (negotiation, None)}
AT_ONCE = 6


def complaint_of(name, options):
    """The first problem in a flow, or None."""
    flow, program = FLOWS[name]
    try:
        with berth_baremetal.server_of(options) as server:
            flow(Shell(program, server) if program else server.url)
            return server.complaint()
    except Exception as problem:  # the other flows go on in any case
        return f"{type(problem).__name__}: {problem}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    berth_baremetal.add_arguments(parser)
    parser.add_argument("flows", nargs="*", metavar="FLOW", help=", ".join(FLOWS))
    options = parser.parse_args()
    score = servers.Score()
    names = [name for name in FLOWS if not options.flows or name in options.flows]
    with concurrent.futures.ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("fork")) as pool:
        for name, complaint in zip(names, pool.map(complaint_of, names, [options] * len(names))):
            score.case(name, complaint)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
