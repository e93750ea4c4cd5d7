/* THE table of policy rules: every rule that the service knows, with its default. Source of the
 * defaults: operators spec, Policy defaults, HEAD. */
#ifndef BERTH_POLICY_RULES_H
#define BERTH_POLICY_RULES_H

#include "policy/policy.h"

/* Rules that other rules refer to stand behind those of the operations. */
enum policy_alias {
    POLICY_ALIAS_ADMIN = POLICY_RULE_COUNT,
    POLICY_ALIAS_SERVICE,
    POLICY_ALIAS_ADMIN_OR_SERVICE,
    POLICY_ALIAS_PROJECT_READER,
    POLICY_ALIAS_ADMIN_OR_PROJECT_READER_OR_SERVICE,
    POLICY_ALIAS_SYSTEM_ADMIN, /* from here on: 8.0.0's, for files that still refer to them */
    POLICY_ALIAS_SYSTEM_READER,
    POLICY_ALIAS_SYSTEM_OR_PROJECT_READER,
    POLICY_TABLE_COUNT
};

enum policy_scope { POLICY_SCOPE_SYSTEM = 1, POLICY_SCOPE_DOMAIN = 2, POLICY_SCOPE_PROJECT = 4 };

enum { POLICY_OPERATIONS_MAX = 2 };

struct policy_operation {
    const char *method; /* NULL: no operation */
    const char *path;
};

/* A rule as it was before: it passes too as long as [oslo_policy] enforce_new_defaults is false
 * and no file overrides the new one. */
struct policy_deprecation {
    const char *name; /* a file that overrides this name means the new rule */
    const char *check;
    const char *reason;
    const char *since;
};

struct policy_default {
    const char *name;
    const char *check; /* in the language of policies */
    const char *description;
    struct policy_operation operations[POLICY_OPERATIONS_MAX];
    unsigned scopes;                             /* enum policy_scope; 0: of any */
    const struct policy_deprecation *deprecated; /* NULL: none */
};

/* By enum policy_rule and enum policy_alias; the row of POLICY_NONE is empty. */
extern const struct policy_default policy_rules[POLICY_TABLE_COUNT];

#endif
