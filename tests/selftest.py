#!/usr/bin/python3
"""What all suites use to count their cases does not count a failure as a success, and tidy.py finds what it is meant to find.
Failures are shown with their reasons. No two tests get the same port. Preloaded programs do what they do otherwise.

    tests/selftest.py

The last line is `N passed, N failed`.
"""

import contextlib
import io
import os
import select
import shutil
import subprocess
import sys
import tempfile

import check
import preloaded
import servers
import tidy
import units


def score_of(*problems):
    """(passed, failed, exit status, output) of a score with a case for each of these."""
    score, out = servers.Score(), io.StringIO()
    with contextlib.redirect_stdout(out):
        for problem in problems:
            score.case("it", problem)
        status = score.end()
    return score.passed, score.failed, status, out.getvalue()


def refused(path, *headers):
    return len(tidy.wrong_in_dialect("src/store/" + path, "".join(f'#include "store/{header}"\n' for header in headers)))


def reasons(text):
    return units.reasons({"stdout": text, "stderr": ""})


def claimed_elsewhere(port):
    """Whether another process could claim the port."""
    program = f"import sys; sys.path.insert(0, {servers.HERE!r}); import servers; sys.exit(not servers.claim_port({port}))"
    return subprocess.run([sys.executable, "-B", "-c", program], check=False).returncode == 0


PRELOADED = ((b"", "openstack", "help", "resource", "provider", "show"), (b"help nonsense\n", "openstack"), (b"", "baremetal", "nonsense"),
             (b"", "placement-manage", "db", "version"))


def what_it_does(program, words, arguments):
    done = subprocess.run([program, *arguments], input=words, capture_output=True, env={**os.environ, "COLUMNS": "80"})
    return done.returncode, done.stdout, done.stderr


def same_when_preloaded():
    with preloaded.Preloaded() as programs:
        return all(what_it_does(os.path.join(programs.path, name), words, more) == what_it_does("/usr/bin/" + name, words, more)
                   for words, name, *more in PRELOADED)


def same_without_server():
    with tempfile.TemporaryDirectory() as directory:
        with preloaded.Preloaded() as programs:
            left = shutil.copy(os.path.join(programs.path, "placement-manage"), directory)
        return what_it_does(left, b"", ["--version"]) == what_it_does("/usr/bin/placement-manage", b"", ["--version"])


def ends_with_its_caller():
    """A program that waits for its standard input does not, once it has lost its caller."""
    with preloaded.Preloaded() as programs:
        caller = subprocess.Popen([os.path.join(programs.path, "openstack")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        waits = not select.select([caller.stdout], [], [], 1)[0]
        caller.kill()
        caller.wait()
        return waits and select.select([caller.stdout], [], [], 20)[0] and caller.stdout.read() == b""


CASES = {
    "None is a success": lambda: score_of(None) == (1, 0, 0, "ok     it\n1 passed, 0 failed\n"),
    "a text is a failure": lambda: score_of(None, "no") == (1, 1, 1, "ok     it\nFAILED it: no\n1 passed, 1 failed\n"),
    "so is an empty one": lambda: score_of("") == (0, 1, 1, "FAILED it: no reason given\n0 passed, 1 failed\n"),
    "and whatever else is not None": lambda: score_of([], 0, False, ValueError())[:3] == (0, 4, 1),
    "no case is a failure": lambda: score_of()[:3] == (0, 0, 1),
    "a folder of a dialect may include earlier ones": lambda: refused(
        "mariadb/foreign/a.c", "mariadb/foreign/b.h", "mariadb/log/b.h", "mariadb/session/b.h", "server/b.h", "rows.h") == 0,
    "but no later one": lambda: refused("mariadb/log/a.h", "mariadb/schema/b.h", "mariadb/exchange/b.h") == 2,
    "nor a file beside the folders": lambda: refused("postgres/exchange/a.c", "postgres/b.h") == 1,
    "which may include all folders": lambda: refused("postgres/a.c", "postgres/exchange/b.h", "postgres/b.h") == 0,
    "a dialect may not include the other": lambda: refused("postgres/a.c", "mariadb/b.h", "mariadb/log/b.h") == 2,
    "a folder must have a place in the order": lambda: refused("mariadb/new/a.c") == 1,
    "cmocka says why a test failed": lambda: reasons("a\n[  ERROR   ] --- 1 != 2\n[   LINE   ] --- a.c:1\nb\n") == [
        "[  ERROR   ] --- 1 != 2", "[   LINE   ] --- a.c:1"],
    "or what was printed last": lambda: reasons("".join(f"{line}\n" for line in range(9))) == [*"345678"],
    "failures are shown with what is below them": lambda: check.failures_of("p", "a\nFAILED b\n    c\n    d\ne\nnot ok f\n") == [
        "p: FAILED b", "    c", "    d", "p: not ok f"],
    "or as unknown": lambda: check.failures_of("p", "a\n\n b\n") == ["p: no case is named", "    a", "    b"],
    "a port that a test has got is no other's": lambda: not claimed_elsewhere(servers.free_port()),
    "nobody has got the others": lambda: claimed_elsewhere(1),
    "a preloaded program reads, prints and fails as otherwise": same_when_preloaded,
    "also when its server has ended": same_without_server,
    "it ends with its caller": ends_with_its_caller,
}

if __name__ == "__main__":
    own = servers.Score()
    for name, is_right in CASES.items():
        own.case(name, None if is_right() else "is counted otherwise")
    sys.exit(own.end())
