"""Servers and a client for the tests of the whole daemon: berthd and the Python service, each a child
process that is ended with the test."""

import fcntl
import http.client
import json
import os
import random
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import time
import urllib.parse
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
NEWEST = "1.39"
SIOCSIFFLAGS, IFF_UP = 0x8914, 1  # linux/sockios.h, linux/if.h
MEMORY = "/dev/shm"


def directory_in_memory(room=0):
    """Where files are in memory, if anybody may write there and that many bytes are free; otherwise None, which tempfile's
    functions take as the directory of temporary files."""
    if not os.access(MEMORY, os.W_OK):
        return None
    with open("/proc/meminfo") as file:
        available = int(re.search(r"^MemAvailable: +(\d+) kB", file.read(), re.M)[1]) * 1024
    system = os.statvfs(MEMORY)
    return MEMORY if min(available, system.f_bavail * system.f_frsize) >= room else None


claims = []  # they last as long as this process


def claim_port(port):
    """Whether no other test has claimed the port: a name in the kernel, which is free again when the process ends."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0berth-test-port-{port}")
    except OSError:
        claim.close()
        return False
    claims.append(claim)
    return True


def free_port():
    """None that a running test has got: its server may not listen yet, or be started again. Below those that clients get for
    their connections."""
    while True:
        port = random.SystemRandom().randrange(12000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if claim_port(port):
            return port


SERVERS = {"PostgreSQL": "BERTH_TEST_POSTGRES", "MariaDB": "BERTH_TEST_MARIADB"}
FRONTS = {"PostgreSQL": "BERTH_TEST_PGBOUNCER", "MariaDB": "BERTH_TEST_HAPROXY"}


def database_kind():
    """SQLite, or that of the server beside which with_postgres.py or with_mariadb.py, of tests/databases/, runs the test."""
    return next((kind for kind, variable in SERVERS.items() if variable in os.environ), "SQLite")


def new_databases(count, pooled=False):
    """For each of so many instances, the URL of a new database that they share: on the nodes of a cluster in turn. None for each
    if there is no server. `pooled`: through the program in front of it, PgBouncer or HAProxy."""
    kind = database_kind()
    if kind == "SQLite":
        return [None] * count
    name = "test" + uuid.uuid4().hex
    variables = [FRONTS[kind]] if pooled else [SERVERS[kind], *(f"{SERVERS[kind]}_{number}" for number in (2, 3))]
    urls = [os.environ[variable] for variable in variables if variable in os.environ]
    admin = os.environ[SERVERS[kind] + "_ADMIN"]
    if kind == "PostgreSQL":
        command = ["psql", "-qd", admin.replace("+psycopg2", ""), "-c", f"CREATE DATABASE {name} OWNER {os.environ['PGUSER']}"]
    else:
        charset, user = os.environ["BERTH_TEST_MARIADB_CHARSET"], urllib.parse.urlsplit(urls[0]).username
        command = ["mariadb", "--no-defaults", "-u", "root", "-S", urllib.parse.parse_qs(urllib.parse.urlsplit(admin).query)["unix_socket"][0],
                   "-e", f"CREATE DATABASE {name} CHARACTER SET {charset}; GRANT ALL PRIVILEGES ON {name}.* TO '{user}'@'%'"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    urls = [url.rsplit("/", 1)[0] + "/" + name for url in urls]
    return [urls[number % len(urls)] for number in range(count)]


def new_database():
    """Through the program in front of the server, if there is one."""
    return new_databases(1, pooled=FRONTS.get(database_kind(), "") in os.environ)[0]


def set_loopback_up():
    """In a network namespace of one's own it is down at first."""
    with socket.socket() as any_socket:
        request = struct.pack("16sH14x", b"lo", IFF_UP)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


