#!/usr/bin/python3
"""berth backup and berth restore: during load on berthd, killed at any moment, on a full disk, with every kind of
file that is not a backup, with a database of another user, and while berthd starts.

    tests/faults/backups.py --berthd build/berthd [CASE…]

The last line is `N passed, N failed`. A case that cannot run on this machine says so, and does not count.
"""

import contextlib
import functools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import case
from case import HOST, end_load, expect, load, servers, total_of

COUNT = 4000
KILLS = 60
BALLAST_MIB = 80  # more than is copied between two looks at the signals
NOBODY, NOGROUP = 65534, 65533
BULK = """WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)
SELECT 100 + i, printf('dddddddd-0000-4000-8000-%012d', i), ? || i, 0, 100 + i FROM n"""


class Backups(case.Case):
    def _berth(self, *words, good=True, **more):
        """Runs it; returns its output or, if it must fail, its one line on standard error."""
        program = os.path.join(os.path.dirname(self.program), "berth")
        done = subprocess.run([program, *words], capture_output=True, text=True, cwd=self.directory, **more)
        if good:
            expect(done.returncode == 0 and not done.stderr, f"{words}: {done}")
            return done.stdout
        expect(done.returncode == 1 and not done.stdout, f"{words}: {done}")
        expect(done.stderr.count("\n") == 1 and done.stderr.startswith(f"berth {words[0]}: "), done.stderr)
        return done.stderr

    def _started(self, *words, **more):
        return subprocess.Popen([os.path.join(os.path.dirname(self.program), "berth"), *words], cwd=self.directory,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def _names(self):
        return {name for name in os.listdir(self.directory) if not name.startswith("berthd-")}

    def _contents(self):
        contents = {}
        for name in self._names():
            path = os.path.join(self.directory, name)
            if os.path.isfile(path) and not name.endswith("-shm"):
                with open(path, "rb") as file:
                    contents[name] = file.read(), os.stat(path).st_mode, os.stat(path).st_uid
        return contents

    def _two_states(self):
        """A database with names of one kind, some of them only in its WAL, and a backup with others; the server."""
        server = self.berthd()
        with server:
            server.stop()
        with contextlib.closing(sqlite3.connect(server.database)) as file, file:
            file.execute(BULK, (COUNT, "new-"))
        self._berth("backup", "--config-file", server.config_file, "new.backup")
        with contextlib.closing(sqlite3.connect(server.database)) as file, file:
            file.execute("UPDATE resource_providers SET name = 'old-' || id")
        with server.start():
            server.client().make_provider(HOST, "old-host", VCPU=10)
            server.kill()
        expect(os.path.getsize(server.database + "-wal") > 0, "no WAL was left")
        return server

    def _state(self, database):
        """Which of the two states it has, completely."""
        found = servers.rows(database, "SELECT substr(name, 1, 3), count(*) FROM resource_providers GROUP BY 1")
        expect(found in ([("old", COUNT + 1)], [("new", COUNT)]), f"neither state: {found}")
        expect(servers.rows(database, "PRAGMA integrity_check") == [("ok",)], "damaged")
        return found[0][0]

    def backup_beside_writers(self):
        """No write is refused, and each copy is one state that can be served."""
        with self.berthd() as server:
            client = server.client()
            load.fill(client, 8)
            workers = [load.Worker(n, server.client(), n) for n in range(8)]
            threads = load.start(workers)
            time.sleep(1)
            for number in range(3):
                line = self._berth("backup", "--config-file", server.config_file, f"copy-{number}")
                expect(line.startswith(f"Backup 'copy-{number}': ") and "revision a082b8bb98d0" in line, line)
                before = sum(worker.acknowledged for worker in workers)
                time.sleep(0.3)
                expect(sum(worker.acknowledged for worker in workers) > before, "writes stand still")
            end_load(workers, threads)
            expect(load.check_all(workers, client) is None, "see above")
            server.stop()
            for each in [client, *(worker.client for worker in workers)]:
                each.close()
            line = self._berth("restore", "--config-file", server.config_file, "copy-2")
            kept = line.rstrip("'\n").rpartition("'")[2]
            expect(line.startswith(f"Restored '{server.database}': ") and os.path.exists(kept), line)
            logged = len(server.log())
            with server.start():
                used = client.must(200, "GET", f"/resource_providers/{load.SHARED}/usages")["usages"]["DISK_GB"]
                holders = servers.rows(server.database, "SELECT count(DISTINCT consumer_id) FROM allocations")[0][0]
                expect(used == holders > 0, f"{used} used by {holders}")
                client.make_provider(HOST, "after", VCPU=1)
                server.stop()
                client.close()
            expect(not {"WARNING", "ERROR"} & set(server.log()[logged:].split()), server.log()[logged:])
            self._berth("restore", "--config-file", server.config_file, "--no-keep", kept)
            with server.start():
                expect(load.check_all(workers, client) is None, "the replaced database lost something")

    def backup_killed(self):
        """At any moment there is no file of that name, or a complete one; the next backup reuses the remains."""
        server = self._two_states()
        words = "backup", "--config-file", server.config_file, "killed"
        began = time.monotonic()
        self._berth(*words)
        took, there, draw = time.monotonic() - began, 0, random.Random(1)
        for number in range(KILLS):
            path = os.path.join(self.directory, "killed")
            if os.path.exists(path):
                os.unlink(path)
            process = self._started(*words)
            time.sleep(draw.uniform(0, took * 1.1))
            process.kill()
            process.communicate()
            if os.path.exists(path):
                there += 1
                expect(self._state(path) == "old", "not the state of the database")
        self._berth(*words, "--force")
        expect(not [name for name in self._names() if "partial" in name], self._names())
        print(f"       {there} of {KILLS} were complete")
        process = self._started(*words, "--force")
        process.send_signal(signal.SIGTERM)
        process.communicate()
        expect(not [name for name in self._names() if "partial" in name], "SIGTERM leaves a partial file")

    def backup_interrupted(self):
        """By each signal that ends it, at once and leaving nothing; not by one that the caller ignores, as nohup does."""
        server = self._two_states()
        with contextlib.closing(sqlite3.connect(server.database)) as file, file:
            file.execute("CREATE TABLE ballast (x)")
            file.executemany("INSERT INTO ballast VALUES (zeroblob(?))", [(1 << 20,)] * BALLAST_MIB)
        path = os.path.join(self.directory, "made")
        for ends in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            for ignored in (False, True):
                action = signal.SIG_IGN if ignored else signal.SIG_DFL
                process = self._started("backup", "--config-file", server.config_file, "made",
                                        preexec_fn=functools.partial(signal.signal, ends, action))
                while process.poll() is None:
                    if os.path.exists(path + ".partial"):
                        process.send_signal(ends)
                    time.sleep(0.001)
                errors = process.communicate()[1]
                expect(process.returncode == (0 if ignored else 1), f"{ends.name}: {process.returncode} {errors}")
                expect(errors == (b"" if ignored else b"berth backup: interrupted\n"), errors)
                expect(os.path.exists(path) == ignored and not os.path.exists(path + ".partial"), self._names())
                if ignored:
                    os.unlink(path)

    def backup_refused(self):
        """If the target is not writable, nothing is written; a relative path is relative to the caller's directory."""
        with self.berthd() as server:
            server.client().make_provider(HOST, "host", VCPU=10)
            words = "backup", "--config-file", server.config_file
            os.mkdir(os.path.join(self.directory, "there"))
            self._berth(*words, "there/copy")
            expect(os.stat(os.path.join(self.directory, "there/copy")).st_mode & 0o7777 == 0o600, "not 0600")
            os.symlink("copy", os.path.join(self.directory, "there/link"))
            os.symlink("nowhere", os.path.join(self.directory, "there/dangling"))
            os.symlink(server.database, os.path.join(self.directory, "there/database"))
            before = self._contents()
            for name, why in (("there/copy", "exists already"), ("there/link", "exists already"), ("there/dangling", "exists already"),
                              ("there", "exists already"), ("missing/copy", "No such file or directory"), ("there/", "does not name"),
                              ("placement.db", "the database itself"), ("placement.db-wal", "the database itself")):
                expect(why in self._berth(*words, name, good=False), name)
            for name, why in (("there/link", "not a regular file"), ("there/database", "not a regular file"),
                              ("there", "not a regular file"), ("placement.db", "the database itself"),
                              ("there/../placement.db-shm", "the database itself")):
                expect(why in self._berth(*words, "--force", name, good=False), name)
            expect(self._contents() == before, "a refused backup has changed something")
            self._berth(*words, "--force", "there/copy")
            expect(total_of(server.client()) == 10, "it serves no more")
            for extra in ((), ("a", "b"), ("--unknown", "a")):
                program = os.path.join(os.path.dirname(self.program), "berth")
                expect(subprocess.run([program, "backup", *extra], capture_output=True).returncode == 2, extra)

    def backup_disk_full(self):
        """One line, the partial file is removed, and an older backup stays."""
        server = self._two_states()
        mount = os.path.join(self.directory, "small")
        os.mkdir(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "berth-test", mount], stderr=subprocess.DEVNULL).returncode:
            return "no tmpfs to be had here: left out"
        try:
            with open(os.path.join(mount, "older"), "w") as file:
                file.write("older")
            for words in (("small/copy",), ("--force", "small/older")):
                line = self._berth("backup", "--config-file", server.config_file, *words, good=False)
                expect("full" in line or "No space" in line, line)
            expect(os.listdir(mount) == ["older"] and os.path.getsize(os.path.join(mount, "older")) == 5, os.listdir(mount))
            database = os.path.join(mount, "placement.db")
            with open(server.config_file) as file:
                text = file.read().replace(server.database, database)
            with open(os.path.join(mount, "conf"), "w") as file:
                file.write(text)
            with open(database, "w") as file:
                file.write("damaged")
            line = self._berth("restore", "--config-file", "small/conf", "new.backup", good=False)
            expect("No space" in line, line)
            expect(set(os.listdir(mount)) == {"older", "conf", "placement.db"}, os.listdir(mount))
        finally:
            subprocess.run(["umount", "-l", mount], check=True)

    def restore_refused(self):
        """Files that are not backups, and a database in use: one line, and nothing is changed."""
        server = self._two_states()
        words = "restore", "--config-file", server.config_file
        at = lambda name: os.path.join(self.directory, name)  # noqa: E731
        with open(at("new.backup"), "rb") as file:
            whole = bytearray(file.read())
        files = {"empty": b"", "text": b"not a database\n" * 100, "truncated": whole[:len(whole) // 2], "short": whole[:50],
                 "torn": whole[:-4096] + bytes(4096), "zeros": bytes(len(whole)), "tail": whole[:-1]}
        for name, contents in files.items():
            with open(at(name), "wb") as file:
                file.write(contents)
        random.Random(3).shuffle(damage := list(range(len(whole) // 4096)))
        for page in damage[:len(damage) // 3]:
            whole[page * 4096 + 8:page * 4096 + 200] = bytes(192)
        with open(at("damaged"), "wb") as file:
            file.write(whole)
        for name, sql in (("newer", "UPDATE alembic_version SET version_num = 'cafecafecafe'"), ("unstamped", "DROP TABLE alembic_version"),
                          ("without", "DROP TABLE inventories")):
            shutil.copy(at("new.backup"), at(name))
            with contextlib.closing(sqlite3.connect(at(name))) as file, file:
                file.execute(sql)
        with contextlib.closing(sqlite3.connect(at("foreign"))) as file:
            file.execute("CREATE TABLE t (x)")
        os.symlink(server.database, at("link"))
        before = self._contents()
        for name in [*files, "damaged", "newer", "unstamped", "without", "foreign", "link", "placement.db", "absent", "."]:
            self._berth(*words, name, good=False)
            expect(self._contents() == before, f"{name}: something was changed")
        with server.start():
            server.client().make_provider(case.CHILD, "old-too")
            before = self._contents()
            line = self._berth(*words, "new.backup", good=False)
            expect(f"in use by process {server.process.pid} (berthd)" in line, line)
            expect(self._contents() == before, "a refused restore has changed something")
            expect(total_of(server.client()) == 10, "it serves no more")
            server.stop()
        with contextlib.closing(sqlite3.connect(server.database)) as other:
            other.execute("SELECT count(*) FROM traits").fetchall()
            expect(f"process {os.getpid()}" in self._berth(*words, "new.backup", good=False), "another reader")
        with contextlib.closing(sqlite3.connect(at("new.backup"))) as other:
            other.execute("BEGIN IMMEDIATE")
            expect("open in another process" in self._berth(*words, "new.backup", good=False), "the backup is being written")
            other.rollback()
        self._berth(*words, "new.backup")
        expect(self._state(server.database) == "new", "not restored")
        # Like the Python service: without a WAL, an idle connection holds no lock.
        with contextlib.closing(sqlite3.connect(server.database)) as other:
            other.execute("SELECT count(*) FROM traits").fetchall()
            expect(f"process {os.getpid()}" in self._berth(*words, "new.backup", good=False), "an idle one without a WAL")

    def at_the_same_time(self):
        """Several backups to one name: one of them creates it, and no file mixes two. Of several restores to one
        database, each may find it open in the others; then none of them changes it."""
        server = self._two_states()
        for words, name, state in ((("backup", "--force"), "copy", "old"), (("backup",), "other", "old"),
                                   (("restore",), "new.backup", "new")):
            done = False
            for number in range(5):
                processes = [self._started(words[0], "--config-file", server.config_file, *words[1:], name) for _ in range(4)]
                errors = [process.communicate()[1].decode() for process in processes]
                codes = [process.returncode for process in processes]
                done = done or 0 in codes
                expect(0 in codes or (number and name == "other") or words[0] == "restore", errors)
                known = "another process is writing", "exists already", "in use by", "is being replaced", "was replaced"
                expect(all(code == 0 or any(text in error for text in known) for code, error in zip(codes, errors)), errors)
                where = server.database if words[0] == "restore" else os.path.join(self.directory, name)
                expect(self._state(where) == (state if done else "old"), "the other state")
            expect(done, "none of them has succeeded")
        expect(not [name for name in self._names() if "partial" in name or "restoring" in name], self._names())

    def restore_owner(self):
        """By root, for a database of another user: owner, group, mode stay, and that user can serve it."""
        if os.geteuid() != 0:
            return "only root may: left out"
        server = self._two_states()
        for suffix in ("", "-wal", "-shm"):
            os.chown(server.database + suffix, NOBODY, NOGROUP)
        os.chmod(server.database, 0o660)
        self._berth("restore", "--config-file", server.config_file, "new.backup")
        found = os.stat(server.database)
        expect((found.st_uid, found.st_gid, found.st_mode & 0o7777) == (NOBODY, NOGROUP, 0o660), found)
        os.chown(self.directory, NOBODY, NOGROUP)
        os.unlink(server.database)
        self._berth("restore", "--config-file", server.config_file, "new.backup")
        found = os.stat(server.database)
        expect((found.st_uid, found.st_gid, found.st_mode & 0o7777) == (NOBODY, NOGROUP, 0o640), found)

        def as_nobody():
            os.setgroups([])
            os.setgid(NOGROUP)
            os.setuid(NOBODY)

        os.chmod(server.config_file, 0o644)
        server.limits = as_nobody
        with server.start():
            server.client().make_provider(HOST, "host", VCPU=1)
            server.stop()

    def restore_through_links(self):
        """A database named by a symbolic link, and such a backup: the link stays, the file is replaced. The WAL of a
        copied backup is restored with it."""
        server = self._two_states()
        os.mkdir(os.path.join(self.directory, "real"))
        for suffix in ("", "-wal", "-shm"):
            os.rename(server.database + suffix, os.path.join(self.directory, "real/file" + suffix))
        os.symlink("real/file", server.database)
        os.symlink("new.backup", os.path.join(self.directory, "latest"))
        for suffix in ("", "-wal"):
            shutil.copy(os.path.join(self.directory, "real/file" + suffix), os.path.join(self.directory, "raw" + suffix))
        words = "restore", "--config-file", server.config_file, "--no-keep"
        self._berth(*words, "latest")
        expect(os.path.islink(server.database) and os.listdir(os.path.join(self.directory, "real")) == ["file"], "names")
        expect(self._state(server.database) == "new", "not restored")
        self._berth(*words, "raw")
        expect(self._state(server.database) == "old", "the WAL of the copy is missing")

    def restore_killed(self):
        """At any moment, over a database whose last commits are in its WAL: the old database or the new one,
        completely."""
        server = self._two_states()
        saved = os.path.join(self.directory, "saved")
        os.mkdir(saved)
        trio = [os.path.basename(server.database) + suffix for suffix in ("", "-wal", "-shm")]
        for name in trio:
            shutil.copy(os.path.join(self.directory, name), saved)
        words = "restore", "--config-file", server.config_file, "new.backup"
        began = time.monotonic()
        self._berth(*words)
        took, draw, found = time.monotonic() - began, random.Random(2), []
        for number in range(KILLS):
            for name in self._names():
                if name.startswith("placement.db"):
                    os.unlink(os.path.join(self.directory, name))
            for name in trio:
                shutil.copy(os.path.join(saved, name), self.directory)
            process = self._started(*words)
            time.sleep(draw.uniform(took * (0.5 if number % 2 else 0), took * 1.05))
            process.kill()
            process.communicate()
            if number % 10 == 0:
                with server.start():
                    server.client().must(200, "GET", "/resource_providers?name=none")
                    server.stop()
            found.append(self._state(server.database))
            self._berth(*words)
            expect(self._state(server.database) == "new", "the next restore does not help")
            expect(not [name for name in self._names() if "restoring" in name], self._names())
        print(f"       {found.count('old')} times the old one, {found.count('new')} times the new one")

    def restore_while_berthd_starts(self):
        """Either one of the two is refused, or berthd serves the new database; never a mixture of both."""
        server = self._two_states()
        words = "restore", "--config-file", server.config_file, "--no-keep", "new.backup"
        draw, outcomes = random.Random(4), []
        for number in range(25):
            serving, started = self.berthd(), []

            def start():
                time.sleep(draw.uniform(0, 0.15))
                with contextlib.suppress(RuntimeError):
                    started.append(serving.start())

            thread = threading.Thread(target=start)
            thread.start()
            process = self._started(*words)
            _, errors = process.communicate()
            thread.join()
            try:
                if not started:
                    with contextlib.suppress(RuntimeError):
                        started.append(serving.start())
                expect(started, serving.log())
                state = self._state(serving.database)
                expect(process.returncode == 1 or state == "new", f"{state} is served after a restore")
                expect(process.returncode == 0 or b"in use" in errors or b"replaced" in errors, errors)
                serving.client().make_provider(HOST.replace("b", "e"), state + "-mark")
                serving.client().must(204, "DELETE", "/resource_providers/" + HOST.replace("b", "e"))
                outcomes.append(process.returncode)
                serving.stop()
            finally:
                serving.kill()
            expect(servers.rows(serving.database, "PRAGMA integrity_check") == [("ok",)], "damaged")
            with contextlib.closing(sqlite3.connect(serving.database)) as file, file:
                file.execute("DELETE FROM inventories")
                file.execute("DELETE FROM resource_providers")
                file.execute(BULK, (COUNT + 1, "old-"))
        print(f"       {outcomes.count(0)} restored, {outcomes.count(1)} refused")


if __name__ == "__main__":
    sys.exit(case.main(__doc__, Backups))
