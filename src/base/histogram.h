/* Histograms for metrics: the number of values in each bucket, and the sum of all values. One
 * thread writes, any thread reads. */
#ifndef BERTH_BASE_HISTOGRAM_H
#define BERTH_BASE_HISTOGRAM_H

#include "base/check.h"
#include "base/counter.h"

enum { HISTOGRAM_BOUNDS_MAX = 20 };

/* The upper bounds of the buckets, ascending. A value belongs to the first bucket whose bound is
 * not less than the value, or to a last bucket without a bound. Static data. */
struct histogram_shape {
    unsigned count;
    uint64_t bounds[HISTOGRAM_BOUNDS_MAX];
};

/* The zero struct is the empty histogram. */
struct histogram {
    struct counter sum;
    struct counter buckets[HISTOGRAM_BOUNDS_MAX + 1];
};

/* The sums of one or more histograms that have been read. Each bucket has its own count; counts are
 * not cumulative. */
struct histogram_total {
    uint64_t sum;
    uint64_t buckets[HISTOGRAM_BOUNDS_MAX + 1];
};

/* The bucket of a value: 0 to shape->count. Searches from the smallest bound. */
static inline unsigned histogram_bucket(const struct histogram_shape *shape, uint64_t value)
{
    unsigned at = 0;
    while (at < shape->count && value > shape->bounds[at])
        at++;
    return at;
}

/* Only the histogram's own thread may call this. */
static inline void histogram_add(struct histogram *histogram, const struct histogram_shape *shape,
                                 uint64_t value)
{
    counter_add(&histogram->buckets[histogram_bucket(shape, value)], 1);
    counter_add(&histogram->sum, value);
}

/* Adds the histogram's contents to the total. If its thread is writing, the sum may lag one value
 * behind the buckets. */
static inline void histogram_read(const struct histogram *histogram, struct histogram_total *total)
{
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        total->buckets[i] += counter_read(&histogram->buckets[i]);
    total->sum += counter_read(&histogram->sum);
}

/* The number of values. */
static inline uint64_t histogram_count(const struct histogram_total *total)
{
    uint64_t count = 0;
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        count += total->buckets[i];
    return count;
}

#endif
