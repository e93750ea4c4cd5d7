#!/usr/bin/python3
"""Two berthd on a PostgreSQL cluster that Patroni manages, with a steady load, while its primary changes.

    tests/databases/patroni_failovers.py --build build

With synchronous replication: a switchover, the kill of the primary and its Patroni, and their stop by a signal. Without: a kill
that loses commits. Nothing acknowledged may be lost without being named, requests fail only during the change, and the reports
show the replication as it is. Skipped if Patroni and etcd are not installed. Takes three minutes, most of them waiting for
Patroni's time limits.
"""

import argparse
import contextlib
import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from admin_pages import json_page  # noqa: E402
from patroni_cluster import Cluster, Etcd, is_installed  # noqa: E402
from processes import wait_until  # noqa: E402
from went_back import events  # noqa: E402

PAUSE_S = 0.05
WRITES = 40


class Load:
    """A client that claims and one that reads, for each berthd, every 50 ms."""

    def __init__(self, berths, provider):
        self.berths, self.provider, self.is_over = berths, provider, False
        self.lock = threading.Lock()
        self.writes, self.reads = [], []  # (when it began, when it was answered, status, consumer, text of an error)
        self.threads = [threading.Thread(target=work, args=(berth,)) for berth in berths for work in (self.claim, self.read)]
        for thread in self.threads:
            thread.start()

    def answer(self, client, *request):
        began = time.monotonic()
        try:
            status, body = client.ask(*request)
        except (OSError, http.client.HTTPException) as failure:
            status, body = None, repr(failure)
        return began, time.monotonic(), status, body

    def claim(self, berth):
        client = berth.client(timeout=60)
        while not self.is_over:
            consumer = str(uuid.uuid4())
            began, ended, status, body = self.answer(client, "PUT", f"/allocations/{consumer}",
                                                     servers.claim_body(None, {self.provider: {"VCPU": 1}}))
            with self.lock:
                self.writes.append((began, ended, status, consumer, body))
            time.sleep(PAUSE_S)

    def read(self, berth):
        client = berth.client(timeout=60)
        while not self.is_over:
            began, ended, status, body = self.answer(client, "GET", f"/resource_providers/{self.provider}/usages")
            with self.lock:
                self.reads.append((began, ended, status, None, body))
            time.sleep(PAUSE_S)

    def acknowledged(self):
        with self.lock:
            return {consumer for _, _, status, consumer, _ in self.writes if status == 204}

    def await_writes(self, number, seconds=90):
        """That many more acknowledged writes on each berthd together."""
        before = len(self.acknowledged())
        wait_until(lambda: len(self.acknowledged()) >= before + number, lambda: f"no writes: {self.writes[-3:]}", seconds, 0.05)

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()

    def gap(self, since):
        """The longest time without an acknowledged write after that moment."""
        with self.lock:
            ends = sorted(ended for _, ended, status, _, _ in self.writes if status == 204 and ended > since - 2)
        return max((after - before for before, after in zip(ends, ends[1:])), default=0)

    def failures(self, since=0):
        """Requests that were answered after that moment, and not with success."""
        with self.lock:
            return [one for one in self.writes + self.reads if one[1] > since and one[2] not in (200, 204)]


class Stage:
    """A cluster, two berthd whose URL names all members, and the load."""

    def __init__(self, build, stack, **settings):
        self.build, self.stack = build, stack
        self.cluster = stack.enter_context(Cluster(stack.enter_context(Etcd()), **settings))
        self.berths, self.admins, self.failed = [], [], 0
        for _ in range(2):
            self.start_berthd()
        provider = str(uuid.uuid4())
        self.berths[0].client().make_provider(provider, name="host", VCPU=1000000)
        self.load = Load(self.berths, provider)
        stack.callback(self.load.end)
        self.load.await_writes(WRITES)

    def start_berthd(self):
        directory, admin = tempfile.mkdtemp(prefix="berth-patroni-"), servers.free_port()
        self.stack.callback(shutil.rmtree, directory, ignore_errors=True)
        options = ("[berth]", f"loss_directory = {directory}", f"admin_listen = 127.0.0.1:{admin}")
        self.berths.append(self.stack.enter_context(servers.Berthd(
            os.path.join(self.build, "berthd"), directory, connection=self.cluster.url(), options=options)))
        self.admins.append(admin)

    def await_report(self, **wanted):
        """Until /readyz of both shows that about the server."""
        def is_shown():
            shown = [json_page(admin, "/readyz").get("server") or {} for admin in self.admins]
            return all(one.get(name) == value for one in shown for name, value in wanted.items())
        wait_until(is_shown, lambda: str([json_page(admin, "/readyz") for admin in self.admins]), 60, 0.2)

    def warnings(self):
        return [json_page(admin, "/readyz")["warnings"] for admin in self.admins]

    def check(self):
        """The exit code of placement-status, and what it says."""
        ended = subprocess.run([os.path.join(self.build, "placement-status"), "--config-file", self.berths[0].config_file,
                                "upgrade", "check"], capture_output=True, text=True, timeout=60)
        return ended.returncode, " ".join(ended.stdout.replace("|", " ").split())

    def lost(self):
        """What was acknowledged, and is gone."""
        known = self.load.acknowledged()
        return known - {row[0] for row in self.cluster.await_primary().sql("SELECT uuid FROM consumers")}

    def named(self):
        """What each berthd has reported as gone, and everything else that it has reported."""
        lines = [line for berth in self.berths for event in events(berth) for line in event if "state" in line]
        gone = {line["uuid"] for line in lines if (line["kind"], line["state"]) == ("consumer", "gone")}
        return gone, {(line["kind"], line["state"]) for line in lines} - {("consumer", "gone"), ("resource_provider", "older")}


