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

import os
import sys

import postgres
import with_servers
from pgbouncer import PgBouncer
from postgres import Postgres
from standby import Standby


def options():
    parser = with_servers.parser_of(__doc__)
    parser.add_argument("--standby", action="store_true", help="also start a standby")
    parser.add_argument("--synchronous", action="store_true", help="commits wait for the standby")
    parser.add_argument("--pgbouncer", action="store_true", help="also start PgBouncer")
    chosen = with_servers.parse(parser)
    if chosen.synchronous and not chosen.standby:
        parser.error("--synchronous needs --standby")
    return chosen


def variables_of(server, name="POSTGRES"):
    return with_servers.variables_of(server, name, server.url(socket=True, user=postgres.SUPERUSER))


def start(chosen, servers):
    """Starts the servers, which end with the exit stack, and returns the variables that name them."""
    server = servers.enter_context(Postgres(options=chosen.settings, database=chosen.database))
    variables = {**server.variables(), **variables_of(server), "PATH": os.pathsep.join((postgres.PROGRAMS, os.environ["PATH"]))}
    if chosen.standby:
        standby = servers.enter_context(Standby(server))
        variables.update(variables_of(standby, "STANDBY"))
        if chosen.synchronous:
            standby.require()
    if chosen.pgbouncer:
        variables["BERTH_TEST_PGBOUNCER"] = servers.enter_context(PgBouncer(server)).url()
    return variables


if __name__ == "__main__":
    sys.exit(with_servers.run(options(), start))
