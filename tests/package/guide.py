#!/usr/bin/python3
"""docs/install.md, command by command: users and endpoints in a real Keystone, the package in a booted root with the
page's placement.conf, and the openstack client through both.

    tests/package/guide.py

Needs what run.py needs, and the packages that it has built. The last line is `N passed, N failed`. A machine that
cannot boot a root says so.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "keystone"), os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import cloud  # noqa: E402
import inside  # noqa: E402
import packages  # noqa: E402
import root as roots  # noqa: E402
import servers  # noqa: E402
from installed import PORT, expect  # noqa: E402
from machine import CannotBoot, Machine  # noqa: E402

PAGE = os.path.join(roots.ROOT, "docs", "install.md")


def blocks():
    with open(PAGE) as file:
        return dict(re.findall(r"^```(?:sh|ini) (\w+)\n(.*?)^```$", file.read(), re.M | re.S))


class Guide:
    def __init__(self, machine, keystone, log):
        self.machine, self.keystone, self.log, self.blocks = machine, keystone, log, blocks()
        self.administrator = {
            "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "OS_AUTH_URL": keystone.url + "/v3",
            "OS_USERNAME": "admin", "OS_PASSWORD": "admin", "OS_PROJECT_NAME": "admin", "OS_IDENTITY_API_VERSION": "3",
            "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default"}

    def here(self, text):
        """Text of the page, with the addresses of this test."""
        return text.replace("http://controller:5000", self.keystone.url).replace("controller", "127.0.0.1")

    def client(self, text):
        """Commands of an administrator of the cloud on another machine."""
        done = subprocess.run(["sh", "-exc", self.here(text)], env=self.administrator, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.log.write(done.stdout.encode())
        expect(done.returncode == 0, done.stdout[-2000:])
        return done.stdout

    def server(self, name):
        text = self.machine.run("sh", "-exc", self.blocks[name]).stdout
        self.log.write(text.encode())
        return text

    def identity(self):
        self.client("openstack project create --domain default service\n" + self.blocks["keystone"])

    def configuration(self):
        self.machine.run("sh", "-c", "apt-get install --yes --no-install-recommends /root/berth.deb curl")
        path = "/etc/placement/placement.conf"
        self.machine.run("install", "-D", "-m", "0640", "-g", "placement", "/dev/null", path)
        with open(self.machine.root.at(path), "w") as file:
            file.write(self.here(self.blocks["configuration"]))
        self.server("populate")
        self.machine.await_property("berthd.service", "ActiveState", "active")

    def verification(self):
        text = self.server("verify")
        expect(text.count("Result: Success") == 3 and '"CURRENT"' in text, text)
        status, _ = servers.Client(PORT).ask("GET", "/resource_providers")
        expect(status == 401, f"noauth2's token: {status}")

    def openstack(self):
        text = self.client(self.blocks["openstack"])
        expect("| VCPU " in text and "| HW_CPU_X86_AVX2 " in text, text)
        text = self.client("openstack resource provider create host1\nopenstack resource provider list")
        expect(text.count("| host1 ") >= 1, text)


def play(score):
    servers.set_loopback_up()
    base = os.path.join(roots.KEPT, roots.suite())
    with open(os.path.join(packages.WORK, "guide.log"), "wb", 0) as log, tempfile.TemporaryDirectory(dir="/var/tmp") as home:
        root = roots.Root([base], os.path.join(packages.WORK, "guide"))
        machine = None
        try:
            machine = Machine(root, log)
            with cloud.Keystone(home) as keystone:
                guide = Guide(machine, keystone, log)
                for step in (guide.identity, guide.configuration, guide.verification, guide.openstack):
                    began, problem = time.monotonic(), None
                    try:
                        step()
                    except Exception as failure:
                        problem = f"{failure!r:.3000}; see {log.name}"
                    score.case(step.__name__, problem, time.monotonic() - began)
                    if problem:
                        log.write(machine.run("journalctl", "--no-pager", "--lines", "100").stdout.encode())
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
    if not packages.prepare_or_say(score, "curl"):
        return score.end()
    return inside.run_inside(__file__, score)


if __name__ == "__main__":
    sys.exit(main())
