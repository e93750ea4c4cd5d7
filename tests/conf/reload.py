#!/usr/bin/python3
"""SIGHUP to a running berthd: changes that take effect at once, changes that need a restart, and invalid files.

    tests/conf/reload.py --berthd build/berthd [CASE…]

The last line is `N passed, N failed`.
"""

import os
import re
import signal
import socket
import sqlite3
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "faults"), os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import case  # noqa: E402
from case import HOST, expect  # noqa: E402

CANDIDATES = "/allocation_candidates?resources=VCPU:1"


class Reload(case.Case):
    def _begin(self, *options):
        """A berthd with these lines before its database; they can be replaced."""
        self.server = self.berthd(options=options)
        self.rest = self._text().split("\n".join(options) + "\n", 1)[1] if options else self._text()
        return self.server

    def _text(self):
        with open(self.server.config_file) as file:
            return file.read()

    def _reload(self, *options, text=None, wait_for="configuration read again"):
        """Writes new lines, sends the signal, and returns what is logged about it."""
        if text is None:
            text = "[api]\nauth_strategy = noauth2\n" + "".join(line + "\n" for line in options) + self.rest
        with open(self.server.config_file, "w") as file:
            file.write(text)
        return self._signal(wait_for)

    def _signal(self, wait_for="configuration read again"):
        before = len(self.server.log())
        self.server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            log = self.server.log()[before:]
            if re.search(wait_for, log):
                expect(("configuration read again" in log) != ("the configuration stays as it was" in log), log)
                expect("the log stays as it was" not in log, log)
                return log
            time.sleep(0.01)
        raise AssertionError(f"the log does not say {wait_for!r}: {self.server.log()[before:]}")

    def _requests_logged(self, client):
        """The number of log lines for answered requests."""
        count = lambda: self.server.log().count(" INFO placement.requestlog ")
        before = count()
        client.must(200, "GET", "/resource_providers")
        time.sleep(0.5)  # lines are collected for 0.1 s
        return count() - before

    # The cases.

    def access_log(self):
        with self._begin() as server:
            client = server.client()
            expect(self._requests_logged(client) == 1, "a request is not logged")
            log = self._reload("[berth]", "access_log = false")
            expect("[berth] access_log changed from True to False" in log and "1 option changed" in log, log)
            expect(self._requests_logged(client) == 0, "a request is still logged")
            self._reload()
            expect(self._requests_logged(client) == 1, "a request is not logged again")

    def slow_requests(self):
        with self._begin("[berth]", "slow_request_ms = 60000") as server:
            client = server.client()
            for number, limit in enumerate((60000, 50)):
                self._reload("[berth]", f"slow_request_ms = {limit}")
                other = sqlite3.connect(server.database, isolation_level=None)
                other.execute("BEGIN IMMEDIATE")  # a write waits that long
                writer = threading.Thread(target=client.make_provider, args=(f"aaaaaaaa-0000-4000-8000-{number:012d}",))
                writer.start()
                time.sleep(0.2)
                other.execute("ROLLBACK")
                writer.join()
                time.sleep(0.3)
                expect(("berth.slow" in server.log()) == (limit == 50), f"with {limit} ms: {server.log()[-500:]}")

    def candidates(self):
        with self._begin() as server:
            client = server.client()
            for number in range(6):
                client.make_provider(f"aaaaaaaa-0000-4000-8000-{number:012d}", VCPU=8)
            for most in (2, 5, -1):
                self._reload("[placement]", f"max_allocation_candidates = {most}")
                found = len(client.must(200, "GET", CANDIDATES)["allocation_requests"])
                expect(found == (6 if most == -1 else most), f"{found} candidates with a maximum of {most}")

    def debug(self):
        with self._begin():
            log = self._reload("[DEFAULT]", "debug = true")
            expect("[DEFAULT] debug changed from False to True" in log, log)
            self._reload("[DEFAULT]", "debug = false")

    def deadlines(self):
        """A client that stalls is disconnected after the new time, even on a connection opened before."""
        with self._begin("[berth]", "header_deadline = 600") as server:
            early = self._half_a_request(server.port)
            self._reload("[berth]", "header_deadline = 1")
            late = self._half_a_request(server.port)
            began = time.monotonic()
            for client in (early, late):
                client.settimeout(30)
                while client.recv(1000):  # until the end of the stream
                    pass
                client.close()
            expect(time.monotonic() - began < 20, "the connections stay open")

    @staticmethod
    def _half_a_request(port):
        client = socket.create_connection(("127.0.0.1", port))
        time.sleep(0.7)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        return client

    def need_a_restart(self):
        with self._begin("[berth]", "max_connections = 500") as server:
            log = self._reload("[berth]", "max_connections = 600", "mount_prefix = /x", "[cors]", "allowed_origin = *")
            expect("WARNING berth.conf [-] these options have changed and need a restart: [berth] max_connections, "
                   "[berth] mount_prefix, [cors] allowed_origin" in log, log)
            expect("0 options changed" in log, log)
            expect(server.client().ask("GET", "/x/resource_providers")[0] == 404, "the new prefix is in force")
            log = self._signal()
            expect("need a restart" in log, "it is not logged again while they wait")
            log = self._reload("[berth]", "max_connections = 500")
            expect("need a restart" not in log, log)

    def bad_files(self):
        with self._begin("[berth]", "access_log = false") as server:
            client = server.client()
            name = re.escape(server.config_file)
            for text, reason in (("[berth]\naccess_log = perhaps\n" + self.rest, r":2: \[berth\] access_log must be true or false"),
                               ("[berth\n", r":1: the section's \] is missing"),
                               ("[berth]\nmount_prefix = x\n" + self.rest, r":2: \[berth\] mount_prefix: 'x' is not"),
                               ("[api]\n", ".*connection is not set"), ("\xff\n", r":1: ")):
                wanted = "the configuration stays as it was: " + (name if reason.startswith(":") else "") + reason
                self._reload(text=text, wait_for=wanted)
                expect(self._requests_logged(client) == 0, f"{text!r} has changed something")
            os.unlink(server.config_file)
            self._signal(wait_for="stays as it was: cannot read the configuration file " + name)
            expect(self._requests_logged(client) == 0, "a missing file has changed something")
            self._reload("[berth]", "access_log = true")
            expect(self._requests_logged(client) == 1, "a corrected file is not used")

    def a_pipe(self):
        """A pipe without a writer: the configuration stays, and the process still reacts to signals."""
        with self._begin() as server:
            os.unlink(server.config_file)
            os.mkfifo(server.config_file)
            self._signal("the configuration stays as it was: .*connection is not set")
            expect(server.stop() == 0, "berthd does not end")

    def secrets(self):
        with self._begin() as server:
            text = self._text().replace("connection = sqlite:///", "connection = sqlite:////tmp/hunter2")
            log = self._reload(text=text)
            expect("need a restart: [placement_database] connection\n" in log and "hunter2" not in log, log)
            self._reload("[DEFAULT]", "debug = true", "[keystone_authtoken]", "password = hunter2")
            server.client().must(200, "GET", "/resource_providers")
            expect("hunter2" not in server.log(), "a secret is in the log")

    def sections_of_origins(self):
        """The settings of oslo.middleware are not used, which is reported even without debug."""
        with self._begin("[cors]", "allowed_origin = http://a", "[cors.b]", "allowed_origin = http://b",
                         "max_age = 1") as server:
            warnings = [line for line in server.log().splitlines() if " WARNING " in line]
            expect(len(warnings) == 1 and re.search(r"\.conf:\d+: \[cors\.b\] is not read: all origins belong in "
                                                r"\[cors\] allowed_origin$", warnings[0]), warnings)

    def unknown_options(self):
        """One warning each, at startup and at each reload."""
        with self._begin("[berth]", "lisen = 127.0.0.1:1", "[bert]", "listen = x", "idle_timeout = 5") as server:
            wanted = ["[berth] lisen is not known, and is ignored; did you mean [berth] listen?",
                      "there is no section [bert]: its options are ignored; did you mean [berth]?"]
            for times in (1, 2):
                warnings = [line for line in server.log().splitlines() if " WARNING berth.conf " in line]
                expect(len(warnings) == 2 * times and all(any(line.endswith(one) for line in warnings) for one in wanted), warnings)
                if times == 1:
                    self._reload("[berth]", "lisen = 127.0.0.1:1", "[bert]", "listen = x", "idle_timeout = 5")

    def options_at_debug(self):
        with self._begin("[DEFAULT]", "debug = true", "[keystone_authtoken]", "password = hunter2") as server:
            log = server.log()
            for line in (r"keystone_authtoken\.password += \*{4} ", r"cors\.max_age += 3600 "):
                expect(re.search("DEBUG placement.wsgi .*" + line, log), log[-2000:])
            expect("hunter2" not in log, "a secret is in the log")

    def under_load(self):
        """Signals while requests are answered: none is lost, and the last configuration takes effect."""
        with self._begin() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=100)
            stop, problems = threading.Event(), []
            threads = [threading.Thread(target=self._ask, args=(server, stop, problems)) for _ in range(4)]
            for thread in threads:
                thread.start()
            try:
                for number in range(40):
                    self._reload("[berth]", f"access_log = {number % 2 == 1}", f"header_deadline = {1 + number}", "[placement]",
                                 f"max_allocation_candidates = {number % 5 - 1 or 1}", "[DEFAULT]", f"debug = {number % 3 == 0}")
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            expect(not problems, problems)
            time.sleep(0.5)
            expect(self._requests_logged(client) == 1, "the last configuration is not in force")
            expect(server.stop() == 0, "the exit status")

    @staticmethod
    def _ask(server, stop, problems):
        client = server.client()
        try:
            while not stop.is_set():
                client.must(200, "GET", CANDIDATES)
                client.must(200, "GET", "/resource_providers")
        except Exception as failure:
            problems.append(repr(failure))


if __name__ == "__main__":
    sys.exit(case.main(__doc__, Reload))
