"""Attacks of clients on Keystone through berth: odd tokens, many tokens, old tokens; and the settings."""

import concurrent.futures
import http.client
import re
import select
import socket
import subprocess
import threading
import time

import case
import fake as fakes
from case import ask, begin, count_logged, end, expect, must


def resident_kb(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1))


class ManyTokens(case.Case):
    """Tokens."""

    def odd_tokens(self):
        """Texts that cannot be tokens are refused without a query to Keystone."""
        keystone = fakes.FakeKeystone()
        keystone.add("x" * 8192)
        with self._berthd(keystone, berth=["connection_memory = 262144"]) as server:
            def raw(value, name=b"X-Auth-Token"):
                with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
                    client.sendall(b"GET /traits HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                   + name + b": " + value + b"\r\n\r\n")
                    text = b""
                    while chunk := client.recv(65536):
                        text += chunk
                return int(text.split()[1]) if text else None

            must(server, 200, "x" * 8192)
            before = len(keystone.queries)
            for value in (b"", b" ", b"\t", b"x" * 8193, b"x" * 65536, b"a b", b"a\tb", b"a\x01b", b"a\x7fb", b"\xff\xfe",
                          "ä".encode(), b"\xa0", b"a\x0bb"):
                got = raw(value)
                expect(got == 401, f"{value[:20]!r}: {got}")
            expect(raw(b"x" * 300000) in (400, 413, 431, None), "more than a connection's memory")
            # a line break begins another header, or ends the headers: then there is no token, or a different one
            expect(raw(b"none\r\nX-Auth-Token: a b") == 401, "a second token")
            expect(len(keystone.queries) == before, keystone.queries[before:])
            expect(ask(server, "x" * 8192, x_service_token="a b")[0] == 401, "an invalid service token")
            expect(len(keystone.queries) == before, "Keystone was queried")
            for value in (b"a\rb", b"a\0b"):  # however the library splits them, only the first part is used
                got = raw(value)
                expect(got in (400, 401, None), f"{value!r}: {got}")
            expect({query.token for query in keystone.queries[before:]} <= {"a"}, keystone.queries[before:])
        keystone.stop()

    def shared_queries(self):
        """Many requests with one new token cause one query."""
        keystone = fakes.FakeKeystone()
        keystone.add("first"), keystone.add("good")
        with self._berthd(keystone) as server:
            must(server, 200, "first")
            keystone.odd = lambda handler, query: time.sleep(0.5) is None and False
            with concurrent.futures.ThreadPoolExecutor(60) as pool:
                for one in [pool.submit(must, server, 200, "good") for _ in range(60)]:
                    one.result()
            expect(len(keystone.validations("good")) == 1, f"{len(keystone.validations('good'))} queries")
        keystone.stop()

    def flood(self):
        """Different invalid tokens, faster than Keystone answers: bounded queries, bounded memory, and known clients
        are served."""
        keystone = fakes.FakeKeystone()
        keystone.add("known")
        with self._berthd(keystone, http_connect_timeout=10) as server:
            must(server, 200, "known")
            for number in range(200):
                must(server, 401, f"warm-{number}")
            before = resident_kb(server)
            keystone.most_running = 0
            keystone.odd = lambda handler, query: time.sleep(0.005) is None and False
            statuses = {}
            lock = threading.Lock()

            def pour(which):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                for number in range(150):
                    connection.request("GET", "/traits", headers={"x-auth-token": f"bad-{which}-{number}-" + "y" * 4000})
                    answer = connection.getresponse()
                    answer.read()
                    with lock:
                        statuses[answer.status] = statuses.get(answer.status, 0) + 1
                connection.close()

            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                pouring = [pool.submit(pour, which) for which in range(32)]
                took = max(must(server, 200, "known")[3] for _ in range(50))
                for one in pouring:
                    one.result()
            expect(sum(statuses.values()) == 32 * 150 and set(statuses) <= {401, 503}, statuses)
            expect(keystone.most_running <= 16, f"{keystone.most_running} queries at once")
            expect(took < 5, f"a known token took {took:.1f} s")
            grown = resident_kb(server) - before
            expect(grown < 40 * 1024 or "san" in self.program, f"{grown} KB more")
            must(server, 401, "after")
        keystone.stop()

    def full_queue(self):
        """More new tokens than may wait: 503 at once for the rest."""
        keystone = fakes.FakeKeystone()
        keystone.add("known")
        with self._berthd(keystone) as server:
            must(server, 200, "known")
            release = threading.Event()
            keystone.odd = lambda handler, query: release.wait(60) and False
            sockets = [begin(server, f"q-{number}") for number in range(1100)]
            sent_away = select.poll()
            for client in sockets:
                sent_away.register(client, select.POLLIN)
            deadline = time.monotonic() + 60
            while len(sent_away.poll(0)) < 76:
                expect(time.monotonic() < deadline, "fewer than 76 were refused")
                time.sleep(0.05)
            must(server, 503, "one-more")
            must(server, 200, "known")
            release.set()
            keystone.odd = None
            statuses = {}
            for client in sockets:
                status = end(client)
                statuses[status] = statuses.get(status, 0) + 1
            expect(statuses == {401: 1024, 503: 76}, statuses)
        keystone.stop()

    def expiry(self):
        """A cached token is refused once it has expired, but services may still present it."""
        keystone = fakes.FakeKeystone()
        keystone.add("short", lives=3)
        keystone.add("service", roles=("service",))
        with self._berthd(keystone) as server:
            must(server, 200, "short")
            time.sleep(3.5)
            before = len(keystone.validations("short"))
            must(server, 401, "short")
            must(server, 200, "short", x_service_token="service")
            expect(len(keystone.validations("short")) == before, "queried again")
        keystone.stop()

    def revocation(self):
        """A token that Keystone no longer knows is refused after token_cache_time at the latest."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        with self._berthd(keystone, token_cache_time=2) as server:
            must(server, 200, "good")
            keystone.remove("good")
            must(server, 200, "good")
            time.sleep(2.2)
            must(server, 401, "good")
        with self._berthd(keystone, token_cache_time=0) as server:
            keystone.add("good")
            must(server, 200, "good")
            keystone.remove("good")
            must(server, 401, "good")
        keystone.stop()

    def request_ids(self):
        """Keystone's log can show for which request it was queried."""
        keystone = fakes.FakeKeystone()
        own = must_id = None
        with self._berthd(keystone) as server:
            own = must(server, 401, "one")[2]["x-openstack-request-id"]
            must_id = "req-11111111-2222-4333-8444-555555555555"
            must(server, 401, "two", x_openstack_request_id=must_id)
        seen = [query.headers.get("x-openstack-request-id") for query in keystone.validations()]
        expect(seen == [own, must_id], seen)
        keystone.stop()

    def rules_and_prefixes(self):
        """Access rules use paths that clients cannot choose: X-Forwarded-Prefix counts only if it is a mount_prefix."""
        keystone = fakes.FakeKeystone()

        def add(token, *paths):
            rules = [{"service": "placement", "method": "GET", "path": path} for path in paths]
            keystone.add(token, application_credential={"id": "a", "access_rules": rules})

        add("bare", "/resource_classes", "/none/**")
        add("mounted", "/placement/resource_classes", "/of-proxy/resource_classes")
        for parsing in ("false", "true"):
            with self._berthd(keystone, service_type="placement", berth=[
                    "mount_prefix = /placement", "mount_prefix = /of-proxy",
                    "[oslo_middleware]", f"enable_proxy_headers_parsing = {parsing}"]) as server:
                must(server, 200, "bare")
                must(server, 401, "bare", path="/traits")
                must(server, 401, "bare", path="/traits", x_forwarded_prefix="/none")
                must(server, 401 if parsing == "true" else 404, "bare", path="/none/traits", x_forwarded_prefix="/none")
                must(server, 401, "bare", path="/placement/traits", x_forwarded_prefix="/none")
                must(server, 401, "mounted")
                must(server, 200, "mounted", path="/placement/resource_classes")
                must(server, 200 if parsing == "true" else 401, "mounted", x_forwarded_prefix="/of-proxy")
                must(server, 401, "mounted", path="/traits", x_forwarded_prefix="/of-proxy")
        keystone.stop()

    def delayed(self):
        """delay_auth_decision: the service's own 401, even if Keystone is unavailable."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        with self._berthd(keystone, delay_auth_decision="true", http_request_max_retries=0) as server:
            must(server, 200, "good", x_service_token="unknown")
            for act in (lambda: None, keystone.stop):
                act()
                status, body, headers, _ = ask(server, "unknown-" + act.__name__[-4:].strip("<>"))
                expect(status == 401 and body["code"] == "401 Unauthorized"
                       and headers["www-authenticate"] == 'Keystone uri="http://public:5000"', (status, body))
        keystone.stop()

    def settings(self):
        """Options without effect are named once; a missing one ends the start with one line."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        with self._berthd(keystone, memcached_servers="a:1,b:2", memcache_security_strategy="ENCRYPT",
                         memcache_secret_key="topsecret", include_service_catalog="false") as server:
            must(server, 200, "good")
            expect(count_logged(server, "no effect here: .*memcached_servers.*memcache_secret_key.*include_service_catalog") == 1,
                   server.log())
            expect("topsecret" not in server.log() and "secret" not in server.log().replace("memcache_secret_key", ""),
                   "a secret in the log")
        for more, line in (
                ({"auth_url": None}, r"\[keystone_authtoken\] auth_url is not set in "),
                ({"auth_type": None}, r"\[keystone_authtoken\] auth_type is not set in "),
                ({"password": ""}, r"\[keystone_authtoken\] password is not set in "),
                ({"cafile": "/none"}, r":\d+: \[keystone_authtoken\] cafile cannot be read"),
                ({"auth_section": "elsewhere"}, r"\[elsewhere\] auth_type is not set in "),
                ({"auth_type": "v3oidcpassword"}, r":\d+: \[keystone_authtoken\] auth_type must be one of password, ")):
            server = self._berthd(keystone, **more)
            done = subprocess.run(server.command(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            lines = done.stderr.strip().splitlines()
            expect(done.returncode == 1 and re.match("berthd: .*" + line, lines[-1]) and "Traceback" not in done.stderr,
                   (done.returncode, done.stderr))
        keystone.stop()
