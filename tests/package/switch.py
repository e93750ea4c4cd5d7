#!/usr/bin/python3
"""docs/upgrade.md, command by command, in a booted Debian with its own placement-api: to berth, and back twice.

    tests/package/switch.py

Needs what run.py needs, and the packages that it has built. The last line is `N passed, N failed`. A machine that
cannot boot a root says so.
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "faults"), os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import inside  # noqa: E402
import packages  # noqa: E402
import root as roots  # noqa: E402
import servers  # noqa: E402
from installed import PORT, expect  # noqa: E402
from interchange import difference, populate, snapshot  # noqa: E402
from machine import CannotBoot, Machine  # noqa: E402

PAGE = os.path.join(roots.ROOT, "docs", "upgrade.md")
KEPT = os.path.join(roots.KEPT, "python")
PACKAGES = ("placement-api", "curl", "sqlite3")
COPY_PORT = 18778
CONFIGURATION = """[api]
auth_strategy = noauth2
[placement_database]
connection = sqlite:////var/lib/placement/placement.sqlite
max_pool_size = 5
[oslo_concurrency]
lock_path = /var/lib/placement
"""
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name NOT LIKE 'berth%' ORDER BY 1, 2"


def blocks():
    """The commands of the page, by the names of their blocks."""
    with open(PAGE) as file:
        return dict(re.findall(r"^```sh switch (\w+)\n(.*?)^```$", file.read(), re.M | re.S))


def python_layers():
    """A root with Debian's Python service, installed once and kept."""
    base = os.path.join(roots.KEPT, roots.suite())
    done = os.path.join(KEPT, "installed")
    if not os.path.exists(done):
        root = roots.Root([base], KEPT)
        try:
            root.install(*PACKAGES)
        finally:
            root.keep()
        open(done, "w").close()
    return [os.path.join(KEPT, "upper"), base]


