"""Cases of mariadb_selftest.py: the Galera cluster, and HAProxy in front of it."""

import contextlib
import os
import shutil
import threading
import time

import processes
from expectations import ask, expect, expect_failure, killed_test
from galera import Galera
from haproxy import SHAPES, Balancer
from mariadb import connect_by_url, pymysql
from processes import wait_until

EXPELLED_S = 8  # until the others go on without a node; it takes a second or two, unless the machine is busy
ATTEMPTS_MOST = 5
MISSED_MS = 1000  # that a backup may be unavailable before HAProxy takes it out; of Percona's script, what a check may take
NOT_PREPARED, DEADLOCK, LOCK_WAIT = 1047, 1213, 1205

# Whether HAProxy notices that a node is outside the primary component; uses the first node again once it is back; and ends
# the sessions of a node that fails, and those of a backup when the first is back.
SHAPES_DO = {"kolla": (True, True, False, False), "kolla-external": (False, True, False, False),
             "openstack-ansible": (True, True, False, False), "tripleo": (True, False, True, False),
             "percona": (True, True, False, True)}


def expect_error(number, connection, text):
    try:
        ask(connection, text)
    except pymysql.MySQLError as failure:
        expect(failure.args[0] == number, f"{text}: {failure}")
        return
    raise AssertionError(f"{text}: no error {number}")


