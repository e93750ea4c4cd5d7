/* Interned sets of catalog numbers: identical hosts share one trait set and one aggregate set, with
 * its JSON list rendered once. Members are in the order of their ids. Sets are immutable; those
 * that no provider uses any more are swept now and then (name_sets_sweep). */
#ifndef BERTH_REPLICA_NAME_SET_H
#define BERTH_REPLICA_NAME_SET_H

#include <stdbool.h>

#include "base/slice.h"
#include "replica/catalog.h"

struct name_set {
    struct cow_node node;
    uint32_t count;
    uint32_t json_len;
    uint32_t json_at; /* offset of the text behind the numbers, from numbers[0] */
    uint32_t numbers[];
};

/* All sets over one catalog: (hash, address) -> 0. */
struct name_sets {
    struct ptree tree;
};

/* The list as JSON: ["A", "B"]. */
static inline struct slice name_set_json(const struct name_set *set)
{
    return (struct slice){(const char *)set->numbers + set->json_at, set->json_len};
}

bool name_set_has(const struct name_set *set, uint32_t number);

/* The set with exactly these members (no duplicates; any order; sorted in place). */
const struct name_set *name_sets_intern(struct cow *cow, struct name_sets *sets,
                                        const struct catalog *catalog, uint32_t *numbers,
                                        uint32_t count);

/* Drops the sets for which `used` is false. */
typedef bool name_set_used(void *cls, const struct name_set *set);
void name_sets_sweep(struct cow *cow, struct name_sets *sets, name_set_used *used, void *cls);

void name_sets_free(struct name_sets *sets, uint64_t birth);

#endif
