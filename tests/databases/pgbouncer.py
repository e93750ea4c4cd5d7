"""PgBouncer in front of a PostgreSQL server, in transaction mode unless a test asks for another.

    with Postgres() as server, PgBouncer(server) as pool:
        pool.url()
        pool.admin("SHOW POOLS")
"""

import contextlib
import signal

import postgres
from postgres import psycopg2, servers
from processes import Daemon, wait_until

PROGRAM = "/usr/sbin/pgbouncer"
ADMIN, ADMIN_PASSWORD = "pgbouncer", "pgbouncer-password"
STOP_SIGNALS = {"smart": signal.SIGINT, "immediate": signal.SIGTERM}


class PgBouncer(Daemon):
    """Clients use the same users, passwords and databases as on the server. options: settings of its section
    [pgbouncer]."""

    def __init__(self, server, options=None, port=None):
        self.server = server
        self.port = port or servers.free_port()
        super().__init__()
        self.options = {"listen_addr": "127.0.0.1", "listen_port": self.port, "unix_socket_dir": self.place.path,
                        "pool_mode": "transaction", "auth_type": "scram-sha-256", "admin_users": ADMIN,
                        "auth_file": self.place.path + "/users", **(options or {})}
        self.configuration = self.place.path + "/pgbouncer.ini"

    def _write_configuration(self):
        users = {self.server.user: self.server.password, ADMIN: ADMIN_PASSWORD}
        self.place.write("users", "".join(f"{in_quotes(name)} {in_quotes(secret)}\n" for name, secret in users.items()))
        lines = ["[databases]", f"* = host=127.0.0.1 port={self.server.port}", "[pgbouncer]",
                 *(f"{name} = {value}" for name, value in self.options.items())]
        self.place.write("pgbouncer.ini", "\n".join(lines) + "\n")

    def start(self, seconds=20):
        self._write_configuration()
        before = len(self.log())
        self.execute(PROGRAM, self.configuration)

        def is_ready():
            self.expect_running()
            return "process up" in self.log()[before:]

        wait_until(is_ready, lambda: f"PgBouncer is not ready: {self.log()[-2000:]}", seconds)
        return self

    def stop(self, how="immediate", seconds=30):
        """smart: waits until no query is in progress."""
        self.send(STOP_SIGNALS[how])
        self.process.wait(seconds)

    def point_at(self, server):
        """As after a failover: new connections, and those that are free, go to another server."""
        self.server = server
        self._write_configuration()
        self.admin("RELOAD")

    def admin(self, command):
        """A command of PgBouncer's console: PAUSE, RESUME, KILL, SHOW POOLS. Rows as dictionaries."""
        with contextlib.closing(psycopg2.connect(host="127.0.0.1", port=self.port, user=ADMIN, password=ADMIN_PASSWORD,
                                                 dbname="pgbouncer")) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(command)
                names = [column.name for column in cursor.description or []]
                return [dict(zip(names, row)) for row in cursor.fetchall()] if names else []

    def url(self, database=None, password=None, port=None, **parameters):
        """As Postgres.url(), over TCP."""
        return postgres.url(self.server.user, password or self.server.password, database or self.server.database,
                            port or self.port, **parameters)


def in_quotes(text):
    """A word in PgBouncer's file of users."""
    return '"' + text.replace('"', '""') + '"'
