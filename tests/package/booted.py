"""The package in a root that systemd has booted."""

import os
import re
import shutil
import socket
import sys
import threading
import time
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "baremetal"))

import metal_client
import servers
from installed import CONSUMER, HOST, PORT, Case, expect, expect_used, use
from machine import CannotBoot, Machine

METAL_PORT = 6385
ADMIN_PORT = 8779
INSTALL = ("apt-get", "--yes", "--no-install-recommends", "install")


class Asker:
    """Sends requests continuously, each on a new connection; counts those without an answer."""

    def __init__(self):
        self.answered, self.lost = 0, []
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.ask)

    def ask(self):
        while not self.ends.is_set():
            client, began = servers.Client(PORT), time.monotonic()
            try:
                status, _ = client.ask("GET", f"/allocations/{CONSUMER}")
                if status != 200:
                    self.lost.append(status)
                self.answered += 1
            except Exception as error:
                self.lost.append(f"{error!r} after {time.monotonic() - began:.3f} s")
            client.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.ends.set()
        self.thread.join()

    def await_answers(self, count, seconds=20):
        end, until = time.monotonic() + seconds, self.answered + count
        while self.answered < until:
            expect(time.monotonic() < end, f"{self.answered} answers, and no more")
            time.sleep(0.01)


class Booted(Case):
    def _boot(self):
        if shutil.which("systemd-nspawn") is None:
            raise CannotBoot("there is no systemd-nspawn")
        return Machine(self._root, self._log)

    def systemd(self):
        """Installed in a running system: active at once; reloads, restarts and upgrades without losing a request;
        restarts after a crash; is stopped when removed."""
        try:
            machine = self._boot()
        except CannotBoot as why:
            return f"left out: {why}"
        try:
            self._in(machine)
        finally:
            machine.close()

    def _in(self, machine):
        machine.run(*INSTALL, "/root/berth.deb")
        machine.await_property("berthd.service", "ActiveState", "active")
        for unit in ("berthd.service", "berthd.socket", "berthd-admin.socket"):
            expect(machine.run("systemctl", "is-enabled", unit).stdout == "enabled\n", unit)
        with urllib.request.urlopen(f"http://127.0.0.1:{ADMIN_PORT}/healthz", timeout=10) as answer:
            expect(answer.status == 200, "/healthz")
        status = machine.run("systemctl", "status", "berthd").stdout
        expect("active (running)" in status, status)
        pid = machine.property("berthd.service", "MainPID")
        user = machine.run("stat", "--format", "%U", f"/proc/{pid}").stdout.strip()
        expect(user == "placement", user)
        logs = machine.run("stat", "--format", "%U %G %a", "/var/log/berth").stdout.strip()
        expect(logs == "placement adm 750", f"a start has changed /var/log/berth: {logs}")
        use(servers.Client(PORT))
        self._stays(machine)
        self._crashes(machine)
        self._serves_metal(machine)
        lines = machine.run("journalctl", "--unit", "berthd", "--output", "cat").stdout
        expect(re.search(r'placement\.requestlog .*"GET /allocations/' + CONSUMER, lines), lines[-2000:])
        machine.run("apt-get", "--yes", "remove", "berth")
        try:
            socket.create_connection(("127.0.0.1", PORT), 1).close()
            raise AssertionError("removed, and the port is still open")
        except ConnectionRefusedError:
            pass

    def _stays(self, machine):
        """Under load: reload, restart, upgrade."""
        with Asker() as asker:
            asker.await_answers(100)
            pid = machine.property("berthd.service", "MainPID")
            machine.run("systemctl", "reload", "berthd")
            asker.await_answers(100)
            expect(machine.property("berthd.service", "MainPID") == pid, "a reload restarted the process")
            for command in (("systemctl", "restart", "berthd"), (*INSTALL, "/root/berth_next.deb")):
                machine.run(*command)
                asker.await_answers(100)
                now = machine.property("berthd.service", "MainPID")
                expect(now != pid and now != "0", f"{' '.join(command)}: still the process {pid}")
                pid = now
        expect(not asker.lost, f"{len(asker.lost)} of {asker.answered} requests got no answer: {asker.lost[:5]}")
        expect_used(servers.Client(PORT))
        status, answer = servers.Client(PORT).claim(CONSUMER, 1, **{HOST: {"VCPU": 3}})
        expect(status == 204, answer)

    def _serves_metal(self, machine):
        """The second socket, which exists and is not enabled; a restart opens it."""
        for unit in ("berthd-baremetal.socket", "berthd-valet.socket"):
            found = machine.run("systemctl", "is-enabled", unit, check=False).stdout
            expect(found == "disabled\n", f"{unit}: {found}")
        machine.run("systemctl", "enable", "berthd-baremetal.socket")
        machine.run("systemctl", "restart", "berthd")
        metal_api = metal_client.MetalClient(METAL_PORT)
        metal_api.must(201, "POST", "/v1/nodes", {"driver": "fake-hardware", "name": "kept"})
        pid = machine.property("berthd.service", "MainPID")
        machine.run("dpkg", "--install", "/root/berth_next.deb")
        expect(machine.property("berthd.service", "MainPID") != pid, "an upgrade restarts it")
        metal_api.close()
        metal_api.must(200, "GET", "/v1/nodes/kept")
        metal_api.close()

    def _crashes(self, machine):
        pid = machine.property("berthd.service", "MainPID")
        machine.run("kill", "-KILL", pid)
        end = time.monotonic() + 20
        while machine.property("berthd.service", "MainPID") in (pid, "0"):
            expect(time.monotonic() < end, "it was not started again")
            time.sleep(0.1)
        machine.await_property("berthd.service", "ActiveState", "active")
        expect_used(servers.Client(PORT), 3)
