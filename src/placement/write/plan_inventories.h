/* Plans the writes of a provider's inventories. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_INVENTORIES_H
#define BERTH_PLACEMENT_WRITE_PLAN_INVENTORIES_H

#include "engine/plan.h"

struct plan_inventory {
    struct slice class_name;
    struct inventory_figures figures;
    bool has_figures; /* false: the class is unknown, so the figures cannot be checked */
};

struct plan_inventories {
    struct slice provider_uuid;
    int64_t generation;       /* the generation that the client sent; not used for create */
    bool all_can_be_reserved; /* 1.26: reserved == total is allowed */
    const struct plan_inventory *items;
    size_t item_count;
};

/* Each function sets *generation to the provider's new generation. */

/* Adds items[0], an inventory of a class that the provider does not have. */
bool plan_inventory_create(const struct plan_inventories *input, const struct plan *plan,
                           int64_t *generation, struct err *err) BERTH_MUST_CHECK;

/* Replaces the figures of an inventory that it has: items[0]. */
bool plan_inventory_update(const struct plan_inventories *input, const struct plan *plan,
                           int64_t *generation, struct err *err) BERTH_MUST_CHECK;

/* Replaces all inventories with the items. No class occurs twice. */
bool plan_inventories_set(const struct plan_inventories *input, const struct plan *plan,
                          int64_t *generation, struct err *err) BERTH_MUST_CHECK;

bool plan_inventory_delete(struct slice provider_uuid, struct slice class_name,
                           const struct plan *plan, struct err *err) BERTH_MUST_CHECK;
bool plan_inventories_delete(struct slice provider_uuid, const struct plan *plan,
                             struct err *err) BERTH_MUST_CHECK;

#endif
