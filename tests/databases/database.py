"""What the database servers of the tests have in common, whichever database they serve."""

import contextlib
import os
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "running")]

import servers  # noqa: E402
from certificates import Authority  # noqa: E402
from processes import Daemon  # noqa: E402


class Database(Daemon):
    """A server with a database and the user who owns it. A subclass has launch(), which starts the process; await_ready();
    make_database_once(), which creates the two if they are not there; stop(); and connect()."""

    def __init__(self, user, password, database, port=None):
        self.user, self.password, self.database = user, password, database
        self.port = port or servers.free_port()
        self.authority = None
        super().__init__()

    def make_certificate(self):
        """(certificate, key) of the server, of a new CA in `authority`."""
        self.authority = Authority(self.place.make_directory("tls"))
        cert, key = self.authority.issue("server")
        for path in (cert, key, self.authority.cert):
            self.place.own(path)
        return cert, key

    def start(self, seconds=60):
        """Returns when the server accepts connections. The first start creates the user and the database."""
        self.launch()
        self.await_ready(seconds)
        self.make_database_once()
        return self

    def restart(self, *how):
        """On the same port; returns when the server accepts connections."""
        self.stop(*how)
        return self.start()

    def sql(self, text, *arguments, database=None):
        """The rows that a statement returns to the superuser; none if it returns no rows."""
        with contextlib.closing(self.connect(database)) as connection, connection.cursor() as cursor:
            cursor.execute(text, arguments or None)
            return list(cursor.fetchall()) if cursor.description else []

    def run(self, text):
        """Statements, separated by semicolons, of which no result is wanted, on one connection of the superuser."""
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            for statement in text.split(";"):
                cursor.execute(statement)


def url_of(driver, user, password, address, path, parameters):
    """A URL of SQLAlchemy, which decodes user and password, and takes the path, a database, literally. A parameter whose value
    is None has a name only."""
    name, secret = (urllib.parse.quote(text, safe="") for text in (user, password))
    pairs = [key if value is None else urllib.parse.urlencode({key: value}, safe="/") for key, value in parameters.items()]
    return f"{driver}://{name}:{secret}@{address}/{path}{'?' if pairs else ''}{'&'.join(pairs)}"
