"""The commands of berth and the upgrade checks beyond what the Python tools have: audit, the progress of backups, status
of a berthd that is played here, policies, and command lines that are too long."""

import contextlib
import json
import os
import pty
import socket
import sqlite3
import subprocess
import tempfile
import threading

import databases

CONFIG = """[placement_database]
connection = sqlite:///{database}
[api]
auth_strategy = noauth2
"""
PROVIDER = "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) VALUES (1, 'p1', 'n1', 0, 1);"
HOLD = """
INSERT INTO projects (id, external_id) VALUES (1, 'project');
INSERT INTO users (id, external_id) VALUES (1, 'user');
INSERT INTO consumer_types (id, name) VALUES (1, 'VALET_HOLD'), (2, 'INSTANCE');
INSERT INTO consumers (id, uuid, project_id, user_id, generation, consumer_type_id) VALUES
    (1, 'c0000000-0000-0000-0000-000000000001', 1, 1, 1, 1), (2, 'c0000000-0000-0000-0000-000000000002', 1, 1, 1, 2);
INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size,
    allocation_ratio) VALUES (1, 0, 8, 0, 1, 8, 1, 1.0);
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES
    (1, 'c0000000-0000-0000-0000-000000000001', 0, 1), (1, 'c0000000-0000-0000-0000-000000000002', 0, 1);
"""
PLACEMENTS = """
INSERT INTO berth_valet_plans (id, uuid, name, stack_id, project_id, user_id) VALUES (1, 'plan-1', 'web', 'web', 'project', 'user');
INSERT INTO berth_valet_placements (uuid, plan_id, name, orchestration_id, location, reserved) VALUES
    ('c0000000-0000-0000-0000-000000000009', 1, 'web', 'server-1', 'n7', 0);
"""
# More than is copied in one piece, and more rows than are checked in one.
LARGE = """
CREATE TABLE filler (id INTEGER PRIMARY KEY, bytes BLOB);
INSERT INTO filler (bytes) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    SELECT zeroblob(100) FROM n;
"""
ORPHAN = "allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (1, 'nobody', 0, 1)"


