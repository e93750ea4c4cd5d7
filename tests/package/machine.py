"""A root booted with systemd, in namespaces and a cgroup of its own; it shares the caller's network namespace."""

import os
import subprocess
import time

from root import ENVIRONMENT


def own_cgroups():
    """The directories of this process in the hierarchies that systemd works with."""
    found = []
    with open("/proc/self/cgroup") as file:
        for line in file:
            _, kind, path = line.rstrip("\n").split(":", 2)
            for mount in {"name=systemd": ["systemd"], "": ["unified", ""]}.get(kind, ()):
                directory = os.path.join("/sys/fs/cgroup", mount)
                if os.path.exists(os.path.join(directory, "cgroup.procs")):
                    found.append(os.path.join(directory, path.lstrip("/")))
                    break
    return found


def remove_cgroup(path, seconds=10):
    """Killed processes stay in it until they have been reaped."""
    end = time.monotonic() + seconds
    while True:
        try:
            return os.rmdir(path)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class CannotBoot(Exception):
    pass


class Machine:
    def __init__(self, root, log, seconds=60):
        name = "berth-package-" + os.urandom(4).hex()
        self.cgroups = [os.path.join(path, name) for path in own_cgroups()]
        if not self.cgroups:
            raise CannotBoot("there is no cgroup hierarchy for systemd")
        try:
            for path in self.cgroups:
                os.mkdir(path)
        except OSError as error:
            raise CannotBoot(str(error)) from None

        def enter():
            for path in self.cgroups:
                with open(os.path.join(path, "cgroup.procs"), "w") as file:
                    file.write("0")

        root.unmount()
        # A separate directory, so that it does not affect other machines and nothing is left behind.
        os.makedirs("/run/systemd/nspawn", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/systemd/nspawn"], check=True)
        self.root = root
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--directory", root.path, "--boot", "--register=no", "--keep-unit",
             "--resolv-conf=off", "--link-journal=no", "--console=pipe"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=enter, env=ENVIRONMENT)
        self.leader = None
        try:
            self.await_boot(time.monotonic() + seconds)
        except BaseException:
            self.close()
            raise

    def await_boot(self, end):
        state = ""
        while state.strip() not in ("running", "degraded"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise CannotBoot(f"systemd does not come up: {state.strip()}")
            time.sleep(0.1)
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                children = file.read().split()
            if children:
                self.leader = children[0]
                state = self.run("systemctl", "is-system-running", check=False).stdout

    def run(self, *command, check=True, **more):
        done = subprocess.run(["nsenter", "--target", self.leader, "--all", "--", *command], env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", **more)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}")
        return done

    def property(self, unit, name):
        return self.run("systemctl", "show", "--value", "--property", name, unit).stdout.strip()

    def await_property(self, unit, name, value, seconds=20):
        end = time.monotonic() + seconds
        while self.property(unit, name) != value:
            if time.monotonic() > end:
                raise AssertionError(f"{name} of {unit} is {self.property(unit, name)}, not {value}")
            time.sleep(0.05)

    def close(self):
        if self.leader and self.process.poll() is None:
            self.run("systemctl", "poweroff", check=False)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                pass
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for path in self.cgroups:
            for directory, _, _ in os.walk(path, topdown=False):
                remove_cgroup(directory)
        subprocess.run(["umount", "/run/systemd/nspawn"], check=True)
        self.root.mount()
