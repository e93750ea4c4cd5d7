"""Members of groups are projects that Keystone knows: additions while it is unavailable, slow or refuses."""

import http.client
import json
import time

import case
import fake as fakes
from case import count_logged, expect, servers

KNOWN = "b7d0e9b175294b649464caa3411adb3f"


class Tenants(case.Case):
    """The Valet API's queries about projects."""

    def _valet(self, keystone, **more):
        server = self._berthd(keystone, **more)
        server.valet_port = servers.free_port()
        return server

    def _ask(self, server, method, path, body=None, token="admin"):
        connection = http.client.HTTPConnection("127.0.0.1", server.valet_port, timeout=90)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"x-auth-token": token})
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if text and answer.status != 401 else text
        finally:
            connection.close()

    def _add(self, server, group, *members, status):
        got = self._ask(server, "PUT", f"/v1/groups/{group}/members", {"members": members})
        expect(got[0] == status, f"{got[0]} instead of {status}: {got[1]}")
        if status == 503:
            expect(got[1]["title"] == "Service Unavailable" and got[1]["error"]["type"] == "HTTPServiceUnavailable", got[1])
        return got[1]

    def _group(self, server):
        status, body = self._ask(server, "POST", "/v1/groups", {"name": "g", "type": "exclusivity"})
        expect(status == 201, body)
        return body["id"]

    def _keystone(self, *projects):
        keystone = fakes.FakeKeystone()
        keystone.add("admin")
        keystone.projects.update(projects)
        return keystone

    def projects_unavailable(self):
        """503 and nothing is added; cached tokens remain valid."""
        keystone = self._keystone(KNOWN)
        with self._valet(keystone, http_request_max_retries=0) as server:
            group = self._group(server)
            self._add(server, group, KNOWN, status=201)
            keystone.stop()
            self._add(server, group, KNOWN, status=503)
            expect(self._add(server, group, status=201)["members"] == [KNOWN], "no member was added")
            keystone.start()
            end = time.monotonic() + 20
            while self._ask(server, "PUT", f"/v1/groups/{group}/members", {"members": [KNOWN]})[0] != 201:
                expect(time.monotonic() < end, "not within 20 s")
                time.sleep(0.1)
        keystone.stop()

    def projects_forbidden(self):
        """A service user without permission for these queries: 503, with a log line; tokens are still validated."""
        keystone = self._keystone(KNOWN)
        keystone.odd = lambda handler, query: query.is_about_project and keystone.answer_error(
            handler, 403, "You are not authorized to perform the requested action.") is None
        with self._valet(keystone) as server:
            group = self._group(server)
            self._add(server, group, KNOWN, status=503)
            expect(count_logged(server, "WARNING berth.keystone .*HTTP 403 to a query about a project: the service user") == 1,
                   server.log())
            expect(count_logged(server, "503 from now on") == 0, server.log())
            keystone.add("another")
            expect(self._ask(server, "GET", "/v1/groups", token="another")[0] == 200, "tokens")
        keystone.stop()

    def projects_slow(self):
        """Other requests do not wait for a query about a project, and no request waits longer than the timeout."""
        keystone = self._keystone(KNOWN)
        keystone.odd = lambda handler, query: query.is_about_project and time.sleep(5) is None
        with self._valet(keystone, http_connect_timeout=1, http_request_max_retries=0) as server:
            group = self._group(server)
            began = time.monotonic()
            self._add(server, group, KNOWN, *(f"{number:032x}" for number in range(40)), status=503)
            took = time.monotonic() - began
            expect(0.8 < took < 4, f"{took:.1f} s")
            began = time.monotonic()
            expect(self._ask(server, "GET", "/v1/groups")[0] == 200, "groups")
            expect(time.monotonic() - began < 1, "a list waits")
        keystone.stop()

    def projects_own_token_expires(self):
        """The service's token has become invalid: it logs in again, and the query is answered."""
        keystone = self._keystone(KNOWN)
        with self._valet(keystone) as server:
            group = self._group(server)
            keystone.forget_own()
            self._add(server, group, KNOWN, status=201)
            expect(keystone.login_count() == 2, keystone.login_count())
        keystone.stop()

    def projects_many(self):
        """Hundreds at once, some of them twice; one that does not exist makes the whole request fail."""
        many = [f"{number:032x}" for number in range(300)]
        keystone = self._keystone(*many)
        with self._valet(keystone) as server:
            group = self._group(server)
            got = self._add(server, group, *many, "x", status=409)
            expect(got["explanation"] == "There is no tenant x", got)
            expect(keystone.most_running <= 16, keystone.most_running)
            expect(self._add(server, group, *many, *many[:9], status=201)["members"] == many, "all in their order")
        keystone.stop()

    def projects_stop(self):
        """SIGTERM during a query to Keystone: the request is answered, then berthd ends."""
        keystone = self._keystone(KNOWN)
        with self._valet(keystone) as server:
            group = self._group(server)
            keystone.odd = lambda handler, query: query.is_about_project and time.sleep(60) is None
            connection = http.client.HTTPConnection("127.0.0.1", server.valet_port, timeout=60)
            connection.request("PUT", f"/v1/groups/{group}/members", json.dumps({"members": [KNOWN] * 30}),
                               {"x-auth-token": "admin"})
            end = time.monotonic() + 20
            while not any(query.is_about_project for query in keystone.queries):
                expect(time.monotonic() < end, "Keystone is not queried")
                time.sleep(0.05)
            expect(server.stop() == 0, "exit status")
            expect(connection.getresponse().status == 503, "the answer")
        keystone.odd = None
        keystone.stop()
