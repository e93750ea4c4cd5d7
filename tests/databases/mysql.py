"""A MySQL server of its own for a test, as mariadb.py has a MariaDB server.

Debian 12 has none, and the releases before it had none that berth supports. Debian's unstable release has one: its package and
those that it needs are unpacked into a directory, with the C library they want, and never installed. What version that is
changes with time, so nothing that is required before a merge depends on it."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile

import processes
from mariadb import Mariadb, as_words
from processes import Failure, Place

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR, SUITE, PACKAGE = "http://deb.debian.org/debian", "sid", "mysql-server-core"
# Where the user that runs the servers may read, and others may not write.
KEPT = "/var/cache/berth-tests/mysql" if os.getuid() == 0 else os.path.join(processes.MADE_ONCE, "mysql")
FETCH_S = 600
# Names that the two servers do not share, and what only MySQL has.
UNKNOWN = ("innodb_log_file_size", "expire_logs_days")
RENAMED = ("character_set_server", "collation_server")  # utf8 is utf8mb3, a name that newer versions do not take
OWN = {"innodb_redo_log_capacity": "16M", "mysqlx": False, "secure_file_priv": "", "innodb_buffer_pool_size": "64M",
       "plugin_load_add": "semisync_source.so"}  # which lets tests hold commits back


def apt_settings(directory):
    """Of an apt that knows this suite only, and no installed package."""
    for name in ("lists/partial", "archives/partial", "empty"):
        os.makedirs(os.path.join(directory, name))
    for name, text in (("sources", f"deb [signed-by={KEYRING}] {MIRROR} {SUITE} main\n"), ("status", "")):
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)
    settings = {"Dir::State::lists": "lists", "Dir::State::status": "status", "Dir::Cache::archives": "archives",
                "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "", "Dir::Etc::sourcelist": "sources",
                "Dir::Etc::sourceparts": "empty", "Dir::Etc::preferencesparts": "empty", "Dir::Etc::parts": "empty"}
    where = {name: os.path.join(directory, value) if value else "" for name, value in settings.items()}
    return [f"-o{name}={value}" for name, value in (where | {"APT::Sandbox::User": "root", "Debug::NoLocking": "1"}).items()]


def fetch(directory):
    """Unpacks the server and all that it needs."""
    with tempfile.TemporaryDirectory() as state:
        settings = apt_settings(state)
        for words in (["update"], ["install", "--yes", "--download-only", "--no-install-recommends", PACKAGE]):
            done = subprocess.run(["apt-get", *settings, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=FETCH_S)
            if done.returncode:
                raise Failure(f"MySQL cannot be had from {MIRROR} {SUITE}: {done.stdout[-2000:]}")
        archives = os.path.join(state, "archives")
        for name in sorted(os.listdir(archives)):
            if name.endswith(".deb"):
                subprocess.run(["dpkg-deb", "-x", os.path.join(archives, name), directory], check=True)


def tree():
    """The directory of the unpacked packages. They are fetched once for each machine."""
    if not os.path.exists(KEPT):
        os.makedirs(os.path.dirname(KEPT), mode=0o755, exist_ok=True)
        part = f"{KEPT}.{os.getpid()}"
        try:
            fetch(part)
            os.chmod(part, 0o755)
            with contextlib.suppress(OSError):  # another one was faster
                os.rename(part, KEPT)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return KEPT


def command():
    """The server's program, which needs the loader and the libraries of its own release."""
    usr = os.path.join(tree(), "usr")
    libraries = os.path.join(usr, "lib/x86_64-linux-gnu")
    return [os.path.join(usr, "lib64/ld-linux-x86-64.so.2"), "--library-path", libraries, os.path.join(usr, "sbin/mysqld")]


def places():
    """Settings that say where its files are."""
    usr = os.path.join(tree(), "usr")
    return {"basedir": usr, "lc_messages_dir": os.path.join(usr, "share/mysql"),
            "character_sets_dir": os.path.join(usr, "share/mysql/charsets"), "plugin_dir": os.path.join(usr, "lib/mysql/plugin")}


def version():
    text = subprocess.run([*command(), "--no-defaults", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"Ver (\d[\d.]+)", text)[1]


@contextlib.contextmanager
def new_data():
    """A data directory with root only, whom the server accepts without a password."""
    place = Place()
    try:
        data = os.path.join(place.path, "data")
        place.run(*command(), "--no-defaults", "--initialize-insecure", f"--datadir={data}",
                  *(f"--{word}" for word in as_words({**places(), **OWN, "tmpdir": place.path})), timeout=120)
        yield data
    finally:
        place.remove()


class Mysql(Mariadb):
    def own_options(self):
        return {**places(), **OWN, "binlog_expire_logs_seconds": 86400}

    def make_data(self):
        for name in UNKNOWN:
            self.options.pop(name, None)
        for name in RENAMED:
            if name in self.options:
                self.options[name] = re.sub(r"^utf8(?=_|$)", "utf8mb3", self.options[name])
        self.place.copy(processes.made_once(f"mysql-{version()}", new_data), "data")

    def program(self):
        return command()
