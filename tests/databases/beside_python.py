#!/usr/bin/python3
"""Two instances of berthd and the Python service on one database, as while a cloud changes from one to the other.

    tests/databases/beside_python.py --berthd build/berthd [--database postgres|mariadb|galera] [--seconds S]

What one has written, the others know a second later, and no write is planned on what is no longer so: names are given once,
generations are compared, and claims at the same time never exceed a capacity, except by a fault of the Python service's
(python_over_capacity.py). What is written at the very same moment (between
an instance's read and its commit) is played by statements on the tables, as the Python service executes them.
"""

import argparse
import contextlib
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import over_capacity  # noqa: E402
import servers  # noqa: E402
from galera import PATIENT, Galera  # noqa: E402
from mariadb import KOLLA, TRUST, server_class  # noqa: E402
from postgres import Postgres  # noqa: E402

SOON_S = 20  # a second on an idle machine
CAPACITY = 60
SCRUBS = ("[berth]", "scrub_interval = 1")
OWNER, PYTHON_OWNER = "p", "of python"  # projects
DATABASES = ("postgres", "mariadb", "galera")
# the rights of deployers' users are not enough for triggers beside a binary log
OPTIONS = {**KOLLA, **TRUST, "log_slave_updates": True}


def new():
    return str(uuid.uuid4())


def claim(client, provider, amount=1, consumer=None, generation=None, owner=OWNER):
    consumer = consumer or new()
    body = {"allocations": {provider: {"resources": {"VCPU": amount}}} if amount else {}, "project_id": owner, "user_id": "u",
            "consumer_generation": generation, "consumer_type": "INSTANCE"}
    return consumer, client.ask("PUT", f"/allocations/{consumer}", body)[0]


def provider_of(client, name, total=CAPACITY):
    provider = new()
    client.must(200, "POST", "/resource_providers", {"name": name, "uuid": provider})
    inventories(client, provider, 0, total)
    return provider


def inventories(client, provider, generation, total):
    return client.ask("PUT", f"/resource_providers/{provider}/inventories",
                      {"resource_provider_generation": generation, "inventories": {"VCPU": {"total": total}}})[0]


def soon(ask, wanted):
    """What is asked becomes what is wanted; otherwise the last answer."""
    end = time.monotonic() + SOON_S
    while (found := ask()) != wanted and time.monotonic() < end:
        time.sleep(0.05)
    return found


def used(client, provider):
    return client.must(200, "GET", f"/resource_providers/{provider}/usages")["usages"].get("VCPU", 0)


def work_at_once(threads):
    threads = list(threads)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def is_by_python(server, provider):
    """Whether the Python service's own fault has exceeded the provider's capacity: a server's log proves it, and the last claims
    are those of PYTHON_OWNER. PostgreSQL has no log that tells, and the Python service no such fault there."""
    if isinstance(server, Postgres):
        return False
    found = [each for each in over_capacity.look(server)[0] if each.uuid == provider]
    verdicts = [over_capacity.judge(each, [server]) for each in found]
    for verdict in verdicts:
        print(f"       {provider} is over its capacity, {verdict.text}", flush=True)
    owners = {owner for verdict in verdicts for consumer in verdict.consumers for owner, in server.sql(
        "SELECT external_id FROM projects p JOIN consumers c ON c.project_id = p.id WHERE c.uuid = %s", consumer)}
    return owners == {PYTHON_OWNER} and all(verdict.is_foreign for verdict in verdicts)


def claims_are_kept(server, providers, accepted, others):
    """The cases after a race of claims for one unit each: `others` are the answers other than 204 and 409."""
    held = server.sql("SELECT sum(used), p.uuid FROM allocations JOIN resource_providers p ON p.id = resource_provider_id"
                      f" WHERE p.uuid IN {tuple(providers)} GROUP BY p.uuid")
    yield "no other answer than 204 and 409", not others, others[:5]
    wrong = [uuid for amount, uuid in held if amount > CAPACITY and not is_by_python(server, uuid)]
    yield "no capacity is exceeded by berth", not wrong, held
    yield "each claim is there", sum(amount for amount, _ in held) == accepted, (held, accepted)


