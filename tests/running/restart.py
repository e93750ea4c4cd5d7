"""Restarts under load: with a socket that survives them, one after the other and overlapping. No request may fail,
no answered write may be missing, and the longest pause is printed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from certificates import Authority  # noqa: E402
from servers import rows  # noqa: E402
from service_manager import Manager, tcp_socket, unix_socket  # noqa: E402

RESTARTS = 10
PAUSE_MOST_MS = 5000
SECONDS_MOST = 120


class Hammer:
    def __init__(self, address, *arguments):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "hammer.py"), address, str(SECONDS_MOST),
                                         *arguments], stdout=subprocess.PIPE, text=True)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=60)[0])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def verdict_of(result, database, statuses, restarts):
    """The problem, or None."""
    kept = {name for (name,) in rows(database, "SELECT name FROM resource_providers")}
    lost = set(result["made"]) - kept
    problems = []
    if result["failed"]:
        problems.append(f"{result['failed']} of {result['answered'] + result['failed']} requests failed: "
                        + "; ".join(result["failures"][:5]))
    if lost:
        problems.append(f"{len(lost)} of {len(result['made'])} answered writes are lost")
    if any(statuses) or len(statuses) != restarts:
        problems.append(f"exit statuses {statuses}")
    if result["answered"] < 50 * restarts or not result["made"]:
        problems.append(f"only {result['answered']} requests and {len(result['made'])} writes: no load")
    if result["longest_ms"] > PAUSE_MOST_MS:
        problems.append(f"a request took {result['longest_ms']} ms")
    return "; ".join(problems) or None


def rounds(score, name, program, step, kind="http", restarts=RESTARTS):
    """step(manager, process): the next process and the status of the previous one."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="berth-restart-") as directory:
        options = ["[berth]", "access_log = false"]
        if kind == "unix":
            sock = unix_socket(directory + "/api.sock")
            address = f"unix:{directory}/api.sock"
        else:
            sock = tcp_socket()
            address = f"{kind}://127.0.0.1:{sock.getsockname()[1]}"
        if kind == "https":
            cert, key = Authority(directory).issue("berth")
            options += [f"tls_cert_file = {cert}", f"tls_key_file = {key}"]
        with Manager(program, directory, options, [("https" if kind == "https" else "placement", sock)]) as manager:
            process = manager.start()
            statuses = []
            with Hammer(address, "--idlers", "4") as hammer:
                time.sleep(1)
                for _ in range(restarts):
                    process, status = step(manager, process)
                    statuses.append(status)
                    time.sleep(0.4)
                result = hammer.end()
            process.signal(signal.SIGTERM)
            process.wait()
            problem = verdict_of(result, manager.database, statuses, restarts)
    score.case(f"{name} ({result['answered']} requests, {len(result['made'])} writes, longest "
               f"{result['longest_ms']} ms)", problem, time.monotonic() - began)


def run(score, program, quick):
    restarts = 4 if quick else RESTARTS
    rounds(score, f"{restarts} restarts, the socket stays", program, Manager.restart, restarts=restarts)
    rounds(score, f"{restarts} hand-overs, both on one file", program, Manager.hand_over, restarts=restarts)
    rounds(score, "restarts over TLS", program, Manager.restart, "https", restarts=4)
    rounds(score, "restarts behind a unix socket", program, Manager.restart, "unix", restarts=4)
