"""The clients of soak.py, and their journal: what they were told about each consumer and provider, and what may be true."""

import collections
import http.client
import json
import random
import threading
import time
import uuid

import servers

UNKNOWN = None  # the status of a request without an answer
NOT_SENT = "not sent"  # the status if nobody listens
OUTCOME_UNKNOWN = "it is not known whether"  # in a 503: the database was not reached for so long
NOT_THERE = None  # the state of a consumer or provider
READ_SHARE, RELEASE_SHARE, PROVIDER_SHARE, RETRY_SHARE = 0.7, 0.4, 0.04, 0.06
REQUEST_SECONDS_MOST = 120
NOT_SENT_PAUSE_S = 0.1


class Thing:
    """A consumer or a provider. Its states are NOT_THERE, or for a consumer (provider, amount), for a provider its name."""

    def __init__(self, kind):
        self.kind, self.id = kind, str(uuid.uuid4())
        self.told = NOT_THERE  # the last state that was acknowledged
        self.possible = {NOT_THERE}  # all that may be true, as long as nothing is lost
        self.history = {NOT_THERE}  # all that ever was possible
        self.began = self.ended = 0  # of the last acknowledged write
        self.is_by_python = False
        self.maker = None  # the service that was asked to make it
        self.is_last_by_python = False  # the last write that was or may have been made

    @property
    def is_certain(self):
        return len(self.possible) == 1


class Journal:
    """Everything that clients were told, in memory and as lines of JSON. `losses`: the times from which and
    until which acknowledged writes may be lost, if they are named: those that ended after the one and began before the other."""

    def __init__(self, path):
        self.file = open(path, "w")
        self.lock = threading.Lock()
        self.things = []
        self.counts = collections.Counter()
        self.acknowledged = collections.Counter()  # writes, by the name of the service
        self.wrong = []
        self.losses = []

    def write(self, **entry):
        self.file.write(json.dumps({"at": round(time.monotonic(), 4), **entry}) + "\n")

    def may_be_lost(self, thing):
        return any(thing.ended > since and thing.began < until for since, until in self.losses)

    def note(self, what, service, status, thing, state, began):
        """A write that should bring the thing to that state was answered. One that is refused, also with 503, has changed nothing;
        of the Python service's 5xx nothing is known."""
        with self.lock:
            self.write(what=what, service=service.name, id=thing.id, state=state, status=status, took=time.monotonic() - began)
            self.counts[f"{what} {status}"] += 1
            thing.history.add(state)
            if status in (200, 201, 204):
                thing.told, thing.possible = state, {state}
                thing.began, thing.ended = began, time.monotonic()
                thing.is_by_python = thing.is_last_by_python = service.is_python
                self.acknowledged[service.name] += 1
            elif status is UNKNOWN or is_fault_of_python(service, status):
                thing.possible.add(state)
                thing.is_last_by_python = service.is_python

    def blame(self, text, **more):
        with self.lock:
            self.wrong.append(f"{text} {more}")
            self.write(what="wrong", text=text, **{name: repr(value) for name, value in more.items()})

    def lose_from_now(self):
        with self.lock:
            self.losses.append((time.monotonic(), float("inf")))
            self.write(what="loses from now")

    def lose_no_more(self):
        with self.lock:
            self.losses[-1] = self.losses[-1][0], time.monotonic()
            self.write(what="loses no more")

    def maker_of(self, name):
        """The service that was asked to make the thing; None: nobody was."""
        with self.lock:
            return next((thing.maker for thing in self.things if thing.id == name), None)

    def total(self):
        with self.lock:
            return sum(self.acknowledged.values())

    def count_of(self, service):
        with self.lock:
            return self.acknowledged[service.name]


def is_fault_of_python(service, status):
    return service.is_python and isinstance(status, int) and status >= 500


def is_expected(service, status, *successes):
    return status in (*successes, 409, 503, UNKNOWN, NOT_SENT) or is_fault_of_python(service, status)


