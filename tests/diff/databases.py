"""The pairs of databases of the walks: files of SQLite, or databases on a PostgreSQL or MariaDB server.

All kinds have the same methods. make_template() lets berthd create a database, copy() makes one that is equal to it, and
connect() opens one for the model of the cloud, with execute(), beside() and copy_all().
"""

import contextlib
import os
import re
import shutil
import sqlite3
import sys

from subject import Subject, SubjectError

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ("resource_providers", "inventories", "allocations", "resource_classes", "traits", "resource_provider_traits",
          "placement_aggregates", "resource_provider_aggregates", "consumers", "consumer_types", "projects", "users")
# What is adopted from the other database; see Cloud.adopt().
ADOPTED = ("projects", "users", "consumer_types", "consumers", "allocations", "resource_classes", "resource_providers",
           "inventories")


def create_by_berth(program, config, log):
    subject = Subject(program, config, log)
    subject.start()
    if not subject.stop():
        raise SubjectError("%s did not end well at SIGTERM" % program[0])


class Sqlite:
    own_options = ["sqlite_synchronous = false"]  # the reference needs no safety against power cuts

    def make_template(self, program, directory, config_text):
        database = os.path.join(directory, "template.db")
        config = os.path.join(directory, "template.conf")
        with open(config, "w") as out:
            out.write(config_text("sqlite:///" + database))
        create_by_berth(program, config, os.path.join(directory, "template.log"))
        self.template = os.path.join(directory, "whole.db")
        source, target = sqlite3.connect(database), sqlite3.connect(self.template)
        source.backup(target)  # including what may still be in a write-ahead log
        source.close()
        target.close()

    def copy(self, directory, name):
        path = os.path.join(directory, name + ".db")
        shutil.copyfile(self.template, path)
        return path

    def url(self, database):
        return "sqlite:///" + database

    def connect(self, database):
        return SqliteConnection(database)

    def drop(self, database):
        """It is in the directory of its walk."""


class SqliteConnection:
    kind = "sqlite"

    def __init__(self, path):
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.execute = self.connection.execute

    @contextlib.contextmanager
    def beside(self, other):
        """A transaction, in which the other database's tables are in the schema `berth`."""
        self.execute("ATTACH DATABASE ? AS berth", (other,))
        self.execute("BEGIN")  # not IMMEDIATE: that would lock berth's file too
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            self.execute("ROLLBACK")
            raise
        finally:
            self.execute("DETACH DATABASE berth")

    def copy_all(self, other):
        source = sqlite3.connect("file:%s?mode=ro" % other, uri=True, timeout=10)
        self.execute("BEGIN")
        for table in TABLES:
            columns = [row[1] for row in self.execute("PRAGMA table_info(%s)" % table)]
            rows = source.execute("SELECT %s FROM %s" % (", ".join(columns), table)).fetchall()
            self.execute("DELETE FROM " + table)
            self.connection.executemany("INSERT INTO %s (%s) VALUES (%s)" % (
                table, ", ".join(columns), ", ".join("?" * len(columns))), rows)
        self.execute("COMMIT")
        source.close()


class OnServer:
    """With a server of its own, until end() is called. Copies are sent to the processes of the walks."""

    own_options = []

    def __init__(self, server):
        self.server = server.start()
        self.base = self.server.url().rsplit("/", 1)[0] + "/"

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "server"}

    def end(self):
        self.server.end()

    def url(self, database):
        return self.base + database

    @staticmethod
    def name_of(directory, name):
        return "".join(letter if letter.isalnum() else "_" for letter in os.path.basename(directory) + "_" + name)


class Postgres(OnServer):
    def __init__(self):
        sys.path.append(os.path.join(os.path.dirname(HERE), "databases"))
        import postgres

        super().__init__(postgres.Postgres(options={"fsync": False, "synchronous_commit": False, "full_page_writes": False}))
        self.admin = {"host": self.server.socket_directory, "port": self.server.port, "user": postgres.SUPERUSER}

    def make_template(self, program, directory, config_text):
        self.template = "template"
        self._run("CREATE DATABASE template OWNER " + self.server.user)
        config = os.path.join(directory, "template.conf")
        with open(config, "w") as out:
            out.write(config_text(self.url("template")))
        create_by_berth(program, config, os.path.join(directory, "template.log"))

    def copy(self, directory, name):
        database = self.name_of(directory, name)
        self.drop(database)
        self._run("CREATE DATABASE %s TEMPLATE %s" % (database, self.template))
        self._run("ALTER DATABASE %s OWNER TO berth" % database)
        return database

    def connect(self, database):
        return PostgresConnection(self.admin, database)

    def drop(self, database):
        self._run("DROP DATABASE IF EXISTS %s WITH (FORCE)" % database)

    def _run(self, text):
        PostgresConnection(self.admin, "postgres").execute(text).connection.close()


