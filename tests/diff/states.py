"""The part of a walk that keeps the two databases in step after an intended difference, and compares the whole
state, read through the API of both."""

import urllib.parse

import compare
import conditions
from exchange import Request


def plain(method, target, minor=39):
    headers = [("X-Auth-Token", "admin"), ("OpenStack-API-Version", "placement 1.%d" % minor)]
    return Request(method, target, headers, None, "state", (1, minor))


class States:
    """Needs a walk's cloud, result, options, report(), ask_reference() and ask_subject(); self.other is berth's
    database."""

    def adopt(self, case):
        """The reference takes the rows that the intended difference affected from berth's database."""
        claims = conditions.claims_of(case) or []
        providers = {p for _, wanted in claims for p in wanted}
        for uuid, _ in claims:
            known = self.cloud.consumers.get(uuid)
            providers |= {a[0] for a in known.allocations} if known else set()
        reshape = case.request.path == "/reshaper"
        if reshape:
            providers |= set((case.body() or {}).get("inventories", {}))
        piece = case.request.path.split("/")
        if piece[1] == "resource_providers" and len(piece) > 2:
            providers.add(piece[2])
            reshape = True
        self.cloud.adopt(self.other, [uuid for uuid, _ in claims], sorted(providers), inventories=reshape)

    def drop_leftovers(self, request):
        if request.note == "keep leftover":
            return
        for uuid in self.cloud.leftovers():
            self.cloud.forget_consumer(uuid)
        self.cloud.refresh()

    def copy_state(self):
        """After a failure the reference copies berth's state, so that the rest of the walk is meaningful."""
        self.cloud.db.copy_all(self.other)
        self.cloud.refresh()

    def compare_states(self, number):
        """Reads everything through both APIs."""
        targets = ["/resource_providers", "/resource_classes", "/traits?name=startswith:CUSTOM_", "/traits?associated=true"]
        for p in self.cloud.providers:
            targets += ["/resource_providers/%s%s" % (p.uuid, rest)
                        for rest in ("/inventories", "/usages", "/aggregates", "/traits", "/allocations")]
        targets += ["/allocations/" + uuid for uuid in self.cloud.consumers]
        requests = [plain("GET", target) for target in targets]
        # from 1.38 on, the Python service's query is no PostgreSQL
        minor = 37 if self.cloud.db.kind == "postgresql" else 39
        requests += [plain("GET", "/usages?project_id=" + urllib.parse.quote(p, safe=""), minor)
                     for p in sorted({c.project for c in self.cloud.consumers.values()})]
        apart = False
        for request in requests:
            mine, other = self.ask_reference(request), self.ask_subject(request)
            self.result.state_reads += 1
            found = [d for d in compare.differences(request, mine, other) if not d[0].startswith("header ")]
            if found:
                self.result.failed += 1
                self.result.state_failures += 1
                self.report(number, request, mine, other, [("state", "", "after this step")] + found)
                apart = True
        if apart and not self.options.same:
            self.copy_state()
