#!/usr/bin/python3
"""The life of berthd's connections: it starts before its database server ([placement_database] max_retries and
retry_interval), and replaces old connections (connection_recycle_time).

    tests/databases/startup.py --berthd build/berthd [--mariadb]
"""

import argparse
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "running")]

import servers  # noqa: E402
from database import url_of  # noqa: E402
from mariadb import server_class  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import wait_until  # noqa: E402
from service_manager import Process  # noqa: E402

PASSWORD = "secret-of-the-database"
FAILED = re.compile(r"SQL connection failed, (?:(\d+) attempts? left, )?next attempt in (\d+) s: the database '")
SERVER_STARTS_S = 3
SESSIONS = 6


class Kind:
    """start(…): a server. shown: what begins its URL in messages."""

    def __init__(self, start, driver, shown, speaks_first):
        self.start, self.driver, self.shown, self.speaks_first = start, driver, shown, speaks_first

    def url(self, port, **parameters):
        return url_of(self.driver, "berth", PASSWORD, f"127.0.0.1:{port}", "placement", parameters)

    def dead_url(self):
        return self.url(servers.free_port())


POSTGRES = Kind(Postgres, "postgresql+psycopg2", "postgresql", speaks_first=False)
MARIADB = Kind(server_class(), "mysql+pymysql", "mysql", speaks_first=True)


class Run:
    """A berthd under a service manager, with this server's URL and options of [placement_database]."""

    def __init__(self, program, directory, database, **options):
        self.port = servers.free_port()
        path = os.path.join(directory, f"{self.port}.conf")
        with open(path, "w") as file:
            file.write(f"[api]\nauth_strategy = noauth2\n[berth]\nlisten = 127.0.0.1:{self.port}\n"
                       f"[placement_database]\nsync_on_startup = true\nconnection = {database.replace('$', '$$')}\n")
            file.writelines(f"{name} = {value}\n" for name, value in options.items())
        self.process = Process([os.path.abspath(program), "--config-file", path], [], directory, self.port)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if not self.process.ended(0):
            self.process.signal(signal.SIGKILL)
            self.process.wait()

    def log(self):
        with open(self.process.log_path) as file:
            return file.read()

    def attempts_left(self):
        return [found and int(found) for found, _ in FAILED.findall(self.log())]

    def await_failure(self):
        self.process.wait_for("STATUS", "waiting for the database")

    def seconds_to_end(self, seconds=20):
        began = time.monotonic()
        self.process.wait(seconds)
        return time.monotonic() - began


def expect(condition, found):
    if not condition:
        raise AssertionError(str(found))


def server_that_starts_later(program, directory, kind):
    with_server = kind.start(password=PASSWORD)
    try:
        with_server.start()  # creates the user and the database
        with_server.stop()
        with Run(program, directory, with_server.url(), retry_interval=1, max_retries=40) as berth:
            berth.await_failure()
            timer = threading.Timer(SERVER_STARTS_S, with_server.start)
            timer.start()
            berth.process.wait_for("READY", "1", seconds=60)
            timer.join()
            left = berth.attempts_left()
            expect(len(left) >= SERVER_STARTS_S - 1 and left == list(range(39, 39 - len(left), -1)), left)
            extended = [int(message["EXTEND_TIMEOUT_USEC"]) for _, message in berth.process.messages
                        if message.get("STATUS") == "waiting for the database"]
            expect(len(extended) == len(left) and min(extended) > 10_000_000, extended)
            status, _ = servers.Client(berth.port).ask("GET", "/resource_providers")
            expect(status == 200, status)
            expect(PASSWORD not in berth.log(), berth.log())
            berth.process.signal(signal.SIGTERM)
            berth.seconds_to_end()
            expect(berth.process.status == 0, berth.process.status)
    finally:
        with_server.end()


def server_that_never_starts(program, directory, kind):
    for most, attempts in ((0, 1), (1, 1), (3, 3)):
        with Run(program, directory, kind.dead_url(), retry_interval=1, max_retries=most) as berth:
            took = berth.seconds_to_end()
            expect(berth.process.status == 1, berth.process.status)
            expect(attempts - 1.5 < took < attempts + 6, took)
            expect(berth.attempts_left() == list(range(attempts - 1, 0, -1)), berth.log())
            errors = [line for line in berth.log().splitlines() if line.startswith(f"berthd: the database '{kind.shown}://berth@")]
            expect(len(errors) == 1 and "cannot be reached" in errors[0], berth.log())
            expect(PASSWORD not in berth.log(), berth.log())


