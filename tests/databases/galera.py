"""A Galera cluster of MariaDB servers, all of them on loopback.

    with Galera() as cluster:
        first, second, third = cluster.nodes
        first.kill()
        cluster.await_size(2)
        first.start()                       # joins again

Its settings are those of kolla-ansible where they matter to clients, but the timeouts after which a silent node is expelled
are a tenth of Galera's own, the cache of write sets is small, and whole copies are sent by rsync unless a test wants them as
there: with mariabackup, which takes ten seconds longer.

The first start of a cluster transfers nothing: all nodes have copies of one data directory, at the same position, and a file
that says that they were the members of one component, as after a failure of the current in all of them."""

import contextlib
import os
import re
import shutil
import uuid

import processes
import pymysql
import servers
from mariadb import PROGRAM, SUPERUSER, SYSTEM, Mariadb, empty_data
from processes import state_of, wait_until

LIBRARY = "/usr/lib/galera/libgalera_smm.so"
BACKUP = "/usr/bin/mariadb-backup"
RSYNC, MARIABACKUP = "rsync", "mariabackup"
STARTS_S = 90
JOINS_MOST = 4
# A busy machine must not seem silent.
TIMEOUTS = {"evs.keepalive_period": "PT0.1S", "evs.inactive_check_period": "PT0.1S", "evs.suspect_timeout": "PT1S",
            "evs.inactive_timeout": "PT2S", "evs.install_timeout": "PT1S", "evs.join_retrans_period": "PT0.2S",
            "gmcast.peer_timeout": "PT1S", "gmcast.time_wait": "PT1S"}
# Where no node is meant to fail, none is expelled, however busy the machine is: the ids that nodes give out depend on their number.
PATIENT = {"evs.suspect_timeout": "PT30S", "evs.inactive_timeout": "PT60S", "gmcast.peer_timeout": "PT30S"}
# Galera's own
OWN_TIMEOUTS = {"evs.keepalive_period": "PT1S", "evs.inactive_check_period": "PT0.5S", "evs.suspect_timeout": "PT5S",
                "evs.inactive_timeout": "PT15S", "evs.install_timeout": "PT7.5S", "evs.join_retrans_period": "PT1S",
                "gmcast.peer_timeout": "PT3S", "gmcast.time_wait": "PT5S"}


class Left(processes.Failure):
    pass


