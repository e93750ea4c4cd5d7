"""What the cases of selftest.py share."""

import sys

sys.dont_write_bytecode = True

from postgres import psycopg2  # noqa: E402


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
