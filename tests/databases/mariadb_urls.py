#!/usr/bin/python3
"""Compares what berth makes of database URLs of MariaDB and MySQL with what oslo.db, SQLAlchemy and PyMySQL make of them: URLs
that deployers write, with option files, and URLs generated from a seed.

    tests/databases/mariadb_urls.py [--build build] [--seed N] [--urls N]

PyMySQL's constructor runs without connecting, on a TLS context that records what is set. Where berth refuses a URL that
Python accepts, the URL must have one of the flaws in FLAWS; where TLS differs, berth must verify more. No message and no
target may contain a secret. The last line is `N passed, N failed`.
"""

import argparse
import json
import logging
import os
import random
import re
import ssl
import subprocess
import sys
import tempfile

import pymysql
from oslo_db.sqlalchemy import engines
from pymysql.connections import DEFAULT_USER
from sqlalchemy.dialects.mysql import pymysql as dialect_of_pymysql
from sqlalchemy.engine import make_url

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECRET = "s3cr3t"
OFF, ENCRYPTED, CHAIN, HOST = range(4)

# {FILE} is the path of OPTION_FILES[n].
OPTION_FILES = (
    "[client]\nssl-ca=/etc/pki/tls-ca-bundle.pem\nssl=1",
    "[client]\nssl=0",
    "[client]\nssl-ca = '/ca'\nssl-cert=/c\nssl-key=/k\nuser=f\npassword=s3cr3t\nhost=filehost\nport=3310\ndatabase=e\n"
    "[tripleo]\nbind-address = 10.0.0.7\nssl = 1\nssl-ca = /etc/ca-bundle.trust.crt\n[mysqld]\nuser=mysql\n",
    "[DEFAULT]\nuser=d\n[client]\nsocket=\"/run/s.sock\"\ndefault-character-set=utf8\nhost\n# host=x\n; port=1\nSSL-CIPHER: a=b\n",
    "[other]\nhost=x\n",
    "host=x\n[client]\n",
    "[client]\n  host=a\n  port=1\nport2=3\n",
    "[client] # x\ndatabase=a # b\n",
    "",
)
WRITTEN = [(url, "") for url in (
    "mysql+pymysql://placement:s3cr3t@10.0.0.10:3306/placement",
    "mysql+pymysql://placement:s3cr3t@[fd00::10]:3306/placement",
    "mysql+pymysql://placement:s3cr3t@10.0.0.10:3306/placement?ssl_ca=/etc/ca.pem",
    "mysql+pymysql://placement:s3cr3t@vip:3306/placement?charset=utf8",
    "mysql+pymysql://placement:s3cr3t@vip:3306/placement?charset=utf8&ssl_verify_cert=true",
    "mysql+pymysql://placement:s3cr3t@vip:3306/placement?charset=utf8&ssl_verify_cert=true&ssl_ca=/ca",
    "mysql+pymysql://p:s3cr3t@h:3306/placement?charset=utf8&ssl_ca=/ca.crt&ssl_key=/tls.key&ssl_cert=/tls.crt&ssl_verify_cert",
    "mysql+pymysql://placement_3893:s3cr3t@openstack.openstack.svc/placement?read_default_file={FILE0}",
    "mysql+pymysql://placement_3893:s3cr3t@openstack.openstack.svc/placement?read_default_file={FILE1}",
    "mysql+pymysql://placement:s3cr3t@vip/placement?read_default_file={FILE2}&read_default_group=tripleo",
    "mysql+pymysql://u:s3cr3t@/placement?unix_socket=/run/proxysql/mysql.sock&charset=utf8",
    "mysql+pymysql://u:s3cr3t@controller/placement", "mysql+pymysql://", "mysql+pymysql:///d", "mysql+pymysql://h",
    "mysql+pymysql://h?read_default_file={FILE2}", "mysql+pymysql://?read_default_file={FILE2}",
    "mysql+pymysql://?read_default_file={FILE3}", "mysql+pymysql://h/d?read_default_file={FILE4}",
    "mysql+pymysql://h/d?read_default_file={FILE5}", "mysql+pymysql://?read_default_file={FILE6}",
    "mysql+pymysql://?read_default_file={FILE7}", "mysql+pymysql://?read_default_file={FILE8}",
    "mysql+pymysql://h/d?read_default_file=/nowhere", "mysql+pymysql://h/d?read_default_file={FILE2}&ssl_verify_cert=true",
    "mysql+pymysql://h/d?read_default_file={FILE2}&ssl_disabled=true", "mysql+pymysql://h/d?read_default_file={FILE2}&ssl_ca=/x",
    "mysql+pymysql://h:0/d", "mysql+pymysql://h:00003306/d", "mysql+pymysql://h:+5/d", "mysql+pymysql://h:70000/d",
    "mysql+pymysql://h1:6446,h2:6446/d", "mysql+pymysql://h1,h2/d", "mysql+pymysql://h/d/e", "mysql+pymysql://h/d%20e",
    "mysql+pymysql://u:s3cr3t@x@h/d", "mysql+pymysql://u:%s3cr3t@h/d", "mysql+pymysql://u:%zz+@h/d", "mysql+pymysql://u:%ff@h/d",
    "mysql+pymysql://u:%00s3cr3t@h/d", "mysql+pymysql://u:caf%C3%A9@h/d", "mysql+pymysql://u/v:s3cr3t@h/d",
    "mysql+pymysql://h/d?user=a&password=s3cr3t", "mysql+pymysql://h/d?password=a+b%2Bc", "mysql+pymysql://h/d?database=e",
    "mysql+pymysql://h/d?db=e", "mysql+pymysql:///?db=e", "mysql+pymysql://h/d?passwd=s3cr3t", "mysql+pymysql://u:a@h/d?passwd=s3cr3t",
    "mysql+pymysql://h/d?port=3307", "mysql+pymysql://h/d?host=i", "mysql+pymysql://h/d?charset=a&charset=b", "mysql+pymysql://h/d?ssl=true",
    "mysql+pymysql://h/d?ssl=true&ssl_ca=/ca", "mysql+pymysql://h/d?ssl_mode=REQUIRED", "mysql+pymysql://h/d?sslmode=require",
    "mysql+pymysql://h/d?ssl_ca=/ca&ssl_check_hostname=false", "mysql+pymysql://h/d?ssl_ca=/ca&ssl_check_hostname=maybe",
    "mysql+pymysql://h/d?ssl_check_hostname=true", "mysql+pymysql://h/d?ssl_check_hostname=false", "mysql+pymysql://h/d?ssl_cipher=x",
    "mysql+pymysql://h/d?ssl_cert=/c&ssl_key=/k", "mysql+pymysql://h/d?ssl_capath=/p", "mysql+pymysql://h/d?ssl_disabled=true&ssl_ca=/ca",
    "mysql+pymysql://h/d?ssl_disabled=false&ssl_ca=/ca", "mysql+pymysql://h/d?ssl_verify_identity=true&ssl_ca=/ca",
    "mysql+pymysql://h/d?ssl_verify_identity=true", "mysql+pymysql://h/d?ssl_verify_identity=false", "mysql+pymysql://h/d?ssl_verify_cert=false",
    "mysql+pymysql://h/d?ssl_verify_cert=optional&ssl_ca=/ca", "mysql+pymysql://h/d?ssl_verify_cert=x", "mysql+pymysql://h/d?ssl_ca=/ca&ssl_ca=/cb",
    "mysql+pymysql://h/d?ssl_verify_cert=0&ssl_check_hostname=1&ssl_ca=/ca", "mysql+pymysql://h/d?ssl_verify_cert=1&ssl_check_hostname=0",
    "mysql+pymysql://h/d?ssl_key_password=s3cr3t&ssl_cert=/c", "mysql+pymysql://h/d?server_public_key=x", "mysql+pymysql://h/d?compress=1",
    "mysql+pymysql://h/d?compress=0", "mysql+pymysql://h/d?named_pipe=1", "mysql+pymysql://h/d?defer_connect=1",
    "mysql+pymysql://h/d?cursorclass=x", "mysql+pymysql://h/d?conv=x", "mysql+pymysql://h/d?auth_plugin_map=x", "mysql+pymysql://h/d?bind_address=10.0.0.1",
    "mysql+pymysql://h/d?program_name=a+b&init_command=SET%20a%3D1&connect_timeout=5", "mysql+pymysql://h/d?connect_timeout=0",
    "mysql+pymysql://h/d?connect_timeout=x", "mysql+pymysql://h/d?connect_timeout=31536001", "mysql+pymysql://h/d?connect_timeout=+5",
    "mysql+pymysql://h/d?read_timeout=5&write_timeout=6&sql_mode=ANSI&client_flag=2&local_infile=1&use_unicode=0&binary_prefix=1&autocommit=1",
    "mysql+pymysql://h/d?max_allowed_packet=1", "mysql+pymysql://h/d?plugin=x", "mysql+pymysql://h/d?async=1", "mysql+pymysql://h/d?ssl_ca=%00",
    "mysql+pymysql://h/d?=x&a&&b=", "mysql+pymysql://h/d?ssl_ca=/ca\nx", "mysql+pymysql://[::1]s3cr3t/d", "mysql+pymysql://[::1", "mysql+pymysql://h:/d",
    "mysql+pymysql:/h/d", "mysql+pymysql", " mysql+pymysql://h/d", "MYSQL+pymysql://h/d", "mysql+asyncmy://h/d", "mysql+cymysql://h/d",
    "mariadb+pymysql://u:s3cr3t@h:3307/d?ssl_ca=/ca", "mysql+pymysql+x://h/d", "mysql+://h/d",
)] + [
    ("mysql+pymysql://u:s3cr3t@h/d", "ssl_ca=/ca&connect_timeout=3"),
    ("mysql+pymysql://u:s3cr3t@h/d?ssl_ca=/ca", "ssl_ca=/ca"),
    ("mysql+pymysql://u:s3cr3t@h/d", "password=s3cr3t"),
    ("mysql+pymysql://h/d", "&charset=utf8&"),
    ("mysql+pymysql://h/d", "?charset=utf8"),
]


