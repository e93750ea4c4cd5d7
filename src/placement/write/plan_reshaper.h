/* Plans POST /reshaper: replaces inventories of some providers and allocations of some consumers,
 * together or not at all. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_RESHAPER_H
#define BERTH_PLACEMENT_WRITE_PLAN_RESHAPER_H

#include "engine/claim.h"

struct reshape_inventory {
    struct slice class_name;
    struct inventory_figures figures;
};

/* A provider with its inventories after the write. */
struct reshape_provider {
    struct slice uuid;
    int64_t generation;
    struct slice generation_text; /* as a message shows it; data == NULL: as the number */
    const struct reshape_inventory *inventories; /* no class occurs twice */
    size_t inventory_count;
};

struct reshape {
    const struct reshape_provider *providers; /* no uuid occurs twice */
    size_t provider_count;
    const struct claim *claims; /* no consumer occurs twice */
    size_t claim_count;
};

bool plan_reshaper(const struct reshape *reshape, const struct plan *plan,
                   struct err *err) BERTH_MUST_CHECK;

#endif
