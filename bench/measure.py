"""Starts and stops servers, reads the CPU time and memory that they use, and measures cells."""

import json
import os
import signal
import socket
import subprocess
import time

TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def family(pid):
    """pid and all its descendants."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parents[int(entry)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    found = [pid]
    for p in found:
        found += [child for child, parent in parents.items() if parent == p]
    return found


def cpu_s(pids):
    """User and system time of the processes so far. The kernel scales the sum to the time that the scheduler
    measured, so it is exact to a tick."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def tree_cpu_s(pid):
    """User and system time so far of a server that starts and ends processes all the time. The times of those that have
    ended are in the server's own."""
    def times(process):
        try:
            with open(f"/proc/{process}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            return [0, 0]
        return [int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])]

    while True:
        own, ended = times(pid)
        living = sum(sum(times(child)) for child in family(pid)[1:])
        if times(pid)[1] == ended:  # otherwise one has ended meanwhile, and may be counted twice
            return (own + ended + living) / TICK


def with_descendants(pids):
    """The processes and their descendants: services fork workers."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                pass
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


def busy_s():
    """Time in which the processors were not idle, summed over all (stolen time counts as busy)."""
    with open("/proc/stat") as file:
        fields = [int(x) for x in file.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICK


def rss_bytes(pids):
    pages = 0
    for pid in pids:
        with open(f"/proc/{pid}/statm") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def stop(process, how=signal.SIGTERM, seconds=30):
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(check, seconds, what):
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not ready after {seconds} s")
        time.sleep(0.02)


class Program:
    """A server of one process that prints a line beginning with `ready` on standard output."""

    def __init__(self, command, port, ready, log):
        self.port, self.close_each = port, False
        with open(log, "ab") as errors:
            started = time.monotonic()
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        for line in self.process.stdout:
            if line.startswith(ready.encode()):
                break
        else:
            raise RuntimeError(f"{command[0]} ended before it was ready, see {log}")
        self.ready_s = time.monotonic() - started

    def pids(self):
        return [self.process.pid]

    def cpu_s(self):
        return cpu_s(self.pids())

    def stop(self):
        stop(self.process)
        self.process.stdout.close()


def berthd(binary, database, work, *extra):
    """database: an SQLite file, or the URL of another database."""
    connection = database if "://" in database else f"sqlite:///{database}"
    port = free_port()
    config = os.path.join(work, "berth.conf")
    with open(config, "w") as file:
        file.write(f"[placement_database]\nconnection = {connection}\n"
                   "sync_on_startup = true\n[api]\nauth_strategy = noauth2\n")
    return Program([binary, "--config-file", config, "--listen", f"127.0.0.1:{port}", *extra], port,
                   "berthd: ready", os.path.join(work, "berthd.log"))


class Loader:
    """Runs the load generator of a build directory."""

    def __init__(self, build):
        self.binary = os.path.join(build, "bench", "load")

    def start(self, target, requests, connections, seconds, count=None, grace=30):
        command = [self.binary, "-p", str(target.port), "-c", str(connections), "-d", str(seconds),
                   "-g", str(grace)]
        if count:
            command += ["-n", str(count)]
        if target.close_each:
            command.append("-C")
        return subprocess.Popen(command + [requests], stdout=subprocess.PIPE)

    def finish(self, process):
        out, _ = process.communicate()
        if not out:
            raise RuntimeError("load printed nothing: see its message above")
        return json.loads(out)

    def cell(self, target, requests, connections, seconds, **bounds):
        """One cell: requests/s, latencies, and CPU of the target for each answered request."""
        before, busy, start = target.cpu_s(), busy_s(), time.monotonic()
        result = self.finish(self.start(target, requests, connections, seconds, **bounds))
        used, elapsed = target.cpu_s() - before, time.monotonic() - start
        others = busy_s() - busy - used - result["load_cpu_s"]
        result["cpu_us"] = used * 1e6 / max(result["requests"], 1)
        result["answer_bytes"] = result["bytes"] / max(result["requests"], 1)
        result["others_share"] = max(0.0, others / (elapsed * os.cpu_count()))
        return result


def machine(sync):
    with open("/proc/cpuinfo") as file:
        model = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) // (1 << 20)
    return (f"{len(model)} × {model[0]}, {memory} GiB, Linux {os.uname().release}, "
            f"fdatasync {sync['in_place_per_s']:.0f}/s in place, {sync['growing_per_s']:.0f}/s "
            "growing")


def noisy(cells, share=0.1):
    """Cells during which other programs used more than that share of the machine."""
    return [f"{target} {question} {c}" for target, by_question in cells.items()
            for question, by_connections in by_question.items()
            for c, cell in by_connections.items() if cell["others_share"] > share]
