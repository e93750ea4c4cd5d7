#!/usr/bin/python3
"""Bare metal nodes of several instances on one PostgreSQL database, each as on a machine of its own: an instance that is gone
or stopped, whose clock is wrong, or that cannot write.

    tests/databases/metal_instances.py --build build [CASE…]

The work of an instance that is gone is done by the others in time, and nothing is done twice: triggers record each transition of
a node and of an allocation. The cases run at the same time, on databases of their own.
"""

import argparse
import collections
import contextlib
import http.client
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "baremetal")]

import servers  # noqa: E402
from metal_client import MetalClient, is_steady  # noqa: E402
from postgres import Postgres  # noqa: E402

LATE_S = 2           # [baremetal] takeover_after
PATIENCE_S = 90      # of a machine that is busy with other tests
LONG_MS = 60000      # an operation that its owner never ends
SKEW_S = 1200
# A transition is what a row was and is: of a node its state, power and allocation, of an allocation its state and node.
TRIGGERS = """
CREATE TABLE test_transitions (number serial, kind text, uuid text, before text, after text);
CREATE FUNCTION test_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE b text; a text;
BEGIN
    IF TG_TABLE_NAME = 'berth_nodes' THEN
        b := concat_ws('/', OLD.provision_state, OLD.power_state, OLD.instance_uuid);
        a := concat_ws('/', NEW.provision_state, NEW.power_state, NEW.instance_uuid);
    ELSE
        b := concat_ws('/', OLD.state, OLD.node_id);
        a := concat_ws('/', NEW.state, NEW.node_id);
    END IF;
    IF b <> a THEN
        INSERT INTO test_transitions (kind, uuid, before, after) VALUES (TG_TABLE_NAME, NEW.uuid, b, a);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER test_nodes BEFORE UPDATE ON berth_nodes FOR EACH ROW EXECUTE FUNCTION test_note();
CREATE TRIGGER test_allocations BEFORE UPDATE ON berth_node_allocations FOR EACH ROW EXECUTE FUNCTION test_note();
"""


class Fleet:
    """Instances on a database of their own."""

    def __init__(self, server, build, name):
        self.server, self.build, self.name = server, build, name
        self.stack = contextlib.ExitStack()
        server.create_database(name)

    def start(self, host, delay_ms, late_s=LATE_S, shift_s=0, options=()):
        directory = tempfile.mkdtemp(prefix="berth-metal-instances-")
        self.stack.callback(shutil.rmtree, directory, ignore_errors=True)
        environment = {}
        if shift_s:
            environment = {"LD_PRELOAD": os.path.abspath(os.path.join(self.build, "tests/databases/shifted_clock.so")),
                           "BERTH_TEST_CLOCK_SHIFT": str(shift_s)}
        lines = ["[baremetal]", f"host = {host}", f"fake_delay_ms = {delay_ms}", f"takeover_after = {late_s}", *options]
        berth = servers.Berthd(os.path.join(self.build, "berthd"), directory, baremetal_port=servers.free_port(), options=lines,
                               connection=self.server.url(self.name), environment=environment)
        self.stack.callback(lambda: berth.process and signal_to(berth, signal.SIGCONT))
        return self.stack.enter_context(berth)

    def make_nodes(self, count, state, power="power on"):
        """With an instance for which nothing takes time, and whose tables get the triggers."""
        maker = self.start("maker", 0)
        client = MetalClient(maker.baremetal_port)
        nodes = [client.make_node(state=state, power=power, resource_class="gold")["uuid"] for _ in range(count)]
        client.close()
        maker.stop(PATIENCE_S)
        self.server.sql(TRIGGERS, database=self.name)
        return nodes

    def transitions(self, kind):
        """{uuid: [(before, after)]}, in the order of the commits."""
        found = collections.defaultdict(list)
        for row, before, after in self.server.sql(
                "SELECT uuid, before, after FROM test_transitions WHERE kind = %s ORDER BY number", kind, database=self.name):
            found[row].append((before, after))
        return found

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stack.close()


def signal_to(berth, number):
    if berth.process.poll() is None:
        berth.process.send_signal(number)


def client_of(berth):
    return MetalClient(berth.baremetal_port, timeout=PATIENCE_S)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def allocate(client):
    allocation = str(uuid.uuid4())
    client.must(201, "POST", "/v1/allocations", {"uuid": allocation, "resource_class": "gold"})
    return allocation


