#!/usr/bin/python3
"""Runs a command with a PostgreSQL server of its own, and ends the server with it.

    tests/databases/with_postgres.py [--database NAME] [--option NAME=VALUE]… [--] COMMAND…

The exit status is the command's; 128 plus the number of the signal that ended it. The command finds in its environment:

    BERTH_TEST_POSTGRES           a URL of the user who owns the database: postgresql+psycopg2://USER:PASSWORD@127.0.0.1:PORT/NAME
    BERTH_TEST_POSTGRES_SOCKET    the same over the unix socket
    BERTH_TEST_POSTGRES_ADMIN     a URL of the superuser, over the unix socket
    BERTH_TEST_POSTGRES_PID       the process id of the server
    BERTH_TEST_POSTGRES_LOG       its log file
    PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE
                                  the user and the database for libpq and psql
"""

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys

import postgres
from postgres import Postgres

PR_SET_PDEATHSIG = 1  # prctl(2)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="placement", metavar="NAME", help="the name of the database (placement)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of the server")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    chosen = parser.parse_args()
    if chosen.command[:1] == ["--"]:
        del chosen.command[0]
    if not chosen.command:
        parser.error("no command")
    if not shutil.which(chosen.command[0]):
        print(f"with_postgres: {chosen.command[0]}: no such command", file=sys.stderr)
        sys.exit(127)
    if not all("=" in option for option in chosen.option):
        parser.error("an option is NAME=VALUE")
    return chosen


def variables_of(server):
    return {"BERTH_TEST_POSTGRES": server.url(),
            "BERTH_TEST_POSTGRES_SOCKET": server.url(socket=True),
            "BERTH_TEST_POSTGRES_ADMIN": server.url(socket=True, user=postgres.SUPERUSER),
            "BERTH_TEST_POSTGRES_PID": str(server.process.pid),
            "BERTH_TEST_POSTGRES_LOG": server.log_file,
            **server.variables()}


def end_with_parent():
    """The calling process gets SIGTERM when its parent ends in whichever way."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def run(command, variables):
    """The exit status of the command. Signals that would end this program are passed on to it."""
    child = subprocess.Popen(command, env={**os.environ, **variables}, preexec_fn=end_with_parent)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: child.send_signal(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the command as well
    status = child.wait()
    return 128 - status if status < 0 else status


def end_by_exception(number, frame):
    raise SystemExit(128 + number)


def main():
    chosen = options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_by_exception)
    settings = dict(option.split("=", 1) for option in chosen.option)
    with Postgres(options=settings, database=chosen.database) as server:
        return run(chosen.command, variables_of(server))


if __name__ == "__main__":
    sys.exit(main())
