"""A MariaDB server of its own for a test: on 127.0.0.1 and on a unix socket, with its own data directory.

    with Mariadb() as server:
        server.sql("SELECT 1")              # as root, in the test's database
        server.url()                        # for the programs under test, as a user with rights on this database only

Its settings are those of OpenStack's deployers where these agree: the binary log is written and rows are logged, a database
has the character set utf8mb3, and addresses are not resolved. Commits are durable. Buffers and logs are small. All servers
of one machine start from copies of one new data directory. mysql.py has a MySQL server that is used alike.

BERTH_TEST_SETTINGS in the environment has settings for all servers of a test, such as those that newer releases begin with:
NAME=VALUE, separated by blanks. A test's own settings take precedence."""

import contextlib
import os
import re
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import processes  # noqa: E402
import pymysql  # noqa: E402
from database import Database, url_of  # noqa: E402
from processes import Place, wait_until  # noqa: E402

PROGRAM, INSTALL = "/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"
SUPERUSER = "root"
SYSTEM = "mysql"       # the database that every server has
ANSWER_S = 60          # how long the tests' own statements may take, since a frozen server never answers
SMALL = {"innodb_log_file_size": "16M", "innodb_buffer_pool_size": "32M", "innodb_buffer_pool_dump_at_shutdown": False,
         "innodb_buffer_pool_load_at_startup": False, "innodb_use_native_aio": False, "key_buffer_size": "1M"}
# What kolla-ansible sets besides: every client without special rights begins with another character set than it asked for.
KOLLA = {"character_set_server": "utf8", "collation_server": "utf8_general_ci", "init_connect": "SET NAMES utf8",
         "max_heap_table_size": "64M", "tmp_table_size": "64M", "expire_logs_days": 14}
# Without it, a user without special rights may create no triggers beside a binary log: `db coexist enable` does.
TRUST = {"log_bin_trust_function_creators": 1}


@contextlib.contextmanager
def new_data():
    """A data directory with root, whom the server accepts without a password on the unix socket only, and nobody else."""
    place = Place()
    try:
        data = os.path.join(place.path, "data")
        place.run(INSTALL, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db",
                  *(f"--{word}" for word in as_words({**SMALL, "tmpdir": place.path})), timeout=120)
        drop = f"USE {SYSTEM};\nDELETE FROM global_priv WHERE User = '' OR Host <> 'localhost';\nDELETE FROM proxies_priv;\n"
        place.run("/bin/sh", "-c", f'exec "$@" <{place.write("drop.sql", drop)}', "sh", PROGRAM, "--no-defaults", "--bootstrap",
                  f"--datadir={data}", *(f"--{word}" for word in as_words({**SMALL, "tmpdir": place.path})))
        yield data
    finally:
        place.remove()


def empty_data():
    return processes.made_once(f"mariadb-{processes.version_of(PROGRAM)}", new_data)


def settings_of_environment():
    return dict(setting.split("=", 1) for setting in os.environ.get("BERTH_TEST_SETTINGS", "").split())


def as_words(options):
    """Settings as an option file has them; an option whose value is None has a name only."""
    shown = {name: {True: "ON", False: "OFF"}[value] if isinstance(value, bool) else value for name, value in options.items()}
    return [name if value is None else f"{name}={value}" for name, value in shown.items()]


