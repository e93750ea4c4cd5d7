"""/healthz and /readyz, and the list of pages."""

import http.client
import json
import os
import signal
import socket
import sqlite3
import time

from admin import Case, fetch
from case import HOST, consumer, expect


def health(server):
    """(status, text) of /healthcheck on the Placement listener."""
    status, _, text = fetch(server.port, "/healthcheck")
    return status, text


class Health(Case):
    def pages(self):
        """Which pages exist, in which forms, and which do not."""
        with self.berthd() as server:
            status, headers, text = server.page("/")
            expect(status == 200 and headers["content-type"].startswith("text/plain"), headers)
            expect(all(path in text for path in ("/metrics", "/healthz", "/readyz")), text)
            expect(server.page("/healthz")[::2] == (200, "alive\n"), "/healthz")
            status, headers, text = server.page("/healthz", accept="application/json")
            expect(headers["content-type"] == "application/json" and json.loads(text)["alive"] is True, text)
            status, text = server.readiness()
            expect(status == 200 and text.startswith("ready\n") and "a082b8bb98d0" in text, text)
            for check in ("database", "schema", "replica", "serving"):
                expect(f"\n{check}: ok (" in text, text)
            status, text = server.readiness(accept="application/json")
            found = json.loads(text)
            expect(status == 200 and found["ready"] is True and len(found["checks"]) == 4, text)
            expect(all(check["ok"] and check["detail"] for check in found["checks"].values()), text)
            for path in ("/", "/metrics", "/healthz", "/readyz"):
                status, headers, text = server.page(path, "HEAD")
                expect(status == 200 and text == "" and int(headers["content-length"]) > 0, (path, headers.items()))
                for method in ("POST", "DELETE", "OPTIONS", "BREW"):
                    status, headers, text = server.page(path, method)
                    expect(status == 405 and headers["allow"] == "GET, HEAD", (path, method, status))
            for path in ("/metric", "/metrics/", "/healthz/x", "//", "/resource_providers", "/%6detrics"):
                status, headers, text = server.page(path)
                expect(status == 404 and headers["content-type"].startswith("text/plain"), (path, status))
            for query in ("inventory=2", "inventory=", "allocations=yes", "inventory=1&inventory=no"):
                expect(server.page("/metrics?" + query)[0] == 400, query)
            for query in ("inventory=0", "unknown=x", "inventory=1&allocations=0"):
                expect(server.page("/metrics?" + query)[0] == 200, query)
            connection = http.client.HTTPConnection("127.0.0.1", server.admin_port, timeout=10)
            connection.request("GET", "/metrics", b"x" * 5000)
            expect(connection.getresponse().status == 413, "a large body")
            connection.close()
            out = open(os.path.join(self.directory, server.id + ".out")).read()
            expect(out == f"berthd: ready http://127.0.0.1:{server.port}"
                          f" admin http://127.0.0.1:{server.admin_port}\n", out)
            expect("WARNING" not in server.log(), server.log())
            expect(server.stop() == 0, "the end")

    def open_to_others(self):
        """On any other address than loopback one log line warns that anybody may read the pages."""
        with self.berthd(admin_host="0.0.0.0") as server:
            lines = [line for line in server.log().splitlines() if " WARNING " in line]
            expect(len(lines) == 1 and "admin_listen: 0.0.0.0 is not loopback" in lines[0], lines)

    def file_removed(self):
        """The file is removed and put back: in between berth is not ready, but alive."""
        with self.berthd() as server:
            away = server.database + "-away"
            server.await_ready(200)
            expect(health(server) == (200, "OK"), health(server))
            os.rename(server.database, away)
            text = server.await_ready(503, "database: FAILED")
            expect("no longer exists" in text and "serving: ok" in text, text)
            expect(health(server) == (503, "DATABASE UNREACHABLE"), health(server))
            expect(server.page("/healthz")[0] == 200, "not alive")
            expect(server.scrape().get("berth_database_outage", extent="all") == 1, "no outage is reported")
            os.rename(away, server.database)
            server.await_ready(200)
            expect(health(server) == (200, "OK"), health(server))
            expect(server.scrape().get("berth_database_outage", extent="all") == 0, "the outage continues")
            expect(server.scrape().get("berth_database_outages_total", extent="all") == 1, "outages")

    def schema_not_served(self):
        """Another program stamps the schema with an old revision, an unknown one, or none."""
        with self.berthd() as server:
            shell = sqlite3.connect(server.database, isolation_level=None, timeout=10)
            for revision in ("b4ed3a175331", "ffffffffffff"):
                shell.execute("UPDATE alembic_version SET version_num = ?", (revision,))
                text = server.await_ready(503, f"schema: FAILED (not served: revision '{revision}')")
                expect("database: ok" in text and "replica: ok" in text, text)
                expect(health(server) == (503, "SCHEMA NOT SERVED"), health(server))
            shell.execute("UPDATE alembic_version SET version_num = '422ece571366'")
            server.await_ready(200, "revision 422ece571366")
            shell.execute("DELETE FROM alembic_version")
            server.await_ready(503, "schema: FAILED")
            shell.execute("INSERT INTO alembic_version VALUES ('a082b8bb98d0')")
            server.await_ready(200)
            shell.close()

    def locked(self):
        """A lock that blocks writes does not affect readiness, even while a write waits for it."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            shell = sqlite3.connect(server.database, isolation_level=None, timeout=10)
            shell.execute("BEGIN IMMEDIATE")
            shell.execute("UPDATE resource_providers SET name = 'other'")
            waiting = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            waiting.request("PUT", "/traits/CUSTOM_A", headers={
                "x-auth-token": "admin", "openstack-api-version": "placement 1.39"})
            time.sleep(0.2)
            for _ in range(10):
                began = time.monotonic()
                status, text = server.readiness()
                expect(status == 200 and time.monotonic() - began < 0.7, text)
                expect(health(server) == (200, "OK"), health(server))
                time.sleep(0.1)
            shell.execute("COMMIT")
            expect(waiting.getresponse().status == 201, "the write that waited")
            # Long enough that the write is refused: reads go on, and that is reported.
            shell.execute("BEGIN IMMEDIATE")
            status, _ = client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            expect(status == 503, status)
            server.await_ready(200, "database: ok (reached, but writes fail)")
            expect(server.scrape().get("berth_database_outage", extent="writes") == 1, "no outage is reported")
            expect(server.scrape().get("berth_writer_refused_requests_total", reason="database") == 1, "refused")
            shell.execute("COMMIT")
            shell.close()

    def behind(self):
        """After another program's write berth follows it before the answer; if it cannot, that is reported."""
        with self.berthd() as server:
            shell = sqlite3.connect(server.database, isolation_level=None, timeout=10)
            for number in range(20):
                shell.execute("INSERT INTO traits (name) VALUES (?)", (f"CUSTOM_{number}",))
                server.await_ready(200, "replica: ok (as new as the database")
                rows = server.scrape().get("berth_replica_rows", table="traits")
                expect(rows == shell.execute("SELECT count(*) FROM traits").fetchone()[0], rows)
            shell.execute("ALTER TABLE inventories RENAME TO elsewhere")
            text = server.await_ready(503, "replica: FAILED (behind the database")
            expect("no such table: inventories" in text and "database: ok" in text, text)
            expect(health(server) == (503, "REPLICA BEHIND DATABASE"), health(server))
            time.sleep(0.3)
            age = server.scrape().get("berth_replica_age_seconds")
            expect(0.3 <= age < 60, age)
            shell.execute("ALTER TABLE elsewhere RENAME TO inventories")
            server.await_ready(200)
            expect(server.scrape().get("berth_replica_age_seconds") == 0, "still behind")
            shell.close()

    def crowded(self):
        """One address cannot take all connections of the admin listener: a probe from another address is served."""
        with self.berthd() as server:
            crowd = []
            for _ in range(300):
                sock = socket.create_connection(("127.0.0.1", server.admin_port))
                crowd.append(sock)
                try:
                    sock.sendall(b"GET / HTTP/1.1\r\nX: ")
                except OSError:  # the connection was closed
                    pass
            time.sleep(0.3)
            for path in ("/healthz", "/readyz", "/metrics"):
                probe = http.client.HTTPConnection("127.0.0.1", server.admin_port, timeout=2, source_address=("127.0.0.2", 0))
                probe.request("GET", path)
                expect(probe.getresponse().status == 200, path)
                probe.close()
            for sock in crowd:
                sock.close()

    def drains(self):
        """From SIGTERM until the end: not ready, alive, and metrics are still served."""
        with self.berthd() as server:
            kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            kept.request("GET", "/healthcheck")
            expect(kept.getresponse().read() == b"OK", "before")
            half = socket.create_connection(("127.0.0.1", server.port))
            half.sendall(b"GET /healthcheck HTTP/1.1\r\nHost: x\r\n")
            time.sleep(0.1)
            server.process.send_signal(signal.SIGTERM)
            text = server.await_ready(503, "serving: FAILED (stopping)", seconds=1)
            expect("database: ok" in text and "replica: ok" in text, text)
            expect(server.page("/healthz")[0] == 200, "not alive")
            page = server.scrape()
            expect(page.get("berth_stopping") == 1 and page.get("berth_replica_version") > 0, "metrics")
            try:  # no new connection is accepted
                fetch(server.port, "/", timeout=1)
                raise AssertionError("a connection was accepted")
            except OSError:
                pass
            half.sendall(b"\r\n")
            answer = b""
            while chunk := half.recv(4096):
                answer += chunk
            expect(answer.startswith(b"HTTP/1.1 503") and answer.endswith(b"STOPPING"), answer)
            kept.close()
            half.close()
            expect(server.process.wait(10) == 0, "exit status")
