"""Keystone is unavailable, slow, or hangs; clients do not wait."""

import concurrent.futures
import socket
import time

import case
import fake as fakes
from case import ask, begin, count_logged, end, expect, must, soon


class Unavailable(case.Case):
    """Delays."""

    def unavailable_at_start(self):
        """berthd starts without Keystone; the first answer comes soon after Keystone is available."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        keystone.stop()
        with self._berthd(keystone) as server:
            expect(ask(server, path="/")[0] == 200, "the root needs a token")
            must(server, 503, "good")
            must(server, 401)
            keystone.start()
            soon(server, 200, "good")
            expect(server.stop() == 0, "exit status")
        keystone.stop()

    def unavailable_later(self):
        """Cached tokens remain valid, and the log reports the beginning and the end once each."""
        keystone = fakes.FakeKeystone()
        keystone.add("known"), keystone.add("new")
        with self._berthd(keystone, http_request_max_retries=0) as server:
            must(server, 200, "known")
            keystone.stop()
            for _ in range(5):
                must(server, 503, "new")
                must(server, 200, "known")
                must(server, 503, "known", x_service_token="new")
            expect(ask(server, path="/")[0] == 200, "the root")
            keystone.start()
            soon(server, 200, "new")
            expect(count_logged(server, "ERROR berth.keystone .*503 from now on: no answer from Keystone: ") == 1, server.log())
            expect(count_logged(server, "INFO berth.keystone .*Keystone answers again") == 1, server.log())
        keystone.stop()

    def slow(self):
        """No request waits longer than the timeout, and other requests do not wait at all."""
        keystone = fakes.FakeKeystone()
        keystone.add("known")
        with self._berthd(keystone, http_connect_timeout=2, http_request_max_retries=0) as server:
            must(server, 200, "known")
            keystone.odd = lambda handler, query: query.is_validation and time.sleep(6) is None
            with concurrent.futures.ThreadPoolExecutor(40) as pool:
                pending = [pool.submit(must, server, 503, f"slow-{number}") for number in range(16)]
                time.sleep(0.3)
                for _ in range(20):
                    took = must(server, 200, "known")[3]
                    expect(took < 1, f"a cached token took {took:.1f} s")
                for one in pending:
                    took = one.result()[3]
                    expect(1.5 < took < 8, f"{took:.1f} s")
            keystone.odd = None
            keystone.add("later")
            soon(server, 200, "later")
        keystone.stop()

    def slow_login(self):
        """The service's own login hangs."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        keystone.odd = lambda handler, query: query.is_login and time.sleep(5) is None
        with self._berthd(keystone, http_connect_timeout=1) as server:
            took = must(server, 503, "good")[3]
            expect(0.8 < took < 4, f"{took:.1f} s")
            keystone.odd = None
            soon(server, 200, "good")
        keystone.stop()

    def trickle(self):
        """Single bytes at intervals do not count as an answer."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")

        def drip(handler, query):
            if not query.is_validation:
                return False
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(100):
                handler.wfile.write(b" ")
                time.sleep(0.1)
            return True

        keystone.odd = drip
        with self._berthd(keystone, http_connect_timeout=1, http_request_max_retries=0) as server:
            took = must(server, 503, "good")[3]
            expect(took < 4, f"{took:.1f} s")
        keystone.stop()

    def retries(self):
        """If a connection breaks, the request is repeated as often as the settings say."""
        keystone = fakes.FakeKeystone()
        keystone.add("first"), keystone.add("good"), keystone.add("other")
        broken = []

        def cut(handler, query):
            if not query.is_validation or len(broken) >= 2:
                return False
            broken.append(query)
            fakes.FakeKeystone.cut(handler)
            return True

        with self._berthd(keystone, http_request_max_retries=2) as server:
            must(server, 200, "first")
            keystone.odd = cut
            must(server, 200, "good")
            expect(len(broken) == 2, broken)
            del broken[:]
        with self._berthd(keystone, http_request_max_retries=0) as server:
            keystone.odd = None
            must(server, 200, "first")
            # libcurl repeats a request once if a kept connection breaks, but not if a new one does
            keystone.odd = lambda handler, query: query.is_validation and fakes.FakeKeystone.cut(handler) is None
            must(server, 503, "other")
        keystone.stop()

    def proxies(self):
        """Keystone is reached through the environment's proxies, as in the Python service; here there is none."""
        keystone = fakes.FakeKeystone()
        keystone.add("good")
        nobody = "http://127.0.0.1:1"
        for environment, status in (({}, 200), ({"http_proxy": nobody}, 503), ({"HTTP_PROXY": nobody}, 200),
                                    ({"http_proxy": nobody, "no_proxy": "127.0.0.1"}, 200),
                                    ({"http_proxy": nobody, "NO_PROXY": "127.0.0.0/8"}, 200)):
            with self._berthd(keystone, environment=environment, http_request_max_retries=0) as server:
                got = ask(server, "good")[0]
                expect(got == status, f"{environment}: {got}")
        keystone.stop()

    def stop_while_hanging(self):
        """SIGTERM while Keystone hangs: every request is answered, and berthd ends within the grace period."""
        keystone = fakes.FakeKeystone()
        keystone.add("known")
        with self._berthd(keystone) as server:
            must(server, 200, "known")
            keystone.odd = lambda handler, query: time.sleep(60) is None
            pending = [begin(server, f"hang-{number}") for number in range(30)]
            while len(keystone.validations()) < 1 + 16:  # the others wait after them
                time.sleep(0.05)
            began = time.monotonic()
            expect(server.stop() == 0, "exit status")
            took = time.monotonic() - began
            expect(took < 10, f"the end took {took:.1f} s")
            statuses = [end(client) for client in pending]
            expect(statuses == [503] * 30, statuses)
        keystone.odd = None
        keystone.stop()

    def clients_leave(self):
        """Requests whose client does not wait for Keystone leave nothing behind."""
        keystone = fakes.FakeKeystone()
        keystone.add("known")
        with self._berthd(keystone) as server:
            must(server, 200, "known")
            keystone.odd = lambda handler, query: time.sleep(2) is None and False
            for number in range(30):
                with socket.create_connection(("127.0.0.1", server.port)) as client:
                    client.sendall(b"GET /traits HTTP/1.1\r\nHost: x\r\nX-Auth-Token: left-%d\r\n\r\n" % number)
            must(server, 200, "known")
            keystone.odd = None
            must(server, 401, "unknown")
            expect(server.stop() == 0, "exit status")
        keystone.stop()
