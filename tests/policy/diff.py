#!/usr/bin/python3
"""Random rules, files and callers: berth and oslo.policy must decide alike, except for tests/policy/intended.py; for
Placement's rules and for bare metal's, which Ironic registers in the reference.

    tests/policy/diff.py --build build [--seeds 3] [--first 1] [--files 60]      last line: N passed, N failed
"""

import argparse
import collections
import json
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import eras
import intended
import metal
import rules
from asked import Asked
from reference import Reference, defaults_of

SHOWN = 20
SERVICES = ["placement", "baremetal"]


class Differential:
    def __init__(self, build, service):
        self.harness = Asked(os.path.join(build, "tests/policy/policy_harness"))
        self.service = service
        self.table = self.harness.ask({"table": service})
        self.known = [row["name"] for row in self.table]
        if service == "placement":
            self.reference = Reference(defaults_of(self.table))
            self.people = {"identities": rules.IDENTITIES, "targets": rules.TARGETS}
            self.credentials = []
        else:
            self.reference = Reference(metal.registered(), metal.request_context)
            self.people = {"identities": rules.IDENTITIES + metal.IDENTITIES[::7], "targets": rules.TARGETS + metal.TARGETS}
            self.credentials = metal.CREDENTIALS
        self.passed = 0
        self.problems = []
        self.explained = collections.Counter()
        self.letters = collections.Counter()

    def compare(self, what, job, texts):
        """texts: those of each rule in the files."""
        ours, theirs = self.harness.ask(job), self.reference.answer(job)
        if "error" in ours or "error" in theirs:
            self.compare_refusals(what, ours, theirs, job)
            return
        for name in job["names"]:
            mine, other = ours["verdicts"][name], theirs["verdicts"][name]
            self.letters.update(mine)
            if mine == other:
                self.passed += 1
                continue
            reached = reachable(name, texts, self.table, job)
            why = intended.rule_differs(reached)
            if why and all(a == b or a == "E" for a, b in zip(mine, other)):
                self.explained[why] += 1
                self.passed += 1
            else:
                self.problems.append(f"{what}, {name}: {reached!r}\n  berth {mine}\n  oslo  {other}")

    def compare_refusals(self, what, ours, theirs, job):
        why = intended.file_differs(ours.get("error"), theirs.get("error"))
        if "error" in ours and "error" in theirs:
            self.passed += 1
        elif why:
            self.explained[why] += 1
            self.passed += 1
        else:
            self.problems.append(f"{what}: berth {ours.get('error')!r}, oslo {theirs.get('error')!r}")


def reachable(name, texts, table, job):
    """The texts of a rule and of all rules that it refers to."""
    known = {row["name"]: row["check"] for row in table}
    old = {row["name"]: row["deprecated"] for row in table if row["deprecated"]}
    found, waiting = {}, [name]
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        rule = texts.get(at, known.get(at))
        if rule is None and at != job["default"]:
            waiting.append(job["default"])
        pieces = flat(rule)
        if at in old and at not in texts:
            waiting.append(old[at]["name"])
            if not job["new_defaults"]:
                pieces = pieces + flat(old[at]["check"])
        found[at] = pieces
        waiting += [piece for text in pieces for piece in re.findall(r"rule:(\S*?)\)*(?=\s|$)", text)]
        waiting += [piece[5:] for piece in pieces if piece.startswith("rule:")]
    return [piece for pieces in found.values() for piece in pieces]


def flat(rule):
    if isinstance(rule, str):
        return [rule]
    return [piece for item in rule for piece in flat(item)] if isinstance(rule, list) else []


