#!/usr/bin/python3
"""The HAProxy configurations of docs/clouds.md, each in front of three Galera nodes: clients claim and read through berthd while
the node in use is killed, and comes back; OpenStack-Ansible's once more with TLS. And an address that moves from one node to
another, with nothing in between.

    tests/databases/clouds.py --berthd build/berthd [--times] [NAME…]

Only addresses, ports and the intervals of checks are changed, and what HAProxy may not do as another user; with --times,
the intervals are those of the page, and Galera's timeouts are its own. All of the page's settings for [placement_database]
are accepted. Requests may be refused with 503 until HAProxy has noticed; then they succeed again. The last line is
`N passed, N failed`.
"""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from galera import OWN_TIMEOUTS, Galera  # noqa: E402
from haproxy import Balancer, ClusterCheck, HAProxy  # noqa: E402
from mariadb import KOLLA, SYSTEM  # noqa: E402
from processes import wait_until  # noqa: E402

MOVING = ("openstack-helm", "rhoso")  # whose address is that of a Service of Kubernetes
WITH_TLS = "openstack-ansible"
PAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "clouds.md")
INTERVAL = "100ms"
CLIENTS = 2
AGAIN_S = 120


def blocks(language):
    """The blocks of the page, by their names."""
    with open(PAGE) as file:
        return dict(re.findall(rf"^```{language} ([\w-]+)\n(.*?)^```$", file.read(), re.M | re.S))


class Front(Balancer):
    """A configuration of the page. Of Balancer, it has the checks of the nodes and the script."""

    def __init__(self, nodes, text, own_intervals):
        super().__init__(nodes)
        self.page, self.own_intervals = text, own_intervals
        self.back = re.findall(r"^(?:backend|listen) (\S+)", text, re.M)[-1]

    def start(self, seconds=20):
        if not self.checks:
            self.checks = {node: ClusterCheck(node) for node in self.nodes}
        self.text = self.filled()
        HAProxy.start(self, seconds)
        return self

    def own_lines(self):
        return ["external-check", "insecure-fork-wanted"] if "external-check" in self.page else []

    def filled(self):
        text = self.page.replace("192.0.2.10:3306", f"127.0.0.1:{self.port}").replace("/usr/local/bin/check_pxc.sh",
                                                                                     self._write_script())
        for number, node in enumerate(self.nodes):
            text = re.sub(rf"192\.0\.2\.1{number + 1}:3306(.* port) (?:4569|9200)", rf"127.0.0.1:{node.port}\1 {self.checks[node].port}",
                          text)
            text = text.replace(f"192.0.2.1{number + 1}:3306", f"127.0.0.1:{node.port}")
        if not self.own_intervals:
            text = re.sub(r" inter \w+", f" inter {INTERVAL}", text)
            if "timeout check" not in text:  # a check of the page may take as long as its interval
                text = text.replace("defaults\n", "defaults\n    timeout check 10s\n")
        assert "192.0.2" not in text, text
        return text


