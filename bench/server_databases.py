"""The database servers that berth is measured on, each with a database for each cloud, and copies of these.

Servers have their default settings, the durable ones included, in the work directory, whose disk is measured. Everybody uses
them over TCP on the loopback interface. A copy is new, and its server has just written everything to disk."""

import contextlib
import os
import re
import sys
import tempfile
import time

import clouds
import measure
import reference

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(os.path.dirname(HERE), "tests", "databases")
MEASURED = "measured"  # the database of the cell
SYSTEM = "mysql"  # the database that every MariaDB server has
SETTLES_S = 20


class Databases:
    """`server`: where databases are created; `servers`: all that use the processors. A subclass starts them, and has `title`;
    `client`, the library; `limit`, the program that sends claims through it; and the methods whose absence is noticed."""

    def __init__(self, work):
        self.work, self.filled = work, set()
        sys.path.append(TESTS)
        usual, tempfile.tempdir = tempfile.tempdir, work
        try:
            self.server, self.servers = self.make()
        finally:
            tempfile.tempdir = usual
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def template(self, cloud):
        """The name of the database that has the cloud; nobody connects to it."""
        name = f"cloud_{cloud}"
        if cloud not in self.filled:
            self.server.create_database(name)
            self.fill_with(cloud, name)
            self.filled.add(cloud)
        return name

    def copied(self, cloud, name=MEASURED):
        """A new copy of the cloud; returns its name."""
        self.replace(name, self.template(cloud))
        return name

    def copy(self, cloud):
        """The URL for berthd of a new copy, in the place of the last one."""
        return self.url_of(self.copied(cloud))

    def once(self, cloud):
        """The same of a cloud that is needed once."""
        return self.copy(cloud)

    def sql(self, text, database=MEASURED):
        return self.server.sql(text, database=database)

    def batches(self):
        """How many have been written to the copy."""
        return self.sql("SELECT coalesce(max(number), 0) FROM berth_log")[0][0]

    # For the Python service.

    def fill(self, cloud):
        self.copied(cloud, f"python_{cloud}")

    def url(self, cloud):
        return self.server.url(f"python_{cloud}")

    def pids(self):
        return [pid for server in self.servers for pid in measure.family(server.process.pid)]

    def cpu_s(self):
        return sum(measure.tree_cpu_s(server.process.pid) for server in self.servers)

    def close(self):
        for server in self.servers:
            server.end()


class PostgresDatabases(Databases):
    title, client, limit = "PostgreSQL", "libpq", "limit_postgres"

    def make(self):
        import postgres
        server = postgres.Postgres({"log_line_prefix": "%m [%p] %d "})  # for statements()
        return server, [server]

    def start(self):
        self.server.start()

    def fill_with(self, cloud, name):
        with contextlib.closing(self.server.connect(name)) as connection:
            clouds.fill_postgres(cloud, connection, self.server.url(name), self.work, reference.MANAGE)

    def replace(self, name, template):
        self.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", "postgres")
        # copies files between two checkpoints
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy OWNER {self.server.user}", "postgres")

    def url_of(self, name):
        return self.server.url(name, driver="postgresql")

    def statements(self, act):
        """Those of the last transaction that wrote a batch to the copy during act()."""
        self.sql(f"ALTER DATABASE {MEASURED} SET log_statement = 'all'", "postgres")
        at = len(self.server.log())
        act()
        sessions = {}
        for line in self.server.log()[at:].splitlines():
            found = re.search(r"\[(\d+)\] " + MEASURED + r" LOG:  execute [^:]*: (.*)", line)
            if found:
                sessions.setdefault(found[1], []).append(found[2])
        for texts in sessions.values():
            last = max((i for i, text in enumerate(texts) if text.startswith("INSERT INTO berth_log")), default=None)
            if last is not None:
                begin = max(i for i in range(last) if texts[i].startswith("BEGIN"))
                return texts[begin:texts.index("COMMIT", last) + 1]
        return []


