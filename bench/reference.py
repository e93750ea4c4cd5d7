"""The Python service, as the reference: uwsgi with two processes, on MariaDB unless it is given another database.

Both are started with directories, sockets and ports of their own under a temporary directory, and stopped by pid. Needs
Debian's mariadb-server, uwsgi-core, uwsgi-plugin-python3, python3-placement and python3-pymysql; if they are installed
by hand and not by ./dev, a /usr/sbin/policy-rc.d that exits with 101 keeps Debian's own MariaDB from starting."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import urllib.request

import clouds
from measure import cpu_s, family, free_port, stop, wait_until

MANAGE = "/usr/bin/placement-manage"

# For each process. With 1 it answers GETs and claims at two thirds of the rate. With 2 it is as fast as with 8, and
# faster if many requests write the same hosts (42 POSTs/s instead of 8 to 14), but then it queues instead of serving 16
# connections at once.
THREADS = "8"


def missing():
    needed = ("/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db", "/usr/bin/uwsgi", MANAGE,
              "/usr/bin/placement-api")
    return [path for path in needed if not os.path.exists(path)]


class MariaDb:
    """A server of its own in the directory, with a database for each cloud."""

    def __init__(self, directory):
        self.dir = directory
        self.user = "mysql" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self.socket = os.path.join(self.dir, "db", "socket")
        self.process = None
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        data = os.path.join(self.dir, "db")
        os.mkdir(data)
        if os.getuid() == 0:
            shutil.chown(data, self.user)
        with open(os.path.join(self.dir, "mariadb.log"), "ab") as log:
            subprocess.run(["/usr/bin/mariadb-install-db", "--no-defaults", f"--datadir={data}",
                            "--auth-root-authentication-method=normal", f"--user={self.user}",
                            "--skip-test-db"], check=True, stdout=log, stderr=log)
            self.process = subprocess.Popen(
                ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--user={self.user}",
                 f"--socket={self.socket}", "--bind-address=127.0.0.1", f"--port={free_port()}",
                 f"--pid-file={data}/pid", "--innodb-flush-log-at-trx-commit=1",
                 "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=256M",
                 "--character-set-server=utf8mb4", "--max-connections=200"],
                stdout=log, stderr=log)
        wait_until(self._answers, 60, "mariadbd")

    def _answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"mariadbd ended, see {self.dir}/mariadb.log")
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(self.socket) == 0

    def _connect(self, database=None):
        import pymysql
        return pymysql.connect(unix_socket=self.socket, user="root", database=database, local_infile=True)

    def fill(self, cloud):
        """A database that holds the cloud, new each time."""
        connection = self._connect()
        cursor = connection.cursor()
        cursor.execute(f"DROP DATABASE IF EXISTS placement_{cloud}")
        cursor.execute(f"CREATE DATABASE placement_{cloud} CHARACTER SET utf8mb3")
        connection.close()
        connection = self._connect(f"placement_{cloud}")
        clouds.fill_mariadb(cloud, connection, self.url(cloud), self.dir, MANAGE)
        connection.close()

    def url(self, cloud):
        return f"mysql+pymysql://root@localhost/placement_{cloud}?unix_socket={self.socket}"

    def pids(self):
        return [self.process.pid]

    def cpu_s(self):
        return cpu_s(self.pids())

    def close(self):
        if self.process:
            stop(self.process)


class Reference:
    """database: a server that has fill(), url(), pids() and cpu_s() of MariaDb, and is its owner's to end; by default, a
    MariaDB is started and ended with the service."""

    close_each = True  # uwsgi's HTTP socket closes the connection after each answer, as behind a proxy

    def __init__(self, work, database=None):
        self.dir = tempfile.mkdtemp(prefix="reference-", dir=work)
        os.chmod(self.dir, 0o755)
        self.uwsgi = self.cloud = self.owned = None
        self.filled = set()
        try:
            self.owned = None if database else MariaDb(self.dir)
        except BaseException:
            self.close()
            raise
        self.database = database or self.owned

    def fill(self, cloud):
        """A database that holds the cloud, new each time."""
        self.database.fill(cloud)
        self.filled.add(cloud)

    def start(self, cloud):
        """(Re)starts the service on a cloud."""
        self.stop_service()
        if cloud not in self.filled:
            self.fill(cloud)
        with open(os.path.join(self.dir, "placement.conf"), "w") as file:
            file.write(f"[DEFAULT]\nlog_file = {self.dir}/placement.log\n"
                       f"[placement_database]\nconnection = {self.database.url(cloud)}\n"
                       "[api]\nauth_strategy = noauth2\n")
        self.port = free_port()
        environment = dict(os.environ, OS_PLACEMENT_CONFIG_DIR=self.dir)
        with open(os.path.join(self.dir, "uwsgi.log"), "ab") as log:
            self.uwsgi = subprocess.Popen(
                ["/usr/bin/uwsgi", "--plugin", "python3", "--http-socket", f"127.0.0.1:{self.port}",
                 "--wsgi-file", "/usr/bin/placement-api", "--master", "--processes", "2", "--threads", THREADS,
                 "--lazy-apps", "--thunder-lock", "--need-app", "--die-on-term", "--listen", "1024",
                 "--disable-logging", "--buffer-size", "65535"],
                env=environment, stdout=log, stderr=log)
        wait_until(self._service_answers, 60, "uwsgi")
        self.cloud = cloud

    def _service_answers(self):
        if self.uwsgi.poll() is not None:
            raise RuntimeError(f"uwsgi ended, see {self.dir}/uwsgi.log")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=60).read()
        except OSError:
            return False
        return True

    def pids(self):
        return family(self.uwsgi.pid) + self.database.pids()

    def cpu_s(self):
        return cpu_s(family(self.uwsgi.pid)) + self.database.cpu_s()

    def stop_service(self):
        if self.uwsgi:
            workers = family(self.uwsgi.pid)[1:]
            stop(self.uwsgi, seconds=5)
            for pid in workers:  # a worker in a long query does not react to its master
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    pass
            self.uwsgi = self.cloud = None

    def close(self):
        self.stop_service()
        if self.owned:
            self.owned.close()
        shutil.rmtree(self.dir, ignore_errors=True)
