/* The policy rules and who may do what (operators spec, Policy defaults). */
#ifndef BERTH_AUTH_POLICY_H
#define BERTH_AUTH_POLICY_H

#include "auth/identity.h"

enum policy_rule {
    POLICY_NONE, /* no rule: anybody */
    POLICY_PROVIDERS_LIST,
    POLICY_PROVIDERS_CREATE,
    POLICY_PROVIDERS_SHOW,
    POLICY_PROVIDERS_UPDATE,
    POLICY_PROVIDERS_DELETE,
    POLICY_INVENTORIES_LIST,
    POLICY_INVENTORIES_CREATE,
    POLICY_INVENTORIES_SHOW,
    POLICY_INVENTORIES_UPDATE,
    POLICY_INVENTORIES_DELETE,
    POLICY_AGGREGATES_LIST,
    POLICY_AGGREGATES_UPDATE,
    POLICY_PROVIDER_TRAITS_LIST,
    POLICY_PROVIDER_TRAITS_UPDATE,
    POLICY_PROVIDER_TRAITS_DELETE,
    POLICY_PROVIDER_USAGES,
    POLICY_PROVIDER_ALLOCATIONS_LIST,
    POLICY_CLASSES_LIST,
    POLICY_CLASSES_CREATE,
    POLICY_CLASSES_SHOW,
    POLICY_CLASSES_UPDATE,
    POLICY_CLASSES_DELETE,
    POLICY_TRAITS_LIST,
    POLICY_TRAITS_SHOW,
    POLICY_TRAITS_UPDATE,
    POLICY_TRAITS_DELETE,
    POLICY_ALLOCATIONS_MANAGE,
    POLICY_ALLOCATIONS_LIST,
    POLICY_ALLOCATIONS_UPDATE,
    POLICY_ALLOCATIONS_DELETE,
    POLICY_CANDIDATES_LIST,
    POLICY_USAGES,
    POLICY_RESHAPE,
    POLICY_RULE_COUNT
};

struct policy_settings {
    bool enforce_new_defaults; /* false: the deprecated role:admin is OR'd to each rule */
    bool enforce_scope;        /* false: scope types are left out */
};

enum policy_verdict {
    POLICY_ALLOWED,
    POLICY_DENIED,       /* "Policy does not allow X to be performed." */
    POLICY_DENIED_SCOPE, /* the detail is the rule's name alone */
};

/* "placement:resource_providers:list" and so on. */
const char *policy_rule_name(enum policy_rule rule);

/* target_project: the project that the question is about (usages), or data == NULL. */
enum policy_verdict policy_check(const struct policy_settings *settings, enum policy_rule rule,
                                 const struct identity *identity, struct slice target_project);

#endif
