"""Pages of berthd's admin listener, for the tests of databases."""

import contextlib
import http.client
import json


def page(port, path, accept="application/json"):
    """(status, text)"""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path, headers={"Accept": accept})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def json_page(port, path):
    return json.loads(page(port, path)[1])


def metrics(port):
    """{"name" or "name{labels}": value}"""
    lines = [line.rsplit(" ", 1) for line in page(port, "/metrics", "text/plain")[1].splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}