def job_of(differential, file, dirs, chance, names):
    return {"service": differential.service, "file": file, "dirs": dirs, "new_defaults": chance.random() < 0.5,
            "scope": chance.random() < 0.5, "default": chance.choice(["default", "default", "", "r1"]), "names": names,
            **differential.people}


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def play(differential, seed, count, directory):
    """A policy file and up to two directories, where later files override earlier ones."""
    chance = random.Random(seed)
    known = differential.known
    for number in range(count):
        names = [f"r{i}" for i in range(12)] + ["default", "nothing", "rule:admin_api", "placement:typing error"]
        pool = names[:12] + ["default"] * 2 + ["nothing"] + known + ["rule:admin_api", "r3)", "", "%(user_id)s"]
        make = rules.Rules(chance, pool, differential.credentials)
        layers, dirs, file = [], [], ""
        where = os.path.join(directory, f"{seed}-{number}")
        os.mkdir(where)
        for part in ["", "d1", "d2"][:chance.choice([1, 1, 2, 3])]:
            chosen = {name: make.rule() for name in names if chance.random() < 0.7}
            chosen.update({name: make.rule() for name in chance.sample(known, chance.randint(0, 8))})
            kind, text = rules.dump(chance, chosen)
            path = os.path.join(where, part)
            if part:
                os.mkdir(path)
                write(os.path.join(path, ".hidden"), "{ broken")
                os.mkdir(os.path.join(path, "directory"))
                dirs.append(path)
            written = write(os.path.join(path, "policy." + kind), text)
            file = file if part else written
            layers.append(chosen)
        if chance.random() < 0.1:
            file = ""  # directories alone
            del layers[0]
        texts = {name: rule for layer in layers for name, rule in layer.items()}
        asked = chance.sample(known, 30) if len(known) > 60 else known
        job = job_of(differential, file, dirs + ["/nowhere"], chance, names + asked)
        differential.compare(f"seed {seed}, {where}", job, texts)


def play_files(differential, directory):
    """YAML features of files, and the policies of old releases."""
    chance = random.Random(0)
    for number, text in enumerate(rules.FILES):
        path = write(os.path.join(directory, f"file{number}.yaml"), text)
        job = job_of(differential, path, [], chance, ["r0", "<<", "default", "placement:usages"])
        differential.compare(repr(text), {**job, "default": "default"}, {"r0": text})
    for name, (text, more) in eras.FILES.items():
        path = write(os.path.join(directory, name), text)
        dirs = []
        for inner, inner_text in more.items():
            dirs.append(os.path.join(directory, name + ".d" + str(len(dirs))))
            os.makedirs(dirs[-1])
            write(os.path.join(dirs[-1], inner), inner_text)
        for bits in range(4):
            job = {**job_of(differential, path, dirs, chance, differential.known + eras.NAMES), "default": "default",
                   "new_defaults": bool(bits & 1), "scope": bool(bits & 2)}
            differential.compare(f"{name} {bits}", job, {})


def play_metal(differential, directory):
    """Every rule that Ironic registers, for callers of every role and scope."""
    chance = random.Random(0)
    for difference in metal.table_differs(differential.table):
        differential.problems.append("the table: " + difference)
    for name, text in metal.FILES.items():
        path = write(os.path.join(directory, name), text)
        for bits in range(4):
            job = {**job_of(differential, path, [], chance, differential.known), "default": "default",
                   "new_defaults": bool(bits & 1), "scope": bool(bits & 2), "identities": metal.IDENTITIES,
                   "targets": metal.TARGETS}
            differential.compare(f"{name} {bits}", job, {})


def run(options, service):
    differential = Differential(options.build, service)
    with tempfile.TemporaryDirectory(prefix="berth-policy-") as directory:
        if service == "placement":
            play_files(differential, directory)
        else:
            play_metal(differential, directory)
        for seed in range(options.first, options.first + options.seeds):
            play(differential, seed, options.files, directory)
    if differential.harness.end() != 0:
        differential.problems.append("the harness ended badly")
    return differential


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--service", action="append", choices=SERVICES, help="which; may be repeated; all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--files", type=int, default=60, help="for each seed")
    options = parser.parse_args()
    passed = failed = 0
    for service in options.service or SERVICES:
        differential = run(options, service)
        for problem in differential.problems[:SHOWN]:
            print("FAILED", problem)
        for why, count in differential.explained.most_common():
            print(f"intended: {why}: {count}")
        print(f"verdicts of {service}: {dict(differential.letters)}")
        passed += differential.passed
        failed += len(differential.problems)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
