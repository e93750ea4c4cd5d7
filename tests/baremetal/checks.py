#!/usr/bin/python3
"""Compares the checks of the Bare Metal API's bodies, patches, arguments and versions, and its state machine, word
for word with the real service's own functions, except for tests/baremetal/intended.py.

    tests/baremetal/checks.py --build build [--seeds 2] [--first 1] [--count 800]      last line: N passed, N failed
"""

import argparse
import collections
import copy
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.append(os.path.join(ROOT, "tests"))
import cases
import intended
import reference
from asked import Asked

SHOWN = 20


class Differential:
    def __init__(self, build):
        self.harness = Asked(os.path.join(build, "tests/baremetal/baremetal_harness"))
        self.passed = 0
        self.problems = []
        self.explained = collections.Counter()
        self.outcomes = collections.Counter()

    def compare(self, job):
        ours, theirs = self.harness.ask(job), reference.answer(copy.deepcopy(job))
        outcome = "taken" if "value" in ours else "refused"
        self.outcomes[f"{job['ask']} {outcome}"] += 1
        if self.is_same(job, ours, theirs):
            self.passed += 1
            return
        reason = intended.why(job, ours, theirs)
        if reason:
            self.explained[reason] += 1
            self.passed += 1
        else:
            lines = (json.dumps(job, ensure_ascii=False), f"  berth  {ours}", f"  ironic {theirs}")
            self.problems.append("\n".join(line if len(line) < 1500 else line[:1500] + " …" for line in lines))

    @staticmethod
    def is_same(job, ours, theirs):
        if "value" in ours and "value" in theirs:
            mine, other = ours["value"], theirs["value"]
            if job["ask"] == "argument" and job["kind"] in ("uuid", "uuid_or_name") and reference.is_uuid_like(other):
                return mine.lower() == other.lower()
            return json.dumps(mine) == json.dumps(intended.lower_uuids(other) if job["ask"] in ("allocation", "node") else other)
        if "text" in ours and "text" in theirs and ours["status"] == theirs["status"]:
            return intended.unordered(ours["text"]) == intended.unordered(theirs["text"]) or intended.same_words(ours, theirs)
        return False

    def compare_states(self, job):
        """Each verb in each state, and the result of a restart."""
        ours, theirs = self.harness.ask(job)["value"], reference.answer(job)["value"]
        self.expect(ours["since"] == theirs["since"], f"{job}: since {ours['since']}, not {theirs['since']}")
        self.expect(set(ours["states"]) == set(theirs["states"]), f"{job}: {set(ours['states']) ^ set(theirs['states'])}")
        for name, mine in ours["states"].items():
            other = theirs["states"][name]
            if job["verb"] == "clean" and mine["state"]:
                other["target"] = "manageable"  # set by the call, not by the machine
            if job["verb"] in ("deleted", "undeploy") and name in intended.UNDEPLOYED_FROM:
                self.explained["undeploying a failed rescue is not in the specification"] += 1
                other["state"] = other["target"] = None
            if job["verb"] == "abort" or mine["transient"]:
                # abort: only from states that no node reaches; transient states: their own events, which a lock
                # prevents
                other["state"] = other["target"] = None
            self.expect(mine == other, f"{job['verb']} in {name}:\n  berth  {mine}\n  ironic {other}")

    def expect(self, good, problem):
        if good:
            self.passed += 1
        else:
            self.problems.append(problem)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=800, help="of each kind and seed")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "data/standard_traits.txt"), encoding="ascii") as file:
        known = set(file.read().split())
    differential = Differential(options.build)
    for job in cases.states():
        differential.compare_states(job)
    traits = sorted(known & set(reference.STANDARD_TRAITS))
    for seed in range(options.first, options.first + options.seeds):
        for job in cases.Cases(seed, traits).all(options.count):
            differential.compare(job)
    if differential.harness.end() != 0:
        differential.problems.append("the harness ended badly")
    for problem in differential.problems[:SHOWN]:
        print("FAILED", problem)
    for reason, count in differential.explained.most_common():
        print(f"intended: {reason}: {count}")
    print("asked:", dict(sorted(differential.outcomes.items())))
    print(f"{differential.passed} passed, {len(differential.problems)} failed")
    return 1 if differential.problems else 0


if __name__ == "__main__":
    sys.exit(main())
