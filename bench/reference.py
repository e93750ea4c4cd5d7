"""The Python service on MariaDB, as the reference: uwsgi with two processes.

Both are started with directories, sockets and ports of their own under a temporary directory, and stopped by pid. Needs
Debian's mariadb-server, uwsgi-core, uwsgi-plugin-python3, python3-placement and python3-pymysql; if they are installed
by hand, a /usr/sbin/policy-rc.d that exits with 101 keeps Debian's own MariaDB from starting."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import urllib.request

import clouds
from measure import family, free_port, stop, wait_until

MANAGE = "/usr/bin/placement-manage"

# For each process. With 1 it answers GETs and claims at two thirds of the rate. With 2 it is as fast as with 8, and
# faster if many requests write the same hosts (42 POSTs/s instead of 8 to 14), but then it queues instead of serving 16
# connections at once.
THREADS = "8"


def missing():
    needed = ("/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db", "/usr/bin/uwsgi", MANAGE,
              "/usr/bin/placement-api")
    return [path for path in needed if not os.path.exists(path)]


class Reference:
    close_each = True  # uwsgi's HTTP socket closes the connection after each answer, as behind a proxy

    def __init__(self, work):
        self.dir = tempfile.mkdtemp(prefix="reference-", dir=work)
        os.chmod(self.dir, 0o755)
        self.user = "mysql" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self.socket = os.path.join(self.dir, "db", "socket")
        self.mariadb = self.uwsgi = None
        self.filled = set()
        try:
            self._start_mariadb()
        except BaseException:
            self.close()
            raise

    def _log(self, name):
        return open(os.path.join(self.dir, name), "ab")

    def _start_mariadb(self):
        data = os.path.join(self.dir, "db")
        os.mkdir(data)
        if os.getuid() == 0:
            shutil.chown(data, self.user)
        with self._log("mariadb.log") as log:
            subprocess.run(["/usr/bin/mariadb-install-db", "--no-defaults", f"--datadir={data}",
                            "--auth-root-authentication-method=normal", f"--user={self.user}",
                            "--skip-test-db"], check=True, stdout=log, stderr=log)
            self.mariadb = subprocess.Popen(
                ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--user={self.user}",
                 f"--socket={self.socket}", "--bind-address=127.0.0.1", f"--port={free_port()}",
                 f"--pid-file={data}/pid", "--innodb-flush-log-at-trx-commit=1",
                 "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=256M",
                 "--character-set-server=utf8mb4", "--max-connections=200"],
                stdout=log, stderr=log)
        wait_until(self._mariadb_answers, 60, "mariadbd")

    def _mariadb_answers(self):
        if self.mariadb.poll() is not None:
            raise RuntimeError(f"mariadbd ended, see {self.dir}/mariadb.log")
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(self.socket) == 0

    def _connect(self, database=None):
        import pymysql
        return pymysql.connect(unix_socket=self.socket, user="root", database=database)

    def fill(self, cloud):
        """A database that holds the cloud, new each time."""
        connection = self._connect()
        cursor = connection.cursor()
        cursor.execute(f"DROP DATABASE IF EXISTS placement_{cloud}")
        cursor.execute(f"CREATE DATABASE placement_{cloud} CHARACTER SET utf8mb3")
        connection.close()
        connection = self._connect(f"placement_{cloud}")
        clouds.fill_mariadb(cloud, connection, self._url(cloud), self.dir, MANAGE)
        connection.close()
        self.filled.add(cloud)

    def _url(self, cloud):
        return f"mysql+pymysql://root@localhost/placement_{cloud}?unix_socket={self.socket}"

    def start(self, cloud):
        """(Re)starts the service on a cloud."""
        self.stop_service()
        if cloud not in self.filled:
            self.fill(cloud)
        with open(os.path.join(self.dir, "placement.conf"), "w") as file:
            file.write(f"[DEFAULT]\nlog_file = {self.dir}/placement.log\n"
                       f"[placement_database]\nconnection = {self._url(cloud)}\n"
                       "[api]\nauth_strategy = noauth2\n")
        self.port = free_port()
        environment = dict(os.environ, OS_PLACEMENT_CONFIG_DIR=self.dir)
        with self._log("uwsgi.log") as log:
            self.uwsgi = subprocess.Popen(
                ["/usr/bin/uwsgi", "--plugin", "python3", "--http-socket", f"127.0.0.1:{self.port}",
                 "--wsgi-file", "/usr/bin/placement-api", "--master", "--processes", "2", "--threads", THREADS,
                 "--lazy-apps", "--thunder-lock", "--need-app", "--die-on-term", "--listen", "1024",
                 "--disable-logging", "--buffer-size", "65535"],
                env=environment, stdout=log, stderr=log)
        wait_until(self._service_answers, 60, "uwsgi")

    def _service_answers(self):
        if self.uwsgi.poll() is not None:
            raise RuntimeError(f"uwsgi ended, see {self.dir}/uwsgi.log")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=60).read()
        except OSError:
            return False
        return True

    def pids(self):
        return family(self.uwsgi.pid) + [self.mariadb.pid]

    def stop_service(self):
        if self.uwsgi:
            workers = family(self.uwsgi.pid)[1:]
            stop(self.uwsgi, seconds=5)
            for pid in workers:  # a worker in a long query does not react to its master
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    pass
            self.uwsgi = None

    def close(self):
        self.stop_service()
        if self.mariadb:
            stop(self.mariadb)
        shutil.rmtree(self.dir, ignore_errors=True)
