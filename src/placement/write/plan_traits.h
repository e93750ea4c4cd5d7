/* Plans PUT and DELETE /traits/{name}. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_TRAITS_H
#define BERTH_PLACEMENT_WRITE_PLAN_TRAITS_H

#include "engine/plan.h"

struct planned_trait {
    bool is_new;
    int64_t created_at_us; /* 0: not known */
};

/* Makes the trait if it is not there. The name is a custom trait's. */
bool plan_trait_put(struct slice name, const struct plan *plan, struct planned_trait *result,
                    struct err *err) BERTH_MUST_CHECK;

/* Refuses standard traits and those that a provider has. */
bool plan_trait_delete(struct slice name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