class Clients:
    """Threads that claim and release, each a thing that no other thread works on meanwhile. `services`: a list that the caller
    may change while they work."""

    def __init__(self, journal, services, providers, number, pause, seed):
        self.journal, self.services, self.providers, self.pause = journal, services, providers, pause
        self.lock = threading.Lock()
        self.held = []  # consumers and providers that are there, as far as it is known
        self.doubtful = []
        self.is_over = False
        self.threads = [threading.Thread(target=self._work, args=(random.Random(f"{seed}/{index}"),)) for index in range(number)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()

    def _work(self, draw):
        while not self.is_over:
            chance = draw.random()
            step = self._retry if chance < RETRY_SHARE else self._remove if chance < RETRY_SHARE + RELEASE_SHARE else self._make
            try:
                step(draw)
            except Exception as problem:  # such as an answer that is no JSON; the others go on
                self.journal.blame("a client failed", problem=problem)
            time.sleep(self.pause)

    def _ask(self, service, method, path, body=None):
        try:
            status, answer = servers.Client(service.port, timeout=REQUEST_SECONDS_MOST).ask(method, path, body)
            return (UNKNOWN if status == 503 and OUTCOME_UNKNOWN in str(answer) else status), answer
        except ConnectionRefusedError:
            time.sleep(NOT_SENT_PAUSE_S)
            return NOT_SENT, None
        except (OSError, http.client.HTTPException):
            return UNKNOWN, None

    def _take(self, draw, things):
        with self.lock:
            if not things:
                return None
            at = draw.randrange(len(things))
            things[at], things[-1] = things[-1], things[at]
            return things.pop()

    def _give_back(self, thing):
        with self.lock:
            if not thing.is_certain:
                self.doubtful.append(thing)
            elif thing.told is not NOT_THERE:
                self.held.append(thing)

    def _make(self, draw):
        thing = Thing("provider" if draw.random() < PROVIDER_SHARE else "consumer")
        service = thing.maker = draw.choice(self.services)
        with self.journal.lock:
            self.journal.things.append(thing)
        began = time.monotonic()
        if thing.kind == "provider":
            state = "soak " + thing.id
            status, answer = self._ask(service, "POST", "/resource_providers", {"name": state, "uuid": thing.id})
        else:
            state = draw.choice(self.providers), draw.randint(1, 4)
            status, answer = self._ask(service, "PUT", f"/allocations/{thing.id}", {
                "allocations": {state[0]: {"resources": {"VCPU": state[1]}}}, "project_id": "p", "user_id": "u",
                "consumer_generation": None, "consumer_type": "INSTANCE"})
        self.journal.note("make", service, status, thing, state, began)
        if not is_expected(service, status, 200, 204):
            self.journal.blame("a claim or a new provider is answered", status=status, answer=answer, service=service.name)
        self._read(draw, thing, service)
        self._give_back(thing)

    def _remove(self, draw):
        if (thing := self._take(draw, self.held)) is not None:
            status, answer, service = self._delete(draw, thing)
            is_unseen = status == 404 and (thing.is_by_python and not service.is_python or not service.is_strict)
            if status == 404 and not is_unseen and self.journal.may_be_lost(thing):
                return
            if not is_expected(service, status, 204) and not is_unseen:
                self.journal.blame("the release of what was acknowledged is answered", status=status, answer=answer, id=thing.id,
                                   service=service.name)
            self._read(draw, thing, service)
            self._give_back(thing)

    def _retry(self, draw):
        """What may be there would fill the hosts at last."""
        if (thing := self._take(draw, self.doubtful)) is not None:
            self._delete(draw, thing)
            self._give_back(thing)

    def _delete(self, draw, thing):
        service = draw.choice(self.services)
        began = time.monotonic()
        path = "/resource_providers/" if thing.kind == "provider" else "/allocations/"
        status, answer = self._ask(service, "DELETE", path + thing.id)
        self.journal.note("remove", service, status, thing, NOT_THERE, began)
        return status, answer, service

    def _read(self, draw, thing, writer):
        """At another instance, what was acknowledged. Without triggers, writes of the Python service show up later."""
        service = draw.choice(self.services)
        if draw.random() > READ_SHARE or not thing.is_certain or not thing.ended or (writer.is_python and not service.is_python):
            return
        if thing.kind == "provider":
            status, answer = self._ask(service, "GET", f"/resource_providers/{thing.id}")
            state = answer["name"] if status == 200 else NOT_THERE
        else:
            status, answer = self._ask(service, "GET", f"/allocations/{thing.id}")
            held = answer["allocations"].items() if status == 200 else ()
            state = next(((provider, entry["resources"]["VCPU"]) for provider, entry in held), NOT_THERE)
        with self.journal.lock:
            self.journal.counts[f"read {status}"] += 1
            self.journal.write(what="read", service=service.name, id=thing.id, state=state, status=status)
        is_stale = service.is_strict and status in (200, 404) and state != thing.told and not thing.is_by_python
        if is_stale and not self.journal.may_be_lost(thing):
            self.journal.blame("a stale read", id=thing.id, is_there=state, told=thing.told, writer=writer.name, reader=service.name)