def text_of(rng, *choices):
    return rng.choice(choices)


def generated(rng):
    """A URL from parts that are mostly right."""
    user = text_of(rng, "", "u", "placement", "u%40v", "u@v", "a b", "%C3%BC")
    password = text_of(rng, None, SECRET, SECRET + "%3A", SECRET + "/x", SECRET + ":y", SECRET + "%", SECRET + "+", "")
    host = text_of(rng, "", "h", "10.0.0.1", "[::1]", "[2001:db8::7]", "a,b", "db.example.org", "H-1")
    port = text_of(rng, "", "", ":3306", ":0", ":3307", ":65535")
    database = text_of(rng, "", "/", "/d", "/placement", "/a%20b", "/d:e")
    names = rng.sample([
        "ssl_ca=/ca", "ssl_capath=/p", "ssl_cert=%2Fc", "ssl_key=/k", "ssl_cipher=x", "ssl_check_hostname=true", "ssl_check_hostname=no",
        "ssl_verify_cert=true", "ssl_verify_cert=0", "ssl_verify_cert", "ssl_verify_identity=true", "ssl_disabled=true", "ssl_disabled=false",
        "connect_timeout=5", "charset=utf8", "unix_socket=/s", "bind_address=10.0.0.1", "read_default_file={FILE0}", "read_default_file={FILE2}",
        "read_default_file={FILE3}", "read_default_group=tripleo", "user=w", "password=" + SECRET, "database=f", "unknown=1", "empty=",
        "sql_mode=ANSI", "init_command=SET+a", "read_timeout=3"], rng.choice([0, 0, 1, 1, 2, 3, 4]))
    authority = user + ("" if password is None else ":" + password)
    scheme = text_of(rng, "mysql+pymysql://", "mysql+pymysql://", "mariadb+pymysql://")
    url = scheme + (authority + "@" if authority or rng.random() < 0.1 else "") + host + port + database
    appended = names.pop() if names and rng.random() < 0.3 else ""
    return url + ("?" + "&".join(names) if names else ""), appended


