/* What is true of a cloud (cloud.h) before and after any write, in the words of the specifications
 * and not of the code that keeps it. */
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
    uint64_t content; /* equal: nothing of it has changed but its name and place */
};

struct snapshot {
    struct seen held[SEEN_MAX];
    size_t held_count;
    struct seen_provider providers[SEEN_MAX];
    size_t provider_count;
};

void snapshot_take(struct snapshot *snapshot, struct metal_world *cloud);

/* What the write is known for, and is not looked at. */
enum invariant_left_out {
    INVARIANT_GENERATIONS = 1, /* it raises them by more than one, as the Placement API says */
    INVARIANT_NON_MEMBERS = 2, /* it records what is there already */
};

void invariants_check(const struct snapshot *before, struct metal_world *cloud, unsigned left_out,
                      const struct rule *author);

#endif
