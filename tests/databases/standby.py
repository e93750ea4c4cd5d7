"""A streaming standby of a PostgreSQL server.

    with Postgres() as primary, Standby(primary) as standby:
        standby.await_caught_up()
        standby.detach()                    # what is now committed is lost by the promotion
        standby.promote()

Replication is asynchronous until require() is called. After its promotion a standby is a server like any other, and may
have standbys of its own."""

from postgres import SUPERUSER, Postgres, program, quoted, wait_until


class Standby(Postgres):
    """A copy of the primary, with the same users and databases. `name`: how the primary knows it. options: settings that
    differ from those of the primary. The primary must run when the standby is created."""

    def __init__(self, primary, name="standby", options=None, port=None):
        self.primary, self.name = primary, name
        own = ("port", "unix_socket_directories", "synchronous_standby_names", "primary_conninfo", "cluster_name")
        settings = {key: value for key, value in primary.options.items() if key not in own}
        super().__init__(options={**settings, "cluster_name": name, "primary_conninfo": self._source(), **(options or {})},
                         access=primary.access, port=port, user=primary.user, password=primary.password,
                         database=primary.database)
        self.authority = primary.authority

    def _source(self):
        """Over the unix socket, where the superuser needs no password."""
        return (f"host={self.primary.socket_directory} port={self.primary.port} user={SUPERUSER} "
                f"application_name={self.name}")

    def make_data(self):
        self.place.run(program("pg_basebackup"), "-D", self.data, "-h", self.primary.socket_directory, "-p",
                       str(self.primary.port), "-U", SUPERUSER, "-X", "stream", "-c", "fast", "--no-sync")
        self.place.write("data/standby.signal", "")

    def make_database_once(self):
        """They come from the primary."""

    def start(self, seconds=60):
        super().start(seconds)
        if self.options["primary_conninfo"] and self.is_standby():
            self._await_streaming()
        return self

    def _await_streaming(self):
        wait_until(lambda: self.sql("SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'"),
                   lambda: f"the standby does not stream: {self.log()[-2000:]}")

    def require(self, required=True):
        """Makes replication synchronous: commits of the primary wait until this standby has them. Or asynchronous."""
        names = quoted(self.name) if required else ""
        self.primary.configure(synchronous_standby_names=names)
        if required and self.options["primary_conninfo"]:
            wait_until(lambda: self.primary.sql("SELECT 1 FROM pg_stat_replication WHERE application_name = %s AND "
                                                "sync_state = 'sync'", self.name), "replication is not synchronous")

    def await_caught_up(self, seconds=30):
        """Until queries on the standby see what is now committed on the primary."""
        newest = self.primary.sql("SELECT pg_current_wal_flush_lsn()")[0][0]
        wait_until(lambda: self.sql("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", newest)[0][0],
                   f"the standby has not replayed {newest}", seconds)

    def detach(self):
        """Ends replication: the standby gets none of the commits that follow."""
        self.configure(primary_conninfo="")
        wait_until(lambda: not self.sql("SELECT 1 FROM pg_stat_wal_receiver"), "the standby still streams")

    def attach(self):
        """Takes replication up again where it ended."""
        self.configure(primary_conninfo=self._source())
        self._await_streaming()

    def promote(self, seconds=60):
        """Makes it a primary, with a timeline of its own. The old primary is not told."""
        self.place.run(program("pg_ctl"), "promote", "-w", "-t", str(seconds), "-D", self.data, timeout=seconds + 5)
        self.options["primary_conninfo"] = ""
