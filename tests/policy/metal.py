"""The bare metal part: callers, targets and files, and whether our table is the one that Ironic registers."""

import json

import ironic.conf  # registers the options that a context reads
from ironic.common import context, policy

from eras import lines

ROLES = [[], ["reader"], ["member", "reader"], ["manager", "member", "reader"], ["admin", "manager", "member", "reader"],
         ["service"], ["observer"], ["baremetal_admin"], ["administrator"]]
SCOPES = [
    {"project_id": "p1", "project_name": "demo", "project_domain_id": "default"},
    {"project_id": "p2", "project_name": "service", "project_domain_id": "d1"},
    {"project_id": "p1", "project_name": "baremetal", "is_admin_project": False},
    {"system_scope": "all"},
    {"domain_id": "d1"},
]
IDENTITIES = [{"user_id": "u1", "user_domain_id": "default", **scope, "roles": roles} for roles in ROLES for scope in SCOPES]

TARGETS = [
    {"node.owner": "p1", "allocation.owner": "p2"},
    {"node.owner": "p2", "node.lessee": "p1", "allocation.owner": "p1"},
    {"node.owner": None, "allocation.owner": None, "project_id": "p1"},
    {"user_id": "u1"},
    {"node.owner": "p3", "config.service_project_name": "service"},
]

CREDENTIALS = ["project_name", "is_public_api"]

# File name: its text.
FILES = {
    "none.yaml": "",
    "base.yaml": lines({"is_admin": "role:admin and project_id:p1", "service_role": "role:service and project_name:service"}),
    "admin.yaml": lines({"admin_api": "role:manager", "is_member": "project_name:service"}),
    # The old name of several rules.
    "get.yaml": lines({"baremetal:node:get": "role:observer or rule:is_node_lessee", "show_password": "rule:is_admin"}),
    "update.yaml": lines({"baremetal:node:update": "rule:is_node_owner", "baremetal:node:update:name": "role:reader"}),
    "get-itself.yaml": lines({"baremetal:node:get": "rule:baremetal:node:get:last_error"}),
    "allocations.yaml": lines({"baremetal:allocation:get": "rule:is_allocation_owner", "baremetal:allocation:create_pre_rbac": "@"}),
    "public.json": json.dumps({"public_api": "is_public_api:False", "baremetal:node:ipa_heartbeat": "rule:public_api"}),
    "default.yaml": lines({"default": "role:observer", "baremetal:port:get": "rule:nowhere"}),
}


def registered():
    return list(policy.list_policies())


ironic.conf.CONF([], project="nothing", default_config_files=[], default_config_dirs=[])


def request_context(**identity):
    return context.RequestContext(**identity)


def table_differs(table):
    """Differences between our table and Ironic's list, a text for each."""
    ours = {row["name"]: row for row in table}
    theirs = {rule.name: rule for rule in registered()}
    for name in ours.keys() ^ theirs.keys():
        yield f"{name} is only {'ours' if name in ours else 'theirs'}"
    for name in ours.keys() & theirs.keys():
        row, rule = ours[name], theirs[name]
        old = rule.deprecated_rule or None
        operations = [[at["method"], "/" + at["path"].lstrip("/")] for at in getattr(rule, "operations", None) or []]
        for what, mine, other in (
                ("check", row["check"], rule.check_str), ("scopes", row["scopes"], rule.scope_types or []),
                ("operations", row["operations"], operations),
                ("deprecated", row["deprecated"] and [row["deprecated"]["name"], row["deprecated"]["check"]],
                 old and [old.name, old.check_str]),
                ("since", row["deprecated"] and row["deprecated"]["since"], old and "Wallaby"),
                ("leaving", row["leaving"], "Wallaby" if rule.deprecated_for_removal else None)):
            if mine != other:
                yield f"{what} of {name}: ours {mine!r}, theirs {other!r}"
    since = {rule.deprecated_since for rule in theirs.values() if rule.deprecated_for_removal}
    since |= {rule.deprecated_rule.deprecated_since for rule in theirs.values() if rule.deprecated_rule}
    if since != {"W"}:
        yield f"not all were deprecated in Wallaby: {since}"