class Clustered:
    """Cases with one cluster. Each leaves all nodes in it."""

    def __init__(self):
        self.cluster = Galera().start()
        self.nodes = self.cluster.nodes
        self.nodes[0].sql("CREATE TABLE log (n int PRIMARY KEY, by_node text)")
        self.cluster.await_same()

    def close(self):
        self.cluster.end()

    def _write(self, node, number):
        node.sql("INSERT INTO log VALUES (%s, @@wsrep_node_name)", number)

    def _numbers(self, node):
        """What has been committed anywhere before."""
        with contextlib.closing(node.connect()) as connection:
            ask(connection, "SET wsrep_sync_wait = 1")
            return [row[0] for row in ask(connection, "SELECT n FROM log ORDER BY n")]

    def _expect_same(self):
        self.cluster.await_size(len(self.nodes))
        found = [self._numbers(node) for node in self.nodes]
        expect(all(numbers == found[0] for numbers in found), found)

    def _expect_goes_on(self, node, number):
        """It writes soon without the one that has just failed."""
        began = time.monotonic()
        self._write(node, number)
        expect(time.monotonic() - began < EXPELLED_S, time.monotonic() - began)
        self.cluster.await_size(len(self.nodes) - 1)

    def members(self):
        """All are in one component, with names and settings of their own."""
        first = self.nodes[0]
        expect([node.sql("SELECT @@wsrep_node_name")[0][0] for node in self.nodes] == ["node1", "node2", "node3"], "names")
        expect({node.status("cluster_state_uuid") for node in self.nodes} == {first.status("cluster_state_uuid")}, "state")
        expect(not any("State transfer required" in node.log() for node in self.nodes), "data was transferred at the start")
        shown = first.sql("SELECT @@wsrep_sync_wait, @@innodb_autoinc_lock_mode, @@auto_increment_increment, @@sync_binlog")
        expect(shown == [(0, 2, 3, 1)], shown)
        with contextlib.closing(connect_by_url(self.cluster.url())) as connection:
            expect(ask(connection, "SELECT CURRENT_USER()") == (("berth@%",),), "the user")

    def reads_on_another(self):
        """What was committed on one is read on each other with wsrep_sync_wait=1; without, a node that is held back does not
        show it, and with it the read waits."""
        for number, node in enumerate(self.nodes):
            self._write(node, number)
            for other in self.nodes:
                expect(number in self._numbers(other), f"{other.name} does not have {number}")
        first, second = self.nodes[:2]
        with contextlib.closing(second.connect()) as connection:
            ask(connection, "SET wsrep_sync_wait = 1")
            with second.held_back():
                self._write(first, 10)
                expect(second.sql("SELECT n FROM log WHERE n = 10") == [], "it is not held back")
                answers = []
                reader = threading.Thread(target=lambda: answers.append(ask(connection, "SELECT n FROM log WHERE n = 10")))
                reader.start()
                reader.join(0.3)
                expect(reader.is_alive() and not answers, answers)
            reader.join(20)
            expect(answers == [((10,),)], answers)

    def certified(self):
        """Of two transactions on different nodes that change the same row, the second to commit is refused."""
        first, second = self.nodes[:2]
        self._write(first, 20)
        expect(20 in self._numbers(second), "the row")
        with contextlib.closing(first.connect()) as one, contextlib.closing(second.connect()) as two:
            for connection in (one, two):
                ask(connection, "BEGIN")
                ask(connection, "UPDATE log SET by_node = CONCAT(by_node, @@wsrep_node_name) WHERE n = 20")
            ask(one, "COMMIT")
            expect_error(DEADLOCK, two, "COMMIT")
        self._expect_same()
        found = second.sql("SELECT by_node FROM log WHERE n = 20")
        expect(found == [("node1node1",)], found)

    def one_killed(self):
        """The others go on within a second or two; it joins again with what it missed, and gets no copy of everything."""
        first, second = self.nodes[:2]
        first.kill()
        self._expect_goes_on(second, 30)
        before = len(first.log())
        first.start()
        self._expect_same()
        expect("rsync IST completed" in first.log()[before:], "it got a copy of everything")

    def other_data(self):
        """A node that cannot execute what it has missed does not join with what it has, and gets a copy of everything."""
        first, second = self.nodes[:2]
        with contextlib.closing(first.connect()) as connection:
            ask(connection, "SET wsrep_on = OFF")
            ask(connection, "INSERT INTO log VALUES (35, 'alone')")
        first.kill()
        self._expect_goes_on(second, 35)
        before = len(first.log())
        first.start()
        expect("-> disconnected" in first.log()[before:], "it has joined with what it had")
        self._expect_same()

    def one_frozen(self):
        """The others go on without it; when it wakes up, it notices, and joins again."""
        first, second = self.nodes[:2]
        first.freeze()
        self._expect_goes_on(second, 40)
        first.thaw()
        self._expect_same()

    def isolated(self):
        """A node that is alone refuses reads and writes, and the others go on."""
        first, second = self.nodes[:2]
        first.isolate()
        wait_until(lambda: not first.is_primary(), "it takes itself for a part of the primary component")
        with contextlib.closing(first.connect()) as connection:
            for text in ("SELECT n FROM log", "INSERT INTO log VALUES (50, '')"):
                expect_error(NOT_PREPARED, connection, text)
        self._write(second, 51)
        first.isolate(False)
        self._expect_same()
        expect(51 in self._numbers(first) and 50 not in self._numbers(first), "rows")

    def all_killed(self):
        """All are killed: together they go on as they were, or one begins, and those that it has news for join it."""
        self._write(self.nodes[0], 60)
        self.cluster.kill_all()
        self.cluster.start_all()
        self._expect_same()
        first, second, third = self.nodes
        first.kill()
        self.cluster.await_size(2)
        self._write(third, 61)
        self.cluster.await_same()
        self.cluster.kill_all()
        began = self.cluster.recover()
        expect(began is not first, "a node that lacks a commit began")
        self._expect_same()
        expect({60, 61} <= set(self._numbers(first)), self._numbers(first))

    def all_stopped(self):
        """After an orderly end, the last one begins. A node that has lost its data gets a copy."""
        self.cluster.stop_all()
        third = self.nodes[2]
        shutil.rmtree(third.data)
        third.place.make_directory("data")
        expect_failure(processes.Failure, self.nodes[0].start, 1)
        self.nodes[0].kill()
        self.cluster.recover(self.nodes[:2])
        third.start()
        self._expect_same()

    def cluster_of_killed_test(self):
        """SIGKILL for a test: nothing is left of its cluster."""
        with killed_test("from galera import Galera\ncluster = Galera(nodes=2).start()\n"
                         "print(cluster.nodes[1].place.path, flush=True)") as path:
            expect(os.path.isdir(path) and processes.guard.processes_below(path), path)


