"""Compares answers to GET /allocation_candidates, and works them out anew where 8.0.0 is known to be wrong.

Candidates are compared as multisets of (allocations, mappings); summaries whole. With `limit` the answer must
be min(limit, all) of the unlimited answer, one of each root before a second of any, with the summaries of the
trees that it kept.

`expected` is a second opinion: the rules of spec/allocation-candidates.md, by brute force over the model of
the cloud. It decides only where the reference is faulty in a way that intended.py lists (amounts that grow,
one anchor for candidates of shares only, nested sharing providers); `run.py --oracle` checks it against
the reference everywhere else.
"""

import itertools
import json
import re
import urllib.parse

from compare import same_json

_KEY = re.compile(r"(resources|required|member_of|in_tree)([a-zA-Z0-9_-]{0,64})\Z")


class Set:
    """A whole answer: candidates as {key: how often}, and summaries."""

    def __init__(self, body, minor):
        self.summaries = body["provider_summaries"]
        self.keys = []
        self.providers = {}  # key -> uuids that allocations or mappings name
        for found in body["allocation_requests"]:
            allocations = found["allocations"]
            if isinstance(allocations, list):
                allocations = {a["resource_provider"]["uuid"]: {"resources": a["resources"]} for a in allocations}
            mappings = {k: sorted(v) for k, v in found.get("mappings", {}).items()}
            extra = sorted(set(found) - {"allocations", "mappings"})
            key = json.dumps([allocations, mappings, extra], sort_keys=True)
            self.keys.append(key)
            named = set(allocations).union(*mappings.values())
            self.providers[key] = (set(allocations), named)
        self.minor = minor

    def counted(self):
        counts = {}
        for key in self.keys:
            counts[key] = counts.get(key, 0) + 1
        return counts


def pairs_of(request):
    found = []
    for piece in re.split("[&;]", request.query):
        if piece:
            key, _, value = piece.partition("=")
            found.append((urllib.parse.unquote_plus(key), urllib.parse.unquote_plus(value)))
    return found


def without_limit(request):
    kept = [p for p in re.split("([&;])", request.query) if urllib.parse.unquote_plus(p).split("=")[0] != "limit"]
    return request.replaced(target=request.path + "?" + "".join(kept))


def limit_of(request):
    values = [v for k, v in pairs_of(request) if k == "limit"]
    return int(values[0]) if values else None


def differences(request, whole, berth, cloud):
    """`whole`: the right answer without limit (a Set); `berth`: berth's Set."""
    limit = limit_of(request)
    mine, other = whole.counted(), berth.counted()
    found = []
    others = [k for k, n in other.items() if n > mine.get(k, 0)]
    if others:
        found.append(("candidates", "not among the reference's", others[:5]))
    if limit is None:
        lost = [k for k, n in mine.items() if n > other.get(k, 0)]
        if lost:
            found.append(("candidates", lost[:5], "missing in berth's"))
        kept = whole.summaries
    else:
        size = min(limit, len(whole.keys))
        if len(berth.keys) != size:
            found.append(("limit", "%d candidates" % size, len(berth.keys)))
        found += _spread(whole, berth, cloud)
        roots = {cloud.by_uuid[u].root for key in berth.keys for u in berth.providers[key][0] if u in cloud.by_uuid}
        kept = {u: s for u, s in whole.summaries.items() if u in cloud.by_uuid and cloud.by_uuid[u].root in roots}
    if not same_json(kept, berth.summaries):
        wrong = {u for u in kept.keys() | berth.summaries.keys() if not same_json(kept.get(u), berth.summaries.get(u))}
        found.append(("summaries", {u: kept.get(u) for u in wrong}, {u: berth.summaries.get(u) for u in wrong}))
    return found


def _root_of(key, answer, cloud):
    """The candidate's root, or None where only sharing providers give, whose anchor cannot be seen."""
    roots = {cloud.by_uuid[u].root for u in answer.providers[key][1] if u in cloud.by_uuid and not cloud.by_uuid[u].sharing}
    return roots.pop() if len(roots) == 1 else None


def _spread(whole, berth, cloud):
    there = {_root_of(key, whole, cloud) for key in whole.providers}
    taken = [_root_of(key, berth, cloud) for key in berth.keys if key in whole.providers]
    unclear = taken.count(None)
    if not any(taken.count(root) > 1 for root in set(taken) - {None}):
        return []
    missing = there - set(taken) - {None}
    if len(missing) > unclear:
        return [("limit", "one candidate of each root before a second of any", [r.name for r in missing])]
    return []


