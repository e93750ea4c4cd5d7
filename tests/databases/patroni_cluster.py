"""A PostgreSQL cluster that Patroni manages: etcd, and members that are each a Patroni with its PostgreSQL server.

    with Etcd() as etcd, Cluster(etcd, synchronous_mode=True) as cluster:
        cluster.url()                       # names all members, as for postgres.py
        cluster.switch_over()
        cluster.primary().kill()            # Patroni and its server

Needs Debian's packages `patroni` and `etcd-server`."""

import contextlib
import json
import os
import signal
import urllib.error
import urllib.request

import guard
from postgres import PROGRAMS, SUPERUSER, program, psycopg2, servers
from processes import Daemon, state_of, wait_until

ETCD, PATRONI, PATRONICTL = "/usr/bin/etcd", "/usr/bin/patroni", "/usr/bin/patronictl"
SCOPE, PASSWORD = "berth", "patroni-password"
TTL_S, LOOP_S, RETRY_S = 20, 2, 5


def is_installed():
    return all(os.access(path, os.X_OK) for path in (ETCD, PATRONI, PATRONICTL))


def http(port, path, method="GET", body=None):
    """(status, decoded body) of Patroni or etcd; (None, None) if there is no answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            text = answer.read()
            status = answer.status
    except urllib.error.HTTPError as error:
        text, status = error.read(), error.code
    except OSError:
        return None, None
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text.decode()


class Etcd(Daemon):
    def __init__(self):
        super().__init__()
        self.port, self.peer_port = servers.free_port(), servers.free_port()

    def start(self, seconds=60):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.port, self.peer_port))
        self.execute(ETCD, "--name", "e1", "--data-dir", os.path.join(self.place.path, "etcd"), "--listen-client-urls", client,
                     "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                     "--initial-cluster", f"e1={peer}", "--unsafe-no-fsync")

        def is_ready():
            self.expect_running()
            return http(self.port, "/health")[0] == 200

        wait_until(is_ready, lambda: f"etcd is not ready: {self.log()[-2000:]}", seconds)
        return self


class Member(Daemon):
    """One Patroni, and the server that it starts. `process` is Patroni's; the server is no child of it."""

    def __init__(self, cluster, name):
        super().__init__()
        self.cluster, self.name = cluster, name
        self.port, self.rest_port = servers.free_port(), servers.free_port()
        self.data = os.path.join(self.place.path, "data")
        self.configuration = self.place.path + "/patroni.yml"

    def settings(self):
        login = {"username": SUPERUSER, "password": PASSWORD}
        return {
            "scope": SCOPE, "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.rest_port}", "connect_address": f"127.0.0.1:{self.rest_port}"},
            "etcd3": {"host": f"127.0.0.1:{self.cluster.etcd.port}"},
            "bootstrap": {"dcs": self.cluster.settings, "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "no-sync"],
                          "pg_hba": ["local all all trust", "local replication all trust",
                                     "host all all 127.0.0.1/32 scram-sha-256",
                                     "host replication all 127.0.0.1/32 scram-sha-256"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}", "data_dir": self.data,
                "bin_dir": PROGRAMS, "pgpass": self.place.path + "/pgpass", "basebackup": [{"checkpoint": "fast"}, "no-sync"],
                "authentication": {"superuser": login, "replication": login, "rewind": login},
                "parameters": {"unix_socket_directories": self.place.path, "lc_messages": "C",
                               "dynamic_shared_memory_type": "mmap"}},
        }

    def start(self, seconds=60):
        self.launch()
        wait_until(self.is_ready, lambda: f"{self.name} is not ready: {self.log()[-3000:]}", seconds)
        return self

    def launch(self):
        self.place.write("patroni.yml", json.dumps(self.settings(), indent=1))  # which is YAML as well
        self.execute("/usr/bin/python3", "-B", PATRONI, self.configuration)

    def is_ready(self):
        """The server runs, and is the primary or streams from it."""
        self.expect_running()
        return http(self.rest_port, "/health")[0] == 200

    def is_primary(self):
        return http(self.rest_port, "/primary")[0] == 200

    def pids(self):
        """Of everything that runs: Patroni first, the processes of the server after it."""
        own = [self.process.pid] if self.is_running() else []
        return own + [pid for pid in guard.processes_below(self.place.path) if pid not in own]

    def kill(self):
        """SIGKILL for Patroni, the server and all its processes."""
        self.freeze()
        guard.send(self.pids(), signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not self.pids(), f"{self.name} still runs")
        guard.remove_segment(self.data)
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.data, "postmaster.pid"))

    def freeze(self):
        """SIGSTOP for all of it, as if the machine had stopped."""
        seen = []
        while seen != (found := self.pids()):
            guard.send(found, signal.SIGSTOP)
            seen = found
        wait_until(lambda: all(state_of(pid) in "TZX" for pid in seen), f"{self.name} does not stop")

    def thaw(self):
        guard.send(reversed(self.pids()), signal.SIGCONT)

    def connect(self, database="placement"):
        connection = psycopg2.connect(host=self.place.path, port=self.port, user=SUPERUSER, dbname=database, connect_timeout=5)
        connection.autocommit = True
        return connection

    def sql(self, text, *arguments, database="placement"):
        with contextlib.closing(self.connect(database)) as connection, connection.cursor() as cursor:
            cursor.execute(text, arguments or None)
            return cursor.fetchall() if cursor.description else []


