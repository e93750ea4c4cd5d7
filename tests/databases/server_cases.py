"""Cases of selftest.py: the servers."""

import contextlib
import os
import subprocess
import tempfile
import threading

import postgres
import processes
from expectations import (ask, connect_by_url, expect, expect_bad_start, expect_end_with_test, expect_failure, expect_frozen,
                          expect_unprivileged)
from pgbouncer import PgBouncer
from postgres import Postgres, psycopg2, servers
from standby import Standby

PROVIDER = "bbbbbbbb-0000-4000-8000-000000000001"
CONSUMER, OTHER_CONSUMER = "cccccccc-0000-4000-8000-000000000001", "cccccccc-0000-4000-8000-000000000002"
AWKWARD = "p@ss:w/rd %41'\\\"#é"


class Shared:
    """Cases that use one server."""

    def __init__(self):
        self.server = Postgres(options={"max_connections": 17, "berth.note": AWKWARD}, password=AWKWARD, database="a b").start()

    def close(self):
        self.server.end()

    def settings(self):
        """Durable unless asked otherwise; options; changed while the server runs."""
        shown = {name: self.server.sql(f"SHOW {name}")[0][0] for name in
                 ("fsync", "synchronous_commit", "full_page_writes", "max_connections", "berth.note")}
        expect(shown == {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_connections": "17",
                         "berth.note": AWKWARD}, shown)
        self.server.configure(log_statement="all")
        self.server.sql("SELECT 'noted'")
        self.server.configure(log_statement="none")
        self.server.sql("SELECT 'not noted'")
        expect("SELECT 'noted'" in self.server.log() and "SELECT 'not noted'" not in self.server.log(), self.server.log())

    def users(self):
        """The user needs a password, owns databases, and has no other rights."""
        for local in (False, True):
            with contextlib.closing(connect_by_url(self.server.url(socket=local))) as connection:
                found = ask(connection, "SELECT current_user, current_database(), inet_server_port()")
                expect(found == [("berth", "a b", None if local else self.server.port)], found)
                ask(connection, "CREATE TABLE own (id int)")
                ask(connection, "DROP TABLE own")
                said = expect_failure(psycopg2.Error, ask, connection, "CREATE ROLE other")
                expect("permission denied" in said, said)
        said = expect_failure(psycopg2.OperationalError, connect_by_url, self.server.url(password="wrong"))
        expect("authentication failed" in said, said)
        stored = self.server.sql("SELECT left(rolpassword, 13) FROM pg_authid WHERE rolname = 'berth'")
        expect(stored == [("SCRAM-SHA-256",)], stored)
        self.server.create_database("other")
        with contextlib.closing(psycopg2.connect(self.server.url("other", driver="postgresql"))) as connection:
            found = ask(connection, "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()")
            expect(found == [("berth",)], found)

    def unprivileged(self):
        """The server does not run as root, and its files belong to its user."""
        expect_unprivileged(self.server)

    def restarts(self):
        """What was committed is there after each kind of end; the port stays."""
        port, recovered = self.server.port, self.server.log().count("automatic recovery in progress")
        self.server.sql("CREATE TABLE kept (n int)")
        for number, end in enumerate((self.server.stop, lambda: self.server.stop("immediate"), self.server.kill)):
            self.server.sql("INSERT INTO kept VALUES (%s)", number)
            children = processes.children_of(self.server.process.pid)
            expect(len(children) >= 4, children)
            end()
            expect(not self.server.is_running() and all(processes.has_ended(pid) for pid in children), "processes are left")
            expect_failure(psycopg2.OperationalError, self.server.connect)
            self.server.start()
            rows = self.server.sql("SELECT n FROM kept ORDER BY n")
            expect(rows == [(kept,) for kept in range(number + 1)] and self.server.port == port, rows)
        expect(self.server.log().count("automatic recovery in progress") == recovered + 2, self.server.log())
        self.server.restart()
        expect(self.server.sql("SELECT count(*) FROM kept") == [(3,)], "rows")

    def frozen(self):
        """A frozen server accepts connections and answers nothing; then it goes on where it was."""
        with contextlib.closing(self.server.connect()) as connection:
            expect_frozen(self.server, connection)


    def python_service(self):
        """The Python service creates its tables with placement-manage and answers requests; it stops and goes on."""
        self.server.create_database("python")
        url = self.server.url("python")
        with tempfile.TemporaryDirectory() as directory:
            service = servers.PythonService(directory, connection=url, sync=False)
            subprocess.run(["placement-manage", "--config-file", service.config_file, "db", "sync"], check=True,
                           capture_output=True, timeout=120)
            with service:
                client = service.client()
                client.make_provider(PROVIDER, VCPU=8, MEMORY_MB=100)
                status, answer = client.claim(CONSUMER, None, **{PROVIDER: {"VCPU": 5}})
                expect(status == 204, answer)
                status, answer = client.claim(OTHER_CONSUMER, None, **{PROVIDER: {"VCPU": 4}})
                expect(status == 409, answer)
            with contextlib.closing(connect_by_url(url)) as connection:
                found = ask(connection, "SELECT c.uuid, a.used FROM allocations a JOIN consumers c ON c.uuid = a.consumer_id")
                expect(found == [(CONSUMER, 5)], found)
            with servers.PythonService(directory, connection=self.server.url("python", socket=True)) as service:
                usages = service.client().must(200, "GET", f"/resource_providers/{PROVIDER}/usages")["usages"]
                expect(usages == {"VCPU": 5, "MEMORY_MB": 0}, usages)


    def pool(self):
        """In transaction mode, sessions of clients share one of the server; each transaction may see another."""
        with PgBouncer(self.server, options={"default_pool_size": 1}) as pool:
            with contextlib.closing(connect_by_url(pool.url())) as one, contextlib.closing(connect_by_url(pool.url())) as two:
                pids = {ask(connection, "SELECT pg_backend_pid()")[0] for connection in (one, two, one)}
                expect(len(pids) == 1, pids)
                ask(one, "BEGIN")
                ask(one, "SELECT 1")
                shown = [(row["user"], row["cl_active"], row["sv_active"], row["pool_mode"]) for row in pool.admin("SHOW POOLS")]
                expect(("berth", 2, 1, "transaction") in shown, shown)
                ask(one, "COMMIT")
            said = expect_failure(psycopg2.OperationalError, connect_by_url, pool.url(password="wrong"))
            expect("authentication failed" in said, said)
            pool.kill()
            expect_failure(psycopg2.OperationalError, connect_by_url, pool.url())
            pool.start()
            with contextlib.closing(connect_by_url(pool.url())) as connection:
                expect(ask(connection, "SELECT 1") == [(1,)], "no answer")
            pool.stop()
            expect(not pool.is_running(), "it still runs")


