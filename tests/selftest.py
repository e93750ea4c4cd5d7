#!/usr/bin/python3
"""What all suites use to count their cases does not count a failure as a success, and tidy.py finds what it is meant to find.

    tests/selftest.py

The last line is `N passed, N failed`.
"""

import contextlib
import io
import sys

import servers
import tidy


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
}

if __name__ == "__main__":
    own = servers.Score()
    for name, is_right in CASES.items():
        own.case(name, None if is_right() else "is counted otherwise")
    sys.exit(own.end())
