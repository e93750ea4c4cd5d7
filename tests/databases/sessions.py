#!/usr/bin/python3
"""Sessions of berth on PostgreSQL servers that fail, behind PgBouncer, and over TLS: what a session reports of each, and what
it knows of a COMMIT whose answer was lost.

    tests/databases/sessions.py [--build build] [CASE…]

The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

import postgres
from expectations import expect, run_cases
from faulty_proxy import FaultyProxy
from pgbouncer import PgBouncer
from postgres import Postgres
from standby import Standby
from tls_front import TlsFront

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSERT = "INSERT INTO log VALUES (1)"
PREPARED_ALWAYS = 1
SLACK_MS = 5000  # of a loaded machine
shell_program = None


@contextlib.contextmanager
def slow_backup(server):
    """While a base backup is being taken, through two processes that send WAL."""
    with tempfile.TemporaryDirectory(prefix="berth-backup-") as directory:
        backup = subprocess.Popen([postgres.program("pg_basebackup"), "-D", directory, "-h", server.socket_directory, "-p",
                                   str(server.port), "-U", postgres.SUPERUSER, "-X", "stream", "-c", "fast", "-r", "32"],
                                  stderr=subprocess.DEVNULL)
        try:
            postgres.wait_until(lambda: server.sql("SELECT count(*) FROM pg_stat_replication WHERE state IN ('backup', 'streaming')")
                                == [(2,)], "no backup is being taken")
            yield
        finally:
            backup.kill()
            backup.wait()
            server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_replication")
            postgres.wait_until(lambda: server.sql("SELECT count(*) FROM pg_stat_replication") == [(0,)], "the backup has not ended")


class Shell:
    """A session in a process of its own. Each command returns what session_shell.c prints."""

    def __init__(self, url, **options):
        numbers = [f"{name}={value}" for name, value in options.items()]
        self.process = subprocess.Popen([shell_program, url, *numbers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = url

    def __call__(self, command, *statements, ms=20000):
        self.begin(command, *statements, ms=ms)
        return self.end()

    def begin(self, command, *statements, ms=20000):
        self.process.stdin.write("\t".join([command, str(ms), *statements]) + "\n")
        self.process.stdin.flush()

    def end(self):
        answer = json.loads(self.process.stdout.readline())
        message = answer["message"] or ""
        expect("berth-password" not in message and "\n" not in message, f"{message!r} is shown")
        return answer

    def must(self, command, *statements, outcome="OK", ms=20000, **wanted):
        answer = self(command, *statements, ms=ms)
        for name, value in {"outcome": outcome, **wanted}.items():
            expect(answer[name] == value, f"{command} {statements}: {name} is {answer[name]!r}, not {value!r}: {answer}")
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        status = self.process.wait(30)
        if exception[0] is None:
            expect(status == 0, f"session_shell ended with {status}")


class Sessions:
    """Cases on one server, each with an empty table."""

    def __init__(self):
        self.server = Postgres().start()
        self.server.sql("CREATE TABLE log (n int)")
        self.server.sql("ALTER TABLE log OWNER TO berth")

    def close(self):
        self.server.end()

    def _rows(self):
        return self.server.sql("SELECT count(*) FROM log")[0][0]

    def _await_rows(self, wanted):
        """The server may still be reading what it was sent before the connection ended."""
        end = time.monotonic() + 10
        while self._rows() != wanted and time.monotonic() < end:
            time.sleep(0.05)
        expect(self._rows() == wanted, f"{self._rows()} rows, not {wanted}")

    def commit_lost(self):
        """The connection ends before the server gets COMMIT, or after, or with its answer, which is all the same to the
        client; or after the answer, which is not."""
        cases = (({"sender": "client", "kind": "Execute", "text": "^COMMIT$", "when": "before"}, "LOST", "UNKNOWN", 0),
                 ({"sender": "client", "kind": "Execute", "text": "^COMMIT$", "when": "after"}, "LOST", "UNKNOWN", None),
                 ({"sender": "server", "kind": "CommandComplete", "text": "^COMMIT$", "when": "before"}, "LOST", "UNKNOWN", 1),
                 ({"sender": "server", "kind": "CommandComplete", "text": "^COMMIT$", "when": "after"}, "OK", "DONE", 1))
        for which, outcome, commit, rows in cases:
            for reset in (False, True):
                self.server.sql("TRUNCATE log")
                with FaultyProxy(self.server.port) as proxy, Shell(self.server.url(port=proxy.port)) as shell:
                    shell.must("connect")
                    fault = proxy.cut(reset, **which)
                    shell.must("begin", "BEGIN")
                    shell.must("run", INSERT)
                    if reset and outcome == "OK":
                        answer = shell("run", "COMMIT")  # the reset may overtake the answer
                        expect(answer["commit"] in ("UNKNOWN", "DONE"), answer)
                    else:
                        shell.must("run", "COMMIT", outcome=outcome, commit=commit)
                    fault.wait()
                    if rows is not None:
                        self._await_rows(rows)
                    lost = shell("run", "SELECT 1")
                    expect(lost["outcome"] == "LOST" and not lost["open"], lost)
                    shell.must("connect")
                    shell.must("run", "SELECT 1", value="1")

    def pipeline_lost(self):
        """As above, for a batch that is sent as a whole; and before the answer to one of its first statements."""
        batch = ("BEGIN", INSERT, INSERT, "COMMIT")
        for sender, kind, text, when, outcome, commit, rows in (
                ("client", "Execute", "^COMMIT$", "before", "LOST", "UNKNOWN", None),
                ("server", "CommandComplete", "^INSERT", "before", "LOST", "UNKNOWN", 2),
                ("server", "CommandComplete", "^COMMIT$", "before", "LOST", "UNKNOWN", 2),
                ("server", "CommandComplete", "^COMMIT$", "after", "OK", "DONE", 2)):
            self.server.sql("TRUNCATE log")
            with FaultyProxy(self.server.port) as proxy, Shell(self.server.url(port=proxy.port)) as shell:
                shell.must("connect")
                shell.must("pipeline", *batch, commit="DONE", results=4)
                self._await_rows(2)
                self.server.sql("TRUNCATE log")
                proxy.cut(sender=sender, kind=kind, text=text, when=when)
                shell.must("pipeline", *batch, outcome=outcome, commit=commit, open=False)
                if rows is not None:
                    self._await_rows(rows)

    def pipeline_refused(self):
        """A failure before COMMIT proves that it was skipped, even if nothing else arrives."""
        self.server.sql("TRUNCATE log")
        with FaultyProxy(self.server.port) as proxy, Shell(self.server.url(port=proxy.port)) as shell:
            shell.must("connect")
            shell.must("pipeline", "BEGIN", INSERT, "SELECT 1/0", "COMMIT", outcome="REFUSED", commit="NONE", statement=2,
                       in_transaction=True)
            shell.must("run", "ROLLBACK", in_transaction=False)
            proxy.cut(sender="server", kind="ErrorResponse", when="after")
            shell.must("pipeline", "BEGIN", INSERT, "SELECT 1/0", "COMMIT", outcome="REFUSED", commit="NONE", statement=2,
                       open=False)
            expect(self._rows() == 0, "rows")

    def swallowed(self):
        """A network that swallows packets blocks nothing beyond its deadline."""
        with FaultyProxy(self.server.port) as proxy, Shell(self.server.url(port=proxy.port)) as shell:
            for command, statement, commit in (("run", "SELECT 1", "NONE"), ("begin", "BEGIN", "NONE"),
                                               ("stream", "SELECT 1", "NONE"), ("pipeline", "COMMIT", "UNKNOWN")):
                proxy.recover()
                shell.must("connect")
                proxy.swallow_all()
                answer = shell.must(command, statement, ms=300, outcome="TIMEOUT", open=False, commit=commit)
                expect(300 <= answer["ms"] < SLACK_MS, answer["ms"])
            answer = shell.must("connect", ms=300, outcome="TIMEOUT", open=False)
            expect(300 <= answer["ms"] < SLACK_MS, answer["ms"])
            proxy.recover()
            shell.must("connect")
            shell.must("run", "SELECT 1", value="1")

    def large_statement_swallowed(self):
        """More than the sockets hold, to a peer that does not read."""
        self.server.sql("TRUNCATE log")
        with FaultyProxy(self.server.port) as proxy, Shell(self.server.url(port=proxy.port)) as shell:
            shell.must("connect")
            shell.must("run", "SELECT length('" + "x" * 20_000_000 + "')", value="20000000")
            proxy.swallow_all()
            shell.must("run", "SELECT length('" + "x" * 20_000_000 + "')", ms=500, outcome="TIMEOUT", open=False)

    def large_results(self):
        """Rows that arrive slowly, and a stream that ends in the middle."""
        rows = "SELECT repeat('x', 1000) FROM generate_series(1, 50000)"
        with FaultyProxy(self.server.port) as proxy, Shell(self.server.url(port=proxy.port)) as shell:
            shell.must("connect")
            shell.must("stream", rows, results=50000)
            shell.must("run", rows)
            proxy.cut(sender="server", kind="DataRow", nth=20000)
            answer = shell.must("stream", rows, outcome="LOST", open=False)
            expect(answer["results"] <= 20000, answer["results"])

    def lost_at_first(self):
        """The server accepts the connection, and is gone before the session is configured."""
        with FaultyProxy(self.server.port) as proxy, Shell(self.server.url(port=proxy.port)) as shell:
            proxy.cut(sender="client", kind="Parse")
            shell.must("connect", outcome="RETRY", open=False)
            proxy.swallow(sender="client", kind="Parse")
            shell.must("connect", ms=300, outcome="TIMEOUT", open=False)
            shell.must("connect")

    def stopped(self):
        """A server that stops says so; while it is down, it cannot be reached; then a new connection works."""
        with Shell(self.server.url()) as shell:
            shell.must("connect")
            shell.must("begin", "BEGIN")
            self.server.stop("fast")
            answer = shell.must("run", "SELECT 1", outcome="LOST", open=False, commit="NONE")
            expect("terminating connection due to administrator command" in answer["message"]
                   or "server closed the connection unexpectedly" in answer["message"], answer["message"])
            answer = shell.must("connect", outcome="RETRY", open=False)
            expect("Connection refused" in answer["message"], answer["message"])
            self.server.start()
            shell.must("connect")
            self.server.kill()
            shell.must("run", "SELECT 1", outcome="LOST", open=False)
            self.server.launch()
            end = time.monotonic() + 60
            while (answer := shell("connect"))["outcome"] != "OK":
                expect(answer["outcome"] == "RETRY", answer)  # starting up, or not yet listening
                expect(time.monotonic() < end, answer)
                time.sleep(0.01)

    def frozen(self):
        """The kernel of a frozen server still accepts connections."""
        with Shell(self.server.url()) as shell:
            shell.must("connect")
            self.server.freeze()
            try:
                shell.must("run", "SELECT 1", ms=300, outcome="TIMEOUT", open=False)
                shell.must("connect", ms=300, outcome="TIMEOUT", open=False)
            finally:
                self.server.thaw()
            shell.must("connect")

    def settings_behind_pool(self):
        """Settings hold in each transaction, and do not stay with the server's process; nothing is prepared."""
        with PgBouncer(self.server) as pool, Shell(pool.url(), statement_timeout=7000, idle_in_transaction=9000) as shell:
            shell.must("connect", pooled=True, version=int(self.server.sql("SHOW server_version_num")[0][0]))
            for name, value in (("application_name", "berthd"), ("TimeZone", "UTC"), ("DateStyle", "ISO, MDY"),
                                ("statement_timeout", "7s"), ("idle_in_transaction_session_timeout", "9s")):
                shell.must("begin", "BEGIN")
                shell.must("run", "SHOW " + name, value=value)
                shell.must("run", "COMMIT", commit="DONE")
                shell.must("pipeline", "BEGIN ISOLATION LEVEL READ COMMITTED", "COMMIT", "SHOW " + name, results=3)
            shell.must("pipeline", "BEGIN", "SELECT 1/0", "COMMIT", outcome="REFUSED", statement=1, commit="NONE")
            shell.must("run", "ROLLBACK")
            shell.must("run", "SHOW statement_timeout", value="0")
            shell.must("prepared", "SELECT 42", value="42")
            shell.must("run", "SELECT count(*) FROM pg_prepared_statements", value="0")

    def prepared_behind_pool(self):
        """An older PgBouncer loses prepared statements: the session is lost before anything can be wrong."""
        with PgBouncer(self.server) as pool, Shell(pool.url()) as other, \
                Shell(pool.url(), prepared=PREPARED_ALWAYS) as shell:
            other.must("connect")
            shell.must("connect", pooled=True)
            shell.must("prepared", "SELECT 42", value="42")
            other.must("begin", "BEGIN")  # takes the server's process that has the statement
            shell.must("prepared", "SELECT 42", outcome="LOST", sqlstate="26000", open=False, commit="NONE")
            other.must("run", "COMMIT")

    def options_behind_pool(self):
        """PgBouncer does not accept options of the URL, unless it ignores them."""
        with PgBouncer(self.server) as pool, Shell(pool.url(options="-c geqo=off")) as shell:
            answer = shell.must("connect", outcome="FAILED", sqlstate="08P01")
            expect(answer["message"].endswith("cannot be reached: unsupported startup parameter: options"), answer["message"])
        with PgBouncer(self.server, {"ignore_startup_parameters": "options"}) as pool, \
                Shell(pool.url(options="-c geqo=off")) as shell:
            shell.must("connect")

    def pool_loses_server(self):
        """PgBouncer reports the loss of the server while a COMMIT is unanswered: nothing is known of it."""
        with FaultyProxy(self.server.port) as proxy:
            with PgBouncer(Behind(self.server, proxy.port)) as pool, Shell(pool.url()) as shell:
                shell.must("connect", pooled=True)
                self.server.sql("TRUNCATE log")
                proxy.cut(sender="server", kind="CommandComplete", text="^INSERT")
                shell.must("pipeline", "BEGIN", INSERT, "COMMIT", outcome="LOST", commit="UNKNOWN", open=False)
                self._await_rows(1)

    def standby(self):
        """target_session_attrs chooses among hosts; a standby refuses writes in a way that passes."""
        with Standby(self.server) as standby:
            hosts = f"host=127.0.0.1:{standby.port}&host=127.0.0.1:{self.server.port}"
            base = f"postgresql://berth:berth-password@/placement?{hosts}"
            question = "SELECT pg_is_in_recovery()"
            for attributes, recovery in (("any", "t"), ("read-write", "f"), ("primary", "f"), ("standby", "t"),
                                         ("prefer-standby", "t"), ("read-only", "t")):
                with Shell(f"{base}&target_session_attrs={attributes}") as shell:
                    shell.must("connect")
                    shell.must("run", question, value=recovery)
                    if recovery == "t":
                        shell.must("run", INSERT, outcome="RETRY", sqlstate="25006", open=True)

    def facts(self):
        """What an ordinary user can read about the server: replication, timeline, whether it is a standby."""
        primary = {"replication": "none", "server_address": f"127.0.0.1:{self.server.port}", "synchronous_commit": "on",
                   "server_version": self.server.sql("SHOW server_version")[0][0], "standby": False, "read_only": False,
                   "timeline": 1, "standbys": 0}
        with Shell(self.server.url()) as shell:
            shell.must("connect")
            shell.must("facts", facts=primary)
            with slow_backup(self.server):
                shell.must("facts", facts=primary)
            with Standby(self.server) as standby, Shell(standby.url()) as other:
                shell.must("facts", facts={**primary, "replication": "async", "standbys": 1})
                other.must("connect")
                copy = {**primary, "server_address": f"127.0.0.1:{standby.port}"}
                other.must("facts", facts={**copy, "standby": True, "read_only": True, "timeline": 0})
                standby.require()
                shell.must("facts", facts={**primary, "replication": "sync", "standbys": 1})
                shell.must("run", "SET synchronous_commit = local")
                shell.must("facts", facts={**primary, "replication": "async", "standbys": 1, "synchronous_commit": "local"})
                standby.require(False)
                standby.detach()
                standby.promote()
                other.must("facts", facts={**copy, "timeline": 2})


