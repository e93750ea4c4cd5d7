"""Values that no service writes, in every column of the tables: each is either read or refused with the store's
errors; none ends berthd, none is answered with 500.

SQLite itself writes them, since it stores values of any type. Afterwards the old rows are restored, and every answer is
as before.
"""

import sqlite3

TABLES = ("resource_classes", "traits", "placement_aggregates", "projects", "users", "consumer_types",
          "resource_providers", "inventories", "resource_provider_traits", "resource_provider_aggregates", "consumers",
          "allocations")
OURS = ("berth_head", "berth_log", "berth_nodes", "berth_node_allocations", "berth_valet_groups", "berth_valet_members",
        "berth_valet_claims", "berth_valet_plans", "berth_valet_placements")
# of tables with many alike: one column of each kind
COLUMNS = {"berth_nodes": ("id", "uuid", "name", "instance_uuid", "provision_state", "maintenance", "extra", "traits", "due_at"),
           "berth_node_allocations": ("id", "uuid", "state", "candidate_nodes", "node_id", "created_at"),
           "berth_valet_plans": ("id", "stack_id", "project_id", "content"),
           "berth_valet_placements": ("id", "plan_id", "name", "orchestration_id", "resource_id", "reserved")}
NODE = "11111111-0000-4000-8000-000000000001"
NUMBERS = (-1, 0, 1, 2**31 - 1, 2**31, -2**31 - 1, 2**62, 2**63 - 2, 2**63 - 1, -2**63, 0.5, -1e300, float("inf"))
TEXTS = ("''", "'abc'", "'a' || char(0) || 'b'", "'1' || char(10) || '\"'", "CAST(x'ff61' AS TEXT)", "x''", "x'ff00'",
         "x'31'", "NULL", f"'{'x' * 37}'", f"'{'x' * 9999}'", "'9999-99-99 99:99:99'")
FINE = (200, 201, 204, 400, 404, 409, 503)


def sql_of(value):
    return "9e999" if value == float("inf") else repr(value)


def statements(table, column):
    last = f" WHERE rowid = (SELECT max(rowid) FROM {table})"
    if column.endswith("_at"):
        return [f"UPDATE {table} SET {column} = {value}" for value in ("9e999", *TEXTS[-4:])]
    return ([f"UPDATE {table} SET {column} = {value}{last}" for value in [*map(sql_of, NUMBERS), *TEXTS]] +
            [f"UPDATE OR IGNORE {table} SET {column} = {value}" for value in (-1, 0.5, "9e999", "'abc'", "x'31'")])


def columns_of(shell, table):
    return [row[1] for row in shell.execute(f"PRAGMA table_info({table})")]


def save(shell):
    return {table: shell.execute(f"SELECT rowid, * FROM {table}").fetchall() for table in TABLES + OURS}


def put_back(shell, saved, changed):
    """Most rows are standard names: rows that requests created are deleted, rows that they deleted are restored."""
    shell.execute("BEGIN IMMEDIATE")
    for table, rows in saved.items():
        is_standard = table in ("resource_classes", "traits") and table != changed
        shell.execute(f"DELETE FROM {table}" + (f" WHERE id > {rows[-1][0]}" if is_standard else ""))
        names = ["rowid", *columns_of(shell, table)]
        if "id" in names or "seq" in names and table == "berth_log":
            names, rows = names[1:], [row[1:] for row in rows]
        shell.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", rows)
    shell.execute("COMMIT")


def ask_all(client, paths, writes, what):
    for method, path, body in [("GET", path, None) for path in paths] + list(writes):
        try:
            status, answer = client.ask(method, path, body)
        except Exception as failure:
            raise AssertionError(f"{what}: {method} {path}: {failure!r}") from failure
        if status not in FINE:
            raise AssertionError(f"{what}: {method} {path}: {status} {answer}")


def play(server, client, paths, writes):
    """Returns how many values were written."""
    shell = sqlite3.connect(server.database, isolation_level=None, timeout=10)
    shell.execute("INSERT INTO berth_nodes (id, uuid, name) VALUES (1, ?, 'node')", (NODE,))
    shell.execute("INSERT INTO berth_node_allocations (id, uuid, node_id) VALUES (1, ?, 1)", (NODE,))
    shell.execute("INSERT INTO berth_valet_groups (id, uuid, name) VALUES (1, ?, 'gold')", (NODE,))
    shell.execute("INSERT INTO berth_valet_members (id, group_id, project_id) VALUES (1, 1, 'p')")
    shell.execute("INSERT INTO berth_valet_claims (id, group_id, provider_uuid, is_rack) VALUES (1, 1, ?, 0)", (NODE,))
    shell.execute("INSERT INTO berth_valet_plans (id, uuid, name, stack_id, project_id, user_id, content)"
                  " VALUES (1, ?, 'plan', 'stack', 'p', 'u', '{}')", (NODE,))
    shell.execute("INSERT INTO berth_valet_placements (id, uuid, plan_id, name, orchestration_id)"
                  " VALUES (1, ?, 1, 'server', 'o')", (NODE,))
    saved, count = save(shell), 0
    for table in TABLES + OURS:
        for column in COLUMNS.get(table) or columns_of(shell, table):
            for statement in statements(table, column):
                try:
                    if shell.execute(statement).rowcount == 0:
                        continue
                except sqlite3.Error:
                    continue  # SQLite itself refuses it
                ask_all(client, paths, writes, statement[:200])
                count += 1
                put_back(shell, saved, table)
    shell.close()
    return count
