#!/usr/bin/python3
"""What a PostgreSQL server refuses: only the request that caused it, with the right status, and nothing half done.

    tests/databases/refusals.py --berthd build/berthd

A trigger raises the error that a provider's name asks for, while other requests are written in the same batches. Then
another session locks a row, a sequence comes to its end, and a column is narrower than upstream's.
"""

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import psycopg2  # noqa: E402
import servers  # noqa: E402
from postgres import Postgres  # noqa: E402

OTHERS = 6

# A name "raise-STATE-N-…" fails N times with that SQLSTATE: sequences are not rolled back.
TRIGGER = """
CREATE SEQUENCE raised;
CREATE FUNCTION raise_named() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NEW.name LIKE 'raise-%' AND nextval('raised') <= split_part(NEW.name, '-', 3)::int THEN
        IF split_part(NEW.name, '-', 2) = '57P01' THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        END IF;
        RAISE EXCEPTION 'raised' USING ERRCODE = split_part(NEW.name, '-', 2);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER raise_named BEFORE INSERT ON resource_providers FOR EACH ROW EXECUTE FUNCTION raise_named();
"""
ALWAYS = 1000000

# (SQLSTATE, how often, the statuses allowed, whether others may get 503 with it)
STATES = [
    ("40001", 1, {200}, False),          # serialization failure: planned again
    ("40P01", 1, {200}, False),          # deadlock
    ("55P03", 1, {200}, False),          # lock not available
    ("08006", 1, {200}, False),          # connection failure
    ("53100", 1, {200}, False),          # disk full
    ("53200", 1, {200}, False),          # out of memory
    ("53300", 1, {200}, False),          # too many connections
    ("57014", 1, {200}, False),          # query cancelled
    ("08006", 2, {200}, False),          # twice in a row
    ("53100", 3, {503}, True),           # and once more
    ("57014", 3, {503}, True),
    ("57P01", 1, {200, 503}, True),      # the administrator ended the session
    ("58030", 1, {503}, True),           # I/O error
    ("25006", 1, {503}, True),           # read-only
    ("42501", 1, {503}, True),           # no right
    ("42P01", 1, {503}, True),           # the table is gone
    ("XX000", 1, {503}, True),           # internal error
    ("22001", ALWAYS, {400}, False),     # too long
    ("22003", ALWAYS, {400}, False),     # out of range
    ("22021", ALWAYS, {400}, False),     # not in the encoding
    ("54000", ALWAYS, {400}, False),     # does not fit an index
    ("23502", ALWAYS, {409}, False),     # not null
    ("23514", ALWAYS, {409}, False),     # a check
    ("44000", ALWAYS, {409}, False),     # a view's check
]


def create(client, name):
    identity = str(uuid.uuid4())
    status, answer = client.ask("POST", "/resource_providers", {"name": name, "uuid": identity})
    return status, identity, answer


def create_together(port, names):
    """{name: (status, uuid)}; the requests are sent at the same time."""
    results = {}
    barrier = threading.Barrier(len(names))

    def run(name):
        client = servers.Client(port)
        barrier.wait()
        results[name] = create(client, name)[:2]

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def is_there(client, identity):
    return client.ask("GET", f"/resource_providers/{identity}")[0] == 200


def states(server, berth, table=tuple(STATES), restart="SELECT setval('raised', 1, false)"):
    """restart: the statement that makes the next error the first."""
    client = servers.Client(berth.port)
    for state, times, allowed, others_fail in table:
        server.sql(restart)
        name = f"{state}-{times}"
        culprit = f"raise-{name}-{uuid.uuid4()}"
        results = create_together(berth.port, [culprit, *(f"other-{name}-{number}" for number in range(OTHERS))])
        status, identity = results.pop(culprit)
        yield f"{name}: {sorted(allowed)}", status in allowed, status
        yield f"{name}: written if acknowledged", is_there(client, identity) == (status == 200), status
        fine = {200, 503} if others_fail else {200}
        yield f"{name}: others", all(other in fine for other, _ in results.values()), results
        yield (f"{name}: others are written if acknowledged",
               all(is_there(client, other) == (given == 200) for given, other in results.values()), results)
        rows = int(server.sql("SELECT count(*) FROM resource_providers WHERE name LIKE %s", f"%-{name}-%")[0][0])
        wanted = (status == 200) + sum(given == 200 for given, _ in results.values())
        yield f"{name}: nothing else is", rows == wanted, (rows, wanted)
        status, _, answer = create(client, f"after-{name}")
        yield f"{name}: the next write", status == 200, answer


def make_providers(client, count, name="locked"):
    """With inventory; their UUIDs."""
    providers = []
    for number in range(count):
        providers.append(create(client, f"{name}-{number}")[1])
        client.must(200, "PUT", f"/resource_providers/{providers[-1]}/inventories",
                    {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 100000}}})
    return providers


