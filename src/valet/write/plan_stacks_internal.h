/* The part of stack_facts.c that plan_stacks.c uses. The writer only. */
#ifndef BERTH_VALET_WRITE_PLAN_STACKS_INTERNAL_H
#define BERTH_VALET_WRITE_PLAN_STACKS_INTERNAL_H

#include "valet/write/plan_stacks.h"

/* A claim that must be made, on the newest version. */
struct stack_claim_found {
    const struct valet_group *group;
    struct slice provider; /* of a rack */
    bool is_rack;
    const struct provider **hosts; /* those that are not yet in the group's aggregate */
    size_t host_count;
};

struct stack_facts {
    struct stack_claim_found *claims;
    size_t claim_count;
};

/* Whether all facts that the commit depends on, except capacity, hold on the plan's version. */
bool stack_facts_hold(const struct stack_commit *commit, const struct plan *plan,
                      struct stack_facts *facts) BERTH_MUST_CHECK;

#endif
