"""The rows of berth on MariaDB and on Galera: those of on_server.py on a single server; and on a cluster of three nodes, three
instances, strict reads, and reads behind HAProxy, which changes its node all the time."""

from on_server import Bench, other_answers
from server_databases import MEASURED, GaleraDatabases, MariadbDatabases
from targets import expect, good_rate, say

import clouds

HOST_ROOM = 160         # of the host that three instances fill
SWITCH_S = 5
CONNECTIONS = 16        # of each instance


class OnMariadb(Bench):
    kind, prefix = MariadbDatabases, "maria"
    ROWS = ("claims", "single", "two", "start", "three", "get", "stale", "outage")
    REFERENCE_CELLS = (("claim", 16), ("claim", 256))
    needed = ("/usr/sbin/mariadbd", "/usr/lib/galera/libgalera_smm.so", "/usr/sbin/haproxy")
    outage_options = ("--mariadb",)
    cluster = None

    def use_cluster(self):
        """Starts it once."""
        self.cluster = self.cluster or GaleraDatabases(self.work)
        return self.cluster

    def close(self):
        super().close()
        if self.cluster:
            self.cluster.close()

    def three(self):
        """One instance with 48 connections, and three with 16 each: on one node, and on three."""
        cluster = self.use_cluster()
        rounds = []
        for _ in range(self.rounds):
            cluster.copy("big1k")
            nodes = cluster.urls_of(MEASURED)
            found = {"one": good_rate(self.side_by_side(nodes[:1], 3 * CONNECTIONS, cluster)[0])}
            for case, urls in (("same", nodes[:1] * 3), ("own", nodes)):
                cluster.copy("big1k")
                cells = self.side_by_side(urls, CONNECTIONS, cluster)
                found[case] = {"rates": [good_rate(cell) for cell in cells], "p99_us": max(cell["p99_us"] for cell in cells),
                               "other_answers": sum(map(other_answers, cells)), "units": self.fill_host(urls, cluster)}
            rounds.append(found)
            say(f"three instances: {found}")
        for case in ("same", "own"):
            middle = sorted(rounds, key=lambda r: sum(r[case]["rates"]) / r["one"])[len(rounds) // 2]
            self.facts[f"three_{case}"] = middle[case] | {
                "one": middle["one"], "p99_us": max(r[case]["p99_us"] for r in rounds),
                "other_answers": sum(r[case]["other_answers"] for r in rounds),
                "units": max((r[case]["units"] for r in rounds), key=lambda units: abs(units[1] - HOST_ROOM))}

    def fill_host(self, urls, cluster):
        """All instances claim the last units of one host. Returns how many succeeded, and how many the host then says to be
        used."""
        with self.instances(urls, cluster) as instances:
            running = [self.loader.start(instance, self.file("last_units"), CONNECTIONS, 30, count=2 * HOST_ROOM)
                       for instance in instances]
            cells = [self.loader.finish(process) for process in running]
            used = expect(instances[0], f"/resource_providers/{clouds.provider_uuid('big1k', 1000)}/usages")["usages"]["VCPU"]
        return sum(cell["status"].get("204", 0) for cell in cells), used

    def get(self):
        """GET of one provider on the embedded store, and on a node."""
        self.keep_get(16, self.beside_embedded(self.use_cluster(), 16))

    def stale(self):
        self.stale_reads("--switch", str(SWITCH_S), before=("with_mariadb.py", "--galera", "--haproxy"))
