/* Sums of amounts by key: few are summed up as they come, many by sorting, so that any number of
 * them costs little more than to name them. One thread. */
#ifndef BERTH_BASE_SUMS_H
#define BERTH_BASE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { SUM_KEYS = 3 };

struct sum {
    int64_t key[SUM_KEYS]; /* unused ones are 0 */
    int64_t amount;
    const void *of; /* the caller's, as it came with one of the amounts of that key */
};

/* All zero but for the arena: empty. */
struct sums {
    struct arena *arena;
    struct sum *items;
    size_t count;
    size_t capacity;
};

void sums_add(struct sums *sums, const struct sum *amount);

/* Has each key once: in the order in which keys came first as long as there are few, else sorted.
 * Nothing may be added afterwards, here and below. */
void sums_end(struct sums *sums);

/* The same, always sorted. */
void sums_end_sorted(struct sums *sums);

/* For qsort and bsearch: by key, the first number first. */
int sums_compare(const void *sum, const void *other);

#endif
