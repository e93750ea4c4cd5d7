"""/metrics?inventory=1: the numbers of openstack-exporter, compared with what the API answers."""

import os
import random
import socket
import sqlite3
import sys
import threading
import time
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "baremetal"))

import metal_client
import servers
from admin import Case
from case import CHILD, HOST, consumer, expect
from servers import claim_body

ABANDONED = 60  # requests
PREFIX = "openstack_placement_resource_"
FIELDS = ("total", "reserved", "allocation_ratio", "usage", "generation")
NAMES = ["plain", "with space", "quo\"te", "back\\slash", "ümläut", "日本", "a{b=\"c\"} 1", "\\n", "tab\there", "new\nline",
         "', ;#", "x" * 200]
NODE_STATES = {"enroll", "verifying", "manageable", "available", "active", "error", "rescue", "deploying", "wait call-back",
               "deploy failed", "cleaning", "clean wait", "clean failed", "deleting", "inspecting", "inspect wait",
               "inspect failed", "adopting", "adopt failed", "rescuing", "rescue wait", "rescue failed", "unrescuing",
               "unrescue failed"}
CLASSES = ["VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_GOLD", "PCPU"]


def key(**labels):
    return tuple(sorted(labels.items()))


def from_api(client):
    """The same series from the API: three GETs for each provider, as the exporter sends them."""
    series = {PREFIX + field: {} for field in FIELDS}
    allocations = {}
    for provider in client.must(200, "GET", "/resource_providers")["resource_providers"]:
        path = "/resource_providers/" + provider["uuid"]
        inventories = client.must(200, "GET", path + "/inventories")
        usages = client.must(200, "GET", path + "/usages")["usages"]
        for name, inventory in inventories["inventories"].items():
            labels = key(hostname=provider["name"], resourcetype=name)
            values = {**inventory, "usage": usages[name], "generation": inventories["resource_provider_generation"]}
            for field in FIELDS:
                series[PREFIX + field][labels] = values[field]
        for who, allocation in client.must(200, "GET", path + "/allocations")["allocations"].items():
            for name, amount in allocation["resources"].items():
                allocations[key(hostname=provider["name"], uuid=who, resourcetype=name)] = amount
    return series, allocations


def difference(mine, theirs):
    return {labels: (mine.get(labels), theirs.get(labels)) for labels in set(mine) | set(theirs)
            if mine.get(labels) != theirs.get(labels)}