def is_rich(request, answer):
    """Granular, nested or sharing in earnest: groups with suffixes, or a candidate of several providers."""
    if not answer.keys:
        return False
    if any(_KEY.match(k) and _KEY.match(k).group(2) for k, _ in pairs_of(request)):
        return True
    return any(len(providers[0]) > 1 for providers in answer.providers.values())


# -- the second opinion ---------------------------------------------------------------------------------------


class Group:
    def __init__(self, suffix):
        self.suffix = suffix
        self.resources, self.required, self.forbidden = {}, [], set()
        self.member_of, self.not_member_of, self.in_tree = [], set(), None


def parse(request, minor):
    groups, wide = {}, {"same_subtree": [], "group_policy": None, "root_required": set(), "root_forbidden": set()}
    for key, value in pairs_of(request):
        found = _KEY.match(key)
        if found and key not in ("limit",):
            kind, suffix = found.groups()
            group = groups.setdefault(suffix, Group(suffix))
            if kind == "resources":
                group.resources = {rc: int(n) for rc, n in (each.split(":") for each in value.split(","))}
            elif kind == "required":
                if minor < 39:
                    group.required, group.forbidden = [], set()
                if value.startswith("in:"):
                    group.required.append({t.strip() for t in value[3:].split(",")})
                else:
                    names = [t.strip() for t in value.split(",")]
                    group.required += [{t} for t in names if not t.startswith("!")]
                    group.forbidden |= {t.lstrip("!") for t in names if t.startswith("!")}
            elif kind == "member_of":
                if value.startswith("!"):
                    group.not_member_of |= set(re.sub("^!(in:)?", "", value).split(","))
                else:
                    group.member_of.append(set(re.sub("^in:", "", value).split(",")))
            else:
                group.in_tree = value.strip()
        elif key == "same_subtree":
            wide["same_subtree"].append({s.strip() for s in value.split(",")})
        elif key == "group_policy":
            wide["group_policy"] = wide["group_policy"] or value
        elif key == "root_required":
            for name in value.split(","):
                name = name.strip()
                wide["root_forbidden" if name.startswith("!") else "root_required"].add(name.lstrip("!"))
    return groups, wide


class Unanswerable(Exception):
    """The question names something that is not there: an error, not candidates."""


def expected(request, cloud):
    """The right Set for a well-formed question, without its limit; None if the question is in error."""
    minor = request.version[1]
    try:
        groups, wide = parse(request, minor)
        found = _join(groups, wide, cloud)
    except (Unanswerable, ValueError):
        return None
    if minor < 29:
        found = [c for c in found if len({cloud.by_uuid[u].root for u in c[0]}) == len(c[0])]
    requests = []
    roots, used = set(), set()
    for allocations, mappings in found:
        used |= set(allocations)
        roots |= {cloud.by_uuid[u].root for u in allocations}
        entry = {"allocations": {u: {"resources": r} for u, r in allocations.items()}}
        if minor >= 34:
            entry["mappings"] = mappings
        requests.append(entry)
    asked = set().union(*(g.resources for g in groups.values()))
    summaries = {}
    for p in cloud.providers:
        if p.root not in roots or (minor < 29 and p.uuid not in used):
            continue
        summary = {"resources": {
            rc: {"capacity": int(i.capacity), "used": i.used}
            for rc, i in p.inventory.items() if minor >= 27 or rc in asked}}
        if minor >= 17:
            summary["traits"] = p.traits
        if minor >= 29:
            summary["parent_provider_uuid"] = p.parent.uuid if p.parent else None
            summary["root_provider_uuid"] = p.root.uuid
        summaries[p.uuid] = summary
    return Set({"allocation_requests": requests, "provider_summaries": summaries}, minor)


def _check_names(names, known):
    if not set(names) <= set(known):
        raise Unanswerable


def _anchors(p, cloud):
    if not p.sharing:
        return [p.root]
    found = [p.root]
    for other in cloud.providers:
        if set(other.aggregates) & set(p.aggregates) and other.root not in found:
            found.append(other.root)
    return found


