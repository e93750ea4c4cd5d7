/* Plans PUT and DELETE /traits/{name}. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_TRAITS_H
#define BERTH_PLACEMENT_WRITE_PLAN_TRAITS_H

#include "engine/plan.h"

struct planned_trait {
    bool is_new;
    int64_t created_at_us; /* 0: unknown */
};

/* Creates the trait if it does not exist. The name must be that of a custom trait. */
bool plan_trait_put(struct slice name, const struct plan *plan, struct planned_trait *result,
                    struct err *err) BERTH_MUST_CHECK;

/* Refuses standard traits and traits that a provider has. */
bool plan_trait_delete(struct slice name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
