/* What holds for a cloud (cloud.h) before and after any write, taken from the specifications and
 * not from the code that enforces it. */
#ifndef BERTH_TESTS_INVARIANTS_H
#define BERTH_TESTS_INVARIANTS_H

#include "products/cloud.h"

enum { SEEN_MAX = 128 };

/* One class of a provider, or what a consumer holds of it. */
struct seen {
    int64_t provider_id;
    int64_t root_id;
    uint32_t class_number;
    int64_t used;
    struct slice consumer;
    struct slice project;
    bool is_hold;
};

struct seen_provider {
    int64_t id;
    int32_t generation;
    uint64_t content; /* equal: only its name or its place may have changed */
};

struct snapshot {
    struct seen held[SEEN_MAX];
    size_t held_count;
    struct seen_provider providers[SEEN_MAX];
    size_t provider_count;
};

void snapshot_take(struct snapshot *snapshot, struct metal_world *cloud);

/* What the write is known to violate, which is not checked. */
enum invariant_left_out {
    INVARIANT_GENERATIONS = 1, /* raises them by more than one, as the Placement API specifies */
    INVARIANT_NON_MEMBERS = 2, /* records an existing state */
};

void invariants_check(const struct snapshot *before, struct metal_world *cloud, unsigned left_out,
                      const struct rule *author);

#endif
