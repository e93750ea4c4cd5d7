"""What copy.py copies, and how it looks at the copies: an embedded database with rows in every table, the rows of any
database, and a connection that ends at a given byte."""

import contextlib
import json
import os
import pty
import re
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from processes import wait_until  # noqa: E402
from values import metal_requests, valet_requests  # noqa: E402

HOSTS = 12
TABLES = ("resource_classes", "traits", "placement_aggregates", "projects", "users", "consumer_types", "resource_providers",
          "inventories", "resource_provider_traits", "resource_provider_aggregates", "consumers", "allocations", "berth_nodes",
          "berth_node_allocations", "berth_valet_groups", "berth_valet_members", "berth_valet_claims", "berth_valet_plans",
          "berth_valet_placements")


def new():
    return str(uuid.uuid4())


def raw(port, method, path, body=None):
    """(status, bytes) of an answer of any of the APIs."""
    connection = servers.http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39", "x-openstack-ironic-api-version": "1.82"}
    if body is not None:
        headers["content-type"] = "application/json"
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()


def is_plain(request):
    """A text that every database of the tests can hold beside the others: small ASCII letters."""
    body = request[2] or ""
    return body.isascii() and "\\" not in body and body == body.rstrip() and not any(
        bad in body for bad in ('"A"', '"a "', '"a  "')) and len(body) < 400


class Source:
    """An SQLite database of berth, and what its instance has answered."""

    def __init__(self, berthd, directory):
        self.berthd, self.directory = berthd, directory
        self.path = os.path.join(directory, "placement.db")
        self.uuids, self.consumers = [], []
        ports = {"baremetal_port": servers.free_port(), "valet_port": servers.free_port()}
        with self.instance(None, **ports) as berth:
            self._fill(berth)
            wait_until(lambda: b'"allocating"' not in raw(berth.baremetal_port, "GET", "/v1/allocations")[1],
                       "allocations are not decided", 60)
        self.answers = self.read_from(None)

    def instance(self, url, **more):
        options = ["[baremetal]", "host = here", "fake_delay_ms = 0"]
        return servers.Berthd(self.berthd, self.directory, connection=url, options=options, **more)

    def _fill(self, berth):
        client = servers.Client(berth.port)
        client.must(201, "PUT", "/resource_classes/CUSTOM_GOLD")
        client.must(201, "PUT", "/traits/CUSTOM_FAST")
        for number in range(HOSTS):
            self._make_host(client, number)
        # A root with a larger id than those below it.
        child, root = self.uuids[1], new()
        client.must(200, "POST", "/resource_providers", {"name": "later", "uuid": root})
        client.must(200, "PUT", f"/resource_providers/{child}", {"name": "host1", "parent_provider_uuid": root})
        self.uuids.append(root)
        for number in range(3 * HOSTS):
            consumer = new()
            assert client.claim(consumer, **{self.uuids[number % HOSTS]: {"VCPU": 1, "CUSTOM_GOLD": 2}})[0] == 204
            self.consumers.append(consumer)
        for consumer in self.consumers[::4]:
            client.must(204, "DELETE", f"/allocations/{consumer}")
        for make, port in ((metal_requests, berth.baremetal_port), (valet_requests, berth.valet_port)):
            for request in filter(is_plain, make()):
                if request[0] == "POST":
                    raw(port, *request)

    def _make_host(self, client, number):
        name, aggregate = new(), new()
        client.must(200, "POST", "/resource_providers", {
            "name": f"host{number}", "uuid": name, **({"parent_provider_uuid": self.uuids[-1]} if number % 3 == 2 else {})})
        client.must(200, "PUT", f"/resource_providers/{name}/inventories", {
            "resource_provider_generation": 0, "inventories": {
                "VCPU": {"total": 64, "allocation_ratio": 1.1 + number / 7}, "CUSTOM_GOLD": {"total": 100, "reserved": 3}}})
        client.must(200, "PUT", f"/resource_providers/{name}/traits", {
            "resource_provider_generation": 1, "traits": ["CUSTOM_FAST", "HW_CPU_X86_AVX2"]})
        client.must(200, "PUT", f"/resource_providers/{name}/aggregates", {
            "resource_provider_generation": 2, "aggregates": [aggregate, "00000000-0000-4000-8000-0000000000aa"]})
        self.uuids.append(name)

    def gets(self):
        """[(which API, path)]"""
        yield from (("port", path) for path in (
            "/resource_providers", "/resource_classes", "/traits", "/usages?project_id=project",
            "/allocation_candidates?resources=VCPU:1,CUSTOM_GOLD:1"))
        for name in self.uuids:
            yield "port", f"/resource_providers/{name}"
            for what in ("inventories", "traits", "aggregates", "allocations", "usages"):
                yield "port", f"/resource_providers/{name}/{what}"
        for consumer in self.consumers:
            yield "port", f"/allocations/{consumer}"
        yield from (("baremetal_port", path) for path in ("/v1/nodes?detail=True", "/v1/allocations"))
        yield "valet_port", "/v1/groups"

    def read_from(self, url):
        """[(request, status, body)] of an instance on that database."""
        ports = {"baremetal_port": servers.free_port(), "valet_port": servers.free_port()}
        with self.instance(url, **ports) as berth:
            return self.read(berth)

    def read(self, berth):
        found = []
        for api, path in self.gets():
            status, body = raw(getattr(berth, api), "GET", path)
            # It names the port that was asked.
            found.append((path, status, body.replace(f":{getattr(berth, api)}".encode(), b":PORT")))
        return found

    def read_python(self, url):
        """The same of the Python service: only of the Placement API, and without an order, which it leaves to the database."""
        with servers.PythonService(self.directory, connection=url, sync=False) as python:
            return [(path, *ordered(raw(python.port, "GET", path))) for api, path in self.gets() if api == "port"]

    def sql(self, text):
        with contextlib.closing(sqlite3.connect(self.path)) as connection:
            connection.execute(text)
            connection.commit()


