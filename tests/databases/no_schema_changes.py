#!/usr/bin/python3
"""berthd changes no schema while it serves, on MariaDB, where that would stop all nodes of a cluster.

    tests/databases/no_schema_changes.py --berthd build/berthd [--database mariadb|galera] [--seconds S]

Two instances serve as a user who has no right to do so, on tables that their owner has made before, without and with the
triggers of `db coexist`, beside another program. On no node, any statement that changes a schema is counted."""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "baremetal")]

import servers  # noqa: E402
from beside_python import CAPACITY, SCRUBS, claim, new, nodes_of, provider_of, soon, used  # noqa: E402
from coexist import Tool  # noqa: E402
from instances import Race  # noqa: E402
from metal_client import MetalClient  # noqa: E402

SERVING, PASSWORD = "serving", "serving-password"
CHANGES = ("Com_create_", "Com_alter_", "Com_drop_", "Com_rename_", "Com_truncate", "Com_optimize", "Com_repair")
LEAST_CHANGES = {"Com_create_table", "Com_alter_table", "Com_drop_table", "Com_create_index", "Com_drop_index", "Com_create_trigger",
                 "Com_drop_trigger", "Com_truncate"}


def counts(nodes):
    """{the number of a node and a statement: how often it was executed there}, with what other nodes have executed by now."""
    for node in nodes:
        node.run("SET wsrep_sync_wait = 15; SELECT 1")
    return {(number, name): int(value) for number, node in enumerate(nodes) for name, value in node.sql("SHOW GLOBAL STATUS LIKE 'Com\\_%'")
            if name.startswith(CHANGES)}


def rises(before, after):
    return {key: (before[key], after[key]) for key in before if after[key] != before[key]}


class Serving:
    """All cases yield (what, whether it is right, what was found)."""

    def __init__(self, arguments, stack):
        self.arguments, self.stack = arguments, stack
        self.servers = nodes_of(arguments.database, stack)
        self.nodes = list(dict.fromkeys(self.servers))
        self.tool = Tool(os.path.join(os.path.dirname(arguments.berthd), "placement-manage"), self.servers[0].url())

    def start(self, server):
        directory = tempfile.mkdtemp(prefix="berth-no-schema-")
        self.stack.callback(shutil.rmtree, directory, ignore_errors=True)
        return servers.Berthd(self.arguments.berthd, directory, connection=server.url(user=SERVING, password=PASSWORD),
                              options=SCRUBS, baremetal_port=servers.free_port())

    def serve(self, what):
        """Instances start, serve and end."""
        before = counts(self.nodes)
        with contextlib.ExitStack() as stack:
            berths = [stack.enter_context(self.start(server)) for server in self.servers]
            race = Race(berths, self.arguments.seconds)
            race.fill()
            race.run()
            yield f"{what}: claims are made on both", all(race.accepted), race.accepted
            yield f"{what}: none fails for another reason than capacity", not race.texts, race.texts[:3]
            yield from self.beside(what, [servers.Client(berth.port) for berth in berths])
            found = MetalClient(berths[0].baremetal_port).make_node("active")["provision_state"]
            yield f"{what}: a node becomes active", found == "active", found
            statuses = [berth.stop() for berth in berths]
            denied = [line for berth in berths for line in berth.log().splitlines() if "denied" in line]
            yield f"{what}: nothing is denied", statuses == [0, 0] and not denied, (statuses, denied[:3])
        found = rises(before, counts(self.nodes))
        yield f"{what}: no schema is changed", not found, found

    def beside(self, what, clients):
        """Another program writes, and both notice it."""
        provider = provider_of(clients[0], new())
        claim(clients[1], provider, 3)
        self.servers[1].run(f"""BEGIN; UPDATE allocations SET used = 5 WHERE resource_provider_id =
            (SELECT id FROM resource_providers WHERE uuid = '{provider}');
            UPDATE resource_providers SET generation = generation + 1 WHERE uuid = '{provider}'; COMMIT""")
        for number, client in enumerate(clients):
            found = soon(lambda: used(client, provider), 5)
            yield f"{what}: instance {number} sees another program's claim", found == 5, found
        found = claim(clients[0], provider, CAPACITY - 4)[1], claim(clients[0], provider, CAPACITY - 5)[1]
        yield f"{what}: and goes by it", found == (409, 204), found

    def cases(self):
        owner = self.servers[0]
        yield "the statements are counted", LEAST_CHANGES <= {name for _, name in counts(self.nodes)}, counts(self.nodes)
        before = counts(self.nodes)
        found = self.tool.run("sync")
        yield "the owner makes the tables", found[0] == 0, found
        yield "which is counted", (0, "Com_create_table") in rises(before, counts(self.nodes)), rises(before, counts(self.nodes))
        owner.create_user(SERVING, PASSWORD)
        owner.sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {owner.database}.* TO {SERVING}@'%'")
        yield from self.serve("alone")
        before = counts(self.nodes)
        found = self.tool.run("coexist", "enable")
        yield "the owner makes triggers", found == (0, ""), found
        yield "which is counted as well", (0, "Com_create_trigger") in rises(before, counts(self.nodes)), rises(before, counts(self.nodes))
        yield from self.serve("with triggers")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--database", choices=("mariadb", "galera"), default="mariadb")
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        for what, is_right, found in Serving(arguments, stack).cases():
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