class Switch:
    def __init__(self, machine, log):
        self.machine, self.log, self.blocks = machine, log, blocks()

    def do(self, name):
        """Runs a block of the page, as root in /root; returns its output."""
        text = self.machine.run("sh", "-ec", "cd /root; set -x\n" + self.blocks.pop(name)).stdout
        self.log.write(text.encode())
        return text

    def database(self):
        return self.machine.root.at("/var/lib/placement/placement.sqlite")

    def await_service(self, seconds=120):
        end = time.monotonic() + seconds
        while True:
            try:
                servers.Client(PORT).must(200, "GET", "/resource_providers")
                return servers.Client(PORT)
            except (OSError, AssertionError):
                expect(time.monotonic() < end, "no service responds")
                time.sleep(0.2)

    def python_serves(self):
        """Debian's service, with the database that it creates itself, and some data."""
        run_in = self.machine.run
        run_in("sh", "-c", f"cat >/etc/placement/placement.conf <<'END'\n{CONFIGURATION}END")
        run_in("su", "-s", "/bin/sh", "-c", "placement-manage db sync", "placement")
        # Eight of them start slowly on a small machine.
        run_in("sed", "-i", "s/^processes = .*/processes = 1/", "/etc/placement/placement-api-uwsgi.ini")
        run_in("systemctl", "restart", "placement-api")
        client = self.await_service()
        populate(client)
        self.before = snapshot(client)
        self.schema = servers.rows(self.database(), SCHEMA)

    def checks_before(self):
        text = self.do("before")
        expect(text.count("Result: Success") >= 2 and "422ece571366" in text, text)
        self.do("address")

    def copy(self):
        """A berthd beside the service; the last command of the block runs until it is ended."""
        setup, _, last = self.blocks.pop("copy").rpartition("\nrunuser")
        self.log.write(self.machine.run("sh", "-ec", "cd /root; set -x\n" + setup).stdout.encode())
        berthd = subprocess.Popen(["nsenter", "--target", self.machine.leader, "--all", "--", "sh", "-c",
                                   "cd /root; exec runuser" + last], env=roots.ENVIRONMENT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 20
            client = servers.Client(COPY_PORT)
            while True:
                try:
                    after = snapshot(client)
                    break
                except OSError:
                    expect(time.monotonic() < end and berthd.poll() is None, "the copy is not served")
                    time.sleep(0.1)
            expect(after == self.before, difference(self.before, after))
            for path in glob.glob("/proc/[0-9]*/exe"):
                if os.path.realpath(path) == "/var/tmp/berth/usr/sbin/berthd":
                    os.kill(int(path.split("/")[2]), signal.SIGINT)
            text, _ = berthd.communicate(timeout=20)
            expect(berthd.returncode == 0 and "[placement_database] max_pool_size" in text, text)
        finally:
            if berthd.poll() is None:
                berthd.send_signal(signal.SIGKILL)
        self.machine.run("rm", "-r", "/var/tmp/berth")

    def there(self):
        text = self.do("there")
        expect(text.rstrip().endswith("\nactive"), text)
        status = self.machine.run("dpkg-query", "--show", "--showformat", "${db:Status-Status}", "placement-api",
                                  check=False).stdout
        expect(status == "config-files", status)
        self.compare("after the switch")
        expect(servers.rows(self.database(), SCHEMA) == self.schema, "the schema was changed without a request")
        listening = self.machine.run("systemctl", "show", "--value", "--property", "Listen", "berthd.socket").stdout
        expect("[::]:8778" in listening, listening)
        text = self.do("look")
        expect('"CURRENT"' in text and text.count("Result: Success") >= 2 and "berth" in text, text)

    def claim(self, number):
        """Each service writes data that the next must show."""
        client = self.await_service()
        provider = "bbbbbbbb-0000-4000-8000-000000000001"
        status, answer = client.claim(f"cccccccc-0000-4000-8000-{number:012d}", None, **{provider: {"VCPU": 1}})
        expect(status == 204, answer)
        self.before = snapshot(client)

    def compare(self, when):
        after = snapshot(self.await_service())
        expect(after == self.before, f"{when}: {difference(self.before, after)}")

    def back_without_a_step(self):
        self.claim(50)
        back = self.blocks["back"]
        text = self.do("back")
        expect(text.rstrip().endswith("\nactive"), text)
        self.compare("back")
        self.claim(51)
        self.blocks["back"] = back

    def there_and_back_after_a_sync(self):
        self.machine.run("sh", "-ec", "cd /root; apt-get install --yes ./berth_*.deb")
        self.compare("the second switch")
        self.do("sync")
        version = self.machine.run("placement-manage", "db", "version").stdout
        expect(version == "a082b8bb98d0\n", version)
        self.claim(52)
        self.do("stamp")
        self.claim(53)
        self.do("back")
        self.compare("back after a stamp")
        expect(servers.rows(self.database(), SCHEMA) == self.schema, "not the Python service's own schema")
        self.machine.run("su", "-s", "/bin/sh", "-c", "placement-manage db sync", "placement")
        self.claim(54)
        self.do("traces")
        self.compare("without traces")
        tables = servers.rows(self.database(), "SELECT name FROM sqlite_master WHERE name LIKE 'berth%'")
        expect(tables == [], tables)
        expect(self.blocks == {}, f"blocks of the page that nothing runs: {list(self.blocks)}")


def play(score):
    servers.set_loopback_up()
    directory = os.path.join(packages.WORK, "switch")
    with open(os.path.join(packages.WORK, "switch.log"), "wb", 0) as log:
        root = roots.Root(python_layers(), directory)
        shutil.copy(os.path.join(packages.WORK, "berth.deb"), root.at("root", "berth_0.deb"))
        root.write("/etc/apt/apt.conf.d/90fetched", 'APT::Install-Recommends "false";\n')  # other packages are not in its cache
        for name in ("berth.deb", "berth_next.deb"):
            os.unlink(root.at("root", name))
        machine = None
        try:
            machine = Machine(root, log)
            switch = Switch(machine, log)
            for step in (switch.python_serves, switch.checks_before, switch.copy, switch.there, switch.back_without_a_step,
                         switch.there_and_back_after_a_sync):
                began, problem = time.monotonic(), None
                try:
                    step()
                except Exception as failure:
                    problem = f"{failure!r:.3000}; see {log.name}"
                score.case(step.__name__, problem, time.monotonic() - began)
                if problem:
                    log.write(machine.run("sh", "-c", "journalctl --no-pager -n 100; tail -n 100 /var/log/placement/*.log").stdout.encode())
                    break
        except CannotBoot as why:
            print(f"       left out: {why}")
        finally:
            if machine is not None:
                machine.close()
            root.remove()
    return score.end()


def main():
    inside.become_root()
    score = servers.Score()
    if inside.arguments_inside(score) is not None:
        return play(score)
    if not packages.prepare_or_say(score, *PACKAGES):
        return score.end()
    return inside.run_inside(__file__, score)


if __name__ == "__main__":
    sys.exit(main())
