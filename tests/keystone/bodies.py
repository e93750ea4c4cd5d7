"""Large bodies during queries to Keystone: none is read before its token is known, and each is complete afterwards,
even if a handler queries Keystone itself and is run again."""

import contextlib
import json
import re
import select
import socket
import threading
import time
import urllib.request

import case
import fake as fakes
from case import ask, expect, must, servers

MIB = 1 << 20
BODY = 15 * MIB
LESS = 512 << 10  # which every API accepts
MOST_UNREAD = 9 * MIB  # what the kernel may buffer of it on loopback
PROJECTS = [f"{number:032x}" for number in range(0xb7d0, 0xb7d0 + 20)]


def padded(value, size):
    """JSON of that many bytes."""
    text = json.dumps(value).encode()
    return text + b" " * (size - len(text))


def json_of(got):
    return json.loads(got.rpartition(b"\r\n\r\n")[2])


class Held:
    """Some of Keystone's answers wait for go_on()."""

    def __init__(self, keystone, is_held):
        self.begun, self.over = threading.Event(), threading.Event()
        self.is_held = is_held
        keystone.odd = self.hold

    def hold(self, handler, query):
        if self.is_held(query):
            self.begun.set()
            self.over.wait(60)
        return False

    def await_query(self, who="berthd"):
        expect(self.begun.wait(30), f"{who} does not query Keystone")

    def go_on(self):
        self.over.set()


class Sender:
    """A request whose body is sent as far as the server reads it."""

    def __init__(self, port, method, path, token, body, *lines):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=60)
        head = [f"{method} {path} HTTP/1.1", "Host: x", f"X-Auth-Token: {token}", "Connection: close",
                "Content-Type: application/json", "OpenStack-API-Version: placement 1.39", f"Content-Length: {len(body)}",
                *lines]
        self.sock.sendall("\r\n".join(head).encode() + b"\r\n\r\n")
        self.left = memoryview(body)

    def send_until_stuck(self, quiet_s=0.5):
        """How much was read once nothing more is read for that time."""
        whole = len(self.left)
        self.sock.setblocking(False)
        while len(self.left) > 0 and select.select([], [self.sock], [], quiet_s)[1]:
            try:
                self.left = self.left[self.sock.send(self.left[:65536]):]
            except BlockingIOError:
                continue
        self.sock.settimeout(60)
        return whole - len(self.left)

    def has_answer(self):
        return bool(select.select([self.sock], [], [], 0)[0])

    def finish(self):
        """Sends the rest; returns (status, all received bytes)."""
        with contextlib.suppress(ConnectionError):
            self.sock.sendall(self.left)
        got = b""
        with contextlib.suppress(ConnectionError):
            while piece := self.sock.recv(65536):
                got += piece
        self.sock.close()
        last = got[got.rindex(b"HTTP/1.1 "):] if got else b""
        return int(last.split()[1]) if last else None, got


