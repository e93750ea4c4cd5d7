"""The rows of berth on PostgreSQL: those of on_server.py, strict reads beside SELECT 1, and candidates."""

import os

from on_server import Bench, Instance, median_by, pair
from server_databases import MEASURED, PostgresDatabases
from targets import median_cell, run_json, say, say_cell


class OnPostgres(Bench):
    kind, prefix = PostgresDatabases, "pg"
    ROWS = ("claims", "single", "two", "get", "candidates", "start", "stale", "outage")
    REFERENCE_CELLS = (("claim", 16), ("claim", 256), ("flat_10", 16))
    needed = ("/usr/lib/postgresql/15/bin/postgres",)

    def select(self, connections):
        url = self.databases.url_of(MEASURED)
        return run_json(os.path.join(self.build, "bench", "limit_select"), url, str(connections), str(self.seconds / 2))

    def get(self):
        """GET of one provider on the embedded store and on PostgreSQL, and SELECT 1."""
        for connections in (1, 16):
            rounds = self.beside_embedded(self.databases, connections, self.select)
            self.keep_get(connections, rounds, p50=lambda r: (r[1]["p50_us"], r[2]["p50_us"]),
                          added=lambda r: (r[1]["p50_us"] - r[0]["p50_us"], r[2]["p50_us"]))

    def candidates(self):
        instance = Instance(self, self.databases.copy("flat1k"))
        rounds = []
        try:
            for _ in range(self.rounds):
                theirs = self.reference_cell("flat_10", 16)
                rounds.append((self.loader.cell(instance, self.file("flat_10"), 16, self.seconds / 2), theirs))
        finally:
            instance.stop()
        own = median_cell([r[0] for r in rounds])
        self.keep("flat_10", own)
        say_cell("flat_10", own)
        if rounds[0][1]:
            own, theirs = median_by(rounds, lambda r: r[1]["cpu_us"] / r[0]["cpu_us"])
            self.keep_reference("flat_10", theirs)
            self.facts["candidates"] = pair(theirs["cpu_us"], own["cpu_us"])
            say(f"candidates: {self.facts['candidates']}")

    def stale(self):
        self.stale_reads(before=("with_postgres.py",))
