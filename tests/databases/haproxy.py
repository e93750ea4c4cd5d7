"""HAProxy, as deployers put it in front of a Galera cluster.

    with Galera() as cluster, Balancer(cluster.nodes, inter_ms=100) as balancer:
        balancer.url()
        balancer.use(cluster.nodes[1])      # new sessions get this node; old ones stay where they are

`SHAPES` has what kolla-ansible, openstack-ansible, TripleO and Percona's operator generate; left out is what needs rights
that tests do not have, and logging. Where they check a node over HTTP, its answer comes from this process."""

import contextlib
import http.server
import os
import re
import socket
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import pymysql  # noqa: E402
import servers  # noqa: E402
from mariadb import SYSTEM  # noqa: E402
from processes import Daemon, wait_until  # noqa: E402

PROGRAM = "/usr/sbin/haproxy"
CLIENT = "/usr/bin/mariadb"
CHECK_S = 5  # a node that does not answer by then is unavailable; on a busy machine it may take seconds
FALL_DEFAULT = 3
SYNCED, DONOR = "4", "2"  # wsrep_local_state


class Control:
    """The control socket of a HAProxy. back: the backend that the methods are about."""

    def __init__(self, control, back):
        self.control, self.back = control, back

    def tell(self, command):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(20)
            connection.connect(self.control)
            connection.sendall(command.encode() + b"\n")
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    def field(self, server, name):
        """Of a server, as `show stat` names it: status, scur and others."""
        lines = self.tell("show stat").lstrip("# ").splitlines()
        names = lines[0].split(",")
        row = next(line.split(",") for line in lines[1:] if line.split(",")[:2] == [self.back, server])
        return row[names.index(name)]

    def is_up(self, server):
        return self.field(server, "status").startswith("UP")

    def failures(self, server):
        """How often it was up and has failed its checks."""
        return int(self.field(server, "chkdown"))

    def await_steady(self, server, seconds=60):
        """It is up, and its last check has not failed: one that has failed shows as UP 2/3."""
        wait_until(lambda: self.field(server, "status") == "UP", lambda: f"{server} is {self.field(server, 'status')}", seconds)

    def await_up(self, server, up=True, seconds=60):
        wait_until(lambda: self.is_up(server) == up, lambda: f"{server} is {self.field(server, 'status')}", seconds)

    def set_state(self, server, state):
        """ready, drain (no new sessions) or maint (as if it were down)."""
        said = self.tell(f"set server {self.back}/{server} state {state}").strip()
        if said:
            raise ValueError(said)

    def use_only(self, server, others):
        """New sessions get this server, as if all others had failed. Old sessions stay, unless the configuration ends them."""
        self.set_state(server, "ready")
        self.await_up(server)
        for other in others:
            self.set_state(other, "maint")

    def end_sessions_of(self, server):
        self.tell(f"shutdown sessions server {self.back}/{server}")

    def end_some_sessions_of(self, server):
        """Each second one."""
        found = re.findall(rf"^(0x\w+): .* be={self.back} srv={server} ", self.tell("show sess"), re.M)
        for session in found[::2]:
            self.tell(f"shutdown session {session}")


class HAProxy(Daemon, Control):
    """text: the configuration without its section `global`; `back`: as of Control."""

    def __init__(self, text, back, port=None):
        self.text = text
        self.port = port or servers.free_port()
        Daemon.__init__(self)
        Control.__init__(self, os.path.join(self.place.path, "control"), back)

    def own_lines(self):
        """More of the section `global`."""
        return []

    def start(self, seconds=20):
        lines = ["global", f"    stats socket {self.control} mode 666 level admin", *(f"    {line}" for line in self.own_lines())]
        self.execute(PROGRAM, "-db", "-f", self.place.write("haproxy.cfg", "\n".join(lines) + "\n" + self.text))

        def is_ready():
            self.expect_running()
            with contextlib.suppress(OSError):
                return self.tell("show info")

        wait_until(is_ready, lambda: f"HAProxy is not ready: {self.log()[-2000:]}", seconds)
        return self