class Clients:
    """Each claims for new consumers, and reads what it has claimed."""

    def __init__(self, berth, provider):
        self.berth, self.provider, self.is_over = berth, provider, threading.Event()
        self.held, self.refused, self.wrong = [], 0, []
        self.acknowledged = time.monotonic()
        self.pauses = []  # seconds without an acknowledged write, if these are many
        self.threads = [threading.Thread(target=self.work) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def work(self):
        client = servers.Client(self.berth.port, timeout=60)
        while not self.is_over.is_set():
            consumer = str(uuid.uuid4())
            status, answer = client.claim(consumer, **{self.provider: {"VCPU": 1}})
            if status == 204:
                now = time.monotonic()
                if now - self.acknowledged > 0.5:
                    self.pauses.append(now - self.acknowledged)
                self.acknowledged = now
                self.held.append(consumer)
            elif status == 503:
                self.refused += 1
                time.sleep(0.05)
            else:
                self.wrong.append((status, answer))
            status, answer = client.ask("GET", f"/allocations/{consumer}")
            if status not in (200, 503):
                self.wrong.append((status, answer))
            time.sleep(0.01)

    def goes_on(self, seconds=AGAIN_S):
        """Whether writes are acknowledged from now on."""
        count, end = len(self.held), time.monotonic() + seconds
        while time.monotonic() < end and len(self.held) < count + 20:
            time.sleep(0.05)
        return len(self.held) >= count + 20

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join(90)


class Failover:
    def __init__(self, score, berthd, directory, cluster, times):
        self.score, self.berthd, self.directory, self.cluster, self.times = score, berthd, directory, cluster, times
        self.ca = os.path.join(directory, "ca.pem")
        with open(self.ca, "w") as file:  # each node that offers TLS has an authority of its own
            for authority in filter(None, (node.authority for node in cluster.nodes)):
                with open(authority.cert) as cert:
                    file.write(cert.read())

    def url(self, name, front, tls=False):
        """That of the page for this tool, if it has one. tls: with what it adds for that."""
        found = blocks("ini").get(name)
        text = re.search(r"^connection = (.*)$", found, re.M)[1] if found else "mysql+pymysql://u:p@h/d"
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(text).query))
        if "read_default_file" in query:
            group = query.get("read_default_group", "client")
            query["read_default_file"] = self.cluster.nodes[0].write_option_file(group=group, **{"bind-address": "127.0.0.1"})
        if tls:
            query |= {"ssl_verify_cert": "true", "ssl_ca": self.ca}
        return self.cluster.nodes[0].url(port=front.port, **query)

    def options(self, name):
        """The other lines of the page."""
        found = blocks("ini").get(name, "[placement_database]\n")
        return ["[placement_database]", *(line for line in found.splitlines()[1:] if not line.startswith("connection ="))]

    @contextlib.contextmanager
    def only_with_tls(self):
        """Meanwhile, the user is not let in without it."""
        node = self.cluster.nodes[0]
        node.sql("ALTER USER %s@'%%' REQUIRE SSL", node.user, database=SYSTEM)
        yield
        node.sql("ALTER USER %s@'%%' REQUIRE NONE", node.user, database=SYSTEM)

    def play(self, page, text, tls=False):
        name = page + " with TLS" * tls
        with contextlib.ExitStack() as stack:
            front = stack.enter_context(Front(self.cluster.nodes, text, self.times))
            for number in range(len(self.cluster.nodes)):
                front.await_up(re.findall(r"^ +server (\S+)", text, re.M)[number])
            if tls:
                stack.enter_context(self.only_with_tls())
            berth = servers.Berthd(self.berthd, self.directory, connection=self.url(page, front, tls), options=self.options(page))
            stack.enter_context(berth)
            provider = str(uuid.uuid4())
            berth.client().make_provider(provider, VCPU=1000000)
            clients = Clients(berth, provider)
            stack.callback(clients.end)
            self.score.case(f"{name}: clients claim", None if clients.goes_on() else str(clients.wrong[:3]))
            used = max(self.cluster.nodes, key=lambda node: len(node.sessions()))
            clients.pauses.clear()
            refused = clients.refused
            used.kill()
            self.score.case(f"{name}: claims go on after the node in use was killed",
                            None if clients.goes_on() else f"{clients.refused} refused, {clients.wrong[:3]}")
            paused, refused = max(clients.pauses, default=0), clients.refused - refused
            clients.pauses.clear()
            used.start()
            time.sleep(40 if self.times else 2)  # some go back to it
            self.score.case(f"{name}: and after it is back", None if clients.goes_on() else f"{clients.wrong[:3]}")
            clients.end()
            print(f"       {name}: {len(clients.held)} claims; no writes for {paused:.1f} s ({refused} refused), and for "
                  f"{max(clients.pauses, default=0):.1f} s when it came back")
            self.score.case(f"{name}: nothing else is answered", str(clients.wrong[:3]) if clients.wrong else None)
            self.check(name, berth, provider, clients.held)

    def play_moving(self, name):
        """The address of a Service of Kubernetes leads to one node, as the settings of this tool expect it. The proxy stands in for
        Kubernetes: old connections stay where they are, new ones go to the new node."""
        with contextlib.ExitStack() as stack:
            balancer = stack.enter_context(Balancer(self.cluster.nodes, inter_ms=100))
            first, second = self.cluster.nodes[:2]
            balancer.use(first)
            berths = [servers.Berthd(self.berthd, self.directory, connection=self.url(name, balancer), options=self.options(name))
                      for _ in range(2)]
            stack.enter_context(berths[0])
            provider = str(uuid.uuid4())
            berths[0].client().make_provider(provider, VCPU=1000000)
            clients = [Clients(berths[0], provider)]
            stack.callback(clients[0].end)
            balancer.use(second)
            stack.enter_context(berths[1])
            clients.append(Clients(berths[1], provider))
            stack.callback(clients[1].end)

            def go_on():
                ended = [number for number, one in enumerate(clients) if not one.goes_on()]
                return f"not on instances {ended}: {[one.wrong[:3] for one in clients]}" if ended else None

            written = [node.name for node in self.cluster.nodes if balancer.sessions(node)]
            self.score.case(f"{name}: two nodes are written", go_on() if written == ["node1", "node2"] else str(written))
            for node in self.cluster.nodes:
                balancer.set_state(balancer.names[node], "maint")
                balancer.end_sessions(node)
            refused = [one.refused for one in clients]
            wait_until(lambda: all(one.refused > before for one, before in zip(clients, refused)), "requests are not refused")
            balancer.use(second)
            self.score.case(f"{name}: claims go on after no node was selected", go_on())
            for one in clients:
                one.end()
            wrong = [found for one in clients for found in one.wrong]
            self.score.case(f"{name}: nothing else is answered", str(wrong[:3]) if wrong else None)
            self.check(name, berths[0], provider, clients[0].held + clients[1].held)

    def check(self, name, berth, provider, held):
        """Each claim that was acknowledged is there, on every node and in memory."""
        self.cluster.await_same()
        path = f"/resource_providers/{provider}/usages"
        wait_until(lambda: berth.client().ask("GET", path)[0] == 200, "reads are refused")  # the proxy may just have gone back to a node
        used = berth.client().must(200, "GET", path)["usages"]["VCPU"]
        for node in self.cluster.nodes:
            found = {row[0] for row in node.sql("SELECT consumer_id FROM allocations")}
            missing = [consumer for consumer in held if consumer not in found]
            self.score.case(f"{name}: what was acknowledged is on {node.name}", f"{len(missing)} are not" if missing else None)
        rows = self.cluster.nodes[0].sql("SELECT SUM(a.used) FROM allocations a JOIN resource_providers p"
                                         " ON p.id = a.resource_provider_id WHERE p.uuid = %s", provider)[0][0]
        self.score.case(f"{name}: and memory has the same", None if used == rows else f"{used}, {rows}")


