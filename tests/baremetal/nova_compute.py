#!/usr/bin/python3
"""One periodic round of nova-compute with its ironic driver, run by nova's own code, for tests.

    nova_compute.py CONFIG_FILE INSTANCE,… round        each node: the driver, the resource tracker, the report client
    nova_compute.py CONFIG_FILE INSTANCE,… forget NODE  what it does with a node that its driver no longer lists

Only nova's database is replaced: `Instances` and `Services` return its services and instances. INSTANCE are the uuids
of this nova-compute's instances. Prints a line of JSON: {NODE: null, or the error}.
"""

import json
import os
import sys
import types

import nova.monkey_patch  # noqa: F401  (first, as nova's own commands do: green threads and their locks)
from nova import config, context, objects
from nova.compute import resource_tracker
from nova.scheduler.client import report
from nova.virt.ironic import driver as ironic_driver

HOST = "compute-1"


def without_database(instances):
    """Replaces nova's tables by these answers."""
    objects.ServiceList.get_all_computes_by_hv_type = lambda *arguments: []
    objects.InstanceList.get_uuids_by_host = lambda *arguments: list(instances)
    objects.InstanceList.get_uuids_by_host_and_node = lambda *arguments: []
    objects.Service.get_by_compute_host = lambda *arguments: types.SimpleNamespace(disabled=False)


def compute_node(uuid):
    """The record of a node: nova uses the node's uuid as its own, and as the hypervisor's name."""
    return objects.ComputeNode(uuid=uuid, hypervisor_hostname=uuid, host=HOST)


def play_round(driver, tracker, admin):
    done = {}
    for uuid in driver.get_available_nodes(refresh=True):
        try:
            tracker._update_to_placement(admin, compute_node(uuid), startup=True)
            done[uuid] = None
        except Exception as problem:  # as compute.manager does: one node's failure does not affect the others
            done[uuid] = f"{type(problem).__name__}: {problem}"
    return done


def main():
    config_file, instances, what, *nodes = sys.argv[1:]
    directory = os.path.join(os.path.dirname(config_file), "nova.conf.d")  # empty, so that the machine's own is not read
    os.makedirs(directory, exist_ok=True)
    config.parse_args(["nova-compute", "--config-dir", directory], default_config_files=[config_file], configure_db=False)
    objects.register_all()
    without_database([uuid for uuid in instances.split(",") if uuid])
    admin = context.get_admin_context()
    client = report.SchedulerReportClient()
    driver = ironic_driver.IronicDriver(None)
    if what == "round":
        done = play_round(driver, resource_tracker.ResourceTracker(HOST, driver, reportclient=client), admin)
    else:
        done = {}
        for uuid in nodes:
            try:
                client.delete_resource_provider(admin, compute_node(uuid), cascade=True)
                done[uuid] = None
            except Exception as problem:  # the caller checks
                done[uuid] = f"{type(problem).__name__}: {problem}"
    print(json.dumps(done))


if __name__ == "__main__":
    main()
