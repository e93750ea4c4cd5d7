#!/usr/bin/python3
"""Runs a command with a PostgreSQL server of its own, and ends the server with it.

    tests/databases/with_postgres.py [--standby] [--synchronous] [--pgbouncer] [--database NAME] [--option NAME=VALUE]…
                                     [--] COMMAND…

The exit status is the command's; 128 plus the number of the signal that ended it. The command finds in its environment:

    BERTH_TEST_POSTGRES           a URL of the user who owns the database: postgresql+psycopg2://USER:PASSWORD@127.0.0.1:PORT/NAME
    BERTH_TEST_POSTGRES_SOCKET    the same over the unix socket
    BERTH_TEST_POSTGRES_ADMIN     a URL of the superuser, over the unix socket
    BERTH_TEST_POSTGRES_PID       the process id of the server
    BERTH_TEST_POSTGRES_LOG       its log file
    BERTH_TEST_STANDBY, BERTH_TEST_STANDBY_ADMIN, BERTH_TEST_STANDBY_PID
                                  the same of a streaming standby, with --standby; the superuser promotes it by
                                  SELECT pg_promote()
    BERTH_TEST_PGBOUNCER          the URL for PgBouncer in front of the server, in transaction mode, with --pgbouncer
    PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE
                                  the user and the database for libpq and psql
    PATH                          begins with the server's own programs, because Debian's psql is a script that takes longer
                                  than the program it looks for
"""

import argparse
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys

import postgres
from pgbouncer import PgBouncer
from postgres import Postgres
from standby import Standby

PR_SET_PDEATHSIG = 1  # prctl(2)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="placement", metavar="NAME", help="the name of the database (placement)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of the server")
    parser.add_argument("--standby", action="store_true", help="also start a standby")
    parser.add_argument("--synchronous", action="store_true", help="commits wait for the standby")
    parser.add_argument("--pgbouncer", action="store_true", help="also start PgBouncer")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    chosen = parser.parse_args()
    if chosen.command[:1] == ["--"]:
        del chosen.command[0]
    if not chosen.command:
        parser.error("no command")
    if not shutil.which(chosen.command[0]):
        print(f"with_postgres: {chosen.command[0]}: no such command", file=sys.stderr)
        sys.exit(127)
    if chosen.synchronous and not chosen.standby:
        parser.error("--synchronous needs --standby")
    if not all("=" in option for option in chosen.option):
        parser.error("an option is NAME=VALUE")
    return chosen


def variables_of(server, name="POSTGRES"):
    return {f"BERTH_TEST_{name}": server.url(),
            f"BERTH_TEST_{name}_SOCKET": server.url(socket=True),
            f"BERTH_TEST_{name}_ADMIN": server.url(socket=True, user=postgres.SUPERUSER),
            f"BERTH_TEST_{name}_PID": str(server.process.pid),
            f"BERTH_TEST_{name}_LOG": server.log_file}


def start(chosen, servers):
    """Starts the servers, which end with the exit stack, and returns the variables that name them."""
    settings = dict(option.split("=", 1) for option in chosen.option)
    server = servers.enter_context(Postgres(options=settings, database=chosen.database))
    variables = {**server.variables(), **variables_of(server), "PATH": os.pathsep.join((postgres.PROGRAMS, os.environ["PATH"]))}
    if chosen.standby:
        standby = servers.enter_context(Standby(server))
        variables.update(variables_of(standby, "STANDBY"))
        if chosen.synchronous:
            standby.require()
    if chosen.pgbouncer:
        variables["BERTH_TEST_PGBOUNCER"] = servers.enter_context(PgBouncer(server)).url()
    return variables


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
    with contextlib.ExitStack() as servers:
        return run(chosen.command, start(chosen, servers))


if __name__ == "__main__":
    sys.exit(main())