class Node(Mariadb):
    """`name`: what @@wsrep_node_name shows."""

    def __init__(self, cluster, number, **more):
        self.cluster, self.number, self.name = cluster, number, f"node{number}"
        self.group_port, self.transfer_port, self.copy_port = (servers.free_port() for _ in range(3))
        super().__init__(**more)

    def own_options(self):
        provider = {"gmcast.listen_addr": f"tcp://127.0.0.1:{self.group_port}",
                    "ist.recv_addr": f"127.0.0.1:{self.transfer_port}", "gcache.size": "16M", **TIMEOUTS, **self.cluster.provider}
        return {"wsrep_on": True, "wsrep_provider": LIBRARY, "wsrep_cluster_name": self.cluster.name,
                "wsrep_node_name": self.name, "wsrep_node_address": f"127.0.0.1:{self.group_port}",
                "wsrep_sst_receive_address": f"127.0.0.1:{self.copy_port}", "wsrep_sst_method": self.cluster.copies,
                "wsrep_sst_auth": f"{SUPERUSER}:",
                "wsrep_slave_threads": 4, "innodb_autoinc_lock_mode": 2,
                "wsrep_provider_options": ";".join(f"{name}={value}" for name, value in provider.items())}

    def write_options(self):
        """Copies are not encrypted, also if clients are: that would need stunnel."""
        path = super().write_options()
        with open(path, "a") as file:
            file.write("[sst]\nssl-mode=DISABLED\nsst-log-archive=0\n")
        return path

    def make_data(self):
        """An empty one: the cluster fills it."""

    # Starting.

    def launch(self, *words, bootstrap=False):
        """As Debian's service does it: a node that was killed looks first where it was, so that it need not get a copy."""
        self.options["wsrep_cluster_address"] = "gcomm://" + ",".join(
            f"127.0.0.1:{node.group_port}" for node in self.cluster.nodes)
        where = ["--wsrep-new-cluster"] if bootstrap else []
        if self.saved_state("seqno") == "-1":
            where.append("--wsrep-start-position=" + self.recovered_position())
        self.launched_at = os.path.getsize(self.log_file)
        super().launch(*where, *words)

    def back_up(self, name):
        """The path of a backup, made while it serves, that restore() takes."""
        path = self.place.make_directory(name)
        self._mariabackup("--backup", f"--target-dir={path}", f"--user={SUPERUSER}", f"--socket={self.socket}")
        self._mariabackup("--prepare", f"--target-dir={path}")
        return path

    def restore(self, path):
        """While it has ended: all that it has is what was backed up, and it begins a new cluster with that."""
        self.wipe()
        self._mariabackup("--copy-back", f"--target-dir={path}")
        self.start(bootstrap=True)

    def _mariabackup(self, *words):
        self.place.run(BACKUP, f"--defaults-file={self.write_options()}", *words)

    def replace(self):
        """By a new node, which has nothing, and gets a copy of one that serves; there is none before the others have noticed that the
        old one is gone."""
        self.kill()
        self.wipe()
        self.cluster.await_size(len(self.cluster.nodes) - 1)
        self.start()

    def wipe(self):
        """While it has ended: it has nothing, and joins with a copy of another node's data."""
        shutil.rmtree(self.data)
        self.place.make_directory("data")

    def await_ready(self, seconds=STARTS_S):
        """A node that was killed may not say rightly what it has. Then it fails at a transaction that it gets a second time, and
        leaves for good; so it joins as an operator lets it: with a copy of another node's data. On a busy machine, that may take
        more than one attempt."""
        for _ in range(JOINS_MOST - 1):
            with contextlib.suppress(Left):
                return super().await_ready(seconds)
            self.kill()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.data, "grastate.dat"))
            self.launch()
        return super().await_ready(seconds)

    def has_said(self, pattern):
        """Since it was launched."""
        with open(self.log_file, errors="replace") as file:
            file.seek(self.launched_at)
            return re.search(pattern, file.read())

    def has_left(self):
        return self.has_said(r"WSREP: Server status change \w+ -> disconnected")

    def contradicts(self):
        """It remembers another component than the others do, so that they do not go on by themselves."""
        return self.has_said(r"last_prim\(.*\) is inconsistent to restored view")

    def saved_state(self, name):
        """A line of grastate.dat."""
        with contextlib.suppress(FileNotFoundError), open(os.path.join(self.data, "grastate.dat")) as file:
            return re.search(rf"^{name}: *(\S+)", file.read(), re.M)[1]

    def recovered_position(self):
        """UUID:NUMBER of the last transaction that it has; it must not run."""
        found = self.place.run(PROGRAM, f"--defaults-file={self.write_options()}", "--wsrep-recover")
        return re.search(r"WSREP: Recovered position: *(\S+)", found)[1]

    def start(self, seconds=STARTS_S, bootstrap=False):
        """Joins, or begins a new cluster with what it has; returns when it takes part."""
        self.launch(bootstrap=bootstrap)
        self.await_ready(seconds)
        return self

    def is_ready(self):
        if self.has_left():
            raise Left(f"{self.name} has left the cluster: {self.log()[-3000:]}")
        return self.status("local_state_comment") == "Synced" and self.status("ready") == "ON"

    # What it looks like; SHOW STATUS works on a node outside the primary component as well.

    def status(self, name):
        return dict(self.sql("SHOW GLOBAL STATUS LIKE %s", f"wsrep_{name}", database=SYSTEM)).get(f"wsrep_{name}")

    def is_primary(self):
        """Whether it is in the primary component, as far as it knows: a frozen one is not asked."""
        with contextlib.suppress(pymysql.MySQLError):
            return self.is_awake() and self.status("cluster_status") == "Primary"
        return False

    def is_awake(self):
        return self.is_running() and state_of(self.process.pid) not in "TZX"

    # What happens to it.

    def isolate(self, isolated=True):
        """A partition of the network: it neither sends to nor hears any other node, and serves clients as such a node does."""
        self.set_provider(**{"gmcast.isolate": int(isolated)})

    def set_provider(self, **options):
        for name, value in options.items():
            self.sql("SET GLOBAL wsrep_provider_options = %s", f"{name}={value}", database=SYSTEM)

    def desync(self, desynced=True):
        """Like a node from which a backup is taken: the others do not wait for it if it falls behind."""
        self.configure(wsrep_desync=desynced)

    @contextlib.contextmanager
    def held_back(self):
        """It stays in the cluster, and executes nothing of what the others commit."""
        self.desync()
        with contextlib.closing(self.connect(SYSTEM)) as connection, connection.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")
            yield
            cursor.execute("UNLOCK TABLES")
        self.desync(False)


