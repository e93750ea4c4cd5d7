#!/usr/bin/python3
"""Sends the same random but seeded requests to the real bare metal service and to berth, and compares every answer.

    tests/baremetal/differential.py --berthd build/berthd [--requests 2000] [--seed N] [--until N] [--verbose]
    tests/baremetal/differential.py --reference …      two of the real service: proves the comparison, without intended differences

After each request that may have started an action, it waits until on both sides no node is locked or in a transient
state and no allocation is allocating; then all nodes and allocations are compared. The last line is `N passed, N failed`.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import berth_baremetal  # noqa: E402
import compare  # noqa: E402
import metal_client  # noqa: E402
import generator  # noqa: E402
import wanted  # noqa: E402
import real_ironic  # noqa: E402
import servers  # noqa: E402

MOST_FAILURES = 10
LEAST_SUCCEEDED = 0.4  # of all requests: otherwise the walk would only test refusals
WALK = 500  # requests of one pair of servers


class Walk:
    def __init__(self, options, seed, reference, other):
        self.options, self.seed = options, seed
        self.reference, self.other = metal_client.MetalClient(reference.port), metal_client.MetalClient(other.port)
        self.generator = generator.Generator(seed)
        self.pairs = compare.Pairs()
        self.kinds, self.hits = collections.Counter(), collections.Counter()
        self.succeeded = self.asked = self.failed = self.states = 0
        self.failures = []

    def play(self, steps):
        self.read_state(None)
        for step in range(steps):
            request = self.generator.next()
            self.step(step, request)
            if len(self.failures) >= MOST_FAILURES or self.failed:
                break
        self.reference.close()
        self.other.close()

    def ask(self, side, request):
        data, path = request.data, request.path
        if side is self.other:
            data, path = data and self.pairs.to_other(data), self.pairs.to_other(path)
        version = request.version
        return side.ask(request.method, path, raw=data, version=version, headers=request.headers)

    def step(self, step, request):
        mine, theirs = self.ask(self.reference, request), self.ask(self.other, request)
        if request.method == "POST":
            self.pairs.learn(mine.text, theirs.text, f"{request.path} {request.data}")
            self.generator.has_own_uuids = not self.pairs.theirs_of
        self.alter(theirs)
        theirs.text = self.pairs.to_reference(theirs.text)
        theirs.headers = {name: self.pairs.to_reference(value) if name == "location" else value for name, value in theirs.headers.items()}
        self.asked += 1
        self.succeeded += mine.status < 400
        self.kinds[request.kind, mine.status] += 1
        found = compare.compare(mine, theirs)
        used, left = self.verdict_of(request, mine, theirs, found)
        if self.options.verbose:
            print(f"{self.seed}:{step} {request} -> {mine.status} {compare.fault_of(mine)[:150]}", flush=True)
        if left:
            self.fail(step, request, left)
        for entry in used:
            if entry.undo:
                self.undo(request, mine)
        if request.method != "GET" and (mine.status < 300 or mine.status >= 500 or theirs.status < 300):
            self.read_state((step, request))

    def alter(self, answer):
        """For the selftest."""

    def verdict_of(self, request, mine, theirs, found):
        if not self.options.berthd:
            return [], found
        used, left = wanted.explained(wanted.Case(request, mine, theirs, found))
        self.hits.update({entry.id for entry in used})
        return used, left

    def undo(self, request, mine):
        self.reference.ask("DELETE", request.path + "/" + mine.json["uuid"])

    def fail(self, step, request, left):
        text = f"seed {self.seed}, step {step}: {request}"
        for what, one, two in left[:12]:
            text += f"\n    {what}\n        reference: {json.dumps(one)[:1500]}\n        other:     {json.dumps(two)[:1500]}"
        self.failures.append(text)
        print("FAILED", text, flush=True)

    def read_state(self, after):
        """Waits until both sides are at rest, compares them, and updates the generator's knowledge."""
        self.states += 1
        shown = []
        for side in (self.reference, self.other):
            shown.append(side.at_rest())
        for mine, theirs in zip(*shown):
            theirs.text = self.pairs.to_reference(theirs.text)
            _, left = self.verdict_of(generator.Request("GET", "/v1/nodes"), mine, theirs, compare.compare(mine, theirs))
            if left:
                self.failed += 1
                self.fail(after[0] if after else -1, f"the state after {after[1] if after else 'the start'}", left)
        self.generator.learn(shown[0][0].json["nodes"], shown[0][1].json["allocations"])


def walk(options, seed, steps):
    with real_ironic.Ironic() as reference:
        with berth_baremetal.server_of(options) as other:
            one = Walk(options, seed, reference, other)
            try:
                one.play(steps)
            except (AssertionError, OSError) as problem:
                one.fail(one.asked, "no answer, or no rest", [(repr(problem), None, None)])
            for server in (reference, other):
                if server.complaint():
                    one.fail(one.asked, server.name, [(server.complaint(), None, None)])
            return one


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    berth_baremetal.add_arguments(parser)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, help="only the walk of this seed")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--until", type=int, default=WALK, help="so many steps of a walk")
    parser.add_argument("--verbose", action="store_true", help="print every request")
    parser.add_argument("--kinds", action="store_true", help="print how often each kind was asked, and its statuses")
    options = parser.parse_args()
    score, began = servers.Score(), time.monotonic()
    count = -(-options.requests // WALK)
    seeds = [options.seed] if options.seed is not None else range(options.first_seed, options.first_seed + count)
    kinds, hits, asked, succeeded = collections.Counter(), collections.Counter(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        walks = list(pool.map(lambda seed: walk(options, seed, min(options.until, WALK)), seeds))
    for one in walks:
        kinds += one.kinds
        hits += one.hits
        asked, succeeded = asked + one.asked, succeeded + one.succeeded
        score.passed += one.asked + one.states - len(one.failures)
        score.failed += len(one.failures)
        print(f"seed {one.seed}: {one.asked} requests, {one.states} states compared, {len(one.failures)} failures", flush=True)
    if options.kinds:
        for (kind, status), times in sorted(kinds.items()):
            print(f"{times:6} {kind}: {status}")
    if options.seed is None and not score.failed:
        score.case("enough of them succeed", None if succeeded >= LEAST_SUCCEEDED * asked else f"{succeeded} of {asked}")
    if options.berthd and options.seed is None and options.requests >= 2000:
        for entry in wanted.ENTRIES:
            print(f"{hits[entry.id]:6} {entry.id}: {entry.reason}")
            if not hits[entry.id] and not entry.mark:
                score.case(f"the intended difference {entry.id} is seen", "never")
    print(f"{asked} requests, {succeeded} succeeded, {time.monotonic() - began:.1f} s")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
