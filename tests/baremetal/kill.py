#!/usr/bin/python3
"""kill -9 in each transient state, in a power operation and during the search for nodes: checks the state after the
restart (baremetal-allocations spec, 10 and 12.18).

    tests/baremetal/kill.py --berthd build/berthd [--rounds 12]

The last line is `N passed, N failed`.
"""

import argparse
import os
import re
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import berth_baremetal  # noqa: E402
import metal_client  # noqa: E402
import servers  # noqa: E402

LONG_MS, WAIT_S = 5000, 2
HOST = "127.0.0.1"
RESCUE = {"rescue_password": "secret"}

# The node's state, the verb, the transient state, its target there; after the kill its state and target; a verb that
# would be possible if the node were not locked.
PASSING = [
    ("enroll", "manage", "verifying", "manageable", "enroll", None),
    ("available", "active", "deploying", "active", "deploy failed", "active"),
    ("manageable", "provide", "cleaning", "available", "clean failed", "available"),
    ("active", "deleted", "deleting", "available", "error", None),
    ("manageable", "inspect", "inspecting", "manageable", "inspect failed", "manageable"),
    ("manageable", "adopt", "adopting", "active", "adopt failed", "active"),
    ("active", "rescue", "rescuing", "rescue", "rescue failed", "rescue"),
    ("rescue", "unrescue", "unrescuing", "active", "unrescue failed", "active"),
]


def set_delay(berth, milliseconds):
    with open(berth.config_file) as file:
        text = file.read()
    with open(berth.config_file, "w") as file:
        file.write(re.sub(r"fake_delay_ms = \d+", f"fake_delay_ms = {milliseconds}", text))


def make_at(client, state):
    node = client.make_node(state="active" if state == "rescue" else state, resource_class="gold")["uuid"]
    if state == "rescue":
        client.provision(node, "rescue", "rescue", **RESCUE)
    return node


def tell(client, node, verb):
    more = RESCUE if verb == "rescue" else {}
    client.must(202, "PUT", f"/v1/nodes/{node}/states/provision", {"target": verb, **more})


def first_problem(found, wanted):
    for name, value in wanted.items():
        if found[name] != value:
            return f"{name} is {found[name]!r}, not {value!r}"
    return None


def send_again(berth, path, body, answers):
    """A second request while the node is locked is refused after two seconds."""
    client = metal_client.MetalClient(berth.port)
    began = time.monotonic()
    answers.append((path, client.ask("PUT", path, body), time.monotonic() - began))
    client.close()


def check_locked(answers, shortest, longest):
    for path, answer, seconds in answers:
        words = f"is locked by host {HOST}, please retry after the current operation is completed."
        if answer.status != 409 or not (answer.fault or "").endswith(words):
            return f"{path}: {answer}"
        if not shortest <= seconds <= longest:
            return f"{path}: refused after {seconds:.1f} s"
    return None if answers else "nothing was sent"


def transient_states(score, berth):
    client = metal_client.MetalClient(berth.port)
    nodes = [make_at(client, row[0]) for row in PASSING]
    torn_down, powered = make_at(client, "active"), make_at(client, "available")
    client.close()
    score.case("exit status", berth.stop() or None)
    set_delay(berth, LONG_MS)
    berth.start()
    client = metal_client.MetalClient(berth.port)
    tell(client, torn_down, "deleted")
    client.until(f"/v1/nodes/{torn_down}", lambda node: node["provision_state"] == "cleaning", LONG_MS / 1000 + 10)
    for node, row in zip(nodes, PASSING):
        tell(client, node, row[1])
    client.must(202, "PUT", f"/v1/nodes/{powered}/states/power", {"target": "power off"})
    for node, row in zip(nodes, PASSING):
        found = client.must(200, "GET", f"/v1/nodes/{node}")
        score.case(f"{row[2]} is seen", first_problem(found, {
            "provision_state": row[2], "target_provision_state": row[3], "reservation": HOST, "last_error": None}))
    waited, at_once, threads = [], [], []
    for node in nodes + [torn_down]:  # power is possible in most states, and maintenance in all
        path = f"/v1/nodes/{node}/maintenance"
        threads.append(threading.Thread(target=send_again, args=(berth, path, {}, waited), daemon=True))
    threads.append(threading.Thread(target=send_again, args=(
        berth, f"/v1/nodes/{powered}/states/provision", {"target": "active"}, waited), daemon=True))
    for thread in threads:
        thread.start()
    for node in nodes + [torn_down, powered]:  # in no state is this verb possible
        send_again(berth, f"/v1/nodes/{node}/states/provision", {"target": "abort"}, at_once)
    for thread in threads:
        thread.join(30)
    score.case("another request is refused after two seconds", check_locked(waited, WAIT_S * 0.9, WAIT_S + 2))
    score.case("a verb that cannot be is refused at once", check_locked(at_once, 0, 1))
    client.close()
    berth.halt()
    berth.start()
    return nodes, torn_down, powered


