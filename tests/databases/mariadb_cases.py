"""Cases of mariadb_selftest.py: one server, and with_mariadb.py."""

import contextlib
import os
import subprocess
import tempfile

import mariadb
from expectations import (HERE, ask, expect, expect_bad_start, expect_end_with_test, expect_ended_with, expect_failure,
                          expect_frozen, expect_statuses, expect_unprivileged, run_beside)
from mariadb import Authority, Mariadb, connect_by_url, pymysql, servers

PROVIDER, CONSUMER = "bbbbbbbb-0000-4000-8000-000000000002", "cccccccc-0000-4000-8000-000000000003"
AWKWARD = "p@ss:w/rd %41'\\\"#"  # PyMySQL can only send Latin-1
NAME = "a b_%c"
WITH_MARIADB = os.path.join(HERE, "with_mariadb.py")


def session(url):
    return contextlib.closing(connect_by_url(url))


class Shared:
    """Cases that use one server."""

    def __init__(self):
        self.server = Mariadb(options={"max_connections": 17, **mariadb.KOLLA}, password=AWKWARD, database=NAME).start()

    def close(self):
        self.server.end()

    def settings(self):
        """Durable unless asked otherwise; options; changed while the server runs, and for its next start."""
        def shown():
            return self.server.sql("SELECT @@innodb_flush_log_at_trx_commit, @@sync_binlog, @@log_bin, @@binlog_format, "
                                   "@@max_connections, @@init_connect, @@long_query_time")

        expect(shown() == [(1, 1, 1, "ROW", 17, "SET NAMES utf8", 10.0)], shown())
        for change in (lambda: self.server.configure(long_query_time=3, sync_binlog=0), self.server.restart):
            change()
            expect(shown() == [(1, 0, 1, "ROW", 17, "SET NAMES utf8", 3.0)], shown())
        self.server.configure(long_query_time=10, sync_binlog=1)

    def users(self):
        """The user needs a password, has all rights on the database, and no others; root is only there on the socket."""
        for local in (False, True):
            with session(self.server.url(socket=local, charset="utf8mb4")) as connection:
                found = ask(connection, "SELECT CURRENT_USER(), DATABASE(), @@character_set_client, @@collation_database")
                # what kolla-ansible sets takes away the character set that the client asked for
                expect(found == (("berth@%", NAME, "utf8mb3", "utf8mb3_general_ci"),), found)
                ask(connection, "CREATE TABLE own (id int)")
                ask(connection, "DROP TABLE own")
                for forbidden in ("CREATE DATABASE other", "CREATE DATABASE `a bx%c`", "SET GLOBAL sync_binlog = 0"):
                    said = expect_failure(pymysql.MySQLError, ask, connection, forbidden)
                    expect("denied" in said, said)
        for more in ({"password": "wrong"}, {"password": ""}, {"user": "root", "password": ""}):
            said = expect_failure(pymysql.OperationalError, connect_by_url, self.server.url(**more))
            expect("denied" in said or "not allowed" in said, said)
        accounts = self.server.sql("SELECT User, Host FROM global_priv ORDER BY User", database="mysql")
        expect(accounts == [("berth", "%"), ("mariadb.sys", "localhost"), ("root", "localhost")], accounts)

    def databases(self):
        """Further ones, with another character set, and a user of their own."""
        self.server.create_user("second", "secret")
        self.server.create_database("other", "utf8mb4", "utf8mb4_bin", "second")
        with session(self.server.url("other", user="second", password="secret")) as connection:
            found = ask(connection, "SELECT @@collation_database")
            expect(found == (("utf8mb4_bin",),), found)
        said = expect_failure(pymysql.MySQLError, connect_by_url, self.server.url("other"))
        expect("denied" in said, said)

    def urls(self):
        """As deployers write them: the settings in an option file, and a parameter without a value."""
        client = self.server.write_option_file(group="tripleo", port=self.server.port, host="127.0.0.1")
        url = self.server.url(port=1, read_default_file=client, read_default_group="tripleo", ssl_verify_cert=None)
        expect(url.endswith("&ssl_verify_cert"), url)
        with session(url.replace("127.0.0.1:1/", "127.0.0.1:%d/" % self.server.port)) as connection:
            expect(ask(connection, "SELECT @@port") == ((self.server.port,),), "the port")
        with open(client) as file:
            expect(file.read() == f"[tripleo]\nport={self.server.port}\nhost=127.0.0.1", client)

    def unprivileged(self):
        expect_unprivileged(self.server)

    def restarts(self):
        """What was committed is there after each kind of end; the port stays."""
        port, recovered = self.server.port, self.server.log().count("Starting crash recovery")
        self.server.sql("CREATE TABLE kept (n int PRIMARY KEY)")
        for number, end in enumerate((self.server.stop, self.server.kill)):
            self.server.sql("INSERT INTO kept VALUES (%s)", number)
            end()
            expect(not self.server.is_running(), "it still runs")
            expect_failure(pymysql.OperationalError, self.server.connect)
            self.server.start()
            rows = self.server.sql("SELECT n FROM kept ORDER BY n")
            expect(rows == [(kept,) for kept in range(number + 1)] and self.server.port == port, rows)
        found = self.server.log().count("Starting crash recovery") - recovered
        expect(found == 1, f"{found} recoveries: {self.server.log()[-3000:]}")
        self.server.restart()
        expect(self.server.sql("SELECT count(*) FROM kept") == [(2,)], "rows")

    def frozen(self):
        with contextlib.closing(self.server.connect()) as connection:
            expect_frozen(self.server, connection)

    def sessions(self):
        """The user's sessions are known, and ended by the server."""
        with session(self.server.url()) as one, session(self.server.url()) as two:
            own = [ask(connection, "SELECT CONNECTION_ID()")[0][0] for connection in (one, two)]
            expect(self.server.sessions() == own, f"{self.server.sessions()}, not {own}")
            self.server.kill_sessions()
            for connection in (one, two):
                expect_failure(pymysql.OperationalError, ask, connection, "SELECT 1")

    def python_service(self):
        """The Python service creates its tables with placement-manage and answers requests."""
        self.server.create_database("python")
        with tempfile.TemporaryDirectory() as directory:
            service = servers.PythonService(directory, connection=self.server.url("python", charset="utf8"), sync=False)
            subprocess.run(["placement-manage", "--config-file", service.config_file, "db", "sync"], check=True,
                           capture_output=True, timeout=120)
            with service:
                service.client().make_provider(PROVIDER, VCPU=8)
                status, answer = service.client().claim(CONSUMER, None, **{PROVIDER: {"VCPU": 5}})
                expect(status == 204, answer)
        found = self.server.sql("SELECT c.uuid, a.used FROM allocations a JOIN consumers c ON c.uuid = a.consumer_id",
                                database="python")
        expect(found == [(CONSUMER, 5)], found)


