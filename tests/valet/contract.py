#!/usr/bin/python3
"""Tests of the Valet API that gabbi cannot express: methods and paths as bytes, long bodies, the order of checks,
hosts in use, deletion of a group and its providers, a missing database, addresses.

    tests/valet/contract.py --berthd build/berthd [PART…]

Parts: methods, order, paths, limits, use, aggregates, racks, status, projects, addresses, restart. The last line is `N
passed, N failed`.
"""

import contextlib
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import parts  # noqa: E402
import servers  # noqa: E402
import words  # noqa: E402

T1, T2, T3 = "b7d0e9b175294b649464caa3411adb3f", "65c3e5ee5ee0428caa5e5275c58ead61", "3a9dd7ce111142228333000000000001"
ALLOW = {  # Valet spec, section 1; {g} and {m} are a group and a member of it
    "/": "GET", "/v1": "GET", "/v1/groups": "GET POST", "/v1/groups/{g}": "GET PUT DELETE",
    "/v1/groups/{g}/members": "PUT DELETE", "/v1/groups/{g}/members/{m}": "GET DELETE", "/v1/status": "HEAD GET",
}
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "COPY", "PROPFIND", "FROBNICATE", "TRACE", "get", "pOST", "X",
           "M-SEARCH", "a.b_c~d!#$%&'*+^`|", "A" * 200)


class Answer:
    def __init__(self, data):
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.text = body.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def explanation(self):
        return self.json["explanation"]

    def __repr__(self):
        return f"{self.status} {self.headers} {self.text[:400]}"


def send(port, method, path, body=None, headers=(), token="admin", timeout=30):
    """One request exactly as given, on a connection of its own. token None: without a token."""
    lines = [f"{method} {path} HTTP/1.1", "Host: a", "Connection: close", *headers]
    if token is not None:
        lines.append(f"X-Auth-Token: {token}")
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    if body is not None:
        lines.append(f"Content-Length: {len(data)}")
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        with contextlib.suppress(ConnectionError):  # it may have been answered before it was read
            connection.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data)
        got = b""
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(65536):
                got += piece
    return Answer(got)