class Balanced:
    """Cases with a cluster behind HAProxy."""

    def __init__(self):
        self.cluster = Galera().start()
        self.nodes = self.cluster.nodes
        self.nodes[0].sql("CREATE TABLE log (n int PRIMARY KEY)")

    def close(self):
        self.cluster.end()

    def _session(self, balancer):
        return contextlib.closing(connect_by_url(balancer.url(read_timeout=20)))

    def _name(self, connection):
        return ask(connection, "SELECT @@wsrep_node_name")[0][0]

    def _session_on(self, balancer, name):
        """A session of that node, as soon as new ones get it. On a busy machine a check may fail just then, so the next
        session need not be on the same node."""
        def begin():
            with contextlib.ExitStack() as stack, contextlib.suppress(pymysql.MySQLError):
                connection = stack.enter_context(self._session(balancer))
                if self._name(connection) == name:
                    stack.pop_all()
                    return connection
            return None

        return contextlib.closing(wait_until(
            begin, lambda: f"no sessions on {name} in the shape {balancer.shape_name}: {balancer.tell('show stat')}"))

    def _await_name(self, balancer, name):
        """New sessions get that node."""
        with self._session_on(balancer, name):
            pass

    def switched(self):
        """As with kolla-ansible: the first node is used; sessions on another stay there when it is used again."""
        with Balancer(self.nodes, inter_ms=100) as balancer, self._session(balancer) as old:
            expect(self._name(old) == "node1", self._name(old))
            balancer.use(self.nodes[1])
            with self._session(balancer) as new:
                expect((self._name(old), self._name(new)) == ("node1", "node2"), "names")
                balancer.use_any()
                self._await_name(balancer, "node1")
                expect(self._name(new) == "node2" and balancer.sessions(self.nodes[1]) == 1, "two nodes have sessions")
                balancer.end_sessions(self.nodes[1])
                expect_failure(pymysql.OperationalError, self._name, new)

    def shapes(self):
        """Of all shapes: which node is used when the first one fails, and when it is back, and what happens to old sessions."""
        for shape, does in SHAPES_DO.items():
            expect(any(self._does(shape, *does) for _ in range(ATTEMPTS_MOST)), f"{shape}: the backup failed each time")
        expect(set(SHAPES) == set(SHAPES_DO), "a shape is not tested")

    def _does(self, shape, notices, returns, ends_old, ends_backup):
        """False: the backup failed as well, so its sessions do not show what HAProxy does when the first node returns. When a node
        joins the others, the nodes may need longer to agree than Galera's time limits allow; then all of them are outside the
        primary component for a moment, which may be longer than HAProxy's checks wait here."""
        with Balancer(self.nodes, shape, inter_ms=MISSED_MS // (SHAPES[shape].fall - 1)) as balancer:
            with self._session_on(balancer, "node1") as old:
                self._fail_first(balancer, shape, notices)
                self._expect_end(old, ends_old, f"{shape}: sessions on a node that fails")
            used = "node2" if notices else "node1"
            failures = balancer.failures(used)
            with self._session_on(balancer, used) as backup:
                self.nodes[0].isolate(False)
                self.cluster.await_size(3)
                balancer.await_up("node1")
                balancer.await_steady(used)
                if balancer.failures(used) > failures:
                    return False
                self._await_name(balancer, "node1" if returns else "node2")
                self._expect_end(backup, ends_backup, f"{shape}: sessions on a backup")
        return True

    def _expect_end(self, session, ends, what):
        """HAProxy ends sessions a moment after it has led new ones to another node."""
        if ends:
            wait_until(lambda: self._is_ended(session), what, 5)
        else:
            expect(not self._is_ended(session), what)

    def _fail_first(self, balancer, shape, notices):
        """The first node leaves the primary component, and still accepts connections."""
        self.nodes[0].isolate()
        if notices:
            self._await_name(balancer, "node2")
            return
        wait_until(lambda: not self.nodes[0].is_primary(), "it takes itself for a part of the primary component")
        with self._session(balancer) as connection:
            expect_error(NOT_PREPARED, connection, "SELECT n FROM log")

    def _is_ended(self, connection):
        try:
            self._name(connection)
        except pymysql.OperationalError:
            return True
        return False
