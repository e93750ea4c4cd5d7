/* Plans PUT and DELETE /resource_providers/{uuid}/traits. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_PROVIDER_TRAITS_H
#define BERTH_PLACEMENT_WRITE_PLAN_PROVIDER_TRAITS_H

#include "engine/plan.h"

struct plan_provider_traits {
    struct slice provider_uuid;
    const struct slice *names; /* all the provider's traits after the write; a name may occur
                                * twice */
    size_t name_count;
    bool has_generation; /* false (DELETE): any generation is accepted */
    int64_t generation;
};

/* The provider's traits after the write, in the order of their ids; in the err's arena. */
struct planned_traits {
    struct slice *names;
    size_t count;
    int64_t modified_at_us; /* of the newest trait; 0: it has none */
    int64_t generation;
};

bool plan_provider_traits_set(const struct plan_provider_traits *input, const struct plan *plan,
                              struct planned_traits *result, struct err *err) BERTH_MUST_CHECK;

#endif
