#!/usr/bin/python3
"""Compares the libpq parameters that berth makes of database URLs with those that oslo.db, SQLAlchemy and psycopg2 make:
URLs that deployers write, and URLs generated from a seed.

    tests/databases/urls.py [--build build] [--seed N] [--urls N]

Where berth refuses a URL that Python accepts, the URL must have one of the flaws in FLAWS. No message and no target may
contain a secret. The last line is `N passed, N failed`.
"""

import argparse
import json
import logging
import os
import random
import re
import subprocess
import sys

from oslo_db.sqlalchemy import engines
from psycopg2 import extensions
from sqlalchemy.dialects.postgresql import psycopg2 as dialect_of_psycopg2
from sqlalchemy.engine import make_url

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECRET = "s3cr3t"
PYTHON_ONLY = {"dsn", "async", "async_", "connection_factory", "cursor_factory"}
DRIVERS = {"postgresql", "postgresql+psycopg2", "postgresql+psycopg2cffi", "postgresql+psycopg"}

# (URL, connection_parameters)
WRITTEN = [(url, "") for url in (
    "postgresql://placement:s3cr3t@10.0.0.5/placement",
    "postgresql+psycopg2://placement:s3cr3t@db.example.org:5432/placement?client_encoding=utf8",
    "postgresql+psycopg2://placement:s3cr3t%40%2F%3A%25@[2001:db8::5]:5433/placement?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem",
    "postgresql://placement@/placement?host=/var/run/postgresql",
    "postgresql://placement@/placement?host=%2Fvar%2Frun%2Fpostgresql&port=5433",
    "postgresql://u:s3cr3t@/d?host=pg1:5432&host=pg2:5433&host=pg3:5434&target_session_attrs=read-write",
    "postgresql://u:s3cr3t@/d?host=pg1,pg2&port=5432,5433&target_session_attrs=primary",
    "postgresql://u:s3cr3t@pg1,pg2/d?port=5432,5433",
    "postgresql://u:s3cr3t@h/d?options=-c%20statement_timeout%3D30s&connect_timeout=5&application_name=a%20b",
    "postgresql://u:s3cr3t@h/d?keepalives=1&keepalives_idle=10&keepalives_interval=5&keepalives_count=3&tcp_user_timeout=1000",
    "postgresql://u:s3cr3t/x?y@h/d", "postgresql://u:@h/d", "postgresql://:s3cr3t@h/d", "postgresql://u%40x:s3cr3t@h/d",
    "postgresql://u@x:s3cr3t@h/d", "postgresql://u:s3cr3t@h", "postgresql://h:0/d", "postgresql://h:00005432/d",
    "postgresql://", "postgresql:///", "postgresql:///d", "postgresql://?host=h", "postgresql://h?sslmode=require",
    "postgresql://[::1]/d", "postgresql://[::1", "postgresql://[]/d", "postgresql://]/d", "postgresql://::1/d",
    "postgresql://[::1]s3cr3t/d", "postgresql://[a]b]/d", "postgresql://[::1]:x/d", "postgresql://h:/d", "postgresql://h:-1/d",
    "postgresql://h: 5/d", "postgresql://h:+5/d", "postgresql://h:5_0/d", "postgresql://h:70000/d", "postgresql://h:5/d/e",
    "postgresql://u:s3cr3t@x@h/d", "postgresql://u:%s3cr3t@h/d", "postgresql://u:%zz@h/d", "postgresql://u:%ff@h/d",
    "postgresql://u:%00s3cr3t@h/d", "postgresql://u:caf%C3%A9@h/d", "postgresql://u:café@h/d", "postgresql://u/v:s3cr3t@h/d",
    "postgresql://h:5432/d?password=s3cr3t@x", "postgresql://h/d?password=s3cr3t@x", "postgresql://h/d?user=a&password=s3cr3t",
    "postgresql://h/d?password=a&s3cr3t=b", "postgresql://h/d?password=a+b%2Bc", "postgresql://a b@h h/d d",
    "postgresql://h/d?dbname=e", "postgresql://h/d?database=e", "postgresql:///?dbname=e", "postgresql:///?database=e&dbname=f",
    "postgresql://h/d?sslmode=a&sslmode=b", "postgresql://h/d?port=1&port=2", "postgresql://h/d?host=a&port=1",
    "postgresql://h:1/d?host=a&host=b", "postgresql:///d?host=a&host=b&port=1", "postgresql:///d?host=a:1:2&host=b",
    "postgresql:///d?host=[::1]:1&host=[::2]:2", "postgresql:///d?host=:1&host=:2", "postgresql:///d?host=&host=b",
    "postgresql:///d?host=a:5432", "postgresql:///d?host=a:5432&port=5", "postgresql:///d?host=::1", "postgresql:///d?host=@x",
    "postgresql://h/d?plugin=x", "postgresql://h/d?dsn=x", "postgresql://h/d?async=1", "postgresql://h/d?async_=1",
    "postgresql://h/d?connection_factory=x", "postgresql://h/d?cursor_factory=x", "postgresql://h/d?ssl=1",
    "postgresql://h/d?", "postgresql://h/d?a", "postgresql://h/d?=", "postgresql://h/d?sslmode", "postgresql://h/d?sslmode=",
    "postgresql://h/d?sslmode=require#x", "postgresql://h/d?sslmode=require;x=y", "postgresql://h/d?sslmode=require\nx",
    "postgresql://h/d\n", "postgresql://h/d?SSLMODE=require", "postgresql://h/d?%73slmode=require", "postgresql://h/d?sslmode%3D=require",
    "postgresql://h/d?options=it's%20\\%20x", "postgresql://h/d?service=x", "postgresql://h/d?passfile=/x", "postgresql://h/d?gssencmode=disable",
    "postgresql://u:s3cr3t@/d?host=@a", "postgresql://h/d?sslpassword=s3cr3t&x=y", "postgresql://H/D", "POSTGRESQL://h/d",
    "postgres://u:s3cr3t@h/d", "postgres+psycopg2://h/d", "postgresql+asyncpg://u:s3cr3t@h/d", "postgresql+pg8000://u:s3cr3t@h/d",
    "postgresql+psycopg://u:s3cr3t@h/d", "postgresql+psycopg2cffi://u:s3cr3t@h/d", "postgresql+://h/d", "postgresql+psycopg2+x://h/d",
    "postgresql", "postgresql:", "postgresql:/h/d", "postgresql//h/d", " postgresql://h/d", "", "://h/d", "postgresql-x://h/d",
)] + [
    ("postgresql://u:s3cr3t@h/d", "sslmode=require&connect_timeout=3"),
    ("postgresql://u:s3cr3t@h/d?sslmode=disable", "sslmode=require"),
    ("postgresql:///d?host=a", "host=b:2"),
    ("postgresql:///d?host=a&host=b", "host=c"),
    ("postgresql://h/d", "&sslmode=require&"),
    ("postgresql://h/d", "?sslmode=require"),
    ("postgresql://h/d", "sslmode"),
    ("postgresql://h/d", " sslmode=require"),
    ("postgresql://h/d", "options=-c%20a%3Db+-c+c%3Dd"),
    ("postgresql://h/d", "password=s3cr3t"),
    ("postgresql://h/d", "sslmode=require\n"),
    ("postgresql://h/d", "dbname=e"),
]


