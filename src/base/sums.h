/* Sums of amounts by key. A few keys are summed as they are added; many are sorted at the end, so
 * that a large request costs little more than its rows. One thread. */
#ifndef BERTH_BASE_SUMS_H
#define BERTH_BASE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { SUM_KEYS = 3, SUMS_FEW = 16 };

struct sum {
    int64_t key[SUM_KEYS]; /* unused parts are 0 */
    int64_t amount;
    const void *of; /* for the caller's use, from one of the amounts with that key */
};

/* Empty if all zero except for the arena. */
struct sums {
    struct arena *arena;
    struct sum *items;
    size_t count;
    size_t capacity;
};

/* Called by sums_add(). */
void sums_make_room(struct sums *sums);

/* Adds to the sum of that key. Inline, because every claim calls it. */
static inline void sums_add(struct sums *sums, int64_t key_0, int64_t key_1, int64_t key_2,
                            int64_t amount, const void *of)
{
    for (size_t i = 0; i < sums->count && sums->count < SUMS_FEW; i++) {
        struct sum *sum = &sums->items[i];
        if (sum->key[0] == key_0 && sum->key[1] == key_1 && sum->key[2] == key_2) {
            sum->amount += amount;
            return;
        }
    }
    if (sums->count == sums->capacity)
        sums_make_room(sums);
    sums->items[sums->count++] = (struct sum){{key_0, key_1, key_2}, amount, of};
}

/* Completes the sums: afterwards each key occurs once. A few keys keep the order in which they were
 * first added; many are sorted. After this or the next function, nothing may be added. */
void sums_end(struct sums *sums);

/* Like sums_end, but the keys are always sorted. */
void sums_end_sorted(struct sums *sums);

/* For qsort and bsearch: orders by key, first number first. */
int sums_compare(const void *sum, const void *other);

#endif
