"""Policy files found in deployments."""

import json

NAMES = ["default", "context_is_admin", "admin_or_owner", "rule:admin_api"]

OPERATIONS = [
    "resource_providers:list", "resource_providers:create", "resource_providers:show", "resource_providers:update",
    "resource_providers:delete", "resource_classes:list", "resource_classes:create", "resource_classes:show",
    "resource_classes:update", "resource_classes:delete", "resource_providers:inventories:list",
    "resource_providers:inventories:create", "resource_providers:inventories:show",
    "resource_providers:inventories:update", "resource_providers:inventories:delete",
    "resource_providers:aggregates:list", "resource_providers:aggregates:update", "resource_providers:usages", "usages",
    "traits:list", "traits:show", "traits:update", "traits:delete", "resource_providers:traits:list",
    "resource_providers:traits:update", "resource_providers:traits:delete", "allocations:manage", "allocations:list",
    "allocations:update", "allocations:delete", "resource_providers:allocations:list", "allocation_candidates:list",
    "reshaper:reshape",
]
READS = ("list", "show", "usages")


def old_default(operation):
    if operation == "usages":
        return "rule:system_or_project_reader"
    return "rule:system_reader_api" if operation.endswith(READS) else "rule:system_admin_api"


def lines(rules, comment=""):
    return "".join(f"{comment}{json.dumps(name)}: {json.dumps(rule)}\n" for name, rule in rules.items())


HELM = {"context_is_admin": "role:admin", "admin_or_owner": "is_admin:True or project_id:%(project_id)s",
        "default": "rule:admin_or_owner", "admin_api": "role:admin",
        **{"placement:" + name: "rule:admin_api" for name in OPERATIONS}}

# 8.0.0's own sample, with every rule in it uncommented.
OF_8 = {"admin_api": "role:admin", "system_admin_api": "role:admin and system_scope:all",
        "system_reader_api": "role:reader and system_scope:all",
        "project_reader_api": "role:reader and project_id:%(project_id)s",
        "system_or_project_reader": "rule:system_reader_api or rule:project_reader_api",
        **{"placement:" + name: old_default(name) for name in OPERATIONS}}

# File name: its text, and the files of policy directories, one each.
FILES = {
    "helm.yaml": (lines(HELM), {}),
    "helm.json": (json.dumps(HELM, indent=2), {}),
    "rules-of-8.yaml": (lines({name: rule for name, rule in OF_8.items() if name.startswith("placement:")}), {}),
    "whole-8.yaml": (lines(OF_8), {}),
    # The sample as generated: commented out, except the deprecated name, four times.
    "sample-8.yaml": (lines(OF_8, "#") + "".join(
        lines({"rule:admin_api": "rule:" + name})
        for name in ("system_admin_api", "system_reader_api", "project_reader_api", "system_or_project_reader")), {}),
    "deprecated-name.yaml": (lines({"rule:admin_api": "role:operator or role:reader"}), {}),
    "deprecated-name-itself.yaml": (lines({"rule:admin_api": "rule:admin_or_service_api"}), {}),
    "before-8.json": (json.dumps({"admin_api": "role:admin", "placement:usages": "rule:admin_api or project_id:%(project_id)s",
                                  "placement:reshaper:reshape": [["rule:admin_api"], ["role:service", "user_id:nova"]]}), {}),
    "alias.yaml": (lines({"admin_or_service_api": "role:member or role:admin"}), {}),
    "aliases.yaml": (lines({"service_api": "role:x", "project_reader_api": "role:reader"}), {}),
    "closed.yaml": (lines({"placement:" + name: "!" for name in OPERATIONS}), {}),
    "open.yaml": (lines({"placement:" + name: "" for name in OPERATIONS}), {}),
    "with-directories.yaml": (
        lines({"placement:usages": "role:one", "placement:traits:list": "role:admin", "admin_api": "!"}),
        {"50-usages.yaml": lines({"placement:usages": "role:reader"}),
         "10-usages.json": json.dumps({"placement:usages": "@", "admin_api": "role:service"})}),
    "default.yaml": (lines({"default": "role:reader", "placement:traits:list": "rule:no_such_rule"}), {}),
    "circle.yaml": (lines({"admin_or_service_api": "role:admin or rule:b", "b": "role:reader or rule:c",
                           "c": "not rule:admin_or_service_api", "d": "rule:d"}), {}),
}