def text_of(rng, *choices):
    return rng.choice(choices)


def generated(rng):
    """A URL from parts that are mostly right."""
    user = text_of(rng, "", "u", "placement", "u%40v", "u@v", "a b", "ü")
    password = text_of(rng, None, SECRET, SECRET + "%3A", SECRET + "/x", SECRET + ":y", SECRET + "%", "")
    host = text_of(rng, "", "h", "10.0.0.1", "[::1]", "[2001:db8::7]", "a,b", "db.example.org", "H-1")
    port = text_of(rng, "", "", ":5432", ":0", ":5433", ":65535")
    database = text_of(rng, "", "/", "/d", "/placement", "/a%20b", "/d:e")
    names = rng.sample([
        "sslmode=require", "sslmode=verify-full", "sslrootcert=/etc/ca.pem", "sslcert=%2Fc", "sslkey=/k", "connect_timeout=5",
        "application_name=placement+api", "options=-c%20geqo%3Doff", "keepalives_idle=30", "host=/run/pg", "host=a:1", "host=b:2",
        "host=c", "port=6432", "port=1,2", "target_session_attrs=read-write", "client_encoding=utf8", "user=w",
        "password=" + SECRET, "dbname=e", "database=f", "unknown=1", "empty=", "tcp_user_timeout=3000"], rng.choice([0, 0, 1, 1, 2, 3, 4]))
    authority = user + ("" if password is None else ":" + password)
    scheme = text_of(rng, "postgresql://", "postgresql+psycopg2://")
    url = scheme + (authority + "@" if authority or rng.random() < 0.1 else "") + host + port + database
    appended = names.pop() if names and rng.random() < 0.3 else ""
    return url + ("?" + "&".join(names) if names else ""), appended


def damaged(rng, url):
    at = rng.randrange(len(url))
    return url[:at] + rng.choice(["@", ":", "/", "?", "&", "=", "%", "[", "]", ",", "+", "", " ", "%00", "%c3"]) + url[at + rng.choice([0, 1]):]


def by_python(url, appended):
    """(libpq's parameters, None), or (None, the error)"""
    try:
        parsed = make_url(url)
        if appended:
            parsed = engines._extend_url_parameters(parsed, appended)
        engines._vet_url(parsed)
        parsed, _, _ = parsed._instantiate_plugins({})
        if parsed.drivername not in DRIVERS:
            parsed.get_dialect()
            return None, "no driver"
        arguments, keywords = dialect_of_psycopg2.PGDialect_psycopg2().create_connect_args(parsed)
        dsn = extensions.make_dsn(*arguments, **{name: value for name, value in keywords.items() if name not in PYTHON_ONLY - {"dsn"}})
        values = extensions.parse_dsn(dsn)
    except Exception as error:
        return None, error
    return {name: value for name, value in values.items() if value}, None