class Replicated:
    """Cases with a primary and a standby."""

    def __init__(self):
        self.primary = Postgres().start()
        self.standby = Standby(self.primary).start()
        self.primary.sql("CREATE TABLE log (n int)")

    def close(self):
        self.standby.end()
        self.primary.end()

    def _write(self, number):
        self.primary.sql("INSERT INTO log VALUES (%s)", number)

    def _newest(self, server):
        return server.sql("SELECT max(n) FROM log")[0][0]

    def follows(self):
        """The standby has what it caught up with, refuses writes, and goes on after it was ended, killed or detached."""
        self._write(1)
        self.standby.await_caught_up()
        expect(self._newest(self.standby) == 1 and self.standby.is_standby() and not self.primary.is_standby(), "roles")
        said = expect_failure(psycopg2.Error, self.standby.sql, "INSERT INTO log VALUES (0)")
        expect("read-only" in said, said)
        self.standby.kill()
        self._write(2)
        self.standby.start()
        self.standby.await_caught_up()
        expect(self._newest(self.standby) == 2, self._newest(self.standby))
        self.standby.detach()
        self._write(3)
        expect_failure(processes.Failure, self.standby.await_caught_up, 0.3)
        expect(self._newest(self.standby) == 2, self._newest(self.standby))
        self.standby.attach()
        self.standby.await_caught_up()
        expect(self._newest(self.standby) == 3, self._newest(self.standby))

    def synchronous(self):
        """A commit waits for a synchronous standby, and is visible on both when it is acknowledged."""
        self.standby.require()
        self._write(4)
        self.standby.freeze()
        writer = threading.Thread(target=self._write, args=(5,))
        writer.start()
        writer.join(0.5)
        expect(writer.is_alive() and self._newest(self.primary) == 4, "acknowledged without the standby")
        self.standby.thaw()
        writer.join(20)
        expect(not writer.is_alive() and self._newest(self.primary) == 5, "not acknowledged")
        self.standby.require(False)
        self.standby.freeze()
        self._write(6)
        self.standby.thaw()

    def promoted(self):
        """A promotion of a detached standby loses commits. The new primary takes writes, also after a restart, may have
        standbys, and PgBouncer can be led to it."""
        self.standby.await_caught_up()
        kept = self._newest(self.primary)
        with PgBouncer(self.primary) as pool:
            with contextlib.closing(connect_by_url(pool.url())) as connection:
                expect(ask(connection, "SELECT inet_server_port()") == [(self.primary.port,)], "the port")
            self.standby.detach()
            self._write(100)
            self.primary.kill()
            self.standby.promote()
            expect(self._newest(self.standby) == kept and not self.standby.is_standby(), self._newest(self.standby))
            pool.point_at(self.standby)
            with contextlib.closing(connect_by_url(pool.url())) as connection:
                expect(ask(connection, "SELECT inet_server_port()") == [(self.standby.port,)], "the port")
                ask(connection, "CREATE TABLE own (n int)")
        self.standby.sql("INSERT INTO log VALUES (50)")
        self.standby.restart()
        with Standby(self.standby, name="second") as second:
            second.await_caught_up()
            expect(self._newest(second) == 50, self._newest(second))
        self.primary.start()
        expect(self._newest(self.primary) == 100, "the old primary lost its commit")


