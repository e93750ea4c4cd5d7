/* Placement's rules, for requests. */
#ifndef BERTH_POLICY_RULES_PLACEMENT_H
#define BERTH_POLICY_RULES_PLACEMENT_H

#include "policy/policy.h"

/* In the order of the rows of policy_of_placement. */
enum policy_placement_rule {
    POLICY_PLACEMENT_NONE, /* no rule: everybody */
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
    POLICY_PLACEMENT_COUNT
};

/* A rule as a number, also in constant tables; the compiler rejects a rule of another service. */
#define POLICY_PLACEMENT_NUMBER(rule)                                                              \
    ((unsigned)(rule) + 0 * (unsigned)sizeof((enum policy_placement_rule){(rule)}))

/* "placement:resource_providers:list"; "" for none. Any thread. */
static inline const char *policy_placement_name(enum policy_placement_rule rule)
{
    return policy_rule_name(POLICY_OF_PLACEMENT, (unsigned)rule);
}

/* See policy_check. Any thread. */
static inline enum policy_verdict policy_placement_check(struct policy_keeper *keeper,
                                                         enum policy_placement_rule rule,
                                                         const struct identity *identity,
                                                         const struct policy_target *target)
{
    return policy_check(keeper, POLICY_OF_PLACEMENT, (unsigned)rule, identity, target);
}

#endif
