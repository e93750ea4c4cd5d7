/* While the array is short, it is searched linearly; a long one is sorted at the end. */
#include "base/sums.h"

#include <stdlib.h>

#include "base/arena.h"

static bool is_same(const struct sum *sum, const struct sum *other)
{
    return sum->key[0] == other->key[0] && sum->key[1] == other->key[1] &&
           sum->key[2] == other->key[2];
}

void sums_make_room(struct sums *sums)
{
    sums->items =
        arena_grow(sums->arena, sums->items, sums->count, &sums->capacity, sizeof(*sums->items));
}

int sums_compare(const void *sum, const void *other)
{
    const struct sum *a = sum;
    const struct sum *b = other;
    for (unsigned i = 0; i < SUM_KEYS; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

void sums_end_sorted(struct sums *sums)
{
    size_t count = 0;
    if (sums->count > 1)
        qsort(sums->items, sums->count, sizeof(*sums->items), sums_compare);
    for (size_t i = 0; i < sums->count; i++)
        if (count > 0 && is_same(&sums->items[count - 1], &sums->items[i]))
            sums->items[count - 1].amount += sums->items[i].amount;
        else
            sums->items[count++] = sums->items[i];
    sums->count = count;
}

void sums_end(struct sums *sums)
{
    if (sums->count >= SUMS_FEW)
        sums_end_sorted(sums);
}
