"""A walk through random changes of plans, one request after the other, with claims by compute and by non-members and
operators' aggregates between them. There are no other writes while a plan is made, so the cloud never changes in
between. Planned constraints hold, servers that should stay do so, and the books (books.py) are correct."""

import itertools
import random
import uuid

import books
import plans
from plans import TENANT, group

STEPS, HOSTS, VCPUS = 60, 6, 3
GROUPS = ("gold", "iron")


class Classes:
    """A union of servers."""

    def __init__(self, names):
        self.leader = {name: name for name in names}

    def unite(self, names):
        names = [name for name in names if name in self.leader]
        for name in names[1:]:
            old, new = self.leader[name], self.leader[names[0]]
            self.leader = {one: new if leader == old else leader for one, leader in self.leader.items()}

    def of(self, name):
        return [one for one, leader in self.leader.items() if leader == self.leader[name]]


def assignments(resources):
    for one in resources.values():
        if one["type"] == plans.GROUP:
            at = one["properties"]
            yield at["group_type"], at["level"], at["resources"], at.get("group_name")


def constraints(resources, names):
    """The constraints of a content on these of its servers (Valet spec, 7.2), as tuples, of which two contents may
    share some."""
    host, rack, found, exclusive = Classes(names), Classes(names), set(), {}
    for kind, level, members, _ in assignments(resources):
        if kind == "affinity":
            rack.unite(members)
            if level == "host":
                host.unite(members)
    for classes, level in ((host, "host"), (rack, "rack")):
        for a, b in itertools.combinations(sorted(names), 2):
            if classes.leader[a] == classes.leader[b]:
                found.add(("together", level, a, b))
    for kind, level, members, name in assignments(resources):
        members = [one for one in members if one in names]
        if kind == "diversity":
            for one, other in itertools.combinations(members, 2):
                for a, b in itertools.product((rack if level == "rack" else host).of(one),
                                              (rack if level == "rack" else host).of(other)):
                    found.add(("apart", "host", *sorted((a, b))))
                    if level == "rack":
                        found.add(("apart", "rack", *sorted((a, b))))
        for one in members if kind == "exclusivity" else ():
            for like in (rack if level == "rack" else host).of(one):
                exclusive.setdefault(like, set()).add((name, "host"))
                if level == "rack":
                    exclusive[like].add((name, "rack"))
    for name in names:
        for which in exclusive.get(name, {(None, "host")}):
            found.add(("exclusive", *which, name))
        if resources[name].get("locations"):
            found.add(("within", tuple(resources[name]["locations"]), name))
    return found


def about(constraint):
    return constraint[2:]


