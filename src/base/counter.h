/* Counters for metrics: one thread writes, any thread may read at any time. An addition costs a
 * load and a store, without locks and without memory ordering. */
#ifndef BERTH_BASE_COUNTER_H
#define BERTH_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

struct counter {
    _Atomic uint64_t value;
};

/* Only the counter's own thread may call this and counter_set. */
static inline void counter_add(struct counter *counter, uint64_t more)
{
    uint64_t before = atomic_load_explicit(&counter->value, memory_order_relaxed);
    atomic_store_explicit(&counter->value, before + more, memory_order_relaxed);
}

/* For values that are states rather than counts. */
static inline void counter_set(struct counter *counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

static inline uint64_t counter_read(const struct counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

#endif
