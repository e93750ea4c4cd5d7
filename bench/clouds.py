#!/usr/bin/python3
"""Synthetic clouds, the same for every target.

A cloud is a list of provider trees, each made by a function of its number, and consumers spread over the first provider
of each tree. Everything is computed from names and numbers, without randomness, so two clouds are equal, and the uuid
of any provider is known without reading a database.

The rows are written directly into the tables of Placement's schema (SQLite or MariaDB): creating a million hosts
through the HTTP API of the Python service would take days."""

import collections
import hashlib
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys

NOW = "2026-01-01 00:00:00.000000"

# Standard classes have fixed ids; the other classes of the list are added by the service when it starts.
CLASSES = {"VCPU": 0, "MEMORY_MB": 1, "DISK_GB": 2, "SRIOV_NET_VF": 4, "CUSTOM_DEVICE": 10000}
TRAITS = {name: number for number, name in enumerate(
    ["HW_CPU_X86_AVX2", "COMPUTE_VOLUME_MULTI_ATTACH", "STORAGE_DISK_SSD", "HW_NUMA_ROOT",
     "MISC_SHARES_VIA_AGGREGATE", "CUSTOM_PHYSNET0", "CUSTOM_PHYSNET1"], 1)}
RACK = 40  # hosts in a rack

# A provider: suffix of its name, index of its parent in the tree (None: it is the root), inventories {class: (total,
# reserved, ratio)}, traits, names of aggregates.
Node = collections.namedtuple("Node", "suffix parent inventories traits aggregates")

Cloud = collections.namedtuple("Cloud", "name trees tree_size tree consumers projects")


