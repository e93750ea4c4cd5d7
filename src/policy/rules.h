/* THE tables of policy rules, one for each service: every rule that it knows, with its default.
 * Sources of the defaults: operators spec, Policy defaults, HEAD; for bare metal the rules that
 * Ironic 21.4.4 registers; Valet spec, 2.3. */
#ifndef BERTH_POLICY_RULES_H
#define BERTH_POLICY_RULES_H

#include "policy/policy.h"

enum policy_scope { POLICY_SCOPE_SYSTEM = 1, POLICY_SCOPE_DOMAIN = 2, POLICY_SCOPE_PROJECT = 4 };

enum { POLICY_OPERATIONS_MAX = 8 };

struct policy_operation {
    const char *method; /* NULL: no operation */
    const char *path;
};

/* A rule as it was before: it also passes as long as [oslo_policy] enforce_new_defaults is false
 * and no file overrides the new one. */
struct policy_deprecation {
    const char *name; /* a file that overrides this name overrides the new rule */
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
    const char *leaving; /* for rules without a successor: the release that announced their removal;
                            otherwise NULL */
    bool unserved;       /* never checked: its operations are not served */
};

/* Its rows: first the rules that requests check, in the order of the service's enum after NONE;
 * then those that only other rules refer to, and those that are not served. */
struct policy_table {
    const char *service; /* prefix of the names of its operations, before a colon */
    const char *title;   /* for people */
    unsigned checked;
    unsigned count;
    const struct policy_default *rows;
};

extern const struct policy_table policy_of_placement;
extern const struct policy_table policy_of_baremetal;
extern const struct policy_table policy_of_valet;

#endif
