#!/usr/bin/python3
"""What berthd and its tools report on a Galera cluster: /readyz, /status, /metrics, berth status and placement-status.

    tests/databases/galera_reports.py --build build

One instance reaches the cluster through HAProxy, which then leads it to other nodes; one uses the second node directly.
"""

import argparse
import contextlib
import os
import re
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from admin_pages import json_page, metrics, page  # noqa: E402
from galera import PATIENT, Galera  # noqa: E402
from haproxy import Balancer  # noqa: E402
from instances import Race  # noqa: E402
from mariadb import SYSTEM  # noqa: E402
from processes import wait_until  # noqa: E402
from reports import Reports  # noqa: E402

PACKET = 32 * 1024 * 1024
FLAPS_MOST = 5  # changes of the node that are no warning
RACE_S, RACES_MOST = 2, 20
SETTINGS = ("innodb_flush_log_at_trx_commit", "sync_binlog", "max_allowed_packet", "innodb_snapshot_isolation", "auto_increment_increment")
CONFLICTS = 'berth_database_conflicts_total{where="%s"}'


class Cloud:
    def __init__(self, build, stack):
        self.reports = Reports(build, stack)
        self.cluster = stack.enter_context(Galera(provider=PATIENT))
        self.first, self.second, self.third = self.cluster.nodes
        for node in self.cluster.nodes:  # what the tests' nodes have otherwise is unsafe
            node.configure(wsrep_sst_method="mariabackup", max_allowed_packet=PACKET)
        self.balancer = stack.enter_context(Balancer(self.cluster.nodes, inter_ms=100))
        for node in self.cluster.nodes:
            self.balancer.await_up(node.name)
        self.expect = self.reports.expect

    def berthd(self, address):
        """(the process, the port of its admin listener), after its first report"""
        berth, admin = self.reports.berthd(address)
        wait_until(lambda: self.instance_of(berth, admin), "no report names the instance")
        return berth, admin

    def instance_of(self, berth, admin):
        return next((one for one in json_page(admin, "/status").get("instances", ()) if one["pid"] == berth.process.pid), None)

    def status(self, admin):
        return self.reports.run("berth", "status", "--admin", f"127.0.0.1:{admin}").stdout

    def lead_to(self, node, client):
        """All connections; a write then needs one."""
        self.balancer.use(node)
        for other in self.cluster.nodes:
            if other is not node:
                self.balancer.end_sessions(other)
        wait_until(lambda: client.ask("POST", "/resource_providers", {"name": str(uuid.uuid4())})[0] == 200, "no write", 60)


def info(found):
    """{(node, state)} of berth_database_node_info"""
    shown = (re.fullmatch(r'berth_database_node_info\{node="(.*)",state="(.*)"\}', name) for name in found)
    return {one.groups() for one in shown if one}


def whole_cluster(cloud, berth, admin):
    found = json_page(admin, "/readyz")
    server = found["server"]
    wanted = {"node": "node1", "state": "Synced", "size": 3}
    cloud.expect("the server", found["ready"] and server["role"] == "node" and server["cluster"] == wanted
                 and server["replication"] == "synchronous", found)
    there = dict(cloud.first.sql("SHOW GLOBAL VARIABLES", database=SYSTEM))
    settings = {name: there[name] for name in SETTINGS if name in there}
    cloud.expect("the settings", {name: server.get(name) for name in settings} == settings and settings["max_allowed_packet"] == str(PACKET)
                 and settings["auto_increment_increment"] == "3", (server, settings))
    cloud.expect("no warnings", found["warnings"] == [], found)
    cloud.expect("the node of the instance", cloud.instance_of(berth, admin)["node"] == "node1", found)
    cloud.expect("its nodes", found["nodes"] == [{"node": "node1", "seconds_since_left": 0}] and found["node_changes"] == 0, found)
    text = page(admin, "/readyz", "text/plain")[1]
    listed = ", ".join(f"{name} {settings[name]}" for name in SETTINGS if name in settings)
    cloud.expect("as text", "server: node node1 (Synced, 3 in the cluster) at " in text and f", {listed}, synchronous replication" in text
                 and "nodes: " not in text and "warning" not in text, text)
    shown = cloud.status(admin)
    cloud.expect("berth status", "server         node node1 (Synced, 3 in the cluster) at " in shown and f", {listed}, replication " in shown
                 and not re.search("^(nodes|warnings) ", shown, re.M), shown)
    code, details, error = cloud.reports.check(cloud.balancer.url())
    cloud.expect("placement-status", code == 0 and "Server: node node1 (Synced, 3 in the cluster) at " in details and f", {listed}, " in details
                 and f"process {berth.process.pid}, " in details and ", node node1, " in details, (code, details, error))
    found = metrics(admin)
    cloud.expect("metrics of the cluster", found["berth_database_cluster_nodes"] == 3 and info(found) == {("node1", "Synced")}
                 and found["berth_database_node_changes_total"] == 0, found)
    cloud.expect("no conflicts yet", [found[CONFLICTS % where] for where in ("commit", "lock")] == [0, 0], found)


