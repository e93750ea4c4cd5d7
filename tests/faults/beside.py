#!/usr/bin/python3
"""berthd with others at its database file: a second berthd, a program that writes all the time, a reader that stays,
a file system that becomes read-only.

    tests/faults/beside.py --berthd build/berthd [CASE…]

Figures are printed. The last line is `N passed, N failed`. A case that cannot run on this machine says so, and does not
count.
"""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
import uuid

import case
from case import expect, servers

SECONDS = 4


class Client(servers.Client):
    def make_host(self, host, total):
        self.make_provider(host, VCPU=total)

    def claim_one(self, host):
        """(status, the new consumer)."""
        consumer = str(uuid.uuid4())
        return self.claim(consumer, None, **{host: {"VCPU": 1}})[0], consumer

    def used(self, host):
        return self.must(200, "GET", f"/resource_providers/{host}/usages")["usages"]["VCPU"]


class Berthd(servers.Berthd):
    def client(self):
        return Client(self.port)


def in_threads(work, count, seconds):
    """Runs work(number, go_on) in threads; raises an exception that one of them raised."""
    problems, end = [], time.monotonic() + seconds

    def run(number):
        try:
            work(number, lambda: time.monotonic() < end)
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def commits_of_each(database):
    """Batches in the newest part of the log, by instance."""
    with contextlib.closing(sqlite3.connect(database, timeout=10)) as shell:
        return [row[0] for row in shell.execute(
            "SELECT count(*) FROM (SELECT mark FROM berth_log ORDER BY seq DESC LIMIT 4000)"
            " GROUP BY substr(hex(mark), 1, 16)")]