class Walk:
    def __init__(self, tests, berth, seed):
        self.chance = random.Random(seed)
        self.berth, self.cloud = berth, plans.Cloud(tests, berth, HOSTS, vcpus=VCPUS)
        self.groups = {name: tests.group(berth, name, [TENANT]) for name in GROUPS}
        self.rack = {f"h{number + 1}": number // 2 for number in range(HOSTS)}
        self.content = {}  # stack: the resources last accepted
        self.parent, self.disabled = {}, set()
        self.non_members, self.gone, self.problems = {}, set(), []
        self.done = {}

    # --- requests

    def some_server(self):
        more = {"locations": self.chance.sample(sorted(self.rack), 3)} if self.chance.random() < 0.15 else {}
        return plans.server({"vcpus": self.chance.choice((1, 1, 1, 2)), "ram": 1, "disk": 1}, **more)

    def some_groups(self, names):
        found = {}
        for number, kind in enumerate(("affinity", "diversity", "exclusivity")):
            if self.chance.random() < 0.45:
                members = self.chance.sample(names, self.chance.randint(1, min(3, len(names))))
                more = {"group_name": self.chance.choice(("gold", "gold", "iron"))} if kind == "exclusivity" else {}
                found[f"g{number}"] = group(kind, self.chance.choice(("host", "host", "rack")), *members, **more)
        return found

    def some_content(self, old=None):
        """A new content, or one similar to the old."""
        servers = {name: one for name, one in (old or {}).items() if one["type"] == plans.SERVER}
        groups = {name: one for name, one in (old or {}).items() if one["type"] != plans.SERVER}
        if servers and self.chance.random() < 0.4:
            servers.pop(self.chance.choice(sorted(servers)))
        if not servers or self.chance.random() < 0.5:
            for _ in range(1 if old else self.chance.randint(1, 4)):
                servers[str(uuid.UUID(int=self.chance.getrandbits(128), version=4))] = self.some_server()
        if self.chance.random() < 0.15:
            servers[self.chance.choice(sorted(servers))] = self.some_server()
        if not old or self.chance.random() < 0.6:
            groups = self.some_groups(sorted(servers))
        for name, one in list(groups.items()):
            at = dict(one["properties"])
            at["resources"] = [member for member in at["resources"] if member in servers]
            if not at.pop("resources"):
                del groups[name]
            else:
                groups[name] = {"type": one["type"], "properties": {
                    **at, "resources": [member for member in one["properties"]["resources"] if member in servers]}}
        return {**servers, **groups}

    def rack_of(self, host):
        """Hosts below another host are in no rack."""
        return host if host in self.parent else self.rack[host]

    def kept(self):
        """The placements whose capacity a consumer keeps: those with neither hold nor server restrict nothing."""
        held, counted = books.holders(self.berth.database), books.servers_that_count(self.berth.database)
        return {name: one for name, one in self.cloud.placements().items() if held.keys() & {one["id"], *counted[one["id"]]}}

    # --- answers

    def tell(self, text):
        self.problems.append(text)

    def holds(self, constraint, where, aggregates):
        kind, which, *names = constraint
        hosts = [where[name] for name in names if name in where]
        if kind == "together":
            return len(set(hosts)) == 1 or which == "rack" and len({self.rack_of(host) for host in hosts}) == 1
        if kind == "apart":
            return len({self.rack_of(host) if which == "rack" else host for host in hosts}) == 2
        if kind == "within":
            return hosts[0] in which
        held = {name for name, one in self.groups.items() if one in aggregates[hosts[0]]}
        if which is None:
            return not held
        if constraint[2] == "host":
            return held == {which}
        return all(self.groups[which] in aggregates[host] for host in self.rack if self.rack_of(host) == self.rack_of(hosts[0]))

    def verdict_of(self, what, stack, resources, before, planned):
        """After a 201: before is the previous {id: placement}; planned are those that had to be planned."""
        after = {name: one for name, one in self.kept().items() if name in resources}
        where = {name: one["location"] for name, one in after.items()}
        aggregates = {host: self.cloud.aggregates(host) for host in self.rack}
        moved = {name for name in where if name not in before or before[name]["location"] != where[name]}
        names = set(where)
        asked = constraints(resources, names)
        old = self.content.get(stack, {})
        known = constraints(old, {name for name, one in old.items() if one["type"] == plans.SERVER})
        for one in sorted(asked, key=repr):
            anew = what in ("create", "update") and one not in known
            if (anew or (moved | planned) & set(about(one))) and not self.holds(one, where, aggregates):
                self.tell(f"{what}: {one} does not hold of {where}, moved {moved}")
        for name in moved:
            if where[name] in self.disabled:
                self.tell(f"{what}: {name} has moved to {where[name]}, which is disabled")
        for name in moved & set(before):
            if what in ("update", "reserve") and before[name]["reserved"] and name not in planned:
                self.tell(f"{what}: {name} was reserved and moved")

    def answered(self, what, answer, before):
        self.done[what, answer.status] = self.done.get((what, answer.status), 0) + 1
        if answer.status not in (201, 204, 409):
            self.tell(f"{what}: {answer}")
        if answer.status == 409:
            if "the cloud changed" in answer.explanation:
                self.tell(f"{what}: {answer.explanation}")
            if self.cloud.placements() != before:
                self.tell(f"{what}: refused, and something has changed")
        return answer.status < 300

    # --- actions

    def pick(self):
        stack = self.chance.choice(sorted(self.content)) if self.content else None
        names = sorted(name for name in self.content.get(stack, {}) if name in self.cloud.placements())
        return stack, self.chance.choice(names) if names else None

    def create(self):
        stack, resources = str(self.chance.getrandbits(40)), self.some_content()
        before = self.cloud.placements()
        if self.answered("create", self.cloud.valet("POST", "/v1/plans", plans.body(stack, resources)), before):
            self.verdict_of("create", stack, resources, before, set(resources))
            self.content[stack] = resources

    def update(self):
        stack, _ = self.pick()
        if stack is None:
            return
        resources = self.some_content(self.content[stack])
        before = self.cloud.placements()
        answer = self.cloud.valet("PUT", f"/v1/plans/{stack}", {"action": "update", "resources": resources})
        if self.answered("update", answer, before):
            self.verdict_of("update", stack, resources, before, set())
            self.content[stack] = resources

    def replan(self):
        stack, name = self.pick()
        if name is None:
            return
        before = self.cloud.placements()
        asked = self.chance.choice(({"action": "replan"}, {}, {"locations": self.chance.sample(sorted(self.rack), 2)}))
        kept = self.kept()
        answer = self.cloud.valet("POST", f"/v1/placements/{name}", asked)
        if self.answered("reserve", answer, before):
            place = answer.json["placement"]["location"]
            if "locations" in asked and place not in asked["locations"]:
                self.tell(f"reserve: {place} is none of {asked}")
            is_planned = name not in kept or "action" in asked or before[name]["location"] not in asked.get("locations", [before[name]["location"]])
            self.verdict_of("reserve", stack, self.content[stack], before, {name} if is_planned else set())

    def migrate(self):
        stack, name = self.pick()
        if name is None:
            return
        before = self.cloud.placements()
        answer = self.cloud.valet("PUT", f"/v1/plans/{stack}", {"action": "migrate", "resources": [name]}, token="admin")
        if self.answered("migrate", answer, before):
            if self.cloud.placements()[name]["location"] == before[name]["location"]:
                self.tell(f"migrate: {name} is where it was")
            self.verdict_of("migrate", stack, self.content[stack], before, {name})

    def give_up(self):
        stack, name = self.pick()
        if stack is not None and (name is None or self.chance.random() < 0.4):
            self.cloud.valet("DELETE", f"/v1/plans/{stack}")
            del self.content[stack]
        elif name is not None:
            self.cloud.valet("DELETE", f"/v1/placements/{name}")

    def compute(self):
        """A server is built or moved, usually to its placement's host; or deleted."""
        _, name = self.pick()
        if name is None:
            return
        if self.chance.random() < 0.1:
            self.gone.add(name)
            self.cloud.claim(name, "h1", 0)
        else:
            host = self.cloud.placements()[name]["location"]
            if self.chance.random() < 0.25:
                host = self.chance.choice(sorted(self.rack))
            self.cloud.claim(name, host, 1)

    def operate(self):
        host, which = self.chance.choice(sorted(self.rack)), self.groups[self.chance.choice(GROUPS)]
        claimed = [one for one in sorted(self.rack) if which in self.cloud.aggregates(one)]
        if claimed and self.chance.random() < 0.8:
            host = self.chance.choice(claimed)
        self.cloud.client.ask("PUT", f"/resource_providers/{self.cloud.host[host]}/aggregates", {
            "resource_provider_generation": self.cloud.generation(host),
            "aggregates": sorted(set(self.cloud.aggregates(host)) ^ {which})})

    def strange(self):
        if self.non_members and self.chance.random() < 0.6:
            self.cloud.claim(*self.non_members.popitem(), 0, "nonmember")
            return
        consumer, host = str(uuid.UUID(int=self.chance.getrandbits(128), version=4)), self.chance.choice(sorted(self.rack))
        if self.cloud.claim(consumer, host, 1, "nonmember") == 204:
            self.non_members[consumer] = host

    def free_a_hold(self):
        """By an operator, through the resource API."""
        _, name = self.pick()
        if name is not None:
            self.gone.add(name)
            self.cloud.client.ask("DELETE", f"/allocations/{self.cloud.placements()[name]['id']}")

    def pretend(self):
        """A server of another project has the id of one of the plan's."""
        _, name = self.pick()
        if name is not None:
            self.gone.add(name)
            self.cloud.claim(name, self.chance.choice(sorted(self.rack)), 1, self.chance.choice(("nonmember", "other")))

    def record(self):
        """The server gets another id, under which it may exist already."""
        stack, name = self.pick()
        if name is None:
            return
        server, before = str(uuid.UUID(int=self.chance.getrandbits(128), version=4)), self.cloud.placements()
        if self.chance.random() < 0.5:
            host = self.chance.choice((before[name]["location"], self.chance.choice(sorted(self.rack))))
            self.cloud.claim(server, host, 1)
        answer = self.cloud.valet("POST", f"/v1/placements/{name}", {"resource_id": server})
        if self.answered("reserve", answer, before):
            now = self.cloud.placements()[name]
            if answer.json["placement"] != now:
                self.tell(f"reserve: {answer.json['placement']} is returned, and then {now}")

    def disable(self):
        host = self.chance.choice(sorted(self.rack))
        self.disabled ^= {host}
        self.cloud.traits(host, ["COMPUTE_STATUS_DISABLED"] if host in self.disabled else [])

    def move_host(self):
        """To another rack."""
        host = self.chance.choice(sorted(self.rack))
        old = self.cloud.rack_aggregate[self.rack[host] + 1]
        self.rack[host] = self.chance.choice(sorted(set(self.rack.values())))
        self.cloud.join(host, sorted({self.cloud.rack_aggregate[self.rack[host] + 1], *self.cloud.aggregates(host)} - {old})
                        if old != self.cloud.rack_aggregate[self.rack[host] + 1] else self.cloud.aggregates(host))

    def move_tree(self):
        """A host is below another one for a while, unless that would bring non-members into a tree that a group
        claims."""
        host, above = self.chance.sample(sorted(self.rack), 2)
        if self.parent:
            (host, self.was_above), above = self.parent.popitem(), None
        which = self.cloud.host[host]
        status, answer = self.cloud.client.ask("PUT", f"/resource_providers/{which}", {
            "name": host, "parent_provider_uuid": above and self.cloud.host[above]})
        if status == 200 and above:
            self.parent[host] = above
        elif status != 200:
            if above is None:
                self.parent[host] = self.was_above
            if "is held by exclusivity group" not in str(answer):
                raise AssertionError(f"{host} below {above}: {status} {answer}")

    def begin_again(self):
        """berthd is stopped and started: its answers are the same."""
        def everything():
            return [self.cloud.placements(), self.cloud.valet("GET", "/v1/plans", token="admin").json, self.cloud.used(),
                    {host: sorted(self.cloud.aggregates(host)) for host in self.rack}]
        before = everything()
        self.berth.stop()
        self.berth.start()
        self.cloud.client = self.berth.client()
        if everything() != before:
            self.tell(f"after a restart: {everything()}, not {before}")

    def run(self):
        acts = (self.create, self.update, self.update, self.update, self.replan, self.replan, self.migrate, self.give_up,
                self.compute, self.compute, self.operate, self.strange, self.free_a_hold, self.pretend, self.record, self.disable,
                self.move_host, self.move_tree)
        for number in range(STEPS):
            act = self.create if not self.content else self.chance.choice(acts)
            act()
            # an operator may claim a host for a group although non-members are there
            found = [text for text in books.problems(self.berth.database, self.gone) if "nonmember holds" not in text and "other holds" not in text]
            self.problems += [f"after {act.__name__}: {text}" for text in found]
            if number % 20 == 19:
                self.begin_again()
            if self.problems:
                return [f"step {number}: {text}" for text in self.problems]
        return []


def play(tests, berth, seed):
    walked = Walk(tests, berth, seed)
    return walked.run()