class Alone:
    """Cases with servers of their own."""

    def close(self):
        pass

    def tls(self):
        """Verified with the test's CA, required if the access lines say so, and refused with another CA."""
        with Postgres(tls=True, access=["hostssl all all 127.0.0.1/32 scram-sha-256"]) as server:
            good = server.url(sslmode="verify-full", sslrootcert=server.authority.cert)
            with contextlib.closing(connect_by_url(good)) as connection:
                expect(ask(connection, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == [(True,)], "no TLS")
            said = expect_failure(psycopg2.OperationalError, connect_by_url, server.url(sslmode="disable"))
            expect("no encryption" in said, said)
            other = postgres.Authority(server.place.make_directory("other"))
            said = expect_failure(psycopg2.OperationalError, connect_by_url, server.url(sslmode="verify-full", sslrootcert=other.cert))
            expect("certificate verify failed" in said, said)

    def bad_start(self):
        expect_bad_start(Postgres(options={"shared_buffers": "nonsense"}), "shared_buffers")

    def end_of_test(self):
        """No process, no directory and no shared memory are left."""
        @contextlib.contextmanager
        def shared_memory(path):
            segment = processes.guard.postmaster_lines(os.path.join(path, "data"))[6].split()[1]
            expect(segment in segments(), f"{segment} is not shared: {segments()}")
            yield
            expect(segment not in segments(), f"shared memory is left: {segment}")

        expect_end_with_test("postgres", "Postgres", 5, shared_memory)


def segments():
    """The ids of System V's segments of shared memory."""
    with open("/proc/sysvipc/shm") as file:
        return {line.split()[1] for line in file.readlines()[1:]}
