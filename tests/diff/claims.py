"""Operations that claim, move, release and count resources, and queries for candidates: a mixin of Generator."""

import urllib.parse

import questions
from operations import op


class ClaimOperations:
    # -- allocations -------------------------------------------------------------------------------------------------

    def consumer(self, new=0.5):
        """(uuid, the model's consumer or None)"""
        known = sorted(self.cloud.consumers)
        if known and (self.rng.random() > new or len(known) > 25):
            uuid = self.rng.choice(known)
            return uuid, self.cloud.consumers[uuid]
        return self.uuid(), None

    def resources(self, most=3, freed=None):
        """{provider uuid: {class: amount}} that nearly always fits."""
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
        if rng.random() < 0.04:  # a class that does not exist, or too much
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
            if known and rng.random() < 0.35:  # moved or released, as in a migration
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
        """Moves one provider's class, with its allocations, to a child or sibling; or rewrites it unchanged."""
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
                continue  # left out although in use
            wanted = {}
            for provider, name, used in consumer.allocations:
                if moved and provider == source.uuid and name == rc:
                    provider = moved.uuid
                amounts = wanted.setdefault(provider, {})
                amounts[name] = amounts.get(name, 0) + used
            consumers[consumer.uuid] = self.claim_body(minor, consumer.uuid, consumer, wanted)
        body = {"inventories": inventories, "allocations": consumers}
        return self.request("POST", "/reshaper", minor, body)