def uuid(*parts):
    text = hashlib.md5("/".join(map(str, parts)).encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def provider_uuid(cloud, tree, node=0):
    return uuid(cloud, "provider", tree, node)


def aggregate_uuid(cloud, name):
    return uuid(cloud, "aggregate", name)


def project_id(number):
    return uuid("project", number).replace("-", "")


def flat_tree(n):
    return [Node("", None, {"VCPU": (64, 0, 4.0), "MEMORY_MB": (524288, 4096, 1.0),
                            "DISK_GB": (4000, 100, 1.0)},
                 ("HW_CPU_X86_AVX2", "COMPUTE_VOLUME_MULTI_ATTACH"),
                 ("zone", f"rack{n // RACK}"))]


def big_tree(n):
    """Hosts that never fill, except the last one, which has 160 VCPU."""
    total = 160 if n == 1000 else 2000000000
    return [Node("", None, {"VCPU": (total, 0, 1.0), "MEMORY_MB": (2000000000, 0, 1.0),
                            "DISK_GB": (2000000000, 0, 1.0)},
                 ("HW_CPU_X86_AVX2",), ("zone", f"rack{n // RACK}"))]


def nested_tree(n):
    nodes = [Node("", None, {"DISK_GB": (4000, 100, 1.0)}, ("COMPUTE_VOLUME_MULTI_ATTACH",),
                  ("zone", f"rack{n // RACK}"))]
    for numa in range(2):
        nodes.append(Node(f"-numa{numa}", 0, {"VCPU": (32, 0, 4.0), "MEMORY_MB": (262144, 2048, 1.0)},
                          ("HW_NUMA_ROOT", "HW_CPU_X86_AVX2"), ()))
    for pf in range(4):
        nodes.append(Node(f"-pf{pf}", 1 + pf // 2, {"SRIOV_NET_VF": (8, 0, 1.0)},
                          (f"CUSTOM_PHYSNET{pf % 2}",), ()))
    return nodes


def sharing_tree(n):
    """1000 hosts without a disk, then a storage pool for each rack."""
    if n < 1000:
        return [Node("", None, {"VCPU": (64, 0, 4.0), "MEMORY_MB": (524288, 4096, 1.0)},
                     ("HW_CPU_X86_AVX2",), ("zone", f"rack{n // RACK}"))]
    return [Node("-storage", None, {"DISK_GB": (1000000, 0, 1.0)},
                 ("MISC_SHARES_VIA_AGGREGATE", "STORAGE_DISK_SSD"), (f"rack{n - 1000}",))]


WIDE_DEVICES = 8
NARROW_DEVICES = 12


def wide_tree(n):
    """Tree 0: 8 devices of 8 units. Tree 1: 12 devices, for queries that have no answer but very many combinations
    to try."""
    root = Node("", None, {"VCPU": (64, 0, 4.0)}, (), ("zone",))
    return [root] + [Node(f"-device{k}", 0, {"CUSTOM_DEVICE": (8, 0, 1.0)}, (), ())
                     for k in range((WIDE_DEVICES, NARROW_DEVICES)[n])]


LANES_HOSTS = 40000
LANES_DEVICES = 12


def lanes_tree(n):
    """Tree 0: 12 devices of 9 units. Tree 1: a pool that all clients use. Then hosts."""
    if n == 0:
        return [Node("", None, {"VCPU": (64, 0, 4.0)}, (), ())] + [
            Node(f"-device{k}", 0, {"CUSTOM_DEVICE": (999, 0, 1.0)}, (), ()) for k in range(LANES_DEVICES)]
    return [Node("", None, {"DISK_GB": (2000000000, 0, 1.0)}, (), ())] if n == 1 else flat_tree(n)


def flat(name, hosts, consumers, projects):
    return Cloud(name, hosts, 1, flat_tree, consumers, projects)


# Each consumer has three allocations. In flat1k a project has 100 of them (34 consumers), in flat1m one project has
# all.
CLOUDS = {cloud.name: cloud for cloud in (
    Cloud("empty", 0, 1, flat_tree, 0, 1),
    flat("flat1k", 1000, 1000, 30),
    flat("bare10k", 10000, 0, 1),
    flat("flat10k", 10000, 33334, 30),
    flat("flat1m", 1000000, 333334, 1),
    Cloud("big1k", 1001, 1, big_tree, 0, 1),
    Cloud("nested1k", 1000, 7, nested_tree, 0, 1),
    Cloud("sharing1k", 1000 + 1000 // RACK, 1, sharing_tree, 0, 1),
    Cloud("lanes", LANES_HOSTS + 2, LANES_DEVICES + 1, lanes_tree, 0, 1),
    Cloud("wide", 2, NARROW_DEVICES + 1, wide_tree, 0, 1),
)}


def nodes(cloud):
    """(provider id, root id, tree number, index in the tree, node) of every provider."""
    for n in range(cloud.trees):
        root = n * cloud.tree_size + 1
        for k, node in enumerate(cloud.tree(n)):
            yield root + k, root, n, k, node


def tables(cloud):
    """(table, columns, rows) of the whole cloud, in an order that foreign keys permit."""
    aggregates = {}
    for _, _, _, _, node in nodes(cloud):
        for name in node.aggregates:
            aggregates.setdefault(name, len(aggregates) + 1)
    stamp = (NOW, NOW)
    yield "resource_classes", "id name", ((i, name) + stamp for name, i in CLASSES.items())
    yield "traits", "id name", ((i, name) + stamp for name, i in TRAITS.items())
    yield "placement_aggregates", "id uuid", (
        (i, aggregate_uuid(cloud.name, name)) + stamp for name, i in aggregates.items())
    yield "projects", "id external_id", (
        (i + 1, project_id(i)) + stamp for i in range(cloud.projects))
    yield "users", "id external_id", ((1, uuid("user", 0).replace("-", "")) + stamp,)
    yield ("resource_providers", "id uuid name generation root_provider_id parent_provider_id", (
        (i, provider_uuid(cloud.name, n, k), f"host{n:07d}{node.suffix}", 1, root,
         None if node.parent is None else root + node.parent) + stamp
        for i, root, n, k, node in nodes(cloud)))
    yield ("inventories", "resource_provider_id resource_class_id total reserved min_unit max_unit "
           "step_size allocation_ratio", (
               (i, CLASSES[name], total, reserved, 1, total, 1, ratio) + stamp
               for i, _, _, _, node in nodes(cloud)
               for name, (total, reserved, ratio) in node.inventories.items()))
    yield "resource_provider_traits", "trait_id resource_provider_id", (
        (TRAITS[name], i) + stamp for i, _, _, _, node in nodes(cloud) for name in node.traits)
    yield "resource_provider_aggregates", "resource_provider_id aggregate_id", (
        (i, aggregates[name]) + stamp for i, _, _, _, node in nodes(cloud)
        for name in node.aggregates)
    yield "consumers", "id uuid project_id user_id generation", (
        (i + 1, uuid("consumer", i), i % cloud.projects + 1, 1, 1) + stamp
        for i in range(cloud.consumers))
    yield "allocations", "resource_provider_id consumer_id resource_class_id used", (
        (i % cloud.trees * cloud.tree_size + 1, uuid("consumer", i), class_id, used) + stamp
        for i in range(cloud.consumers) for class_id, used in ((0, 2), (1, 4096), (2, 20)))


def insert_statement(table, columns, mark):
    names = columns.split() + ["created_at", "updated_at"]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join([mark] * len(names))})"


