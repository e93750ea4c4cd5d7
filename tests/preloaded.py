#!/usr/bin/python3
"""Programs of Debian's Python packages that tests start again and again, with what they import loaded once: `openstack` takes a
second of a processor until it has read its arguments.

    with Preloaded() as programs:
        programs.path                  # for the beginning of PATH

Each of these programs passes its arguments, environment, working directory and standard files to a server, which
forks a process that runs Debian's own program; it ends if the caller does. Elsewhere, in another namespace or as another
user, it is Debian's program that runs, as it does without this."""

import array
import atexit
import contextlib
import importlib
import importlib.metadata
import json
import locale
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback

PYTHON = "/usr/bin/python3"
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {**{name: "/usr/bin/" + name for name in ("openstack", "baremetal", "placement-manage", "placement-status")},
            "python_tool.py": os.path.join(HERE, "databases", "python_tool.py")}
MODULES = ("openstackclient.shell", "ironicclient.shell", "placement.cmd.manage", "placement.cmd.status", "alembic.command",
           "sqlalchemy.dialects.mysql.pymysql", "sqlalchemy.dialects.postgresql.psycopg2", "sqlalchemy.dialects.sqlite")
GROUPS = ("openstack.cli", "openstack.cli.base", "openstack.cli.extension", "openstack.common", "openstack.identity.v3",
          "openstack.placement.v1", "openstack.baremetal.v1", "cliff.formatter.list", "cliff.formatter.show", "keystoneauth1.plugin")
READ_ARGUMENTS = ("cliff.app", "osc_lib.shell", "openstackclient.shell", "ironicclient.shell")  # when they are imported
READY_S = 60
PLACE = '[os.getuid(), *(os.stat("/proc/self/ns/" + kind).st_ino for kind in ("mnt", "net", "pid"))]'
CALLER = '''#!/usr/bin/python3 -IS
# See tests/preloaded.py.
import array, json, os, socket, sys
try:
    if {place} != {server_place}:
        raise OSError
    connection = socket.socket(socket.AF_UNIX)
    connection.connect({socket!r})
except OSError:
    os.execv({program!r}, [{program!r}, *sys.argv[1:]])
call = json.dumps([{program!r}, sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
connection.sendmsg([b"\\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
connection.sendall(call)
connection.shutdown(socket.SHUT_WR)
sys.exit(int(connection.recv(16) or 1))
'''


class Preloaded:
    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="berth-preloaded-")
        connections = os.path.join(self.path, "connections")
        self.server = subprocess.Popen([PYTHON, os.path.abspath(__file__), connections], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       start_new_session=True)
        if select.select([self.server.stdout], [], [], READY_S)[0] and self.server.stdout.readline():
            for name, program in PROGRAMS.items():
                path = os.path.join(self.path, name)
                with open(path, "w") as file:
                    file.write(CALLER.format(place=PLACE, server_place=eval(PLACE), socket=connections, program=program))
                os.chmod(path, 0o755)
        return self

    def __exit__(self, *exception):
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()


# ---- the server ----

def load():
    """What is missing is not loaded: a program that needs it says so itself."""
    for name in MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for group in GROUPS:
        for point in importlib.metadata.entry_points(group=group):
            with contextlib.suppress(ImportError, AttributeError):
                point.load()
    with contextlib.suppress(ImportError):
        from stevedore import _cache
        for group in GROUPS:
            _cache.get_group_all(group)
    for name in READ_ARGUMENTS:
        package, _, last = name.rpartition(".")
        if sys.modules.pop(name, None):
            delattr(sys.modules[package], last)


def serve(path):
    """Until standard input ends, as it does if the tests are killed. Then its directory is removed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while select.select([listener, 0], [], [])[0] == [listener]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            os._exit(attend(connection))
        connection.close()
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def attend(connection):
    """One call. The caller learns the exit status; if it ends, the program does."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    files = array.array("i", ancillary[0][2])
    call = json.loads(b"".join(iter(lambda: connection.recv(65536), b"")))
    program = os.fork()
    if program == 0:
        connection.close()
        os._exit(run(files, *call))
    for file in files:
        os.close(file)
    ends = os.pidfd_open(program)
    poll = select.poll()
    poll.register(ends, select.POLLIN)
    poll.register(connection, select.POLLHUP)
    if all(file != ends for file, _ in poll.poll()):
        os.kill(program, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(str(status if status >= 0 else 128 - status).encode())
    return 0


def run(files, program, arguments, environment, directory):
    """As the interpreter runs a script."""
    for at, file in enumerate(files):
        os.dup2(file, at)
        os.close(file)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    locale.setlocale(locale.LC_CTYPE, "")
    sys.stdin, sys.stdout, sys.stderr = (open(at, mode, encoding="utf-8", errors=errors, buffering=1, closefd=False)
                                         for at, mode, errors in ((0, "r", "surrogateescape"), (1, "w", "surrogateescape"),
                                                                  (2, "w", "backslashreplace")))
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(program)
    status = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        status = 0 if end.code is None else end.code
        if not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException as failure:
        trace = failure.__traceback__
        while trace and trace.tb_frame.f_code.co_filename != program:
            trace = trace.tb_next
        traceback.print_exception(type(failure), failure, trace)
        status = 1
    atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            file.flush()
    return status & 0xFF


if __name__ == "__main__":
    serve(sys.argv[1])
