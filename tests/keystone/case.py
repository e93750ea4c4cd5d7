"""Shared by the cases of faults.py: berthd with the tests' own Keystone, and requests to it."""

import http.client
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

import servers  # noqa: E402

UNAVAILABLE = {"message": "The server is currently unavailable. Please try again at a later time.<br /><br />\n"
                          "The Keystone service is temporarily unavailable.\n\n",
               "code": "503 Service Unavailable", "title": "Service Unavailable"}
REFUSED = {"error": {"code": 401, "title": "Unauthorized",
                     "message": "The request you have made requires authentication."}}


def expect(good, what):
    if not good:
        raise AssertionError(what)


def ask(server, token=None, path="/resource_classes", timeout=60, **headers):
    """(status, body, headers, seconds)"""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["x-auth-token"] = token
        connection.request("GET", path, headers={"openstack-api-version": "placement 1.39", **sent})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None, answer.headers, time.monotonic() - began
    finally:
        connection.close()


def must(server, status, token=None, **more):
    got = ask(server, token, **more)
    expect(got[0] == status, f"{got[0]} instead of {status}: {got[1]}")
    if status == 503:
        expect(got[1] == UNAVAILABLE, got[1])
    if status == 401:
        expect(got[1] == REFUSED and got[2]["www-authenticate"] == 'Keystone uri="http://public:5000"', got[1:3])
    return got


def soon(server, status, token, seconds=20):
    """Repeats a request until it has that status: after a failure berth pauses its queries to Keystone."""
    end = time.monotonic() + seconds
    while ask(server, token)[0] != status:
        expect(time.monotonic() < end, f"not {status} within {seconds} s")
        time.sleep(0.1)


def begin(server, token):
    """Sends a request whose answer is read later, see end()."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    client.sendall(b"GET /traits HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Auth-Token: " + token.encode()
                   + b"\r\n\r\n")
    return client


def end(client):
    """The status of its answer, None if there is none."""
    text = b""
    try:
        while chunk := client.recv(65536):
            text += chunk
    except OSError:
        pass
    client.close()
    return int(text.split()[1]) if text else None


def count_logged(server, pattern):
    return len(re.findall(pattern, server.log()))


class Case:
    """Its methods without an underscore are cases; each gets a separate object."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.directory = tempfile.mkdtemp(prefix="berth-keystone-faults-", dir="/var/tmp")

    def _end(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def _berthd(self, keystone, berth=(), environment=None, **more):
        options = {"www_authenticate_uri": "http://public:5000", "auth_url": keystone.url, "auth_type": "password",
                   "username": "placement", "password": "secret", "user_domain_name": "Default",
                   "project_name": "service", "project_domain_name": "Default", **more}
        lines = ["[keystone_authtoken]", *(f"{name} = {value}" for name, value in options.items() if value is not None)]
        return servers.Berthd(self.program, tempfile.mkdtemp(dir=self.directory), strategy="keystone",
                              environment=environment,
                              options=[*lines, "[berth]", "worker_threads = 2", *berth])
