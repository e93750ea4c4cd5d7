#!/usr/bin/python3
"""Who may do what in the Bare Metal API: the decisions of berth (src/baremetal/api/access.c) and of Ironic's
controllers must be equal for callers of every role and scope, except for INTENDED.

    tests/policy/access.py --build build [--share 4]      last line: N passed, N failed
"""

import argparse
import collections
import itertools
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import metal
from access_reference import Ironic
from eras import lines

SHOWN = 20
PROJECTS = [None, "p1", "p2"]

NODE_RULES = ["get", "update", "update_extra", "update:owner", "update:driver_info", "update_owner_provisioned", "validate",
              "set_maintenance", "clear_maintenance", "get_states", "set_power_state", "set_provision_state", "traits:list",
              "traits:set", "traits:delete", "vif:list", "bios:get", "history:get"]
CHECKS = ["driver:get", "conductor:get", "chassis:get", "shards:get"]
PATHS = ["/extra/a", "/instance_info", "/automated_clean", "/driver_info/x", "/properties/cpus", "/chassis_uuid", "/instance_uuid",
         "/lessee", "/owner", "/driver", "/driver_internal_info", "/network_data", "/network_interface", "/boot_interface",
         "/bios_interface", "/vendor_interface", "/conductor_group", "/name", "/retired", "/retired_reason", "/shard",
         "/description", "/resource_class", "/maintenance", "/protected"]

FILES = {
    **metal.FILES,
    "closed.yaml": lines({"baremetal:allocation:create_restricted": "!", "baremetal:node:create:self_owned_node": "!"}),
    "create.yaml": lines({"baremetal:allocation:create": "!", "baremetal:allocation:create_restricted": "role:reader",
                          "baremetal:allocation:create_pre_rbac": "role:member"}),
    "lists.yaml": lines({"baremetal:node:list_all": "role:member", "baremetal:allocation:list": "!",
                         "baremetal:node:get:filter_threshold": "!", "show_instance_secrets": "role:admin"}),
}


def asks():
    for rule in CHECKS:
        yield {"what": "check", "rule": "baremetal:" + rule}
    for kind, wanted in itertools.product(("node", "allocation"), PROJECTS):
        yield {"what": "list", "list": kind, "wanted": wanted}
    for kind in ("port", "portgroup", "volume"):
        yield {"what": "list", "list": kind, "wanted": None}
    for owner, rule in itertools.product(PROJECTS, ("get", "update", "delete")):
        yield {"what": "allocation", "rule": "baremetal:allocation:" + rule, "owner": owner}
    for owner in PROJECTS:
        yield {"what": "create_node", "owner": owner}
        yield {"what": "create_allocation", "owner": owner}
    for owner, lessee in ((None, None), ("p1", None), ("p2", None), ("p3", "p1"), ("p1", "p2")):
        about = {"owner": owner, "lessee": lessee}
        for rule in NODE_RULES:
            yield {"what": "node", "rule": "baremetal:node:" + rule, **about}
        for path, value in itertools.product(PATHS, (False, True)):
            if path == "/automated_clean" or value:
                yield {"what": "patch", "patch": [{"op": "add", "path": path, "value": value}], **about}
        for paths in ([], ["/description", "/extra"], ["/extra", "/owner", "/name"]):
            yield {"what": "patch", "patch": [{"op": "add", "path": path, "value": 1} for path in paths], **about}
        yield {"what": "delete", **about}
        for in_list in (False, True):
            yield {"what": "masks", "in_list": in_list, **about}


def some_asks(number, bits, share):
    """All for the defaults, and one of so many for each file and settings."""
    return list(asks())[(number + bits) % share::share] if number else list(asks())


def masked(answer):
    return {word for word in answer.split() if "=" in word or word.endswith("secrets")}


def without_project(caller, ask, ours, theirs):
    if caller.get("project_id") or ask.get("owner"):
        return False
    if ask["what"] == "masks":
        return masked(ours) > masked(theirs)
    return ask["what"] in ("node", "allocation", "patch", "delete") and not ours.startswith("ok")


def scope(caller, ask, ours, theirs):
    return theirs == "scope" and (not ours.startswith("ok") or (
        ask["what"] == "create_allocation" and caller.get("system_scope")))


def ownerless(caller, ask, ours, theirs):
    return (ask["what"] in ("create_node", "create_allocation") and caller.get("domain_id") and ours.startswith("403")
            and (theirs.startswith("ok -") or theirs == "400"))