class Shape:
    """front, back: the two sections, or one `listen` section if front is None. check: http, tcp or script. active, backup: what
    follows the address of the first server and of the others. inter_ms: between two checks, as the deployer has it.
    fall: how many checks in a row have to fail until a server is down."""

    def __init__(self, defaults, front, back, check, active, backup, inter_ms):
        self.defaults, self.front, self.back = defaults, front, back
        self.check, self.active, self.backup, self.inter_ms = check, active, backup, inter_ms
        self.fall = int((re.search(r"\bfall (\d+)", active) or (None, FALL_DEFAULT))[1])


KOLLA_DEFAULTS = ("option redispatch", "retries 3", "timeout http-request 10s", "timeout http-keep-alive 10s", "timeout queue 1m",
                  "timeout connect 10s", "timeout client 1m", "timeout server 1m", "timeout check 10s", "balance roundrobin",
                  "maxconn 10000")
KOLLA_FRONT = ("mode tcp", "option clitcpka", "timeout client 3600s")
KOLLA_BACK = ("mode tcp", "option srvtcpka", "timeout server 3600s")
KOLLA_ACTIVE = "check port {check_port} inter {inter} rise 2 fall 5"
KOLLA_BACKUP = KOLLA_ACTIVE + " backup"
OSA_ACTIVE = "check port {check_port} inter {inter} rise 3 fall 3"
TRIPLEO_ACTIVE = "backup check inter {inter} on-marked-down shutdown-sessions port {check_port}"
PERCONA_ACTIVE = "check inter {inter} rise 1 fall 2 weight 1"
SHAPES = {
    # the sessions of a node that fails are not ended
    "kolla": Shape(KOLLA_DEFAULTS, KOLLA_FRONT, (*KOLLA_BACK, "option httpchk"), "http", KOLLA_ACTIVE, KOLLA_BACKUP, 2000),
    # a node that accepts connections is up, even outside the primary component
    "kolla-external": Shape(KOLLA_DEFAULTS, KOLLA_FRONT, KOLLA_BACK, "tcp", KOLLA_ACTIVE, KOLLA_BACKUP, 2000),
    "openstack-ansible": Shape(
        ("retries 3", "timeout queue 1m", "timeout connect 10s", "timeout client 1m", "timeout server 1m", "timeout check 10s"),
        ("timeout client 5000s", "acl allow_list src 127.0.0.1/8", "tcp-request content accept if allow_list",
         "tcp-request content reject", "mode tcp"),
        ("mode tcp", "balance leastconn", "timeout server 5000s", "option httpchk",
         "http-check send meth HEAD uri / ver HTTP/1.0 hdr User-agent osa-haproxy-healthcheck"),
        "http", OSA_ACTIVE, OSA_ACTIVE + " backup", 12000),
    # all are backups, and it stays on the one that it has changed to
    "tripleo": Shape(
        ("mode tcp", "retries 3", "maxconn 4096", "timeout http-request 10s", "timeout queue 2m", "timeout connect 10s",
         "timeout client 2m", "timeout server 2m", "timeout check 30s"),
        None, ("option tcpka", "option httpchk", "stick on dst", "stick-table type ip size 1000", "timeout client 90m",
               "timeout server 90m"),
        "http", TRIPLEO_ACTIVE, TRIPLEO_ACTIVE, 1000),
    # the return of the first node ends the sessions of the others. The script may take no longer than the interval
    "percona": Shape(
        ("default-server init-addr last,libc,none", "mode tcp", "retries 10", "timeout client 28800s", "timeout connect 100500",
         "timeout server 28800s"),
        ("mode tcp", "option clitcpka"),
        ("mode tcp", "option srvtcpka", "balance roundrobin", "option external-check", "external-check command {script}"),
        "script", PERCONA_ACTIVE + " on-marked-up shutdown-backup-sessions", PERCONA_ACTIVE + " backup", 10000),
}


