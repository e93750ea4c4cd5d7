/* Plans POST /resource_providers, PUT and DELETE /resource_providers/{uuid}. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_PROVIDERS_H
#define BERTH_PLACEMENT_WRITE_PLAN_PROVIDERS_H

#include "engine/plan.h"

/* A provider after the write; texts are in the err's arena or belong to the caller. */
struct planned_provider {
    struct slice uuid;
    struct slice name;
    struct slice parent_uuid; /* data == NULL: a root */
    struct slice root_uuid;
    int64_t generation;
};

/* parent_uuid: data == NULL: a root. */
bool plan_provider_create(struct slice uuid, struct slice name, struct slice parent_uuid,
                          const struct plan *plan, struct planned_provider *result,
                          struct err *err) BERTH_MUST_CHECK;

struct plan_provider_update {
    struct slice uuid;
    struct slice name;
    bool has_parent;          /* false: the parent is unchanged */
    struct slice parent_uuid; /* data == NULL: becomes a root */
    bool may_move;            /* 1.37: a provider that has a parent may get a different one, or
                               * none */
};

bool plan_provider_update(const struct plan_provider_update *update, const struct plan *plan,
                          struct planned_provider *result, struct err *err) BERTH_MUST_CHECK;

/* Refuses providers that have children or allocations. */
bool plan_provider_delete(struct slice uuid, const struct plan *plan,
                          struct err *err) BERTH_MUST_CHECK;

/* The provider, or NULL with the 404 "No resource provider with uuid X found". */
const struct provider *plan_provider_find(const struct version *version, struct slice uuid,
                                          struct err *err);

/* Whether that is the provider's generation; otherwise sets the 409 with the text that traits and
 * aggregates use. */
bool plan_generation_is(const struct provider *provider, int64_t generation,
                        struct err *err) BERTH_MUST_CHECK;

#endif