IN_NAMESPACE = ("/usr/bin/unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)))


def packaged_files():
    return any(os.path.exists(path) for path in ("/etc/placement", "/etc/placement.conf", "/etc/placement.conf.d", "/etc/berth"))


HELPERS = ("write", "run", "must", "played_status")


class Tools:
    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        self.database = os.path.join(directory, "a.db")
        self.where = ["--config-file", self.write("a.conf", CONFIG.format(database=self.database))]
        self.must(0, "placement-manage", *self.where, "db", "sync")
        databases.execute(self.database, PROVIDER)

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, program, *words, user=None, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "XDG_"))}
        return subprocess.run([os.path.join(self.build, program), *words], capture_output=True, text=True, timeout=60,
                              cwd=self.directory, env={**clean, "HOME": self.directory, **environment},
                              stdin=subprocess.DEVNULL, user=user)

    def must(self, code, program, *words):
        """(standard output, standard error)"""
        done = self.run(program, *words)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout, done.stderr

    # The cases. Each raises AssertionError, or passes.

    def audit(self):
        assert self.must(0, "berth", "audit", *self.where) == ("", "")
        databases.execute(self.database, HOLD)
        hold = "hold c0000000-0000-0000-0000-000000000001 of project project: its placement no longer exists\n"
        assert self.must(1, "berth", "audit", *self.where) == (hold, "")
        databases.execute(self.database, PLACEMENTS)
        placement = "placement c0000000-0000-0000-0000-000000000009 of {}: neither its hold nor its server exists; it was on n7\n"
        assert self.must(1, "berth", "audit", *self.where) == (hold + placement.format("plan plan-1"), "")
        databases.execute(self.database, "DELETE FROM berth_valet_plans")
        assert self.must(1, "berth", "audit", *self.where) == (hold + placement.format("a plan that no longer exists"), "")
        databases.execute(self.database, "UPDATE berth_valet_placements SET uuid = 'c0000000-0000-0000-0000-000000000001'")
        assert self.must(0, "berth", "audit", *self.where) == ("", ""), "the placement's hold exists"

    def audit_of_what_cannot_be_read(self):
        out, err = self.must(2, "berth", "audit", "--config-file", "nowhere.conf")
        assert out == "" and err.startswith("berth audit: cannot read the configuration file nowhere.conf: "), err
        other = self.write("other.conf", CONFIG.format(database=self.directory + "/nowhere.db"))
        out, err = self.must(2, "berth", "audit", "--config-file", other)
        assert out == "" and err.startswith("berth audit: ") and "nowhere.db" in err and err.count("\n") == 1, err
        databases.execute(self.database, "DROP TABLE inventories")
        out, err = self.must(2, "berth", "audit", *self.where)
        assert out == "" and err.startswith("berth audit: ") and "inventories" in err and err.count("\n") == 1, err

    def progress_on_a_terminal(self):
        """On a terminal the progress is shown in one line, and erased before the result."""
        databases.execute(self.database, LARGE)
        master, slave = pty.openpty()
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, master)
            done = subprocess.run([os.path.join(self.build, "berth"), "backup", *self.where, "copy"], cwd=self.directory,
                                  stdout=slave, stderr=slave, stdin=subprocess.DEVNULL, timeout=60)
            os.close(slave)
            text = os.read(master, 65536).decode()
        shown, _, result = text.rpartition("\r" + " " * 20 + "\r")
        assert done.returncode == 0 and shown.startswith("\rcopying ") and "% \rchecking ... " in shown, text
        assert "\n" not in shown, text
        assert result.startswith("Backup 'copy': ") and result.endswith(", 1 resource provider\r\n"), text
        assert "\r" not in self.must(0, "berth", "backup", *self.where, "copy2")[1]

    def too_many_files(self):
        """Before the command and after it together."""
        many = ["--config-file=x"] * 40
        for words, name in ((["audit"], "audit"), (["backup", "x"], "backup"), (["restore", "x"], "restore"),
                            (["status"], "status"), (["config", "validate"], "config validate")):
            out, err = self.must(2, "berth", *many, *words, *many)
            assert (out, err) == ("", f"berth {name}: too many configuration files\n"), err
        out, err = self.must(2, "berth", *many, "policy", "list", *many)
        assert out == "" and "too many switches at x" in err, err
        out, err = self.must(2, "berth", "status", "--bogus")
        assert out == "" and err == "berth status: unrecognized arguments: --bogus\n", err

    def configuration_without_a_file(self):
        if packaged_files():
            return
        assert self.must(0, "berth", "config", "validate")[0].startswith("read: no file; berthd would run embedded\n")
        out, _ = self.must(0, "berth", "config", "show", "api", "auth_strategy")
        assert out == "[api]\n# embedded, because no file was read\nauth_strategy = noauth2\n", out

    def files_of_the_package(self):
        """Used if there are no others: in a mount namespace whose /etc is played here."""
        etc = os.path.join(self.directory, "etc")
        os.makedirs(etc + "/berth/placement.conf.d")
        berth = os.path.join(self.build, "berth")
        self.write("etc/berth/placement.conf", CONFIG.format(database="/own.db"))
        self.write("etc/berth/placement.conf.d/a.conf", "[berth]\nlisten = 127.0.0.1:7\n")
        shown = f"mount --bind {etc} /etc && exec {berth} config show berth listen"
        out, err = self.must(0, IN_NAMESPACE[0], *IN_NAMESPACE[1:], "sh", "-c", shown)
        assert out == "[berth]\n# /etc/berth/placement.conf.d/a.conf:2\nlisten = 127.0.0.1:7\n", (out, err)
        validated = f"mount --bind {etc} /etc && exec {berth} config validate"
        out, _ = self.must(0, IN_NAMESPACE[0], *IN_NAMESPACE[1:], "sh", "-c", validated)
        assert out.startswith("read: /etc/berth/placement.conf\nread: /etc/berth/placement.conf.d/a.conf\n"), out
        os.makedirs(etc + "/placement")
        self.write("etc/placement/placement.conf", CONFIG.format(database="/others.db"))
        out, _ = self.must(0, IN_NAMESPACE[0], *IN_NAMESPACE[1:], "sh", "-c", validated)
        assert out.startswith("read: /etc/placement/placement.conf\n") and "/etc/berth" not in out, out

    def embedded_without_a_directory(self):
        """A user whose state directory cannot be created."""
        if packaged_files():
            return
        file = os.path.join(self.directory, "a.db")
        done = self.run("berthd", XDG_STATE_HOME=file, user="nobody" if os.geteuid() == 0 else None)
        assert done.returncode == 1 and done.stdout == "", done
        assert f"berthd: cannot create the directory {file}" in done.stderr, done.stderr

    def policies(self):
        """A file relative to the directory, the rule that stands in for others, and more warnings than are kept."""
        self.write("p.yaml", "default: '@'\nown: '!'\n")
        out, _ = self.must(0, "berth", "policy", *self.where, "validate", "--policy-file", "p.yaml")
        assert out == "", out
        self.write("token", json.dumps({"token": {"user": {"id": "u", "domain": {"id": "d"}}, "roles": []}}))
        words = ["policy", *self.where, "check", "--policy-file", "p.yaml", "--token-file", "token"]
        out, _ = self.must(0, "berth", *words, "nothing:like:it")
        assert out.startswith("passed: nothing:like:it  (not defined: default is used instead)\n"), out
        out, _ = self.must(1, "berth", *words, "nothing:like:it", "own")
        assert out.startswith("passed: nothing:like:it") and "\nfailed: own  (" in out, out
        self.write("many.yaml", "".join(f"'placement:no_such_rule_{number}': 'role:a'\n" for number in range(100)))
        out, _ = self.must(1, "berth", "policy", *self.where, "validate", "--policy-file", "many.yaml")
        assert len(out.splitlines()) == 65 and out.endswith("\nand 36 more\n"), out

    def played_status(self, page, *words):
        """What berth status prints for this page, served on a socket."""
        path = os.path.join(self.directory, "s")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(1)

            def serve():
                client, _ = listener.accept()
                with client:
                    client.recv(65536)
                    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(page).encode())

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                return self.run("berth", "status", *words, "--admin", "unix:" + path)
            finally:
                thread.join()
                os.unlink(path)

    def status(self):
        page = {"version": "1.2.3", "ready": False, "checks": {"database": {"ok": False, "detail": "locked"},
                                                                "schema": {"ok": True, "detail": "fine"}}}
        for uptime, shown in ((59, "0 min 59 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"), (86399, "23 h 59 min"),
                              (86400, "1 d 0 h"), (200000, "2 d 7 h")):
            done = self.played_status({**page, "uptime": uptime})
            assert done.returncode == 1 and f" ({shown})\n" in done.stdout, done
        assert "\nstate          NOT READY\n               database: locked\n" in done.stdout, done.stdout
        assert "schema: " not in done.stdout, done.stdout
        for count, shown in ((0, "fine, 9 resource providers\n"), (2, "fine, 9 resource providers, 2 over capacity\n")):
            done = self.played_status({**page, "providers": 9, "over_capacity": count})
            assert shown in done.stdout, done.stdout
        server = {"role": "primary", "address": "db1:3306", "version": "10.11.19", "isolation": "read committed",
                  "innodb_flush_log_at_trx_commit": "1", "max_allowed_packet": "16777216", "innodb_snapshot_isolation": "OFF",
                  "auto_increment_increment": "1", "replication": "none"}
        done = self.played_status({**page, "server": server})
        assert ("\n               read committed, innodb_flush_log_at_trx_commit 1, max_allowed_packet 16777216, "
                "innodb_snapshot_isolation OFF, auto_increment_increment 1, replication none, no TLS\n") in done.stdout, done.stdout
        nodes = [{"node": "n\x1b1", "seconds_since_left": 0}, {"node": "n2", "seconds_since_left": 312}]
        for changes, shown in ((0, None), (1, "1 change"), (7, "7 changes")):
            done = self.played_status({**page, "server": server, "nodes": nodes, "node_changes": changes})
            lines = [line for line in done.stdout.splitlines() if line.startswith("nodes ")]
            assert lines == ([f"nodes          n\\x1b1, until 312 s ago n2, {shown} in the last hour"] if shown else []), done.stdout
        assert self.played_status({**page, "ready": True}).returncode == 0

    def status_without_an_answer(self):
        path = os.path.join(self.directory, "nobody")
        for address, code, told in ((f"unix:{path}", 3, f"berth status: no berthd answers on unix:{path}: "),
                                    ("unix:/" + "x" * 200, 3, "File name too long"),
                                    ("[::1]:1", 3, "no berthd answers on [::1]:1: "),
                                    ("host.invalid:1", 3, "no berthd answers on host.invalid:1: "),
                                    ("https://127.0.0.1:1", 2, "the admin listener at 127.0.0.1:1 uses TLS")):
            out, err = self.must(code, "berth", "status", "--admin", address)
            assert out == "" and told in err, (address, err)
        wrong = self.write("wrong.conf", CONFIG.format(database=self.database) + "[berth]\nadmin_listen = nowhere\n")
        out, err = self.must(2, "berth", "status", "--config-file", wrong)
        assert (out, err) == ("", "berth status: [berth] admin_listen is not an address: 'nowhere'\n"), err

    def upgrade_check(self):
        databases.execute(self.database, "INSERT INTO " + ORPHAN)
        out, _ = self.must(1, "placement-status", *self.where, "upgrade", "check", "--json")
        checks = {check["check"]: check for check in json.loads(out)["checks"]}
        assert checks["Incomplete Consumers"]["result"] == 1, checks
        assert checks["Incomplete Consumers"]["details"].startswith("There are 1 incomplete consumers table records "), checks
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.execute("DROP TABLE consumers")
        out, err = self.must(255, "placement-status", *self.where, "upgrade", "check")
        assert out == "" and "consumers" in err and err.count("\n") == 1, err


def check(build, score):
    for name in [name for name in vars(Tools) if not name.startswith("_") and name not in HELPERS]:
        problem = None
        with tempfile.TemporaryDirectory(prefix="berth-tools-", dir="/var/tmp") as directory:
            try:
                getattr(Tools(build, directory), name)()
            except AssertionError as failure:
                problem = str(failure)[:2000] or "failed"
        score.case(name.replace("_", " "), problem)
