/* Valet's rules, for requests. */
#ifndef BERTH_POLICY_RULES_VALET_H
#define BERTH_POLICY_RULES_VALET_H

#include "policy/policy.h"

/* In the order of the rows of policy_of_valet. */
enum policy_valet_rule {
    POLICY_VALET_NONE, /* no rule: everybody */
    POLICY_VALET_GROUP_LIST,
    POLICY_VALET_GROUP_SHOW,
    POLICY_VALET_GROUP_CREATE,
    POLICY_VALET_GROUP_UPDATE,
    POLICY_VALET_GROUP_DELETE,
    POLICY_VALET_GROUP_MEMBERS,
    POLICY_VALET_STATUS,
    POLICY_VALET_PLAN_LIST,
    POLICY_VALET_PLAN_SHOW,
    POLICY_VALET_PLAN_CREATE,
    POLICY_VALET_PLAN_UPDATE,
    POLICY_VALET_PLAN_MIGRATE, /* in addition to the rule for updates */
    POLICY_VALET_PLAN_DELETE,
    POLICY_VALET_PLACEMENT_LIST,
    POLICY_VALET_PLACEMENT_SHOW,
    POLICY_VALET_PLACEMENT_RESERVE,
    POLICY_VALET_PLACEMENT_DELETE,
    POLICY_VALET_ALL_PROJECTS, /* to see plans and placements of other projects */
    POLICY_VALET_COUNT
};

/* A rule as a number, also in constant tables; the compiler rejects a rule of another service. */
#define POLICY_VALET_NUMBER(rule)                                                                  \
    ((unsigned)(rule) + 0 * (unsigned)sizeof((enum policy_valet_rule){(rule)}))

/* "valet:group:list"; "" for none. Any thread. */
static inline const char *policy_valet_name(enum policy_valet_rule rule)
{
    return policy_rule_name(POLICY_OF_VALET, (unsigned)rule);
}

/* See policy_check. Any thread. */
static inline enum policy_verdict policy_valet_check(struct policy_keeper *keeper,
                                                     enum policy_valet_rule rule,
                                                     const struct identity *identity,
                                                     const struct policy_target *target)
{
    return policy_check(keeper, POLICY_OF_VALET, (unsigned)rule, identity, target);
}

#endif
