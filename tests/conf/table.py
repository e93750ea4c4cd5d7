"""Whether every option of upstream is in berth's table, with the same names, type, default, bounds and choices."""

import json
import subprocess

import reference

FIELDS = ("type", "default", "choices", "any_case", "mutable", "secret", "min", "max", "old")
NOT_HERE = "not here"

# Intended differences: (section, name, field): (upstream's value, the reason). None: any value.
INTENDED = {
    ("DEFAULT", "pybasedir", "default"): (None, "berth's own files lie elsewhere"),
    ("DEFAULT", "default_log_levels", "default"): (None, "the newest oslo.log, which has more names"),
    ("DEFAULT", "default_log_levels", "mutable"): (False, "levels are for finding out what is happening now"),
    ("keystone_authtoken", "auth_uri", NOT_HERE): (None, "only the old name of www_authenticate_uri"),
    ("oslo_policy", "enforce_scope", "default"): (False, "the newest Python service always enforces scope"),
    ("oslo_policy", "policy_file", "default"): ("policy.json", "the newest oslo.policy: policy.yaml"),
    ("placement", "randomize_allocation_candidates", "mutable"): (False, "taken by a reload, too"),
    ("placement_database", "connection_parameters", "secret"): (False, "part of a URL that may hold a password"),
    ("profiler", "connection_string", "secret"): (False, "a URL that may hold a password"),
    ("profiler", "hmac_keys", "secret"): (False, "keys are secrets"),
}


def ours(program):
    rows = json.loads(subprocess.run([program, "table"], check=True, capture_output=True, text=True).stdout)
    return {(row["section"], row["name"]): adapt(row) for row in rows}


def adapt(row):
    """A row in Python's form."""
    row = dict(row)
    if row["choices"] is not None:
        row["choices"] = row["choices"].split("|")
    if row["min"] == row["max"] == 0:
        row["min"] = row["max"] = None
    row["default"] = typed(row["type"], row["default"])
    row["old"] = sorted(row["old"])
    return row


def typed(kind, text):
    if text is None:
        return None
    if kind in ("list", "multi"):
        return [item for item in text.split(",") if item]
    return {"integer": int, "float": float, "boolean": "true".__eq__, "string": str}[kind](text)


def differences(program):
    """[(name of the case, problem or None)]"""
    mine, used, found = ours(program), set(), []
    for (section, name), row in sorted(reference.table().items()):
        if (section, name) not in mine:
            problems = [] if excused(section, name, NOT_HERE, None, used) else [NOT_HERE]
        else:
            berth = mine[section, name]
            problems = [f"{field} is {berth[field]!r}, upstream {row[field]!r}" for field in FIELDS
                        if berth[field] != row[field] and not excused(section, name, field, row[field], used)]
        found.append((f"[{section}] {name}", "; ".join(problems) or None))
    for key in INTENDED:
        found.append(("intended " + " ".join(key), None if key in used else "there is no such difference"))
    return found


def excused(section, name, field, upstream, used):
    entry = INTENDED.get((section, name, field))
    if entry is None or entry[0] not in (None, upstream):
        return False
    used.add((section, name, field))
    return True