def unlimited(program, directory, kind):
    with Run(program, directory, kind.dead_url(), retry_interval=0, max_retries=-1) as berth:
        end = time.monotonic() + 20
        while len(berth.attempts_left()) <= 12 and time.monotonic() < end:
            time.sleep(0.05)
        expect(berth.attempts_left()[:12] == [""] * 12, berth.log()[-2000:])
        berth.process.signal(signal.SIGTERM)
        berth.seconds_to_end()
        expect(berth.process.status == 0, berth.log()[-2000:])


def password_that_is_wrong(program, directory, kind):
    with kind.start(password=PASSWORD) as server:
        for what in ({"password": "another"}, {"database": "another"}):
            with Run(program, directory, server.url(**what), retry_interval=1, max_retries=-1) as berth:
                berth.seconds_to_end()
                expect(berth.process.status == 1 and berth.attempts_left() == [], berth.log())


def stop_between_attempts(program, directory, kind):
    for number in (signal.SIGTERM, signal.SIGINT):
        with Run(program, directory, kind.dead_url(), retry_interval=3600) as berth:
            berth.await_failure()
            berth.process.signal(number)
            took = berth.seconds_to_end()
            expect(took < 2 and berth.process.status == 0, (took, berth.process.status, berth.log()))
            said = [line.rsplit("] ", 1)[-1] for line in berth.log().splitlines()]
            expect("stopping" in said and said[-1] == "stopped", berth.log())


def stop_within_an_attempt(program, directory, kind):
    """The server accepts the connection, and then says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        address = kind.url(silent.getsockname()[1], connect_timeout=60)
        with Run(program, directory, address, retry_interval=3600) as berth:
            connection, _ = silent.accept()
            with connection:
                if not kind.speaks_first:
                    connection.recv(1)
                berth.process.signal(signal.SIGTERM)
                took = berth.seconds_to_end()
            expect(took < 2 and berth.process.status == 0, (took, berth.process.status, berth.log()))
            expect(berth.attempts_left() == [], berth.log())


def sessions_of(server):
    """What identifies the sessions of berthd."""
    if isinstance(server, MARIADB.start):
        return set(server.sessions())
    rows = server.sql("SELECT pid FROM pg_stat_activity WHERE usename = %s AND backend_type = 'client backend'", server.user)
    return {pid for pid, in rows}


def use(client, number):
    """A write, and a read that needs a query for the newest state."""
    status, answer = client.ask("POST", "/resource_providers", {"name": f"host{number}"})
    expect(status == 200, answer)
    status, answer = client.ask("GET", "/resource_providers")
    expect(status == 200 and len(answer["resource_providers"]) == number + 1, answer)


def old_connections(program, directory, kind):
    """Each of the three that requests need, that of the worker that serves the one client, and the one that looks for the
    writes of others, is replaced while berthd writes and reads, and no request fails. Without the option, none is. The
    sixth, for housekeeping, is used only now and then."""
    with kind.start(password=PASSWORD) as server:
        for seconds, is_replaced in ((1, True), (-1, False)):
            server.create_database(f"of_{seconds}")
            with Run(program, directory, server.url(f"of_{seconds}"), connection_recycle_time=seconds) as berth:
                berth.process.wait_for("READY", "1", seconds=60)
                client = servers.Client(berth.port)
                use(client, 0)
                wait_until(lambda: len(sessions_of(server)) == SESSIONS, lambda: str(sessions_of(server)))
                first = sessions_of(server)
                number, end, last = 1, time.monotonic() + (20 if is_replaced else 3), first
                while time.monotonic() < end and not (is_replaced and len(last) == SESSIONS and len(last & first) <= 1):
                    use(client, number)
                    number += 1
                    time.sleep(0.05)
                    last = sessions_of(server)
                expect(len(last) == SESSIONS and (len(last & first) <= 1 if is_replaced else last == first), (first, last))
                expect(" ERROR " not in berth.log() and " WARNING " not in berth.log(), berth.log())


CASES = [server_that_starts_later, server_that_never_starts, unlimited, password_that_is_wrong, stop_between_attempts,
         stop_within_an_attempt, old_connections]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--mariadb", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    for case in CASES:
        directory = tempfile.mkdtemp(prefix="berth-startup-")
        try:
            case(arguments.berthd, directory, MARIADB if arguments.mariadb else POSTGRES)
            print("ok    ", case.__name__.replace("_", " "))
        except AssertionError as error:
            failed += 1
            print("FAILED", case.__name__.replace("_", " ") + ":", error)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
