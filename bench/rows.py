"""The rows of the table of goals for berth: what each compares, and whether it is met.

A row is (group, what, goal, figure, met). met is None if something was not measured."""

import collections

from targets import good_rate

Row = collections.namedtuple("Row", "group what goal figure met")

# question, title, times less CPU than the Python service
CPU_ROWS = (
    ("get_one", "GET /resource_providers/{uuid}", 300),
    ("flat_10", "candidates, 1 000 hosts, limit=10", 5000),
    ("flat_all", "candidates, 1 000 hosts, no limit", 400),
    ("nested_10", "nested, same_subtree, limit=10", 3000),
    ("nested_all", "nested, same_subtree, no limit", 300),
    ("list_all", "GET /resource_providers?resources&required", 150),
    ("usages", "GET /usages?project_id=", 300),
)
ABSOLUTE_ROWS = (
    ("flat_10", "candidates, 1 000 hosts, limit=10", 30),
    ("flat10k_10", "candidates, 10 000 hosts, limit=10", 40),
    ("flat1m_10", "candidates, 1 000 000 hosts, limit=10", 1000),
)
WRITE_ROWS = (
    ("claim", "claim, 16 connections", "16", 30),
    ("claim", "claim, 256 connections", "256", 100),
    ("claim_one", "claims all on one host, 16 connections", "16", 40),
    ("post_shared", "POSTs over shared hosts, 16 connections", "16", 150),
)


# The database servers, by their names in the results: the title with which the groups of their rows begin, and the client
# library.
SERVERS = {"postgres": ("PostgreSQL", "libpq"), "mariadb": ("MariaDB", "libmariadb")}

PAIRS = (("claim_one", "claim"), ("post_shared", "post_disjoint"))


