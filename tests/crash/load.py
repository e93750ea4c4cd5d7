"""Clients that write continuously and remember what was acknowledged, to be compared with the state after a crash.

Each client has a provider of its own, and all share one. An answered write is *acknowledged*. The result of the request
that was in flight when the server ended is unknown: both the state before it and the state after it are correct, but
nothing in between.
"""

import http.client
import random
import threading
import uuid

SHARED_TOTAL = 400
GONE = "gone"


def provider_uuid(number):
    return f"aaaaaaaa-0000-4000-8000-{number:012d}"


SHARED = provider_uuid(999)


def fill(client, workers):
    client.make_provider(SHARED, "shared", DISK_GB=SHARED_TOTAL)
    for number in range(workers):
        client.make_provider(provider_uuid(number), f"own-{number}", VCPU=100000, MEMORY_MB=1000)


class Worker:
    """One client. `known`: acknowledged states, by entity; `open`: (entity, new state) of the request in flight."""

    def __init__(self, number, client, seed):
        self.client, self.random = client, random.Random(seed)
        self.own = provider_uuid(number)
        self.known = {}
        self.touched = set()
        self.open = None
        self.acknowledged = 0
        self.ending = False  # the server may refuse
        self.refused = None  # how often it did, if it may go on afterwards
        self.stopped = False
        self.problem = None

    # -- requests: each returns (entity, new state, method, path, body)

    def _consumers(self):
        return [e for e, state in self.known.items() if e[0] == "consumer" and state != GONE]

    def _claim(self, consumer, generation):
        amount = self.random.randint(1, 4)
        allocations = {self.own: {"resources": {"VCPU": amount}}, SHARED: {"resources": {"DISK_GB": 1}}}
        body = {"allocations": allocations, "project_id": "p", "user_id": "u", "consumer_generation": generation,
                "consumer_type": "INSTANCE"}
        state = {"allocations": {p: a["resources"] for p, a in allocations.items()}, "generation": (generation or 0) + 1}
        return ("consumer", consumer), state, "PUT", "/allocations/" + consumer, body

    def _new_claim(self):
        return self._claim(str(uuid.UUID(int=self.random.getrandbits(128), version=4)), None)

    def _change_claim(self):
        entity = self.random.choice(self._consumers())
        return self._claim(entity[1], self.known[entity]["generation"])

    def _drop_claim(self):
        entity = self.random.choice(self._consumers())
        return entity, GONE, "DELETE", "/allocations/" + entity[1], None

    def _inventory(self):
        total = self.random.randint(1000, 100000)
        return (("inventory", self.own), total, "PUT", f"/resource_providers/{self.own}/inventories/MEMORY_MB",
                {"resource_provider_generation": None, "total": total})

    def _new_provider(self):
        new = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        return ("provider", new), new, "POST", "/resource_providers", {"uuid": new, "name": new}

    def _drop_provider(self):
        there = [e for e, state in self.known.items() if e[0] == "provider" and state != GONE]
        if not there:
            return self._new_provider()
        entity = self.random.choice(there)
        return entity, GONE, "DELETE", "/resource_providers/" + entity[1], None

    def _next(self):
        there = len(self._consumers())
        if there < 3:
            return self._new_claim()
        weights = [0 if there > 30 else 5, 2, 4 if there > 10 else 2, 2, 1, 1]
        chosen = self.random.choices([self._new_claim, self._change_claim, self._drop_claim, self._inventory,
                                      self._new_provider, self._drop_provider], weights)[0]
        return chosen()

    def run(self):
        """Runs until it is stopped, the server ends, or an answer is wrong."""
        try:
            while self.problem is None and not self.stopped:
                entity, wanted, method, path, body = self._next()
                if entity[0] == "inventory":
                    status, answer = self.client.ask("GET", f"/resource_providers/{self.own}/inventories")
                    body["resource_provider_generation"] = answer["resource_provider_generation"]
                self.open = (entity, wanted)
                self.touched.add(entity)
                status, answer = self.client.ask(method, path, body)
                if status == 503 and self.refused is not None:
                    if "is not known" in str(answer):
                        return  # either state is correct
                    self.refused += 1
                    self.open = None
                    continue
                self.open = None
                if status == 409 and "exceed" in str(answer):
                    continue  # the shared provider is full
                if status == 503 and self.ending:
                    return
                if status not in (200, 201, 204):
                    self.problem = f"{method} {path}: {status} {answer}"
                    return
                self.known[entity] = wanted
                self.acknowledged += 1
        except (OSError, http.client.HTTPException):
            self.client.close()

    # -- after the crash

    def _state(self, client, entity):
        kind, name = entity
        if kind == "consumer":
            answer = client.must(200, "GET", "/allocations/" + name)
            if not answer["allocations"]:
                return GONE
            return {"allocations": {p: a["resources"] for p, a in answer["allocations"].items()},
                    "generation": answer["consumer_generation"]}
        if kind == "inventory":
            return client.must(200, "GET", f"/resource_providers/{name}/inventories")["inventories"]["MEMORY_MB"]["total"]
        status, answer = client.ask("GET", "/resource_providers/" + name)
        return name if status == 200 else GONE

    def check(self, client, everything=False):
        """Acknowledged states that are missing, as a text; None if all are there. Adopts the result of the request
        in flight."""
        for entity in sorted(set(self.known) | self.touched) if everything else sorted(self.touched):
            state = self._state(client, entity)
            before = self.known.get(entity, GONE)
            allowed = [GONE if entity[0] != "inventory" and before is None else before]
            if entity[0] == "inventory" and entity not in self.known:
                allowed = [1000]
            if self.open and self.open[0] == entity:
                allowed.append(self.open[1])
            if state not in allowed:
                return f"{entity}: {state}, but {allowed} was acknowledged"
            self.known[entity] = state
        self.open = None
        self.touched = set()
        return None


def start(workers):
    threads = [threading.Thread(target=worker.run, daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    return threads


def check_all(workers, client, everything=False):
    """The first problem, or None; also checks the sums of the shared provider."""
    for worker in workers:
        problem = worker.problem or worker.check(client, everything)
        if problem:
            return problem
    used = client.must(200, "GET", f"/resource_providers/{SHARED}/usages")["usages"]["DISK_GB"]
    wanted = sum(1 for worker in workers for entity, state in worker.known.items()
                 if entity[0] == "consumer" and state != GONE)
    if used != wanted or used > SHARED_TOTAL:
        return f"{used} of the shared provider are used, {wanted} consumers hold one each of {SHARED_TOTAL}"
    return None
