/* Histograms for metrics: how many values fell between which bounds, and their sum. One thread
 * writes, any thread reads. */
#ifndef BERTH_BASE_HISTOGRAM_H
#define BERTH_BASE_HISTOGRAM_H

#include "base/check.h"
#include "base/counter.h"

enum { HISTOGRAM_BOUNDS_MAX = 20 };

/* The upper bounds of the buckets, ascending; a value belongs to the first bound that is not below
 * it, or to the one bucket above all. Static data. */
struct histogram_shape {
    unsigned count;
    uint64_t bounds[HISTOGRAM_BOUNDS_MAX];
};

/* The zero struct is empty. */
struct histogram {
    struct counter sum;
    struct counter buckets[HISTOGRAM_BOUNDS_MAX + 1];
};

/* A histogram as read, or several together. Buckets are counted singly, not added up. */
struct histogram_total {
    uint64_t sum;
    uint64_t buckets[HISTOGRAM_BOUNDS_MAX + 1];
};

/* The bucket of a value: 0 to shape->count. Small values are found first. */
static inline unsigned histogram_bucket(const struct histogram_shape *shape, uint64_t value)
{
    unsigned at = 0;
    while (at < shape->count && value > shape->bounds[at])
        at++;
    return at;
}

/* The histogram's own thread only. */
static inline void histogram_add(struct histogram *histogram, const struct histogram_shape *shape,
                                 uint64_t value)
{
    counter_add(&histogram->buckets[histogram_bucket(shape, value)], 1);
    counter_add(&histogram->sum, value);
}

/* Adds what the histogram holds to the total. Read while its thread writes, the sum may be one
 * value behind the buckets. */
static inline void histogram_read(const struct histogram *histogram, struct histogram_total *total)
{
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        total->buckets[i] += counter_read(&histogram->buckets[i]);
    total->sum += counter_read(&histogram->sum);
}

/* How many values there are. */
static inline uint64_t histogram_count(const struct histogram_total *total)
{
    uint64_t count = 0;
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        count += total->buckets[i];
    return count;
}

#endif