def desynced_node(cloud, admin):
    """Its instance sees that within seconds; warnings are made once a minute, and by others at once."""
    state = "Donor/Desynced"
    warning = f"the node node1 is {state}, not Synced: it may answer late, or not at all"
    cloud.first.desync()
    wait_until(lambda: info(metrics(admin)) == {("node1", state)}, lambda: f"metrics have {info(metrics(admin))}", 30)
    found = json_page(admin, "/readyz")
    cloud.expect("a desynchronised node", found["ready"] and found["server"]["cluster"] == {"node": "node1", "state": state, "size": 3}, found)
    cloud.expect("berth status shows its state", f"node node1 ({state}, 3 in the cluster)" in cloud.status(admin), cloud.status(admin))
    details = cloud.reports.expect_warning(cloud.balancer.url(), re.escape(warning))
    cloud.expect("placement-status shows its state", f"Server: node node1 ({state}, 3 in the cluster)" in details, details)
    other, other_admin = cloud.berthd(cloud.first.url())
    found = json_page(other_admin, "/readyz")
    cloud.expect("the only warning", found["ready"] and found["warnings"] == [warning], found)
    cloud.expect("as text", f"\nwarning: {warning}\n" in page(other_admin, "/readyz", "text/plain")[1], found)
    cloud.expect("berth status warns", re.search(rf"^warnings +{re.escape(warning)}$", cloud.status(other_admin), re.M), cloud.status(other_admin))
    other.stop()
    cloud.first.desync(False)
    wait_until(lambda: info(metrics(admin)) == {("node1", "Synced")}, lambda: f"metrics have {info(metrics(admin))}", 30)


def two_writers(cloud, berth, admin):
    """Instances on two nodes, which refuse each other's batches."""
    other, other_admin = cloud.berthd(cloud.second.url())
    nodes = {"node1", "node2"}
    found = json_page(other_admin, "/readyz")
    cloud.expect("the nodes of both", {one["node"] for one in found["instances"]} == nodes, found)
    warned = [re.findall(r"write through different nodes \((\w+), (\w+)\)", text) for text in found["warnings"]]
    cloud.expect("a warning names them", len(warned) == 1 and warned[0] and set(warned[0][0]) == nodes, found)
    cloud.reports.expect_warning(cloud.balancer.url(), r"write through different nodes \(node[12], node[12]\)")
    cloud.expect("metrics of the other one", info(metrics(other_admin)) == {("node2", "Synced")}, metrics(other_admin))
    cloud.expect("no conflicts without claims", conflicts(admin) + conflicts(other_admin) == 0, (metrics(admin), metrics(other_admin)))
    before = refused_in(cloud.cluster)
    races = 0
    while conflicts(admin) + conflicts(other_admin) == 0 and races < RACES_MOST:
        race = Race([berth, other], RACE_S)
        race.fill()  # what the one before has filled has no room for another claim
        race.end = time.monotonic() + RACE_S
        race.run()
        races += 1
    counted, refused = conflicts(admin) + conflicts(other_admin), refused_in(cloud.cluster) - before
    cloud.expect("conflicts at the commit are counted", counted > 0, (races, race.statuses, refused))
    cloud.expect("the cluster has refused as many", refused >= counted, (refused, counted))
    cloud.expect("no claim fails because of them", not race.texts and race.accepted[0] > 0 and race.accepted[1] > 0, (race.texts[:3], race.accepted))
    other.stop()


def conflicts(admin):
    return metrics(admin)[CONFLICTS % "commit"]


def refused_in(cluster):
    """Transactions, because of those of other nodes."""
    return sum(int(node.status(name)) for node in cluster.nodes for name in ("local_cert_failures", "local_bf_aborts"))


def flapping_node(cloud, berth, admin):
    client = servers.Client(berth.port)
    cloud.lead_to(cloud.second, client)
    found = json_page(admin, "/readyz")
    cloud.expect("another node", [one["node"] for one in found["nodes"]] == ["node2", "node1"] and found["node_changes"] == 1
                 and 0 <= found["nodes"][1]["seconds_since_left"] < 60, found)
    line = r"node2, until \d+ s ago node1, 1 change in the last hour$"
    text = page(admin, "/readyz", "text/plain")[1]
    cloud.expect("as text", re.search("^nodes: " + line, text, re.M), text)
    cloud.expect("berth status shows it", re.search("^nodes          " + line, cloud.status(admin), re.M), cloud.status(admin))
    wait_until(lambda: info(metrics(admin)) == {("node2", "Synced")}, lambda: f"metrics have {info(metrics(admin))}", 30)
    for number in range(1, FLAPS_MOST):
        cloud.lead_to(cloud.third if number % 2 else cloud.second, client)
    found = json_page(admin, "/readyz")
    warned = [text for text in found["warnings"] if "has changed" in text]
    cloud.expect("as many changes as after failures are no warning", found["node_changes"] == FLAPS_MOST and warned == [], found)
    cloud.lead_to(cloud.third, client)
    found = json_page(admin, "/readyz")
    cloud.expect("more are one", f"the node through which this instance writes has changed {FLAPS_MOST + 1} times in the last hour" in found["warnings"]
                 and [one["node"] for one in found["nodes"]] == ["node3", "node2", "node1"], found)
    cloud.expect("metrics count them", metrics(admin)["berth_database_node_changes_total"] == FLAPS_MOST + 1, metrics(admin))


def lost_node(cloud, admin):
    cloud.first.stop()
    wait_until(lambda: metrics(admin)["berth_database_cluster_nodes"] == 2, lambda: f"metrics have {metrics(admin)}", 30)
    cloud.reports.expect_warning(cloud.third.url(), "the cluster has two nodes: if one of them fails, both stop")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", required=True)
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        cloud = Cloud(arguments.build, stack)
        berth, admin = cloud.berthd(cloud.balancer.url())
        whole_cluster(cloud, berth, admin)
        desynced_node(cloud, admin)
        two_writers(cloud, berth, admin)
        flapping_node(cloud, berth, admin)
        lost_node(cloud, admin)
    return cloud.reports.score.end()


if __name__ == "__main__":
    sys.exit(main())
