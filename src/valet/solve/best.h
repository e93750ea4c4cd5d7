/* Keeps the first few of many values, by key, then by `at`, both ascending. One thread at a time.
 */
#ifndef BERTH_VALET_SOLVE_BEST_H
#define BERTH_VALET_SOLVE_BEST_H

#include "valet/solve/search.h"

/* A heap with the last of the kept values on top, until it is sorted. */
struct best {
    struct ranked *heap; /* room for `most` */
    uint32_t count;
    uint32_t most;
    bool has_more;               /* more than `most` were offered */
    const struct ranked *before; /* values up to this one do not count; NULL: all count */
};

static inline bool best_is_before(const struct ranked *a, const struct ranked *b)
{
    return a->key != b->key ? a->key < b->key : a->at < b->at;
}

void best_offer(struct best *best, uint64_t key, uint32_t at);

/* Afterwards heap[0] is the first value, and nothing more may be offered. */
void best_sort(struct best *best);

#endif
