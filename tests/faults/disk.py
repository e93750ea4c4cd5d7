"""The disk and its files: full, read-only, owned by another user."""

import contextlib
import http.client
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

import case
from case import HOST, expect, servers, total_of

NOBODY = 65534


class Disk(case.Case):
    def _refused(self, words, server):
        """It must not start, and must log the reason in one line."""
        try:
            with server:
                pass
        except RuntimeError:
            lines = [line for line in server.log().splitlines() if line.startswith("berthd:")]
            expect(server.process.returncode not in (0, None), f"exit status {server.process.returncode}")
            expect(server.process.returncode > 0, f"ended by signal {-server.process.returncode}")
            expect(len(lines) == 1 and words in lines[0], f"not one line with '{words}': {server.log()}")
            return
        raise AssertionError("it started")

    def _fill_until_refused(self, client, most=20000):
        """Writes until one is refused; (existing names, the refusal)."""
        for number in range(most):
            name = f"CUSTOM_{number:06d}_" + "X" * 200
            status, answer = client.ask("PUT", "/traits/" + name)
            if status != 201:
                return [f"CUSTOM_{n:06d}_" + "X" * 200 for n in range(number)], (status, answer)
        raise AssertionError(f"{most} writes and the disk is not full")

    def _full(self, server, make_room):
        with server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            names, (status, answer) = self._fill_until_refused(client)
            expect(status == 503, f"{status} {answer}")
            expect(answer["errors"][0]["status"] == 503 and answer["errors"][0]["detail"], answer)
            expect(total_of(client) == 10, "reads do not continue")
            for _ in range(3 if make_room else 0):
                expect(client.ask("PUT", "/traits/CUSTOM_" + "Y" * 200)[0] == 503, "the disk is still full")
            there = set(client.must(200, "GET", "/traits?name=startswith:CUSTOM_")["traits"])
            expect(there == set(names), f"{len(there)} traits there, {len(names)} acknowledged")
            if make_room:
                make_room()
                client.must(201, "PUT", "/traits/CUSTOM_ROOM")
                names.append("CUSTOM_ROOM")
            server.stop()
        return names

    def disk_full(self):
        """A small tmpfs; once there is room again, writes go on without a restart."""
        mount = os.path.join(self.directory, "small")
        os.mkdir(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "berth-test", mount],
                          stderr=subprocess.DEVNULL).returncode:
            return "no tmpfs to be had here: left out"
        try:
            ballast = os.path.join(mount, "ballast")
            with open(ballast, "wb") as file:
                file.write(bytes(1 << 20))
            server = servers.Berthd(self.program, mount)
            names = self._full(server, lambda: os.unlink(ballast))
            with servers.Berthd(self.program, mount) as server:
                there = server.client().must(200, "GET", "/traits?name=startswith:CUSTOM_")["traits"]
                expect(set(there) == set(names), "after a restart the traits are others")
                server.stop()
        finally:
            subprocess.run(["umount", "-l", mount])

    def file_too_large(self):
        """No file may grow beyond 2 MiB (RLIMIT_FSIZE). berth may recover by a checkpoint afterwards."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

        names = self._full(self.berthd(limits=limit, options=["[berth]", "access_log = false"]), None)
        with self.berthd() as server:
            there = server.client().must(200, "GET", "/traits?name=startswith:CUSTOM_")["traits"]
            expect(set(there) == set(names), "after a restart the traits are others")

    def read_only_file(self):
        with self.berthd() as server:
            server.client().make_provider(HOST, "host", VCPU=10)
            server.stop()
        program = os.path.join(self.directory, "berthd")
        shutil.copy(self.program, program)
        os.chmod(self.directory, 0o755)
        os.chmod(server.database, 0o444)

        def drop():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)

        self._refused("read-only", servers.Berthd(program, self.directory, limits=drop))

    def overwritten_in_place(self):
        """The same file, empty for a while: refused, and served again, although nothing else writes meanwhile."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            shell = sqlite3.connect(server.database)
            expect(shell.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() == [(0, 0, 0)], "the WAL is in use")
            shell.close()
            time.sleep(0.3)
            with open(server.database, "rb") as file:
                content = file.read()
            with open(server.database, "r+b") as file:
                file.truncate()
            end = time.monotonic() + 10
            while client.ask("GET", "/resource_providers")[0] != 503:
                expect(time.monotonic() < end, "berthd has not noticed")
                time.sleep(0.05)
            with open(server.database, "r+b") as file:
                file.write(content)
            while client.ask("GET", "/resource_providers")[0] != 200:
                expect(time.monotonic() < end, "not served again")
                time.sleep(0.05)
            client.must(201, "PUT", "/traits/CUSTOM_LATER")
            expect(client.must(200, "GET", f"/resource_providers/{HOST}")["name"] == "host", "the host")

    def few_threads(self):
        """If the system gives fewer threads than berthd needs, it says so in one line, and leaves no core file."""
        if os.getuid() != 0:
            return "only root can become a user without other processes"
        shutil.copy(self.program, os.path.join(self.directory, "berthd"))
        os.chmod(self.directory, 0o777)
        keystone = ["[keystone_authtoken]", "auth_type = password", "auth_url = http://127.0.0.1:9", "username = u",
                    "user_domain_id = d", "password = p", "project_id = p"]
        self._start_with_few(strategy="keystone", options=keystone)
        admin = servers.free_port()
        options = ["[berth]", f"admin_listen = 127.0.0.1:{admin}"]
        least = self._start_with_few(lambda: self._inventory(admin, 503), options=options)
        self._start_with_few(lambda: self._inventory(admin, 200), least=least + 1, options=options)

    def _start_with_few(self, look=lambda: None, least=2, **more):
        """Starts with that many threads, and one more each time until it serves; returns the number."""
        user = 100000 + os.getpid()
        for most in range(least, 40):
            def limit(most=most):
                resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)

            server = servers.Berthd(os.path.join(self.directory, "berthd"), self.directory, limits=limit, **more)
            try:
                server.start()
            except RuntimeError:
                server.kill()
                lines = [line for line in server.log().splitlines() if line.startswith("berth")]
                expect(server.process.returncode == 1 and len(lines) == 1 and "cannot " in lines[0], server.log())
                continue
            with server:
                look()
                return most
        raise AssertionError("it never starts")

    def _inventory(self, admin, wanted):
        """The page needs one thread more than all those of a start."""
        connection = http.client.HTTPConnection("127.0.0.1", admin, timeout=10)
        connection.request("GET", "/metrics?inventory=1")
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        expect(answer.status == wanted, (answer.status, text[:100]))

    def in_memory(self):
        """A database in memory is lost at the end, which is logged."""
        for connection in ("sqlite://", "sqlite:///", "sqlite:///:memory:"):
            with self.berthd() as server:
                server.stop()
                with open(server.config_file) as file:
                    text = file.read()
                with open(server.config_file, "w") as file:
                    file.write(text.replace(f"sqlite:///{server.database}", connection))
                server.start().client().make_provider(HOST, "host", VCPU=10)
                warning = " WARNING berth [-] the database is in memory: everything is lost when the process ends\n"
                expect(server.log().count(warning) == 1, server.log())

    def start_refusals(self):
        with self.berthd() as server:
            self._refused("", self.berthd(port=server.port, name="other.db"))
        missing = self.berthd(name="no/such/directory.db")
        self._refused("cannot be opened", missing)
        with open(os.path.join(self.directory, "text.db"), "w") as file:
            file.write("this is no database, whatever its name says\n" * 100)
        self._refused("cannot be opened", self.berthd(name="text.db"))
        with contextlib.closing(sqlite3.connect(os.path.join(self.directory, "strange.db"))) as strange:
            strange.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            strange.execute("INSERT INTO alembic_version VALUES ('0123456789ab')")
            strange.commit()
        self._refused("0123456789ab", self.berthd(name="strange.db"))
        self._refused("", self.berthd(name="empty.db", sync=False))
