/* Times of many requests, and the time now. Single-threaded. */
#ifndef BERTH_BENCH_LATENCIES_H
#define BERTH_BENCH_LATENCIES_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* All zero: none. The memory is kept until the end of the process. */
struct latencies {
    uint32_t *tenths_us;
    size_t count, capacity;
};

double clock_s(clockid_t clock);

void latencies_add(struct latencies *all, double seconds);

void latencies_sort(struct latencies *all);

/* In microseconds, after they were sorted; `part` is 0.5 for the median. There is at least one. */
double latencies_percentile(const struct latencies *all, double part);

#endif