def damaged(rng, url):
    at = rng.randrange(len(url))
    return url[:at] + rng.choice(["@", ":", "/", "?", "&", "=", "%", "[", "]", ",", "+", "", " ", "%00", "%c3"]) + url[at + rng.choice([0, 1]):]


class Context:
    """Records what PyMySQL sets on a TLS context."""

    def __init__(self, cafile=None, capath=None):
        self.found = {"ca": cafile, "capath": capath}
        self.check_hostname = self.verify_mode = None
        self.options = 0

    def load_cert_chain(self, cert, keyfile=None):
        self.found.update(cert=cert, key=keyfile)

    def set_ciphers(self, cipher):
        self.found["cipher"] = cipher


def components(url, appended):
    parsed = make_url(url)
    if appended:
        parsed = engines._extend_url_parameters(parsed, appended)
    return parsed


def by_python(url, appended):
    """(what PyMySQL would do, None), or (None, the error)"""
    try:
        parsed = components(url, appended)
        engines._vet_url(parsed)
        if parsed.get_driver_name() != "pymysql":
            return None, "another driver"
        parsed, _, _ = parsed._instantiate_plugins({})
        arguments, keywords = dialect_of_pymysql.MySQLDialect_pymysql(dbapi=pymysql).create_connect_args(parsed)
        if keywords.pop("defer_connect", None):
            return None, "does not connect"
        connection = pymysql.connections.Connection(*arguments, defer_connect=True, **keywords)
    except Exception as error:
        return None, error
    context = connection.ctx if connection.ssl else None
    found = {
        "user": connection.user.decode() if isinstance(connection.user, bytes) else connection.user, "password": connection.password.decode("latin1"),
        "host": None if connection.unix_socket else connection.host, "port": connection.port, "database": connection.db,
        "unix_socket": connection.unix_socket, "bind_address": connection.bind_address, "init_command": connection.init_command,
        "program_name": connection._connect_attrs.get("program_name"),
        "connect_timeout": keywords.get("connect_timeout", 0),
    }
    found["tls"] = OFF
    if context:
        verifies = context.verify_mode != ssl.CERT_NONE
        found["tls"] = ENCRYPTED if not verifies else HOST if context.check_hostname else CHAIN
        found.update(context.found)
    return {name: value for name, value in found.items() if value not in (None, "")}, None


