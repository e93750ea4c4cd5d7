#!/usr/bin/python3
"""What a MariaDB server refuses: only the request that caused it, with the right status, and nothing half done.

    tests/databases/mariadb_refusals.py --berthd build/berthd

A trigger raises the error that a provider's name asks for, while other requests are written in the same batches. Then
another session locks a row, the ids of a table come to their end, a column is narrower than upstream's, and a name differs from
another only in case. refusals.py does the same on PostgreSQL.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from mariadb import server_class  # noqa: E402
from refusals import (ALWAYS, Count, after_lock, claim, claim_together, create, create_together, is_there,  # noqa: E402
                      make_providers, states, while_locked)

# A name "raise-NUMBER-N-…" fails N times with that error: sequences are not rolled back.
SEQUENCE = "CREATE SEQUENCE raised"
RESTART = "ALTER SEQUENCE raised RESTART 1"
TRIGGER = """
CREATE TRIGGER raise_named BEFORE INSERT ON resource_providers FOR EACH ROW
BEGIN
    DECLARE error INT DEFAULT IF(NEW.name LIKE 'raise-%', SUBSTRING_INDEX(SUBSTRING_INDEX(NEW.name, '-', 2), '-', -1), 0);
    IF error <> 0 AND NEXTVAL(raised) <= SUBSTRING_INDEX(SUBSTRING_INDEX(NEW.name, '-', 3), '-', -1) THEN
        IF error = 1927 THEN
            KILL CONNECTION_ID();
        END IF;
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = error, MESSAGE_TEXT = 'raised';
    END IF;
END
"""

# (number, how often, the statuses allowed, whether others may get 503 with it)
ERRORS = [
    ("1213", 1, {200}, False),           # deadlock, or certification has failed: planned again
    ("1020", 1, {200}, False),           # the row has changed
    ("1205", 1, {200}, False),           # lock wait timeout
    ("1021", 1, {200}, False),           # disk full
    ("1114", 1, {200}, False),           # table full
    ("1047", 1, {200}, False),           # the node has left the cluster
    ("1317", 1, {200}, False),           # query interrupted
    ("1969", 1, {200}, False),           # max_statement_time
    ("1021", 2, {200}, False),           # twice in a row
    ("1021", 3, {503}, True),            # and once more
    ("1969", 3, {503}, True),
    ("1927", 1, {200, 503}, True),       # the administrator ended the session
    ("1290", 1, {503}, True),            # read-only
    ("1142", 1, {503}, True),            # no right
    ("1146", 1, {503}, True),            # the table is gone
    ("1105", 1, {503}, True),            # unknown error
    ("1406", ALWAYS, {400}, False),      # too long
    ("1264", ALWAYS, {400}, False),      # out of range
    ("1366", ALWAYS, {400}, False),      # not in the character set
    ("1118", ALWAYS, {400}, False),      # row too large
    ("1048", ALWAYS, {400}, False),      # not null
    ("4025", ALWAYS, {400}, False),      # a check
    ("1452", ALWAYS, {409}, False),      # a row that it refers to is not there
]


def locked_row(server, berth):
    """A session that has locked a provider's row and does nothing: only what changes that row is refused."""
    clients = [servers.Client(berth.port) for _ in range(3)]
    providers = make_providers(clients[0], 3)
    with contextlib.closing(server.connect(user=server.user, password=server.password, socket=False, autocommit=False)) as holder:
        holder.cursor().execute("UPDATE resource_providers SET updated_at = NOW() WHERE uuid = %s", (providers[0],))
        results = claim_together(clients, providers)
        # the user may not see whose lock it is
        said = r"the row of the provider with the id \d+ is locked by .*\. Requests that change it"
        yield from while_locked(berth, clients[0], providers, results, said)
    yield from after_lock(clients[0], providers[0])


def no_ids(server, berth):
    client = servers.Client(berth.port)
    provider, = make_providers(client, 1, "with-inventory")
    before = int(server.sql("SELECT count(*) FROM allocations")[0][0])
    server.sql("ALTER TABLE allocations AUTO_INCREMENT = 2147483647")
    statuses = []
    for _ in range(100):  # until the block of ids is used up
        status, answer = claim(client, provider)
        statuses.append(status)
        if status != 204:
            break
    yield "without ids, a claim gets 503", statuses[-1] == 503, (statuses[-1], answer)
    yield "the text", "gives out no ids for new rows of allocations" in str(answer), answer
    yield "others are written", create(client, "without-allocation")[0] == 200, "they are not"
    taken = int(server.sql("SELECT count(*) FROM allocations")[0][0]) - before
    yield "nothing of the claim is", taken == statuses.count(204), (taken, statuses.count(204))
    server.sql("ALTER TABLE allocations AUTO_INCREMENT = 100000")
    status, answer = claim(client, provider)
    yield "claims work again", status == 204, (status, answer)


def narrow_column(server, berth):
    client = servers.Client(berth.port)
    provider = create(client, "with-projects")[1]
    client.must(200, "PUT", f"/resource_providers/{provider}/inventories",
                {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 100000}}})
    server.sql("ALTER TABLE projects MODIFY external_id varchar(40) NOT NULL")
    status, answer = claim(client, provider, "p" * 41)
    yield "a text that does not fit an altered column", status == 400, (status, answer)
    status, answer = claim(client, provider, "\u00e9" * 40)
    yield "one that does", status == 204, (status, answer)


def same_but_for_case(server, berth):
    """Different names for berth, one name for the database."""
    client = servers.Client(berth.port)
    create(client, "Host \u00f6")
    names = ["host \u00f6", "HOST O", *(f"beside-{number}" for number in range(6))]
    results = create_together(berth.port, names)
    yield "a name that the database takes for another", {results[name][0] for name in names[:2]} == {409}, results
    yield "the others", all(results[name][0] == 200 for name in names[2:]), results
    yield ("all are written if acknowledged",
           all(is_there(client, identity) == (status == 200) for status, identity in results.values()), results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    arguments = parser.parse_args()
    count = Count()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(server_class()(options={"log_bin_trust_function_creators": True}))
        directory = tempfile.mkdtemp(prefix="berth-refusals-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        with servers.Berthd(arguments.berthd, directory, connection=server.url()) as berth:
            server.sql(SEQUENCE)
            server.sql(TRIGGER)
            count.add(states(server, berth, ERRORS, RESTART))
            server.sql("DROP TRIGGER raise_named")
            for part in (same_but_for_case, locked_row, no_ids, narrow_column):
                count.add(part(server, berth))
    return count.end()


if __name__ == "__main__":
    sys.exit(main())