def _join(groups, wide, cloud):
    _check_names(wide["root_required"] | wide["root_forbidden"], cloud.traits.values())
    roots = [r for r in cloud.roots
             if wide["root_required"] <= set(r.traits) and not wide["root_forbidden"] & set(r.traits)]
    if not roots:
        return []
    parts = {}
    for suffix, group in groups.items():
        _check_names(group.resources, cloud.classes.values())
        if group.member_of and not any(_in_all(p.aggregates, group.member_of) for p in cloud.providers):
            return []
        _check_names(set().union(*group.required), cloud.traits.values())
        _check_names(group.forbidden, cloud.traits.values())
        if group.in_tree and group.in_tree not in cloud.by_uuid:
            return []
        make = _one_provider if suffix else _many_providers
        parts[suffix] = make(group, cloud, roots)
        if not any(parts[suffix].values()):
            return []
    result, seen = [], set()
    for root in roots:
        for combination in itertools.product(*(parts[s].get(root, []) for s in groups)):
            by_suffix = dict(zip(groups, combination))
            if not _accepted(by_suffix, wide, cloud):
                continue
            allocations = {}
            for chosen in combination:
                for p, rc, amount in chosen[1]:
                    amounts = allocations.setdefault(p.uuid, {})
                    amounts[rc] = amounts.get(rc, 0) + amount
            if not _has_room(allocations, cloud):
                continue
            mappings = {s: sorted(p.uuid for p in chosen[0]) for s, chosen in by_suffix.items()}
            key = json.dumps([allocations, mappings], sort_keys=True)
            if key not in seen:
                seen.add(key)
                result.append((allocations, mappings))
    return result


def _in_all(have, wanted):
    return all(set(have) & any_of for any_of in wanted)


def _accepted(by_suffix, wide, cloud):
    granular = [next(iter(chosen[0])) for suffix, chosen in by_suffix.items() if suffix]
    if wide["group_policy"] == "isolate" and len(set(granular)) != len(granular):
        return False
    for subtree in wide["same_subtree"]:
        providers = set().union(*(by_suffix[s][0] for s in subtree if s in by_suffix))
        if not any(all(_above(top, p) for p in providers) for top in providers):
            return False
    return True


def _above(top, p):
    while p is not None:
        if p is top:
            return True
        p = p.parent
    return False


def _has_room(allocations, cloud):
    for uuid, amounts in allocations.items():
        for rc, amount in amounts.items():
            i = cloud.by_uuid[uuid].inventory[rc]
            if i.used + amount > int(i.capacity) or amount > i.max_unit:
                return False
    return True


def _one_provider(group, cloud, roots):
    """{root: [({provider}, [(provider, class, amount)])]} of a suffixed group."""
    found = {}
    tree = cloud.by_uuid[group.in_tree].root if group.in_tree else None
    positive = group.required or group.member_of
    if not group.resources and not positive:
        return found  # a resourceless group of negative filters only, or of none, matches nothing
    for p in cloud.providers:
        if group.resources and tree and p.root is not tree:
            continue
        if not all(rc in p.inventory and p.inventory[rc].fits(n) for rc, n in group.resources.items()):
            continue
        if not _in_all(p.traits, group.required) or set(p.traits) & group.forbidden:
            continue
        if not _in_all(p.aggregates, group.member_of) or set(p.aggregates) & group.not_member_of:
            continue
        for root in _anchors(p, cloud):
            if root in roots:
                found.setdefault(root, []).append(({p}, [(p, rc, n) for rc, n in group.resources.items()]))
    return found


def _many_providers(group, cloud, roots):
    """The same for the unsuffixed group: every class from its own provider."""
    found = {}
    tree = cloud.by_uuid[group.in_tree].root if group.in_tree else None
    for root in roots:
        offers = []
        for rc, amount in group.resources.items():
            able = []
            for p in cloud.providers:
                if rc not in p.inventory or not p.inventory[rc].fits(amount) or (tree and p.root is not tree):
                    continue
                inside = p.root is root
                shared = p.sharing and not tree and root in _anchors(p, cloud)
                if not inside and not shared:
                    continue
                own = _in_all(p.aggregates, group.member_of)
                spans = inside and _in_all(root.aggregates, group.member_of)
                if not own and not spans:
                    continue
                if (set(p.aggregates) | set(root.aggregates)) & group.not_member_of:
                    continue
                able.append(p)
            offers.append([(p, rc, amount) for p in able])
        for chosen in itertools.product(*offers):
            providers = {p for p, _, _ in chosen}
            traits = set().union(*(p.traits for p in providers))
            if not _in_all(traits, group.required) or any(set(p.traits) & group.forbidden for p in providers):
                continue
            found.setdefault(root, []).append((providers, list(chosen)))
    return found
