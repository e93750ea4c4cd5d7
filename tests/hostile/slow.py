"""Clients that are slow, silent, numerous, or disappear: other clients are served meanwhile."""

import socket
import time

from server import wait_for
from wire import connect, exchange, head, is_closed, receive, with_body

LATE_S = 2.5  # after a deadline: the watcher checks at least twice a second
IDLE_CONNECTIONS = 1000


def drip(sock, data, every_s, seconds):
    """Sends byte by byte; returns whether the server has closed the connection in time."""
    end = time.monotonic() + seconds
    for byte in data:
        if time.monotonic() > end:
            return False
        try:
            sock.sendall(bytes([byte]))
        except OSError:
            return True
        if is_closed(sock, every_s):
            return True
    return False


def run(report, server, deadline_s, idle_s, per_address):
    header_drips(report, server, deadline_s)
    body_drips(report, server, deadline_s)
    silent(report, server, idle_s)
    unread(report, server, idle_s)
    idle_crowd(report, server)
    flood(report, server, per_address)
    leavers(report, server)
    report(wait_for(lambda: server.sockets() < 20, 5 * idle_s), "slow: no connection is left behind",
           f"{server.sockets()} sockets")
    report(server.is_well(), "slow: the server is well", server.tail())


def header_drips(report, server, deadline_s):
    with connect(server) as sock:
        start = time.monotonic()
        closed = drip(sock, b"GET / HTTP/1.1\r\n" + b"X-A: " + b"a" * 1000, 0.05, deadline_s + LATE_S)
        report(closed, "slow: dripped headers", f"still open after {time.monotonic() - start:.1f} s")
    with connect(server) as sock:
        sock.sendall(head())
        receive(sock)
        closed = drip(sock, b"GET / HTTP/1.1\r\nX-A: " + b"a" * 1000, 0.05, deadline_s + LATE_S)
        report(closed, "slow: dripped headers of a second request", "still open")
    socks = [connect(server) for _ in range(200)]
    for sock in socks:
        sock.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
    report(server.is_well(), "slow: served beside 200 slow ones", "")
    end = time.monotonic() + deadline_s + LATE_S
    closed = sum(is_closed(sock, max(0.01, end - time.monotonic())) for sock in socks)
    report(closed == 200, "slow: 200 unfinished headers", f"{closed} closed")
    for sock in socks:
        sock.close()


def body_drips(report, server, deadline_s):
    with connect(server) as sock:
        sock.sendall(with_body("POST", "/resource_providers", b"", length=3000))
        closed = drip(sock, b" " * 3000, 0.05, deadline_s + 0.5 + LATE_S)
        report(closed, "slow: dripped body", "still open")
    with connect(server) as sock:
        sock.sendall(head("POST", "/resource_providers", "Content-Type: application/json",
                          "Transfer-Encoding: chunked"))
        closed = drip(sock, b"1\r\n \r\n" * 1000, 0.05, deadline_s + LATE_S)
        report(closed, "slow: dripped chunks", "still open")


def silent(report, server, idle_s):
    with connect(server) as one, connect(server) as other:
        other.sendall(head())
        receive(other)
        closed = is_closed(one, idle_s + LATE_S) + is_closed(other, LATE_S)
        report(closed == 2, "slow: silent connections", f"{closed} of 2 closed")


def unread(report, server, idle_s):
    """Answers that are never read: they occupy neither memory nor threads for ever."""
    rss = server.rss_mib()
    socks = []
    for _ in range(20):
        sock = connect(server)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(0.2)
        try:
            sock.sendall(head("GET", "/traits") * 300)
        except OSError:
            pass
        socks.append(sock)
    report(server.is_well(), "slow: served beside unread answers", "")
    report(server.rss_mib() - rss < 100, "slow: memory of unread answers",
           f"{rss:.0f} MiB before, {server.rss_mib():.0f} now")
    # with a sanitizer it takes longer until the server has written all that it can
    gone = wait_for(lambda: server.sockets() < 20, idle_s + 12 * LATE_S)
    report(gone, "slow: unread answers end", f"{server.sockets()} sockets")
    for sock in socks:
        sock.close()


def idle_crowd(report, server):
    rss = server.rss_mib()
    socks = [connect(server) for _ in range(IDLE_CONNECTIONS)]
    start = time.monotonic()
    served = sum(server.ask("GET", "/")[0] == 200 for _ in range(100))
    took = time.monotonic() - start
    report(served == 100 and took < 3, f"slow: served beside {IDLE_CONNECTIONS} idle ones", f"{served} in {took:.1f} s")
    report(server.rss_mib() - rss < IDLE_CONNECTIONS / 8 + 32, "slow: memory of idle connections",
           f"{rss:.0f} MiB before, {server.rss_mib():.0f} now")
    for sock in socks:
        sock.close()
    report(wait_for(lambda: server.sockets() < 20, 10), "slow: idle connections go", f"{server.sockets()} sockets")


def flood(report, server, per_address):
    """More connections than one address may have: those are closed, other addresses are served."""
    socks = []
    for _ in range(per_address + 200):
        try:
            socks.append(connect(server, timeout=1))
        except OSError:
            break
    report(server.sockets() <= per_address + 20, "slow: a flood from one address is held",
           f"{server.sockets()} sockets")
    report(server.is_well(), "slow: another address is served in a flood", "")
    for sock in socks:
        sock.close()
    wait_for(lambda: server.sockets() < 20, 10)
    report(exchange(server, head()).status == 200, "slow: the flooding address is served again", "")
    for _ in range(2000):
        try:
            connect(server, timeout=1).close()
        except OSError:
            pass
    report(server.is_well(), "slow: 2 000 connections opened and closed", "")


def leavers(report, server):
    """Clients that disconnect in the middle of anything."""
    request = with_body("POST", "/resource_providers", b'{"name": "leaver"}')
    for at in range(0, len(request) - 1, 7):
        with connect(server) as sock:
            sock.sendall(request[:at])
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset
    report(server.must("GET", "/resource_providers?name=leaver")["resource_providers"] == [],
           "slow: half a request does nothing", "")
    report(server.is_well(), "slow: resets", "")