def components(url, appended):
    parsed = make_url(url)
    if appended:
        parsed = engines._extend_url_parameters(parsed, appended)
    return parsed


def flaws(url, appended):
    """What is wrong with a URL that Python accepts: see FLAWS."""
    parsed = components(url, appended)
    query = parsed.query
    texts = [parsed.username, parsed.password, parsed.host, parsed.database, *query.keys()]
    texts += [part for value in query.values() for part in ([value] if isinstance(value, str) else value)]
    texts = [text for text in texts if text]
    found = set()
    if any("\0" in text for text in texts):
        found.add("nul")
    if any("\ufffd" in text for text in texts):
        found.add("utf8")
    if any(not isinstance(value, str) for name, value in query.items() if name != "host"):
        found.add("twice")
    if PYTHON_ONLY & query.keys():
        found.add("python")
    if any(re.search(r"[=\s]", name) for name in query):
        found.add("name")
    hosts = query.get("host", ())
    if any("=" in host and host[0] not in "/@" for host in ([hosts] if isinstance(hosts, str) else hosts)):
        found.add("at")
    raw = re.match(r"[\w+]+://[^:/]*:([^@]*)@", url, re.S)
    if re.search("[@&=]", parsed.host or "") or re.search("@|password=", parsed.database or "") or \
            raw and re.match(r"[0-9]+[/?].*=", raw.group(1), re.S):
        found.add("at")
    written = re.sub(r"^([\w+]+://)([^:/]*(:[^@]*)?@)?", "", url)
    if re.match(r"\[[^/?]+\][^:/?]", written) or re.search(r"\?.*\n", written):
        found.add("dropped")
    port = re.match(r"(?:\[[^/?]+\]|[^/:?]+)?:([^/?]*)", written)
    if port and not (port.group(1).isascii() and port.group(1).isdigit() and int(port.group(1)) < 65536):
        found.add("port")
    if any(host.count(":") > 1 for host in query.get("host", ()) if not isinstance(query.get("host"), str)):
        found.add("colons")
    return found


FLAWS = {
    "nul": "U+0000 ends a parameter in libpq",
    "utf8": "bytes that are not UTF-8 become U+FFFD",
    "twice": "a parameter that is given twice becomes the text of a tuple",
    "python": "parameters of psycopg2.connect() itself",
    "name": "a name with blanks or an equals sign is read as something else",
    "at": "a piece of a password is taken for something else",
    "dropped": "text is dropped",
    "port": "ports as Python's int() reads them",
    "colons": "an IPv6 address is cut into pieces",
}


def as_sqlalchemy_2(url, appended, values):
    """SQLAlchemy 2.0 separates one HOST:PORT in the query, too."""
    query = components(url, appended).query
    one = re.fullmatch(r"([a-zA-Z0-9.-]*):(\d*)", query["host"]) if isinstance(query.get("host"), str) else None
    if one is None or "port" in query:
        return values
    values = {**values, "host": one.group(1), "port": one.group(2) or values.get("port", "")}
    return {name: value for name, value in values.items() if value}


def compare(url, appended, ours, counts):
    """The problem; None: there is none."""
    shown = ours.get("error", ours.get("target"))
    is_name = "target" in ours and SECRET in ours["values"].get("user", "")  # without ":", nobody can tell
    if SECRET in shown and not is_name or re.search("[\n\0]", shown):
        return f"{shown!r} is shown"
    theirs, error = by_python(url, appended)
    kind = "refused by both"
    if error is None and "error" in ours:
        kind = "refused, because " + " or ".join(FLAWS[name] for name in sorted(flaws(url, appended)))
        if not flaws(url, appended):
            return f"refused ({ours['error']}), Python has {theirs}"
    elif error is None:
        theirs = as_sqlalchemy_2(url, appended, theirs)
        kind = "the same"
        if ours["values"] != theirs:
            return f"is {ours['values']}, not {theirs}"
    elif "error" not in ours:
        return f"is {ours['values']}, and refused by Python: {error}"
    counts[kind] = counts.get(kind, 0) + 1
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--urls", type=int, default=2000, help="generated ones")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    rng = random.Random(options.seed)
    cases = list(WRITTEN)
    for _ in range(options.urls):
        url, appended = generated(rng)
        cases.append((damaged(rng, url) if rng.random() < 0.3 else url, appended))
    lines = "".join(f"{url.encode().hex()} {appended.encode().hex()}\n" for url, appended in cases)
    dump = os.path.join(ROOT, options.build, "tests/databases/postgres_url_dump")
    answers = subprocess.run([dump], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    problems = [] if len(answers) == len(cases) else [f"{len(answers)} answers for {len(cases)} URLs"]
    counts = {}
    for (url, appended), answer in zip(cases, answers):
        problem = compare(url, appended, json.loads(answer), counts)
        if problem:
            problems.append(f"{url!r} with {appended!r} {problem}")
    if not problems and ("the same" not in counts or "refused by both" not in counts):
        problems.append("all URLs are of one kind")
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")
    for problem in problems:
        print("FAILED", problem)
    print(f"{len(cases) - len(problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
