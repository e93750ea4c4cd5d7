"""Operators' mistakes: one clear line on standard error, a non-zero exit status, and no file damaged."""

import os
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile

from server import free_port

END_S = 10
NOBODY = 65534


class Desk:
    """A directory with files for mistakes."""

    def __init__(self, berthd):
        self.berthd = os.path.abspath(berthd)
        self.directory = tempfile.mkdtemp(prefix="berth-clumsy-")
        self.count = 0

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content, mode=0o644):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(self.path(name), mode)
        return self.path(name)

    def conf(self, berth="", database=None, api="auth_strategy = noauth2", more=""):
        self.count += 1
        database = database or f"connection = sqlite:///{self.path('good.db')}\nsync_on_startup = true"
        return self.write(f"{self.count}.conf",
                          f"[placement_database]\n{database}\n[api]\n{api}\n[berth]\n{berth}\n{more}\n")

    def run(self, *arguments, environment=None, program=None, user=None):
        """(status, stdout, stderr); status None: it kept running."""
        child = subprocess.Popen([program or self.berthd, *arguments], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory, user=user,
                                 env=environment or self.environment())
        try:
            out, err = child.communicate(timeout=END_S)
            return child.returncode, out.decode(errors="replace"), err.decode(errors="replace")
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            return None, out.decode(errors="replace"), err.decode(errors="replace")

    def environment(self, **more):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        return {**clean, "HOME": self.directory, **more}


def logged(line):
    """Lines in the log's form may precede the one line."""
    return re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \d+ (INFO|WARNING|DEBUG) ", line)


def verdict_of(report, name, result, names=None):
    """The one line is clear and names what is wrong."""
    status, out, err = result
    lines = [line for line in err.splitlines() if not logged(line)]
    usage = len(lines) == 2 and lines[1] == "see 'berthd --help'"
    good = status not in (0, None) and status > 0 and out == "" and (len(lines) == 1 or usage) and \
        lines[0].startswith("berthd: ") and len(lines[0]) < 400
    if good and names:
        good = names in lines[0]
    report(good, "operator: " + name, f"status {status}, stdout {out!r}, stderr {err!r}")


def run(report, berthd):
    desk = Desk(berthd)
    listen = ("--listen", "127.0.0.1:0")
    try:
        options(report, desk, listen)
        addresses(report, desk)
        databases(report, desk, listen)
    finally:
        shutil.rmtree(desk.directory, ignore_errors=True)


def options(report, desk, listen):
    for option, value in (("worker_threads", "many"), ("worker_threads", "-1"), ("worker_threads", "99999"),
                          ("max_body", "1e6"), ("max_body", "0"), ("max_connections", "0"),
                          ("max_connections_per_address", "x"), ("idle_timeout", "0"), ("idle_timeout", "1h"),
                          ("header_deadline", "soon"), ("header_deadline", "-1"), ("body_deadline", "nan"),
                          ("connection_memory", "1"), ("connection_memory", "99999999999999999999"),
                          ("access_log", "maybe"), ("slow_request_ms", "0x10"), ("listen", "here"),
                          ("listen", "127.0.0.1:99999"), ("listen", "127.0.0.1"), ("listen", "[::1:80"),
                          ("listen", ":")):
        arguments = ["--config-file", desk.conf(f"{option} = {value}")]
        result = desk.run(*arguments) if option == "listen" else desk.run(*arguments, *listen)
        verdict_of(report, f"{option} = {value}", result, option if option != "listen" else None)
    verdict_of(report, "auth_strategy = none", desk.run("--config-file", desk.conf(api="auth_strategy = none"), *listen),
          "auth_strategy")
    verdict_of(report, "keystone", desk.run("--config-file", desk.conf(api="auth_strategy = keystone"), *listen), "keystone")
    verdict_of(report, "strategy", desk.run("--config-file", desk.conf(
        more="[placement]\nallocation_candidates_generation_strategy = sideways"), *listen), "strategy")
    for name, text in (("no section", "a = b\n"), ("half a section", "[api\n"), ("no equals sign", "[api]\nx\n"),
                       ("bytes", b"\xff\xfe\0\1"), ("a long line", "[api]\n" + "a" * 1000000)):
        verdict_of(report, "configuration of " + name,
              desk.run("--config-file", desk.write("broken.conf", text), *listen), "broken.conf")
    verdict_of(report, "no such file", desk.run("--config-file", desk.path("none.conf"), *listen), "none.conf")
    verdict_of(report, "file is a directory", desk.run("--config-file", desk.directory, *listen), desk.directory)
    verdict_of(report, "no such directory", desk.run("--config-dir", desk.path("none.d"), *listen), "none.d")
    verdict_of(report, "directory is a file", desk.run("--config-dir", desk.write("file", ""), *listen), "file")
    verdict_of(report, "unknown switch", desk.run("--colour"), "--colour")
    verdict_of(report, "switch without value", desk.run("--config-file"), "--config-file")
    verdict_of(report, "a word too many", desk.run("start"), "start")
    verdict_of(report, "environment", desk.run("--config-file", desk.conf(), *listen, environment=desk.environment(
        OS_BERTH__MAX_BODY="much")), "max_body")


