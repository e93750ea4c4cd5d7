"""Syslog and the journal, simulated by sockets of our own (sockets_preload.c replaces the system's with them)."""

import os
import socket
import struct
import threading
import time

import case
import same_lines
from case import ask, berthd, expect, wait_until


class Daemon:
    """A datagram socket and what it received."""

    def __init__(self, path, reads=True):
        self.path, self.received = path, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.thread = threading.Thread(target=self.read, daemon=True)
        if reads:
            self.thread.start()

    def read(self):
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.socket, 1 << 18, 1)
            except OSError:
                return
            for fd in descriptors:
                data = os.pread(fd, 1 << 20, 0)
                os.close(fd)
            if data == b"end":
                return
            self.received.append(data)

    def stop(self):
        if self.thread.is_alive():
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
                last.sendto(b"end", self.path)
            self.thread.join()
        self.socket.close()
        os.unlink(self.path)


def preloaded(program, **sockets):
    """The environment in which /dev/log and the journal are these sockets."""
    library = os.path.join(os.path.dirname(program), "tests", "logging", "libsockets.so")
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"  # the library is loaded before ASan's
    return {"LD_PRELOAD": library, "ASAN_OPTIONS": asan, **{f"BERTH_TEST_{name.upper()}": path for name, path in sockets.items()}}


def syslog(program, directory):
    """syslog(3)'s format, priorities by level, the facility; in addition to a file."""
    path, log = os.path.join(directory, "dev-log"), os.path.join(directory, "p.log")
    daemon = Daemon(path)
    with berthd(program, directory, "use_syslog = true", "syslog_log_facility = local3", f"log_file = {log}",
                "debug = true", "log_options = false", environment=preloaded(program, syslog=path)) as server:
        ask(server, "a", 20)
        server.stop()
    daemon.stop()
    with open(log) as file:
        lines = sorted(file.read().splitlines())
    got = sorted(data.decode() for data in daemon.received)
    expect(len(got) == len(lines) > 40, f"{len(got)} datagrams, {len(lines)} lines")
    for data in got:
        priority, rest = data[1:].split(">", 1)
        head, line = rest.split(" berthd: ", 1)
        level = line.split()[3]
        expect(int(priority) == 19 * 8 + {"DEBUG": 7, "INFO": 6, "WARNING": 4}[level], data)
        time.strptime(head, "%b %d %H:%M:%S")
        expect(line in lines, f"not in the file: {line}")


def syslog_away(program, directory):
    """Without a daemon, and with one that starts later."""
    path = os.path.join(directory, "dev-log")
    with berthd(program, directory, "use_syslog = true", environment=preloaded(program, syslog=path)) as server:
        ask(server, "lost", 5)
        wait_until(lambda: "bytes of the log could not be written" in server.log(), "the loss is not logged")
        daemon = Daemon(path)
        ask(server, "there", 5)
        wait_until(lambda: sum(b"/nowhere/there-" in data for data in daemon.received) == 5, "nothing arrives")
        server.stop()
    daemon.stop()
    expect(not any(b"/nowhere/lost-" in data for data in daemon.received), "lines from before")
    expect(server.log().count("/nowhere/there-") == 5, "lines go to standard error as well as to syslog")


def syslog_that_hangs(program, directory):
    """Its queue is full: requests are answered nevertheless, and berthd ends."""
    path = os.path.join(directory, "dev-log")
    daemon = Daemon(path, reads=False)
    with berthd(program, directory, "use_syslog = true", "use_stderr = false",
                environment=preloaded(program, syslog=path)) as server:
        began = time.monotonic()
        ask(server, "a", 2000, 1000)
        expect(time.monotonic() - began < 20, "requests wait for syslog")
        began = time.monotonic()
        expect(server.stop(30) == 0, "the exit status")
        expect(time.monotonic() - began < 12, "the end waits for syslog")
    daemon.stop()


def fields_of(data):
    """The journal's native protocol."""
    fields = {}
    while data:
        line, data = data.split(b"\n", 1)
        if b"=" in line:
            name, value = line.split(b"=", 1)
        else:
            name, length = line, struct.unpack("<Q", data[:8])[0]
            value, data = data[8:8 + length], data[9 + length:]
        fields[name.decode()] = value.decode()
    return fields


OURS_ONLY = {"USER_ID", "GLOBAL_REQUEST_ID"}
OF_THE_PLACE = {"CODE_FILE", "CODE_LINE", "CODE_FUNC", "THREAD_NAME", "SYSLOG_IDENTIFIER"}
REQUESTS = [("GET", "/resource_classes", same_lines.ADMIN, None), ("GET", "/", {}, None),
            ("GET", "/resource_classes", {**same_lines.ADMIN, "x-openstack-request-id": same_lines.GLOBAL}, None),
            ("GET", "/traits?" + "name=in:" + "X" * 20000, same_lines.ADMIN, None)]


def journal_of(server, path):
    """The fields of the lines about the requests."""
    daemon = Daemon(path)
    with server:
        for request in REQUESTS:
            same_lines.ask(server.port, request)
        wait_until(lambda: sum(b"status: " in data for data in daemon.received) == len(REQUESTS), "lines are missing")
        server.kill()
    daemon.stop()
    found = [fields_of(data) for data in daemon.received]
    return sorted((one for one in found if "status: " in one["MESSAGE"]),
                  key=lambda one: (one["MESSAGE"][-60:], same_lines.GLOBAL in one["MESSAGE"]))


