#!/usr/bin/python3
"""What berthd and its tools report on a PostgreSQL server: /readyz, /status, berth status and placement-status.

    tests/databases/reports.py --build build
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from admin_pages import json_page, metrics, page  # noqa: E402
from pgbouncer import PgBouncer  # noqa: E402
from postgres import Postgres, url  # noqa: E402
from processes import wait_until  # noqa: E402
from standby import Standby  # noqa: E402

# Views and a function that the user finds before those of the server.
FAKES = """
CREATE SCHEMA fake;
CREATE VIEW fake.pg_prepared_xacts AS SELECT 'it''s old' AS gid, now() - interval '11 minutes' AS prepared, current_database() AS database
    UNION ALL SELECT 'young', now() - interval '9 minutes', current_database()
    UNION ALL SELECT 'elsewhere', now() - interval '11 minutes', 'other';
CREATE VIEW fake.pg_stat_activity AS SELECT 4711 AS pid, 'pg_dump' AS application_name, 'someone'::name AS usename,
    current_database() AS datname, now() - interval '90 minutes' AS xact_start, '700'::xid AS backend_xmin, NULL::xid AS backend_xid
    UNION ALL SELECT 4712, 'young', 'someone', current_database(), now() - interval '50 minutes', '700'::xid, NULL
    UNION ALL SELECT 4713, 'reads nothing', 'someone', current_database(), now() - interval '90 minutes', NULL, NULL;
CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT pg_catalog.clock_timestamp() + interval '1 minute'$$;
GRANT USAGE ON SCHEMA fake TO PUBLIC;
GRANT SELECT ON fake.pg_prepared_xacts, fake.pg_stat_activity TO PUBLIC;
"""


class Reports:
    def __init__(self, build, stack):
        self.build, self.stack = build, stack
        self.directory = tempfile.mkdtemp(prefix="berth-reports-")
        stack.callback(shutil.rmtree, self.directory, ignore_errors=True)
        self.score = servers.Score()

    def expect(self, what, good, found):
        self.score.case(what, None if good else repr(found))

    def berthd(self, address):
        """(the process, the port of its admin listener)"""
        admin = servers.free_port()
        options = ("[berth]", f"admin_listen = 127.0.0.1:{admin}")
        berth = servers.Berthd(os.path.join(self.build, "berthd"), self.directory, connection=address, options=options)
        return self.stack.enter_context(berth), admin

    def run(self, program, *arguments):
        return subprocess.run([os.path.join(self.build, program), *arguments], capture_output=True, text=True, timeout=60)

    def check(self, address):
        """(the exit code, what placement-status shows of the server, its standard error)"""
        path = os.path.join(self.directory, "check.conf")
        with open(path, "w") as file:
            file.write(f"[placement_database]\nconnection = {address.replace('$', '$$')}\n")
        ended = self.run("placement-status", "--config-file", path, "upgrade", "check", "--json")
        found = [one for one in json.loads(ended.stdout)["checks"] if one["check"] == "Database Server"] if ended.stdout else []
        return ended.returncode, found[0]["details"] if found else None, ended.stderr

    def expect_warning(self, address, *texts):
        code, details, error = self.check(address)
        for text in texts:
            self.expect(f"warning: {text[:60]}", code == 1 and re.search(text, details or ""), (code, details, error))
        return details or ""


def safe_server(reports, server):
    first, _ = reports.berthd(server.url())
    client = servers.Client(first.port)
    client.must(200, "POST", "/resource_providers", {"name": "host"})
    second, admin = reports.berthd(server.url())
    wait_until(lambda: "server" in json_page(admin, "/status"), "no report")
    found = json_page(admin, "/readyz")
    wanted = {"address": f"127.0.0.1:{server.port}", "role": "primary", "isolation": "read committed", "replication": "none",
              "synchronous_commit": "on", "standbys": 0, "timeline": 1, "tls": False, "pooled": False}
    shown = {name: found["server"].get(name) for name in wanted}
    reports.expect("the server", found["ready"] and shown == wanted and found["server"]["version"].startswith("15."), found)
    reports.expect("no warnings", found["warnings"] == [], found)
    pids = {first.process.pid, second.process.pid}
    own = [one["pid"] for one in found["instances"] if one["is_this_one"]]
    reports.expect("the instances", {one["pid"] for one in found["instances"]} == pids and own == [second.process.pid], found)
    text = page(admin, "/readyz", "text/plain")[1]
    reports.expect("as text", f"server: primary at 127.0.0.1:{server.port}, " in text and re.search(r"^log: newest batch 1, \d+ s ago$", text, re.M)
                   and f"process {first.process.pid}, version " in text and "warning" not in text, text)
    shown = reports.run("berth", "status", "--admin", f"127.0.0.1:{admin}").stdout
    reports.expect("berth status", "server         primary at " in shown and f"process {first.process.pid}, version " in shown
                   and "(this one)" in shown and re.search(r"ids: \w+ [1-9]\d* of 2147483647", shown) and "****" in shown and server.password not in shown, shown)
    ids = metrics(admin)
    used = ids.get('berth_database_ids_used{table="traits"}')  # the standard ones: the report may be older than the provider
    reports.expect("metrics of ids", used and 100 <= used < 100000, ids)
    code, details, error = reports.check(server.url())
    reports.expect("placement-status", code == 0 and " of 2147483647. " in details and "Newest batch: 1, " in details and f"process {second.process.pid}, " in details
                   and server.password not in details, (code, details, error))
    second.stop()
    first.kill()
    rows = server.sql("SELECT pid FROM berth_instances")
    reports.expect("a stop removes the row, a kill does not", rows == [(first.process.pid,)], rows)


def unsafe_server(reports, server):
    details = reports.expect_warning(
        server.url(), "fsync is off", "full_page_writes is off", "synchronous_commit is off", "autovacuum or track_counts is off",
        "idle_session_timeout is 1h")
    reports.expect("nothing else is unsafe", details.count(". ") == 4 + sum(
        details.count(f". {title}: ") for title in ("Server", "Ids", "Coexist")), details)
    server.sql(FAKES)
    reports.expect_warning(
        server.url(options="-csearch_path=fake,pg_catalog,public"), r"process 4711 \(pg_dump\) has been open for 90 minutes",
        "the prepared transaction 'it''s old' has been open for 11 minutes", "clock is (59|60) s ahead of this")
    server.sql("SELECT setval('allocations_id_seq', 1800000000)")
    server.sql("INSERT INTO traits (id, name) VALUES (1700000000, 'CUSTOM_LAST')")
    reports.expect_warning(server.url(), r"ids of the table allocations are used up to 1800000000 of 2147483647: after",
                           r"ids of the table traits are used up to 1700000000 of")
    server.sql("DELETE FROM traits WHERE id = 1700000000; SELECT setval('allocations_id_seq', 1)")
    code, details, _ = reports.check(server.url(options="-csearch_path=fake,pg_catalog,public"))
    reports.expect("young ones are no danger", not re.search("4712|4713|young|elsewhere", details), details)


def odd_schemas(reports, server):
    server.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' OWNER " + server.user, database="postgres")
    code, details, error = reports.check(server.url("latin"))
    reports.expect("another encoding is refused", code == 255 and "must be UTF8" in error, (code, details, error))
    server.sql("UPDATE pg_database SET datcollversion = 'old' WHERE datname = current_database()")
    server.sql("CREATE COLLATION careless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
               "ALTER TABLE users ALTER external_id TYPE varchar(255) COLLATE careless")
    reports.expect_warning(server.url(), "the collation of the database has version .* and was old when its indexes",
                           "users.external_id has a collation for which different names can be equal")
    server.sql("UPDATE pg_database SET datcollversion = pg_database_collation_actual_version(oid)")
    server.sql("ALTER TABLE users ALTER external_id TYPE varchar(255) COLLATE \"default\"")
    server.sql("ALTER TABLE consumers DROP CONSTRAINT uniq_consumers0uuid")
    server.sql("ALTER TABLE berth_log DROP COLUMN entries")
    server.sql("ALTER TABLE traits RENAME COLUMN name TO label")
    server.sql("CREATE ROLE reader LOGIN PASSWORD 'secret'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; "
               "GRANT ALL ON users TO reader")
    reports.expect_warning(server.url(), r"unique indexes of the schema are missing: consumers \(uuid\)",
                           "tables or columns of berth are missing", "columns of the schema are missing: traits.name")
    details = reports.expect_warning(url("reader", "secret", server.database, server.port),
                                     "lacks rights on allocations, allocations_id_seq, berth_epochs")
    reports.expect("rights that are there are not missed", "users," not in details, details)
    server.sql("ALTER TABLE resource_provider_traits SET UNLOGGED; ALTER TABLE allocations SET UNLOGGED")
    reports.expect_warning(server.url(), "tables are UNLOGGED: allocations, resource_provider_traits. A crash")
    server.sql("UPDATE alembic_version SET version_num = 'ffffffffffff'")
    reports.expect_warning(server.url(), "ffffffffffff")


def manage(reports, address):
    path = os.path.join(reports.directory, "manage.conf")
    with open(path, "w") as file:
        file.write(f"[placement_database]\nconnection = {address}\n")
    ended = reports.run("placement-manage", "--config-file", path, "db", "sync")
    assert ended.returncode == 0, ended.stderr


def pooled(reports, server):
    for mode in ("transaction", "statement"):
        with PgBouncer(server, options={"pool_mode": mode}) as pool:
            code, details, error = reports.check(pool.url())
            if mode == "transaction":
                reports.expect("through PgBouncer", code == 0 and ", through a pooler" in details, (code, details, error))
            else:
                reports.expect("statement mode is refused", code == 255 and "statement pooling mode" in error, (code, details, error))


def with_a_standby(reports, server):
    with Standby(server) as standby:
        standby.await_caught_up()
        reports.expect_warning(server.url(), "replication is asynchronous")
        reports.expect_warning(standby.url(), "the server is a standby")
        standby.require()
        code, details, error = reports.check(server.url())
        reports.expect("synchronous replication", code == 0 and "synchronous replication" in details, (code, details, error))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", required=True)
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        reports = Reports(arguments.build, stack)
        server = stack.enter_context(Postgres())
        safe_server(reports, server)
        pooled(reports, server)
        with_a_standby(reports, server)
        unsafe = stack.enter_context(Postgres(options={"fsync": False, "full_page_writes": False, "synchronous_commit": "off",
                                                       "autovacuum": False, "idle_session_timeout": "1h"}))
        manage(reports, unsafe.url())
        unsafe_server(reports, unsafe)
        odd_schemas(reports, unsafe)
    return reports.score.end()


if __name__ == "__main__":
    sys.exit(main())