class Server:
    """A child process with its configuration in a directory. The database is the SQLite file DIRECTORY/NAME, unless
    `connection` is the URL of another."""

    ready = None

    def __init__(self, directory, name="placement.db", port=None, sync=True, options=(), environment=None,
                 limits=None, strategy="noauth2", connection=None):
        self.directory = directory
        self.database = None if connection else os.path.join(directory, name)
        self.tables = connection or self.database  # for rows()
        self.port = port or free_port()
        self.environment = environment or {}
        self.limits = limits  # called in the child before it is executed
        self.process = None
        self.id = f"{type(self).__name__.lower()}-{self.port}"
        self.config_file = os.path.join(directory, self.id + ".conf")
        lines = ["[api]", f"auth_strategy = {strategy}", *options, "[placement_database]",
                 f"connection = {connection or 'sqlite:///' + self.database}", f"sync_on_startup = {str(sync).lower()}"]
        with open(self.config_file, "w") as file:
            file.write("\n".join(lines) + "\n")

    def command(self):
        raise NotImplementedError

    def log(self):
        with open(os.path.join(self.directory, self.id + ".log"), errors="replace") as file:
            return file.read()

    def start(self, seconds=60):
        out = open(os.path.join(self.directory, self.id + ".out"), "wb")
        log = open(os.path.join(self.directory, self.id + ".log"), "ab")
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith("OS_") and not name.lower().endswith("_proxy")}
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                                        env={**clean, "STATE_DIRECTORY": self.directory, **self.environment},
                                        preexec_fn=self.limits)
        out.close()
        log.close()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            with open(out.name, errors="replace") as file:
                if any(line.startswith(self.ready) for line in file):
                    return self
            if ended:
                raise RuntimeError(f"{self.id} ended with {self.process.returncode}: {self.log()[-2000:]}")
            time.sleep(0.005)
        raise RuntimeError(f"{self.id} was not ready in {seconds} s")

    def kill(self):
        """As a power cut of the process."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def stop(self, seconds=20):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def end(self):
        """The end of a test. For coverage.py a stop, since a process that is killed does not write its counts."""
        if "BERTH_COUNTS_LINES" in os.environ and self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    def client(self, version=NEWEST, timeout=30):
        return Client(self.port, version, timeout)

    def __enter__(self):
        return self.start() if self.process is None else self

    def __exit__(self, *exception):
        self.end()


class Berthd(Server):
    ready = "berthd: ready"

    def __init__(self, program, directory, baremetal_port=None, valet_port=None, **more):
        super().__init__(directory, **more)
        self.program = os.path.abspath(program)
        self.baremetal_port = baremetal_port  # None: the bare metal API is not served
        self.valet_port = valet_port  # the same of the Valet API

    def command(self):
        listens = [] if self.baremetal_port is None else ["--baremetal-listen", f"127.0.0.1:{self.baremetal_port}"]
        if self.valet_port is not None:
            listens += ["--valet-listen", f"127.0.0.1:{self.valet_port}"]
        return [self.program, "--config-file", self.config_file, "--listen", f"127.0.0.1:{self.port}", *listens]


class PythonService(Server):
    ready = "python: ready"

    def command(self):
        return ["/usr/bin/python3", "-B", os.path.join(HERE, "python_service.py"), self.config_file, str(self.port)]


class Client:
    """One connection at a time, kept alive."""

    def __init__(self, port, version=NEWEST, timeout=30):
        self.port, self.version, self.timeout = port, version, timeout
        self.connection = None

    def ask(self, method, path, body=None, version=None):
        """(status, decoded body or None). Raises OSError or HTTPException when there is no whole answer."""
        headers = {"x-auth-token": "admin", "openstack-api-version": f"placement {version or self.version}"}
        data = None
        if body is not None:
            data = json.dumps(body)
            headers["content-type"] = "application/json"
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
                self.connection.connect()
                self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.request(method, path, data, headers)
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.will_close:
                self.close()
            return answer.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def must(self, wanted, method, path, body=None, version=None):
        status, answer = self.ask(method, path, body, version)
        if status != wanted:
            raise AssertionError(f"{method} {path}: {status} {answer}, not {wanted}")
        return answer

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    # What every test needs.

    def make_provider(self, uuid, name=None, **classes):
        """A provider with an inventory of that total for each class."""
        self.must(200, "POST", "/resource_providers", {"name": name or uuid, "uuid": uuid})
        if classes:
            self.set_inventory(uuid, 0, **classes)

    def set_inventory(self, uuid, generation, **classes):
        return self.must(200, "PUT", f"/resource_providers/{uuid}/inventories", {
            "resource_provider_generation": generation,
            "inventories": {name: {"total": total} for name, total in classes.items()}})

    def claim(self, consumer, generation=None, **resources_of):
        """PUT of an allocation; resources_of: provider uuid (dashes as given) to {class: amount}. The answer."""
        return self.ask("PUT", f"/allocations/{consumer}", claim_body(generation, resources_of))


def claim_body(generation, resources_of):
    return {"allocations": {uuid: {"resources": resources} for uuid, resources in resources_of.items()},
            "project_id": "project", "user_id": "user", "consumer_generation": generation,
            "consumer_type": "INSTANCE"}


def rows(database, sql, *arguments):
    """Of a file, or of a database on a server by its URL."""
    if "://" in database:
        return server_rows(database, sql.replace("?", "%s"), arguments)
    connection = sqlite3.connect(database, timeout=10)
    try:
        found = connection.execute(sql, arguments).fetchall()
        connection.commit()
        return found
    finally:
        connection.close()


def server_rows(url, sql, arguments):
    connection = connect(url)
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql, arguments or None)
            found = [tuple(map(text_of, row)) for row in cursor.fetchall()] if cursor.description else []
        connection.commit()
        return found
    finally:
        connection.close()


def text_of(value):
    """MariaDB's binary strings are texts as well: some of berth's own columns are."""
    return value.decode() if isinstance(value, bytes) else value


def connect(url):
    """To a database on a server, by a URL like those of new_database()."""
    if url.startswith("postgresql"):
        import psycopg2
        return psycopg2.connect(url.replace("+psycopg2", ""))
    import pymysql
    parsed = urllib.parse.urlsplit(url)
    return pymysql.connect(host=parsed.hostname, port=parsed.port, user=parsed.username, password=urllib.parse.unquote(parsed.password),
                           database=parsed.path[1:], charset="utf8mb4", connect_timeout=60, read_timeout=60)


class Score:
    """Counts named cases and prints the last line."""

    def __init__(self):
        self.passed = self.failed = 0

    def case(self, name, problem=None, seconds=None):
        """Only None means that it passed. An empty text does not: a check may have found something wrong and no words for it."""
        took = "" if seconds is None else f" ({seconds:.1f} s)"
        if problem is None:
            self.passed += 1
            print(f"ok     {name}{took}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED {name}{took}: {str(problem) or 'no reason given'}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