def nodes_of(kind, stack):
    """Two servers with the same database: it may be one twice."""
    if kind == "galera":
        return stack.enter_context(Galera(nodes=2, options=OPTIONS, provider=PATIENT)).nodes
    return [stack.enter_context(Postgres() if kind == "postgres" else server_class()(options=OPTIONS))] * 2


@contextlib.contextmanager
def two_and_python(program, kind, options=()):
    """(server, two instances of berthd, Python service), the three on one database. On a cluster, the second instance is on
    another node than all the rest."""
    with contextlib.ExitStack() as stack:
        nodes = nodes_of(kind, stack)
        directories = []
        for _ in range(3):
            directories.append(tempfile.mkdtemp(prefix="berth-beside-"))
            stack.callback(shutil.rmtree, directories[-1], ignore_errors=True)
        berths = [stack.enter_context(servers.Berthd(program, directory, connection=node.url(), options=options))
                  for directory, node in zip(directories, nodes)]
        yield nodes[0], berths, stack.enter_context(servers.PythonService(directories[2], connection=nodes[0].url(), sync=False))


def score_cases(score, cases, berths):
    for what, is_right, found in cases:
        score.case(what, None if is_right else repr(found))
    for berth in berths:
        if berth.process.poll() is not None:
            score.case("an instance has ended", berth.log()[-3000:] or "without a word")


def refuses_unseen_changes(server):
    """MariaDB from 11.6.2 on, unless it is told otherwise."""
    return not isinstance(server, Postgres) and server.sql("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'")[-1:] == [
        ("innodb_snapshot_isolation", "ON")]


