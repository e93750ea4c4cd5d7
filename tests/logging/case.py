"""Shared by the groups of this folder: requests whose lines can be counted, and the lines."""

import glob
import os
import re
import threading
import time

import servers

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \d+ INFO placement\.requestlog \[None req-[0-9a-f-]{36} admin admin "
                  r"- - - -\] 127\.0\.0\.1 \"GET /nowhere/(\w+-\d+)/x*\" status: 404 len: \d+ microversion: 1\.39")


def expect(good, what):
    if not good:
        raise AssertionError(what)


def wait_until(good, what, seconds=15):
    end = time.monotonic() + seconds
    while not good():
        if time.monotonic() > end:
            raise AssertionError(what)
        time.sleep(0.02)


def berthd(program, directory, *options, **more):
    """A server with these options of [DEFAULT]."""
    return servers.Berthd(program, directory, options=["[DEFAULT]", *options], **more)


def ask(server, name, count, padding=0, first=0):
    """Requests that the log can be searched for."""
    client = server.client()
    for number in range(first, first + count):
        status, _ = client.ask("GET", f"/nowhere/{name}-{number}/{'x' * padding}")
        expect(status == 404, status)
    client.close()


class Load:
    """Several connections that send requests until they are stopped."""

    def __init__(self, server, connections=4, padding=0):
        self.server, self.padding = server, padding
        self.asked = [0] * connections
        self.ending = False
        self.problems = []
        self.threads = [threading.Thread(target=self.ask_on, args=(number,)) for number in range(connections)]
        for thread in self.threads:
            thread.start()

    def ask_on(self, number):
        try:
            while not self.ending:
                ask(self.server, f"t{number}", 20, self.padding, self.asked[number])
                self.asked[number] += 20
        except Exception as problem:
            self.problems.append(repr(problem))

    def end(self):
        """Stops them; returns the names of all requests."""
        self.ending = True
        for thread in self.threads:
            thread.join()
        expect(not self.problems, self.problems)
        return [f"t{number}-{i}" for number, count in enumerate(self.asked) for i in range(count)]


def files(path):
    """The log and its rotated files."""
    return sorted(glob.glob(path + "*"))


def names_in(*paths):
    """The names of the requests whose lines are there; every line about a request must be complete."""
    found = []
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        expect(b"\0" not in data, f"{path} has a hole")
        expect(data == b"" or data.endswith(b"\n"), f"{path} ends in the middle of a line")
        for line in data.decode().splitlines():
            if "/nowhere/" in line:
                whole = LINE.fullmatch(line)
                expect(whole, f"no whole line in {path}: {line[:300]}")
                found.append(whole.group(1))
    return found


def expect_all(asked, paths):
    found = names_in(*paths)
    missing, more = set(asked) - set(found), len(found) - len(set(found))
    expect(not missing and not more, f"{len(missing)} lines of {len(asked)} are missing, {more} occur twice: "
           f"{sorted(missing)[:5]}")


def play(score, program, directory, kinds):
    """Each of these public functions is a case: called with the program and a directory of its own."""
    for kind in kinds:
        began, problem, note = time.monotonic(), None, None
        own = os.path.join(directory, kind.__name__)
        os.mkdir(own)
        try:
            note = kind(program, own)
        except Exception as failure:
            problem = f"{type(failure).__name__}: {failure}"
        if note:
            print(f"       {kind.__name__}: {note}")
        else:
            score.case(kind.__name__.replace("_", " "), problem, time.monotonic() - began)