def check_restart(score, berth, nodes, torn_down, powered):
    client = metal_client.MetalClient(berth.port)
    rows = [(node, row[2], row[4], row[5]) for node, row in zip(nodes, PASSING)]
    rows.append((torn_down, "cleaning", "clean failed", "available"))
    for node, transient, failed, target in rows:
        found = client.until(f"/v1/nodes/{node}", lambda one: one["reservation"] is None)
        score.case(f"{transient}, and killed", first_problem(found, {
            "provision_state": failed, "target_provision_state": target, "power_state": "power on",
            "last_error": f"The {transient} state can't be resumed by conductor {HOST}. Moving to fail state."}))
    found = client.until(f"/v1/nodes/{powered}", lambda one: one["reservation"] is None)
    score.case("power, and killed", first_problem(found, {
        "power_state": "power on", "target_power_state": None, "provision_state": "available",
        "last_error": "Pending power operation was aborted due to conductor restart"}))
    for node, *_ in rows:  # no node is stuck
        client.must(202, "PUT", f"/v1/nodes/{node}/maintenance")
        client.must(204, "DELETE", f"/v1/nodes/{node}")
    client.close()


def allocating(score, berth):
    """The search for a node continues, with what was patched in between."""
    client = metal_client.MetalClient(berth.port)
    node = client.must(200, "GET", "/v1/nodes")["nodes"][0]["uuid"]
    client.must(202, "PUT", f"/v1/nodes/{node}/states/power", {"target": "power on"})
    for name in ("one", "two"):
        client.must(201, "POST", "/v1/allocations", {"resource_class": "gold", "name": name, "extra": {"a": 1}})
    client.must(200, "PATCH", "/v1/allocations/one", [{"op": "add", "path": "/extra/ticket", "value": "OPS-17"}])
    client.must(200, "PATCH", "/v1/allocations/two", [{"op": "remove", "path": "/extra"}])
    problem = None
    for name in ("one", "two"):
        if client.must(200, "GET", f"/v1/allocations/{name}")["state"] != "allocating":
            problem = f"{name} was not looked for any more when it was to be killed"
    score.case("allocating while the node is locked", problem)
    berth.halt()
    berth.start()
    client = metal_client.MetalClient(berth.port)
    found = {name: client.until(f"/v1/allocations/{name}", lambda one: one["state"] != "allocating")
             for name in ("one", "two")}
    states = sorted(one["state"] for one in found.values())
    score.case("one of two becomes active after the kill", None if states == ["active", "error"] else str(found))
    score.case("with what was patched", None if found["one"]["extra"] == {"a": 1, "ticket": "OPS-17"}
               and found["two"]["extra"] == {} else str(found))
    for name in found:
        client.must(204, "DELETE", f"/v1/allocations/{name}")
    client.close()


def allocate_until(port, end, made):
    client = metal_client.MetalClient(port, timeout=10)
    try:
        while time.monotonic() < end:
            made.append(client.must(201, "POST", "/v1/allocations", {"resource_class": "silver"})["uuid"])
    except OSError:
        pass  # killed
    except Exception as failure:  # from http.client
        if not type(failure).__module__.startswith("http"):
            made.append(repr(failure))
    client.close()


def killed_under_load(score, berth, rounds):
    """kill -9 between the two commits of many allocations: each acknowledged one exists and is decided, and as many
    succeed as there are nodes."""
    nodes = 6
    client = metal_client.MetalClient(berth.port)
    for _ in range(nodes):
        client.make_node(resource_class="silver")
    client.close()
    taken_up = 0
    for number in range(rounds):
        made = []
        end = time.monotonic() + 30
        threads = [threading.Thread(target=allocate_until, args=(berth.port, end, made), daemon=True) for _ in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(0.02 + 0.01 * (number % 5))
        berth.halt()
        for thread in threads:
            thread.join(30)
        left = servers.rows(berth.database, "SELECT count(*) FROM berth_node_allocations WHERE state = 'allocating'")
        taken_up += left[0][0]
        berth.start()
        client = metal_client.MetalClient(berth.port)
        _, found = client.at_rest()
        found = {one["uuid"]: one for one in found.json["allocations"]}
        active = [one["node_uuid"] for one in found.values() if one["state"] == "active"]
        lost = [one for one in made if one not in found]
        wanted = min(nodes, len(found))
        if lost or len(active) != wanted or len(set(active)) != wanted:
            score.case(f"kill {number + 1}", f"lost {lost}; {len(active)} active of {len(found)} on {nodes} nodes")
            return
        for one in found:
            client.must(204, "DELETE", f"/v1/allocations/{one}")
        client.close()
    print(f"       {taken_up} allocations were taken up in {rounds} rounds")
    score.case("kills under load", None if taken_up else "no kill came between the two commits")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--rounds", type=int, default=12)
    arguments = parser.parse_args()
    score = servers.Score()
    berth = berth_baremetal.Berth(arguments.berthd, options={"baremetal": {"node_locked_retry_attempts": 30}})
    try:
        berth.start()
        check_restart(score, berth, *transient_states(score, berth))
        allocating(score, berth)
        berth.halt()
        set_delay(berth, 20)
        berth.start()
        killed_under_load(score, berth, arguments.rounds)
    except Exception as failure:
        score.case("to the end", repr(failure))
    finally:
        if score.failed:
            print(berth.log()[-3000:])
        berth.kill()
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
