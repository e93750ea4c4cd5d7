#!/usr/bin/python3
"""Plans, holds and groups of the Valet API with two instances on one PostgreSQL database, beside the Python service.

    tests/databases/valet_instances.py --berthd build/berthd [CASE…]

What one instance plans, the other continues; a hold survives the instance that made it; what a group is changed to on one binds
the other; what a program that knows no holds writes ends a hold once, whichever instance notices it, and also when an instance
compares everything, because the log no longer tells it what it has missed.
"""

import argparse
import concurrent.futures
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "valet")]

import books  # noqa: E402
import chaos  # noqa: E402
import servers  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import wait_until  # noqa: E402

FLAVOR = {"vcpus": 4, "ram": 1024, "disk": 10}
SOON_S = 30  # a second on an idle machine


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Pair:
    """Two instances, with the hosts, racks and the group of chaos.py."""

    def __init__(self, server, program, name, stack):
        self.server, self.name = server, name
        server.create_database(name)
        self.url = server.url(name)

        def berth():
            directory = tempfile.mkdtemp(prefix="berth-valet-instances-")
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            return stack.enter_context(servers.Berthd(program, directory, valet_port=servers.free_port(), connection=self.url))

        self.berths = [berth(), berth()]
        self.stack = stack
        chaos.build(self.berths[0])
        self.plans = [chaos.ValetClient(berth.valet_port) for berth in self.berths]
        self.resources = [berth.client() for berth in self.berths]

    def start_python(self):
        directory = tempfile.mkdtemp(prefix="berth-valet-instances-")
        self.stack.callback(shutil.rmtree, directory, ignore_errors=True)
        service = servers.PythonService(directory, connection=self.url, sync=False)
        return self.stack.enter_context(service).client(timeout=60)

    def kill(self, which):
        self.berths[which].kill()

    def restart(self, which):
        berth = self.berths[which].start()
        self.plans[which], self.resources[which] = chaos.ValetClient(berth.valet_port), berth.client()

    def plan(self, which, count=1, **more):
        """A plan of new servers; (plan's id, {server: placement's id}). more: other resources of the stack."""
        names = [str(uuid.uuid4()) for _ in range(count)]
        resources = {name: {"type": "OS::Nova::Server", "properties": {"flavor": FLAVOR}} for name in names}
        resources.update({key: make(names) for key, make in more.items()})
        status, answer = self.plans[which].ask("POST", "/v1/plans", {"plan_name": "p", "stack_id": str(uuid.uuid4()),
                                                                     "resources": resources})
        expect(status == 201, f"POST /v1/plans: {status} {answer}")
        shown = {name: self.plans[which].must(200, "GET", f"/v1/placements/{name}") for name in answer["plan"]["placements"]}
        return answer["plan"]["id"], {name: one["placement"]["id"] for name, one in shown.items()}

    def location(self, which, placement):
        return self.plans[which].must(200, "GET", f"/v1/placements/{placement}")["placement"]["location"]

    def held(self, which, consumer):
        """{provider: resources} of a consumer, as an instance shows them."""
        found = self.resources[which].must(200, "GET", f"/allocations/{consumer}")["allocations"]
        return {provider: one["resources"] for provider, one in found.items()}

    def build(self, client, server, host, project=chaos.MEMBER, vcpus=FLAVOR["vcpus"]):
        """Compute claims a server on that host; the status."""
        status, answer = client.ask("PUT", f"/allocations/{server}", {
            "allocations": {host: {"resources": {"VCPU": vcpus, "MEMORY_MB": 1024, "DISK_GB": 10}}}, "project_id": project,
            "user_id": "user", "consumer_generation": None, "consumer_type": "INSTANCE"})
        self.last = answer
        return status

    def host_of(self, which, placement):
        return chaos.host_uuid(int(self.location(which, placement)[len("host-"):]))

    def used(self, client, host):
        return client.must(200, "GET", f"/resource_providers/{host}/usages")["usages"]["VCPU"]

    def write(self, which):
        """Any write: with the next one, an instance does what other programs' writes require."""
        trait = "/traits/CUSTOM_" + uuid.uuid4().hex.upper()
        self.resources[which].must(201, "PUT", trait)
        self.resources[which].must(204, "DELETE", trait)

    def await_no_hold(self, placement, writer, readers=()):
        def has_ended():
            self.write(writer)
            return not any(self.held(which, placement) for which in (readers or (0, 1)))
        wait_until(has_ended, f"the hold {placement} does not end", SOON_S)

    def check_books(self):
        found = books.problems(self.url)
        expect(not found, "; ".join(found[:5]))


