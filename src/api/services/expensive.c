/* A table of notes, each one word: the query's upper bits, and the time of the note. A note expires
 * after some seconds, so that a query that has become cheap runs on a worker again, at the cost of
 * one attempt in that time for a query that has not. Two queries with the same position overwrite
 * each other's notes, which costs an attempt. */
#include "api/services/expensive.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"

enum { PLACES = 1024, TICK_BITS = 20, LASTS_TICKS = 8 };

static const uint64_t TICKS_MASK = ((uint64_t)1 << TICK_BITS) - 1;

struct expensive {
    _Atomic uint64_t latest_us; /* the time of the newest note; 0: never */
    _Atomic uint64_t places[PLACES];
};

struct expensive *expensive_create(void)
{
    struct expensive *expensive = calloc(1, sizeof(*expensive));
    check(expensive != NULL);
    return expensive;
}

void expensive_destroy(struct expensive *expensive)
{
    free(expensive);
}

/* A tick is 2^20 us. */
static uint64_t tick_at(uint64_t now_us)
{
    return now_us >> TICK_BITS & TICKS_MASK;
}

static unsigned place_of(uint64_t query_hash)
{
    return (query_hash & TICKS_MASK) % PLACES;
}

void expensive_note(struct expensive *expensive, uint64_t query_hash, uint64_t now_us)
{
    atomic_store_explicit(&expensive->places[place_of(query_hash)],
                          (query_hash & ~TICKS_MASK) | tick_at(now_us), memory_order_relaxed);
    atomic_store_explicit(&expensive->latest_us, now_us, memory_order_relaxed);
}

void expensive_forget(struct expensive *expensive, uint64_t query_hash)
{
    _Atomic uint64_t *place = &expensive->places[place_of(query_hash)];
    uint64_t note = atomic_load_explicit(place, memory_order_relaxed);
    if ((note & ~TICKS_MASK) == (query_hash & ~TICKS_MASK))
        atomic_compare_exchange_strong_explicit(place, &note, 0, memory_order_relaxed,
                                                memory_order_relaxed);
}

bool expensive_has_any(const struct expensive *expensive, uint64_t now_us)
{
    uint64_t latest_us = atomic_load_explicit(&expensive->latest_us, memory_order_relaxed);
    return latest_us != 0 && now_us < latest_us + ((uint64_t)LASTS_TICKS << TICK_BITS);
}

bool expensive_is(const struct expensive *expensive, uint64_t query_hash, uint64_t now_us)
{
    uint64_t note =
        atomic_load_explicit(&expensive->places[place_of(query_hash)], memory_order_relaxed);
    return note != 0 && (note & ~TICKS_MASK) == (query_hash & ~TICKS_MASK) &&
           ((tick_at(now_us) - note) & TICKS_MASK) < LASTS_TICKS;
}
