"""What a walk has done and found: counts, and a report for each kind of failure."""

import collections

from exchange import route_of


class Result:
    def __init__(self, seed, part):
        self.seed, self.part = seed, part
        self.asked = self.failed = self.succeeded = self.state_reads = self.state_failures = 0
        self.routes, self.versions = collections.Counter(), collections.Counter()
        self.routes_2xx = collections.Counter()
        self.hits, self.statuses = collections.Counter(), collections.Counter()
        self.questions = self.answered = self.rich = 0
        self.order_only = self.reconnects = self.reference_errors = 0
        self.kinds = collections.Counter()  # failures by kind: route, statuses, what differs
        self.reports = []  # one for each kind
        self.trail = []  # the requests that changed something, up to the first failure
        self.last = self.last_kind = None  # the request that failed first, and how
        self.seconds = self.reference_seconds = self.subject_seconds = 0.0


class Books:
    """The part of a walk that keeps its `result`."""

    def count(self, request, mine):
        result = self.result
        result.asked += 1
        result.succeeded += 200 <= mine.status < 300
        result.statuses[mine.status] += 1
        route = route_of(request)
        if route is not None:
            result.routes[(request.method, route)] += 1
            result.routes_2xx[(request.method, route)] += 200 <= mine.status < 300
        if request.version is not None:
            result.versions[request.version[1]] += 1
        if mine.status == 500:
            result.reference_errors += 1

    def report(self, number, request, mine, other, found):
        kind = _kind(request, mine, other, found)
        self.result.kinds[kind] += 1
        if self.result.last is None:
            self.result.last, self.result.last_kind = request, kind
        if self.result.kinds[kind] > 1:
            return
        lines = ["=" * 78, "seed %d, step %d%s" % (self.seed, number, " (%s)" % request.note if request else "")]
        for what, a, b in found:
            lines += ["  %s" % what, "    reference: %s" % _cut(a), "    berth:     %s" % _cut(b)]
        if request is not None:
            lines += ["-- request", request.text(), "-- reference", mine.text(), "-- berth", other.text()]
        lines.append("-- again: tests/diff/run.py --seed %d --until %d" % (self.seed, number + 1))
        self.result.reports.append("\n".join(lines))


def _kind(request, mine, other, found):
    what = ", ".join(sorted({d[0] for d in found}))
    if request is None:
        return what
    state = "state after a step: " if request.note == "state" else ""
    return "%s%s %s: %s / %s, %s" % (state, request.method, route_of(request) or "no route", mine.status, other.status, what)


def _cut(value, most=1500):
    text = repr(value) if not isinstance(value, str) else value
    return text if len(text) <= most else text[:most] + " …"
