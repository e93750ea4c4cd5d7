/* A heap of fixed size, and a sort. Any thread. */
#include "valet/solve/best.h"

#include <stdlib.h>

static int compare_ranked(const void *left, const void *right)
{
    return best_is_before(left, right) ? -1 : 1;
}

static void sift(struct ranked *heap, uint32_t count, struct ranked moved)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && best_is_before(&heap[child], &heap[child + 1]))
            child++;
        if (!best_is_before(&moved, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

void best_offer(struct best *best, uint64_t key, uint32_t at)
{
    struct ranked ranked = {key, at};
    if (best->before != NULL && !best_is_before(best->before, &ranked))
        return;
    if (best->count == best->most) {
        best->has_more = true;
        if (best_is_before(&ranked, &best->heap[0]))
            sift(best->heap, best->count, ranked);
        return;
    }
    uint32_t place = best->count++;
    for (; place > 0 && best_is_before(&best->heap[(place - 1) / 2], &ranked);
         place = (place - 1) / 2)
        best->heap[place] = best->heap[(place - 1) / 2];
    best->heap[place] = ranked;
}

void best_sort(struct best *best)
{
    if (best->count > 1)
        qsort(best->heap, best->count, sizeof(*best->heap), compare_ranked);
}
