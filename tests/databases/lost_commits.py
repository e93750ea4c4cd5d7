#!/usr/bin/python3
"""Connections that are lost around a COMMIT: a claim is answered as what has become of it in the database.

    tests/databases/lost_commits.py --berthd build/berthd [--rounds N]

A proxy between berthd and PostgreSQL ends the connection at some message of the batch, before or after it is forwarded. A claim
that is answered 204 must be there, one that is refused must not, now and later; and what another instance reads is the same.
Since the database can be reached again at once, each claim is made in the end, exactly once. If the answer to COMMIT never
comes, or if an idle connection has ended, nobody notices: writes are made, and reads are answered meanwhile.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from admin_pages import metrics  # noqa: E402
from faulty_proxy import FaultyProxy  # noqa: E402
from postgres import Postgres  # noqa: E402

# (what, the message at which the connection ends)
CUTS = [
    ("before the answer to COMMIT", {"sender": "server", "kind": "CommandComplete", "text": "^COMMIT$"}),
    ("after the answer to COMMIT", {"sender": "server", "kind": "CommandComplete", "text": "^COMMIT$", "when": "after"}),
    ("before COMMIT is sent", {"sender": "client", "kind": "Bind", "text": "COMMIT"}),
    ("before COMMIT is executed", {"sender": "client", "kind": "Execute", "text": "COMMIT"}),
    ("after COMMIT is sent", {"sender": "client", "kind": "Execute", "text": "COMMIT", "when": "after"}),
    ("before the log's row", {"sender": "client", "kind": "Bind", "text": "berth_log"}),
    ("after the log's row", {"sender": "server", "kind": "CommandComplete", "text": "^INSERT"}),
]

READ_SECONDS_MOST = 3  # the time limit for an answer of the server is 5


class Cloud:
    def __init__(self, direct, through):
        self.direct, self.through = servers.Client(direct.port), servers.Client(through.port, timeout=60)
        self.provider = str(uuid.uuid4())
        self.direct.must(200, "POST", "/resource_providers", {"name": "host", "uuid": self.provider})
        self.direct.must(200, "PUT", f"/resource_providers/{self.provider}/inventories",
                         {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 100000}}})

    def claim(self):
        consumer = str(uuid.uuid4())
        body = {"allocations": {self.provider: {"resources": {"VCPU": 1}}}, "project_id": "p", "user_id": "u",
                "consumer_generation": None, "consumer_type": "INSTANCE"}
        return consumer, self.through.ask("PUT", f"/allocations/{consumer}", body)[0]

    def is_there(self, client, consumer):
        return self.provider in client.must(200, "GET", f"/allocations/{consumer}")["allocations"]


def round_of(cloud, proxy, which, reset):
    """None, or what is wrong."""
    fault = proxy.cut(reset, **which)
    consumer, status = cloud.claim()
    fault.wait()
    there = [cloud.is_there(client, consumer) for client in (cloud.direct, cloud.through)]
    if status != 204:
        return f"answered {status}"
    if there != [status == 204] * 2:
        return f"answered {status}, and there: {there}"
    again, status = cloud.claim()
    if status != 204 or not cloud.is_there(cloud.direct, again):
        return f"the next claim is answered {status}"
    return None


def idle_ended(cloud, proxy, reset):
    """None, or what is wrong."""
    proxy.cut_all(reset)
    consumer, status = cloud.claim()
    return None if status == 204 and cloud.is_there(cloud.direct, consumer) else f"answered {status}"


def answer_swallowed(cloud, proxy, reader):
    """None, or what is wrong."""
    proxy.swallow(**CUTS[0][1])
    result = []
    thread = threading.Thread(target=lambda: result.append(cloud.claim()))
    thread.start()
    longest = 0
    while thread.is_alive():
        began = time.monotonic()
        reader.must(200, "GET", "/resource_providers?name=none")
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.02)
    thread.join()
    consumer, status = result[0]
    if status != 204 or not cloud.is_there(cloud.direct, consumer):
        return f"answered {status}"
    return None if longest < READ_SECONDS_MOST else f"a read took {longest:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    score, admin = servers.Score(), servers.free_port()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres())
        proxy = stack.enter_context(FaultyProxy(server.port))
        directories = [tempfile.mkdtemp(prefix="berth-lost-") for _ in range(2)]
        for directory in directories:
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
        direct = stack.enter_context(servers.Berthd(arguments.berthd, directories[0], connection=server.url()))
        through = stack.enter_context(servers.Berthd(arguments.berthd, directories[1], connection=server.url(port=proxy.port),
                                                     options=("[berth]", f"admin_listen = 127.0.0.1:{admin}")))
        cloud = Cloud(direct, through)
        reader = servers.Client(through.port, timeout=60)
        for number in range(arguments.rounds):
            reset = bool(number % 2)
            rounds = [(what, lambda which=which: round_of(cloud, proxy, which, reset)) for what, which in CUTS]
            rounds.append(("while idle", lambda: idle_ended(cloud, proxy, reset)))
            if number == 0:
                rounds.append(("the answer to COMMIT never comes", lambda: answer_swallowed(cloud, proxy, reader)))
            for what, run in rounds:
                wrong = run()
                score.case(what, wrong)
        found = metrics(admin)
        counted = {name: found[f'berth_database_unknown_commits_total{{outcome="{name}"}}']
                   for name in ("committed", "not_committed", "unknown")}
        is_right = counted["committed"] >= arguments.rounds and counted["not_committed"] >= 1 and counted["unknown"] == 0
        score.case("the metrics count what was found out", None if is_right else str(counted))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
