"""A separate berthd for a test: started, measured, and checked with valid requests."""

import http.client
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from servers import free_port  # noqa: E402

START_S, STOP_S = 30, 20
HEADERS = {"X-Auth-Token": "admin", "OpenStack-API-Version": "placement latest"}
HOME = "127.0.0.1"
POLITE = "127.0.0.2"  # the source address of valid clients: not affected by limits per address


class Server:
    def __init__(self, berthd, limits=None, apis=(), **options):
        self.berthd = berthd
        self.apis = {api: free_port() for api in apis}
        self.limits = limits or {}
        self.good_statuses = {0}
        self.directory = tempfile.mkdtemp(prefix="berth-hostile-")
        lines = ["[placement_database]", f"connection = sqlite:///{self.directory}/berth.db",
                 "sync_on_startup = true", "[api]", "auth_strategy = noauth2", "[berth]"]
        lines += [f"{name} = {value}" for name, value in options.items()]
        for api, port in self.apis.items():
            lines += [f"[{api}]", "enabled = true", f"listen = {HOME}:{port}"]
        with open(self.directory + "/placement.conf", "w") as file:
            file.write("\n".join(lines) + "\n")

    def __enter__(self):
        self.log = open(self.directory + "/log", "wb")
        self.process = subprocess.Popen(
            [self.berthd, "--config-file", self.directory + "/placement.conf", "--listen", HOME + ":0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, preexec_fn=self.limit)
        line = self.process.stdout.readline().decode()
        if not line.startswith("berthd: ready"):
            self.process.kill()
            self.process.wait()
            raise RuntimeError("berthd did not start: " + self.tail())
        self.port = int(re.findall(r":(\d+)", line)[0])  # the Placement API's comes first
        return self

    def limit(self):
        for name, values in self.limits.items():
            resource.setrlimit(name, values)

    def __exit__(self, *_):
        self.complaint = None
        if self.process.poll() is not None:
            self.complaint = f"ended by itself with {self.process.returncode}: {self.tail()}"
        else:
            self.process.send_signal(signal.SIGTERM)
            try:
                status = self.process.wait(STOP_S)
                if status not in self.good_statuses:
                    self.complaint = f"ended with {status}: {self.tail()}"
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                self.complaint = f"did not end {STOP_S} s after SIGTERM"
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def tail(self):
        with open(self.directory + "/log", "rb") as file:
            return file.read()[-1500:].decode(errors="replace")

    def is_up(self):
        return self.process.poll() is None

    def rss_mib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        return 0.0

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def sockets(self):
        """Open connections of the server."""
        count = 0
        folder = f"/proc/{self.process.pid}/fd"
        for name in os.listdir(folder):
            try:
                count += os.readlink(f"{folder}/{name}").startswith("socket:")
            except FileNotFoundError:
                pass
        return count

    def ask(self, method, path, body=None, version="latest", timeout=10):
        """(status, JSON or None) of a valid request on a separate connection."""
        connection = http.client.HTTPConnection(HOME, self.port, timeout=timeout, source_address=(POLITE, 0))
        headers = dict(HEADERS, **{"OpenStack-API-Version": "placement " + version})
        data = None
        if body is not None:
            data = json.dumps(body)
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def must(self, method, path, body=None, status=(200, 201, 204)):
        got, answer = self.ask(method, path, body)
        if got not in status:
            raise RuntimeError(f"{method} {path}: {got} {answer}")
        return answer

    def is_well(self):
        """Whether it answers a valid request at once."""
        start = time.monotonic()
        try:
            return self.is_up() and self.ask("GET", "/resource_providers?name=home")[0] == 200 and \
                time.monotonic() - start < 2
        except OSError:
            return False

    def state(self):
        """All that the API shows, for comparison."""
        providers = self.must("GET", "/resource_providers")["resource_providers"]
        seen = [self.must("GET", "/traits"), self.must("GET", "/resource_classes"), providers]
        for provider in providers:
            base = "/resource_providers/" + provider["uuid"]
            seen += [self.must("GET", base + part) for part in ("/inventories", "/traits", "/aggregates", "/allocations")]
        return json.dumps(seen, sort_keys=True)


def wait_for(condition, seconds):
    """Whether the condition becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())
