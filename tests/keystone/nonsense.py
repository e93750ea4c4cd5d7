"""Keystone sends invalid answers; it is another server; it refuses the service."""

import concurrent.futures
import json
import os
import time

import case
import fake as fakes
from case import count_logged, expect, must, soon
from certificates import Certificates


class Nonsense(case.Case):
    """Answers, certificates, and the service's own login."""

    def nonsense(self):
        """Every invalid answer causes a 503, and is not cached."""
        keystone = fakes.FakeKeystone()
        answer, body = keystone.answer, {"token": fakes.token_body()}
        text = json.dumps(body).encode()
        kinds = {
            "HTML": lambda handler: answer(handler, 200, b"<html>hello</html>", kind="text/html"),
            "nothing": lambda handler: answer(handler, 200, b""),
            "204": lambda handler: answer(handler, 204, b""),
            "a list": lambda handler: answer(handler, 200, [body]),
            "no token": lambda handler: answer(handler, 200, {"a": 1}),
            "a token of version 2": lambda handler: answer(handler, 200, {"access": {"token": {"id": "x"}}}),
            "cut JSON": lambda handler: answer(handler, 200, text[:-20]),
            "no user": lambda handler: answer(handler, 200, {"token": {"expires_at": fakes.stamp(60)}}),
            "no expiry": lambda handler: answer(handler, 200, {"token": {"user": {"id": "u"}}}),
            "deep": lambda handler: answer(handler, 200, b"[" * 100000),
            "huge": lambda handler: answer(handler, 200, text + b" " * (3 << 20)),
            "a redirect": lambda handler: answer(handler, 302, b"", ("Location", keystone.url + "/elsewhere")),
            "a permanent redirect": lambda handler: answer(handler, 308, b"", ("Location", keystone.url + "/elsewhere")),
            "300": lambda handler: answer(handler, 300, body),
            "400": lambda handler: answer(handler, 400, {}),
            "403": lambda handler: answer(handler, 403, {}),
            "500": lambda handler: answer(handler, 500, {}),
            "503": lambda handler: answer(handler, 503, {}),
            "no HTTP": lambda handler: handler.wfile.write(b"hello\r\n\r\n") and keystone.cut(handler),
            "a status of 0": lambda handler: handler.wfile.write(b"HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n") and
                keystone.cut(handler),
            "headers for ever": lambda handler: handler.wfile.write(
                b"HTTP/1.1 200 OK\r\n" + b"X-Y: " + b"y" * 60000 + b"\r\n" * 1 + b"X-Z: " + b"z" * 400000 + b"\r\n\r\n"),
        }
        with self._berthd(keystone, http_request_max_retries=0, http_connect_timeout=5) as server:
            keystone.add("known")
            must(server, 200, "known")
            for name, act in kinds.items():
                keystone.odd = lambda handler, query: query.is_validation and (act(handler), True)[1]
                keystone.add("t-" + name.replace(" ", "-"))
                try:
                    must(server, 503, "t-" + name.replace(" ", "-"))
                except AssertionError as problem:
                    raise AssertionError(f"{name}: {problem}") from problem
                keystone.odd = None
                must(server, 200, "t-" + name.replace(" ", "-"))
            expect(not any(query.path == "/elsewhere" for query in keystone.queries), "a redirect was followed")
            keystone.odd = lambda handler, query: answer(handler, 404, b"<html>", kind="text/html") is None
            must(server, 401, "gone")
            keystone.odd = None
        keystone.stop()

    def endless(self):
        """An endless answer is aborted once it is too large, long before the timeout."""
        keystone = fakes.FakeKeystone()
        keystone.add("known")
        header = b"X-Y: " + b"y" * 50 + b"\r\n"
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        kinds = {
            "headers": (b"HTTP/1.1 200 OK\r\n", header),
            "answers to come": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            "chunks": (chunked, b"10\r\n" + b" " * 16 + b"\r\n"),
            "trailers": (chunked + b"0\r\n", header),
            "a body of no length": (b"HTTP/1.1 200 OK\r\n\r\n", b" " * 20),
        }

        def pour(handler, begin, more):
            handler.wfile.write(begin)
            while True:  # until berth closes the connection
                handler.wfile.write(more * 100)

        with self._berthd(keystone, http_request_max_retries=0, http_connect_timeout=40) as server:
            must(server, 200, "known")
            for name, (begin, more) in kinds.items():
                keystone.odd = lambda handler, query: query.is_validation and pour(handler, begin, more)
                took = must(server, 503, "t-" + name.replace(" ", "-"))[3]
                expect(took < 20, f"{name}: {took:.1f} s")
                keystone.odd = None
                must(server, 401, "u-" + name.replace(" ", "-"))
        keystone.stop()

    def nonsense_at_login(self):
        """The same for the service's own login and for the discovery of version 3."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        answer = keystone.answer
        login = {"token": {**fakes.token_body(), "catalog": keystone.catalog()}}
        own = ("X-Subject-Token", "own")
        kinds = {
            "login: HTML": ("is_login", lambda handler: answer(handler, 201, b"<html>", own)),
            "login: no token header": ("is_login", lambda handler: answer(handler, 201, login)),
            "login: no token": ("is_login", lambda handler: answer(handler, 201, {}, own)),
            "login: no catalog": ("is_login", lambda handler: answer(handler, 201, {"token": fakes.token_body()}, own)),
            "login: a long token": ("is_login", lambda handler: answer(
                handler, 201, login, ("X-Subject-Token", "x" * 9000))),
            "login: 500": ("is_login", lambda handler: answer(handler, 500, {})),
            "login: 404": ("is_login", lambda handler: answer(handler, 404, {})),
            "login: 302": ("is_login", lambda handler: answer(handler, 302, b"", ("Location", keystone.url))),
            "versions: HTML": ("is_document", lambda handler: answer(handler, 200, b"<html>")),
            "versions: none": ("is_document", lambda handler: answer(handler, 200, {"versions": {"values": []}})),
            "versions: 500": ("is_document", lambda handler: answer(handler, 500, {})),
            "versions: only 2": ("is_document", lambda handler: answer(handler, 200, {"version": {
                "id": "v2.0", "status": "stable", "links": [{"rel": "self", "href": keystone.url + "/v2.0/"}]}})),
        }
        for name, (which, act) in kinds.items():
            def odd(handler, query):
                is_it = query.path == "/" if which == "is_document" else getattr(query, which)
                return is_it and (act(handler), True)[1]

            keystone.odd = odd
            with self._berthd(keystone, http_connect_timeout=5) as server:
                try:
                    must(server, 503, "good")
                    keystone.odd = None
                    soon(server, 200, "good")
                except AssertionError as problem:
                    raise AssertionError(f"{name}: {problem} {server.log()[-500:]}") from problem
        keystone.stop()

    def versions_below_a_version(self):
        """An auth_url that names version 3 is used even if it cannot be discovered; an endpoint without a version must
        list it."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        for status in (404, 500):
            seen = []
            keystone.odd = lambda handler, query: query.path == "/v3" and (
                seen.append(query), keystone.answer(handler, status, {}), True)[2]
            with self._berthd(keystone, auth_url=keystone.url + "/v3") as server:
                must(server, 200, "good")
            expect(len(seen) == 1, f"{status}: {seen}")
        keystone.endpoints = [("internal", "RegionOne", keystone.url)]
        for name, answer, told in (("HTML", (200, b"<html>"), "HTTP 200"), ("500", (500, {}), "HTTP 500")):
            keystone.odd = lambda handler, query: query.path == "/" and keystone.answer(handler, *answer) is None
            with self._berthd(keystone, auth_url=keystone.url + "/v3", auth_type="v3password") as server:
                must(server, 503, "good")
                expect(f"the catalog's {keystone.url} lists no version 3 of Keystone: {told}\n" in server.log(),
                       f"{name}: {server.log()[-500:]}")
                keystone.odd = None
                soon(server, 200, "good")
        keystone.stop()

    def rules_without_a_service(self):
        """Without any service_type no token with access rules is accepted, so Keystone is not queried for its catalog."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        keystone.add("restricted", application_credential={"id": "a", "access_rules": [
            {"id": "r", "service": "placement", "method": "GET", "path": "/traits"}]})
        with self._berthd(keystone, berth=["[baremetal]", "service_type =", "[valet]", "service_type ="]) as server:
            must(server, 401, "restricted")
            must(server, 200, "good")
        paths = [query.path for query in keystone.queries if query.is_validation]
        expect(len(paths) == 2 and all(path.endswith("?nocatalog") for path in paths), paths)
        keystone.stop()

    def endpoints(self):
        """Keystone's endpoint: by interface and region, with a version or without, below a path."""
        keystone = fakes.FakeKeystone(prefix="/identity")
        keystone.add("good")
        elsewhere = "http://127.0.0.1:1/v3"
        url = keystone.url
        for endpoints, more, status in (
                ([("internal", "One", url + "/v3")], {}, 200),
                ([("internal", "One", url)], {}, 200),
                ([("internal", "One", url + "/")], {"auth_url": url + "/"}, 200),
                ([("internal", "One", url + "/v2.0")], {"auth_url": url + "/v3", "auth_type": "v3password"}, 200),
                ([("public", "One", elsewhere), ("internal", "One", url + "/v3/")], {}, 200),
                ([("public", "One", url + "/v3"), ("internal", "One", elsewhere)], {"interface": "publicURL"}, 200),
                ([("internal", "One", elsewhere), ("internal", "Two", url + "/v3")], {"region_name": "Two"}, 200),
                ([("internal", "One", elsewhere)], {}, 503),
                ([("public", "One", url + "/v3")], {}, 503),
                ([], {}, 503)):
            keystone.endpoints = endpoints
            with self._berthd(keystone, http_request_max_retries=0, **more) as server:
                try:
                    must(server, status, "good")
                except AssertionError as problem:
                    raise AssertionError(f"{endpoints} {more}: {problem} {server.log()[-300:]}") from problem
        keystone.stop()

    def own_credentials(self):
        """Refused: 503, few attempts, and a log line. Once accepted: no restart is needed."""
        keystone = fakes.FakeKeystone()
        keystone.own_refused = True
        keystone.add("good")
        with self._berthd(keystone) as server:
            for _ in range(20):
                must(server, 503, "good")
            logins = sum(query.is_login for query in keystone.queries)
            expect(logins <= 2, f"{logins} logins")
            expect(count_logged(server, "Keystone refused the service's own login: HTTP 401") == 1, server.log())
            keystone.own_refused = False
            soon(server, 200, "good")
        keystone.stop()

    def own_token_expires(self):
        """A new one is fetched in time, and no more often than necessary."""
        keystone = fakes.FakeKeystone()
        keystone.own_lives = 4
        with self._berthd(keystone, token_cache_time=-1) as server:
            keystone.add("good")
            end = time.monotonic() + 9
            while time.monotonic() < end:
                must(server, 200, "good")
                time.sleep(0.02)
            expect(3 <= keystone.login_count() <= 8, f"{keystone.login_count()} logins")
        keystone.stop()

    def own_token_revoked(self):
        """Keystone forgets it: one more login, and no client notices."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        with self._berthd(keystone, token_cache_time=-1) as server:
            must(server, 200, "good")
            keystone.forget_own()
            with concurrent.futures.ThreadPoolExecutor(10) as pool:
                for one in [pool.submit(must, server, 200, "good") for _ in range(20)]:
                    one.result()
            expect(keystone.login_count() == 2, f"{keystone.login_count()} logins")
        keystone.stop()

    def admin_token(self):
        """A fixed token of the service: no login, no catalog."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        keystone.own_tokens["fixed"] = time.monotonic() + 3600
        with self._berthd(keystone, auth_type="admin_token", endpoint=keystone.url + "/v3", token="fixed") as server:
            must(server, 200, "good")
            expect(keystone.login_count() == 0, "a login")
        keystone.stop()

    def certificates(self):
        """Only a Keystone with a certificate from the CA is trusted; insecure trusts every server."""
        made = Certificates(os.path.join(self.directory, "certificates"))
        keystone = fakes.FakeKeystone(certificate=made.good, key=made.good_key)
        keystone.add("good")
        with self._berthd(keystone, cafile=made.ca) as server:
            must(server, 200, "good")
        with self._berthd(keystone, cafile=made.ca_directory) as server:
            must(server, 200, "good")
        with self._berthd(keystone, cafile=made.other_ca) as server:
            must(server, 503, "good")
            expect(count_logged(server, "503 from now on: .*certificate") == 1, server.log())
        with self._berthd(keystone) as server:  # the system's CAs
            must(server, 503, "good")
        with self._berthd(keystone, insecure="true") as server:
            must(server, 200, "good")
            expect(count_logged(server, "WARNING berth.keystone .*insecure") == 1, server.log())
        keystone.stop()
        keystone = fakes.FakeKeystone(certificate=made.other_name, key=made.other_name_key)
        keystone.add("good")
        with self._berthd(keystone, cafile=made.ca) as server:  # from the CA, for another name
            must(server, 503, "good")
        keystone.stop()
        keystone = fakes.FakeKeystone(certificate=made.good, key=made.good_key, client_ca=made.ca)
        keystone.add("good")
        with self._berthd(keystone, cafile=made.ca, certfile=made.client, keyfile=made.client_key) as server:
            must(server, 200, "good")
        with self._berthd(keystone, cafile=made.ca, certfile=made.client_both) as server:
            must(server, 200, "good")
        with self._berthd(keystone, cafile=made.ca, http_request_max_retries=0) as server:
            must(server, 503, "good")
        keystone.stop()