class Alone:
    """Cases with servers of their own."""

    def close(self):
        pass

    def tls(self):
        """Verified with the test's CA, refused with another, and required of the user."""
        with Mariadb(tls=True, require="REQUIRE SSL") as server:
            with session(server.url(ssl_ca=server.authority.cert, ssl_check_hostname="true")) as connection:
                expect(ask(connection, "SHOW STATUS LIKE 'Ssl_version'")[0][1].startswith("TLS"), "no TLS")
            said = expect_failure(pymysql.OperationalError, connect_by_url, server.url())
            expect("denied" in said, said)
            other = Authority(server.place.make_directory("other"))
            said = expect_failure(pymysql.OperationalError, connect_by_url, server.url(ssl_ca=other.cert))
            expect("certificate verify failed" in said, said)

    def bad_start(self):
        expect_bad_start(Mariadb(options={"nonsense": True}), "nonsense")

    def end_of_test(self):
        expect_end_with_test("mariadb", "Mariadb", 1)


class Commands:
    """with_mariadb.py"""

    def close(self):
        pass

    def command(self):
        """The command finds the server; its exit status is passed on."""
        script = ('mariadb --defaults-file=$BERTH_TEST_MARIADB_CLIENT -N -e "SELECT CURRENT_USER(), @@collation_database, '
                  '@@sync_binlog" units && [ "$BERTH_TEST_MARIADB" = "$BERTH_TEST_MARIADB_URL" ] &&'
                  ' kill -0 $BERTH_TEST_MARIADB_PID && grep -q ready "$BERTH_TEST_MARIADB_LOG" && exit 7')
        done = run_beside(WITH_MARIADB, "--database", "units", "--charset", "utf8mb4", "--option", "sync_binlog=3", "--",
                          "sh", "-c", script)
        expect((done.returncode, done.stdout) == (7, "berth@%\tutf8mb4_general_ci\t3\n"), done)
        expect_statuses(WITH_MARIADB)

    def cluster_and_proxy(self):
        """All that with_mariadb.py can start."""
        script = ('for n in "" _2 _3; do eval file=\\$BERTH_TEST_MARIADB${n}_CLIENT;'
                  ' mariadb --defaults-file=$file -N -e "SELECT @@wsrep_node_name"; done;'
                  ' echo $BERTH_TEST_HAPROXY $BERTH_TEST_MARIADB_URL; ls $BERTH_TEST_HAPROXY_CONTROL')
        done = run_beside(WITH_MARIADB, "--galera", "--haproxy", "sh", "-c", script)
        *names, urls, control = done.stdout.splitlines()
        expect(names == ["node1", "node2", "node3"] and len(set(urls.split())) == 1 and control.endswith("/control"), done)

    def command_ended(self):
        expect_ended_with(WITH_MARIADB, "MARIADB")
