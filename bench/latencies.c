/* See latencies.h. Tenths of a microsecond in 32 bits: up to seven minutes. Single-threaded. */
#include "latencies.h"

#include <err.h>
#include <stdlib.h>

double clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void latencies_add(struct latencies *all, double seconds)
{
    if (all->count == all->capacity) {
        all->capacity = all->capacity == 0 ? 65536 : 2 * all->capacity;
        all->tenths_us = reallocarray(all->tenths_us, all->capacity, sizeof(*all->tenths_us));
        if (all->tenths_us == NULL)
            errx(1, "out of memory");
    }
    all->tenths_us[all->count++] = (uint32_t)(seconds * 1e7);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void latencies_sort(struct latencies *all)
{
    qsort(all->tenths_us, all->count, sizeof(*all->tenths_us), by_size);
}

double latencies_percentile(const struct latencies *all, double part)
{
    return all->tenths_us[(size_t)(part * (double)(all->count - 1))] / 10.0;
}
