"""Databases for the tools to work on, created by the Python service's migrations: one for each revision, with rows
that old releases left incomplete or without, and files that are not databases of the service."""

import os
import shutil
import sqlite3
import subprocess

REVISIONS = ("b4ed3a175331", "611cd6dffd7b", "b5c396305c25", "422ece571366")
UPGRADE = """
import sys
from oslo_config import cfg
from placement import conf, db_api
from placement.db.sqlalchemy import migration
config = cfg.ConfigOpts()
conf.register_opts(config)
config.set_override("connection", "sqlite:///" + sys.argv[1], "placement_database")
config([], project="placement", default_config_files=[], default_config_dirs=[], use_env=False)
db_api.configure(config)
migration.upgrade(sys.argv[2])
"""
ROWS = """
INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id)
    VALUES (1, 'p1', 'n1', 0, 1, NULL), (2, 'p2', 'n2', 0, 1, 1), (3, 'p3', 'n3', 0, 3, NULL);
INSERT INTO projects (id, external_id) VALUES (1, 'project');
INSERT INTO users (id, external_id) VALUES (1, 'user');
INSERT INTO consumers (id, uuid, project_id, user_id, generation) VALUES (1, 'c0', 1, 1, 3);
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES (1, 'c0', 0, 1);
"""
MISSING_ROOTS = """
INSERT INTO resource_providers (uuid, name, generation, root_provider_id, parent_provider_id)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    SELECT 'r' || i, 'r' || i, 0, NULL, CASE WHEN i % 7 = 0 THEN 1 END FROM n;
"""
MISSING_CONSUMERS = """
INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    SELECT 1 + i % 3, 'm' || (i / 2), i % 2, 1 FROM n;
"""
# In order: later ones need earlier ones.
KINDS = {
    "complete": (ROWS,),
    "missing-roots": (ROWS, MISSING_ROOTS),
    "missing-consumers": (ROWS, MISSING_CONSUMERS),
    "missing-both": (ROWS, MISSING_ROOTS, MISSING_CONSUMERS),
    "unknown-revision": (ROWS, "UPDATE alembic_version SET version_num = '0123456789ab'"),
    "without-revision": (ROWS, "DROP TABLE alembic_version"),
}


def execute(path, *scripts):
    connection = sqlite3.connect(path)
    for script in scripts:
        connection.executescript(script)
    connection.commit()
    connection.close()


class Databases:
    """Templates in a directory, each created once; `copy` puts one where a case needs it."""

    def __init__(self, directory):
        self.directory = directory
        for revision in REVISIONS:
            self._upgrade(self._path(revision), revision)

    def _path(self, name):
        return os.path.join(self.directory, name + ".db")

    @staticmethod
    def _upgrade(path, revision):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        subprocess.run(["/usr/bin/python3", "-B", "-c", UPGRADE, path, revision], check=True, env=clean,
                       capture_output=True, text=True)

    def copy(self, name, path):
        """`name`: REVISION/KIND, or absent, empty, garbage, unreachable."""
        if name == "empty":
            open(path, "wb").close()
        elif name == "garbage":
            with open(path, "wb") as file:
                file.write(b"this is no database\n" * 1000)
        elif name not in ("absent", "unreachable"):
            revision, kind = name.split("/")
            shutil.copy(self._path(revision), path)
            execute(path, *KINDS[kind])


def content(path):
    """What a tool may have changed: rows of upstream's tables; of times only whether they are set."""
    if not os.path.exists(path):
        return None
    connection = sqlite3.connect(path)
    found = {}
    try:
        tables = [row[0] for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'berth_%' ORDER BY name")]
        for table in tables:
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            found[table] = sorted((
                {name: value is not None if name.endswith("_at") else value for name, value in zip(names, row)}
                for row in cursor), key=repr)
    except sqlite3.DatabaseError:
        return "no database"
    finally:
        connection.close()
    return found