class Mariadb(Database):
    """options: settings of [mysqld] that differ from those here. charset, collation: of the databases that are created.
    tls: offers TLS, with a certificate of the CA in `authority`. require: how the user must connect, as a clause of CREATE
    USER, such as REQUIRE SSL. root is only accepted on the unix socket, without a password; the user needs one anywhere."""

    def __init__(self, options=None, tls=False, port=None, user="berth", password="berth-password", database="placement",
                 charset="utf8mb3", collation="utf8mb3_general_ci", require=""):
        self.charset, self.collation, self.require = charset, collation, require
        super().__init__(user, password, database, port)
        try:
            self.socket = os.path.join(self.place.path, "socket")
            self.data = os.path.join(self.place.path, "data")
            self.options = {"datadir": self.data, "socket": self.socket, "bind_address": "127.0.0.1", "port": self.port,
                            "pid_file": os.path.join(self.place.path, "pid"), "tmpdir": self.place.path,
                            "default_time_zone": "+00:00", "skip_name_resolve": True, "log_bin": "mysql-bin",
                            "binlog_format": "ROW", "sync_binlog": 1, "innodb_flush_log_at_trx_commit": 1, **SMALL,
                            **self.own_options(), **settings_of_environment(), **(options or {})}
            if tls:
                cert, key = self.make_certificate()
                self.options.update(ssl_cert=cert, ssl_key=key, ssl_ca=self.authority.cert)
            self.make_data()
        except BaseException:
            self.place.remove()
            raise

    def own_options(self):
        """What a kind of server needs in addition."""
        return {}

    def make_data(self):
        self.place.copy(empty_data(), "data")

    # Starting and ending.

    def launch(self, *words):
        """Starts the server without waiting for it."""
        self.execute(*self.program(), f"--defaults-file={self.write_options()}", *words)

    def program(self):
        return [PROGRAM]

    def write_options(self):
        return self.place.write("my.cnf", "\n".join(["[mysqld]", *as_words(self.options)]) + "\n")

    def await_ready(self, seconds=60):
        def is_ready():
            self.expect_running()
            with contextlib.suppress(pymysql.MySQLError):
                return self.is_ready()

        wait_until(is_ready, lambda: f"the server is not ready: {self.log()[-3000:]}", seconds)

    def is_ready(self):
        return self.sql("SELECT 1", database=SYSTEM)

    def make_database_once(self):
        if not self.sql("SELECT 1 FROM user WHERE User = %s", self.user, database=SYSTEM):
            self.create_user(self.user, self.password, self.require)
            self.create_database(self.database)

    def stop(self, seconds=60):
        self.send(signal.SIGTERM)
        self.process.wait(seconds)

    # Using it.

    def connect(self, database=None, user=SUPERUSER, password="", socket=True, **parameters):
        """A PyMySQL connection in autocommit mode: over the unix socket, or over TCP."""
        where = {"unix_socket": self.socket} if socket else {"host": "127.0.0.1", "port": self.port}
        return pymysql.connect(**{**where, "user": user, "password": password, "database": database or self.database,
                                  "autocommit": True, "charset": "utf8mb4", "connect_timeout": ANSWER_S,
                                  "read_timeout": ANSWER_S, "write_timeout": ANSWER_S, **parameters})

    def create_user(self, name, password, require=""):
        self.sql(f"CREATE USER %s@'%%' IDENTIFIED BY %s {require}", name, password, database=SYSTEM)

    def create_database(self, name, charset=None, collation=None, user=None):
        """An empty database on which the user has all rights, as deployers give them: and none that are global."""
        self.sql(f"CREATE DATABASE {quoted(name)} CHARACTER SET {charset or self.charset} COLLATE {collation or self.collation}",
                 database=SYSTEM)
        pattern = quoted(re.sub(r"[\\_%]", r"\\\g<0>", name)).replace("%", "%%")
        self.sql(f"GRANT ALL PRIVILEGES ON {pattern}.* TO %s@'%%'", user or self.user, database=SYSTEM)

    def configure(self, **options):
        """Changes settings that need no restart: for new sessions, and for the next start."""
        self.options.update(options)
        for name, value in options.items():
            self.sql(f"SET GLOBAL {name} = %s", value, database=SYSTEM)

    def sessions(self, user=None):
        """The ids of the user's sessions."""
        return [row[0] for row in self.sql("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = %s ORDER BY ID",
                                           user or self.user, database=SYSTEM)]

    def kill_sessions(self, user=None):
        """As a server does that ends idle connections."""
        for session in self.sessions(user):
            with contextlib.suppress(pymysql.MySQLError):  # it may have ended
                self.sql(f"KILL CONNECTION {session}", database=SYSTEM)

    def url(self, database=None, socket=False, driver="mysql+pymysql", user=None, password=None, port=None, **parameters):
        """A URL of SQLAlchemy for the user. port: of a proxy in front of the server. parameters: more of its query, such as
        charset, ssl_ca, or read_default_file; None: without a value, as some deployers write ssl_verify_cert."""
        address = "" if socket else f"127.0.0.1:{port or self.port}"
        if socket:
            parameters = {"unix_socket": self.socket, **parameters}
        secret = self.password if password is None else password
        return url_of(driver, user or self.user, secret, address, database or self.database, parameters)

    def write_option_file(self, name="client.cnf", group="client", **options):
        """The path of a file for read_default_file, and for --defaults-file of MariaDB's programs. As some deployers write
        it, it has no newline at its end."""
        return self.place.write(name, "\n".join([f"[{group}]", *as_words(options)]))


def server_class():
    """Of a server that a test starts. With BERTH_TEST_ON=mysql in the environment it is a MySQL server, so that each test of
    a single server can be run on both."""
    if os.environ.get("BERTH_TEST_ON") != "mysql":
        return Mariadb
    import mysql
    return mysql.Mysql


def numbers(first, last):
    """A table of a FROM clause, with the numbers from the first one to the last one in its column `seq`."""
    return (f"(SELECT {first - 1} + at AS seq FROM JSON_TABLE(CONCAT('[0', REPEAT(',0', {last - first}), ']'), '$[*]' "
            "COLUMNS (at FOR ORDINALITY)) AS numbered) AS numbers")


def quoted(name):
    """An SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def connect_by_url(url):
    """As SQLAlchemy reads it, with PyMySQL; in autocommit mode."""
    import sqlalchemy
    parsed = sqlalchemy.engine.make_url(url)
    arguments, parameters = parsed.get_dialect()().create_connect_args(parsed)
    limits = {"connect_timeout": ANSWER_S, "read_timeout": ANSWER_S}
    return pymysql.connect(*arguments, **{"autocommit": True, **limits, **parameters})