class Cases(case.Case):
    def __init__(self, program, directory):
        super().__init__(program, directory)
        self.database = os.path.join(directory, "placement.db")
        self.host = str(uuid.uuid4())

    def _berthd(self):
        return Berthd(self.program, self.directory, name=os.path.relpath(self.database, self.directory),
                      options=["[berth]", "access_log = false"])

    def two_share(self):
        """Each gets a third of the commits, even if one has many more clients; no 503, nothing lost, nothing given
        out twice."""
        with self._berthd() as first, self._berthd() as second:
            first.client().make_host(self.host, 1000000)
            for sides, asked in (((0, 1) * 6, "alike"), ((0,) * 11 + (1,), "11 clients against 1")):
                given = []

                def claim(number, more):
                    client = (first, second)[sides[number]].client()
                    while more():
                        status, consumer = client.claim_one(self.host)
                        expect(status == 204, f"a claim was answered {status}")
                        given.append(consumer)

                before = first.client().used(self.host)
                with contextlib.closing(sqlite3.connect(self.database, timeout=10)) as shell:
                    shell.execute("DELETE FROM berth_log WHERE seq < (SELECT max(seq) FROM berth_log)")
                    shell.commit()
                in_threads(claim, len(sides), SECONDS)
                commits = commits_of_each(self.database)
                print(f"       {asked}: commits {commits}, {len(given)} claims")
                expect(len(commits) == 2 and 3 * min(commits) >= sum(commits), f"commits {commits}")
                for server in (first, second):
                    used = server.client().used(self.host)
                    expect(used - before == len(given), f"{used - before} used, {len(given)} acknowledged")

    def two_see_each_other(self):
        """What one has acknowledged is in the other's next answer, while both write; the last units are given out
        once."""
        with self._berthd() as first, self._berthd() as second:
            first.client().make_host(self.host, 150)
            answers = []

            def claim(number, more):
                mine, other = (first, second)[number % 2].client(), (first, second)[1 - number % 2].client()
                for _ in range(40):
                    status, consumer = mine.claim_one(self.host)
                    answers.append(status)
                    if status == 204:
                        there = other.must(200, "GET", f"/allocations/{consumer}")["allocations"]
                        expect(self.host in there, "an acknowledged claim is not in the other's next answer")

            in_threads(claim, 8, 0)
            expect(sorted(set(answers)) == [204, 409], f"answers {set(answers)}")
            expect(answers.count(204) == 150, f"{answers.count(204)} of 150 units given")
            expect(first.client().used(self.host) == second.client().used(self.host) == 150, "the books differ")

    def foreign_writes_all_the_time(self):
        """20 writes per second by a program that keeps no log: reads and claims are answered, each with what the
        foreign writer had committed before the request."""
        hosts = [str(uuid.uuid4()) for _ in range(300)]
        with self._berthd() as server:
            client = server.client()
            for host in hosts:
                client.make_host(host, 1000 if host == hosts[0] else 1000000)
            last, longest = [1000], [0.0, 0.0]

            def work(number, more):
                if number == 0:
                    shell = sqlite3.connect(self.database, timeout=10, isolation_level=None)
                    while more():
                        shell.execute("UPDATE inventories SET total = ? WHERE resource_provider_id ="
                                      " (SELECT id FROM resource_providers WHERE uuid = ?)", (last[0] + 1, hosts[0]))
                        last[0] += 1
                        time.sleep(0.05)
                    shell.close()
                    return
                mine = server.client()
                while more():
                    known, began = last[0], time.monotonic()
                    if number % 2:
                        answer = mine.must(200, "GET", f"/resource_providers/{hosts[0]}/inventories/VCPU")
                        expect(answer["total"] >= known, f"{answer['total']} after {known} was committed")
                    else:
                        answer = mine.claim_one(hosts[number])
                        expect(answer[0] == 204, f"a claim was refused: {answer}")
                    longest[number % 2] = max(longest[number % 2], time.monotonic() - began)

            in_threads(work, 9, SECONDS)
            print(f"       {last[0] - 1000} foreign writes; longest read {longest[1]:.2f} s, claim {longest[0]:.2f} s")
            expect(last[0] - 1000 >= SECONDS * 2, "the foreign writer was kept out")
            expect(max(longest) < 5, f"longest {longest}")

    def reader_that_stays(self):
        """Another program's read transaction keeps the WAL from starting over: claims go on, and afterwards it is
        within 190 MiB again."""
        wal, longest = self.database + "-wal", [0.0]
        with self._berthd() as server:
            hosts = [str(uuid.uuid4()) for _ in range(8)]
            for host in hosts:
                server.client().make_host(host, 1000000)
            reader = sqlite3.connect(self.database, isolation_level=None)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM allocations").fetchall()

            def claim(number, more):
                mine = server.client()
                while more():
                    began = time.monotonic()
                    answer = mine.claim_one(hosts[number])
                    expect(answer[0] == 204, f"a claim was refused: {answer}")
                    longest[0] = max(longest[0], time.monotonic() - began)

            # Until it is too long, if this machine is fast enough.
            for _ in range(8):
                in_threads(claim, 8, SECONDS)
                if os.path.getsize(wal) > 240 << 20:
                    break
            size = os.path.getsize(wal)
            reader.close()
            for _ in range(20):  # it is cut gradually
                in_threads(claim, 8, 1)
                if os.path.getsize(wal) <= 190 << 20:
                    break
            print(f"       WAL {size >> 20} MiB behind the reader, {os.path.getsize(wal) >> 20} MiB afterwards; "
                  f"longest claim {longest[0]:.2f} s")
            expect(os.path.getsize(wal) <= 190 << 20, f"{os.path.getsize(wal) >> 20} MiB")
            expect(longest[0] < 5, f"a claim took {longest[0]:.1f} s")

    def read_only_file_system(self):
        """Mounted read-only, after a regular stop and after a crash: berthd starts, reads, and refuses writes with
        503; mounted writable again, it writes."""
        mount = os.path.join(self.directory, "mount")
        os.mkdir(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "berth-test", mount],
                          stderr=subprocess.DEVNULL).returncode:
            return "no tmpfs to be had here: left out"
        self.database = os.path.join(mount, "placement.db")
        try:
            for turn, end in enumerate((Berthd.stop, Berthd.kill)):
                subprocess.run(["mount", "-o", "remount,rw", mount], check=True)
                with self._berthd() as server:
                    if turn == 0:
                        server.client().make_host(self.host, 10)
                    end(server)
                subprocess.run(["mount", "-o", "remount,ro", mount], check=True)
                with self._berthd() as server:
                    client = server.client()
                    expect(client.used(self.host) == turn, "the wrong use")
                    for _ in range(3):
                        expect(client.claim_one(self.host)[0] == 503, "a claim was not refused")
                        expect(client.used(self.host) == turn, "reads do not continue")
                    subprocess.run(["mount", "-o", "remount,rw", mount], check=True)
                    expect(client.claim_one(self.host)[0] == 204, "writes do not continue")
                    expect(client.used(self.host) == turn + 1, "the claim is missing")
                    server.stop()
        finally:
            subprocess.run(["umount", "-l", mount])
        return None


if __name__ == "__main__":
    sys.exit(case.main(__doc__, Cases))
