"""Makes the requests of one walk: seeded, valid in the main, some nearly valid, some hostile.

An operation is a method `op_*` with a weight and the microversions in which it makes sense. The version is
drawn first, so that every microversion is asked often; then an operation that exists in it; then its
arguments from the model of the cloud. Short plots (`plot_*`) ask several requests in a row that only
together reach a state worth asking about.
"""

import collections
import json
import urllib.parse

import hostile
import questions
from cloud import SHARES
from exchange import Request

NEWEST = 39
ZERO = "00000000-0000-0000-0000-000000000000"
STANDARD_TRAITS = ("HW_CPU_X86_AVX2", "HW_CPU_X86_VMX", "STORAGE_DISK_SSD", "HW_NIC_SRIOV", "COMPUTE_NODE")
FAVOURITES = (6, 7, 9, 13, 14, 18, 19, 20, 26, 28, 29, 30, 34, 36, 37, 38)  # what real clients ask


def op(weight, first=0, last=NEWEST):
    def mark(function):
        function.weight, function.first, function.last = weight, first, last
        return function

    return mark


class Generator:
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
        # Every plot once in a walk, in a random order; the walk decides when.
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
        """A provider, most often one as wanted; rarely one that is not there."""
        if self.rng.random() < 0.02:
            return None
        good = [p for p in self.cloud.providers if wanted(p)] or self.cloud.providers
        return self.rng.choice(good) if good else None

    def path(self, provider, rest=""):
        return "/resource_providers/%s%s" % (provider.uuid if provider else self.uuid(), rest)

    def generation(self, provider):
        now = provider.generation if provider else 0
        return now if self.rng.random() < 0.93 else max(0, now + self.rng.choice((-1, 1, 5)))

    # -- the first requests: a cloud worth asking -----------------------------------------------------------

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
        """A record for one class; odd in its limits now and then."""
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
        if roll < 0.05:  # an operation that may not exist yet, or no more, in this version
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

    # -- root, providers -------------------------------------------------------------------------------------

    @op(1.3)
    def op_root(self, minor):
        return self.request("GET", "/", minor)

    @op(4)
    def op_list_providers(self, minor):
        rng, cloud, pairs = self.rng, self.cloud, []
        some = self.provider()
        if some and rng.random() < 0.2:
            pairs.append("name=" + urllib.parse.quote(some.name, safe=""))
        if some and rng.random() < 0.15:
            pairs.append("uuid=" + some.uuid)
        if minor >= 3 and cloud.aggregates and rng.random() < 0.35:
            one = rng.choice(cloud.aggregates)
            forms = [one, "in:" + ",".join(rng.sample(cloud.aggregates, min(2, len(cloud.aggregates))))]
            if minor >= 32:
                forms += ["!" + one, "!in:" + ",".join(cloud.aggregates[:2])]
            pairs.append("member_of=" + rng.choice(forms))
            if minor >= 24 and rng.random() < 0.3:
                pairs.append("member_of=" + rng.choice(forms))
        if minor >= 4 and some and some.inventory and rng.random() < 0.45:
            wanted = []
            for rc in rng.sample(sorted(some.inventory), rng.randint(1, min(2, len(some.inventory)))):
                amount = questions.amount_for(rng, some.inventory[rc]) or 1
                wanted.append("%s:%d" % (rc, amount))
            pairs.append("resources=" + ",".join(wanted))
        if minor >= 14 and some and rng.random() < 0.2:
            pairs.append("in_tree=" + some.uuid)
        if minor >= 18 and some and rng.random() < 0.35:
            have = some.traits or ["CUSTOM_T0"]
            value = rng.choice(have)
            if minor >= 22 and rng.random() < 0.4:
                value += ",!" + rng.choice(STANDARD_TRAITS + ("CUSTOM_T3",))
            if minor >= 39 and rng.random() < 0.4:
                value = "in:" + ",".join([rng.choice(have), "CUSTOM_T1"])
            pairs.append("required=" + value)
            if rng.random() < 0.1:
                pairs.append("required=" + rng.choice(have))
        return self.request("GET", "/resource_providers" + ("?" + "&".join(pairs) if pairs else ""), minor)

    @op(3)
    def op_create_provider(self, minor):
        rng = self.rng
        if len(self.cloud.providers) >= self.target_providers and rng.random() < 0.75:
            return self.op_delete_provider(minor)
        uuid = self.uuid()
        spelling = rng.choice((uuid,) * 8 + (uuid.upper(), uuid.replace("-", "")))
        body = {"name": self.fresh("rp"), "uuid": spelling}
        if rng.random() < 0.06:
            taken = self.provider()
            if taken:
                body[rng.choice(("name", "uuid"))] = rng.choice((taken.name, taken.uuid))
        if minor >= 14 and rng.random() < 0.65:
            parent = self.provider(lambda p: not p.sharing)
            body["parent_provider_uuid"] = parent.uuid if parent else rng.choice((None, self.uuid()))
        return self.request("POST", "/resource_providers", minor, body)

    @op(3)
    def op_show_provider(self, minor):
        return self.request("GET", self.path(self.provider()), minor)

    @op(2)
    def op_update_provider(self, minor):
        rng, provider = self.rng, self.provider(lambda p: not p.sharing)
        body = {"name": self.fresh("renamed") if rng.random() < 0.6 or not provider else provider.name}
        if minor >= 14 and provider and rng.random() < 0.5:
            body["parent_provider_uuid"] = provider.parent.uuid if provider.parent else None
            if rng.random() < 0.4:
                other = self.provider(lambda p: not p.sharing)
                body["parent_provider_uuid"] = other.uuid if other and rng.random() < 0.85 else None
        if rng.random() < 0.05 and self.cloud.providers:
            body["name"] = rng.choice(self.cloud.providers).name
        return self.request("PUT", self.path(provider), minor, body)

    @op(1.4)
    def op_delete_provider(self, minor):
        def idle(p):
            return not p.children and not any(i.used for i in p.inventory.values())

        few = len(self.cloud.providers) < self.target_providers - 6
        if few and self.rng.random() < 0.8:
            return self.op_create_provider(minor)
        wanted = idle if self.rng.random() < 0.85 else (lambda p: True)
        return self.request("DELETE", self.path(self.provider(wanted)), minor)

    # -- inventories -----------------------------------------------------------------------------------------

    def some_class(self):
        return self.rng.choice(
            ["VCPU", "MEMORY_MB", "DISK_GB", "SRIOV_NET_VF", "IPV4_ADDRESS", "PCPU"] + self.cloud.custom_classes
        )

    @op(1.5)
    def op_list_inventories(self, minor):
        return self.request("GET", self.path(self.provider(), "/inventories"), minor)

    @op(1.8)
    def op_add_inventory(self, minor):
        rng, provider = self.rng, self.provider(lambda p: len(p.inventory) < 3)
        free = [rc for rc in (self.some_class() for _ in range(6)) if not provider or rc not in provider.inventory]
        rc = rng.choice(free) if free and rng.random() < 0.93 else self.some_class()
        body = dict(self.inventory(rc), resource_class=rc)
        if rng.random() < 0.4:
            body["resource_provider_generation"] = self.generation(provider)
        return self.request("POST", self.path(provider, "/inventories"), minor, body)

    @op(3)
    def op_set_inventories(self, minor):
        rng, provider = self.rng, self.provider()
        classes = {rc for rc, i in provider.inventory.items() if i.used or rng.random() < 0.7} if provider else set()
        if rng.random() < 0.03:
            classes = set()
        if (not classes or rng.random() < 0.3) and len(classes) < 4:
            classes.add(self.some_class())
        inventories = {}
        for rc in sorted(classes):
            inventories[rc] = self.inventory(rc)
            now = provider.inventory.get(rc) if provider else None
            if now and now.used and rng.random() < 0.9:  # seldom below what is used
                inventories[rc] = {"total": max(now.total, now.used)}
        body = {"resource_provider_generation": self.generation(provider), "inventories": inventories}
        return self.request("PUT", self.path(provider, "/inventories"), minor, body)

    @op(1, first=5)
    def op_drop_inventories(self, minor):
        wanted = (lambda p: not any(i.used for i in p.inventory.values())) if self.rng.random() < 0.8 else (
            lambda p: bool(p.inventory))
        return self.request("DELETE", self.path(self.provider(wanted), "/inventories"), minor)

    def _stocked(self):
        provider = self.provider(lambda p: bool(p.inventory))
        known = sorted(provider.inventory) if provider else []
        rc = self.rng.choice(known) if known and self.rng.random() < 0.95 else self.some_class()
        return provider, rc

    @op(1.5)
    def op_show_inventory(self, minor):
        provider, rc = self._stocked()
        return self.request("GET", self.path(provider, "/inventories/" + rc), minor)

    @op(2)
    def op_update_inventory(self, minor):
        provider, rc = self._stocked()
        body = dict(self.inventory(rc), resource_provider_generation=self.generation(provider))
        now = provider.inventory.get(rc) if provider else None
        if now and now.used and self.rng.random() < 0.85:
            body = {"total": max(now.total, now.used), "resource_provider_generation": provider.generation}
        return self.request("PUT", self.path(provider, "/inventories/" + rc), minor, body)

    @op(1.2)
    def op_drop_inventory(self, minor):
        provider, rc = self._stocked()
        if provider and rc in provider.inventory and self.rng.random() < 0.7:
            idle = [c for c, i in sorted(provider.inventory.items()) if not i.used]
            rc = self.rng.choice(idle) if idle else rc
        return self.request("DELETE", self.path(provider, "/inventories/" + rc), minor)

    # -- usages, aggregates, traits of a provider ----------------------------------------------------------------

    @op(1.4)
    def op_provider_usages(self, minor):
        return self.request("GET", self.path(self.provider(), "/usages"), minor)

    @op(1.3)
    def op_provider_allocations(self, minor):
        return self.request("GET", self.path(self.provider(), "/allocations"), minor)

    @op(1.3, first=1)
    def op_list_aggregates(self, minor):
        return self.request("GET", self.path(self.provider(), "/aggregates"), minor)

    @op(2, first=1)
    def op_set_aggregates(self, minor):
        rng, provider = self.rng, self.provider()
        chosen = rng.sample(self.aggregates, rng.choice((0, 1, 1, 2, 2, 3)))
        body = chosen
        if minor >= 19:
            body = {"aggregates": chosen, "resource_provider_generation": self.generation(provider)}
        return self.request("PUT", self.path(provider, "/aggregates"), minor, body)

    @op(1.2, first=6)
    def op_provider_traits(self, minor):
        return self.request("GET", self.path(self.provider(), "/traits"), minor)

    @op(2.2, first=6)
    def op_set_provider_traits(self, minor):
        rng, provider = self.rng, self.provider()
        pool = [t for t in list(STANDARD_TRAITS) + self.cloud.custom_traits if t != SHARES]
        traits = rng.sample(pool, min(len(pool), rng.choice((0, 1, 2, 3))))
        if provider and provider.sharing and rng.random() < 0.9:
            traits.append(SHARES)
        elif provider and not provider.parent and not provider.children and rng.random() < 0.04:
            traits.append(SHARES)
        if rng.random() < 0.03:
            traits += ["CUSTOM_NOT_THERE", "HW_NOT_THERE"][: rng.randint(1, 2)]
        body = {"resource_provider_generation": self.generation(provider), "traits": traits}
        return self.request("PUT", self.path(provider, "/traits"), minor, body)

    @op(1, first=6)
    def op_drop_provider_traits(self, minor):
        return self.request("DELETE", self.path(self.provider(lambda p: not p.sharing), "/traits"), minor)

    # -- classes and traits ----------------------------------------------------------------------------------------

    def _class(self, missing=0.05):
        rng, names = self.rng, sorted(self.cloud.classes.values())
        if rng.random() < missing:
            return "CUSTOM_MISSING"
        return rng.choice(self.cloud.custom_classes or names) if rng.random() < 0.6 else rng.choice(names)

    def _spare(self, names, kept):
        """A custom name that the cloud can do without (and none of the first, which everything uses)."""
        spare = [n for n in names if not n.startswith(kept)]
        return self.rng.choice(spare) if spare and self.rng.random() < 0.85 else self.rng.choice(names + ["VCPU"])

    @op(1, first=2)
    def op_list_classes(self, minor):
        return self.request("GET", "/resource_classes", minor)

    @op(1.1, first=2)
    def op_create_class(self, minor):
        rng, customs = self.rng, self.cloud.custom_classes
        name = self.fresh("CUSTOM_RC") if rng.random() < 0.85 else rng.choice(customs + ["VCPU"])
        return self.request("POST", "/resource_classes", minor, {"name": name})

    @op(1.1, first=2)
    def op_show_class(self, minor):
        return self.request("GET", "/resource_classes/" + self._class(), minor)

    @op(1.2, first=2)
    def op_put_class(self, minor):
        rng, customs = self.rng, self.cloud.custom_classes
        if minor >= 7:
            name = self.fresh("CUSTOM_RC") if rng.random() < 0.5 else rng.choice(customs + ["VCPU", "CUSTOM_bad"])
            return self.request("PUT", "/resource_classes/" + name, minor)
        name = self._spare(customs, "CUSTOM_C")
        return self.request("PUT", "/resource_classes/" + name, minor, {"name": self.fresh("CUSTOM_RENAMED")})

    @op(1.2, first=2)
    def op_delete_class(self, minor):
        name = self._spare(self.cloud.custom_classes, "CUSTOM_C")
        return self.request("DELETE", "/resource_classes/" + name, minor)

    @op(1.2, first=6)
    def op_list_traits(self, minor):
        rng = self.rng
        query = rng.choice(
            ("?name=startswith:CUSTOM", "?name=in:CUSTOM_T0,HW_CPU_X86_AVX2,NOPE", "?associated=true",
             "?associated=False&name=startswith:CUSTOM", "?name=startswith:HW_CPU_X86&associated=true", "")
        )
        return self.request("GET", "/traits" + query, minor)

    @op(1.1, first=6)
    def op_show_trait(self, minor):
        names = self.cloud.custom_traits + list(STANDARD_TRAITS)
        name = self.rng.choice(names) if self.rng.random() < 0.93 else "CUSTOM_MISSING"
        return self.request("GET", "/traits/" + name, minor)

    @op(1.3, first=6)
    def op_put_trait(self, minor):
        rng = self.rng
        name = self.fresh("CUSTOM_TRAIT") if rng.random() < 0.5 else rng.choice(self.cloud.custom_traits + ["HW_X"])
        return self.request("PUT", "/traits/" + name, minor)

    @op(1.2, first=6)
    def op_delete_trait(self, minor):
        name = self._spare(self.cloud.custom_traits, ("CUSTOM_T0", "CUSTOM_T1", "CUSTOM_T2", "CUSTOM_T3"))
        return self.request("DELETE", "/traits/" + name, minor)

    # -- allocations -------------------------------------------------------------------------------------------------

    def consumer(self, new=0.5):
        """(uuid, the model's consumer or None)"""
        known = sorted(self.cloud.consumers)
        if known and (self.rng.random() > new or len(known) > 25):
            uuid = self.rng.choice(known)
            return uuid, self.cloud.consumers[uuid]
        return self.uuid(), None

    def resources(self, most=3, freed=None):
        """{provider uuid: {class: amount}} that fits nearly always."""
        rng, chosen = self.rng, {}
        if self.claims and rng.random() < 0.3:
            allocations = rng.choice(self.claims)
            if all(uuid in self.cloud.by_uuid for uuid in allocations):
                return {uuid: dict(r) for uuid, r in allocations.items()}
        root = rng.choice(self.cloud.roots) if self.cloud.roots else None
        pool = self.cloud.tree(root) + [p for p in self.cloud.providers if p.sharing and p.root is not root]
        offers = [(p, rc) for p in pool for rc in p.inventory]
        rng.shuffle(offers)
        for provider, rc in offers[:most]:
            amount = questions.amount_for(rng, provider.inventory[rc])
            if amount is not None and amount <= 2147483647:
                chosen.setdefault(provider.uuid, {})[rc] = amount
        if not chosen:
            free = [(p, rc) for p in self.cloud.providers for rc in p.inventory
                    if questions.amount_for(rng, p.inventory[rc])]
            if free:
                provider, rc = rng.choice(free)
                chosen[provider.uuid] = {rc: questions.amount_for(rng, provider.inventory[rc])}
        if rng.random() < 0.04:  # of a class that is not there, or too much
            provider = self.provider()
            chosen.setdefault(provider.uuid if provider else self.uuid(), {})[self.some_class()] = rng.choice((1, 9999))
        if not chosen:
            chosen[self.uuid()] = {"VCPU": 1}
        return chosen

    def claim_body(self, minor, uuid, known, resources):
        """The value of one consumer, for PUT and (from 1.13) POST."""
        rng = self.rng
        if minor < 12:
            body = {"allocations": [
                {"resource_provider": {"uuid": p}, "resources": r} for p, r in resources.items()]}
        else:
            body = {"allocations": {p: {"resources": r} for p, r in resources.items()}}
            if rng.random() < 0.1:
                for p, value in body["allocations"].items():
                    value["generation"] = rng.randint(0, 9)
        if minor >= 8:
            body["project_id"] = known.project if known and rng.random() < 0.8 else "project%d" % rng.randint(1, 4)
            body["user_id"] = known.user if known and rng.random() < 0.8 else "user%d" % rng.randint(1, 4)
        if minor >= 28:
            body["consumer_generation"] = known.generation if known else None
            if rng.random() < 0.05:
                body["consumer_generation"] = rng.choice((None, 0, 1, 7))
        if minor >= 34 and rng.random() < 0.3:
            body["mappings"] = {"": list(resources), "_G1": [sorted(resources)[0]]} if resources else {"": [uuid]}
        if minor >= 38:
            body["consumer_type"] = rng.choice(("INSTANCE", "MIGRATION", "VOLUME_2"))
        return body

    @op(7)
    def op_claim(self, minor):
        uuid, known = self.consumer()
        resources = self.resources()
        if minor >= 28 and self.rng.random() < 0.06:
            resources = {}
        body = self.claim_body(minor, uuid, known, resources)
        spelling = uuid if self.rng.random() < 0.96 else self.rng.choice((uuid.upper(), uuid.replace("-", "")))
        return self.request("PUT", "/allocations/" + spelling, minor, body)

    @op(2.2)
    def op_show_allocations(self, minor):
        uuid, _ = self.consumer(new=0.1)
        return self.request("GET", "/allocations/" + uuid, minor)

    @op(1.6)
    def op_delete_allocations(self, minor):
        uuid, _ = self.consumer(new=0.06)
        return self.request("DELETE", "/allocations/" + uuid, minor)

    @op(2.4, first=13)
    def op_claim_many(self, minor):
        rng, body = self.rng, {}
        for _ in range(rng.choice((1, 2, 2, 3))):
            uuid, known = self.consumer(new=0.4)
            resources = self.resources(most=2)
            if known and rng.random() < 0.35:  # moved or given up, as in a migration
                resources = {} if rng.random() < 0.5 else resources
            body[uuid] = self.claim_body(minor, uuid, known, resources)
        return self.request("POST", "/allocations", minor, body)

    @op(2, first=9)
    def op_usages(self, minor):
        rng = self.rng
        projects = sorted({c.project for c in self.cloud.consumers.values()}) or ["project1"]
        project = rng.choice(projects) if rng.random() < 0.93 else "nobody"
        query = "project_id=" + urllib.parse.quote(project, safe="")
        if rng.random() < 0.4:
            users = sorted({c.user for c in self.cloud.consumers.values()}) or ["user1"]
            query += "&user_id=" + urllib.parse.quote(rng.choice(users), safe="")
        if minor >= 38 and rng.random() < 0.6:
            query += "&consumer_type=" + rng.choice(("INSTANCE", "MIGRATION", "unknown", "all", "NOTHING"))
        return self.request("GET", "/usages?" + query, minor)

    @op(17, first=10)
    def op_candidates(self, minor):
        return self.request("GET", questions.candidates_question(self.rng, self.cloud, minor), minor)

    @op(2, first=30)
    def op_reshape(self, minor):
        """Moves one provider's class, with what is used of it, to a child or sibling; or rewrites as it is."""
        rng, cloud = self.rng, self.cloud
        stocked = [p for p in cloud.providers if p.inventory]
        if not stocked:
            return self.op_root(minor)
        source = rng.choice(stocked)
        rc = rng.choice(sorted(source.inventory))
        others = [p for p in cloud.tree(source.root) if p is not source and rc not in p.inventory]
        inventories, consumers = {}, {}

        def stock(provider, leave_out=None, add=None):
            records = {}
            for name, i in provider.inventory.items():
                if name != leave_out:
                    records[name] = {"total": i.total, "reserved": i.reserved, "min_unit": i.min_unit,
                                     "max_unit": i.max_unit, "step_size": i.step, "allocation_ratio": i.ratio}
            if add:
                i = source.inventory[add]
                records[add] = {"total": i.total, "reserved": i.reserved, "allocation_ratio": i.ratio,
                                "min_unit": i.min_unit, "max_unit": i.max_unit, "step_size": i.step}
            inventories[provider.uuid] = {
                "inventories": records, "resource_provider_generation": self.generation(provider)}

        moved = rng.choice(others) if others and rng.random() < 0.8 else None
        stock(source, leave_out=rc if moved else None)
        if moved:
            stock(moved, add=rc)
        for consumer in list(cloud.consumers.values()):
            if not any(a[0] == source.uuid and a[1] == rc for a in consumer.allocations):
                continue
            if rng.random() < 0.03:
                continue  # forgotten: inventory in use
            wanted = {}
            for provider, name, used in consumer.allocations:
                if moved and provider == source.uuid and name == rc:
                    provider = moved.uuid
                amounts = wanted.setdefault(provider, {})
                amounts[name] = amounts.get(name, 0) + used
            consumers[consumer.uuid] = self.claim_body(minor, consumer.uuid, consumer, wanted)
        body = {"inventories": inventories, "allocations": consumers}
        return self.request("POST", "/reshaper", minor, body)

    # -- plots -----------------------------------------------------------------------------------------------------

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
        """A claim refused for an unknown provider, and an empty write for a new consumer: 8.0.0 leaves a
        consumer of generation 0 behind, which refuses the next claim with generation null."""
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
        """A child provider shares: 8.0.0 answers some questions with 500. Undone at the end."""
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
        """Each of the small intended differences once, so that every run judges them."""
        self.queue.extend(lambda make=make: make(self) for make in hostile.LISTED)

    def plot_walk_providers(self):
        """Every kind of read of one provider, at one version: what an exporter does."""
        minor = self.minor(11)
        provider = self.provider()
        for rest in ("", "/inventories", "/usages", "/aggregates", "/traits", "/allocations"):
            self.queue.append(lambda r=rest: self.request("GET", self.path(provider, r), minor))
