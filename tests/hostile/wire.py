"""Sends bytes on a socket, and parses the answer."""

import json
import re
import socket
import time

from server import HOME


def connect(server, source=None, timeout=5):
    return socket.create_connection((HOME, server.port), timeout=timeout, source_address=(source, 0) if source else None)


def head(method="GET", target="/", *lines, version="HTTP/1.1", host="Host: localhost"):
    """A request's head as bytes; latin-1 so that any byte can be written."""
    first = f"{method} {target} {version}"
    given = [first, host, "X-Auth-Token: admin", "OpenStack-API-Version: placement latest", *lines]
    return ("\r\n".join(line for line in given if line) + "\r\n\r\n").encode("latin-1")


def with_body(method, target, body, *lines, length=None):
    size = len(body) if length is None else length
    return head(method, target, "Content-Type: application/json", f"Content-Length: {size}", *lines) + body


class Answer:
    """The answer: a status (0: closed without an answer, None: neither, in time), body, and all bytes."""

    def __init__(self, status, headers=b"", body=b""):
        self.status, self.headers, self.body = status, headers, body

    def is_api(self):
        """The API's own error: JSON of its form."""
        try:
            errors = json.loads(self.body)["errors"]
            return errors[0]["status"] == self.status and bool(errors[0]["request_id"])
        except (ValueError, KeyError, IndexError, TypeError):
            return False

    def __str__(self):
        return f"{self.status} {self.body[:200]!r}"


def parse(data):
    """(Answer, rest) of a whole answer, or None if it is still incomplete."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    headers, rest = data[:end], data[end + 4:]
    status = re.match(rb"HTTP/1\.[01] (\d{3}) ", headers)
    if not status:
        raise ValueError(f"no HTTP: {data[:100]!r}")
    code = int(status.group(1))
    if code == 100:
        return parse(rest)
    length = re.search(rb"\r\ncontent-length: *(\d+)", headers, re.I)
    size = int(length.group(1)) if length else 0
    if len(rest) < size:
        return None
    return Answer(code, headers, rest[:size]), rest[size:]


def receive(sock, seconds=3.0):
    """The next answer."""
    data = b""
    end = time.monotonic() + seconds
    while True:
        whole = parse(data)
        if whole:
            return whole[0]
        left = end - time.monotonic()
        if left <= 0:
            return Answer(None, body=data)
        sock.settimeout(left)
        try:
            got = sock.recv(65536)
        except socket.timeout:
            return Answer(None, body=data)
        except OSError:
            return Answer(0, body=data)
        if not got:
            return Answer(0, body=data)
        data += got


def exchange(server, data, seconds=3.0, shutdown=False):
    with connect(server) as sock:
        try:
            sock.sendall(data)
            if shutdown:
                sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it may close while we send; what it sent before counts
        return receive(sock, seconds)


def is_closed(sock, seconds):
    """Whether the server closes the connection in time; what it sends before is discarded."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sock.settimeout(max(0.01, end - time.monotonic()))
        try:
            if not sock.recv(65536):
                return True
        except socket.timeout:
            return False
        except OSError:
            return True
    return False