class Galera:
    """Three nodes, unless there are to be more or fewer. options: of all nodes, as for Mariadb. provider: options of Galera
    itself. copies: how a node gets all data of another one, RSYNC or MARIABACKUP. more: arguments of each Mariadb."""

    def __init__(self, nodes=3, options=None, provider=None, copies=RSYNC, **more):
        self.name = "berth-" + uuid.uuid4().hex[:8]
        self.provider, self.copies = provider or {}, copies
        self.nodes = []
        try:
            for number in range(nodes):
                self.nodes.append(Node(self, number + 1, options=options, **more))
        except BaseException:
            self.end()
            raise

    # Starting and ending.

    def start(self):
        """The first start; creates the user and the database."""
        source = processes.made_once("galera-on-" + os.path.basename(empty_data()), new_member)
        names = {node: str(uuid.uuid4()) for node in self.nodes}
        members = "".join(f"member: {name} 0\n" for name in names.values())
        for node, name in names.items():
            node.place.copy(source, "data")
            node.place.write("data/gvwstate.dat", f"my_uuid: {name}\n#vwbeg\nview_id: 3 {min(names.values())} 1\nbootstrap: 0\n"
                                                  f"{members}#vwend\n")
        self.start_all()
        self.nodes[0].make_database_once()
        self.await_same()
        return self

    def start_all(self):
        """After all were killed: each remembers who was there, and once all of these are back, they go on. What they remember
        differs if they were killed while one had left or joined; then they wait for an operator."""
        for node in self.nodes:
            node.launch()
        contradict = []

        def goes_on():
            contradict[:] = [node for node in self.running() if node.contradicts()]
            return contradict or self.has_size(len(self.nodes))

        self._await(goes_on, len(self.nodes))
        if contradict:
            self.kill_all()
            self.recover()

    def kill_all(self):
        for node in self.running():
            node.kill()

    def stop_all(self):
        """An orderly end; the last one may begin a new cluster."""
        for node in self.running():
            node.stop()

    def recover(self, nodes=None):
        """What an operator does after all have ended: the node with the most transactions begins a new cluster, and the others
        join it. nodes: those that come back. Returns the node that began."""
        nodes = nodes or self.nodes
        first = max(nodes, key=lambda node: int(node.recovered_position().rpartition(":")[2]))
        for node in nodes:
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(node.data, "gvwstate.dat"))
        state = os.path.join(first.data, "grastate.dat")
        with open(state) as file:
            text = file.read()
        first.place.write("data/grastate.dat", re.sub(r"(?m)^safe_to_bootstrap:.*", "safe_to_bootstrap: 1", text))
        first.start(bootstrap=True)
        others = [node for node in nodes if node is not first]
        for node in others:
            node.launch()
        for node in others:
            node.await_ready(STARTS_S)
        return first

    def end(self):
        for node in self.nodes:
            node.end()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.end()
            raise

    def __exit__(self, *exception):
        self.end()

    # What it looks like.

    def running(self):
        return [node for node in self.nodes if node.is_running()]

    def members(self):
        """The nodes that are in the primary component and answer."""
        return [node for node in self.nodes if node.is_primary()]

    def has_size(self, size):
        """The primary component has that many nodes, and all of them answer and are in step."""
        for node in self.running():
            node.expect_running()
        members = self.members()
        with contextlib.suppress(pymysql.MySQLError):  # one of them may just be ending
            return len(members) == size and all(node.status("cluster_size") == str(size) and node.is_ready() for node in members)

    def await_size(self, size, seconds=STARTS_S):
        self._await(lambda: self.has_size(size), size, seconds)

    def _await(self, condition, size, seconds=STARTS_S):
        wait_until(condition, lambda: f"no {size} nodes: {self.report()}", seconds, 0.03)

    def await_same(self, seconds=30):
        """Until all members have executed what is now committed on any of them."""
        newest = max(int(node.status("last_committed")) for node in self.members())
        wait_until(lambda: all(int(node.status("last_committed")) >= newest for node in self.members()),
                   lambda: f"not all are at {newest}: {self.report()}", seconds)

    def report(self):
        ends = [f"{node.name}: {node.log()[-1500:]}" for node in self.nodes]
        return "\n".join([str([node.name for node in self.members()]), *ends])

    def url(self, **more):
        """The first node's."""
        return self.nodes[0].url(**more)


@contextlib.contextmanager
def new_member():
    """The data directory of a node that ended in order, without an account of its own."""
    cluster = Galera(nodes=1)
    node = cluster.nodes[0]
    try:
        node.place.copy(empty_data(), "data")
        node.start(bootstrap=True)
        node.stop()
        for name in os.listdir(node.data):
            if name.startswith(("galera.cache", "mysql-bin")):
                os.remove(os.path.join(node.data, name))
        yield node.data
    finally:
        cluster.end()
