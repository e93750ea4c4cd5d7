"""A PostgreSQL server of its own for a test: on 127.0.0.1 and on a unix socket, with its own data directory.

    with Postgres() as server:
        server.sql("SELECT 1")              # as the superuser, in the test's database
        server.url()                        # for the programs under test, as a user who is not the superuser

Its settings are PostgreSQL's defaults, including the durable ones, unless a test asks for others. All servers of one
machine start from copies of one new cluster, so they have the same system identifier."""

import contextlib
import os
import signal
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import processes  # noqa: E402
import psycopg2  # noqa: E402
import psycopg2.extensions  # noqa: E402
import servers  # noqa: E402
from database import Authority, Database, url_of  # noqa: E402
from processes import Place, wait_until  # noqa: E402

PROGRAMS = "/usr/lib/postgresql/15/bin"
SUPERUSER = "postgres"
STOP_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


def program(name):
    return os.path.join(PROGRAMS, name)


@contextlib.contextmanager
def new_cluster():
    place = Place()
    try:
        data = os.path.join(place.path, "data")
        place.run(program("initdb"), "-D", data, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                  "--no-sync", "--no-instructions")
        yield data
    finally:
        place.remove()


def literal(value):
    """A value in postgresql.conf."""
    text = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
    return "'" + str(text).replace("\\", "\\\\").replace("'", "''") + "'"


class Postgres(Database):
    """options: settings of postgresql.conf that differ from the defaults. access: the lines of pg_hba.conf for TCP; by
    default every user needs a password (SCRAM). tls: offers TLS, with a certificate of the CA in `authority`. The
    superuser is only accepted on the unix socket, without a password, as is everyone else."""

    ready = ("ready",)

    def __init__(self, options=None, access=("host all all 127.0.0.1/32 scram-sha-256",), tls=False, port=None,
                 user="berth", password="berth-password", database="placement"):
        self.access = access
        super().__init__(user, password, database, port)
        try:
            self.socket_directory = self.place.path
            self.data = os.path.join(self.place.path, "data")
            self.options = {"listen_addresses": "127.0.0.1", "port": self.port,
                            "unix_socket_directories": self.socket_directory, "timezone": "Etc/UTC",
                            "log_line_prefix": "%m [%p] %a ", "lc_messages": "C",
                            # in the data directory, not in /dev/shm, where a killed server would leave it
                            "dynamic_shared_memory_type": "mmap", **(options or {})}
            self.make_data()
            if tls:
                cert, key = self.make_certificate()
                self.options.update(ssl=True, ssl_cert_file=cert, ssl_key_file=key, ssl_ca_file=self.authority.cert)
            self._write_access()
        except BaseException:
            self.place.remove()
            raise

    def make_data(self):
        version = processes.version_of(program("postgres"))
        self.place.copy(processes.made_once(f"postgres-{version}", new_cluster), "data")

    def _write_access(self):
        lines = ["local all all trust", "local replication all trust", *self.access]
        self.place.write("data/pg_hba.conf", "\n".join(lines) + "\n")

    # Starting and ending.

    def launch(self):
        """Starts the server without waiting for it."""
        self._write_options()
        self.execute(program("postgres"), "-D", self.data)

    def _write_options(self):
        settings = "".join(f"{name} = {literal(value)}\n" for name, value in self.options.items())
        self.place.write("data/postgresql.conf", settings)

    def await_ready(self, seconds=60):
        def is_ready():
            self.expect_running()
            lines = processes.guard.postmaster_lines(self.data)
            return len(lines) > 7 and lines[0] == str(self.process.pid) and lines[7].strip() in self.ready

        wait_until(is_ready, lambda: f"the server is not ready: {self.log()[-2000:]}", seconds)

    def make_database_once(self):
        if not self.sql("SELECT 1 FROM pg_roles WHERE rolname = %s", self.user, database="postgres"):
            self.sql(f"CREATE ROLE {quoted(self.user)} LOGIN PASSWORD %s", self.password, database="postgres")
            self.create_database(self.database)

    def stop(self, how="fast", seconds=60):
        """A shutdown: smart, fast, or immediate, which leaves recovery to the next start."""
        self.send(STOP_SIGNALS[how])
        self.process.wait(seconds)

    # Using it.

    def connect(self, database=None, user=SUPERUSER, password=None, socket=True, **parameters):
        """A psycopg2 connection in autocommit mode: over the unix socket, or over TCP."""
        where = self.socket_directory if socket else "127.0.0.1"
        connection = psycopg2.connect(host=where, port=self.port, user=user, password=password,
                                      dbname=database or self.database, **parameters)
        connection.autocommit = True
        return connection

    def is_standby(self):
        return self.sql("SELECT pg_is_in_recovery()")[0][0]

    def create_database(self, name):
        """An empty database that belongs to the user."""
        self.sql(f"CREATE DATABASE {quoted(name)} OWNER {quoted(self.user)}", database="postgres")

    def configure(self, **options):
        """Changes settings that need no restart; returns when new sessions have them."""
        self.options.update(options)
        self._write_options()
        before = self.sql("SELECT pg_conf_load_time()", database="postgres")
        self.send(signal.SIGHUP)
        wait_until(lambda: self.sql("SELECT pg_conf_load_time()", database="postgres") != before, "no reload")

    def url(self, database=None, socket=False, driver="postgresql+psycopg2", user=None, password=None, port=None, **parameters):
        """A URL of SQLAlchemy for the user who owns the database. port: of a proxy in front of the server. parameters:
        more of its query, such as sslmode."""
        return url(user or self.user, password or self.password, database or self.database, port or self.port,
                   self.socket_directory if socket else None, driver, **parameters)

    def variables(self, database=None):
        """What libpq and psql read from the environment."""
        return {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": self.user, "PGPASSWORD": self.password,
                "PGDATABASE": database or self.database}


def quoted(name):
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def url(user, password, database, port, socket_directory=None, driver="postgresql+psycopg2", **parameters):
    """A URL of a port on 127.0.0.1, or of a unix socket. The database is encoded, as libpq wants it."""
    address = f"127.0.0.1:{port}"
    if socket_directory:
        address = ""
        parameters = {"host": socket_directory, "port": port, **parameters}
    return url_of(driver, user, password, address, urllib.parse.quote(database, safe=""), parameters)
