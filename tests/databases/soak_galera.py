"""The databases of soak.py --galera: three nodes behind HAProxy, both as kolla-ansible configures them, and what fails there. Besides
the schedule, HAProxy leads to another node every few seconds."""

import contextlib
import random
import time

import soak_checks
from faulty_proxy import FaultyProxy
from galera import MARIABACKUP, Galera
from haproxy import Balancer
from mariadb import KOLLA, pymysql
from mariadb_wire import MariadbWire
from processes import Beside, Failure, wait_until
from soak_faults import INSTANCE_FAULTS, InstanceFaults, any_instance

NODES = 3
CHECKS_MS = 500  # of HAProxy: a quarter of kolla-ansible's, as everything takes less time here
SWITCHES_S = 3, 5  # between two of them
FAULTS = {
    **INSTANCE_FAULTS,
    "cut_commit": lambda draw: {"instance": any_instance(draw), "sender": "client", "when": draw.choice(["before", "after"]),
                                "seconds": 0.3},
    "kill_node": lambda draw: {"node": draw.randrange(NODES)},
    "kill_two": lambda draw: {"first": draw.randrange(NODES), "distance": draw.choice([1, 2]),
                              "between": round(draw.uniform(0, 0.3), 3)},
    "kill_nodes": lambda draw: {},
    "replace_node": lambda draw: {"node": draw.randrange(NODES)},
    "freeze_node": lambda draw: {"node": draw.randrange(NODES), "seconds": round(draw.uniform(0.2, 4), 3)},
    "switch": lambda draw: {"node": draw.randrange(NODES), "ends_sessions": draw.random() < 0.5},
}


class Switcher(Beside):
    """A thread that has new connections get another of the nodes that run, again and again; every other time, it ends those to the
    others."""

    def __init__(self, databases, seed):
        super().__init__()
        self.databases, self.draw = databases, random.Random(seed)
        self.times = 0

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.databases.balancer.use_any()

    def _work(self):
        node = None
        while not self.is_over.wait(self.draw.uniform(*SWITCHES_S)):
            others = [other for other in self.databases.cluster.members() if other is not node]
            if others:
                node = self.draw.choice(others)
                self.databases.lead_to(node, ends_sessions=self.times % 2 == 1)
                self.times += 1

    def finding(self, seconds):
        """None, or what is wrong with how often it has done so in that time."""
        least = seconds / (3 * SWITCHES_S[1])  # while all nodes are killed, there is none to be switched to
        return None if self.times >= least else f"{self.times} times, not {least:.0f}"


class Databases:
    """`current`, `primary`: what other programs use, which is any node that works."""

    # The Python service reads on any node without waiting for what others have committed: Debian's oslo.db (12.1) does not know
    # mysql_wsrep_sync_wait.
    has_standby = python_is_strict = False

    def __init__(self, stack):
        self.cluster = stack.enter_context(Galera(options={**KOLLA, "log_slave_updates": True}, copies=MARIABACKUP))
        self.balancer = stack.enter_context(Balancer(self.cluster.nodes, inter_ms=CHECKS_MS))
        self.primary = self.current = self

    def url(self):
        return self.balancer.url()

    def make_proxies(self, number):
        return [FaultyProxy(self.balancer.port, MariadbWire)]

    def url_through(self, proxies):
        return self.cluster.url(port=proxies[0].port)

    def sql(self, text):
        """The rows, with all that is committed anywhere."""
        members = self.cluster.members()
        if not members:
            raise pymysql.err.OperationalError("there is no primary component")
        with contextlib.closing(members[0].connect(read_timeout=30)) as connection, connection.cursor() as cursor:
            cursor.execute("SET wsrep_sync_wait = 1")
            cursor.execute(text)
            return list(cursor.fetchall())

    def switcher(self, seed):
        return Switcher(self, seed)

    def lead_to(self, node, ends_sessions):
        """New connections get this node, as if those before it had failed; open ones may stay where they are. Nobody waits until
        the checks have found that it is up."""
        before = True
        for one in self.cluster.nodes:
            before = before and one is not node
            self.balancer.set_state(self.balancer.names[one], "maint" if before else "ready")
        for one in self.cluster.nodes if ends_sessions else ():
            if one is not node:
                self.balancer.end_sessions(one)

    def auditor(self, journal, playing):
        return soak_checks.ClusterAuditor(self, journal, playing)

    def hold_snapshot(self):
        """Nothing: a node that ends would end it."""

    def drop_snapshot(self):
        pass


class Faults(InstanceFaults):
    """Also to the nodes, and to HAProxy's choice of one."""

    def _await_all(self):
        self.databases.cluster.await_size(NODES)

    def kill_node(self, node):
        self.databases.cluster.nodes[node].kill()
        self.databases.cluster.nodes[node].start()
        self._await_all()

    def replace_node(self, node):
        self.databases.cluster.nodes[node].replace()
        self._await_all()

    def kill_two(self, first, distance, between):
        """The last one is no primary component by itself, until the operator says so."""
        nodes = self.databases.cluster.nodes
        killed = nodes[first], nodes[(first + distance) % NODES]
        left = next(node for node in nodes if node not in killed)
        killed[0].kill()
        time.sleep(between)
        killed[1].kill()
        wait_until(lambda: not left.is_primary(), f"{left.name} takes itself for a primary component")
        left.set_provider(**{"pc.bootstrap": 1})
        for node in killed:
            node.start()
        self._await_all()

    def kill_nodes(self):
        self.databases.cluster.kill_all()
        self.databases.cluster.start_all()
        self._await_all()

    def freeze_node(self, node, seconds):
        """It is expelled if that takes longer than a second or two."""
        self.databases.cluster.nodes[node].freeze()
        time.sleep(seconds)
        self.databases.cluster.nodes[node].thaw()
        self._await_all()

    def switch(self, node, ends_sessions):
        """At any time, also right after the last time."""
        balancer, used = self.databases.balancer, self.databases.cluster.nodes[node]
        self.databases.lead_to(used, ends_sessions)
        with contextlib.suppress(Failure):  # it was switched again
            balancer.await_up(balancer.names[used], seconds=SWITCHES_S[1])
