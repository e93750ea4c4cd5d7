"""What the cases of selftest.py and sessions.py share."""

import sys
import time
import traceback

sys.dont_write_bytecode = True

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