NO_EFFECT = {"charset", "plugin", "read_timeout", "write_timeout", "client_flag", "local_infile", "use_unicode"}
SWITCHES = ("ssl_check_hostname", "ssl_verify_cert", "ssl_verify_identity", "ssl_disabled")
TRUE = {"true", "yes", "on", "y", "t", "1", "required", "optional"}
FALSE = {"false", "no", "off", "n", "f", "0", "none"}


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
    if any(not isinstance(value, str) for value in query.values()) or ("db" in query and parsed.database) or ("passwd" in query and parsed.password):
        found.add("twice")
    if {"ssl", "compress", "server_public_key", "conv", "cursorclass", "auth_plugin_map", "defer_connect"} & query.keys():
        found.add("python")
    if any(query.get(name, "1").strip().lower() not in TRUE | FALSE for name in SWITCHES if isinstance(query.get(name, "1"), str)):
        found.add("switch")
    is_on = lambda name: isinstance(query.get(name), str) and query[name].strip().lower() in TRUE
    if "ssl_verify_cert" in query and not is_on("ssl_verify_cert") and (is_on("ssl_verify_identity") or is_on("ssl_check_hostname")):
        found.add("contradiction")
    if not re.fullmatch(r"[0-9]{1,8}", str(query.get("connect_timeout", "1"))):
        found.add("number")
    hosts = [parsed.host, query.get("host")]
    if any(host and not re.fullmatch(r"[A-Za-z0-9._:%-]*", host) for host in hosts if isinstance(host, str)):
        found.add("host")
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
    if isinstance(query.get("read_default_file"), str) and not os.path.exists(query["read_default_file"]):
        found.add("file")
    if "read_default_group" in query and "read_default_file" not in query and not os.path.exists("/etc/my.cnf"):
        found.add("file")
    if isinstance(query.get("unix_socket"), str) and len(query["unix_socket"].encode()) > 107:
        found.add("socket")
    if parsed.drivername not in ("mysql+pymysql", "mariadb+pymysql"):
        found.add("scheme")
    return found


FLAWS = {
    "nul": "U+0000 ends a parameter",
    "utf8": "bytes that are not UTF-8 become U+FFFD",
    "twice": "a parameter that is given twice",
    "python": "parameters that only mean something in Python, or that are not supported",
    "switch": "a value that is neither true nor false",
    "contradiction": "the host is verified, and the certificate is not",
    "number": "numbers as Python's int() reads them",
    "host": "a host that is not one host",
    "at": "a piece of a password is taken for something else",
    "dropped": "text is dropped",
    "port": "ports as Python's int() reads them",
    "file": "an option file that does not exist",
    "socket": "a path that is too long",
    "scheme": "another product or driver",
}