class Balancer(HAProxy):
    """nodes: those of a cluster, or any servers; the first is the active one. inter_ms: of the checks, unless the shape's own.
    proxy_protocol: the servers learn the client's address, which they must allow (proxy_protocol_networks)."""

    def __init__(self, nodes, shape="kolla", inter_ms=None, proxy_protocol=False, port=None):
        self.nodes, self.shape_name, self.shape = list(nodes), shape, SHAPES[shape]
        self.names = {node: getattr(node, "name", f"server{number + 1}") for number, node in enumerate(self.nodes)}
        self.inter_ms = inter_ms or self.shape.inter_ms
        self.proxy_protocol = proxy_protocol
        self.checks = {}
        super().__init__("", "mariadb_back" if self.shape.front else "mariadb", port)

    def start(self, seconds=20):
        if self.shape.check == "http" and not self.checks:
            self.checks = {node: ClusterCheck(node) for node in self.nodes}
        self.text = self._sections()
        super().start(seconds)
        return self

    def end(self):
        super().end()
        for check in self.checks.values():
            check.end()

    def own_lines(self):
        if self.shape.check != "script":
            return []
        return ["external-check", "insecure-fork-wanted"]

    def _sections(self):
        shape, bind = self.shape, f"bind 127.0.0.1:{self.port}"
        lines = [line.format(script=self._write_script()) for line in shape.back]
        lines += [self._line(node, shape.backup if number else shape.active) for number, node in enumerate(self.nodes)]
        sections = [("defaults", shape.defaults), ("listen mariadb", (bind, *lines))]
        if shape.front is not None:
            sections[1:] = [("frontend mariadb_front", (*shape.front, bind, "default_backend mariadb_back")),
                            ("backend mariadb_back", lines)]
        return "".join(f"{title}\n" + "".join(f"    {line}\n" for line in body) for title, body in sections)

    def _line(self, node, words):
        check_port = self.checks[node].port if node in self.checks else node.port
        words = words.format(check_port=check_port, inter=self.inter_ms) + " send-proxy-v2" * self.proxy_protocol
        return f"server {self.names[node]} 127.0.0.1:{node.port} {words}"

    def _write_script(self):
        """Gets the port of the server as its fourth argument."""
        cases = "".join(f"{node.port}) socket={node.socket} ;;\n" for node in self.nodes)
        path = self.place.write("check.sh", f'#!/bin/sh\ncase $4 in\n{cases}esac\n'
                                f'state=$({CLIENT} --no-defaults -u root -S "$socket" --connect-timeout={CHECK_S} -N -B '
                                '-e "SHOW STATUS LIKE \'wsrep_local_state\'") || exit 1\n'
                                f'state=${{state##*[!0-9]}}\n[ "${{state:-{SYNCED}}}" = {SYNCED} ]\n')
        os.chmod(path, 0o700)
        return path

    # Changing the node.

    def use(self, node):
        self.use_only(self.names[node], [self.names[other] for other in self.nodes if other is not node])

    def use_any(self):
        """As at first: the checks decide."""
        for node in self.nodes:
            self.set_state(self.names[node], "ready")
        self.await_up(self.names[self.nodes[0]])

    def sessions(self, node):
        return int(self.field(self.names[node], "scur"))

    def end_sessions(self, node):
        self.end_sessions_of(self.names[node])

    def url(self, **more):
        """As the first server's."""
        return self.nodes[0].url(**{"port": self.port, **more})


class ClusterCheck:
    """The clustercheck of the deployers: 200 if the node is synced, or the donor of a copy; 503 otherwise. A server without a
    cluster only has to answer."""

    def __init__(self, node):
        check = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_OPTIONS(self):
                self.send_response_only(200 if check.is_available() else 503)
                self.send_header("content-length", "0")
                self.end_headers()

            do_GET = do_HEAD = do_OPTIONS

            def log_message(self, *words):
                pass

        self.node = node
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def is_available(self):
        limits = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), CHECK_S)
        try:
            with contextlib.closing(self.node.connect(SYSTEM, **limits)) as connection, connection.cursor() as cursor:
                cursor.execute("SHOW STATUS LIKE 'wsrep_local_state'")
                return dict(cursor.fetchall()).get("wsrep_local_state", SYNCED) in (SYNCED, DONOR)
        except (OSError, pymysql.MySQLError):
            return False

    def end(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
