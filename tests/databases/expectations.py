"""What the cases of selftest.py, mariadb_selftest.py and sessions.py share."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True

import processes  # noqa: E402
from postgres import psycopg2, servers  # noqa: E402


def expect(good, what):
    if not good:
        raise AssertionError(what)


def expect_failure(kind, call, *arguments, **more):
    """The text of the exception that the call must raise."""
    try:
        call(*arguments, **more)
    except kind as failure:
        return str(failure)
    raise AssertionError(f"no {kind}: {call}")


def connect_by_url(url):
    """As SQLAlchemy reads it, with psycopg2."""
    expect(url.startswith("postgresql+psycopg2://"), url)
    connection = psycopg2.connect(url.replace("+psycopg2", "", 1))
    connection.autocommit = True
    return connection


def ask(connection, text, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(text, arguments or None)
        return cursor.fetchall() if cursor.description else []


def expect_unprivileged(server):
    """The server does not run as root, and its files belong to its user."""
    uid = os.stat(f"/proc/{server.process.pid}").st_uid
    expect(uid == processes.server_user().pw_uid != 0, uid)
    status = os.stat(server.data)
    expect((status.st_uid, status.st_mode & 0o777) == (uid, 0o700), status)
    longest = len(server.place.path) + processes.SOCKET_NAME_MOST
    expect(longest <= processes.SOCKET_PATH_MOST, server.place.path)


def expect_frozen(server, connection):
    """A frozen server accepts connections and answers nothing; then it goes on where it was."""
    ask(connection, "SELECT 1")
    server.freeze()
    answers = []
    asker = threading.Thread(target=lambda: answers.append(ask(connection, "SELECT 2")))
    asker.start()
    asker.join(0.3)
    expect(not answers and asker.is_alive(), answers)
    socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
    server.thaw()
    asker.join(10)
    expect([list(rows) for rows in answers] == [[(2,)]], answers)


def expect_bad_start(server, word):
    """A server that cannot start says why, and leaves nothing."""
    said = expect_failure(processes.Failure, server.__enter__)
    expect(word in said, said)
    expect(not os.path.exists(server.place.path), "its directory is left")


def expect_end_with_test(module, kind, processes_least, also=contextlib.nullcontext):
    """SIGKILL for a test, its server frozen or killed, ends everything. also(path): a context with more expectations."""
    for action, least, most in (("freeze", processes_least, 1000), ("kill", 0, 0)):
        with contextlib.ExitStack() as more:
            with killed_test(f"from {module} import {kind}\nserver = {kind}().start()\nserver.{action}()\n"
                             "print(server.place.path, flush=True)") as path:
                running = processes.guard.processes_below(path)
                expect(os.path.isdir(path) and least <= len(running) <= most, f"{action}: {path} {running}")
                more.enter_context(also(path))


@contextlib.contextmanager
def killed_test(script):
    """Runs a test that prints where its server is and then waits; kills it after the block. No process and no directory may be
    left."""
    test = subprocess.Popen([sys.executable, "-c", script + "\nimport signal; signal.pause()"], cwd=HERE,
                            stdout=subprocess.PIPE, text=True)
    path = test.stdout.readline().strip()
    try:
        yield path
    finally:
        test.kill()
        test.wait()
        test.stdout.close()
    processes.wait_until(lambda: not os.path.exists(path), f"{path} is left")
    expect(not processes.guard.processes_below(path), "processes are left")


def expect_ended_with(program, name):
    """Signals reach the command that the program runs beside servers. SIGKILL of the program ends both the command and the
    server. name: of the variables, as in BERTH_TEST_NAME_PID."""
    for number, status in ((signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        script = f"echo $$ $BERTH_TEST_{name}_PID $BERTH_TEST_{name}_LOG; exec sleep 60"
        runner = subprocess.Popen([program, "sh", "-c", script], stdout=subprocess.PIPE, text=True)
        command, server, log = runner.stdout.readline().split()
        expect(not processes.has_ended(command) and not processes.has_ended(server), "nothing runs")
        runner.send_signal(number)
        expect(runner.wait(30) == status, runner.returncode)
        processes.await_end([command, server])
        processes.wait_until(lambda: not os.path.exists(os.path.dirname(log)), f"{log} is left")
        runner.stdout.close()


def run_beside(program, *words):
    return subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def expect_statuses(program):
    """The exit statuses of a program that runs a command beside servers, other than the command's own."""
    done = run_beside(program, "sh", "-c", "kill -9 $$")
    expect(done.returncode == 137, done)
    done = run_beside(program, "/nonesuch")
    expect(done.returncode == 127 and "/nonesuch" in done.stderr, done)
    for wrong in ([], ["--option", "word", "true"], ["--nonsense", "true"]):
        expect(run_beside(program, *wrong).returncode == 2, wrong)


def _run(kind, name, cases):
    """The reason why the case failed, or None. `cases`: the object of the kind, once there is one."""
    try:
        if kind not in cases:
            cases[kind] = kind()
        getattr(cases[kind], name)()
    except Exception as failure:
        return f"{failure!r}\n{traceback.format_exc()}"
    return None


def run_cases(kinds, chosen):
    """Runs the methods of these classes as cases, or those that are chosen by name. Returns the exit status."""
    owners = {name: kind for kind in kinds for name in vars(kind) if not name.startswith("_") and name != "close"}
    unknown = [name for name in chosen if name not in owners]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}; there are {', '.join(owners)}")
    score, cases = servers.Score(), {}
    for name in chosen or owners:
        began = time.monotonic()
        score.case(name, _run(owners[name], name, cases), time.monotonic() - began)
    for case in cases.values():
        case.close()
    return score.end()