def change(stage, what, act, loses=False):
    """Writes work again after it, fail only during it, and what is lost is named."""
    load, before = stage.load, len(stage.load.failures())
    yield f"{what}: no request fails before", before == stage.failed, load.failures()[-3:]
    began = time.monotonic()
    act()
    load.await_writes(WRITES)
    settled = time.monotonic()
    load.await_writes(WRITES)
    yield f"{what}: no request fails after", not load.failures(settled), load.failures(settled)[:3]
    statuses = {one[2] for one in load.failures(began)}
    yield f"{what}: requests fail with 503", statuses <= {503}, statuses
    lost, (named, others) = stage.lost(), stage.named()
    yield f"{what}: losses", bool(lost) == loses, lost
    yield f"{what}: what is lost is named, and nothing else", lost == named and not others, (lost, named, others)
    warned = [berth.log().count("a failover may lose it") for berth in stage.berths]
    yield f"{what}: no warning of a loss that did not happen", not any(warned), warned
    stage.failed = len(load.failures())
    print(f"       {what}: no write was acknowledged for {load.gap(began):.1f} s; {len(lost)} of {len(load.acknowledged())} lost")


def come_back(stage, how):
    how()
    stage.cluster.await_standbys()


def frozen(stage, old):
    old.freeze()
    stage.cluster.await_primary(old)


def synchronous(build):
    with contextlib.ExitStack() as stack:
        stage = Stage(build, stack, synchronous_mode=True, synchronous_node_count=1)
        stage.await_report(replication="synchronous", standbys=1)
        yield "synchronous: no warnings", stage.warnings() == [[], []] and stage.check()[0] == 0, stage.check()
        yield from change(stage, "switchover", stage.cluster.switch_over)
        stage.cluster.await_standbys()
        old = stage.cluster.primary()
        yield from change(stage, "kill", old.kill)
        stage.await_report(replication="none", timeline=3)
        come_back(stage, old.launch)
        stage.await_report(replication="synchronous", standbys=1)
        old = stage.cluster.primary()
        yield from change(stage, "freeze", lambda: frozen(stage, old))
        come_back(stage, old.thaw)
        yield from change(stage, "the old primary is back", lambda: None)


def lose(stage):
    """The standby gets no more, commits continue, and the primary is killed."""
    old, (standby,) = stage.cluster.primary(), stage.cluster.standbys()
    receiver = standby.sql("SELECT pid FROM pg_stat_wal_receiver", database="postgres")[0][0]
    os.kill(receiver, signal.SIGSTOP)
    stage.load.await_writes(10)
    old.kill()
    for number in (signal.SIGTERM, signal.SIGCONT):  # it ends before it reads what has reached its socket
        os.kill(receiver, number)


def asynchronous(build):
    with contextlib.ExitStack() as stack:
        stage = Stage(build, stack, maximum_lag_on_failover=1048576)
        stage.await_report(replication="asynchronous", standbys=1)
        code, text = stage.check()
        yield "asynchronous: a warning", code == 1 and "replication is asynchronous" in text and all(stage.warnings()), text
        yield from change(stage, "asynchronous, kill", lambda: lose(stage), loses=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", required=True)
    arguments = parser.parse_args()
    score = servers.Score()
    if not is_installed():
        score.case("skipped: Debian's packages patroni and etcd-server are not installed")
        return score.end()
    for cases in (synchronous, asynchronous):
        for what, is_right, found in cases(arguments.build):
            score.case(what, None if is_right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
