"""One walk: a cloud of its own, a pair of databases, a reference in this process and a berthd.

Every request goes to both; the answers are compared, and differences must be intended. Then the two states are kept in
step, and compared from time to time (states.py); the results are recorded in the books (books.py).
"""

import os
import random
import re
import time
import traceback

import candidates
import compare
import conditions
import generator
import intended
import reference
from books import Books, Result
from cloud import Cloud
from exchange import Answer
from subject import Subject, SubjectError
from states import States, plain

STATE_EVERY = 500


class Options:
    """The parameters of a walk; pickled for the worker process."""

    program = None  # command line of berthd
    databases = None  # Sqlite or Postgres, of databases.py, with a template
    same = False  # the subject is a reference too: no difference is intended, nothing is brought in step
    oracle = False  # compare the second opinion with the reference at every query
    verbose = False
    keep = None
    until = None
    state_every = STATE_EVERY
    most_failures = 8
    allow_500 = False


class Question:
    """A case's candidates: the right answer by the second opinion, compared with berth's."""

    def __init__(self, request, berth, cloud):
        self.request, self.berth, self.cloud = request, berth, cloud

    def right(self):
        """Differences between the right answer and berth's; None if there is no right answer."""
        value = compare.parse(self.berth)
        whole = candidates.expected(self.request, self.cloud)
        if whole is None or not isinstance(value, dict) or "allocation_requests" not in value:
            return None
        return candidates.differences(self.request, whole, candidates.Set(value, self.request.version[1]), self.cloud)