def sync_schema(url, directory, manage):
    config = os.path.join(directory, "schema.conf")
    with open(config, "w") as file:
        file.write(f"[placement_database]\nconnection = {url}\n")
    subprocess.run([manage, "--config-file", config, "db", "sync"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def fill_sqlite(name, path, manage):
    sync_schema(f"sqlite:///{path}", os.path.dirname(path), manage)
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA journal_mode=MEMORY")
    db.execute("PRAGMA cache_size=-1000000")
    indexes = db.execute("SELECT name, sql FROM sqlite_master WHERE type='index' AND sql NOT NULL "
                         "AND name NOT LIKE 'uniq%'").fetchall()
    for index, _ in indexes:  # created at the end, which is many times faster
        db.execute(f"DROP INDEX {index}")
    for table in ("resource_classes", "traits"):  # remove the rows written by the sync
        db.execute(f"DELETE FROM {table}")
    for table, columns, rows in tables(CLOUDS[name]):
        db.executemany(insert_statement(table, columns, "?"), rows)
    for _, sql in indexes:
        db.execute(sql)
    db.commit()
    db.close()


class CopyText:
    """Rows as the text that COPY and LOAD DATA read; NULL is \\N. No value contains a tab, a backslash or a line end."""

    def __init__(self, rows):
        self.lines = ("\t".join("\\N" if value is None else str(value) for value in row) + "\n" for row in rows)

    def read(self, _size=None):
        return "".join(itertools.islice(self.lines, 1000))


def fill_mariadb(name, connection, url, directory, manage):
    """connection: a pymysql connection with local_infile to the database that url names."""
    sync_schema(url, directory, manage)
    cursor = connection.cursor()
    # without checks, InnoDB sorts what is loaded into an empty table, and builds the indexes from that
    cursor.execute("SET SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO', foreign_key_checks=0, unique_checks=0")
    path = os.path.join(directory, "rows.txt")
    for table, columns, rows in tables(CLOUDS[name]):
        cursor.execute(f"DELETE FROM {table}")  # rows written by the sync
        connection.commit()
        text = CopyText(rows)
        with open(path, "w") as file:
            file.writelines(text.lines)
        cursor.execute(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table} ({', '.join(columns.split())}, created_at, updated_at)")
        connection.commit()
        cursor.execute(f"ANALYZE TABLE {table}")
        cursor.fetchall()
    os.remove(path)


def fill_postgres(name, connection, url, directory, manage):
    """connection: a superuser's psycopg2 connection, in autocommit mode, to the database that url names."""
    sync_schema(url, directory, manage)
    cursor = connection.cursor()
    cursor.execute("SET session_replication_role = replica")  # no checks of foreign keys
    cursor.execute("SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid) FROM pg_index"
                   " WHERE indrelid IN (SELECT relid FROM pg_stat_user_tables) AND NOT indisunique")
    indexes = cursor.fetchall()
    for drop, _ in indexes:  # created at the end, which is faster
        cursor.execute(drop)
    for table in ("resource_classes", "traits"):  # remove the rows written by the sync
        cursor.execute(f"DELETE FROM {table}")
    for table, columns, rows in tables(CLOUDS[name]):
        names = columns.split() + ["created_at", "updated_at"]
        cursor.copy_expert(f"COPY {table} ({', '.join(names)}) FROM STDIN", CopyText(rows))
        if names[0] == "id":
            cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), greatest(1, max(id))) FROM " + table, (table,))
    for _, create in indexes:
        cursor.execute(create)
    cursor.execute("VACUUM ANALYZE")


def sqlite_copy(name, work, manage="/usr/bin/placement-manage"):
    """Creates a new SQLite file with the cloud; the filled original is kept in work."""
    with open(__file__, "rb") as source:
        version = hashlib.md5(source.read()).hexdigest()[:8]
    kept = os.path.join(work, f"cloud-{name}-{version}.db")
    if not os.path.exists(kept):
        for old in os.listdir(work):
            if old.startswith(f"cloud-{name}-"):
                os.remove(os.path.join(work, old))
        fill_sqlite(name, kept + ".new", manage)
        os.rename(kept + ".new", kept)
    copy = os.path.join(work, f"{name}.db")
    for suffix in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(copy + suffix):
            os.remove(copy + suffix)
    shutil.copyfile(kept, copy)
    return copy


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in CLOUDS:
        sys.exit(f"usage: clouds.py {{{','.join(CLOUDS)}}} DIRECTORY")
    print(sqlite_copy(sys.argv[1], os.path.abspath(sys.argv[2])))