def expect_active_once(fleet, allocations, berth):
    """Each allocation became active once, with a node of its own, in both APIs."""
    client, placement = client_of(berth), berth.client(timeout=PATIENCE_S)
    taken = set()
    for one in allocations:
        found = client.until(f"/v1/allocations/{one}", lambda body: body["state"] != "allocating", PATIENCE_S)
        expect(found["state"] == "active", f"{one} is {found['state']}: {found['last_error']}")
        expect(found["node_uuid"] not in taken, f"{found['node_uuid']} was given out twice")
        taken.add(found["node_uuid"])
        moves = fleet.transitions("berth_node_allocations")
        expect(len(moves[one]) == 1 and moves[one][0][0] == "allocating", f"{one}: {moves[one]}")
        shown = placement.must(200, "GET", f"/allocations/{one}")["allocations"]
        expect(list(shown) == [found["node_uuid"]], f"Placement shows {shown} for {found}")
    for node, steps in fleet.transitions("berth_nodes").items():
        given = [after for before, after in steps if before.count("/") == 1 and after.count("/") == 2]
        expect(len(given) <= 1, f"node {node} was given out {len(given)} times: {steps}")
    client.close()


def killed(server, build):
    """SIGKILL of the instance that works on nodes in transient states, on power, and on allocations whose nodes are locked."""
    with Fleet(server, build, "killed") as fleet:
        cleaned = fleet.make_nodes(2, "manageable")
        maker = fleet.start("maker", 0)
        powered = [client_of(maker).make_node(state="available", resource_class="gold")["uuid"] for _ in range(3)]
        maker.stop(PATIENCE_S)
        first = fleet.start("controller1", LONG_MS, options=["node_locked_retry_attempts = 1000"])
        others = [fleet.start(f"controller{number}", 100) for number in (2, 3)]
        client = client_of(first)
        for node in cleaned:
            client.must(202, "PUT", f"/v1/nodes/{node}/states/provision", {"target": "provide"})
        for node in powered:
            client.must(202, "PUT", f"/v1/nodes/{node}/states/power", {"target": "power off"})
        allocations = [allocate(client) for _ in powered]
        last = client.must(200, "GET", f"/v1/allocations/{allocations[-1]}")
        expect(last["state"] == "allocating", f"{last}: its nodes were not locked")
        time.sleep(LATE_S + 1)  # alive, and slower than the others: its rows are seen, and are not late yet
        first.kill()
        gone = time.monotonic()
        watch = client_of(others[0])
        for node in cleaned:
            found = watch.until(f"/v1/nodes/{node}", is_steady, PATIENCE_S)
            expect(found["provision_state"] == "clean failed", f"{node} is {found['provision_state']}")
        for node in powered:
            found = watch.until(f"/v1/nodes/{node}", is_steady, PATIENCE_S)
            expect("aborted due to conductor restart" in found["last_error"] and found["power_state"] == "power on", found)
        expect_active_once(fleet, allocations, others[1])
        took = time.monotonic() - gone
        expect(took < 60, f"the takeover took {took:.0f} s")
        for node in cleaned:
            expect(len(fleet.transitions("berth_nodes")[node]) == 2, fleet.transitions("berth_nodes")[node])
        return f"taken over after {took:.1f} s"


def stopped(server, build):
    """SIGSTOP for longer than the limit: what others have taken over is not finished by the one that continues."""
    with Fleet(server, build, "stopped") as fleet:
        nodes = fleet.make_nodes(3, "manageable")
        first = fleet.start("controller1", 1500)
        second = fleet.start("controller2", 1500)
        client, watch = client_of(first), client_of(second)
        for node in nodes:
            client.must(202, "PUT", f"/v1/nodes/{node}/states/provision", {"target": "provide"})
        first.process.send_signal(signal.SIGSTOP)
        for node in nodes:
            watch.until(f"/v1/nodes/{node}", lambda body: body["provision_state"] == "clean failed", PATIENCE_S)
        proofs = server.sql("SELECT count(*) FROM berth_log WHERE length(entries) = 0", database=fleet.name)[0][0]
        expect(proofs > 0, "the database was not shown to take writes before the takeover")
        watch.provision(nodes[0], "manage", "manageable")
        watch.must(202, "PUT", f"/v1/nodes/{nodes[0]}/states/provision", {"target": "provide"})
        first.process.send_signal(signal.SIGCONT)
        found = watch.until(f"/v1/nodes/{nodes[0]}", is_steady, PATIENCE_S)
        expect(found["provision_state"] == "available", f"{nodes[0]} is {found['provision_state']}")
        seen = client.until(f"/v1/nodes/{nodes[0]}", is_steady, PATIENCE_S)
        expect(seen["provision_state"] == "available", f"the first instance shows {seen['provision_state']}")
        time.sleep(1)  # for what must not happen
        moves = fleet.transitions("berth_nodes")
        expect([len(moves[node]) for node in nodes] == [5, 2, 2], moves)
        return None


def returns(server, build):
    """An instance that is started again with its host name takes over at once what it had begun."""
    with Fleet(server, build, "returns") as fleet:
        nodes = fleet.make_nodes(2, "manageable")
        first = fleet.start("controller1", LONG_MS, late_s=3600)
        second = fleet.start("controller2", LONG_MS, late_s=3600)
        client = client_of(first)
        for node in nodes:
            client.must(202, "PUT", f"/v1/nodes/{node}/states/provision", {"target": "provide"})
        first.kill()
        first.start()
        for node in nodes:
            found = client_of(second).until(f"/v1/nodes/{node}", is_steady, PATIENCE_S)
            expect(found["provision_state"] == "clean failed" and found["last_error"].startswith(
                "The cleaning state can't be resumed by conductor controller1."), found)
        return None


