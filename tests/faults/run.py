#!/usr/bin/python3
"""What happens to the database file from outside: a full disk, other writers, a file replaced, backups, two
berthd on one file, and the Python service before, after and beside berth.

    tests/faults/run.py --berthd build/berthd [CASE…]

The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "crash"), os.path.dirname(HERE)]

import load  # noqa: E402
import odd_values  # noqa: E402
import servers  # noqa: E402

HOST = "bbbbbbbb-0000-4000-8000-000000000001"
CHILD = "bbbbbbbb-0000-4000-8000-000000000002"
OLD_REVISION = "422ece571366"
NOBODY = 65534


def consumer(number):
    return f"cccccccc-0000-4000-8000-{number:012d}"


def expect(good, what):
    if not good:
        raise AssertionError(what)


def outage_told(server, reason):
    """The log has a line for its beginning, and one for its end."""
    lines = [line for line in server.log().splitlines() if " ERROR " in line or "the database works" in line]
    expect(len(lines) == 2 and " ERROR " in lines[0] and reason in lines[0] and " INFO " in lines[1], lines)


def total_of(client, name="VCPU"):
    return client.must(200, "GET", f"/resource_providers/{HOST}/inventories")["inventories"][name]["total"]


class Cases:
    """Each method is a case; self.directory is its own."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.manage = os.path.join(os.path.dirname(self.program), "placement-manage")
        self.directory = None

    def berthd(self, **more):
        return servers.Berthd(self.program, self.directory, **more)

    def python(self, **more):
        return servers.PythonService(self.directory, **more)

    def refused(self, words, server):
        """It must not start, and say why in one line."""
        try:
            with server:
                pass
        except RuntimeError:
            lines = [line for line in server.log().splitlines() if line.startswith("berthd:")]
            expect(server.process.returncode not in (0, None), f"exit status {server.process.returncode}")
            expect(server.process.returncode > 0, f"ended by signal {-server.process.returncode}")
            expect(len(lines) == 1 and words in lines[0], f"not one line with '{words}': {server.log()}")
            return
        raise AssertionError("it started")

    # -- the disk

    def _fill_until_refused(self, client, most=20000):
        """Writes until one is refused; (names there, the refusal)."""
        for number in range(most):
            name = f"CUSTOM_{number:06d}_" + "X" * 200
            status, answer = client.ask("PUT", "/traits/" + name)
            if status != 201:
                return [f"CUSTOM_{n:06d}_" + "X" * 200 for n in range(number)], (status, answer)
        raise AssertionError(f"{most} writes and the disk is not full")

    def _full(self, server, make_room):
        with server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            names, (status, answer) = self._fill_until_refused(client)
            expect(status == 503, f"{status} {answer}")
            expect(answer["errors"][0]["status"] == 503 and answer["errors"][0]["detail"], answer)
            expect(total_of(client) == 10, "reads do not go on")
            for _ in range(3 if make_room else 0):
                expect(client.ask("PUT", "/traits/CUSTOM_" + "Y" * 200)[0] == 503, "the disk is still full")
            there = set(client.must(200, "GET", "/traits?name=startswith:CUSTOM_")["traits"])
            expect(there == set(names), f"{len(there)} traits there, {len(names)} acknowledged")
            if make_room:
                make_room()
                client.must(201, "PUT", "/traits/CUSTOM_ROOM")
                names.append("CUSTOM_ROOM")
            server.stop()
        return names

    def disk_full(self):
        """A small tmpfs; when there is room again, writes go on without a restart."""
        mount = os.path.join(self.directory, "small")
        os.mkdir(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "berth-test", mount],
                          stderr=subprocess.DEVNULL).returncode:
            return "no tmpfs to be had here: left out"
        try:
            ballast = os.path.join(mount, "ballast")
            with open(ballast, "wb") as file:
                file.write(bytes(1 << 20))
            server = servers.Berthd(self.program, mount)
            names = self._full(server, lambda: os.unlink(ballast))
            with servers.Berthd(self.program, mount) as server:
                there = server.client().must(200, "GET", "/traits?name=startswith:CUSTOM_")["traits"]
                expect(set(there) == set(names), "after a restart the traits are others")
                server.stop()
        finally:
            subprocess.run(["umount", "-l", mount])

    def file_too_large(self):
        """No file may grow beyond 2 MiB (RLIMIT_FSIZE). berth may help itself by a checkpoint afterwards."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

        names = self._full(self.berthd(limits=limit, options=["[berth]", "access_log = false"]), None)
        with self.berthd() as server:
            there = server.client().must(200, "GET", "/traits?name=startswith:CUSTOM_")["traits"]
            expect(set(there) == set(names), "after a restart the traits are others")

    def read_only_file(self):
        with self.berthd() as server:
            server.client().make_provider(HOST, "host", VCPU=10)
            server.stop()
        program = os.path.join(self.directory, "berthd")
        shutil.copy(self.program, program)
        os.chmod(self.directory, 0o755)
        os.chmod(server.database, 0o444)

        def drop():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)

        self.refused("read-only", servers.Berthd(program, self.directory, limits=drop))

    def start_refusals(self):
        with self.berthd() as server:
            self.refused("", self.berthd(port=server.port, name="other.db"))
        missing = self.berthd(name="no/such/directory.db")
        self.refused("cannot be opened", missing)
        with open(os.path.join(self.directory, "text.db"), "w") as file:
            file.write("this is no database, whatever its name says\n" * 100)
        self.refused("cannot be opened", self.berthd(name="text.db"))
        with contextlib.closing(sqlite3.connect(os.path.join(self.directory, "strange.db"))) as strange:
            strange.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            strange.execute("INSERT INTO alembic_version VALUES ('0123456789ab')")
            strange.commit()
        self.refused("0123456789ab", self.berthd(name="strange.db"))
        self.refused("", self.berthd(name="empty.db", sync=False))

    # -- other hands on the file

    def sqlite_shell_writes(self):
        """What another process commits is in the next answer; what it holds locked delays, and no more."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10, MEMORY_MB=100)
            shell = sqlite3.connect(server.database, isolation_level=None, timeout=10)
            for total in range(100, 200):
                shell.execute("UPDATE inventories SET total = ? WHERE resource_class_id = 0", (total,))
                got = total_of(client)
                expect(got == total, f"total is {got}, another process wrote {total}")
                status, answer = client.claim(consumer(total), None, **{HOST: {"MEMORY_MB": 1}})
                expect(status == (204 if total < 200 else 409), answer)
            shell.execute("UPDATE resource_providers SET generation = generation + 5, name = 'renamed'")
            expect(client.must(200, "GET", f"/resource_providers/{HOST}")["name"] == "renamed", "the old name")
            shell.execute("DELETE FROM allocations")
            shell.execute("DELETE FROM consumers")
            expect(client.must(200, "GET", f"/resource_providers/{HOST}/usages")["usages"]["MEMORY_MB"] == 0, "use")
            shell.execute("BEGIN IMMEDIATE")
            shell.execute("UPDATE inventories SET total = 7 WHERE resource_class_id = 0")
            threading.Timer(1.0, lambda: subprocess.run(["true"])).start()
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
        """What no service writes, in every column: read as something or refused, never the end of berthd."""
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
        """Somebody who holds the lock for more than 5 s: 503, nothing half done, reads go on."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            shell = sqlite3.connect(server.database, isolation_level=None)
            shell.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            took = time.monotonic() - began
            expect(status == 503 and 4 < took < 9, f"{status} {answer} after {took:.1f} s")
            expect(total_of(client) == 10, "reads do not go on")
            shell.execute("COMMIT")
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            expect(status == 204, answer)
            shell.close()
            outage_told(server, "database is locked")

    def table_dropped(self):
        """503 while it lacks, told once; served again when it is back. Our own tables are made anew."""
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
            outage_told(server, "no such table: inventories")
            for table in ("berth_head", "berth_log"):
                shell.execute(f"DROP TABLE {table}")
                client.ask("GET", "/resource_providers")
                expect(total_of(client) == 10, f"{table} lacks")
                client.must(201, "PUT", "/traits/CUSTOM_" + table.upper())
            shell.execute("DELETE FROM berth_head")
            expect(total_of(client) == 10, "a row of berth_head lacks")
            client.must(201, "PUT", "/traits/CUSTOM_B")
            shell.close()

    def python_beside(self):
        """The Python service and berth write to one file in turns; each sees the other's at once."""
        with self.berthd() as berth, self.python(sync=False) as python:
            mine, other = berth.client(), python.client()
            mine.make_provider(HOST, "host", VCPU=1000)
            for number in range(10):
                uuid = f"dddddddd-0000-4000-8000-{number:012d}"
                other.make_provider(uuid, f"python-{number}", VCPU=8)
                got = mine.must(200, "GET", f"/resource_providers/{uuid}/inventories")["inventories"]["VCPU"]["total"]
                expect(got == 8, got)
                status, answer = mine.claim(consumer(2 * number), None, **{HOST: {"VCPU": 1}, uuid: {"VCPU": 2}})
                expect(status == 204, answer)
                used = other.must(200, "GET", f"/resource_providers/{uuid}/usages")["usages"]
                expect(used == {"VCPU": 2}, used)
                status, answer = other.claim(consumer(2 * number + 1), None, **{uuid: {"VCPU": 6}})
                expect(status == 204, answer)
                status, answer = mine.claim(consumer(100 + number), None, **{uuid: {"VCPU": 1}})
                expect(status == 409, f"more than there is: {status} {answer}")
            expect(snapshot(mine) == snapshot(other), "the two show different states")

    def file_replaced(self):
        """Another database takes the path: it is opened, whatever the old one's WAL held."""
        with self.berthd(name="other.db") as server:
            server.client().make_provider(HOST, "host", VCPU=77)
            server.stop()
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=10)
            os.rename(os.path.join(self.directory, "other.db"), server.database)
            end = time.monotonic() + 3
            while total_of(client) != 77:
                expect(time.monotonic() < end, "the file that took the path is not noticed")
                time.sleep(0.05)
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 60}})
            expect(status == 204, answer)
            server.stop()
            expect(servers.rows(server.database, "SELECT used FROM allocations") == [(60,)], "written elsewhere")
            expect(servers.rows(server.database, "PRAGMA integrity_check") == [("ok",)], "damaged")

    def backup(self):
        """VACUUM INTO while eight clients write: it ends, is one state, and nobody is refused."""
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
            for worker in workers:
                worker.stopped = True
            for thread in threads:
                thread.join(30)
            expect(load.check_all(workers, client) is None, "see above")
            server.stop()
        with self.berthd(name="copy-2.db") as server:
            client = server.client()
            used = client.must(200, "GET", f"/resource_providers/{load.SHARED}/usages")["usages"]["DISK_GB"]
            holders = servers.rows(server.database, "SELECT count(DISTINCT consumer_id) FROM allocations")[0][0]
            expect(used == holders > 0, f"{used} used by {holders}")

    def two_berthd(self):
        """Each gets a third of the commits, none answers 503, nothing is given away twice; one killed, the
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
            for worker in workers:
                worker.stopped = True
            for thread in threads:
                thread.join(30)
                expect(not thread.is_alive(), "a request was never answered")
            problem = load.check_all(workers, first.client(), everything=True)
            expect(problem is None, problem)
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
            expect(given == 100 and len(answers) == 256, f"{given} given away of 100")
            for server in (first, second):
                used = server.client().must(200, "GET", f"/resource_providers/{HOST}/usages")["usages"]
                expect(used == {"VCPU": 100}, used)

    # -- before and after the Python service

    def python_database(self):
        """A database made by the Python service opens and serves, with and without sync_on_startup."""
        with self.python(sync=True) as python:
            populate(python.client())
            before = snapshot(python.client())
        shutil.copy(python.database, os.path.join(self.directory, "again.db"))
        for name, sync in (("placement.db", True), ("again.db", False)):
            with self.berthd(name=name, sync=sync) as server:
                client = server.client()
                expect(snapshot(client) == before, difference(before, snapshot(client)))
                status, answer = client.claim(consumer(50), None, **{HOST: {"VCPU": 1}})
                expect(status == 204, answer)
                server.stop()

    def berth_database(self):
        """A database of berth serves under the Python service 8.0.0: as it is with sync_on_startup off, and
        after `placement-manage db stamp` of its revision with it on."""
        with self.berthd() as server:
            populate(server.client())
            before = snapshot(server.client())
            server.stop()
        with self.python(sync=False) as python:
            expect(snapshot(python.client()) == before, difference(before, snapshot(python.client())))
            status, answer = python.client().claim(consumer(50), None, **{HOST: {"VCPU": 1}})
            expect(status == 204, answer)
            before = snapshot(python.client())
        subprocess.run([self.manage, "--config-file", server.config_file, "db", "stamp", OLD_REVISION], check=True,
                       stdout=subprocess.DEVNULL)
        with self.python(sync=True) as python:
            expect(snapshot(python.client()) == before, difference(before, snapshot(python.client())))
        with self.python(sync=True, name="its-own.db") as own:
            pass
        schema = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name NOT LIKE 'berth%' ORDER BY 1, 2"
        ours, theirs = servers.rows(server.database, schema), servers.rows(own.database, schema)
        expect(ours == theirs, f"schemas differ: {set(ours) ^ set(theirs)}")
        with self.berthd(sync=True) as server:  # and back
            expect(snapshot(server.client()) == before, difference(before, snapshot(server.client())))

    # -- the end

    def ends_with_idle_connections(self):
        """A hundred idle connections do not hold up SIGTERM, and a half-sent request does not for long."""
        for half, most in ((False, 1), (True, 11)):
            with self.berthd() as server:
                idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
                if half:
                    idle[0].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
                time.sleep(0.2)
                began = time.monotonic()
                status = server.stop()
                took = time.monotonic() - began
                expect(status == 0 and took < most, f"status {status} after {took:.1f} s, half-sent: {half}")
                for connection in idle:
                    connection.close()


def populate(client):
    """A little of everything."""
    aggregate = "eeeeeeee-0000-4000-8000-000000000001"
    client.must(201, "PUT", "/traits/CUSTOM_FAST")
    client.must(201, "PUT", "/resource_classes/CUSTOM_THING")
    client.make_provider(HOST, "host", VCPU=16, MEMORY_MB=4096, CUSTOM_THING=3)
    client.must(200, "POST", "/resource_providers", {"name": "child é", "uuid": CHILD, "parent_provider_uuid": HOST})
    client.set_inventory(CHILD, 0, SRIOV_NET_VF=8)
    client.must(200, "PUT", f"/resource_providers/{HOST}/traits",
                {"traits": ["CUSTOM_FAST", "HW_CPU_X86_AVX2"], "resource_provider_generation": 1})
    client.must(200, "PUT", f"/resource_providers/{HOST}/aggregates",
                {"aggregates": [aggregate], "resource_provider_generation": 2})
    client.must(204, "PUT", f"/allocations/{consumer(1)}",
                servers.claim_body(None, {HOST: {"VCPU": 2, "CUSTOM_THING": 1}, CHILD: {"SRIOV_NET_VF": 1}}))
    client.must(204, "PUT", f"/allocations/{consumer(2)}", {
        "allocations": {HOST: {"resources": {"MEMORY_MB": 512}}}, "project_id": "another", "user_id": "user",
        "consumer_generation": None, "consumer_type": "MIGRATION"})
    client.must(204, "PUT", f"/allocations/{consumer(3)}", {
        "allocations": {HOST: {"resources": {"MEMORY_MB": 256}}}, "project_id": "another", "user_id": "user",
        "consumer_generation": None}, version="1.36")


def sorted_deep(value):
    if isinstance(value, dict):
        return {key: sorted_deep(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((sorted_deep(item) for item in value), key=repr)
    return value


def snapshot(client):
    """Every answer that shows the state, lists sorted."""
    paths = ["/resource_providers", "/resource_classes/CUSTOM_THING",
             "/traits?name=startswith:CUSTOM_", "/usages?project_id=project",
             "/usages?project_id=another", "/allocation_candidates?resources=VCPU:1&resources1=SRIOV_NET_VF:1",
             "/allocation_candidates?resources=VCPU:1,MEMORY_MB:1&required=CUSTOM_FAST"]
    providers = client.must(200, "GET", "/resource_providers")["resource_providers"]
    for provider in providers:
        base = "/resource_providers/" + provider["uuid"]
        paths += [base, *(base + part for part in ("/inventories", "/usages", "/aggregates", "/traits", "/allocations"))]
    paths += ["/allocations/" + consumer(number) for number in range(60)]
    answers = {}
    for path in paths:
        status, answer = client.ask("GET", path)
        for error in (answer or {}).get("errors", ()):
            error.pop("request_id")
        answers[path] = (status, sorted_deep(answer))
    return answers


def difference(before, after):
    for path in sorted(set(before) | set(after)):
        if before.get(path) != after.get(path):
            return f"{path}: {before.get(path)} became {after.get(path)}"
    return "the same"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    cases, score = Cases(options.berthd), servers.Score()
    names = [name for name in vars(Cases) if not name.startswith("_") and name not in ("berthd", "python", "refused")]
    for name in options.cases or names:
        began, problem, note = time.monotonic(), None, None
        with tempfile.TemporaryDirectory(prefix=f"berth-{name}-", dir="/var/tmp") as directory:
            cases.directory = directory
            try:
                note = getattr(cases, name)()
            except Exception as failure:
                problem = f"{failure!r}\n{traceback.format_exc()}"
        if note:
            print(f"       {name}: {note}")
        else:
            score.case(name, problem, time.monotonic() - began)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