class MariadbDatabases(Databases):
    title, client, limit = "MariaDB", "libmariadb", "limit_mariadb"
    # The tests' own settings are smaller, and have a binary log. Memory is as for the Python service in the other rows.
    OPTIONS = {"innodb_buffer_pool_size": "512M", "innodb_log_file_size": "256M", "innodb_use_native_aio": True,
               "key_buffer_size": "128M", "skip_log_bin": None}
    FLUSHING = {"innodb_io_capacity_max": 20000, "innodb_io_capacity": 20000, "innodb_max_dirty_pages_pct": 0}

    def make(self):
        import mariadb
        server = mariadb.Mariadb(self.OPTIONS)
        return server, [server]

    def start(self):
        self.server.start()

    def fill_with(self, cloud, name):
        with contextlib.closing(self.server.connect(name, read_timeout=600, local_infile=True)) as connection:
            clouds.fill_mariadb(cloud, connection, self.server.url(name), self.work, reference.MANAGE)

    def drop(self, name):
        self.sql(f"DROP DATABASE IF EXISTS {name}", SYSTEM)

    def replace(self, name, template):
        """Table by table, since a server has no copies of databases."""
        self.drop(name)
        self.server.create_database(name)
        with contextlib.closing(self.server.connect(name, read_timeout=600)) as connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO', foreign_key_checks=0")
            cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = %s", template)
            for (table,) in cursor.fetchall():
                cursor.execute(f"SHOW CREATE TABLE {template}.{table}")
                cursor.execute(cursor.fetchone()[1])
                cursor.execute(f"INSERT INTO {table} SELECT * FROM {template}.{table}")
                cursor.execute(f"ANALYZE TABLE {table}")
        self.settle()

    def settle(self):
        """Writes all changed pages, as fast as the disk permits, and as far as the time suffices."""
        for server in self.servers:
            before = dict(server.sql("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", tuple(self.FLUSHING), database=SYSTEM))
            self.set_globals(server, self.FLUSHING)
            end = time.monotonic() + SETTLES_S
            while time.monotonic() < end and int(self.status(server, "Innodb_buffer_pool_pages_dirty")):
                time.sleep(0.02)
            self.set_globals(server, {name: before[name] for name in reversed(self.FLUSHING)})

    @staticmethod
    def set_globals(server, values):
        for name, value in values.items():
            server.sql(f"SET GLOBAL {name} = {value}", database=SYSTEM)

    @staticmethod
    def status(server, name):
        return dict(server.sql("SHOW GLOBAL STATUS LIKE %s", name, database=SYSTEM))[name]

    def once(self, cloud):
        self.drop(MEASURED)
        self.server.create_database(MEASURED)
        self.fill_with(cloud, MEASURED)
        self.settle()
        return self.url_of(MEASURED)

    def url_of(self, name):
        return self.server.url(name)

    def statements(self, act):
        """Those of the last transaction that wrote a batch to the copy during act(), without the values in them."""
        self.sql("TRUNCATE TABLE general_log", SYSTEM)
        self.sql("SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON", SYSTEM)
        try:
            act()
        finally:
            self.sql("SET GLOBAL general_log = OFF", SYSTEM)
        texts = self.sql("SELECT argument FROM general_log WHERE argument LIKE '%INSERT INTO berth_log%COMMIT%'", SYSTEM)
        return re.sub(r"'(?:[^']|'')*'|\b\d+\b", "?", texts[-1][0]).split(";") if texts else []


class GaleraDatabases(MariadbDatabases):
    """Three nodes; databases are created on the first."""

    title = "Galera"

    def make(self):
        from galera import PATIENT, Galera
        self.cluster = Galera(options=self.OPTIONS, provider=PATIENT)
        return self.cluster.nodes[0], self.cluster.nodes

    def start(self):
        self.cluster.start()

    def settle(self):
        self.cluster.await_same()
        super().settle()

    def urls_of(self, name):
        """Those of the nodes."""
        return [node.url(name) for node in self.servers]
