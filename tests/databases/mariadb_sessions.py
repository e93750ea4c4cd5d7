#!/usr/bin/python3
"""Sessions of berth on MariaDB servers: over TLS, with accounts of several kinds, while the server ends, and on a Galera
cluster whose nodes leave it. What a session reports of each, and what it knows of a COMMIT.

    tests/databases/mariadb_sessions.py [--build build] [CASE…]

The last line is `N passed, N failed`. With BERTH_TEST_ON=mysql in the environment, the servers are MySQL's (mysql.py).
"""

import argparse
import json
import os
import subprocess
import sys
import time

from database import Authority
from expectations import expect, run_cases
from galera import Galera
from mariadb import KOLLA, Mariadb, server_class, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WRONG_NAME = "127.1"  # is 127.0.0.1, but not in the certificate
shell_program = None


class Shell:
    """A session in a process of its own. Each command returns what mariadb_session_shell.c prints."""

    def __init__(self, url, **options):
        numbers = [f"{name}={value}" for name, value in options.items()]
        self.process = subprocess.Popen([shell_program, url, *numbers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = url

    def __call__(self, command, text="", ms=20000):
        self.begin(command, text, ms)
        return self.end()

    def begin(self, command, text="", ms=20000):
        self.process.stdin.write("\t".join([command, str(ms), text]) + "\n")
        self.process.stdin.flush()

    def end(self):
        line = self.process.stdout.readline()
        expect(line, f"the shell has ended with {self.process.poll()}")
        answer = json.loads(line)
        message = answer["message"] or ""
        expect("berth-password" not in message and "\n" not in message, f"{message!r} is shown")
        return answer

    def must(self, command, text="", outcome="OK", ms=20000, **wanted):
        answer = self(command, text, ms)
        for name, value in {"outcome": outcome, **wanted}.items():
            expect(answer[name] == value, f"{self.url} {command} {text}: {name} is {answer[name]!r}, not {value!r}: {answer}")
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        status = self.process.wait(30)
        if exception[0] is None:
            expect(status == 0, f"the shell ended with {status}")


class Encrypted:
    """Cases on a server with TLS, which sets what kolla-ansible sets."""

    def __init__(self):
        self.server = server_class()(options=KOLLA, tls=True).start()
        self.ca = self.server.authority.cert
        self.other_ca = Authority(self.server.place.make_directory("other")).cert
        self.server.place.own(self.other_ca)
        self.server.sql("CREATE TABLE log (n int PRIMARY KEY)")

    def close(self):
        self.server.end()

    def _connects(self, url, tls, part=None):
        """part: of the message, if it must fail for good."""
        with Shell(url) as shell:
            answer = shell.must("connect", outcome="OK" if part is None else "FAILED")
            if part is None:
                expect(answer["tls"] == tls, f"{url}: {answer}")
                shell.must("run", "SELECT HEX('\U0001f600')", value="F09F9880")
                shell.must("stream", "SELECT REPEAT('x', 1000) FROM information_schema.COLLATIONS", results=self._collations())
            else:
                expect(part in answer["message"], f"{url}: {answer}")

    def _collations(self):
        return self.server.sql("SELECT COUNT(*) FROM information_schema.COLLATIONS")[0][0]

    def verification(self):
        """Of the certificate and of the host, for each parameter."""
        wrong_name = self.server.url(ssl_ca=self.ca).replace("127.0.0.1", WRONG_NAME)
        signed, host = "ertificate", "alidation"
        for url, tls, part in (
                (self.server.url(), False, None),
                (self.server.url(ssl_ca=self.ca), True, None),
                (self.server.url(ssl_ca=self.ca).replace("127.0.0.1", "localhost"), True, None),
                (self.server.url(ssl_ca=self.ca, ssl_verify_identity="true", ssl_verify_cert="true"), True, None),
                (self.server.url(ssl_ca=self.other_ca), None, signed),
                (self.server.url(ssl_ca=self.other_ca, ssl_check_hostname="false"), None, signed),
                (self.server.url(ssl_ca=self.other_ca, ssl_verify_cert="false"), True, None),
                (self.server.url(ssl_ca=self.other_ca, ssl_disabled="true"), False, None),
                (self.server.url(ssl_verify_cert="false"), True, None),
                (self.server.url(ssl_ca="/nowhere"), None, "the ssl_ca /nowhere cannot be read: No such file or directory"),
                (wrong_name, None, host),
                (wrong_name + "&ssl_check_hostname=false", True, None),
                (wrong_name + "&ssl_verify_cert=true", True, None),
                (wrong_name + "&ssl_verify_cert=true&ssl_verify_identity=true", None, host)):
            self._connects(url, tls, part)
        if os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
            self._connects(self.server.url(ssl_verify_cert="true"), None, signed)

    def option_file(self):
        """What RHOSO and TripleO mount."""
        path = self.server.write_option_file("rhoso.cnf", **{"ssl-ca": self.ca, "ssl": 1})
        self._connects(self.server.url(read_default_file=path), True)
        path = self.server.write_option_file("plain.cnf", ssl=0)
        self._connects(self.server.url(read_default_file=path), False)
        path = self.server.write_option_file("tripleo.cnf", group="tripleo", **{"ssl-ca": self.other_ca, "bind-address": "127.0.0.1"})
        self._connects(self.server.url(read_default_file=path, read_default_group="tripleo"), None, "ertificate")
        path = self.server.write_option_file("socket.cnf", socket=self.server.socket)
        self._connects(self.server.url(read_default_file=path), False)

    def accounts(self):
        """REQUIRE SSL and X509, another plugin than the oldest, and an expired password."""
        client, key = self.server.authority.issue("client", purpose="clientAuth")
        plugin, expired = "IDENTIFIED WITH caching_sha2_password BY 'p'", "password has expired"
        if type(self.server) is Mariadb:
            self.server.sql("INSTALL SONAME 'auth_ed25519'")
            plugin, expired = "IDENTIFIED VIA ed25519 USING PASSWORD('p')", "SET PASSWORD"
        for name, how in (("ssl", "IDENTIFIED BY 'p' REQUIRE SSL"), ("x509", "IDENTIFIED BY 'p' REQUIRE X509"),
                          ("plugin", plugin), ("old", "IDENTIFIED BY 'p' PASSWORD EXPIRE")):
            self.server.sql(f"CREATE USER `{name}`@'%' {how}")
            self.server.sql(f"GRANT ALL ON placement.* TO `{name}`@'%'")
        url = lambda name, **more: self.server.url(user=name, password="p", **more)
        self._connects(url("ssl"), None, "Access denied")
        self._connects(url("ssl", ssl_ca=self.ca), True)
        self._connects(url("x509", ssl_ca=self.ca), None, "Access denied")
        self._connects(url("x509", ssl_ca=self.ca, ssl_cert=client, ssl_key=key), True)
        self._connects(url("plugin"), False)
        self._connects(url("plugin", ssl_ca=self.ca), True)
        self._connects(url("old"), None, expired)

    def server_ends(self):
        """With an answer that never comes, over TLS and without: the COMMIT is unknown, and writing to a socket that is closed
        does not end the program."""
        for more in ({"ssl_ca": self.ca}, {}):
            with Shell(self.server.url(**more)) as shell, Shell(self.server.url(**more)) as idle:
                before = shell.must("connect")
                idle.must("connect", started=before["started"], system=before["system"])
                shell.must("commit 3", "BEGIN; INSERT INTO log VALUES (1); COMMIT", commit="DONE")
                shell.begin("commit 4", "BEGIN; DELETE FROM log; DO SLEEP(100); COMMIT")
                wait_until(lambda: self.server.sql("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE '%SLEEP(100)%' "
                                                   "AND ID <> CONNECTION_ID()"), "it does not sleep")
                self.server.kill()
                answer = shell.end()
                expect((answer["outcome"], answer["commit"], answer["open"]) == ("LOST", "UNKNOWN", False), answer)
                shell.must("connect", outcome="RETRY", ms=3000)
                idle.must("notice_end", open=False)
                time.sleep(1)  # servers know the second in which they were started
                self.server.start()
                after = shell.must("connect")
                expect(after["started"] != before["started"] and after["system"] == before["system"], f"{before} {after}")
                shell.must("run", "SELECT COUNT(*) FROM log", value="1")
                shell.must("commit 3", "BEGIN; DELETE FROM log; COMMIT", commit="DONE")

    def server_ends_unnoticed(self):
        """The session writes to a connection that is closed: more than the socket takes at once, since the first bytes are still
        accepted, and the next ones must not end the process by SIGPIPE."""
        text = "SELECT LENGTH('" + 4000000 * "x" + "')"
        for more in ({"ssl_ca": self.ca}, {}):
            with Shell(self.server.url(**more)) as shell:
                shell.must("connect")
                self.server.kill_sessions()
                for _ in range(2):
                    shell.must("run", text, outcome="LOST", open=False)
                shell.must("connect")
                shell.must("run", text, value="4000000")
                shell.must("close", open=False)

    def aborted(self):
        """A session that closes its connection says so, so that the server counts no aborted client."""
        def count():
            return int(dict(self.server.sql("SHOW GLOBAL STATUS LIKE 'Aborted_clients'"))["Aborted_clients"])

        before = count()
        for more in ({"ssl_ca": self.ca}, {}):
            with Shell(self.server.url(**more)) as shell:
                shell.must("connect")
                shell.must("run", "SELECT 1")
                shell.must("close")
        wait_until(lambda: not self.server.sessions(), "the sessions have not ended")
        expect(count() == before, f"{count() - before} aborted clients")


class Cluster:
    """Cases on a Galera cluster."""

    def __init__(self):
        self.cluster = Galera().start()
        self.first, self.second, self.third = self.cluster.nodes
        self.first.sql("CREATE TABLE log (n int PRIMARY KEY, m int)")
        self.first.sql("INSERT INTO log VALUES (1, 1), (2, 2)")
        self.cluster.await_same()

    def close(self):
        self.cluster.end()

    def nodes(self):
        with Shell(self.first.url()) as one, Shell(self.second.url(), sync_wait=1) as two:
            first = one.must("connect", galera=True, node="node1", increment=3)
            second = two.must("connect", galera=True, node="node2")
            expect((first["system"], first["started"]) == (second["system"], second["started"]), f"{first} {second}")
            one.must("run", "SELECT @@wsrep_sync_wait", value="0")
            two.must("run", "SELECT @@wsrep_sync_wait", value="1")

    def conflict(self):
        """The COMMIT of the transaction that comes second certainly does not happen."""
        with Shell(self.first.url()) as one, Shell(self.second.url()) as two:
            for shell in (one, two):
                shell.must("connect")
                shell.must("run", "BEGIN; UPDATE log SET m = m + 1 WHERE n = 1", in_transaction=True)
            one.must("commit 1", "COMMIT", commit="DONE")
            two.must("commit 1", "COMMIT", outcome="RETRY", kind="CONFLICT", code=1213, commit="NONE")
            two.must("run", "ROLLBACK", in_transaction=False)
            two.must("run", "SELECT 1", value="1")

    def isolated(self):
        """A node that leaves the primary component refuses statements, and is not connected to; and is found again."""
        with Shell(self.third.url()) as shell, Shell(self.third.url()) as other:
            shell.must("connect")
            self.third.isolate()
            try:
                wait_until(lambda: not self.third.is_primary(), "the node stays")
                answer = shell.must("commit 3", "BEGIN; INSERT INTO log VALUES (3, 3); COMMIT", outcome="RETRY", kind="PASSES")
                expect((answer["code"], answer["commit"]) == (1047, "NONE"), answer)
                answer = other.must("connect", outcome="RETRY", open=False)
                expect("the Galera node node3 is not ready (non-Primary, " in answer["message"], answer)
            finally:
                self.third.isolate(False)
            self.cluster.await_size(3)
            other.must("connect", node="node3")


def main():
    global shell_program
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    shell_program = os.path.join(ROOT, options.build, "tests/databases/mariadb_session_shell")
    return run_cases((Encrypted, Cluster), options.cases)


if __name__ == "__main__":
    sys.exit(main())