def addresses(report, desk):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        verdict_of(report, "taken port", desk.run("--config-file", desk.conf(), "--listen", f"127.0.0.1:{port}"), str(port))
    port = free_port()
    verdict_of(report, "the same address twice", desk.run(
        "--config-file", desk.conf(), "--listen", f"127.0.0.1:{port}", "--listen", f"127.0.0.1:{port}"), str(port))
    verdict_of(report, "an address of others", desk.run("--config-file", desk.conf(), "--listen", "192.0.2.1:8778"),
          "192.0.2.1")
    verdict_of(report, "no such host", desk.run("--config-file", desk.conf(), "--listen", "no.such.host.invalid:8778"),
          "no.such.host.invalid")
    many = [part for i in range(20) for part in ("--listen", "127.0.0.1:0")]
    verdict_of(report, "twenty addresses", desk.run("--config-file", desk.conf(), *many))


def databases(report, desk, listen):
    def with_url(url, sync="true"):
        return desk.run("--config-file", desk.conf(database=f"connection = {url}\nsync_on_startup = {sync}\nmax_retries = 1"), *listen)

    def unharmed(name, path, content):
        with open(path, "rb") as file:
            report(file.read() == content, f"operator: {name} is unharmed", "it was written to")

    verdict_of(report, "missing directory", with_url(f"sqlite:///{desk.path('none/berth.db')}"), "none/berth.db")
    os.mkdir(desk.path("folder.db"))
    verdict_of(report, "database is a directory", with_url(f"sqlite:///{desk.path('folder.db')}"), "folder.db")
    text = b"This is no database, but a text of some length.\n" * 100
    desk.write("text.db", text)
    verdict_of(report, "database is a text file", with_url(f"sqlite:///{desk.path('text.db')}"), "text.db")
    unharmed("the text file", desk.path("text.db"), text)
    verdict_of(report, "database is a device", with_url("sqlite:////dev/full"), "/dev/full")
    os.mkfifo(desk.path("pipe.db"))
    verdict_of(report, "database is a pipe", with_url(f"sqlite:///{desk.path('pipe.db')}"), "pipe.db")
    for url in ("mysql://root@localhost/placement", "postgresql:///placement", "oracle://x", "berth.db", "sqlite:", "x"):
        verdict_of(report, "URL " + url, with_url(url))
    verdict_of(report, "no connection", desk.run("--config-file", desk.conf(database="connection ="), *listen))

    newer(report, desk, with_url)
    unreadable(report, desk, listen)


def unreadable(report, desk, listen):
    """Root can read everything, so this operator is the user nobody."""
    program, user = None, None
    if os.getuid() == 0:
        program, user = shutil.copy(desk.berthd, desk.path("berthd")), NOBODY
        os.chmod(desk.directory, 0o755)
    for name, mode in (("locked.db", 0), ("readonly.db", 0o444)):
        path = desk.write(name, b"", mode)
        database = f"connection = sqlite:///{path}\nsync_on_startup = true"
        verdict_of(report, f"database of mode {mode:o}", desk.run(
            "--config-file", desk.conf(database=database), *listen, program=program, user=user), name)
    verdict_of(report, "unreadable configuration", desk.run(
        "--config-file", desk.write("locked.conf", b"", 0), *listen, program=program, user=user), "locked.conf")


def newer(report, desk, with_url):
    """Schemas that this berth cannot know, and files that only resemble a database of ours."""
    path = desk.path("newer.db")
    with sqlite3.connect(path) as database:
        database.executescript("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);"
                               "INSERT INTO alembic_version VALUES ('ffffffffffff');")
    database.close()
    for sync in ("true", "false"):
        verdict_of(report, f"newer schema, sync {sync}", with_url(f"sqlite:///{path}", sync), "ffffffffffff")
    path = desk.path("other.db")
    with sqlite3.connect(path) as database:
        database.executescript("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup');")
    database.close()
    verdict_of(report, "a database without our schema, sync false", with_url(f"sqlite:///{path}", "false"), "other.db")
    path = desk.path("torn.db")
    with sqlite3.connect(path) as database:
        database.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000));")
    database.close()
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(b"\xa5" * 4000)
    verdict_of(report, "a torn database", with_url(f"sqlite:///{path}"), "torn.db")
