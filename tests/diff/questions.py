"""Queries for GET /allocation_candidates, created from the cloud, so that most have an answer.

A query starts from one tree (and the providers that share with it): it selects providers with room, and requires
amounts that fit, traits that they have and aggregates that they are in. Some queries are then altered: too much, a
trait from elsewhere, a forbidden one, another tree.
"""

from cloud import SHARES


def amount_for(rng, inventory):
    """An amount that fits (mostly small), or None."""
    top = min(inventory.max_unit, int(inventory.capacity) - inventory.used)
    low = -(-inventory.min_unit // inventory.step) * inventory.step
    if top < low:
        return None
    steps = (top - low) // inventory.step
    pick = 0 if rng.random() < 0.5 else rng.randint(0, min(steps, 4)) if rng.random() < 0.8 else steps
    return low + pick * inventory.step


class Question:
    """Collects the pairs of a query string; groups are written in the order of their creation."""

    def __init__(self):
        self.pairs = []
        self.suffixes = []

    def add(self, key, value):
        self.pairs.append((key, str(value)))

    def target(self):
        return "/allocation_candidates?" + "&".join("%s=%s" % pair for pair in self.pairs)


def candidates_question(rng, cloud, minor):
    """The target of one well-formed query at microversion 1.`minor` (>= 10)."""
    question = Question()
    roots = [r for r in cloud.roots if any(p.inventory for p in cloud.tree(r))]
    if not roots:
        question.add("resources", "VCPU:1")
        return question.target()
    trees = [r for r in roots if r.children]
    root = rng.choice(trees) if trees and minor >= 25 and rng.random() < 0.7 else rng.choice(roots)
    tree = cloud.tree(root)
    own = {a for p in tree for a in p.aggregates}
    sharers = [p for p in cloud.providers if p.sharing and p.root is not root and own & set(p.aggregates)]
    granular = minor >= 25 and rng.random() < 0.62
    bend = rng.random() < 0.12
    groups = 0
    if not granular or rng.random() < 0.55:
        if _unsuffixed(rng, cloud, question, minor, tree, sharers, bend):
            groups += 1
    if granular:
        most = rng.choice((1, 1, 2, 2, 2, 3))
        if rng.random() < 0.12:
            groups += _crowd(rng, cloud, question, minor, tree, bend)
            most = 0
        for number in range(1, most + 1):
            if _suffixed(rng, cloud, question, minor, tree, sharers, number, bend and number == 1):
                groups += 1
    if not groups:
        question.add("resources", "%s:1" % rng.choice(sorted(cloud.classes.values())[:6]))
    resourceless = minor >= 36 and question.suffixes and rng.random() < 0.12
    if resourceless:
        suffix = _name(rng, minor, 9)
        holder = rng.choice(tree)
        if holder.traits:
            question.add("required" + suffix, rng.choice(holder.traits))
        elif holder.aggregates:
            question.add("member_of" + suffix, rng.choice(holder.aggregates))
        else:
            question.add("in_tree" + suffix, holder.uuid)  # matches nothing: there is a special rule
        question.suffixes.append(suffix)
    if minor >= 36 and question.suffixes and (resourceless or rng.random() < 0.3):
        names = list(question.suffixes)
        if not resourceless:
            names = rng.sample(names, rng.randint(1, len(names)))
        question.add("same_subtree", ",".join(names))
        if len(question.suffixes) > 2 and rng.random() < 0.2:
            question.add("same_subtree", ",".join(rng.sample(question.suffixes, 2)))
    if minor >= 25 and (len(question.suffixes) > 1 or rng.random() < 0.1):
        question.add("group_policy", rng.choice(("none", "none", "isolate")))
    if minor >= 35 and rng.random() < 0.12:
        have = root.traits or ["HW_CPU_X86_AVX2"]
        value = [rng.choice(have)]
        if rng.random() < 0.4:
            others = [t for t in cloud.custom_traits if t not in have]
            if others:
                value.append("!" + rng.choice(others))
        question.add("root_required", ",".join(value))
    if minor >= 16 and rng.random() < 0.22:
        question.add("limit", rng.choice((1, 1, 2, 3, 5, 10, 1000)))
    if rng.random() < 0.15:
        rng.shuffle(question.pairs)
    return question.target()


def _name(rng, minor, number):
    if minor >= 33 and rng.random() < 0.45:
        return rng.choice(("_NUMA%d", "_a-%d", "x%d", "_%d")) % number
    return str(number)


def _resources(rng, pool, most):
    """Amounts for up to `most` classes, each from a provider in `pool` with room; and those providers."""
    chosen, used = {}, []
    offers = [(p, rc) for p in pool for rc in p.inventory]
    rng.shuffle(offers)
    for provider, rc in offers:
        if rc in chosen or len(chosen) >= most:
            continue
        amount = amount_for(rng, provider.inventory[rc])
        if amount is not None:
            chosen[rc] = amount
            used.append(provider)
    return chosen, used


def _unsuffixed(rng, cloud, question, minor, tree, sharers, bend):
    pool = tree + sharers if minor >= 29 or rng.random() < 0.3 else [rng.choice(tree)] + sharers
    chosen, used = _resources(rng, pool, rng.choice((1, 1, 2, 2, 3)))
    if not chosen:
        return False
    if bend and rng.random() < 0.5:
        rc = rng.choice(sorted(chosen))
        chosen[rc] += rng.choice((1, 7, 100, 100000))
    question.add("resources", ",".join("%s:%d" % pair for pair in chosen.items()))
    _traits(rng, cloud, question, minor, "", used, bend)
    if minor >= 21 and rng.random() < 0.2:
        _member_of(rng, cloud, question, minor, "", used + [used[0].root], bend)
    if minor >= 31 and rng.random() < 0.12:
        question.add("in_tree", rng.choice(tree).uuid)
    return True


def _suffixed(rng, cloud, question, minor, tree, sharers, number, bend):
    pool = [p for p in tree + sharers if p.inventory]
    if not pool:
        return False
    provider = rng.choice(pool)
    chosen, used = _resources(rng, [provider], rng.choice((1, 1, 2)))
    if not chosen:
        return False
    if bend and rng.random() < 0.5:
        rc = rng.choice(sorted(chosen))
        chosen[rc] += rng.choice((1, 3, 1000))
    suffix = _name(rng, minor, number)
    question.suffixes.append(suffix)
    question.add("resources" + suffix, ",".join("%s:%d" % pair for pair in chosen.items()))
    _traits(rng, cloud, question, minor, suffix, used[:1], bend)
    if rng.random() < 0.12:
        _member_of(rng, cloud, question, minor, suffix, used[:1], bend)
    if minor >= 31 and rng.random() < 0.1:
        question.add("in_tree" + suffix, rng.choice(tree).uuid)
    return True


def _crowd(rng, cloud, question, minor, tree, bend):
    """Groups with equal requirements: as many as there are providers for them, or one more. Returns how many were
    added."""
    classes = sorted({rc for p in tree for rc in p.inventory})
    if not classes:
        return 0
    rc = rng.choice(classes)
    holders = [p for p in tree if rc in p.inventory]
    amount = amount_for(rng, rng.choice(holders).inventory[rc])
    if amount is None:
        return 0
    most = min(len(holders) + rng.choice((0, 0, 1)), 5)
    for number in range(1, most + 1):
        suffix = _name(rng, minor, number)
        question.suffixes.append(suffix)
        question.add("resources" + suffix, "%s:%d" % (rc, amount + (rng.random() < 0.15)))
        if rng.random() < 0.3:
            _traits(rng, cloud, question, minor, suffix, [rng.choice(holders)], bend and number == 1)
    return most


def _traits(rng, cloud, question, minor, suffix, used, bend):
    if minor < 17 or rng.random() > 0.4:
        return
    have = sorted({t for p in used for t in p.traits})
    rest = [t for t in cloud.custom_traits + ["HW_CPU_X86_AVX2", SHARES] if t not in have]
    if bend and rest and rng.random() < 0.6:
        question.add("required" + suffix, rng.choice(rest))
        return
    wanted = rng.sample(have, rng.randint(1, min(2, len(have)))) if have and rng.random() < 0.75 else []
    if minor >= 22 and rest and rng.random() < 0.35:
        wanted.append("!" + rng.choice(rest))
    if minor >= 39 and have and rest and rng.random() < 0.4:
        any_of = [rng.choice(have)] + rng.sample(rest, min(2, len(rest)))
        rng.shuffle(any_of)
        question.add("required" + suffix, "in:" + ",".join(any_of))
    if wanted:
        question.add("required" + suffix, ",".join(wanted))
        if rng.random() < 0.1:  # repeated: from 1.39 on both count, before that the last
            question.add("required" + suffix, rng.choice(wanted))


def _member_of(rng, cloud, question, minor, suffix, used, bend):
    have = sorted({a for p in used for a in p.aggregates})
    rest = [a for a in cloud.aggregates if a not in have]
    if bend or not have:
        pool = rest or have
    else:
        pool = have
    if not pool:
        return
    key = "member_of" + suffix
    one = rng.choice(pool)
    if minor >= 32 and rest and rng.random() < 0.4:
        if rng.random() < 0.5:
            question.add(key, "!" + rng.choice(rest))
        else:
            question.add(key, "!in:" + ",".join(rng.sample(rest, min(2, len(rest)))))
        if rng.random() < 0.5:
            question.add(key, one)
        return
    if rng.random() < 0.4:
        question.add(key, "in:" + ",".join([one] + rng.sample(rest, min(1, len(rest)))))
    else:
        question.add(key, one)
    if minor >= 24 and rng.random() < 0.25:
        question.add(key, rng.choice(have or pool))