def compare_tls(query, ours, theirs):
    """The problem; None: there is none. "more": berth verifies more."""
    mine, its = ours["tls"], theirs["tls"]
    if "unix_socket" in theirs and its == HOST:
        its = CHAIN  # there is no host
    if mine < its:
        return f"TLS is {mine}, not {its}"
    names = ("ca", "capath", "cert", "key", "cipher")
    if mine == its and mine != OFF and not {"ssl_verify_cert", "ssl_verify_identity"} & query.keys():
        differing = [name for name in names if mine >= CHAIN or name not in ("ca", "capath") if ours.get(name) != theirs.get(name)]
        if differing:
            return f"{differing} differ"
    if mine > its and its == OFF and "ssl_disabled" not in query:
        return f"TLS is {mine}, not off"
    return "more" if mine > its else None


def compare(url, appended, ours, counts):
    """The problem; None: there is none."""
    shown = ours.get("error", ours.get("target"))
    is_name = "target" in ours and SECRET in ours.get("user", "")  # without ":", nobody can tell
    if SECRET in shown and not is_name or re.search("[\n\0]", shown):
        return f"{shown!r} is shown"
    theirs, error = by_python(url, appended)
    kind = "refused by both"
    if error is None and "error" in ours:
        found = flaws(url, appended)
        kind = "refused, because " + " or ".join(FLAWS[name] for name in sorted(found))
        if not found:
            return f"refused ({ours['error']}), Python has {theirs}"
    elif error is None:
        theirs.setdefault("user", DEFAULT_USER)
        for name in ("user", "password", "host", "port", "database", "unix_socket", "bind_address", "init_command", "program_name"):
            mine = ours.get(name, DEFAULT_USER if name == "user" else None)
            if mine != theirs.get(name):
                return f"has {name} {mine!r}, not {theirs.get(name)!r}"
        if ours["connect_timeout"] != theirs.get("connect_timeout", 0):
            return "has another connect_timeout"
        problem = compare_tls(components(url, appended).query, ours, theirs)
        if problem not in (None, "more"):
            return problem
        kind = "the same, and more is verified" if problem else "the same"
    elif "error" not in ours and not re.match(r"(mysql|mariadb)(\+(mysqldb|mysqlconnector|mariadbconnector))?://", url):
        kind = "a password that PyMySQL cannot encode"  # as latin-1
        if not isinstance(error, UnicodeEncodeError):
            kind = "a wrong value of a parameter that has no effect"
            if not NO_EFFECT & components(url, appended).query.keys():
                return f"is {ours}, and refused by Python: {error}"
    counts[kind] = counts.get(kind, 0) + 1
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--urls", type=int, default=2000, help="generated ones")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    ssl.create_default_context = Context
    rng = random.Random(options.seed)
    cases = list(WRITTEN)
    for _ in range(options.urls):
        url, appended = generated(rng)
        cases.append((damaged(rng, url) if rng.random() < 0.3 else url, appended))
    with tempfile.TemporaryDirectory() as directory:
        for number, text in enumerate(OPTION_FILES):
            path = os.path.join(directory, f"f{number}.cnf")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            cases = [(url.replace(f"{{FILE{number}}}", path), appended.replace(f"{{FILE{number}}}", path)) for url, appended in cases]
        lines = "".join(f"{url.encode().hex()} {appended.encode().hex()}\n" for url, appended in cases)
        dump = os.path.join(ROOT, options.build, "tests/databases/mariadb_url_dump")
        answers = subprocess.run([dump], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        problems = [] if len(answers) == len(cases) else [f"{len(answers)} answers for {len(cases)} URLs"]
        counts = {}
        for (url, appended), answer in zip(cases, answers):
            problem = compare(url, appended, json.loads(answer), counts)
            if problem:
                problems.append(f"{url!r} with {appended!r} {problem}")
    if not problems and ("the same" not in counts or "refused by both" not in counts or "the same, and more is verified" not in counts):
        problems.append("all URLs are of one kind")
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")
    for problem in problems:
        print("FAILED", problem)
    print(f"{len(cases) - len(problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
