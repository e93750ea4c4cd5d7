"""Plots: several requests in a row that only together reach a state worth testing.

A mixin of Generator. A plot puts functions into `self.queue`; each creates its request when it is next, from the
current cloud, or returns None to drop it.
"""

import listed
import questions
from cloud import SHARES


class Plots:
    def plot_over_capacity(self):
        """A consumer's claim, then the inventory shrinks below it, then the claim is written again, smaller
        and as it was: accepted by the newest release, refused by 8.0.0."""
        rng, consumer = self.rng, self.uuid()
        hosts = [p for p in self.cloud.providers
                 if "VCPU" in p.inventory and p.inventory["VCPU"].fits(4) and p.inventory["VCPU"].fits(2)]
        if not hosts:
            return
        uuid = rng.choice(hosts).uuid

        def claim(amount, minor=36):
            def make():
                known = self.cloud.consumers.get(consumer)
                return self.request("PUT", "/allocations/" + consumer, minor,
                                    self.claim_body(minor, consumer, known, {uuid: {"VCPU": amount}}))
            return make

        def shrink():
            provider = self.cloud.by_uuid.get(uuid)
            if provider is None or "VCPU" not in provider.inventory:
                return None
            return self.request("PUT", self.path(provider, "/inventories/VCPU"), 39, {
                "total": 1, "resource_provider_generation": provider.generation})

        def reshape():
            provider, known = self.cloud.by_uuid.get(uuid), self.cloud.consumers.get(consumer)
            if provider is None or known is None:
                return None
            wanted = {}
            for rp, rc, used in known.allocations:
                wanted.setdefault(rp, {})[rc] = used
            return self.request("POST", "/reshaper", 39, {
                "inventories": {uuid: {"resource_provider_generation": provider.generation, "inventories": {
                    rc: {"total": i.total} for rc, i in provider.inventory.items()}}},
                "allocations": {consumer: self.claim_body(39, consumer, known, wanted)}})

        def many():
            known = self.cloud.consumers.get(consumer)
            return self.request("POST", "/allocations", 36, {
                consumer: self.claim_body(36, consumer, known, {uuid: {"VCPU": 2}})})

        steps = [claim(4), shrink, claim(4), claim(2, rng.choice((11, 12, 39)))]
        steps += [rng.choice((reshape, many))]
        steps += [lambda: self.request("DELETE", "/allocations/" + consumer, 39)]
        self.queue.extend(steps)

    def plot_leftover_consumer(self):
        """A claim refused for an unknown provider, and an empty write for a new consumer: 8.0.0 leaves a consumer of
        generation 0 behind, which makes it refuse the next claim with generation null."""
        rng = self.rng
        for empty in (False, True):
            consumer = self.uuid()

            def refused(consumer=consumer, empty=empty):
                resources = {} if empty else {self.uuid(): {"VCPU": 1}}
                return self.request("PUT", "/allocations/" + consumer, 38,
                                    self.claim_body(38, consumer, None, resources), note="keep leftover")

            def claim(consumer=consumer):
                body = self.claim_body(38, consumer, None, self.resources(most=1))
                body["consumer_generation"] = None
                return self.request("PUT", "/allocations/" + consumer, 38, body, note="after leftover")

            self.queue.extend([refused, claim])
        if rng.random() < 0.5:
            return
        consumer = self.uuid()
        self.queue.append(lambda: self.request("POST", "/allocations", 36, {
            consumer: self.claim_body(36, consumer, None, {})}, note="keep leftover"))
        self.queue.append(lambda: self.request("PUT", "/allocations/" + consumer, 36, self.claim_body(
            36, consumer, None, self.resources(most=1)), note="after leftover"))

    def plot_shared_only(self):
        """One share and several computes: the unsuffixed group takes only from the share."""
        for sharer in [p for p in self.cloud.providers if p.sharing and "DISK_GB" in p.inventory]:
            amount = questions.amount_for(self.rng, sharer.inventory["DISK_GB"])
            if amount is None:
                continue
            for minor, more in ((39, ""), (34, "&limit=2"), (29, "")):
                self.queue.append(lambda a=amount, m=minor, q=more: self.request(
                    "GET", "/allocation_candidates?resources=DISK_GB:%d&resources1=VCPU:1%s" % (a, q), m))

    def plot_grown_amounts(self):
        """The same class in several groups without group_policy=none: 8.0.0 adds to one object twice."""
        for query in ("resources=VCPU:1&resources1=VCPU:1",
                      "resources=VCPU:1&resources1=VCPU:1&resources2=VCPU:1&group_policy=isolate",
                      "resources1=VCPU:1&resources2=VCPU:1&group_policy=isolate",
                      "resources=MEMORY_MB:64&resources1=VCPU:1,MEMORY_MB:64&limit=3"):
            self.queue.append(lambda q=query: self.request("GET", "/allocation_candidates?" + q, self.minor(29)))

    def plot_nested_sharing(self):
        """A child provider shares: 8.0.0 answers some queries with 500. Undone at the end."""
        children = [p for p in self.cloud.providers if p.parent and p.inventory]
        roots = [p for p in self.cloud.roots if "VCPU" in p.inventory or p.children]
        if not children or not roots:
            return
        uuid = self.rng.choice(children).uuid
        saved = {}

        def put(kind, value):
            def make():
                provider = self.cloud.by_uuid.get(uuid)
                if provider is None:
                    return None
                saved.setdefault(kind, getattr(provider, kind))
                return self.request("PUT", self.path(provider, "/" + kind), 39, {
                    kind: value(provider), "resource_provider_generation": provider.generation})
            return make

        self.queue.append(put("traits", lambda p: p.traits + [SHARES]))
        self.queue.append(put("aggregates", lambda p: self.aggregates[:3]))

        def ask(number):
            def make():
                provider = self.cloud.by_uuid.get(uuid)
                if provider is None or not provider.inventory:
                    return None
                rc = sorted(provider.inventory)[0]
                amount = questions.amount_for(self.rng, provider.inventory[rc]) or 1
                others = [p for p in self.cloud.roots if p is not provider.root and p.inventory]
                other = sorted(self.rng.choice(others).inventory)[0] if others else "VCPU"
                if other == rc or number == 0:
                    query = "resources=%s:%d" % (rc, amount)
                else:
                    query = "resources=%s:%d,%s:1" % (rc, amount, other)
                return self.request("GET", "/allocation_candidates?" + query, self.minor(29))
            return make

        self.queue.extend([ask(0), ask(1), ask(1), ask(1)])
        self.queue.append(put("traits", lambda p: saved["traits"]))
        self.queue.append(put("aggregates", lambda p: saved.get("aggregates", [])))

    def plot_listed(self):
        """Each of the small intended differences once, so that every run covers them."""
        self.queue.extend(lambda make=make: make(self) for make in listed.LISTED)

    def plot_walk_providers(self):
        """Every kind of read of one provider, at one version, as an exporter does."""
        minor = self.minor(11)
        provider = self.provider()
        for rest in ("", "/inventories", "/usages", "/aggregates", "/traits", "/allocations"):
            self.queue.append(lambda r=rest: self.request("GET", self.path(provider, r), minor))