class Tests:
    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.passed = self.failed = 0

    def case(self, name, good, said=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED {name}: {said}", flush=True)

    def expect(self, name, answer, status, form=True):
        fault = words.fault_in(answer.status, answer.headers, answer.text) if form else None
        self.case(name, answer.status == status and not fault, f"{fault or ''} {answer}, not {status}")
        return answer

    @contextlib.contextmanager
    def berth(self, **more):
        directory = tempfile.mkdtemp(dir=self.directory)
        with servers.Berthd(self.program, directory, valet_port=servers.free_port(), **more) as server:
            yield server

    def group(self, server, name, members=()):
        group = self.must(server, 201, "POST", "/v1/groups", {"name": name, "type": "exclusivity"})["id"]
        if members:
            self.must(server, 201, "PUT", f"/v1/groups/{group}/members", {"members": list(members)})
        return group

    def must(self, server, status, method, path, body=None):
        answer = send(server.valet_port, method, path, body)
        if answer.status != status:
            raise AssertionError(f"{method} {path}: {answer}, not {status}")
        return answer.json if answer.text else None

    def placement(self, server, wanted, method, path, body=None):
        status, answer = server.client().ask(method, path, body)
        if status != wanted:
            raise AssertionError(f"{method} {path}: {status} {answer}, not {wanted}")
        return answer

    def provider(self, server, number, aggregates=(), **more):
        """Creates a provider with 8 VCPU; returns its uuid. traits: without inventory."""
        traits = more.pop("traits", None)
        which = str(uuid.UUID(int=(1 << 100) + number))
        self.placement(server, 200, "POST", "/resource_providers", {"name": f"host{number}", "uuid": which, **more})
        at = f"/resource_providers/{which}"
        if traits is None:
            self.placement(server, 200, "PUT", at + "/inventories", {
                "resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}})
        else:
            for trait in traits:
                server.client().ask("PUT", f"/traits/{trait}")
            self.placement(server, 200, "PUT", at + "/traits", {"resource_provider_generation": 0, "traits": traits})
        if aggregates:
            self.placement(server, 200, "PUT", at + "/aggregates", {
                "resource_provider_generation": 1, "aggregates": list(aggregates)})
        return which

    def claim(self, server, consumer, provider, project):
        self.placement(server, 204, "PUT", f"/allocations/{consumer}", {
            "allocations": {provider: {"resources": {"VCPU": 1}}}, "project_id": project, "user_id": "u",
            "consumer_generation": None, "consumer_type": "INSTANCE"})

    # The parts.

    def test_methods(self):
        """Every method of every URI, as bytes."""
        with self.berth() as server:
            group = self.group(server, "g", [T1])
            for template, allow in ALLOW.items():
                path, methods = template.format(g=group, m=T1), allow.split()
                for slash in ("", "/" if template != "/" else ""):
                    options = self.expect(f"OPTIONS {template}{slash}", send(server.valet_port, "OPTIONS", path + slash), 204)
                    self.case(f"OPTIONS {template}{slash}: Allow",
                              re.split(", *", options.headers.get("allow", "")) == methods, options)
                for method in set(METHODS) - set(methods):
                    answer = send(server.valet_port, method, path)
                    self.expect(f"{method} {template}", answer, 405, form=method != "HEAD")
                    self.case(f"{method} {template}: Allow",
                              re.split(", *", answer.headers.get("allow", "")) == methods, answer)
                    if method != "HEAD":
                        self.case(f"{method} {template}: words",
                                  answer.explanation == f"The {method} method is not allowed.", answer)
                    else:
                        self.case(f"HEAD {template}: no body", not answer.text, answer)
            head, get = (send(server.valet_port, method, "/v1/status") for method in ("HEAD", "GET"))
            self.case("HEAD /v1/status", (head.status, head.text, head.headers.get("content-type"),
                                          head.headers.get("content-length")) ==
                      (200, "", "application/json", get.headers.get("content-length")), head)

    def test_order(self):
        """401, 404, 405, 413, 400, state: the first error in this order is reported."""
        with self.berth() as server:
            group = self.group(server, "g", [T1])
            long = b"x" * (8 * 1024 * 1024 + 1)
            known, unknown = f"/v1/groups/{group}", f"/v1/groups/{uuid.uuid4()}"
            for name, status, arguments in (
                    ("no token, all wrong", 401, ("FROB", unknown + "/x", long, (), None)),
                    ("an empty token", 401, ("GET", known, None, (), "")),
                    ("a blank token", 401, ("GET", known, None, (), "  ")),
                    ("no role, all wrong", 401, ("FROB", unknown, long, (), "user")),
                    ("no role, a bad body", 401, ("PUT", known, b"{", (), "user")),
                    ("unknown, all wrong", 404, ("FROB", unknown, long)),
                    ("unknown, OPTIONS", 404, ("OPTIONS", unknown)),
                    ("unknown, a bad body", 404, ("PUT", unknown, b"{")),
                    ("unknown member, FROB", 404, ("FROB", known + "/members/" + T2)),
                    ("unknown member, DELETE with a long body", 404, ("DELETE", known + "/members/" + T2, long)),
                    ("FROB, a long body", 405, ("FROB", known, long)),
                    ("POST, a bad body", 405, ("POST", known, b"{")),
                    ("a long body", 413, ("PUT", known, long)),
                    ("a long body of a DELETE", 413, ("DELETE", known, long)),
                    ("a long body of a GET", 413, ("GET", "/v1/groups", long)),
                    ("a long body of the root", 413, ("GET", "/", long, (), None)),
                    ("a long body of OPTIONS", 413, ("OPTIONS", known, long)),
                    ("a bad body", 400, ("PUT", known, b"{")),
                    ("bad members", 400, ("PUT", known + "/members", {"members": "nobody"})),
                    ("state", 409, ("DELETE", known))):
                self.expect("order: " + name, send(server.valet_port, *arguments), status)
            self.expect("the group exists", send(server.valet_port, "GET", known), 200)
            largest = json.dumps({"description": "x"}).encode()
            body = largest + b" " * (8 * 1024 * 1024 - len(largest))
            self.expect("a body of 8 MiB", send(server.valet_port, "PUT", known, body), 201)
            both = send(server.valet_port, "PUT", known, b"0\r\n\r\n", ("Transfer-Encoding: chunked",))
            self.case("two lengths", both.status == 400, both)

    def test_paths(self):
        with self.berth() as server:
            group = self.group(server, "g", [T1])
            self.must(server, 201, "PUT", f"/v1/groups/{group}/members", {"members": [T2]})
            plain = "a/b%2Fc"
            answer = send(server.valet_port, "PUT", f"/v1/groups/{group}/members", {"members": [plain]},
                          ("X-Project-Id: " + plain,))
            self.expect("a project with a slash", answer, 201)
            encoded = "".join(f"%{ord(letter):02x}" for letter in group)
            for name, status, path in (
                    ("encoded letters", 200, "/v1/groups/" + encoded), ("an encoded word", 200, "/v1/gr%6F%75ps"),
                    ("an encoded slash before", 404, "/v1%2fgroups"), ("an encoded slash between", 404, f"/v1/groups%2F{group}"),
                    ("a member, encoded", 204, f"/v1/groups/{group}/members/a%2fb%252Fc"),
                    ("a member, encoded once too often", 404, f"/v1/groups/{group}/members/a%2fb%25252Fc"),
                    ("a member, not encoded", 404, f"/v1/groups/{group}/members/a/b%252Fc"),
                    ("a slash at the end", 200, f"/v1/groups/{group}/"), ("two of them", 404, f"/v1/groups/{group}//"),
                    ("an encoded one", 404, f"/v1/groups/{group}%2F"), ("an empty id", 404, "/v1/groups//members"),
                    ("upper case", 404, f"/v1/groups/{group.upper()}" if group.upper() != group else "/v1/groups/X"),
                    ("upper case of a word", 404, "/v1/Groups"), ("a query", 200, "/v1/groups?name=x&limit=0"),
                    ("bytes that are no text", 404, "/v1/groups/%ff%fe"), ("a NUL", 404, "/v1/groups/%00"),
                    ("half an escape", 404, "/v1/groups/%4"), ("dots", 404, "/v1/status/../groups"),
                    ("whole URL", 200, "http://a/v1/groups")):
                self.expect("path: " + name, send(server.valet_port, "GET", path), status)
            self.expect("path: below a member", send(server.valet_port, "GET", f"/v1/groups/{group}/members/{T1}/x"), 404)
            versions = send(server.valet_port, "GET", "/", token=None).json
            self.case("a link's host", versions["versions"][0]["links"][0]["href"] == "http://a/v1/", versions)

    def test_limits(self):
        with self.berth() as server:
            port, group = server.valet_port, self.group(server, "g")
            for name, status, body in (
                    ("name 255", 201, {"name": "a" * 255, "type": "exclusivity"}),
                    ("name 256", 400, {"name": "a" * 256, "type": "exclusivity"}),
                    ("description 4096", 201, {"name": "b", "type": "exclusivity", "description": "é" * 4096}),
                    ("description 4097", 400, {"name": "c", "type": "exclusivity", "description": "é" * 4097}),
                    ("type 300", 400, {"name": "c", "type": "x" * 300})):
                self.expect(name, send(port, "POST", "/v1/groups", body), status)
            self.quotes_are_short(port)
            many = [f"{number:032x}" for number in range(10001)]
            at = f"/v1/groups/{group}/members"
            self.expect("10001 members", send(port, "PUT", at, {"members": many}), 400)
            self.expect("10001 times the same", send(port, "PUT", at, {"members": [T1] * 10001}), 400)
            self.expect("a member of 256", send(port, "PUT", at, {"members": ["é" * 256, 5]}), 400)
            self.expect("a member of 255", send(port, "PUT", at, {"members": ["é" * 255]}), 409)
            answer = self.expect("10000 members", send(port, "PUT", at, {"members": many[:-1]}), 201)
            self.case("10000 in their order", answer.json["members"] == many[:-1], answer)
            self.expect("one more", send(port, "PUT", at, {"members": many[-1:]}), 400)
            self.expect("no more", send(port, "PUT", at, {"members": many[:5]}), 201)
            others = [self.group(server, f"g{number}", many[:-1]) for number in range(2)]
            answer = self.expect("a long list", send(port, "GET", "/v1/groups"), 200)
            found = {one["id"]: len(one["members"]) for one in answer.json["groups"]}
            self.case("a long list is whole", [found[one] for one in (group, *others)] == [10000] * 3, found)
            self.expect("all go", send(port, "DELETE", at), 204)
            self.expect("and so can the group", send(port, "DELETE", f"/v1/groups/{group}"), 204)

    def quotes_are_short(self, port):
        """The error quotes long values of a body only partly, with both ends of the sentence."""
        answer = self.expect("a long id of no text", send(port, "GET", "/v1/plans/" + "%80" * 20000), 404)
        self.case("the quote is short, too", "..." in answer.explanation, answer)
        for letter in ("k", "é", "\U0001f600"):
            long = letter * 100000
            specs = {"vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {f"trait:{long}": "required"}}
            of_group = {"group_type": "affinity", "level": "host", "resources": [long]}
            for begins, ends, body in (
                    ("-> ", " is not known here", {long: 1}),
                    ("resources -> ", " -> type is missing", {"resources": {long: {}}}),
                    ("Valet error: ", " names no trait'", {"resources": {
                        "a": {"type": "OS::Nova::Server", "properties": {"flavor": specs}}}}),
                    ("Valet error: ", letter + "'", {"resources": {
                        "g": {"type": "OS::Valet::GroupAssignment", "properties": of_group}}})):
                asked = json.dumps({"plan_name": "p", "stack_id": "s", **body}, ensure_ascii=False).encode()
                answer = self.expect("a long text", send(port, "POST", "/v1/plans", asked), 400)
                explanation = answer.explanation
                self.case("the quote is short", len(answer.text) < 100000 and explanation.startswith(begins) and
                          explanation.endswith(ends) and f"{letter}...{letter}" in explanation,
                          f"{len(answer.text)} {explanation[:200]} {explanation[-200:]}")

    def test_use(self):
        """A member with something on a host of the group cannot be removed."""
        with self.berth() as server:
            port, group = server.valet_port, self.group(server, "g", [T1, T2])
            members = f"/v1/groups/{group}/members"
            dashed = str(uuid.UUID(T1))
            host = self.provider(server, 1, [group])
            child = self.provider(server, 2, parent_provider_uuid=host)
            free = self.provider(server, 3)
            consumer = str(uuid.uuid4())
            for name, provider, project, status in (("its own", host, T1, 409), ("in another form", host, dashed, 409),
                                                    ("a child's", child, T1, 409), ("elsewhere", free, T1, 204)):
                self.claim(server, consumer, provider, project)
                self.expect(f"in use: {name}: one", send(port, "DELETE", f"{members}/{T1}"), status)
                self.must(server, 201, "PUT", members, {"members": [T1]})
                self.expect(f"in use: {name}: all", send(port, "DELETE", members), status)
                shown = self.must(server, 200, "GET", f"/v1/groups/{group}")["group"]["members"]
                self.case(f"in use: {name}: all or nothing", sorted(shown) == (sorted([T1, T2]) if status == 409 else []), shown)
                self.must(server, 201, "PUT", members, {"members": [T1, T2]})
                self.placement(server, 204, "DELETE", f"/allocations/{consumer}")
            self.claim(server, consumer, host, T1)
            self.expect("in use: another member", send(port, "DELETE", f"{members}/{T2}"), 204)
            answer = send(port, "DELETE", f"{members}/{T1}")
            self.case("in use: where", "host1" in answer.explanation, answer)
            self.expect("in use: the group", send(port, "DELETE", f"/v1/groups/{group}"), 409)
            generation = self.placement(server, 200, "GET", f"/resource_providers/{host}/aggregates")
            self.placement(server, 200, "PUT", f"/resource_providers/{host}/aggregates", {
                "resource_provider_generation": generation["resource_provider_generation"], "aggregates": []})
            self.expect("no host of the group any more", send(port, "DELETE", f"{members}/{T1}"), 204)

    def test_aggregates(self):
        """Deleting a group removes its aggregate from every provider."""
        with self.berth() as server:
            group, other = self.group(server, "g"), str(uuid.uuid4())
            hosts = [self.provider(server, number, [group, other]) for number in range(1, 4)]
            apart = self.provider(server, 9, [other])

            def aggregates_of(host):
                answer = self.placement(server, 200, "GET", f"/resource_providers/{host}/aggregates")
                return answer["resource_provider_generation"], sorted(answer["aggregates"])

            before = [aggregates_of(host) for host in [*hosts, apart]]
            self.case("before", before[0] == (2, sorted([group, other])), before)
            self.expect("delete", send(server.valet_port, "DELETE", f"/v1/groups/{group}"), 204)
            after = [aggregates_of(host) for host in [*hosts, apart]]
            self.case("after", after == [(3, [other])] * 3 + [before[3]], after)
            status, answer = server.client().ask("GET", f"/resource_providers?member_of={group}")
            self.case("no provider is in it", status == 200 and not answer["resource_providers"], answer)

    def test_racks(self):
        """The hosts of a rack that the group has claimed are the group's."""
        with self.berth() as server:
            group, rack_aggregate = self.group(server, "g", [T1]), str(uuid.uuid4())
            self.provider(server, 7, [rack_aggregate], traits=["CUSTOM_VALET_RACK"])
            host = self.provider(server, 1, [rack_aggregate])
            self.claim(server, str(uuid.uuid4()), host, T1)
            rack = str(uuid.UUID(int=(1 << 100) + 7))
            with contextlib.closing(sqlite3.connect(server.database)) as file, file:
                number, = file.execute("SELECT id FROM berth_valet_groups WHERE uuid = ?", (group,)).fetchone()
                file.execute("INSERT INTO berth_valet_claims (group_id, provider_uuid, is_rack) VALUES (?, ?, 1)", (number, rack))
            self.expect("a rack's host", send(server.valet_port, "DELETE", f"/v1/groups/{group}/members/{T1}"), 409)
            with contextlib.closing(sqlite3.connect(server.database)) as file, file:
                file.execute("DELETE FROM berth_valet_claims")
            self.expect("an unclaimed rack", send(server.valet_port, "DELETE", f"/v1/groups/{group}/members/{T1}"), 204)
            with contextlib.closing(sqlite3.connect(server.database)) as file, file:
                file.execute("INSERT INTO berth_valet_claims (group_id, provider_uuid, is_rack) VALUES (?, ?, 1)", (number, rack))
            self.expect("the group goes", send(server.valet_port, "DELETE", f"/v1/groups/{group}"), 204)
            with contextlib.closing(sqlite3.connect(server.database)) as file:
                left = file.execute("SELECT count(*) FROM berth_valet_claims").fetchone()[0]
            self.case("with its claims", left == 0, left)

    def test_status(self):
        """The request itself reads the database; if it does not answer, that is reported within two seconds."""
        with self.berth() as server:
            port = server.valet_port
            for _ in range(30):  # as soon as it is missing
                self.expect("status", send(port, "GET", "/v1/status"), 200)
            away = server.database + "-away"
            os.rename(server.database, away)
            answer = self.expect("gone", send(port, "GET", "/v1/status"), 500)
            self.case("missing file: the error names it", answer.explanation == "Not working: store", answer)
            head = send(port, "HEAD", "/v1/status")
            self.case("gone: HEAD", head.status == 500 and not head.text, head)
            self.expect("gone: groups", send(port, "GET", "/v1/groups"), 500)
            self.expect("missing file: an unknown method", send(port, "PUT", "/v1/groups"), 405)
            self.expect("gone: OPTIONS", send(port, "OPTIONS", "/v1/groups"), 204)
            os.rename(away, server.database)
            self.expect("back", send(port, "GET", "/v1/status"), 200)
            self.others_at_it(server)

    def others_at_it(self, server):
        port = server.valet_port
        with contextlib.closing(sqlite3.connect(server.database, isolation_level=None)) as file:
            file.execute("BEGIN IMMEDIATE")
            writer = threading.Thread(target=lambda: send(port, "POST", "/v1/groups", {"name": "w", "type": "exclusivity"}))
            writer.start()
            time.sleep(0.3)
            began = time.monotonic()
            self.expect("another process writes", send(port, "GET", "/v1/status"), 200)
            self.case("another process writes: at once", time.monotonic() - began < 2, time.monotonic() - began)
            file.execute("ROLLBACK")
            writer.join()
        # An unreadable file replaces it; a writer that is blocked completely is covered by unit tests.
        os.rename(server.database, server.database + "-away")
        os.mkfifo(server.database)
        began = time.monotonic()
        answers = []
        askers = [threading.Thread(target=lambda: answers.append(send(port, "GET", "/v1/status"))) for _ in range(8)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        lasted = time.monotonic() - began
        self.case("no file", [answer.status for answer in answers] == [500] * 8, answers)
        self.case("no file: within two seconds", lasted < 2, lasted)
        os.remove(server.database)
        os.rename(server.database + "-away", server.database)

    def test_projects(self):
        """Without Keystone every well-formed project is valid, and the caller's own."""
        with self.berth() as server:
            at = f"/v1/groups/{self.group(server, 'g')}/members"
            for member, status in ((T1, 201), (T1.upper(), 201), (str(uuid.UUID(T1)), 201), ("{" + T1 + "}", 409),
                                   ("urn:uuid:" + str(uuid.UUID(T1)), 409), (T1[:-1], 409), (T1 + "0", 409),
                                   (T1[:-1] + "g", 409), (str(uuid.UUID(T1)).replace("-", "_"), 409), ("admin", 201),
                                   ("Admin", 409), (" " + T1, 409)):
                self.expect(f"member {member}", send(server.valet_port, "PUT", at, {"members": [T2, member]}), status)
            shown = send(server.valet_port, "GET", at[:-len("/members")]).json["group"]["members"]
            self.case("each once, as first sent, newest first", shown == ["admin", T2, T1], shown)

    def test_addresses(self):
        """--valet-listen, [valet] enabled, and addresses in use."""
        with self.berth() as server:
            out = open(os.path.join(server.directory, server.id + ".out")).read()
            self.case("ready", out.startswith(f"berthd: ready http://127.0.0.1:{server.port} valet "
                                              f"http://127.0.0.1:{server.valet_port}\n"), out)
            shut = self.complain(server, f"--valet-listen=127.0.0.1:{server.valet_port}")
            self.case("taken by another", str(server.valet_port) in shut, shut)
        port = servers.free_port()
        directory = tempfile.mkdtemp(dir=self.directory)
        lines = ["[valet]", "enabled = true", f"listen = 127.0.0.1:{port}", "prefix = /valet", "default_zone = z"]
        with servers.Berthd(self.program, directory, options=lines) as server:
            self.expect("enabled", send(port, "GET", "/valet/v1/groups"), 200)
            same = f"127.0.0.1:{servers.free_port()}"
            shut = self.complain(server, f"--listen={same}", f"--valet-listen={same}")
            self.case("taken by ourselves", "the Placement API already listens there" in shut and "the Valet API cannot" in shut, shut)
        lines = ["[valet]", "enabled = true", f"listen = 0.0.0.0:{port}"]
        with servers.Berthd(self.program, tempfile.mkdtemp(dir=self.directory), options=lines) as server:
            self.case("open to others", len(re.findall("WARNING .*noauth2.*0.0.0.0", server.log())) == 1, server.log())
        with servers.Berthd(self.program, directory, port=servers.free_port()) as server:
            out = open(os.path.join(server.directory, server.id + ".out")).read()
            self.case("not served", "valet" not in out, out)
            for section, words_of in (("default_zone =", "the name of an availability zone"),
                                      ("step_limit = 0", "step_limit"), ("max_servers = many", "max_servers"),
                                      ("enabled = true\nlisten = nowhere", "listen")):
                path = os.path.join(directory, "bad.conf")
                with open(server.config_file) as file, open(path, "w") as bad:
                    bad.write(file.read() + "[valet]\n" + section + "\n")
                shut = self.complain(server, "--config-file", path)
                self.case(f"refused: {section}", words_of in shut, shut)

    def complain(self, server, *arguments):
        """The error of a berthd that cannot start with these arguments."""
        done = subprocess.run([self.program, "--config-file", server.config_file, "--listen", "127.0.0.1:0", *arguments],
                              capture_output=True, text=True, timeout=30)
        return done.stderr if done.returncode == 1 else f"ended with {done.returncode}"

    def test_restart(self):
        """Acknowledged writes are there after a kill."""
        with self.berth() as server:
            groups = [self.group(server, f"g{number}", [T2, T1]) for number in range(3)]
            for group in groups:
                self.must(server, 201, "PUT", f"/v1/groups/{group}/members", {"members": [T3]})
            self.must(server, 201, "PUT", f"/v1/groups/{groups[1]}", {"description": "second\0 é"})
            before = self.must(server, 200, "GET", "/v1/groups")
            server.kill()
            server.start()
            after = self.must(server, 200, "GET", "/v1/groups")
            self.case("the same after a kill", before == after and len(after["groups"]) == 3, after)
            self.case("newest first", after["groups"][0]["members"] == [T3, T2, T1], after)


PARTS = [name.removeprefix("test_") for name in vars(Tests) if name.startswith("test_")]


if __name__ == "__main__":
    sys.exit(parts.play(Tests, PARTS, __doc__))
