"""Runs a service according to its unit, without systemd: ExecStart, User, Environment, the socket unit's addresses
as descriptors from 3 on, and a NOTIFY_SOCKET that listens."""

import os
import shlex
import signal
import socket
import subprocess
import time

from root import ENVIRONMENT

LISTEN_FDS_START = 3


def read_unit(path):
    """{section: {name: [values]}}"""
    sections, current = {}, None
    with open(path) as file:
        text = file.read().replace("\\\n", " ")
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), {})
        elif line and line[0] not in "#;":
            name, value = line.split("=", 1)
            current.setdefault(name.strip(), []).append(value.strip())
    return sections


def listen(stream):
    """A listening socket for ListenStream=: ADDRESS:PORT or PORT."""
    host, _, port = stream.rpartition(":")
    if host:
        return socket.create_server((host.strip("[]"), int(port)), backlog=128)
    return socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128)


class Service:
    def __init__(self, root, name):
        units = root.at("lib/systemd/system")
        self.root = root
        self.unit = read_unit(os.path.join(units, name + ".service"))["Service"]
        path = os.path.join(units, name + ".socket")
        self.sockets = []
        for stream in read_unit(path)["Socket"]["ListenStream"] if os.path.exists(path) else ():
            self.sockets.append(listen(stream))
        self.notifies = self.unit.get("Type", ["simple"])[-1].startswith("notify")
        self.process = self.notify = None

    def environment(self):
        given = [item for line in self.unit.get("Environment", ()) for item in shlex.split(line)]
        named = dict(item.split("=", 1) for item in given)
        for variable, option, base in (("STATE_DIRECTORY", "StateDirectory", "/var/lib"),
                                       ("LOGS_DIRECTORY", "LogsDirectory", "/var/log")):
            if option in self.unit:
                named[variable] = f"{base}/{self.unit[option][-1]}"
        user = self.unit["User"][-1]
        return {"PATH": ENVIRONMENT["PATH"], "HOME": "/var/lib/" + user, "USER": user, "LOGNAME": user, **named}

    def words(self):
        """Of ExecStart; a $VARIABLE that stands alone becomes its words, as for systemd."""
        given, environment = shlex.split(self.unit["ExecStart"][-1].lstrip("-@:+!")), self.environment()
        return [word for one in given for word in (environment[one[1:]].split() if one.startswith("$") else [one])]

    def start(self, log, seconds=20):
        """Returns once it has sent READY=1 or, if the unit does not require that, once it answers."""
        address = f"\0berth-package-{os.getpid()}"
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(address)
        self.notify.settimeout(0.05)
        environment = {**self.environment(), "NOTIFY_SOCKET": "@" + address[1:]}
        if self.sockets:
            environment["LISTEN_FDS"] = str(len(self.sockets))
        passed = range(LISTEN_FDS_START, LISTEN_FDS_START + len(self.sockets))

        def pass_sockets():
            for to, one in zip(passed, self.sockets):
                os.dup2(one.fileno(), to)

        user = self.unit["User"][-1]
        group = self.unit.get("Group", [user])[-1]
        self.process = subprocess.Popen(
            ["chroot", f"--userspec={user}:{group}", self.root.path, "/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh",
             *self.words()],
            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=pass_sockets, pass_fds=passed)
        self.await_ready(time.monotonic() + seconds)

    def await_ready(self, end):
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"berthd ended with {self.process.returncode}")
            if self.notifies:
                try:
                    if "READY=1" in self.notify.recv(4096).decode().split("\n"):
                        return
                except TimeoutError:
                    pass
            else:
                try:
                    socket.create_connection(("127.0.0.1", 8778), 1).close()
                    return
                except OSError:
                    time.sleep(0.02)
            if time.monotonic() > end:
                raise AssertionError("berthd did not " + ("say READY=1" if self.notifies else "serve"))

    def stop(self, seconds=20):
        """Sends SIGTERM; returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        self.notify.close()
        return self.process.wait(seconds)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for one in self.sockets:
            one.close()
