/* The first few of many values, in order: least key, then least `at`. One thread at a time. */
#ifndef BERTH_VALET_SOLVE_BEST_H
#define BERTH_VALET_SOLVE_BEST_H

#include "valet/solve/search.h"

/* A heap whose top is the last of them, until it is sorted. */
struct best {
    struct ranked *heap; /* room for `most` */
    uint32_t count;
    uint32_t most;
    bool has_more;               /* than `most` were offered */
    const struct ranked *before; /* what is not behind it does not count; NULL: all does */
};

static inline bool best_is_before(const struct ranked *a, const struct ranked *b)
{
    return a->key != b->key ? a->key < b->key : a->at < b->at;
}

void best_offer(struct best *best, uint64_t key, uint32_t at);

/* Afterwards heap[0] is the first, and nothing more is offered. */
void best_sort(struct best *best);

#endif
