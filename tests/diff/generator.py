"""Creates the requests of one walk from a seed: mostly valid, some nearly valid, some hostile.

An operation is a method `op_*` with a weight and the microversions in which it makes sense. The version is drawn first,
so that every microversion is used often; then an operation that exists in it; then its arguments from the model of the
cloud. Plots (plots.py) send several requests in a row.
"""

import collections
import json

import hostile
from claims import ClaimOperations
from cloud import SHARES
from operations import NEWEST, STANDARD_TRAITS, ProviderOperations
from plots import Plots
from exchange import Request

FAVOURITES = (6, 7, 9, 13, 14, 18, 19, 20, 26, 28, 29, 30, 34, 36, 37, 38)  # those of real clients


class Generator(ProviderOperations, ClaimOperations, Plots):
    def __init__(self, rng, cloud):
        self.rng = rng
        self.cloud = cloud
        self.queue = collections.deque()
        self.claims = []  # candidates of recent answers: (allocations, mappings)
        self.counter = 0
        self.nested = rng.random() < 0.85
        self.target_providers = rng.randint(14, 24)
        self.operations = [
            (name, getattr(self, name)) for name in sorted(dir(self)) if name.startswith("op_")
        ]
        self.plots = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("plot_")]
        self.aggregates = [self.uuid() for _ in range(5)]
        self._found_cloud()
        # Every plot once in each walk, in random order; the walk decides when.
        self.waiting_plots = list(self.plots)
        rng.shuffle(self.waiting_plots)

    # -- small things ------------------------------------------------------------------------------------

    def uuid(self):
        text = "%032x" % self.rng.getrandbits(128)
        return "%s-%s-4%s-a%s-%s" % (text[:8], text[8:12], text[13:16], text[17:20], text[20:])

    def fresh(self, prefix):
        self.counter += 1
        return "%s_%d" % (prefix, self.counter)

    def minor(self, first=0):
        roll = self.rng.random()
        if roll < 0.5:
            return self.rng.randint(first, NEWEST)
        if roll < 0.8:
            return NEWEST
        return self.rng.choice([m for m in FAVOURITES if m >= first] or [NEWEST])

    def request(self, method, target, minor, body=None, note=""):
        headers = [("X-Auth-Token", "admin")]
        if minor == NEWEST and self.rng.random() < 0.25:
            headers.append(("OpenStack-API-Version", "placement latest"))
        elif minor > 0 or self.rng.random() < 0.6:
            headers.append(("OpenStack-API-Version", "placement 1.%d" % minor))
        if self.rng.random() < 0.3:
            headers.append(("Accept", self.rng.choice(("application/json", "*/*", "application/json;q=0.9"))))
        if body is not None:
            headers.append(("Content-Type", "application/json"))
            body = json.dumps(body).encode()
        return Request(method, target, headers, body, note, (1, minor))

    def provider(self, wanted=lambda p: True):
        """A provider, usually one as wanted; rarely one that does not exist."""
        if self.rng.random() < 0.02:
            return None
        good = [p for p in self.cloud.providers if wanted(p)] or self.cloud.providers
        return self.rng.choice(good) if good else None

    def path(self, provider, rest=""):
        return "/resource_providers/%s%s" % (provider.uuid if provider else self.uuid(), rest)

    def generation(self, provider):
        now = provider.generation if provider else 0
        return now if self.rng.random() < 0.93 else max(0, now + self.rng.choice((-1, 1, 5)))

    # -- the first requests: a cloud worth testing -----------------------------------------------------------

    def _found_cloud(self):
        rng, queue = self.rng, self.queue
        for number in range(4):
            queue.append(lambda n=number: self.request("PUT", "/traits/CUSTOM_T%d" % n, 39))
        for number in range(3):
            queue.append(lambda n=number: self.request("PUT", "/resource_classes/CUSTOM_C%d" % n, 39))
        for number in range(rng.randint(3, 5)):
            if self.nested and rng.random() < 0.7:
                self._found_tree(number)
            else:
                self._found_host("host%d" % number, None, ("VCPU", "MEMORY_MB", "DISK_GB"))
        for number in range(rng.randint(1, 2)):
            classes = ("DISK_GB",) if number == 0 else ("IPV4_ADDRESS", "DISK_GB")
            self._found_host("share%d" % number, None, classes, sharing=True)

    def _found_tree(self, number):
        rng = self.rng
        root = self._found_host("tree%d" % number, None, rng.choice((("DISK_GB",), ("MEMORY_MB", "DISK_GB"))))
        for numa in range(rng.randint(1, 2)):
            node = self._found_host("tree%d_numa%d" % (number, numa), root, ("VCPU", "MEMORY_MB"), small=True)
            for pf in range(rng.randint(0, 2)):
                name = "tree%d_numa%d_pf%d" % (number, numa, pf)
                self._found_host(name, node, (rng.choice(("SRIOV_NET_VF", "CUSTOM_C0")),), small=True)

    def _found_host(self, name, parent, classes, small=False, sharing=False):
        rng, queue, uuid = self.rng, self.queue, self.uuid()
        body = {"name": name, "uuid": uuid}
        if parent:
            body["parent_provider_uuid"] = parent
        traits = rng.sample(("CUSTOM_T0", "CUSTOM_T1", "CUSTOM_T2") + STANDARD_TRAITS, rng.randint(0, 3))
        if sharing:
            traits.append(SHARES)
        aggregates = rng.sample(self.aggregates[:3], rng.randint(1, 2)) if not parent or rng.random() < 0.3 else []
        inventories = {rc: self.inventory(rc, plain=rng.random() < 0.7) for rc in classes}
        queue.append(lambda: self.request("POST", "/resource_providers", 39 if parent else 20, body))
        queue.append(
            lambda: self.request(
                "PUT",
                "/resource_providers/%s/inventories" % uuid,
                39,
                {"resource_provider_generation": 0, "inventories": inventories},
            )
        )
        generation = 1
        if traits:
            queue.append(
                lambda g=generation: self.request(
                    "PUT",
                    "/resource_providers/%s/traits" % uuid,
                    39,
                    {"resource_provider_generation": g, "traits": traits},
                )
            )
            generation += 1
        if aggregates:
            queue.append(
                lambda g=generation: self.request(
                    "PUT",
                    "/resource_providers/%s/aggregates" % uuid,
                    39,
                    {"resource_provider_generation": g, "aggregates": aggregates},
                )
            )
        return uuid

    def inventory(self, rc, plain=False):
        """A record for one class, sometimes with unusual limits."""
        rng = self.rng
        total = {"VCPU": 16, "MEMORY_MB": 8192, "DISK_GB": 500}.get(rc, 8)
        record = {"total": total}
        if plain:
            return record
        if rng.random() < 0.5:
            record["reserved"] = rng.choice((0, 1, total // 4, total // 2))
        if rng.random() < 0.5:
            record["allocation_ratio"] = rng.choice((1.0, 1.5, 16.0, 0.5, 2, 4.0, 1.1, 0.7))
        if rng.random() < 0.3:
            record["min_unit"] = rng.choice((1, 2, 4))
        if rng.random() < 0.3:
            record["step_size"] = rng.choice((1, 2, 4, 64 if total > 100 else 2))
        if rng.random() < 0.4:
            record["max_unit"] = rng.choice((total, max(1, total // 2), 2147483647, max(1, total - 1)))
        if rng.random() < 0.1:
            record["total"] = rng.choice((1, 2, 3, 2147483647, 100000))
        return record

    # -- choosing --------------------------------------------------------------------------------------------

    def next(self):
        while self.queue:
            request = self.queue.popleft()()
            if request is not None:
                return request
        if self.waiting_plots and self.rng.random() < 0.02:
            self.waiting_plots.pop()()
            return self.next()
        if self.rng.random() < 0.01:
            self.rng.choice(self.plots)()
            return self.next()
        roll = self.rng.random()
        if roll < 0.035:
            return hostile.request(self)
        minor = self.minor()
        if roll < 0.05:  # an operation that may not exist in this version
            name, function = self.rng.choice(self.operations)
        else:
            able = [(n, f) for n, f in self.operations if f.first <= minor <= f.last]
            name, function = self.rng.choices(able, [f.weight for _, f in able])[0]
        request = function(minor)
        request.note = request.note or name
        roll = self.rng.random()
        if roll < 0.04 and request.body:
            return hostile.damage_body(self.rng, request)
        if roll < 0.07:
            return hostile.damage_request(self.rng, request)
        if roll < 0.08 and request.query:
            return hostile.damage_query(self.rng, request)
        return request