def memory_of_bodies(server):
    """The memory charged for large bodies now."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.admin_port}/metrics", timeout=30) as answer:
        return int(re.search(r"^berth_http_request_body_bytes (\d+)$", answer.read().decode(), re.M)[1])


def await_no_memory(server):
    """The end of an answer may arrive before its memory is free."""
    end = time.monotonic() + 20
    while memory_of_bodies(server) != 0:
        expect(time.monotonic() < end, f"{memory_of_bodies(server)} bytes are kept")
        time.sleep(0.02)


class Bodies(case.Case):
    """Bodies after a token that is not known yet."""

    def _start(self, keystone, **more):
        port = servers.free_port()
        server = self._berthd(keystone, berth=[f"admin_listen = 127.0.0.1:{port}"], **more)
        server.admin_port, server.valet_port, server.baremetal_port = port, servers.free_port(), servers.free_port()
        return server

    def large_body_waits(self):
        """The body is read once the token is known, not before, and is complete."""
        keystone = fakes.FakeKeystone()
        keystone.add("late")
        held = Held(keystone, lambda query: query.is_validation and query.token == "late")
        with self._start(keystone) as server:
            sender = Sender(server.port, "POST", "/resource_providers", "late", padded({"name": "large"}, BODY))
            held.await_query()
            taken = sender.send_until_stuck()
            expect(taken < MOST_UNREAD, f"{taken} bytes are read for an unknown token")
            expect(not sender.has_answer(), "an answer before Keystone's")
            expect(memory_of_bodies(server) == 0, "memory is taken before the token is known")
            patient = Sender(server.port, "POST", "/resource_providers", "late", padded({"name": "patient"}, 1 * MIB),
                             "Expect: 100-continue")
            time.sleep(0.3)
            expect(not patient.has_answer(), "the body is requested before Keystone has answered")
            held.go_on()
            status, got = sender.finish()
            expect(status == 200, (status, got[:500]))
            expect(select.select([patient.sock], [], [], 30)[0], "100 Continue")
            status, got = patient.finish()
            expect(status == 200 and got.startswith(b"HTTP/1.1 100 "), (status, got[:500]))
            half = Sender(server.port, "POST", "/resource_providers", "late", padded({"name": "half"}, BODY))
            half.left = half.left[:MIB]
            expect(half.send_until_stuck(0.1) == MIB, "a body of a known token is not read")
            deadline = time.monotonic() + 30
            while memory_of_bodies(server) < MIB and time.monotonic() < deadline:
                time.sleep(0.05)
            expect(memory_of_bodies(server) >= MIB, "nothing is charged for what comes")
            half.sock.close()
            await_no_memory(server)
            found = must(server, 200, "late", path="/resource_providers")[1]["resource_providers"]
            expect(sorted(one["name"] for one in found) == ["large", "patient"], found)
            expect(len(keystone.validations("late")) == 1, "Keystone is queried again")
            await_no_memory(server)
            expect(server.stop() == 0, "exit status")
        keystone.stop()

    def large_body_of_nobody(self):
        """The body is not kept: it is refused once Keystone has answered; 503 if Keystone is unavailable."""
        keystone = fakes.FakeKeystone()
        held = Held(keystone, lambda query: query.is_validation)
        with self._start(keystone, http_request_max_retries=0) as server:
            senders = [Sender(server.port, "POST", "/resource_providers", "unknown", padded({"name": f"n{number}"}, BODY))
                       for number in range(4)]
            held.await_query()
            for sender in senders:
                taken = sender.send_until_stuck(0.2)
                expect(taken < MOST_UNREAD, f"{taken} bytes are read")
            held.go_on()
            for sender in senders:
                status, got = sender.finish()
                expect(status == 401, (status, got[:500]))
            keystone.stop()
            sender = Sender(server.port, "POST", "/resource_providers", "another", padded({"name": "n"}, BODY))
            sender.send_until_stuck(0.2)
            status, got = sender.finish()
            expect(status == 503, (status, got[:500]))
            keystone.start()
            keystone.add("good")
            case.soon(server, 200, "good")
            expect(ask(server, "good", "/resource_providers")[1] == {"resource_providers": []}, "something was written")
            await_no_memory(server)
            expect(server.stop() == 0, "exit status")

    def large_body_of_refused(self):
        """In each API: once Keystone has refused the token, the body is read and discarded."""
        keystone = fakes.FakeKeystone()
        with self._start(keystone) as server:
            for metal_api, port, path in (("placement", server.port, "/resource_providers"),
                                     ("bare metal", server.baremetal_port, "/v1/nodes"),
                                     ("Valet", server.valet_port, "/v1/groups")):
                held = Held(keystone, lambda query: query.is_validation)
                sender = Sender(port, "POST", path, f"refused-at-{port}", padded({"name": "g", "type": "exclusivity"}, LESS))
                held.await_query(f"the {metal_api} API")
                last, sender.left = sender.left[-1:], sender.left[:-1]
                expect(sender.send_until_stuck(0.2) == LESS - 1, f"{metal_api}: the kernel does not take a body of {LESS} bytes")
                expect(memory_of_bodies(server) == 0, f"{metal_api}: memory is taken before the token is known")
                held.go_on()
                time.sleep(0.3)
                expect(memory_of_bodies(server) == 0, f"{metal_api}: {memory_of_bodies(server)} bytes are kept")
                expect(not sender.has_answer(), f"{metal_api}: an answer before the body's end")
                sender.left = last
                status, got = sender.finish()
                expect(status == 401, (metal_api, status, got[:500]))
                keystone.odd = None
            expect(server.stop() == 0, "exit status")
        keystone.stop()

    def large_body_of_members(self):
        """The handler runs again once Keystone has answered which projects exist; it reads the same body."""
        keystone = fakes.FakeKeystone()
        keystone.add("admin")
        keystone.projects.update(PROJECTS)
        with self._start(keystone) as server:
            status, got = self._send(server, "POST", "/v1/groups", {"name": "g", "type": "exclusivity"})
            expect(status == 201, got)
            path = f"/v1/groups/{json_of(got)['id']}/members"
            held = Held(keystone, lambda query: query.is_about_project)
            sender = Sender(server.valet_port, "PUT", path, "admin", padded({"members": PROJECTS}, MIB))
            expect(sender.send_until_stuck() == MIB, "a body of a good token is not read")
            held.await_query()
            expect(not sender.has_answer(), "an answer before Keystone's")
            held.go_on()
            status, got = sender.finish()
            expect(status == 201, (status, got[:500]))
            expect(sorted(json_of(got)["members"]) == PROJECTS, got)
            keystone.odd = None
            status, got = self._send(server, "PUT", path, {"members": ["f" * 32]}, MIB)
            expect(status == 409, (status, got[:500]))
            keystone.odd = lambda handler, query: query.is_about_project and keystone.answer_error(
                handler, 500, "odd") is None
            status, got = self._send(server, "PUT", path, {"members": ["e" * 32]}, MIB)
            expect(status == 503, (status, got[:500]))
            await_no_memory(server)
            expect(server.stop() == 0, "exit status")
        keystone.stop()

    def _send(self, server, method, path, value, size=0):
        return Sender(server.valet_port, method, path, "admin", padded(value, size)).finish()
