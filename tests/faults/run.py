#!/usr/bin/python3
"""Events outside berthd: a full disk, other writers, a replaced file, backups, two berthd on one file, and the
Python service before, after and beside berth.

    tests/faults/run.py --berthd build/berthd [CASE…]

The last line is `N passed, N failed`. A case that cannot run on this machine says so, and does not count.
"""

import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import case
import odd_values
from case import CHILD, HOST, consumer, end_load, expect, load, servers, total_of, wait_until
from disk import Disk
from interchange import Interchange, difference, populate, snapshot
from metal import Metal
from refused import Refused
from reloads import Reloads

LOST = "lost its -wal or -shm file"


def expect_outage_logged(server, reason):
    """The log has one line for its beginning and one for its end."""
    lines = [line for line in server.log().splitlines() if " ERROR " in line or "the database works" in line]
    expect(len(lines) == 2 and " ERROR " in lines[0] and reason in lines[0] and " INFO " in lines[1], lines)


class Hands(case.Case):
    """Changes of the file by others, and stops."""

    def sqlite_shell_writes(self):
        """Commits of another process are in the next answer; its locks only delay."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10, MEMORY_MB=100)
            shell = sqlite3.connect(server.database, isolation_level=None, timeout=10)
            for total in range(100, 200):
                shell.execute("UPDATE inventories SET total = ? WHERE resource_class_id = 0", (total,))
                got = total_of(client)
                expect(got == total, f"total is {got}, another process wrote {total}")
                status, answer = client.claim(consumer(total), None, **{HOST: {"MEMORY_MB": 1}})
                expect(status == 204, answer)
            status, answer = client.claim(consumer(200), None, **{HOST: {"MEMORY_MB": 1}})
            expect(status == 409, f"more than there is: {status} {answer}")
            shell.execute("UPDATE resource_providers SET generation = generation + 5, name = 'renamed'")
            expect(client.must(200, "GET", f"/resource_providers/{HOST}")["name"] == "renamed", "the old name")
            shell.execute("DELETE FROM allocations")
            shell.execute("DELETE FROM consumers")
            expect(client.must(200, "GET", f"/resource_providers/{HOST}/usages")["usages"]["MEMORY_MB"] == 0, "use")
            shell.execute("BEGIN IMMEDIATE")
            shell.execute("UPDATE inventories SET total = 7 WHERE resource_class_id = 0")
            began = time.monotonic()
            expect(total_of(client) == 199, "what is not committed shows")
            expect(time.monotonic() - began < 0.5, "a read waits for another's transaction")
            result = []
            thread = threading.Thread(target=lambda: result.append(
                server.client().claim(consumer(1), None, **{HOST: {"MEMORY_MB": 1}})))
            thread.start()
            time.sleep(1)
            expect(not result, f"a write went through another's transaction: {result}")
            shell.execute("COMMIT")
            thread.join(10)
            expect(result and result[0][0] == 204, result)
            expect(total_of(client) == 7, "another's commit does not show")
            shell.close()

    def odd_values(self):
        """Values that no service writes, in every column: read or refused, never the end of berthd."""
        with self.berthd(options=["[berth]", "access_log = false"]) as server:
            client = server.client()
            populate(client)
            before = snapshot(client)
            paths = [path for path in before if path < "/allocations/" + consumer(4) or path > "/b"]
            writes = [
                ("PUT", "/traits/CUSTOM_NEW", None),
                ("DELETE", "/resource_classes/CUSTOM_THING", None),
                ("PUT", f"/resource_providers/{HOST}", {"name": "other"}),
                ("PUT", f"/allocations/{consumer(1)}", servers.claim_body(1, {HOST: {"VCPU": 1}})),
                ("PUT", f"/allocations/{consumer(9)}", servers.claim_body(None, {HOST: {"VCPU": 1}})),
                ("DELETE", f"/allocations/{consumer(2)}", None),
                ("DELETE", f"/resource_providers/{HOST}/inventories", None),
                ("DELETE", f"/resource_providers/{CHILD}", None)]
            count = odd_values.play(server, client, paths, writes)
            expect(count > 600, f"only {count} values could be written")
            after = snapshot(client)
            expect(before == after, difference(before, after))

    def locked_for_long(self):
        """Another program holds the lock for more than 5 s: 503, no partial write, reads go on."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            shell = sqlite3.connect(server.database, isolation_level=None)
            shell.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            took = time.monotonic() - began
            expect(status == 503 and 4 < took < 9, f"{status} {answer} after {took:.1f} s")
            expect(total_of(client) == 10, "reads do not continue")
            shell.execute("COMMIT")
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            expect(status == 204, answer)
            shell.close()
            expect_outage_logged(server, "database is locked")

    def table_dropped(self):
        """503 while the table is missing, reported once; served again when it is back. berth's own tables are
        created again."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            shell = sqlite3.connect(server.database, isolation_level=None)
            shell.execute("ALTER TABLE inventories RENAME TO away")
            for _ in range(3):
                expect(client.ask("GET", "/resource_providers")[0] == 503, "a table lacks")
                expect(client.ask("PUT", "/traits/CUSTOM_A")[0] == 503, "a table lacks")
            shell.execute("ALTER TABLE away RENAME TO inventories")
            expect(total_of(client) == 10, "the table is back")
            client.must(201, "PUT", "/traits/CUSTOM_A")
            expect_outage_logged(server, "no such table: inventories")
            for table in ("berth_head", "berth_log", "berth_nodes", "berth_node_allocations", "berth_valet_groups",
                          "berth_valet_placements"):
                shell.execute(f"DROP TABLE {table}")
                client.ask("GET", "/resource_providers")
                expect(total_of(client) == 10, f"{table} lacks")
                client.must(201, "PUT", "/traits/CUSTOM_" + table.upper())
            shell.execute("DELETE FROM berth_head")
            expect(total_of(client) == 10, "a row of berth_head lacks")
            client.must(201, "PUT", "/traits/CUSTOM_B")
            shell.close()

    def file_replaced(self):
        """Another database replaces the file: it is opened, whatever is in the old one's WAL."""
        with self.berthd(name="other.db") as server:
            server.client().make_provider(HOST, "host", VCPU=77)
            server.stop()
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            os.rename(os.path.join(self.directory, "other.db"), server.database)
            wait_until(lambda: total_of(client) == 77, 3, "the file that took the path is not noticed")
            expect("was removed, moved or replaced while berthd had it open" in server.log(), server.log()[-500:])
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 60}})
            expect(status == 204, answer)
            server.stop()
            expect(servers.rows(server.database, "SELECT used FROM allocations") == [(60,)], "written elsewhere")
            expect(servers.rows(server.database, "PRAGMA integrity_check") == [("ok",)], "damaged")

    def file_overwritten(self):
        """Another database is copied over the file, which stays the same file: the log says so, once. Checkpoints by another
        program are no such thing."""
        words = "was overwritten in place while berthd has it open"
        with self.berthd(name="other.db") as server:
            server.client().make_provider(HOST, "host", VCPU=77)
            server.stop()
        with self.berthd() as server:
            server.client().make_provider(HOST, "host", VCPU=10)
            for _ in range(3):
                servers.rows(server.database, "UPDATE resource_providers SET generation = generation + 1")
                servers.rows(server.database, "PRAGMA wal_checkpoint(TRUNCATE)")
                time.sleep(0.25)
            expect(words not in server.log(), server.log()[-500:])
            with open(os.path.join(self.directory, "other.db"), "rb") as other, open(server.database, "r+b", buffering=0) as file:
                file.write(other.read())  # at once: berthd may look in between
            wait_until(lambda: words in server.log(), 3, "it is not noticed")
            time.sleep(0.5)
            lines = [line for line in server.log().splitlines() if words in line]
            expect(len(lines) == 1 and " ERROR berth [-] the database '" in lines[0], lines)

    def wal_removed(self):
        """-wal, -shm or both are removed under load, several times, and berthd is killed soon after: all
        acknowledged writes are there."""
        with self.berthd() as server:
            load.fill(server.client(), 2)
            workers = [load.Worker(n, server.client(timeout=20), n) for n in range(2)]
            for suffixes in (("-wal",), ("-shm",), ("-wal", "-shm")):
                for worker in workers:
                    worker.client.port = server.port
                threads = load.start(workers)
                for _ in range(3):
                    time.sleep(0.1)
                    noticed = server.log().count(LOST)
                    for suffix in suffixes:
                        os.remove(server.database + suffix)
                    wait_until(lambda seen=noticed: server.log().count(LOST) != seen, 15, lambda: server.log()[-2000:])
                server.kill()
                for thread in threads:
                    thread.join(30)
                server.start()
                problem = load.check_all(workers, server.client(), everything=True)
                expect(problem is None, f"{suffixes}: {problem}")
            server.stop()
            expect(servers.rows(server.database, "PRAGMA integrity_check") == [("ok",)], "damaged")

    def file_restored(self):
        """A backup is copied to the path piece by piece: an incomplete file is left alone, and no schema is created
        in it, although sync_on_startup is on."""
        with self.berthd(sync=True) as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            copy = os.path.join(self.directory, "copy.db")
            subprocess.run(["sqlite3", server.database, f"VACUUM INTO '{copy}'"], check=True)
            os.rename(server.database, server.database + ".old")
            with open(copy, "rb") as backup, open(server.database, "wb") as restored:
                end = time.monotonic() + 1
                while time.monotonic() < end:
                    status, answer = client.ask("GET", "/resource_providers")
                    expect(status == 503 or answer["resource_providers"], "an empty file counts as an empty cloud")
                    expect(os.path.getsize(server.database) == 0, "berthd has written into it")
                    time.sleep(0.02)
                expect("The database is unavailable" in answer["errors"][0]["detail"], answer)
                expect("is being replaced" in server.log(), server.log()[-500:])
                restored.write(backup.read())
            wait_until(lambda: client.ask("GET", "/resource_providers")[0] == 200, 3, "what was restored is not noticed")
            expect(total_of(client) == 10, "what was restored is not served")
            server.stop()
            expect(servers.rows(server.database, "PRAGMA integrity_check") == [("ok",)], "damaged")

    def backup(self):
        """VACUUM INTO while eight clients write: it ends, is one state, and no write is refused."""
        with self.berthd() as server:
            client = server.client()
            load.fill(client, 8)
            workers = [load.Worker(n, server.client(), n) for n in range(8)]
            threads = load.start(workers)
            time.sleep(1)
            for number in range(3):
                copy = os.path.join(self.directory, f"copy-{number}.db")
                began = time.monotonic()
                subprocess.run(["sqlite3", "-cmd", ".timeout 5000", server.database, f"VACUUM INTO '{copy}'"], check=True)
                expect(time.monotonic() - began < 10, "the backup took more than 10 s")
                before = sum(worker.acknowledged for worker in workers)
                time.sleep(0.3)
                expect(sum(worker.acknowledged for worker in workers) > before, "writes stand still")
            end_load(workers, threads)
            expect(load.check_all(workers, client) is None, "see above")
            server.stop()
        with self.berthd(name="copy-2.db") as server:
            client = server.client()
            used = client.must(200, "GET", f"/resource_providers/{load.SHARED}/usages")["usages"]["DISK_GB"]
            holders = servers.rows(server.database, "SELECT count(DISTINCT consumer_id) FROM allocations")[0][0]
            expect(used == holders > 0, f"{used} used by {holders}")

    def two_berthd(self):
        """Each gets a third of the commits, none answers 503, nothing is given out twice; when one is killed, the
        other goes on."""
        with self.berthd() as first, self.berthd(sync=False) as second:
            load.fill(first.client(), 16)
            workers = [load.Worker(n, (first, second)[n % 2].client(), n) for n in range(16)]
            threads = load.start(workers)
            time.sleep(6)
            counts = [sum(w.acknowledged for w in workers[side::2]) for side in (0, 1)]
            print(f"       writes of the two: {counts[0]} and {counts[1]}")
            second.kill()
            before = counts[0]
            time.sleep(1)
            after = sum(w.acknowledged for w in workers[0::2])
            end_load(workers, threads)
            problem = load.check_all(workers, first.client(), everything=True)
            expect(problem is None, problem)
            expect("overwritten in place" not in first.log() + second.log(), "a checkpoint was taken for another program")
            expect(after > before, "when the second was killed, the first stood still")
            expect(min(counts) * 3 >= sum(counts), f"writes of the two: {counts}")
            first.stop()
            expect(servers.rows(first.database, "PRAGMA integrity_check") == [("ok",)], "damaged")

    def two_berthd_one_host(self):
        """32 clients of two berthd claim one host's last 100 units: exactly 100 are given."""
        with self.berthd() as first, self.berthd(sync=False) as second:
            first.client().make_provider(HOST, "host", VCPU=100)
            answers = []

            def claim(number):
                client = (first, second)[number % 2].client()
                for turn in range(8):
                    answers.append(client.claim(consumer(number * 100 + turn), None, **{HOST: {"VCPU": 1}}))

            threads = [threading.Thread(target=claim, args=(n,)) for n in range(32)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            given = sum(status == 204 for status, _ in answers)
            wrong = [a for a in answers if a[0] not in (204, 409) or (a[0] == 409 and "exceed" not in str(a[1]))]
            expect(not wrong, wrong[:2])
            expect(given == 100 and len(answers) == 256, f"{given} claimed of 100")
            for server in (first, second):
                used = server.client().must(200, "GET", f"/resource_providers/{HOST}/usages")["usages"]
                expect(used == {"VCPU": 100}, used)

    def ends_with_idle_connections(self):
        """A hundred idle connections do not delay SIGTERM; those that have sent nothing yet, or a partial request, only
        briefly."""
        whole = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        for sent, to_one, most in ((whole, b"", 1), (b"", b"", 5), (whole, b"GET /", 5),
                                   (whole, b"GET / HTTP/1.1\r\nHost: x\r\n", 5)):
            with self.berthd() as server:
                idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
                for connection in idle if sent else ():
                    connection.sendall(sent)
                    expect(connection.recv(65536).startswith(b"HTTP/1.1 200"), "no answer")
                idle[0].sendall(to_one)
                time.sleep(0.2)
                began = time.monotonic()
                status = server.stop()
                took = time.monotonic() - began
                expect(status == 0 and took < most, f"status {status} after {took:.1f} s, sent: {sent + to_one}")
                for connection in idle:
                    connection.close()


if __name__ == "__main__":
    sys.exit(case.main(__doc__, Disk, Hands, Interchange, Metal, Refused, Reloads))