def to_the_end(score, name, play, *words, **more):
    """What ends a play counts as a failure of it."""
    try:
        play(*words, **more)
    except Exception as failure:
        traceback.print_exc()
        score.case(f"{name}: played to the end", f"{failure!r:.500}")


def check_settings(score, berthd, directory):
    """What the page shows for placement.conf is accepted, up to the server that is not there."""
    program = os.path.join(os.path.dirname(os.path.abspath(berthd)), "berth")
    for name, text in blocks("ini").items():
        path = os.path.join(directory, "page.conf")
        with open(path, "w") as file:
            file.write("[api]\nauth_strategy = noauth2\n" + text)
        done = subprocess.run([program, "--config-file", path, "config", "validate"], capture_output=True, text=True, timeout=60,
                              env={"PATH": "/usr/bin:/bin", "HOME": "/", "STATE_DIRECTORY": directory})
        score.case(f"{name}: the settings are accepted", None if done.returncode == 0 else repr(done.stdout + done.stderr))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", default="build/berthd")
    parser.add_argument("--times", action="store_true", help="the intervals of the page, and Galera's own timeouts")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    score, directory = servers.Score(), tempfile.mkdtemp(prefix="berth-clouds-")
    try:
        check_settings(score, arguments.berthd, directory)
        provider, texts = OWN_TIMEOUTS if arguments.times else {}, blocks("haproxy")
        chosen = arguments.names or [*texts, *MOVING]
        with Galera(options=KOLLA, provider=provider) as cluster:
            failover = Failover(score, arguments.berthd, directory, cluster, arguments.times)
            for name in texts:
                if name in chosen:
                    to_the_end(score, name, failover.play, name, texts[name])
            for name in MOVING:
                if name in chosen:
                    to_the_end(score, name, failover.play_moving, name)
        if WITH_TLS in chosen:
            with Galera(options=KOLLA, provider=provider, tls=True) as cluster:
                failover = Failover(score, arguments.berthd, directory, cluster, arguments.times)
                to_the_end(score, f"{WITH_TLS} with TLS", failover.play, WITH_TLS, texts[WITH_TLS], tls=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