def continued(pair):
    """Planned on one, changed on the other, built on the first, deleted on the other."""
    plan, placements = pair.plan(0, 2)
    (first, one), (second, other) = placements.items()
    expect(pair.plans[1].must(200, "GET", f"/v1/plans/{plan}")["plan"]["placements"].keys() == placements.keys(), "not shown")
    before = pair.location(1, one)
    places = [chaos.host_name(number) for number in range(chaos.HOSTS) if chaos.host_name(number) != before][:3]
    pair.plans[1].must(201, "POST", f"/v1/placements/{first}", {"locations": places, "action": "reserve"})
    expect(pair.location(0, one) in places, f"{pair.location(0, one)} is none of {places}")
    expect(list(pair.held(0, one)) == [pair.host_of(1, one)], "the hold is elsewhere")
    expect(pair.build(pair.resources[0], first, pair.host_of(0, one)) == 204, "the server was not built")
    expect(pair.held(1, one) == {}, "the hold stays beside its server")
    pair.plans[1].must(201, "PUT", f"/v1/plans/{plan}", {"action": "migrate", "resources": [second]})
    expect(list(pair.held(0, other)) == [pair.host_of(1, other)], "the hold did not move")
    pair.plans[1].must(204, "DELETE", f"/v1/plans/{plan}")
    expect(pair.plans[0].ask("GET", f"/v1/plans/{plan}")[0] == 404, "the plan is still shown")
    expect(pair.held(0, other) == {}, "a hold is left of a deleted plan")


def killed(pair):
    """The instance that made a hold is killed before the server is claimed on the other; and in the other direction."""
    for first, other in ((0, 1), (1, 0)):
        _, placements = pair.plan(first, 3)
        pair.kill(first)
        for server, placement in placements.items():
            host = pair.host_of(other, placement)
            before = pair.used(pair.resources[other], host)
            expect(pair.build(pair.resources[other], server, host) == 204, "the server was not built")
            expect(pair.used(pair.resources[other], host) == before, "the server counts twice")
        pair.restart(first)
        for placement in placements.values():
            expect(pair.held(first, placement) == {}, "the hold is back")


def groups(pair):
    """Members and groups change on one while plans are made on the other."""
    own = {"own": lambda names: chaos.constraint("exclusivity", "host", names, group_name="gold")}
    group = next(one for one in pair.plans[0].must(200, "GET", "/v1/groups")["groups"] if one["name"] == "gold")["id"]
    members = f"/v1/groups/{group}/members"
    for round_number in range(10):
        changes, plans = round_number % 2, 1 - round_number % 2
        plan, placements = pair.plan(plans, 2, **own)
        host = pair.host_of(changes, next(iter(placements.values())))
        expect(pair.build(pair.resources[changes], str(uuid.uuid4()), host, chaos.NON_MEMBER, 1) == 409,
               "a project that is no member got a claimed host")
        expect(pair.plans[changes].ask("DELETE", f"{members}/{chaos.MEMBER}")[0] == 409, "a member with servers was removed")
        pair.plans[changes].must(204, "DELETE", f"/v1/plans/{plan}")
        pair.plans[changes].must(204, "DELETE", f"{members}/{chaos.MEMBER}")
        names = [str(uuid.uuid4())]
        status, answer = pair.plans[plans].ask("POST", "/v1/plans", {"plan_name": "p", "stack_id": names[0], "resources": {
            names[0]: {"type": "OS::Nova::Server", "properties": {"flavor": FLAVOR}}, "own": own["own"](names)}})
        expect(status == 409, f"a project that was removed got {status}: {answer}")
        stranger = str(uuid.uuid4())
        expect(pair.build(pair.resources[plans], stranger, host, chaos.NON_MEMBER, 1) == 204, "the claim did not end")
        pair.resources[changes].must(204, "DELETE", f"/allocations/{stranger}")
        pair.plans[changes].must(201, "PUT", members, {"members": [chaos.MEMBER]})


