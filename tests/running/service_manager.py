"""Simulates systemd for one berthd at a time, or for two that overlap: opens its sockets, passes them on, and
receives its notifications."""

import os
import signal
import socket
import sys
import threading
import time

FIRST_FD = 3
SPARE_FD = 200  # above those that are passed: descriptors to be passed


class Process:
    """A berthd with descriptors from 3 on, and a socket of its own for its notifications."""

    def __init__(self, command, sockets, directory, number, watchdog_us=None, environment=None):
        self.messages = []  # (time, {name: value})
        self.log_path = os.path.join(directory, f"berthd-{number}.log")
        self.status = None
        self.news = threading.Condition()
        address = f"\0berth-notify-{os.getpid()}-{number}-{time.monotonic_ns()}"
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(address)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        variables.update(NOTIFY_SOCKET="@" + address[1:], **(environment or {}))
        if sockets:
            variables.update(LISTEN_FDS=str(len(sockets)), LISTEN_FDNAMES=":".join(name for name, _ in sockets))
        if watchdog_us:
            variables["WATCHDOG_USEC"] = str(watchdog_us)
        self.started = time.monotonic()
        self.pid = self.spawn(command, [sock.fileno() for _, sock in sockets], variables)
        threading.Thread(target=self.listen, daemon=True).start()

    def spawn(self, command, descriptors, variables):
        log = os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        null = os.open(os.devnull, os.O_RDWR)
        pid = os.fork()
        if pid:
            os.close(log)
            os.close(null)
            return pid
        try:
            os.setsid()
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.dup2(null, 0)
            os.dup2(null, 1)
            os.dup2(log, 2)
            for i, descriptor in enumerate(descriptors):
                os.dup2(descriptor, SPARE_FD + i)
            for i in range(len(descriptors)):
                os.dup2(SPARE_FD + i, FIRST_FD + i)
            os.closerange(FIRST_FD + len(descriptors), 1024)
            if descriptors:
                variables["LISTEN_PID"] = str(os.getpid())
            if "WATCHDOG_USEC" in variables:
                variables["WATCHDOG_PID"] = str(os.getpid())
            os.execve(command[0], command, variables)
        except BaseException as error:  # no caller in the child could catch it
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(127)

    def listen(self):
        while True:
            try:
                text = self.notify.recv(65536).decode()
            except OSError:
                return
            message = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
            with self.news:
                self.messages.append((time.monotonic(), message))
                self.news.notify_all()

    def wait_for(self, name, value=None, after=0, seconds=30):
        """The time of the first message with that name (and value) from index `after` on; its index."""
        end = time.monotonic() + seconds
        with self.news:
            while True:
                for index, (when, message) in enumerate(self.messages[after:], after):
                    if name in message and value in (None, message[name]):
                        return when, index
                left = end - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"did not receive {name}={value} in {seconds} s: {self.messages[after:]} {self.log()}")
                if self.ended(0):
                    raise AssertionError(f"ended with {self.status} before {name}: {self.log()}")
                self.news.wait(min(left, 0.05))

    def signal(self, number):
        os.kill(self.pid, number)

    def ended(self, seconds):
        """Whether it has ended; self.status is then its exit status, negative for a signal."""
        end = time.monotonic() + seconds
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.notify.close()
            elif time.monotonic() >= end:
                return False
            else:
                time.sleep(0.002)
        return True

    def wait(self, seconds=30):
        if not self.ended(seconds):
            raise AssertionError(f"did not end in {seconds} s: {self.log()[-2000:]}")
        return self.status

    def kill(self):
        """The end of a test. For coverage.py a stop, since a process that is killed does not write its counts."""
        if "BERTH_COUNTS_LINES" in os.environ and self.status is None:
            self.signal(signal.SIGTERM)
            self.ended(60)
        if self.status is None:
            self.signal(signal.SIGKILL)
            self.wait()

    def end(self):
        """The end of a test. For coverage.py a stop, since a process that is killed does not write its counts."""
        if "BERTH_COUNTS_LINES" in os.environ and self.status is None:
            self.signal(signal.SIGTERM)
            self.ended(30)
        self.kill()

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()


class Manager:
    def __init__(self, program, directory, options=(), sockets=(), arguments=(), database="berth.db", **more):
        """sockets: [(name, listening socket)]; options: lines of placement.conf, beginning in [api]."""
        self.directory = directory
        self.sockets = list(sockets)
        self.more = more
        self.database = os.path.join(directory, database)
        self.config_file = os.path.join(directory, "placement.conf")
        lines = ["[api]", "auth_strategy = noauth2", *options, "[placement_database]",
                 f"connection = sqlite:///{self.database}", "sync_on_startup = true"]
        with open(self.config_file, "w") as file:
            file.write("\n".join(lines) + "\n")
        self.command = [os.path.abspath(program), "--config-file", self.config_file, *arguments]
        self.processes = []

    def start(self, wait=True, **more):
        process = Process(self.command, self.sockets, self.directory, len(self.processes), **{**self.more, **more})
        self.processes.append(process)
        if wait:
            process.wait_for("READY", "1")
        return process

    def restart(self, process):
        """Like `systemctl restart`: the old process has ended before the new one begins. (new process, old status)"""
        process.signal(signal.SIGTERM)
        status = process.wait()
        return self.start(), status

    def hand_over(self, process):
        """The new process is ready before the old one is signalled to end."""
        fresh = self.start()
        process.signal(signal.SIGTERM)
        return fresh, process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for process in self.processes:
            process.end()
        for _, sock in self.sockets:
            sock.close()


def tcp_socket(host="127.0.0.1", port=0):
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    sock.listen(4096)
    return sock


def unix_socket(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(4096)
    return sock


if __name__ == "__main__":
    sys.exit("a part of tests/running/run.py")
