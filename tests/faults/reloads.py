"""Memory after commits by other programs: after each, berthd reads the whole file again and merges what differs."""

import socket
import sqlite3
import time

import case
from case import HOST, expect

PROVIDERS, COMMITS, DEVICES, UNITS = 30000, 8, 12, 10
MARGIN_MIB = 12  # for malloc, SQLite's cache and the stacks of threads
NOW = "2026-01-01 00:00:00.000000"


def resident_mib(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) / 256


def uuid_of(number):
    return f"dddddddd-0000-4000-8000-{number:012d}"


def fill(database):
    database.executemany(
        "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, created_at, updated_at) "
        "VALUES (?, ?, ?, 1, ?, ?, ?)",
        ((n, uuid_of(n), f"host{n}", n, NOW, NOW) for n in range(1000, 1000 + PROVIDERS)))
    database.executemany(
        "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, "
        "step_size, allocation_ratio, created_at, updated_at) VALUES (?, ?, 64, 0, 1, 64, 1, 1.0, ?, ?)",
        ((n, resource_class, NOW, NOW) for n in range(1000, 1000 + PROVIDERS) for resource_class in range(3)))
    database.commit()


def hold_version(server, client):
    """A very long search pins the version that it reads."""
    client.must(201, "PUT", "/resource_classes/CUSTOM_UNIT")
    client.make_provider(HOST, "wide")
    for i in range(DEVICES):
        client.must(200, "POST", "/resource_providers",
                    {"name": f"device{i}", "uuid": uuid_of(i), "parent_provider_uuid": HOST})
        client.set_inventory(uuid_of(i), 0, CUSTOM_UNIT=UNITS)
    asked = "&".join(f"resources_A{i}=CUSTOM_UNIT:{UNITS // 2 + 1}" for i in range(DEVICES + 1))
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.sendall(f"GET /allocation_candidates?{asked}&group_policy=none HTTP/1.1\r\nHost: berth\r\n"
                       "X-Auth-Token: admin\r\nOpenStack-API-Version: placement 1.39\r\n\r\n".encode())
    time.sleep(0.2)
    return connection


class Reloads(case.Case):
    def reloads_make_no_copy(self):
        """However many commits others make while one version is pinned, there is one copy, plus what they wrote. If
        they write everything, there are two while that version is pinned, and one after it is released."""
        with self.berthd() as server:
            client = server.client()
            empty = resident_mib(server)
            database = sqlite3.connect(server.database, timeout=10)
            fill(database)
            client.must(200, "GET", "/resource_providers?name=host1000")
            time.sleep(0.5)
            one = resident_mib(server) - empty
            holder = hold_version(server, client)
            held = 0
            for number in range(COMMITS):
                database.execute("UPDATE resource_providers SET generation = generation + 1 WHERE id = ?", (1000 + number,))
                database.commit()
                got = client.must(200, "GET", f"/resource_providers/{uuid_of(1000 + number)}")["generation"]
                expect(got == 2, f"generation {got}")
                held = max(held, resident_mib(server))
            database.execute("UPDATE resource_providers SET generation = 9")
            database.commit()
            client.must(200, "GET", f"/resource_providers/{uuid_of(1000)}")
            loaded = resident_mib(server)
            holder.close()
            end = time.monotonic() + 5
            most = max(loaded - one / 2, empty + 1.5 * one)  # the latter if the search ended before
            while (left := resident_mib(server)) > most and time.monotonic() < end:
                time.sleep(0.1)
            sizes = f"empty {empty:.0f} MiB, one copy {one:.0f}, held {held:.0f}, all new {loaded:.0f}, let go {left:.0f}"
            print(f"       {sizes}")
            expect(held < empty + 1.5 * one + MARGIN_MIB, sizes)
            expect(loaded < empty + 3 * one + MARGIN_MIB, sizes)
            expect(left <= most, sizes)