class Walk(Books, States):
    def __init__(self, options, seed, part, steps, directory):
        self.options, self.seed, self.part, self.steps = options, seed, part, steps
        self.directory = directory
        self.result = Result(seed, part)
        self.first_step = 0

    # -- set up ---------------------------------------------------------------------------------------------

    def prepare(self):
        os.makedirs(self.directory, exist_ok=True)
        databases = self.options.databases
        self.mine, self.other = (databases.copy(self.directory, name) for name in ("reference", "berth"))
        configs = {}
        for name, database in (("reference", self.mine), ("berth", self.other)):
            configs[name] = os.path.join(self.directory, name + ".conf")
            own_options = databases.own_options if name == "reference" else None
            with open(configs[name], "w") as out:
                out.write(reference.config_text(databases.url(database), False, own_options))
        self.reference = reference.Reference(configs["reference"])
        self.subject = Subject(self.options.program, configs["berth"], os.path.join(self.directory, "berthd.log"))
        self.subject.start()
        self.cloud = Cloud(databases.connect(self.mine))
        self.rng = random.Random("%d/%d" % (self.seed, self.part))

    def end(self):
        """Drops what is not in the directory."""
        for database in (getattr(self, "mine", None), getattr(self, "other", None)):
            if database:
                self.options.databases.drop(database)

    def run(self):
        started = time.monotonic()
        result = self.result
        try:
            self.prepare()
            self.play()
            result.reconnects = self.subject.reconnects
            if not self.subject.stop():
                self.report(self.steps, None, None, None, [("exit", "SIGTERM ends it with 0", "it did not")])
        except SubjectError as error:
            result.failed += 1
            result.reports.append("seed %d part %d: %s" % (self.seed, self.part, error))
        except Exception:
            result.failed += 1
            result.reports.append("seed %d part %d: the harness itself failed\n%s" % (
                self.seed, self.part, traceback.format_exc()))
        finally:
            if getattr(self, "subject", None):
                self.subject.kill()
        result.seconds = time.monotonic() - started
        return result

    def play(self):
        steps = self.steps
        if self.options.until is not None:
            steps = min(steps, self.options.until - self.first_step)
        made = generator.Generator(self.rng, self.cloud)
        for number in range(steps):
            request = made.next()
            mine, _ = self.step(self.first_step + number, request)
            self.learn(made, request, mine)
            if not self.subject.alive():
                self.result.reports.append("seed %d part %d: berthd ended: %s" % (self.seed, self.part, self.log_tail()))
                self.result.failed += 1
                return
            if len(self.result.reports) >= self.options.most_failures:
                self.result.reports.append("seed %d part %d: stopped after %d kinds of failure" % (
                    self.seed, self.part, self.options.most_failures))
                return
            if (number + 1) % self.options.state_every == 0:
                self.compare_states(self.first_step + number)
        self.compare_states(self.first_step + steps - 1)

    def learn(self, made, request, mine):
        """Keeps some candidates for later claims."""
        if request.path != "/allocation_candidates" or mine.status != 200 or request.version is None:
            return
        value = compare.parse(mine)
        if request.version[1] >= 12 and value and value["allocation_requests"]:
            found = sorted(value["allocation_requests"], key=str)[0]["allocations"]
            made.claims.append({u: r["resources"] for u, r in found.items()})
            del made.claims[:-8]

    def log_tail(self):
        with open(os.path.join(self.directory, "berthd.log"), "rb") as log:
            return log.read()[-2000:].decode("utf-8", "backslashreplace")

    # -- one request ------------------------------------------------------------------------------------------

    def ask_reference(self, request):
        started = time.monotonic()
        try:
            return self.reference.ask(request, self.subject.host)
        except Exception as error:  # a WSGI server would give this answer
            return Answer(500, [("x-failure", repr(error))], b"")
        finally:
            self.result.reference_seconds += time.monotonic() - started

    def ask_subject(self, request):
        started = time.monotonic()
        answer = self.subject.ask(request)
        self.result.subject_seconds += time.monotonic() - started
        return answer

    def step(self, number, request):
        result, options = self.result, self.options
        if options.verbose:
            print("seed %d step %d: %s %s" % (self.seed, number, request.method, request.target), flush=True)
        leftovers = set(self.cloud.leftovers())
        mine = self.ask_reference(request)
        other = self.ask_subject(request)
        self.count(request, mine)
        case = intended.Case(request, mine, other, self.cloud, self.differences(request, mine, other),
                             Question(request, other, self.cloud))
        case.leftovers = leftovers
        if compare.list_order_differs(mine, other) and not case.found:
            result.order_only += 1
        entries = intended.explain(case) if case.found else []
        if entries and any(e.again for e in entries):
            entries = self.ask_again(case, entries)
        changed = request.method not in ("GET", "HEAD", "OPTIONS")
        if result.last is None and changed and entries is not None and mine.status < 300:
            result.trail.append(request)
        if entries is None:
            result.failed += 1
            self.report(number, request, mine, other, case.found)
        else:
            for entry in entries:
                result.hits[entry.id] += 1
        if changed:
            if entries and any(e.adopts == intended.ALL for e in entries):
                self.copy_state()
            elif entries and any(e.adopts for e in entries) and case.statuses[0] // 100 != case.statuses[1] // 100:
                self.adopt(case)
            elif entries is None and not options.same:
                self.copy_state()
            self.cloud.refresh()
            self.unnamed_provider(request, mine, other)
            if not options.same:
                self.drop_leftovers(request)
        return mine, other

    def differences(self, request, mine, other):
        found = compare.differences(request, mine, other)
        if other.status == 500 and not self.options.allow_500:
            found.append(("status", "a fault of the reference is not repeated", 500))
        if mine.status == 204 and mine.header("content-length") != other.header("content-length"):
            found.append(("header content-length", mine.header("content-length"), other.header("content-length")))
        if request.method != "GET" or request.path != "/allocation_candidates" or mine.status != 200:
            return self.without_own_uuid(request, mine, other, found)
        values = compare.parse(mine), compare.parse(other)
        minor = request.version[1] if request.version else None
        if minor is None or not all(isinstance(v, dict) and "allocation_requests" in v for v in values):
            return found
        self.result.questions += 1
        try:
            sets = [candidates.Set(value, minor) for value in values]
        except (KeyError, TypeError, AttributeError) as error:
            return [("candidates", "well formed", repr(error))]
        self.result.answered += bool(sets[0].keys)
        self.result.rich += candidates.is_rich(request, sets[0])
        whole = sets[0]
        limit = candidates.limit_of(request)
        if limit is not None:
            again = compare.parse(self.ask_reference(candidates.without_limit(request)))
            whole = candidates.Set(again, minor)
        case = intended.Case(request, mine, other, self.cloud, [])
        faulty = (conditions.may_grow(case) or conditions.may_lose_anchors(case) or conditions.has_line_break(request))
        if self.options.oracle and not faulty:
            found += self.check_oracle(request, whole)
        found = [d for d in found if d[0] != "body"]
        if set(values[1]) != set(values[0]):
            found.append(("body", sorted(values[0]), sorted(values[1])))
        if faulty and self.options.same:
            return found  # two runs of the reference differ here: it depends on the order of sets
        wrong = candidates.differences(request, whole, sets[1], self.cloud)
        if limit is not None and self.options.same:
            wrong = [d for d in wrong if d[0] != "limit"]  # the reference does not spread
        elif limit is not None and not wrong and sets[0].counted() != sets[1].counted():
            wrong = [("limited choice", "its own", "spread over roots")]
        return found + wrong

    def check_oracle(self, request, whole):
        """Where the reference has no known bug, the second opinion must agree with it."""
        right = candidates.expected(request, self.cloud)
        if right is None:
            return []
        self.result.hits["second opinion asked"] += 1
        wrong = candidates.differences(candidates.without_limit(request), right, whole, self.cloud)
        return [("second opinion: " + what, a, b) for what, a, b in wrong]

    def without_own_uuid(self, request, mine, other, found):
        """A provider created without a uuid gets another one from each service."""
        if not found or request.path != "/resource_providers" or request.method != "POST" or b'"uuid"' in (
                request.body or b""):
            return found
        pattern = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
        uuids = [_own_uuid(request, a) or _first(pattern, a.body) for a in (mine, other)]
        if None in uuids:
            return found
        renamed = Answer(other.status, [(k, v.replace(uuids[1], uuids[0])) for k, v in other.headers],
                         other.body.replace(uuids[1].encode(), uuids[0].encode()))
        return compare.differences(request, mine, renamed)

    def unnamed_provider(self, request, mine, other):
        uuids = [_own_uuid(request, a) for a in (mine, other)]
        if None in uuids or uuids[0] == uuids[1]:
            return
        for uuid, ask in zip(uuids, (self.ask_reference, self.ask_subject)):
            ask(plain("DELETE", "/resource_providers/" + uuid))
        self.cloud.refresh()

    # -- keeping step --------------------------------------------------------------------------------------------

    def ask_again(self, case, entries):
        """The reference without its bug must give berth's answer."""
        for uuid in case.leftovers:
            self.cloud.forget_consumer(uuid)
        if case.reference.status < 300 <= case.berth.status:
            self.adopt(case)  # its bug let a write through, which has incremented generations
        self.cloud.refresh()
        request = next(e.again for e in entries if e.again)(case)
        mine = self.ask_reference(request)
        more = self.differences(request, mine, case.berth)
        second = intended.Case(request, mine, case.berth, self.cloud, more, Question(request, case.berth, self.cloud))
        further = intended.explain(second) if more else []
        if further is None:
            case.found = more
            case.reference = mine
            return None
        if any(e.adopts for e in further):
            self.adopt(second)
        return entries + [e for e in further if e not in entries]


def _own_uuid(request, answer):
    """The uuid that the service itself chose for a new provider, or None."""
    if request.method != "POST" or request.path != "/resource_providers" or answer.status not in (200, 201):
        return None
    if b'"uuid"' in (request.body or b""):
        return None
    return (answer.header("location") or "").rsplit("/", 1)[-1] or None


def _first(pattern, body):
    """The first uuid in an error's text that is not a request id."""
    found = re.search("(?<!req-)" + pattern, body.decode("utf-8", "replace"))
    return found.group() if found else None