def foreign(pair):
    """The Python service builds the server of a hold, and takes the capacity that a hold counts on."""
    python = pair.start_python()
    _, placements = pair.plan(0, 2)
    (server, built), (late, squeezed) = placements.items()
    host = pair.host_of(0, built)
    expect(pair.build(python, server, host) == 204, "the Python service did not build the server")
    pair.await_no_hold(built, 1)
    expect(pair.location(0, built) == pair.location(1, built) == chaos.host_name(int(host[:8], 16)), "the location is wrong")
    pair.check_books()
    host = pair.host_of(0, squeezed)
    generation = python.must(200, "GET", f"/resource_providers/{host}")["generation"]
    python.must(200, "PUT", f"/resource_providers/{host}/inventories/VCPU",
                     {"resource_provider_generation": generation, "total": 2})
    wait_until(lambda: all(client.must(200, "GET", f"/resource_providers/{host}/inventories")["inventories"]["VCPU"]["total"] == 2
                           for client in pair.resources), "the inventory is not followed", SOON_S)
    for client in pair.resources:
        status = pair.build(client, str(uuid.uuid4()), host, vcpus=1)
        expect(status == 409, f"a host with a hold above its capacity accepted a server: {status}")
        status = pair.build(client, late, host, vcpus=FLAVOR["vcpus"] + 1)
        expect(status == 409, f"a server got more than its hold on a host that is full: {status}")
    pair.plans[1].must(201, "POST", f"/v1/placements/{late}", {"locations": [chaos.host_name(7), chaos.host_name(8)],
                                                               "action": "replan"})
    expect(pair.host_of(0, squeezed) != host, "the placement stays on a host without capacity")
    expect(pair.build(pair.resources[0], late, pair.host_of(1, squeezed)) == 204, "the server was not built")
    python.must(204, "DELETE", f"/allocations/{late}")
    wait_until(lambda: pair.held(0, late) == pair.held(1, late) == {}, "the end of a server is not followed", SOON_S)


def compared(pair):
    """An instance that was stopped while the log was pruned and the Python service wrote compares everything: it ends the holds
    whose servers have come, and knows the plans that were made meanwhile."""
    python = pair.start_python()
    _, placements = pair.plan(1, 3)
    pair.berths[1].process.send_signal(signal.SIGSTOP)
    try:
        for server, placement in list(placements.items())[:2]:
            expect(pair.build(python, server, pair.host_of(0, placement)) == 204, pair.last)
            pair.await_no_hold(placement, 0, [0])  # the Python service counts both
        plan, newer = pair.plan(0, 2)
        pair.server.sql("DELETE FROM berth_log WHERE number < (SELECT max(number) FROM berth_log)", database=pair.name)
    finally:
        pair.berths[1].process.send_signal(signal.SIGCONT)
    for placement in (*placements.values(), *newer.values()):
        expect(pair.held(0, placement) == pair.held(1, placement), f"{placement} differs")
        expect(pair.location(0, placement) == pair.location(1, placement), f"the location of {placement} differs")
    last, placement = list(placements.items())[2]
    expect(pair.build(pair.resources[1], last, pair.host_of(1, placement)) == 204, "the last server was not built")
    expect(pair.held(0, placement) == {}, "the hold stays")
    pair.plans[1].must(204, "DELETE", f"/v1/plans/{plan}")
    expect(not any(pair.held(0, placement) for placement in newer.values()), "holds are left of a deleted plan")


CASES = {case.__name__: case for case in (continued, killed, groups, foreign, compared)}


def run(server, program, name):
    with contextlib.ExitStack() as stack:
        pair = Pair(server, program, name, stack)
        try:
            CASES[name](pair)
            if name not in ("foreign", "compared"):  # there, servers and capacities have gone without berth
                pair.check_books()
        except Exception as failure:
            return repr(failure)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("cases", metavar="CASE", nargs="*", choices=[[], *CASES], help=", ".join(CASES))
    arguments = parser.parse_args()
    score = servers.Score()
    with Postgres({"max_connections": 200}) as server, concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
        names = arguments.cases or list(CASES)
        for name, wrong in zip(names, pool.map(lambda name: run(server, arguments.berthd, name), names)):
            score.case(name, wrong)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
