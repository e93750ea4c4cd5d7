/* Plans PUT /resource_providers/{uuid}/aggregates. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_AGGREGATES_H
#define BERTH_PLACEMENT_WRITE_PLAN_AGGREGATES_H

#include "engine/plan.h"

struct plan_aggregates {
    struct slice provider_uuid;
    const struct slice *uuids; /* all the provider's aggregates after the write, without duplicates;
                                * stored as given */
    size_t uuid_count;
    bool has_generation; /* 1.19: compare it and raise it */
    int64_t generation;
};

/* Sets *generation to the provider's new generation. */
bool plan_aggregates_set(const struct plan_aggregates *input, const struct plan *plan,
                         int64_t *generation, struct err *err) BERTH_MUST_CHECK;

#endif