class Inventory(Case):
    def against_the_api(self):
        """Random clouds, with names that need escaping, checked after every few writes."""
        with self.berthd() as server:
            client = server.client()
            chosen = random.Random(9)
            client.must(201, "PUT", "/resource_classes/CUSTOM_GOLD")
            providers = [str(uuid.UUID(int=chosen.getrandbits(128), version=4)) for _ in NAMES]
            for number, (name, provider) in enumerate(zip(NAMES, providers)):
                parent = {"parent_provider_uuid": chosen.choice(providers[:number])} if number % 3 == 2 else {}
                client.must(200, "POST", "/resource_providers", {"name": name, "uuid": provider, **parent})
            for turn in range(25):
                provider = chosen.choice(providers)
                generation = client.must(200, "GET", f"/resource_providers/{provider}")["generation"]
                client.ask("PUT", f"/resource_providers/{provider}/inventories", {
                    "resource_provider_generation": generation,
                    "inventories": {name: {
                        "total": chosen.choice([1, 7, 999999, 1000000, 1048576, 2147483647]),
                        "reserved": chosen.choice([0, 1]),
                        "allocation_ratio": chosen.choice([1.0, 16.0, 1.5, 0.9, 1.2, 16.123456, 1e6]),
                    } for name in chosen.sample(CLASSES, chosen.randint(0, 4))}})
                for number in range(4):
                    target = chosen.choice(providers)
                    held = client.must(200, "GET", f"/resource_providers/{target}/inventories")["inventories"]
                    if held:
                        name = chosen.choice(sorted(held))
                        client.ask("PUT", "/allocations/" + consumer(turn * 4 + number),
                                   claim_body(None, {target: {name: 1}}))
                series, allocations = from_api(client)
                page = server.scrape("/metrics?inventory=1&allocations=1")
                for name, wanted in series.items():
                    wrong = difference(page.samples.get(name, {}), wanted)
                    expect(not wrong, f"{name}: {wrong}")
                wrong = difference(page.samples.get(PREFIX + "provider_allocations", {}), allocations)
                expect(not wrong, f"allocations: {wrong}")
            expect(len(series[PREFIX + "total"]) > 10 and len(allocations) > 10, "a poor cloud")
            expect(not any(name.startswith("openstack") for name in server.scrape().samples), "without asking")

    def of_one_version(self):
        """While a claim moves back and forth between two hosts, every scrape has it exactly once."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "one", VCPU=10)
            client.make_provider(CHILD, "two", VCPU=10)
            moves, stop, problems = [0], threading.Event(), []

            def move():
                mover, generation = server.client(), None
                while not stop.is_set():
                    target = (HOST, CHILD)[moves[0] % 2]
                    status, answer = mover.claim(consumer(1), generation, **{target: {"VCPU": 3}})
                    if status != 204:
                        problems.append((status, answer))
                        return
                    generation = (generation or 0) + 1
                    moves[0] += 1

            client.claim(consumer(2), None, **{HOST: {"VCPU": 1}})
            thread = threading.Thread(target=move)
            thread.start()
            seen, end = set(), time.monotonic() + 3
            while time.monotonic() < end or moves[0] < 20:
                page = server.scrape("/metrics?inventory=1&allocations=1")
                used = {name: page.get(PREFIX + "usage", hostname=name, resourcetype="VCPU") for name in ("one", "two")}
                held = page.sum(PREFIX + "provider_allocations")
                expect(moves[0] == 0 or used["one"] + used["two"] == held in (1, 4), (used, held))
                seen.add(used["one"])
                expect(not problems, problems)
            stop.set()
            thread.join(10)
            expect(seen >= {1, 4}, f"{moves[0]} moves, and never seen: {seen}")

    def nodes_by_state(self):
        """The counts of bare metal nodes and allocations, compared with the lists of the Bare Metal API."""
        with self.berthd(baremetal_port=servers.free_port()) as server:
            metal = metal_client.MetalClient(server.baremetal_port)
            metal.make_node("enroll", power=None)
            metal.make_node("manageable")
            free = [metal.make_node("available", resource_class="x") for _ in range(3)]
            metal.make_node("available", power=None, resource_class="y")
            metal.make_node("active", maintenance=True)
            for number in range(5):
                metal.must(201, "POST", "/v1/allocations", {"resource_class": "x" if number < 2 else "z"})
            nodes, allocations = (answer.json for answer in metal.at_rest())
            page = server.scrape("/metrics?inventory=1")
            for name, rows, states in (("nodes", nodes["nodes"], NODE_STATES),
                                       ("allocations", allocations["allocations"], {"allocating", "active", "error"})):
                key = "provision_state" if name == "nodes" else "state"
                wanted = {state: sum(row[key] == state for row in rows) for state in states}
                got = {dict(labels)["state"]: value for labels, value in page.samples["berth_baremetal_" + name].items()}
                expect(got == wanted, f"{name}: {got}, not {wanted}")
            expect(got == {"allocating": 0, "active": 2, "error": 3}, got)
            expect(page.get("berth_baremetal_nodes_in_maintenance") == 1, "in maintenance")
            expect(page.get("berth_baremetal_nodes_free") == len(free) - 2, page.samples["berth_baremetal_nodes_free"])
            metal.must(202, "PUT", f"/v1/nodes/{metal.make_node('available', resource_class='z')['uuid']}/maintenance")
            page = server.scrape("/metrics?inventory=1")
            expect(page.get("berth_baremetal_nodes", state="available") == 5, "one more")
            expect(page.get("berth_baremetal_nodes_free") == 1, "one more in maintenance")
            expect("berth_baremetal_nodes" not in server.scrape().samples, "without asking")
            metal.close()

    def ten_thousand(self):
        """10 000 providers of three classes: how long a scrape takes, and that it does not delay other requests."""
        with self.berthd() as server:
            server.stop()
        shell = sqlite3.connect(server.database)
        ids = dict(shell.execute("SELECT name, id FROM resource_classes"))
        shell.executemany("INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)"
                          " VALUES (?, ?, ?, 1, ?)",
                          [(n, str(uuid.UUID(int=n)), f"compute-{n:05d}.example.org", n) for n in range(1, 10001)])
        shell.executemany("INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit,"
                          " max_unit, step_size, allocation_ratio) VALUES (?, ?, ?, ?, 1, ?, 1, ?)",
                          [(n, ids[name], total, reserved, total, ratio) for n in range(1, 10001)
                           for name, total, reserved, ratio in (("VCPU", 128, 2, 4.0), ("MEMORY_MB", 1048576, 4096, 1.0),
                                                                ("DISK_GB", 2000, 0, 1.5))])
        shell.commit()
        shell.close()
        with self.berthd() as server:  # on the same file
            client = server.client()
            times = []
            for _ in range(5):
                began = time.monotonic()
                status, _, text = server.page("/metrics?inventory=1")
                times.append(time.monotonic() - began)
                expect(status == 200 and text.count(PREFIX + "usage{") == 30000, "samples")
            page = server.scrape("/metrics?inventory=1")
            expect(page.sum(PREFIX + "total", resourcetype="MEMORY_MB") == 10000 * 1048576, "total")
            for _ in range(ABANDONED):  # clients that close before they are served cost nothing
                gone = socket.create_connection(("127.0.0.1", server.admin_port))
                gone.sendall(b"GET /metrics?inventory=1 HTTP/1.1\r\nHost: x\r\n\r\n")
                gone.close()
            began = time.monotonic()
            server.page("/metrics?inventory=1")
            behind = time.monotonic() - began
            expect(behind < ABANDONED / 4 * min(times), f"{behind:.1f} s behind {ABANDONED} requests without a client")
            stop, worst = threading.Event(), [0]

            def scrape():
                while not stop.is_set():
                    server.page("/metrics?inventory=1")

            threads = [threading.Thread(target=scrape) for _ in range(3)]
            for thread in threads:
                thread.start()
            for _ in range(300):
                began = time.monotonic()
                client.must(200, "GET", "/resource_providers?name=compute-00001.example.org")
                worst[0] = max(worst[0], time.monotonic() - began)
            stop.set()
            for thread in threads:
                thread.join(60)
            print(f"       {len(text) >> 20} MiB in {min(times) * 1000:.0f} ms at best, reading included;"
                  f" beside three such scrapers a GET takes {worst[0] * 1000:.0f} ms at most")
            expect(min(times) < 3, times)
            expect(worst[0] < 2, worst)
