"""Shared by the cases of this folder: a berthd with an admin listener, and its pages."""

import http.client
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "faults"), os.path.dirname(HERE)]
sys.path.append(os.path.join(os.path.dirname(HERE), "keystone"))  # for its stand-in; case.py is that of faults/
sys.dont_write_bytecode = True

import case  # noqa: E402
import servers  # noqa: E402
from exposition import Page  # noqa: E402

OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def fetch(port, path, method="GET", timeout=30, **headers):
    """(status, headers, text); `_` in a header's name stands for a dash."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


class Berthd(servers.Berthd):
    def __init__(self, *arguments, admin_host="127.0.0.1", **more):
        super().__init__(*arguments, **more)
        self.admin_host, self.admin_port = admin_host, servers.free_port()

    def command(self):
        return super().command() + ["--admin-listen", f"{self.admin_host}:{self.admin_port}"]

    def page(self, path, method="GET", **headers):
        return fetch(self.admin_port, path, method, **headers)

    def scrape(self, path="/metrics", **headers):
        status, got, text = self.page(path, **headers)
        case.expect(status == 200, f"{path}: {status} {text}")
        openmetrics = got["content-type"].startswith("application/openmetrics-text")
        return Page(text, openmetrics)

    def readiness(self, **headers):
        status, _, text = self.page("/readyz", **headers)
        return status, text

    def await_ready(self, wanted, word="", seconds=5):
        """Waits until /readyz has that status and contains that word; prints how long that took."""
        end = time.monotonic() + seconds
        while True:
            began = time.monotonic()
            status, text = self.readiness()
            took = time.monotonic() - began
            case.expect(took < 2, f"/readyz took {took:.1f} s")
            if status == wanted and word in text:
                return text
            case.expect(time.monotonic() < end, f"/readyz is {status}, not {wanted} with {word!r}: {text}")
            time.sleep(0.02)


class Case(case.Case):
    def berthd(self, **more):
        return Berthd(self.program, self.directory, **more)