def clocks(server, build):
    """Clocks that differ by minutes: an instance that is alive keeps its work, and what one leaves behind is taken over in
    time."""
    with Fleet(server, build, "clocks") as fleet:
        nodes = fleet.make_nodes(2, "manageable")
        instances = [fleet.start(f"controller{number}", 3000, shift_s=shift)
                     for number, shift in enumerate((-SKEW_S, 0, SKEW_S))]
        behind, _, ahead = (client_of(instance) for instance in instances)
        for client, node in zip((behind, ahead), nodes):
            client.must(202, "PUT", f"/v1/nodes/{node}/states/provision", {"target": "provide"})
        for client, node in zip((ahead, behind), nodes):
            found = client.until(f"/v1/nodes/{node}", is_steady, PATIENCE_S)
            expect(found["provision_state"] == "available", f"{found['provision_state']}: {found['last_error']}")
        for client, node in zip((behind, ahead), nodes):
            client.must(202, "PUT", f"/v1/nodes/{node}/states/power", {"target": "power off"})
        instances[0].kill()
        instances[2].kill()
        gone = time.monotonic()
        for node in nodes:
            found = client_of(instances[1]).until(f"/v1/nodes/{node}", is_steady, PATIENCE_S)
            expect("aborted due to conductor restart" in (found["last_error"] or ""), found)
        took = time.monotonic() - gone
        expect(took < 60, f"the takeover took {took:.0f} s")
        return f"taken over after {took:.1f} s"


def unwritable(server, build):
    """No instance can write for longer than the limit, though all can read: the owner ends its work when it can."""
    with Fleet(server, build, "unwritable") as fleet:
        node, = fleet.make_nodes(1, "manageable")
        instances = [fleet.start(f"controller{number}", 500) for number in (1, 2, 3)]
        client = client_of(instances[0])
        client.must(202, "PUT", f"/v1/nodes/{node}/states/provision", {"target": "provide"})
        blocker = server.connect(fleet.name)
        blocker.autocommit = False
        blocker.cursor().execute("LOCK TABLE berth_log IN SHARE ROW EXCLUSIVE MODE")
        time.sleep(0.5 + LATE_S + 5)
        blocker.rollback()
        blocker.close()
        found = client.until(f"/v1/nodes/{node}", is_steady, PATIENCE_S)
        expect(found["provision_state"] == "available", f"{found['provision_state']}: {found['last_error']}")
        return None


def chance(server, build):
    """Allocations through three instances, for fewer nodes than are wanted, while instances are killed and stopped."""
    with Fleet(server, build, "chance") as fleet:
        nodes = fleet.make_nodes(24, "available")
        instances = [fleet.start(f"controller{number}", 100) for number in (1, 2, 3)]
        draw = random.Random(7)
        allocations, lock = [], threading.Lock()

        def work(number):
            client = client_of(instances[number])
            for _ in range(12):
                one = str(uuid.uuid4())
                with contextlib.suppress(OSError, http.client.HTTPException):  # of an instance that is killed
                    client.ask("POST", "/v1/allocations", {"uuid": one, "resource_class": "gold"})
                    with lock:
                        allocations.append(one)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(draw.random() * 0.05)
        instances[1].process.send_signal(signal.SIGSTOP)
        instances[0].kill()
        time.sleep(1)
        instances[0].start()
        time.sleep(LATE_S + 5)
        instances[1].process.send_signal(signal.SIGCONT)
        for thread in threads:
            thread.join(PATIENCE_S)
        client = client_of(instances[2])
        client.at_rest(PATIENCE_S)
        shown = client.must(200, "GET", "/v1/allocations")["allocations"]
        active = [one["uuid"] for one in shown if one["state"] == "active"]
        expect(len(active) == min(len(nodes), len(shown)), f"{len(active)} of {len(shown)} are active")
        expect(len(shown) >= 12, f"only {len(shown)} allocations")
        expect_active_once(fleet, active, instances[0])
        return f"{len(active)} of {len(shown)} allocations are active"


CASES = {case.__name__: case for case in (killed, stopped, returns, clocks, unwritable, chance)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", default="build")
    parser.add_argument("cases", metavar="CASE", nargs="*", choices=[[], *CASES], help=", ".join(CASES))
    arguments = parser.parse_args()
    results = {}

    def run(server, name):
        try:
            results[name] = None, CASES[name](server, arguments.build)
        except Exception:
            results[name] = traceback.format_exc(), None

    names = arguments.cases or list(CASES)
    with Postgres({"max_connections": 300}) as server:
        threads = [threading.Thread(target=run, args=(server, name)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    score = servers.Score()
    for name in names:
        wrong, note = results[name]
        score.case(f"{name}, {note}" if note else name, wrong)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