class PostgresConnection:
    """As the superuser, so that rows can be copied in any order of the tables."""

    kind = "postgresql"

    def __init__(self, admin, database):
        import psycopg2

        self.admin = admin
        self.connection = psycopg2.connect(dbname=database, **admin)
        self.connection.autocommit = True

    def execute(self, text, values=None):
        cursor = self.connection.cursor()
        cursor.execute(text.replace("?", "%s"), values)
        return cursor

    @contextlib.contextmanager
    def beside(self, other):
        """A transaction, in which copies of the other database's tables are in the schema `berth`."""
        self.execute("BEGIN")
        try:
            self.execute("DROP SCHEMA IF EXISTS berth CASCADE")
            self.execute("CREATE SCHEMA berth")
            for table in ADOPTED:
                self.execute("CREATE TABLE berth.%s (LIKE public.%s)" % (table, table))
            self._fill("berth", other, ADOPTED)
            yield
            self.execute("COMMIT")
        except BaseException:
            self.execute("ROLLBACK")
            raise

    def copy_all(self, other):
        self.execute("BEGIN")
        self.execute("SET LOCAL session_replication_role = replica")
        self.execute("TRUNCATE %s" % ", ".join(TABLES))
        self._fill("public", other, TABLES)
        self._raise_sequences()
        self.execute("COMMIT")

    def _raise_sequences(self):
        """The next ids are not those that were copied."""
        found = self.execute("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
                             " AND table_name = ANY (?) AND column_default LIKE 'nextval%%'", (list(TABLES),))
        for table, column in found.fetchall():
            self.execute("SELECT setval(pg_get_serial_sequence('%s', '%s'), (SELECT coalesce(max(%s), 1) FROM %s))" % (
                table, column, column, table))

    def _fill(self, schema, other, tables):
        from psycopg2 import extras

        source = PostgresConnection(self.admin, other)
        for table in tables:
            read = source.execute("SELECT * FROM " + table)
            columns = ", ".join(column.name for column in read.description)
            insert = "INSERT INTO %s.%s (%s) VALUES %%s" % (schema, table, columns)
            extras.execute_values(self.connection.cursor(), insert, read.fetchall())
        source.connection.close()


class Mariadb(OnServer):
    """The character set is utf8mb3, as deployers have it."""

    def __init__(self):
        sys.path.append(os.path.join(os.path.dirname(HERE), "databases"))
        import mariadb

        super().__init__(self.make_server({"innodb_flush_log_at_trx_commit": 0, "sync_binlog": 0}))
        self.admin = {"unix_socket": self.first().socket, "user": mariadb.SUPERUSER}
        self.user = self.first().user

    def make_server(self, options):
        import mariadb

        return mariadb.server_class()(options=options)

    def first(self):
        return self.server

    def make_template(self, program, directory, config_text):
        self.template = self._create("template")
        config = os.path.join(directory, "template.conf")
        with open(config, "w") as out:
            out.write(config_text(self.url(self.template)))
        create_by_berth(program, config, os.path.join(directory, "template.log"))

    def _create(self, database):
        server = MariadbConnection(self.admin, None)
        server.execute("DROP DATABASE IF EXISTS " + database)
        server.execute("CREATE DATABASE %s CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci" % database)
        server.execute("GRANT ALL PRIVILEGES ON %s.* TO %s@'%%'" % (database.replace("_", r"\_").join("``"), self.user))
        server.connection.close()
        return database

    def copy(self, directory, name):
        database = self._create(self.name_of(directory, name))
        target = MariadbConnection(self.admin, database)
        target.execute("SET foreign_key_checks = 0")
        for table, in target.execute("SHOW TABLES FROM " + self.template).fetchall():
            target.execute(target.execute("SHOW CREATE TABLE %s.%s" % (self.template, table)).fetchone()[1])
            target.execute("INSERT INTO %s SELECT * FROM %s.%s" % (table, self.template, table))
        target.connection.close()
        return database

    def connect(self, database):
        return MariadbConnection(self.admin, database)

    def drop(self, database):
        server = MariadbConnection(self.admin, None)
        server.execute("DROP DATABASE IF EXISTS " + database)
        server.connection.close()


class Galera(Mariadb):
    """Three nodes behind HAProxy."""

    def make_server(self, options):
        import galera

        return galera.Galera(options=options, provider=galera.PATIENT)

    def first(self):
        return self.server.nodes[0]

    def __init__(self):
        super().__init__()
        import haproxy

        self.balancer = haproxy.Balancer(self.server.nodes, inter_ms=100).start()
        self.balancer.await_up(self.first().name)
        self.base = self.balancer.url().rsplit("/", 1)[0] + "/"

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "balancer"}

    def end(self):
        self.balancer.end()
        super().end()


class MariadbConnection:
    """As root, who also reads the other database."""

    kind = "mariadb"

    def __init__(self, admin, database):
        import pymysql

        self.connection = pymysql.connect(database=database, charset="utf8mb4", autocommit=True, read_timeout=60, **admin)
        self.other = None

    def execute(self, text, values=None):
        if self.other:
            text = re.sub(r"\bberth\.", self.other + ".", text)
        if text.endswith(" ON CONFLICT DO NOTHING"):
            text = text.replace("INSERT", "INSERT IGNORE", 1).rpartition(" ON CONFLICT")[0]
        cursor = self.connection.cursor()
        cursor.execute(text.replace("?", "%s"), values)
        return cursor

    @contextlib.contextmanager
    def beside(self, other):
        """A transaction, in which `berth` is the other database."""
        self.other = other
        self.execute("BEGIN")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            self.execute("ROLLBACK")
            raise
        finally:
            self.other = None

    def copy_all(self, other):
        self.execute("SET foreign_key_checks = 0")
        self.execute("BEGIN")
        for table in TABLES:
            self.execute("DELETE FROM " + table)
            self.execute("INSERT INTO %s SELECT * FROM %s.%s" % (table, other, table))
        self.execute("COMMIT")
        self.execute("SET foreign_key_checks = 1")