def claim_together(clients, providers):
    """[(status, answer)]; the claims are sent at the same time."""
    results = [None] * len(providers)

    def run(number):
        results[number] = claim(clients[number], providers[number])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(providers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def claim(client, provider, project="p"):
    return client.ask("PUT", f"/allocations/{uuid.uuid4()}", {
        "allocations": {provider: {"resources": {"VCPU": 1}}}, "project_id": project, "user_id": "u",
        "consumer_generation": None, "consumer_type": "INSTANCE"})


def no_ids(server, berth):
    client = servers.Client(berth.port)
    _, provider, _ = create(client, "with-inventory")
    client.must(200, "PUT", f"/resource_providers/{provider}/inventories",
                {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 100000}}})
    before = int(server.sql("SELECT count(*) FROM allocations")[0][0])
    server.sql("SELECT setval('allocations_id_seq', 2147483647)")
    statuses = []
    for _ in range(100):  # until the block of ids is used up
        status, answer = claim(client, provider)
        statuses.append(status)
        if status != 204:
            break
    yield "without ids, a claim gets 503", statuses[-1] == 503, statuses[-1]
    yield "the text", "gives out no ids for new rows of allocations" in str(answer), answer
    yield "others are written", create(client, "without-allocation")[0] == 200, "they are not"
    taken = int(server.sql("SELECT count(*) FROM allocations")[0][0]) - before
    yield "nothing of the claim is", taken == statuses.count(204), (taken, statuses.count(204))
    server.sql("SELECT setval('allocations_id_seq', 100000)")
    yield "claims work again", claim(client, provider)[0] == 204, "they do not"
    server.sql("ALTER TABLE projects ALTER external_id TYPE varchar(20)")
    status, answer = claim(client, provider, "p" * 21)
    yield "a text that does not fit an altered column", status == 400, answer
    yield "one that does", claim(client, provider, "\U0001f600" * 20)[0] == 204, "is refused"


def while_locked(berth, client, providers, results, said):
    """The first provider's row is locked. results: of claims on three providers at once; said: what the log says."""
    yield ("a locked row: its request gets 503",
           results[0][0] == 503 and "Another program has locked a row" in str(results[0][1]), results)
    yield "the log says so", bool(re.search(said, berth.log())), berth.log()[-2000:]
    yield "the others are written", results[1][0] == results[2][0] == 204, results
    yield "one of them afterwards", claim(client, providers[1])[0] == 204, "it is not"
    began = time.monotonic()
    found = [claim(client, providers[number])[0] for number in (0, 1, 0, 2, 0)]
    took = time.monotonic() - began
    yield "from then on, nobody waits for the lock", found == [503, 204, 503, 204, 503] and took < 3, (found, took)


def after_lock(client, provider):
    end = time.monotonic() + 10  # the server has yet to notice that the holder has gone
    while (found := claim(client, provider))[0] != 204 and time.monotonic() < end:
        time.sleep(0.05)
    yield "after the lock", found[0] == 204, found


def locked_row(server, berth):
    """A session that has locked a provider's row and does nothing: only what changes that row is refused."""
    clients = [servers.Client(berth.port) for _ in range(3)]
    providers = make_providers(clients[0], 3)
    with contextlib.closing(psycopg2.connect(server.url(driver="postgresql", application_name="forgotten"))) as holder:
        holder.cursor().execute("UPDATE resource_providers SET updated_at = updated_at WHERE uuid = %s", (providers[0],))
        results = claim_together(clients, providers)
        said = rf"server process {holder.info.backend_pid} \(forgotten\), in a transaction for \d+ s\. Requests"
        yield from while_locked(berth, clients[0], providers, results, said)
    yield from after_lock(clients[0], providers[0])


def collations(server, program, directory):
    server.sql("CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    server.sql("ALTER TABLE resource_providers ALTER name TYPE varchar(200) COLLATE no_case")
    berth = servers.Berthd(program, directory, connection=server.url())
    try:
        with berth:
            yield "a collation for which different names are equal", False, "berthd has started"
    except Exception as error:  # pylint: disable=broad-except
        yield ("a collation for which different names are equal", "resource_providers.name has a collation" in
               str(error) + berth.log(), str(error)[-300:])


class Count:
    """Of results, of which those that are wrong are shown."""

    def __init__(self):
        self.passed = self.failed = 0

    def add(self, results):
        for what, is_right, found in results:
            if not is_right:
                print(f"FAILED {what}: {found}")
            self.passed += is_right
            self.failed += not is_right

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return self.failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    count = Count()

    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres())
        directory = tempfile.mkdtemp(prefix="berth-refusals-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        with servers.Berthd(arguments.berthd, directory, connection=server.url()) as berth:
            server.sql(TRIGGER)
            count.add(states(server, berth))
            count.add(locked_row(server, berth))
            count.add(no_ids(server, berth))
        count.add(collations(server, arguments.berthd, directory))
    return count.end()


if __name__ == "__main__":
    sys.exit(main())
