"""docs/backup.md, command by command, under a real systemd: the container of systemd.py with `berth` in its PATH. If
only the service is stopped, the next client starts it again, as the page says. Where no container can be booted,
nothing runs, which is reported, and counts as a failure in CI."""

import os
import re
import tempfile

import systemd

PAGE = os.path.join(systemd.ROOT, "docs/backup.md")
CURL = ["curl", "-s", "-m", "20", "-H", "x-auth-token: admin", "-H", "openstack-api-version: placement 1.39",
        "-H", "content-type: application/json"]
DATABASE = "/var/lib/berth/berth.db"
FIRST = "/var/backups/placement/first.db"


def blocks():
    """[(name, commands)] in the order of the page."""
    with open(PAGE) as file:
        return re.findall(r"^```sh backup (\w+)\n(.*?)^```$", file.read(), re.M | re.S)


class Page:
    def __init__(self, score, box):
        self.score, self.box = score, box

    def case(self, name, good, said=""):
        self.score.case("backup.md: " + name, None if good else f"{said} {self.box.journal()}")

    def names(self):
        """The names of the providers that are served; the request starts berthd if its socket is open."""
        return sorted(re.findall(r'"name": ?"([^"]*)"', self.box.run(*CURL, systemd.ADDRESS + "/resource_providers").stdout))

    def make(self, name):
        self.box.run(*CURL, "-X", "POST", "-d", f'{{"name": "{name}"}}', systemd.ADDRESS + "/resource_providers")

    def state(self):
        return [self.box.shown(unit, "ActiveState") for unit in ("berthd.socket", "berthd.service")]

    def stat(self, path):
        return self.box.run("stat", "--format", "%U %G %a", path).stdout.strip()

    # Checks before and after a block.

    def before_make(self):
        self.make("first")
        self.owner = self.stat(DATABASE)
        self.case("the database is the service's own", self.owner.startswith("placement placement "), self.owner)

    def after_make(self, said):
        self.case("the backup is root's, 0600", self.stat(FIRST) == "root root 600", self.stat(FIRST))
        self.case("one line", said.count("\n") == 1 and said.startswith(f"Backup '{FIRST}': ") and "1 resource provider" in said, said)

    def after_daily(self, said):
        files = self.box.run("ls", "/var/backups/placement").stdout.split()
        self.case("the timer's backup", len(files) == 2 and files[1] == "first.db", f"{files} {said}")

    def before_stop(self):
        self.make("second")
        done = self.box.run("/berth/bin/berth", "restore", FIRST)
        self.case("refused while served", done.returncode == 1 and "(berthd)" in done.stderr, done)
        self.box.systemctl("stop", "berthd.service")
        names = self.names()
        self.case("a stop of the service alone is undone by the next client", names == ["first", "second"] and
                  self.state() == ["active", "active"], f"{names} {self.state()}")

    def after_stop(self, said):
        self.case("both stay stopped", self.names() == [] and self.state() == ["inactive", "inactive"], f"{self.state()} {said}")

    def after_restore(self, said):
        self.case("restored", said.startswith(f"Restored '{DATABASE}': ") and "1 resource provider" in said, said)
        self.case("owner and mode are kept", self.stat(DATABASE) == self.owner, self.stat(DATABASE))

    def after_start(self, said):
        self.case("the backup is served", self.names() == ["first"], f"{self.names()} {said}")
        self.make("third")
        self.case("and takes writes", self.names() == ["first", "third"], self.names())

    def after_undo(self, said):
        self.case("undone", self.names() == ["first", "second"], f"{self.names()} {said}")

    def after_remove(self, said):
        left = self.box.run("ls", "/var/lib/berth").stdout.split()
        self.case("nothing else is left", not [name for name in left if "replaced" in name or "restoring" in name], f"{left} {said}")


def play(score, box):
    page = Page(score, box)
    box.systemctl("disable", "--now", *[f"berthd-{name}.socket" for name in systemd.OTHER_SOCKETS])  # a first boot enables all units
    box.systemctl("start", "berthd.socket", "berthd.service")
    played = [name for name, _ in blocks()]
    score.case("backup.md: has its blocks", None if played == ["make", "daily", "stop", "restore", "start", "undo", "remove"] else played)
    for name, commands in blocks():
        getattr(page, "before_" + name, lambda: None)()
        done = box.run("env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "sh", "-euc", commands)
        score.case(f"backup.md: {name}", None if done.returncode == 0 else f"{done} {box.journal()}")
        getattr(page, "after_" + name)(done.stdout)


def run(score, program, quick):
    with tempfile.TemporaryDirectory(prefix="berth-backup-", dir="/var/tmp") as directory:
        systemd.with_container(score, program, directory, lambda box: play(score, box))