class Table:
    def __init__(self, results):
        self.cells = results["cells"]
        self.commits = results.get("berth_commits", {})
        self.facts = results["facts"]
        self.turns = results.get("beside", {})
        self.server_facts = {server: results.get(server, {}).get("facts", {}) for server in SERVERS}
        self.rows = []

    def cell(self, target, question, connections):
        return self.cells.get(target, {}).get(question, {}).get(str(connections))

    def beside(self, question, kind, connections):
        """The limit's cell that was measured alternately with the question's."""
        return self.turns.get(question, {}).get(str(connections), {}).get(kind) or self.limit(
            kind, (self.cell("berth", question, connections) or {"answer_bytes": 0})["answer_bytes"], connections)

    def limit(self, kind, size, connections):
        """The cell of the limit whose answer is nearest in size."""
        sizes = self.cells.get(kind, {})
        if not sizes:
            return None
        nearest = min(sizes, key=lambda s: abs(int(s) - size))
        return sizes[nearest].get(str(connections))

    def against_reference(self, question):
        """The Python service's CPU divided by berth's, and both in µs: measured alternately if such figures exist."""
        turns = self.facts.get("berth", {}).get("beside_reference", {}).get(question)
        berth, reference = self.cell("berth", question, 16), self.cell("reference", question, 16)
        if turns:
            return turns
        if not berth or not reference:
            return None, None, None
        return reference["cpu_us"] / berth["cpu_us"], reference["cpu_us"], berth["cpu_us"]

    def add(self, group, what, goal, needed, figure, met):
        """needed: figures that the row depends on; figure and met are functions."""
        if any(x is None for x in needed):
            self.rows.append(Row(group, what, goal, "not measured", None))
        else:
            self.rows.append(Row(group, what, goal, figure(), bool(met())))

    def at_one(self, title, question, bound_16):
        """At one connection the bound is bare libmicrohttpd's CPU plus the same difference."""
        berth = self.cell("berth", question, 1)
        bare_1, bare_16 = self.beside(question, "http", 1), self.beside(question, "http", 16)
        needed = [berth, bare_1, bare_16, bound_16]
        bound = (bare_1["cpu_us"] + bound_16 - bare_16["cpu_us"]) if None not in needed else 0
        self.add(title, "CPU at 1 connection",
                 f"≤ {bound:.1f} µs" if bound else "bare libmicrohttpd's + the same difference",
                 needed, lambda: f"{berth['cpu_us']:.1f} µs", lambda: berth["cpu_us"] <= bound)

    def cpu_ratios(self):
        for question, title, times in CPU_ROWS:
            ratio, reference_us, own_us = self.against_reference(question)
            self.add(title, "CPU against the Python service", f"≥ {times} times less", [ratio],
                     lambda: f"{ratio:.0f} times ({reference_us:.0f} / {own_us:.1f} µs)", lambda: ratio >= times)
            self.at_one(title, question, reference_us and reference_us / times)

    def absolutes(self):
        for question, title, bound in ABSOLUTE_ROWS:
            berth = self.cell("berth", question, 16)
            self.add(title, "CPU", f"≤ {bound} µs", [berth], lambda: f"{berth['cpu_us']:.1f} µs",
                     lambda: berth["cpu_us"] <= bound)
            self.at_one(title, question, bound)

    def limits(self):
        berth = self.cell("berth", "get_one", 16)
        bare = self.beside("get_one", "http", 16)
        self.add(CPU_ROWS[0][1], "requests/s against bare libmicrohttpd", "≥ 60 %", [berth, bare],
                 lambda: f"{100 * berth['rps'] / bare['rps']:.0f} % ({berth['rps']:.0f} / "
                         f"{bare['rps']:.0f})", lambda: berth["rps"] >= 0.6 * bare["rps"])
        for question, title in (("flat_all", CPU_ROWS[2][1]), ("list_all", CPU_ROWS[5][1])):
            cell = self.cell("berth", question, 16)
            bytes_cell = self.beside(question, "socket", 16)
            self.add(title, "CPU against writing the bytes", "≤ 3 times", [cell, bytes_cell],
                     lambda: f"{cell['cpu_us'] / bytes_cell['cpu_us']:.2f} times "
                             f"({cell['cpu_us']:.0f} / {bytes_cell['cpu_us']:.0f} µs)",
                     lambda: cell["cpu_us"] <= 3 * bytes_cell["cpu_us"])
        few, many = self.cell("berth", "usages", 16), self.cell("berth", "usages_1m", 16)
        self.add(CPU_ROWS[6][1], "1 000 000 allocations against 100", "the same (≤ 1.25 times)",
                 [few, many], lambda: f"{many['cpu_us'] / few['cpu_us']:.2f} times "
                 f"({many['cpu_us']:.1f} / {few['cpu_us']:.1f} µs)",
                 lambda: many["cpu_us"] <= 1.25 * few["cpu_us"])

    def wide(self):
        title = "wide tree: 8 groups over 8 devices of 8 units, limit 1000"
        for policy in ("isolate", "none"):
            cell = self.cell("berth", f"wide_{policy}", 1)
            self.add(title, f"group_policy={policy}, p99 at 1 connection", "≤ 10 ms", [cell],
                     lambda: f"{cell['p99_us'] / 1000:.2f} ms", lambda: cell["p99_us"] <= 10000)
            crowd = self.cell("berth", f"wide_{policy}", 16)
            self.add(title, f"group_policy={policy}, memory gained while asked",
                     "bounded (≤ 64 MiB)", [crowd],
                     lambda: f"{crowd['rss_growth_bytes'] / 2**20:.1f} MiB",
                     lambda: crowd["rss_growth_bytes"] <= 64 << 20)

    def groups(self):
        """One group more than most hosts have devices; without the matching most cases would never end."""
        cases = self.facts.get("berth", {}).get("groups") or []
        for devices in (8, 16, 64):
            for policy in ("isolate", "none"):
                mine = [c for c in cases if (c["devices"], c["policy"]) == (devices, policy)]
                worst = max(mine, key=lambda c: c["cpu_ms"]) if mine else None
                self.add(f"{devices + 1} groups of one device, 1 000 hosts of {devices}, group_policy={policy}",
                         "CPU of the search, the worst of 12 (all free or one in use, alike or different traits, "
                         "no host or one that can)", "≤ 10 ms, and exact", [worst],
                         lambda: f"{worst['cpu_ms']:.2f} ms ({worst['traits']})",
                         lambda: worst["cpu_ms"] <= 10 and all(
                             c["ended"] and c["found"] == (c["better"] > 0) for c in mine))

    def writes(self):
        for question, title, c, times in WRITE_ROWS:
            berth, reference = self.cell("berth", question, c), self.cell("reference", question, c)
            self.add(title, "requests/s against the Python service", f"≥ {times} times",
                     [berth, reference],
                     lambda: f"{good_rate(berth) / max(good_rate(reference), 0.001):.0f} times "
                             f"({good_rate(berth):.0f} / {good_rate(reference):.1f})",
                     lambda: good_rate(berth) >= times * good_rate(reference))
            raw = self.commits.get(c)
            if question == "claim":
                self.add(title, "against raw commits batched alike", "≥ 50 %", [berth, raw],
                         lambda: f"{100 * good_rate(berth) / raw['claims_per_s']:.0f} % "
                                 f"({good_rate(berth):.0f} / {raw['claims_per_s']:.0f}, "
                                 f"{raw['mean_batch']:.1f} in a batch)",
                         lambda: good_rate(berth) >= 0.5 * raw["claims_per_s"])
        for (narrow, broad), title in zip(PAIRS, (WRITE_ROWS[2][1], WRITE_ROWS[3][1])):
            ratio = self.facts.get("berth", {}).get("turns", {}).get(narrow)
            self.add(title, "against disjoint hosts, in turns", "no slower (≥ 95 %)", [ratio],
                     lambda: f"{100 * ratio:.0f} %", lambda: ratio >= 0.95)
        units = self.facts.get("berth", {}).get("last_units")
        self.add(WRITE_ROWS[2][1], "the last 160 units of a host", "160 given", [units],
                 lambda: f"{units['answered']} answered, {units['used']} used",
                 lambda: units["answered"] == 160 and units["used"] == 160)

    def others(self):
        berth, reference = self.facts.get("berth", {}), self.facts.get("reference", {})
        ours, theirs = berth.get("rss_bytes"), reference.get("rss_bytes")
        self.add("resident memory", "against the Python service, 1 000 hosts", "≤ 1/10",
                 [ours, theirs], lambda: f"1/{theirs / ours:.1f} ({ours / 2**20:.1f} / "
                 f"{theirs / 2**20:.0f} MiB)", lambda: ours * 10 <= theirs)
        memory = berth.get("memory") or {}
        for key, what, bound in (("idle", "idle", 16 << 20), ("host", "a host", 1024),
                                 ("allocation", "an allocation", 256),
                                 ("connection", "an open connection", 128 << 10)):
            got = memory.get(key)
            self.add("resident memory", what, f"≤ {bound_text(bound)}", [got],
                     lambda: bound_text(got), lambda: got <= bound)
        ready = berth.get("ready_s")
        self.add("start to ready", "10 000 hosts, 100 000 allocations", "≤ 0.5 s", [ready],
                 lambda: f"{ready:.3f} s", lambda: ready <= 0.5)
        lane = berth.get("slow_lane")
        self.add("slow lane", "p99 of GET one provider beside 4 pathological queries",
                 "at most doubles, or ≤ 5 ms", [lane],
                 lambda: f"{lane['alone_us'] / 1000:.2f} → {lane['beside_us'] / 1000:.2f} ms",
                 lambda: lane["beside_us"] <= max(5000, 2 * lane["alone_us"]))
        self.add("slow lane", "queries whose client has gone", "stop (≤ 0.1 s CPU in a second)",
                 [lane], lambda: f"{lane['left_running_cpu_s']:.2f} s",
                 lambda: lane["left_running_cpu_s"] <= 0.1)

    def baremetal(self):
        """The databases are in memory, since commits are not compared."""
        berth = self.facts.get("berth", {}).get("baremetal")
        reference = self.facts.get("reference", {}).get("baremetal")
        group, nodes = "bare metal, 10 000 nodes, 16 connections", "list of all nodes, in pages of 1 000"
        own = berth and berth["allocate"]
        theirs = reference and reference["allocate"]
        paced = berth and berth["paced"]
        self.add(group, "allocation, POST to active, p99 at 400 a second", "≤ 20 ms", [berth],
                 lambda: f"{paced['p99_ms']:.1f} ms ({paced['per_s']:.0f} a second)",
                 lambda: paced["p99_ms"] <= 20 and paced["per_s"] >= 200)
        self.add(group, "allocations/s, each awaited and then deleted", "≥ 200", [berth], lambda: f"{own['per_s']:.0f}",
                 lambda: own["per_s"] >= 200)
        self.add(group, "allocations/s against Ironic", "reported", [berth, reference],
                 lambda: f"{own['per_s'] / theirs['per_s']:.0f} times ({own['per_s']:.0f} / {theirs['per_s']:.1f}); p99 "
                         f"{own['p99_ms']:.0f} / {theirs['p99_ms']:.0f} ms", lambda: own["per_s"] > theirs["per_s"])
        self.add(group, nodes + ", CPU against Ironic", "reported", [berth, reference],
                 lambda: f"{reference['list']['cpu_ms'] / berth['list']['cpu_ms']:.0f} times "
                         f"({reference['list']['cpu_ms']:.0f} / {berth['list']['cpu_ms']:.1f} ms); "
                         f"until read {reference['list']['ms']:.0f} / {berth['list']['ms']:.0f} ms",
                 lambda: reference["list"]["cpu_ms"] > berth["list"]["cpu_ms"])

    def valet(self):
        for level, facts in sorted((self.facts.get("berth", {}).get("valet") or {"80": None, "99": None}).items()):
            group = f"plans of 20 servers, 1 000 hosts {level} % full, beside 16 clients that claim"
            plan, beside, impossible = (facts and facts[part] for part in ("plan", "beside", "impossible"))
            self.add(group, "a plan, commit included, median of 20 seeds", "≤ 50 ms", [plan],
                     lambda: f"{plan['median_ms']:.1f} ms (at worst {plan['worst_ms']:.0f})",
                     lambda: plan["median_ms"] <= 50)
            self.add(group, "p99 of the claims, beside 20 plans in 3 s", "grows by half at most, or 3 ms", [beside],
                     lambda: f"{beside['alone_us'] / 1000:.2f} → {beside['beside_us'] / 1000:.2f} ms (beside plans without "
                             f"end, {beside['plans_per_s']['without_end_us']:.0f} a second: {beside['without_end_us'] / 1000:.2f} ms)",
                     lambda: beside["beside_us"] <= max(1.5 * beside["alone_us"], beside["alone_us"] + 3000))
            for what, got in (impossible or {"impossible ones": None}).items():
                self.add(group, f"refused: {what}", "≤ 1 000 ms", [got], lambda: f"{got['ms']:.0f} ms",
                         lambda: got["ms"] <= 1000)

    def lanes(self):
        facts = self.facts.get("berth", {}).get("lanes") or {}
        group, alone = "GET one provider, 16 connections, 40 000 hosts", facts.get("alone")
        for load, what in (("endless", "four endless searches"), ("lists", "two readers of large lists"),
                           ("bodies", "four bodies of 15 MiB at a time"),
                           ("consumers", "a provider with 200 000 consumers, read and written")):
            cell = facts.get(load)
            self.add(group, f"p99 beside {what}", "at most doubles, or ≤ 5 ms", [alone, cell],
                     lambda: f"{alone['p99_us'] / 1000:.2f} → {cell['p99_us'] / 1000:.2f} ms",
                     lambda: cell["p99_us"] <= max(5000, 2 * alone["p99_us"]))
        times = facts.get("list")
        self.add("list of 40 000 hosts", "beside four endless searches of another project", "≤ 2 times + 200 ms", [times],
                 lambda: f"{times['alone_ms']:.0f} → {times['beside_ms']:.0f} ms",
                 lambda: times["beside_ms"] <= 2 * times["alone_ms"] + 200)

    def tail(self):
        for case, cell in (self.facts.get("berth", {}).get("tail") or {"claims": None}).items():
            self.add("the tail of claims without a pause", case, "p99 ≤ 3 × p50, longest ≤ 100 ms", [cell],
                     lambda: f"{cell['p50 ms']:.1f}, {cell['p99 ms']:.1f}, {cell['max ms']:.0f} ms; "
                             f"{cell['claims/s']:.0f} claims/s", lambda: cell["met"])

    def occupy(self):
        facts = self.facts.get("berth", {}).get("occupy") or {}
        for thread, goal in (("worker", 2), ("writer", 10), ("writer, at Valet's limits", None)):
            turn = facts.get(thread)
            self.add("longest turn for one request", thread, "reported" if goal is None else f"≤ {goal} ms", [turn],
                     lambda: f"{turn[0]:.1f} ms: {turn[1]}", lambda: goal is None or turn[0] <= goal)

    def innocent(self):
        facts = self.facts.get("berth", {}).get("innocent") or {}
        alone = facts.get("nobody")
        for kind, found in facts.items() or (("bad clients", None),):
            self.add("a small GET of an innocent client", f"p99 beside: {kind}", "at most doubles, or ≤ 10 ms; all served",
                     [found], lambda: f"{found['p99_ms']:.2f} ms, {found['failed']} failed",
                     lambda: found["failed"] == 0 and found["p99_ms"] <= max(10, 2 * alone["p99_ms"]))

    def server_writes(self, server):
        facts, (title, client) = self.server_facts[server], SERVERS[server]
        for connections, times in ((16, 60), (256, 100)):
            fact, group = facts.get(f"claims_{connections}", {}), f"{title}: claim, one instance, {connections} connections"
            beside, raw = fact.get("reference"), fact.get("raw")
            self.add(group, "claims/s against the Python service", f"≥ {times} times", [beside],
                     lambda: f"{beside[0]:.0f} times ({beside[1]:.0f} / {beside[2]:.1f})", lambda: beside[0] >= times)
            self.add(group, f"claims/s against {client}, batched alike", "≥ 60 %", [raw],
                     lambda: f"{100 * raw[0]:.0f} % ({raw[1]:.0f} / {raw[2]:.0f}, {fact['mean_batch']:.1f} in a batch)",
                     lambda: raw[0] >= 0.6)
        single, two = facts.get("single"), facts.get("two")
        self.add(f"{title}: claim, one client", f"p50 against {client} with a claim a batch", f"≤ {client}'s + 20 %", [single],
                 lambda: f"{100 * (single[0] - 1):+.0f} % ({single[1]:.0f} / {single[2]:.0f} µs)", lambda: single[0] <= 1.2)
        group = f"{title}: claim, two instances, 16 connections each"
        self.add(group, "together against one instance with 32", "≥ 80 %", [two],
                 lambda: f"{100 * sum(two['rates']) / two['one']:.0f} % ({sum(two['rates']):.0f} / {two['one']:.0f})",
                 lambda: sum(two["rates"]) >= 0.8 * two["one"])
        self.add(group, "the smaller share", "≥ a third", [two], lambda: f"{100 * two['least_share']:.0f} %",
                 lambda: two["least_share"] >= 1 / 3)
        self.add(group, "answers other than 204", "none", [two], lambda: f"{two['other_answers']}",
                 lambda: two["other_answers"] == 0)

    def postgres_reads(self):
        facts = self.server_facts["postgres"]
        one, many = facts.get("get_1"), facts.get("get_16")
        group = "PostgreSQL: GET /resource_providers/{uuid}, strict"
        self.strict_get(group, many)
        self.add(group, "p50 against SELECT 1, 16 connections each", "≤ SELECT 1 + 20 %", [many],
                 lambda: f"{100 * (many['p50'][0] - 1):+.0f} % ({many['p50'][1]:.0f} / {many['p50'][2]:.0f} µs)",
                 lambda: many["p50"][0] <= 1.2)
        self.add(group, "p50 above the embedded store's against SELECT 1, 1 connection each", "≤ SELECT 1 + 20 %", [one],
                 lambda: f"{100 * (one['added'][0] - 1):+.0f} % ({one['added'][1]:.0f} / {one['added'][2]:.0f} µs)",
                 lambda: one["added"][0] <= 1.2)
        candidates = facts.get("candidates")
        self.add("PostgreSQL: candidates, 1 000 hosts, limit=10, strict", "CPU against the Python service, databases included",
                 "≥ 5000 times less", [candidates],
                 lambda: f"{candidates[0]:.0f} times ({candidates[1]:.0f} / {candidates[2]:.1f} µs)",
                 lambda: candidates[0] >= 5000)
        self.stale("PostgreSQL: read on one instance of what another has acknowledged", facts.get("stale"))

    def strict_get(self, group, many):
        self.add(group, "requests/s against the embedded store, 16 connections", "≥ 50 %", [many],
                 lambda: f"{100 * many['rps'][0]:.0f} % ({many['rps'][1]:.0f} / {many['rps'][2]:.0f})",
                 lambda: many["rps"][0] >= 0.5)

    def stale(self, group, stale):
        self.add(group, "in 1 000 000 attempts (--quick: 20 000)", "never stale", [stale],
                 lambda: f"{'none' if stale['passed'] else 'some'} stale or failed in {stale['attempts']}",
                 lambda: stale["passed"])

    def galera(self):
        facts = self.server_facts["mariadb"]
        for case, what, goal in (("same", "all on one node", 0.6), ("own", "each on its own", 0.2)):
            group, three = f"MariaDB: claim, three instances, three Galera nodes, {what}", facts.get(f"three_{case}")
            self.add(group, "together against one instance there, 48 connections", f"≥ {100 * goal:.0f} %", [three],
                     lambda: f"{100 * sum(three['rates']) / three['one']:.0f} % ({sum(three['rates']):.0f} / {three['one']:.0f})",
                     lambda: sum(three["rates"]) >= goal * three["one"])
            self.add(group, "p99", "≤ 1 s", [three], lambda: f"{three['p99_us'] / 1e6:.2f} s", lambda: three["p99_us"] <= 1e6)
            self.add(group, "answers other than 204", "none", [three], lambda: f"{three['other_answers']}",
                     lambda: three["other_answers"] == 0)
            self.add(group, "a host with room for 160 units", "160 are acknowledged, and are there", [three],
                     lambda: f"{three['units'][0]} acknowledged, {three['units'][1]} there",
                     lambda: tuple(three["units"]) == (160, 160))
        self.strict_get("MariaDB: GET /resource_providers/{uuid}, strict, on Galera", facts.get("get_16"))
        self.stale("MariaDB: read on one instance of what another has acknowledged, behind HAProxy, which changes the Galera "
                   "node every 5 s", facts.get("stale"))

    def server_starts(self, server):
        facts, (title, _) = self.server_facts[server], SERVERS[server]
        for cloud, what, bound in (("flat10k", "10 000 hosts, 100 000 allocations", 1), ("flat1m", "1 000 000 hosts", 15)):
            ready = facts.get(f"ready_{cloud}")
            self.add(f"{title}: start to ready", what, f"≤ {bound} s", [ready], lambda: f"{ready:.2f} s",
                     lambda: ready <= bound)
        outage = facts.get("outage")
        self.add(f"{title}: database unavailable and back", "the first acknowledged write, 100 times (--quick: 6); reads as configured",
                 "≤ 1 s", [outage], lambda: f"{outage['longest_s']:.2f} s at most in {outage['rounds']} times"
                 + ("" if outage["passed"] else ", failed"),
                 lambda: outage["passed"] and outage["longest_s"] <= 1)

    def build(self):
        self.cpu_ratios()
        self.absolutes()
        self.limits()
        self.wide()
        self.groups()
        self.writes()
        self.others()
        self.baremetal()
        self.valet()
        self.lanes()
        self.tail()
        self.occupy()
        self.innocent()
        self.server_writes("postgres")
        self.postgres_reads()
        self.server_starts("postgres")
        self.server_writes("mariadb")
        self.galera()
        self.server_starts("mariadb")
        order = list(dict.fromkeys(row.group for row in self.rows))
        return sorted(self.rows, key=lambda row: order.index(row.group))


def bound_text(size):
    if size >= 1 << 20:
        return f"{size / 2**20:.1f} MiB"
    return f"{size / 1024:.1f} KiB" if size >= 1024 else f"{size:.0f} bytes"
