/* Interned sets of catalog numbers: identical hosts share one trait set and one aggregate set,
 * whose JSON list is rendered once. Members have the order of their ids. Sets are immutable and
 * counted: when the last provider releases a set it is dropped, so that a reused number never meets
 * a set that was rendered for an older name. */
#ifndef BERTH_REPLICA_NAME_SET_H
#define BERTH_REPLICA_NAME_SET_H

#include <stdbool.h>

#include "base/slice.h"
#include "replica/catalog.h"

struct name_set {
    struct cow_node node;
    uint32_t count;
    uint32_t json_len;
    uint32_t json_at; /* offset of the text after the numbers, from numbers[0] */
    uint32_t numbers[];
};

/* All sets over one catalog: (hash, address) -> number of providers that have the set. */
struct name_sets {
    struct ptree tree;
};

/* The set as a JSON list: ["A", "B"]. */
static inline struct slice name_set_json(const struct name_set *set)
{
    return (struct slice){(const char *)set->numbers + set->json_at, set->json_len};
}

/* Whether the number is a member; takes time proportional to the number of members. */
bool name_set_has(const struct name_set *set, uint32_t number);

/* The set with exactly these members (no duplicates; any order; sorted in place), counted for one
 * more provider. Here and below: the writer only, on sets of its edit. */
const struct name_set *name_sets_take(struct cow *cow, struct name_sets *sets,
                                      const struct catalog *catalog, uint32_t *numbers,
                                      uint32_t count);

/* Called when a provider does not have the set any more. */
void name_sets_release(struct cow *cow, struct name_sets *sets, const struct name_set *set);

/* Frees everything born at or after `birth` (cow_array_free). */
void name_sets_free(struct name_sets *sets, uint64_t birth);

#endif