class Beside:
    """All cases yield (what, whether it is right, what was found)."""

    def __init__(self, server, berths, python, seconds, may_give_up):
        """may_give_up: the Python service answers 500 after some refusals of a cluster, or of a server that refuses to change what
        the transaction has not seen."""
        self.server, self.seconds, self.may_give_up = server, seconds, may_give_up
        self.one, self.other = (servers.Client(berth.port) for berth in berths)
        self.python = servers.Client(python.port, timeout=60)
        self.all = [self.one, self.other, self.python]

    def generation(self, client, provider):
        return client.must(200, "GET", f"/resource_providers/{provider}")["generation"]

    def stale_capacity(self):
        """The instance that follows another's claim must not take the generation of a foreign write without the write."""
        provider = provider_of(self.one, new())
        self.other.must(200, "GET", f"/resource_providers/{provider}/inventories")
        claim(self.one, provider)
        self.server.run(f"""BEGIN; UPDATE inventories SET total = 1 WHERE resource_provider_id =
            (SELECT id FROM resource_providers WHERE uuid = '{provider}');
            UPDATE resource_providers SET generation = generation + 1 WHERE uuid = '{provider}'; COMMIT""")
        found = claim(self.other, provider)[1]
        yield "a smaller inventory is noticed by who follows a claim", found == 409, found

    def stale_usage(self):
        """The same for allocations that another program has made meanwhile."""
        provider = provider_of(self.one, new(), 3)
        self.other.must(200, "GET", f"/resource_providers/{provider}/inventories")
        claim(self.one, provider)
        consumer = new()
        self.server.run(f"""BEGIN; INSERT INTO projects (external_id) VALUES ('{consumer}');
            INSERT INTO consumers (uuid, project_id, user_id, generation) SELECT '{consumer}', max(p.id), min(u.id), 1
            FROM projects p, users u;
            INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)
            SELECT id, '{consumer}', 0, 2 FROM resource_providers WHERE uuid = '{provider}';
            UPDATE resource_providers SET generation = generation + 1 WHERE uuid = '{provider}'; COMMIT""")
        found = claim(self.other, provider)[1]
        yield "and so is a claim of another program", found == 409, found
        yield "whose consumer is then there", used(self.other, provider) == 3, used(self.other, provider)

    def moved_names(self):
        provider, name = new(), new()
        self.python.must(200, "POST", "/resource_providers", {"name": name, "uuid": provider})
        for what, body in (("name", {"name": name, "uuid": new()}), ("uuid", {"name": new(), "uuid": provider})):
            found = self.one.ask("POST", "/resource_providers", body)[0]
            yield f"a {what} that was just given is refused", found == 409, found
        host = provider_of(self.python, new())
        self.one.ask("POST", "/resource_providers", {"name": new(), "uuid": host})
        consumer = new()  # a look may have read the provider between the two writes that made it
        found = soon(lambda: claim(self.one, host, consumer=consumer)[1], 204)
        yield "a provider that is known by now can be claimed", found == 204, found
        found = self.other.must(200, "GET", f"/allocations/{consumer}")["allocations"]
        yield "and the other instance sees it with its claim", host in found and used(self.other, host) == 1, found
        trait = "CUSTOM_" + new().replace("-", "_").upper()
        self.python.must(201, "PUT", f"/traits/{trait}")
        found = self.other.ask("PUT", f"/traits/{trait}")[0]
        yield "a trait that was just made is there", found in (201, 204), found
        host = provider_of(self.one, new())
        claim(self.python, provider_of(self.python, new()), owner="its own")
        found = claim(self.one, host, owner="its own")[1]
        yield "so is a project", found == 204, found

    def deletes(self):
        provider = provider_of(self.one, new())
        soon(lambda: self.python.ask("GET", f"/resource_providers/{provider}")[0], 200)
        consumer = claim(self.python, provider, 2)[1]
        found = self.one.ask("DELETE", f"/resource_providers/{provider}")[0]
        yield "a provider that was just claimed is not deleted", found == 409, found
        trait = "CUSTOM_" + new().replace("-", "_").upper()
        self.one.must(201, "PUT", f"/traits/{trait}")
        generation = self.generation(self.python, provider)
        self.python.must(200, "PUT", f"/resource_providers/{provider}/traits",
                         {"resource_provider_generation": generation, "traits": [trait]})
        found = self.one.ask("DELETE", f"/traits/{trait}")[0]
        yield "nor is a trait that was just given to one", found == 409, (found, consumer)
        empty = provider_of(self.one, new())
        self.python.must(204, "DELETE", f"/resource_providers/{empty}")
        found = claim(self.one, empty)[1]
        yield "nothing is claimed of a provider that was just deleted", found in (400, 409), found

    def generations(self):
        provider = provider_of(self.one, new())
        generation = self.generation(self.python, provider)
        first = inventories(self.python, provider, generation, 50)
        second = inventories(self.one, provider, generation, 40)
        yield "an old generation is refused", (first, second) == (200, 409), (first, second)
        second = inventories(self.one, provider, generation + 1, 40)
        yield "and the new one accepted", second == 200, second

    def noticed(self):
        """Without any write of berth's."""
        provider = provider_of(self.python, name := new())
        consumer = claim(self.python, provider, 7)[0]
        for which, client in (("one", self.one), ("other", self.other)):
            found = soon(lambda: client.ask("GET", f"/resource_providers/{provider}")[0], 200)
            yield f"{which}: a new provider is there", found == 200, found
            found = soon(lambda: used(client, provider), 7)
            yield f"{which}: and what is claimed of it", found == 7, found
        renamed, trait = new(), "CUSTOM_" + new().replace("-", "_").upper()
        self.python.must(200, "PUT", f"/resource_providers/{provider}", {"name": renamed})
        self.python.must(201, "PUT", f"/traits/{trait}")
        self.python.must(200, "PUT", f"/resource_providers/{provider}/aggregates", [aggregate := new()], version="1.1")
        for which, client in (("one", self.one), ("other", self.other)):
            found = soon(lambda: client.must(200, "GET", f"/resource_providers/{provider}")["name"], renamed)
            yield f"{which}: its new name, without a new generation", found == renamed, (found, name)
            found = soon(lambda: client.ask("GET", f"/traits/{trait}")[0], 204)
            yield f"{which}: a new trait", found == 204, found
            found = soon(lambda: client.must(200, "GET", f"/resource_providers/{provider}/aggregates")["aggregates"], [aggregate])
            yield f"{which}: an aggregate, without a new generation", found == [aggregate], found
        self.python.must(204, "DELETE", f"/allocations/{consumer}")
        self.python.must(204, "DELETE", f"/traits/{trait}")
        for which, client in (("one", self.one), ("other", self.other)):
            found = soon(lambda: used(client, provider), 0)
            yield f"{which}: the claim has ended", found == 0, found
            found = soon(lambda: client.ask("GET", f"/traits/{trait}")[0], 404)
            yield f"{which}: the trait is gone", found == 404, found
        self.python.must(204, "DELETE", f"/resource_providers/{provider}")
        for which, client in (("one", self.one), ("other", self.other)):
            found = soon(lambda: client.ask("GET", f"/resource_providers/{provider}")[0], 404)
            yield f"{which}: so is the provider", found == 404, found

    def scrubbed(self):
        """Rows that SQL has changed without a new generation, in each table that has none of its own."""
        changed, untouched = provider_of(self.one, new()), provider_of(self.one, new())
        consumer = claim(self.one, changed, 5)[0]
        claim(self.one, untouched, 3)
        for client in (self.one, self.other):
            soon(lambda: used(client, changed), 5)
        self.server.run(f"""BEGIN; UPDATE inventories SET total = 17 WHERE resource_provider_id =
            (SELECT id FROM resource_providers WHERE uuid = '{changed}');
            INSERT INTO resource_provider_traits (resource_provider_id, trait_id)
            SELECT p.id, t.id FROM resource_providers p, traits t WHERE p.uuid = '{changed}' AND t.name = 'HW_CPU_X86_AVX2';
            UPDATE allocations SET used = 9 WHERE consumer_id = '{consumer}'; COMMIT""")
        for which, client in (("one", self.one), ("other", self.other)):
            found = soon(lambda: used(client, changed), 9)
            yield f"{which}: a scrub finds a changed allocation", found == 9, found
            path = f"/resource_providers/{changed}"
            found = soon(lambda: client.must(200, "GET", f"{path}/inventories")["inventories"]["VCPU"]["total"], 17)
            yield f"{which}: a changed inventory", found == 17, found
            found = soon(lambda: client.must(200, "GET", f"{path}/traits")["traits"], ["HW_CPU_X86_AVX2"])
            yield f"{which}: and a new trait", found == ["HW_CPU_X86_AVX2"], found
            yield f"{which}: nothing else has changed", used(client, untouched) == 3, used(client, untouched)

    def race(self):
        """Claims from all three at once."""
        providers = [provider_of(self.one, new()) for _ in range(3)]
        accepted = [0, 0, 0]
        python_claimed = threading.Event()  # the others would leave it nothing
        others = []

        def work(index, client, seed):
            draw = random.Random(seed)
            client = servers.Client(client.port, timeout=60)
            if index < 2:
                python_claimed.wait(60)
            end = time.monotonic() + self.seconds
            while time.monotonic() < end:
                status = claim(client, draw.choice(providers), owner=PYTHON_OWNER if index == 2 else OWNER)[1]
                accepted[index] += status == 204
                if index == 2 and status == 204:
                    python_claimed.set()
                if status not in (204, 409) and not (index == 2 and status == 500 and self.may_give_up):
                    others.append((index, status))

        work_at_once(threading.Thread(target=work, args=(index, client, 3 * index + number))
                     for index, client in enumerate(self.all) for number in range(2))
        yield "each has claimed", all(accepted), accepted
        yield from claims_are_kept(self.server, providers, sum(accepted), others)

    def cases(self):
        for case in (self.stale_capacity, self.stale_usage, self.moved_names, self.deletes, self.generations, self.noticed,
                     self.scrubbed, self.race):
            yield from case()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--database", choices=DATABASES, default="postgres")
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    score = servers.Score()
    with two_and_python(arguments.berthd, arguments.database, SCRUBS) as (server, berths, python):
        may_give_up = arguments.database == "galera" or refuses_unseen_changes(server)
        beside = Beside(server, berths, python, arguments.seconds, may_give_up)
        score_cases(score, beside.cases(), berths)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