class Behind:
    """A server as it is seen through a proxy, for PgBouncer."""

    def __init__(self, server, port):
        self.user, self.password, self.database, self.port = server.user, server.password, server.database, port


class Encrypted:
    """Cases with a server that offers TLS."""

    def __init__(self):
        self.server = Postgres(tls=True, access=["hostssl all all 127.0.0.1/32 scram-sha-256"]).start()

    def close(self):
        self.server.end()

    def tls(self):
        ca = self.server.authority.cert
        for parameters in ({"sslmode": "verify-full", "sslrootcert": ca}, {"sslmode": "verify-ca", "sslrootcert": ca},
                           {"sslmode": "require"}, {}):
            with Shell(self.server.url(**parameters)) as shell:
                shell.must("connect", tls=True)
                shell.must("run", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", value="t")

    def tls_refused(self):
        other = postgres.Authority(self.server.place.make_directory("other"))
        with Shell(self.server.url(sslmode="disable")) as shell:
            answer = shell.must("connect", outcome="FAILED", sqlstate="28000")
            expect("no encryption" in answer["message"], answer["message"])
        with Shell(self.server.url(sslmode="verify-full", sslrootcert=other.cert)) as shell:
            answer = shell.must("connect", outcome="FAILED")
            expect("certificate verify failed" in answer["message"], answer["message"])
        with Shell(self.server.url(sslmode="verify-full", sslrootcert="/nowhere/ca.pem")) as shell:
            answer = shell.must("connect", outcome="FAILED")
            expect('root certificate file "/nowhere/ca.pem" does not exist' in answer["message"], answer["message"])

    def tls_in_large_records(self):
        """Nothing waits for bytes that TLS has read already and libpq has not: no socket tells of them."""
        with TlsFront(self.server) as front, Shell(self.server.url(port=front.port, sslmode="require")) as shell:
            shell.must("connect", tls=True)
            for count in range(1, 20):
                rows = f"SELECT repeat('x', 8000) FROM generate_series(1, {count})"
                for command, results in (("stream", count), ("pipeline", 1)):
                    answer = shell.must(command, rows, results=results)
                    expect(answer["ms"] < SLACK_MS, answer)

    def tls_frozen(self):
        """In the middle of a TLS connection, as without; and while one is being made."""
        with Shell(self.server.url(sslmode="require")) as shell:
            shell.must("connect", tls=True)
            self.server.freeze()
            try:
                shell.must("run", "SELECT length('" + "x" * 20_000_000 + "')", ms=300, outcome="TIMEOUT", open=False)
                shell.must("connect", ms=300, outcome="TIMEOUT", open=False)
            finally:
                self.server.thaw()
            shell.must("connect", tls=True)


def main():
    global shell_program
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    shell_program = os.path.join(ROOT, options.build, "tests/databases/session_shell")
    return run_cases((Sessions, Encrypted), options.cases)


if __name__ == "__main__":
    sys.exit(main())
