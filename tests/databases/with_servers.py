"""What with_postgres.py and with_mariadb.py share: they run a command beside servers that end with it."""

import argparse
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1  # prctl(2)


def parser_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="placement", metavar="NAME", help="the name of the database (placement)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of the server")
    return parser


def parse(parser):
    """The options of the command line, with `settings` as a dictionary, and with the command that follows them."""
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    chosen = parser.parse_args()
    if chosen.command[:1] == ["--"]:
        del chosen.command[0]
    if not chosen.command:
        parser.error("no command")
    if not shutil.which(chosen.command[0]):
        print(f"{parser.prog}: {chosen.command[0]}: no such command", file=sys.stderr)
        sys.exit(127)
    if not all("=" in option for option in chosen.option):
        parser.error("an option is NAME=VALUE")
    chosen.settings = dict(option.split("=", 1) for option in chosen.option)
    return chosen


def variables_of(server, name, admin_url):
    return {f"BERTH_TEST_{name}": server.url(),
            f"BERTH_TEST_{name}_SOCKET": server.url(socket=True),
            f"BERTH_TEST_{name}_ADMIN": admin_url,
            f"BERTH_TEST_{name}_PID": str(server.process.pid),
            f"BERTH_TEST_{name}_LOG": server.log_file}


def run(chosen, start):
    """start(chosen, stack) starts the servers, which end with the stack, and returns the variables that name them. Returns the
    exit status of the command."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end_by_exception)
    with contextlib.ExitStack() as servers:
        return _run_command(chosen.command, start(chosen, servers))


def _end_by_exception(number, frame):
    raise SystemExit(128 + number)


def _end_with_parent():
    """The calling process gets SIGTERM when its parent ends in whichever way."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _run_command(command, variables):
    """Signals that would end this program are passed on to the command."""
    child = subprocess.Popen(command, env={**os.environ, **variables}, preexec_fn=_end_with_parent)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: child.send_signal(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the command as well
    status = child.wait()
    return 128 - status if status < 0 else status
