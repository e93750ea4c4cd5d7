"""Operations on providers, inventories, classes and traits: a mixin of Generator.

Each `op_*` creates one request at the given microversion; its weight and the versions in which it makes sense are in
its decorator.
"""

import urllib.parse

import questions
from cloud import SHARES

NEWEST = 39
STANDARD_TRAITS = ("HW_CPU_X86_AVX2", "HW_CPU_X86_VMX", "STORAGE_DISK_SSD", "HW_NIC_SRIOV", "COMPUTE_NODE")


def op(weight, first=0, last=NEWEST):
    def mark(function):
        function.weight, function.first, function.last = weight, first, last
        return function

    return mark


class ProviderOperations:
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
        if rng.random() < 0.07:  # one that exists
            provider = self.provider(lambda p: bool(p.inventory))
            rc = rng.choice(sorted(provider.inventory)) if provider and provider.inventory else rc
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
            if now and now.used and rng.random() < 0.9:  # seldom below the current usage
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
        """A custom name that the cloud can do without (and none of the first ones, which everything uses)."""
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