def owner_of_node(caller, ask, ours, theirs):
    return ask["what"] == "create_node" and ask["owner"] and theirs == "400" and ours == "ok " + ask["owner"]


def owner_of_allocation(caller, ask, ours, theirs):
    return (ask["what"] == "create_allocation" and ask["owner"] not in (None, caller.get("project_id"))
            and ours == "403 baremetal:allocation:create_restricted"
            and (theirs == "403" or theirs.startswith("ok " + ask["owner"])))


def owner_kept(caller, ask, ours, theirs):
    return (ask["what"] == "create_allocation" and not caller.get("project_id") and theirs.startswith("ok - ")
            and ask["owner"] and ours.startswith(f"ok {ask['owner']} "))


INTENDED = {
    "who has no project owns nothing, also not what has no owner: upstream None is equal to None": without_project,
    "a token of the wrong scope is refused: upstream it is a 500": scope,
    "a domain is no project: its tokens make nothing that has no owner": ownerless,
    "who may create nodes with any owner may name one with a token of a project, too: upstream a 400": owner_of_node,
    "an owner of one's choice always takes create_restricted, which the 403 names": owner_of_allocation,
    "who has no project and names an owner gets that one: upstream none": owner_kept,
}


def compare(job, ours, theirs):
    """(passed, Counter of intended differences, problems)"""
    passed, explained, problems = 0, collections.Counter(), []
    for caller, mine, other in zip(job["identities"], ours, theirs):
        for ask, a, b in zip(job["asks"], mine, other):
            if " driver_info=" in a:  # nothing is left to mask in it
                a = a.replace(" driver_secrets", "")
            if a.strip() == b.strip():
                passed += 1
                continue
            why = [name for name, is_so in INTENDED.items() if is_so(caller, ask, a, b)]
            if why:
                explained[why[0]] += 1
                passed += 1
            else:
                problems.append(f"{os.path.basename(job['file'])} new_defaults={job['new_defaults']} scope={job['scope']} "
                                f"{caller} {ask}\n  berth  {a}\n  ironic {b}")
    return passed, explained, problems


def check_open(ask_berth):
    """Without authentication everything is allowed and secrets are masked, whatever the rules say."""
    problems = []
    for text in ("", lines({"baremetal:node:get": "!", "baremetal:node:delete": "!", "show_password": "rule:is_admin"})):
        job = {"file": text, "new_defaults": True, "scope": True, "identities": [{"system_scope": "all", "roles": ["admin"]}],
               "asks": [{**ask, "open": True} for ask in asks()]}
        for ask, answer in zip(job["asks"], ask_berth(job)[0]):
            wanted = {"masks": "ok driver_secrets instance_secrets", "create_node": f"ok {ask.get('owner') or '-'}",
                      "create_allocation": f"ok {ask.get('owner') or '-'} of -",
                      "list": f"ok {ask.get('wanted') or '-'}"}.get(ask["what"], "ok ")
            if answer != wanted:
                problems.append(f"without authentication {ask}: {answer}, not {wanted}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--share", type=int, default=4, metavar="N", help="one of N questions for each file of rules (4)")
    options = parser.parse_args()
    process = subprocess.Popen([os.path.join(options.build, "tests/policy/access_harness")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    ironic, passed, explained, problems, decisions = Ironic(), 0, collections.Counter(), [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="berth-access-") as directory:
        def ask_berth(job):
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        def file_of(name, text):
            path = os.path.join(directory, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return path

        for number, (name, text) in enumerate(FILES.items()):
            for bits in range(4):
                job = {"file": file_of(name, text), "new_defaults": bool(bits & 1), "scope": bool(bits & 2),
                       "identities": metal.IDENTITIES, "asks": some_asks(number, bits, options.share)}
                ours = ask_berth(job)
                decisions.update(answer[:3] for answers in ours for answer in answers)
                good, intended, bad = compare(job, ours, ironic.answer(job))
                passed += good
                explained += intended
                problems += bad
        wide_open = check_open(lambda job: ask_berth({**job, "file": file_of("open.yaml", job["file"])}))
        passed += not wide_open
        problems += wide_open
    process.stdin.close()
    if process.wait() != 0:
        problems.append("the harness ended badly")
    for problem in problems[:SHOWN]:
        print("FAILED", problem)
    for why, count in explained.most_common():
        print(f"intended: {why}: {count}")
    print("decisions:", dict(decisions))
    print(f"{passed} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
