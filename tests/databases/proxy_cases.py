"""Cases of selftest.py: the proxy that fails on command."""

import contextlib
import os
import subprocess
import threading
import time

from expectations import ask, connect_by_url, expect, expect_failure
from faulty_proxy import FaultyProxy
from postgres import Postgres, psycopg2
from processes import Failure, wait_until

LOST = psycopg2.OperationalError


def slowed(fault):
    """As on a busy machine: an answer arrives before it happens."""
    act = fault.action

    def late(connection):
        time.sleep(0.2)
        act(connection)

    fault.action = late
    return fault


class Proxied:
    """Cases with a proxy in front of a server; each has a proxy of its own and an empty table."""

    def __init__(self):
        self.server = Postgres().start()
        self.server.sql("CREATE TABLE log (n int)")
        self.server.sql("ALTER TABLE log OWNER TO berth")

    def close(self):
        self.server.end()

    @contextlib.contextmanager
    def _proxy(self):
        self.server.sql("TRUNCATE log")
        with FaultyProxy(self.server.port) as proxy:
            yield proxy
        expect(not proxy.connections(), "connections are left")

    def _client(self, proxy, name="one", **more):
        return contextlib.closing(connect_by_url(self.server.url(port=proxy.port, application_name=name, **more)))

    def _rows(self):
        return [row[0] for row in self.server.sql("SELECT n FROM log ORDER BY n")]

    def _await_rows(self, wanted):
        """The server may still be reading what was forwarded."""
        wait_until(lambda: self._rows() == wanted, lambda: f"{self._rows()}, not {wanted}")
        time.sleep(0.1)
        expect(self._rows() == wanted, self._rows())

    def counts(self):
        """Messages are counted by sender, kind and client; large ones, and those of closed connections, too."""
        with self._proxy() as proxy:
            with self._client(proxy) as one, self._client(proxy, "two") as two:
                before = {name: proxy.count("client", "Query", name) for name in ("one", "two")}
                for number in range(3):
                    ask(one, "INSERT INTO log VALUES (%s)", number)
                ask(two, "SELECT 1")
                expect(len(ask(one, "SELECT repeat('x', 1000) FROM generate_series(1, 5000)")) == 5000, "rows")
                expect(ask(one, "SELECT length(%s)", "y" * 3_000_000) == [(3_000_000,)], "length")
                expect(proxy.count("client", "Query", "one") - before["one"] == 5, proxy.connections("one")[0].counts)
                expect(proxy.count("client", "Query", "two") - before["two"] == 1, proxy.connections("two")[0].counts)
                expect(proxy.count("server", "DataRow", "one") >= 5001, proxy.connections("one")[0].counts)
                expect([connection.application for connection in proxy.connections()] == ["one", "two"], "names")
            wait_until(lambda: not proxy.connections(), "connections stay")
            expect(proxy.count("client", "Query", "one") - before["one"] == 5, "counts of a closed connection")
            expect(proxy.count("client", "Terminate") == 2, proxy.count("client", "Terminate"))

    def commit_lost(self):
        """The connection ends before the server gets COMMIT, or after, or with its answer: rolled back, or committed."""
        for which, wanted in (({"sender": "client", "kind": "Query", "when": "before"}, []),
                              ({"sender": "client", "kind": "Query", "when": "after"}, [1]),
                              ({"sender": "server", "kind": "CommandComplete", "when": "before"}, [1])):
            for reset in (False, True):
                with self._proxy() as proxy, self._client(proxy) as client, self._client(proxy, "two") as other:
                    fault = slowed(proxy.cut(reset, text="^commit$", application="one", **which))
                    for connection in (other, client):
                        ask(connection, "BEGIN")
                    ask(client, "INSERT INTO log VALUES (1)")
                    expect(not fault.happened, "too early")
                    ask(other, "COMMIT")
                    expect_failure(LOST, ask, client, "COMMIT")
                    fault.wait()
                    self._await_rows(wanted)
                    expect(ask(other, "SELECT 1") == [(1,)], "the other client")
                    wait_until(lambda: len(proxy.connections()) == 1, "the connection is not forgotten")

    def extended_protocol(self):
        """Statements that are prepared, bound and executed are found by their text."""
        with self._proxy() as proxy:
            def bench(wanted, mode="extended"):
                script = self.server.place.write("script", "BEGIN;\nINSERT INTO log VALUES (1);\nCOMMIT;\n")
                done = subprocess.run(["/usr/lib/postgresql/15/bin/pgbench", "-n", "-t", "3", "-M", mode, "-f", script],
                                      env={**os.environ, **self.server.variables(), "PGPORT": str(proxy.port),
                                           "PGAPPNAME": "bench"}, capture_output=True, text=True, timeout=60)
                expect((done.returncode == 0) == wanted, done.stderr + done.stdout)

            bench(True, "prepared")
            expect(proxy.count("client", "Execute", "bench") == 9, proxy.count("client", "Execute", "bench"))
            self._await_rows([1, 1, 1])
            fault = proxy.cut(sender="client", kind="Parse", text="^COMMIT", nth=2)
            bench(False)
            expect(fault.happened == 1, "not found")
            self._await_rows([1] * 4)
            fault = proxy.cut(sender="client", kind="Execute", text="^COMMIT", nth=2, when="after")
            bench(False, "prepared")
            expect(fault.happened == 1, "not found")
            self._await_rows([1] * 6)
            fault = proxy.cut(sender="server", kind="CommandComplete", text="COMMIT", nth=3)
            bench(False, "prepared")
            expect(fault.happened == 1, "not found")
            self._await_rows([1] * 9)

    def which(self):
        """The n-th message, of the n-th connection, a number of times."""
        with self._proxy() as proxy, self._client(proxy) as first, self._client(proxy) as second:
            fault = proxy.delay(0.5, sender="client", text="SELECT", number=2, nth=3, times=2)
            slow = []
            for _ in range(10):
                for connection in (first, second):
                    began = time.monotonic()
                    ask(connection, "SELECT 1")
                    slow.append(time.monotonic() - began > 0.49)
            expect([at for at, is_slow in enumerate(slow) if is_slow] == [5, 11], slow)
            expect(fault.happened == 2, fault.happened)
            expect_failure(Failure, fault.wait, 0.1, times=3)
            expect_failure(ValueError, proxy.cut, when="during")

    def swallowed(self):
        """Nothing arrives, the connection stays; what was sent arrives late. New connections get no answer."""
        with self._proxy() as proxy, self._client(proxy) as client:
            fault = slowed(proxy.swallow(sender="client", text="INSERT", when="after"))
            answers = []
            asker = threading.Thread(target=lambda: answers.append(ask(client, "INSERT INTO log VALUES (1)")))
            asker.start()
            fault.wait()
            expect(answers == [], "an answer arrived")
            self._await_rows([1])
            asker.join(0.3)
            expect(asker.is_alive(), answers)
            proxy.swallow_all()
            late = []
            newcomer = threading.Thread(target=lambda: late.append(connect_by_url(self.server.url(port=proxy.port))))
            newcomer.start()
            newcomer.join(0.3)
            expect(newcomer.is_alive(), "a new connection got an answer")
            proxy.recover()
            for thread in (asker, newcomer):
                thread.join(20)
                expect(not thread.is_alive(), "not recovered")
            expect(answers == [[]] and ask(late[0], "SELECT n FROM log") == [(1,)], answers)
            late[0].close()
            proxy.swallow_all(application="one")
            with self._client(proxy, "two") as other:
                expect(ask(other, "SELECT 1") == [(1,)], "another client")

    def refused(self):
        """New connections are refused, old ones go on until they are cut; then all is as before."""
        with self._proxy() as proxy, self._client(proxy) as client:
            proxy.refuse()
            proxy.refuse()
            said = expect_failure(LOST, connect_by_url, self.server.url(port=proxy.port))
            expect("refused" in said, said)
            expect(ask(client, "SELECT 1") == [(1,)], "an old connection")
            proxy.cut_all()
            expect_failure(LOST, ask, client, "SELECT 1")
            proxy.recover()
            with self._client(proxy) as again:
                expect(ask(again, "SELECT 1") == [(1,)], "a new connection")
                proxy.cut_all(application="two")
                expect(ask(again, "SELECT 1") == [(1,)], "cut for another")

    def slow(self):
        """Every request is late, and recover() ends that."""
        with self._proxy() as proxy, self._client(proxy) as client, self._client(proxy, "two") as other:
            proxy.delay_all(0.3, application="one")

            def seconds(connection):
                began = time.monotonic()
                for _ in range(3):
                    ask(connection, "SELECT 1")
                return time.monotonic() - began

            expect(seconds(client) >= 0.9 > seconds(other), "the delay")
            proxy.recover()
            expect(seconds(client) < 0.9, "the end of the delay")

    def server_fails(self):
        """The end of the server reaches the client, and a proxy serves the server that is started again."""
        with self._proxy() as proxy, self._client(proxy) as client:
            self.server.kill()
            expect_failure(LOST, ask, client, "SELECT 1")
            expect_failure(LOST, connect_by_url, self.server.url(port=proxy.port))
            self.server.start()
            with self._client(proxy) as again:
                expect(ask(again, "SELECT 1") == [(1,)], "no answer")

    def refuses_encryption(self):
        """A client that insists on TLS is told that there is none."""
        with self._proxy() as proxy:
            said = expect_failure(LOST, connect_by_url, self.server.url(port=proxy.port, sslmode="require"))
            expect("does not support SSL" in said, said)