def journal(program, directory):
    """Field by field as the Python service sends them, except its facility, which is eight times too large and
    unknown to the journal."""
    path = os.path.join(directory, "journal")
    options = ["[DEFAULT]", "use_journal = true", "syslog_log_facility = LOG_DAEMON"]
    environment = preloaded(program, journal=path)
    python = same_lines.PythonWithLog(directory, name="python.db", options=options, environment=environment)
    berth = berthd(program, directory, *options[1:], environment=environment)
    lists = [journal_of(python, path), journal_of(berth, path)]
    expect(len(lists[0]) == len(lists[1]) == len(REQUESTS), [len(found) for found in lists])
    for one, other in zip(*lists):
        expect(set(other) - set(one) <= OURS_ONLY and not set(one) - set(other), f"{sorted(one)} {sorted(other)}")
        expect(other["SYSLOG_IDENTIFIER"] == "berthd", other)
        expect(other["CODE_FILE"] == "src/api/services/access_log.c" and other["CODE_FUNC"] == "access_log_write", other)
        expect((one["SYSLOG_FACILITY"], other["SYSLOG_FACILITY"]) == ("24", "3"), "the facility")
        for name in set(one) - OF_THE_PLACE - {"SYSLOG_FACILITY"}:
            same = [same_lines.masked(fields[name]) for fields in (one, other)]
            expect(same[0] == same[1], f"{name}: {same}")
    expect(any(other.get("GLOBAL_REQUEST_ID") == same_lines.GLOBAL for other in lists[1]), "no global id")


def journal_away(program, directory):
    with berthd(program, directory, "use_journal = true",
                environment=preloaded(program, journal=os.path.join(directory, "none"))) as server:
        ask(server, "a", 20)
        expect(server.stop() == 0, "the exit status")
    expect("/nowhere/" not in server.log(), "the journal excludes standard error")


def journal_that_hangs(program, directory):
    path = os.path.join(directory, "journal")
    daemon = Daemon(path, reads=False)
    with berthd(program, directory, "use_journal = true", environment=preloaded(program, journal=path)) as server:
        began = time.monotonic()
        ask(server, "a", 2000)
        expect(time.monotonic() - began < 20, "requests wait for the journal")
        began = time.monotonic()
        expect(server.stop(30) == 0, "the exit status")
        expect(time.monotonic() - began < 12, "the end waits for the journal")
    daemon.stop()


def on_stream(program, directory, *options, journal, inode=0):
    """berthd whose standard error is what JOURNAL_STREAM names, unless the inode is altered."""
    environment = preloaded(program, journal=journal)
    server = berthd(program, directory, *options, environment=environment)
    log = os.path.join(directory, server.id + ".log")
    open(log, "ab").close()
    status = os.stat(log)
    server.environment["JOURNAL_STREAM"] = f"{status.st_dev}:{status.st_ino + inode}"
    return server


def refuse_claim(server):
    client = server.client()
    client.make_provider("5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101", VCPU=1)
    client.claim("9f6d6c0e-2f0e-4b7a-8a1d-000000000001", **{"5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101": {"VCPU": 2}})
    client.close()


def stream_to_the_journal(program, directory):
    """systemd connects standard error to the journal: lines go there with their priorities, each once."""
    for number, options in enumerate(([], ["use_journal = true", "use_stderr = true"])):
        path, own = os.path.join(directory, f"journal-{number}"), os.path.join(directory, str(number))
        os.mkdir(own)
        daemon = Daemon(path)
        with on_stream(program, own, *options, journal=path) as server:
            refuse_claim(server)
            ask(server, "a", 5)
            server.stop()
        daemon.stop()
        found = [fields_of(data) for data in daemon.received]
        expect(sum("/nowhere/" in one["MESSAGE"] for one in found) == 5, f"{len(found)} lines")
        refused = [one for one in found if "Over capacity" in one["MESSAGE"]]
        expect(len(refused) == 1 and refused[0]["PRIORITY"] == "4" and refused[0]["SYSLOG_IDENTIFIER"] == "berthd"
               and refused[0]["REQUEST_ID"].startswith("req-"), refused)
        expect({one["PRIORITY"] for one in found if "status: " in one["MESSAGE"]} == {"6"}, "the access log's priority")
        expect(server.log() == "", server.log()[:300])


def stream_elsewhere(program, directory):
    """A JOURNAL_STREAM although standard error was redirected, and a journal that accepts no fields."""
    path = os.path.join(directory, "journal")
    for number, (inode, there) in enumerate(((1, True), (0, False))):
        own = os.path.join(directory, str(number))
        os.mkdir(own)
        daemon = Daemon(path) if there else None
        with on_stream(program, own, journal=path, inode=inode) as server:
            ask(server, "a", 5)
            server.stop()
        if daemon:
            daemon.stop()
            expect(not daemon.received, daemon.received[:1])
        expect(server.log().count("/nowhere/") == 5, server.log()[:300])


def failure_on_the_stream(program, directory):
    """Errors that end the start are errors in the journal, too."""
    path = os.path.join(directory, "journal")
    daemon = Daemon(path)
    server = on_stream(program, directory, "log_rotation_type = nonsense", journal=path)
    try:
        server.start()
        expect(False, "it started")
    except RuntimeError:
        pass
    daemon.stop()
    lines = server.log().splitlines()
    expect(lines and all(line.startswith("<3>berthd: ") for line in lines), lines)


CASES = [stream_to_the_journal, stream_elsewhere, failure_on_the_stream, syslog, syslog_away, syslog_that_hangs, journal, journal_away, journal_that_hangs]


def play(score, program, directory):
    case.play(score, program, directory, CASES)