class Cluster:
    """Two members, unless there are to be more. settings: of Patroni's dynamic configuration."""

    user, password, database = "berth", "berth-password", "placement"

    def __init__(self, etcd, members=2, **settings):
        self.etcd = etcd
        self.settings = {"ttl": TTL_S, "loop_wait": LOOP_S, "retry_timeout": RETRY_S,
                         "postgresql": {"use_pg_rewind": True, "parameters": {"wal_log_hints": "on", "timezone": "Etc/UTC"}},
                         **settings}
        self.members = [Member(self, f"m{number + 1}") for number in range(members)]

    def __enter__(self):
        try:
            first, *others = self.members
            first.start()
            wait_until(first.is_primary, "there is no primary", 60)
            first.sql(f"CREATE ROLE {self.user} LOGIN PASSWORD '{self.password}'", database="postgres")
            first.sql(f"CREATE DATABASE {self.database} OWNER {self.user}", database="postgres")
            for other in others:
                other.start()
            self.await_standbys()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exception):
        for member in self.members:
            member.end()

    # What it looks like.

    def status(self):
        """GET /cluster of any member that answers."""
        for member in self.members:
            if member.is_running() and state_of(member.process.pid) not in "TZX":
                status, found = http(member.rest_port, "/cluster")
                if status == 200:
                    return found
        return {"members": []}

    def primary(self):
        """The member that is the primary; None: there is none now."""
        return next((member for member in self.members if member.is_running() and state_of(member.process.pid) != "T"
                     and member.is_primary()), None)

    def standbys(self):
        primary = self.primary()
        return [member for member in self.members if member is not primary]

    def await_primary(self, other_than=None, seconds=TTL_S * 3):
        return wait_until(lambda: (found := self.primary()) is not other_than and found, "there is no new primary", seconds, 0.05)

    def await_standbys(self, seconds=60):
        """Until all members but the primary stream, and one is synchronous if that is required."""
        wait_until(self._are_standbys_there, lambda: str(self.status()), seconds, 0.1)
        return self.await_primary()

    def _are_standbys_there(self):
        """A primary that has just been replaced may still answer, and end."""
        states = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        roles = [member.get("role") for member in self.status()["members"]]
        try:
            count = self.await_primary().sql(states, database="postgres")[0][0]
        except psycopg2.OperationalError:
            return False
        return count == len(self.members) - 1 and (not self.settings.get("synchronous_mode") or "sync_standby" in roles)

    # What happens to it.

    def switch_over(self):
        """patronictl switchover, without questions."""
        primary = self.primary()
        target = self.standbys()[0]
        primary.place.run("/usr/bin/python3", "-B", PATRONICTL, "-c", primary.configuration, "switchover", SCOPE, "--master",
                          primary.name, "--candidate", target.name, "--force", timeout=120)
        return self.await_primary(primary)

    def url(self, **parameters):
        hosts = "&".join(f"host=127.0.0.1:{member.port}" for member in self.members)
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"postgresql://{self.user}:{self.password}@/{self.database}?{hosts}&target_session_attrs=read-write{more}"

