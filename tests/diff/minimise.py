"""Shortens a failing walk: leaves out requests as long as the last one still fails in the same way.

Only requests that changed something count (the reference answered 2xx to a PUT, POST or DELETE). Every trial plays the
remaining requests on a fresh pair of databases, in a separate process.
"""

import multiprocessing
import os
import time

import walk


def _trial(job):
    options, directory, trail, last, kind = job
    one = walk.Walk(options, 0, 0, 0, directory)
    try:
        one.prepare()
        for number, request in enumerate(trail):
            one.step(number, request)
        before = one.result.kinds[kind]
        if last.note == "state":
            one.compare_states(len(trail))
        else:
            one.step(len(trail), last)
        return one.result.kinds[kind] > before
    finally:
        one.subject.kill()


def shortest(options, directory, trail, last, kind, patience_s=300):
    """The shortest trail found within the time; the whole one if the failure cannot be reproduced."""
    deadline = time.monotonic() + patience_s
    count = 0

    def fails(some):
        nonlocal count
        count += 1
        job = (options, os.path.join(directory, "trial%d" % count), some, last, kind)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return pool.apply(_trial, (job,))

    if not fails(trail):
        return trail, False
    size = max(1, len(trail) // 2)
    while trail and time.monotonic() < deadline:
        at, shorter = 0, False
        while at < len(trail) and time.monotonic() < deadline:
            some = trail[:at] + trail[at + size:]
            if fails(some):
                trail, shorter = some, True
            else:
                at += size
        if size == 1 and not shorter:
            break
        size = max(1, size // 2)
    return trail, True