def ordered(answer):
    def sorted_value(value):
        if isinstance(value, dict):
            return {name: sorted_value(one) for name, one in value.items()}
        return sorted(map(sorted_value, value), key=json.dumps) if isinstance(value, list) else value
    return answer[0], sorted_value(json.loads(answer[1]))


def with_six_digits(answers):
    if isinstance(answers, dict):
        return {name: float(f"{one:.6g}") if name == "allocation_ratio" else with_six_digits(one) for name, one in answers.items()}
    if isinstance(answers, (list, tuple)):
        return type(answers)(map(with_six_digits, answers))
    if isinstance(answers, bytes):
        return re.sub(rb'("allocation_ratio": )([0-9.]+)', lambda found: found[1] + repr(float(f"{float(found[2]):.6g}")).encode(), answers)
    return answers


# ---- rows ----

def sqlite_rows(path):
    """{table: (columns, rows)}"""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = {}
        for table in TABLES:
            cursor = connection.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in cursor.description]
            found[table] = columns, cursor.fetchall()
        return found


def server_rows(server, database, expected, quote):
    found = {}
    for table, (columns, _) in expected.items():
        names = ", ".join(quote + column + quote for column in columns)
        found[table] = columns, server.sql(f"SELECT {names} FROM {table}", database=database)
    return found


def value_as_text(value, column, table, is_mariadb):
    """As the two kinds of server keep it."""
    if hasattr(value, "isoformat"):
        value = value.isoformat(" ", timespec="microseconds")
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, (dict, list)):
        value = json.dumps(value)
    if column.endswith("_at") and value is not None and is_mariadb and not table.startswith("berth_"):
        value = value[:19]
    if column == "allocation_ratio":
        value = f"{struct.unpack('f', struct.pack('f', value))[0]:.6g}" if is_mariadb else repr(float(value))
    if isinstance(value, bool):
        value = int(value)
    with contextlib.suppress(ValueError, TypeError):
        value = json.dumps(json.loads(value), sort_keys=True)  # psycopg2 decodes JSON
    return str(value)


def differences(expected, found, is_mariadb):
    """None, or the first rows that only one of them has."""
    for table, (columns, rows) in expected.items():
        ours, theirs = ({tuple(value_as_text(value, column, table, is_mariadb) for column, value in zip(columns, row))
                         for row in some} for some in (rows, found[table][1]))
        if ours != theirs or len(rows) != len(found[table][1]):
            return f"{table}: {sorted(ours - theirs)[:2]} became {sorted(theirs - ours)[:2]}"
    return None


# ---- connections that end ----

class Cutter:
    """A proxy that kills a program, or cuts its connections, when `most` bytes have gone through it in both directions.
    None: it counts them."""

    def __init__(self, port, most=None, kills=True):
        self.server_port, self.most, self.kills, self.seen, self.process = port, most, kills, 0, None
        self.lock, self.sockets, self.has_cut = threading.Lock(), [], False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server_port))
                self.sockets += [client, server]
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    def _copy(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(self._counted(data))
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _counted(self, data):
        with self.lock:
            self.seen += len(data)
            if self.most is None or self.seen < self.most or self.has_cut:
                return data
            self.has_cut = True
        if self.kills:
            wait_until(lambda: self.process, "no process")
            self.process.kill()
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        raise OSError("cut")

    def close(self):
        """Ends what is open. To close a socket from which a thread reads would not end its connection."""
        self.listener.close()
        with self.lock:
            for one in self.sockets:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()


class Tool:
    def __init__(self, program, source):
        self.program, self.source = program, source

    def start(self, *words, connection=None, input=subprocess.DEVNULL, output=subprocess.PIPE):
        environment = {"OS_PLACEMENT_DATABASE__CONNECTION": connection or "sqlite:///" + self.source, "PATH": "/usr/bin:/bin", "HOME": "/"}
        return subprocess.Popen([self.program, "db", *words], stdin=input, stdout=output, stderr=output, text=True,
                                env=environment)

    def run(self, *words, connection=None):
        """(exit code, standard output, standard error without the lines of progress and of migrations)"""
        process = self.start(*words, connection=connection)
        out, errors = process.communicate(timeout=300)
        lines = [line for line in errors.splitlines() if line.startswith("placement-manage: ") or not line[:1].isalnum()]
        return process.returncode, out.strip(), "\n".join(lines)

    def on_a_terminal(self, *words):
        """(exit code, what is shown)"""
        master, slave = pty.openpty()
        try:
            process = self.start(*words, output=slave)
            os.close(slave)
            shown = b""
            with contextlib.suppress(OSError):  # at the end
                while part := os.read(master, 65536):
                    shown += part
            return process.wait(300), shown.decode()
        finally:
            os.close(master)

    def copy(self, url):
        return self.run("copy", "--to", url)

    def version(self, url):
        return self.run("version", connection=url)[1]
