#!/usr/bin/python3
"""The real bare metal service (Debian's python3-ironic) on loopback, for tests: the reference for berth's Bare Metal
API.

    tests/baremetal/real_ironic.py [PORT]       serves until Ctrl-C, for manual experiments

One process is conductor and API, without RPC between them; `apart=True` starts both as they are deployed, with
JSON-RPC. Each instance has a directory, a port and an SQLite file of its own. It runs without authentication, with the
`fake-hardware` driver, and without the periodic tasks, so that nothing happens without a request.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]

import servers  # noqa: E402

START_SECONDS = 90
NEWEST = "1.82"
INTERFACES = ("bios", "boot", "console", "deploy", "inspect", "management", "power", "raid", "rescue", "vendor")
DELAYS = ("bios", "boot", "deploy", "inspect", "management", "power", "raid", "rescue", "storage", "vendor")

# Starts the commands of `python3-ironic`: the Debian packages that contain them would install init scripts.
MAIN = """
import importlib, sys
sys.argv[0] = "ironic"
sys.exit(importlib.import_module("ironic.cmd." + sys.argv.pop(1)).main())
"""

template_lock = threading.Lock()
template = {}  # the file with its schema, created once


def options_of(directory, port, rpc_port, fake_delay_s, apart):
    options = {
        "DEFAULT": {
            "auth_strategy": "noauth", "host": "127.0.0.1", "state_path": directory, "hash_ring_reset_interval": 1,
            "rpc_transport": "json-rpc" if apart else "none", "enabled_hardware_types": "fake-hardware",
            **{f"enabled_{name}_interfaces": "fake" for name in INTERFACES},
            "enabled_network_interfaces": "noop", "default_network_interface": "noop",
            "enabled_storage_interfaces": "fake,noop", "default_storage_interface": "noop",
        },
        "api": {"host_ip": "127.0.0.1", "port": port, "api_workers": 1, "project_admin_can_manage_own_nodes": "false"},
        "json_rpc": {"auth_strategy": "noauth", "host_ip": "127.0.0.1", "port": rpc_port},
        # 0 disables a periodic task
        "conductor": {
            "sync_power_state_interval": 0, "power_failure_recovery_interval": 0, "check_allocations_interval": 0,
            "check_provision_state_interval": 0, "sync_local_state_interval": 0, "cache_clean_up_interval": 0,
            "node_history_cleanup_interval": 0, "send_sensor_data": "false",
            "node_locked_retry_attempts": 3, "node_locked_retry_interval": 1,
        },
        "database": {"connection": f"sqlite:///{directory}/ironic.sqlite", "sqlite_synchronous": "false"},
        "oslo_policy": {"policy_file": f"{directory}/policy.yaml", "policy_dirs": f"{directory}/policy.d"},
    }
    if fake_delay_s:
        options["fake"] = {f"{name}_delay": fake_delay_s for name in DELAYS}
    return options


class Ironic:
    """Child processes, terminated by their ids."""

    name = "ironic"

    def __init__(self, fake_delay_s=0, options=None, apart=False, port=None):
        self.directory = tempfile.mkdtemp(prefix="real-ironic-", dir=servers.directory_in_memory())
        self.port = port or servers.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.apart = apart
        self.processes = []
        self.config_file = os.path.join(self.directory, "ironic.conf")
        os.mkdir(os.path.join(self.directory, "ironic.conf.d"))  # empty, so that the machine's own is not read
        with open(os.path.join(self.directory, "policy.yaml"), "w"):
            pass
        sections = options_of(self.directory, self.port, servers.free_port(), fake_delay_s, apart)
        for section, more in (options or {}).items():
            sections.setdefault(section, {}).update(more)
        with open(self.config_file, "w") as file:
            for section, values in sections.items():
                file.write(f"[{section}]\n" + "".join(f"{name} = {value}\n" for name, value in values.items()))

    def _spawn(self, command, *arguments):
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith("OS_") and not name.lower().endswith("_proxy")}
        with open(os.path.join(self.directory, f"{command}.log"), "ab") as log:
            return subprocess.Popen(
                ["/usr/bin/python3", "-c", MAIN, command, "--config-file", self.config_file,
                 "--config-dir", os.path.join(self.directory, "ironic.conf.d"), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean, cwd=self.directory)

    def log(self):
        text = ""
        for name in sorted(os.listdir(self.directory)):
            if name.endswith(".log"):
                with open(os.path.join(self.directory, name), errors="replace") as file:
                    text += f"== {name}\n" + file.read()
        return text

    def _make_schema(self):
        path = os.path.join(self.directory, "ironic.sqlite")
        with template_lock:
            if not template:
                if self._spawn("dbsync", "create_schema").wait(START_SECONDS):
                    raise RuntimeError("ironic-dbsync failed: " + self.log()[-2000:])
                with open(path, "rb") as file:
                    template["schema"] = file.read()
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(template["schema"])

    def start(self):
        self._make_schema()
        self.processes = [self._spawn(name) for name in (("conductor", "api") if self.apart else ("singleprocess",))]
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if any(process.poll() is not None for process in self.processes):
                break
            if self._is_ready():
                return self
            time.sleep(0.05)
        problem = self.log()[-3000:]
        self.kill()
        raise RuntimeError("ironic did not become ready: " + problem)

    def _is_ready(self):
        """Whether it answers, and its conductor knows the driver."""
        request = urllib.request.Request(f"{self.url}/v1/drivers/fake-hardware", headers={"x-openstack-ironic-api-version": NEWEST})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
                return answer.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def halt(self):
        """Kills the processes as a power cut would: the database keeps their rows for the next start."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
        self.processes = []

    def kill(self):
        self.halt()
        shutil.rmtree(self.directory, ignore_errors=True)

    def end(self):
        self.kill()

    def complaint(self):
        """The reason why it does not work any more, or None."""
        ended = [process for process in self.processes if process.poll() is not None]
        return f"ended with {ended[0].returncode}: {self.log()[-2000:]}" if ended else None

    def __enter__(self):
        return self if self.processes else self.start()

    def __exit__(self, *exception):
        self.kill()


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    with Ironic(port=int(sys.argv[1]) if len(sys.argv) > 1 else 6385) as ironic:
        print(f"ironic: ready {ironic.url}, files in {ironic.directory}", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    sys.exit(main())
