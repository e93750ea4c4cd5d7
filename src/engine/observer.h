/* A thread that finds what programs without a log have written, beside the writer and in snapshots
 * of its own. About once a second it looks for rows that were written lately and for missing ones;
 * the *scrub* slowly compares everything else that memory has with its rows, a few entities at a
 * time. The writer is only given the names of the entities that differ, and reads them again. */
#ifndef BERTH_ENGINE_OBSERVER_H
#define BERTH_ENGINE_OBSERVER_H

#include "base/histogram.h"
#include "engine/currency.h"
#include "replica/replica.h"

struct observer;

/* Owns `rows`, also after a failure. The currency, the replica and the writer outlive it. NULL: no
 * thread could be started. */
struct observer *observer_start(struct store_observer *rows, struct replica *replica,
                                struct currency *currency, struct currency_writer writer);

/* The time from the end of a scrub to the next one; 0, as at the start: there is none. Any thread.
 */
void observer_set_scrub_interval(struct observer *observer, uint64_t interval_us);

/* Ends the thread: it submits nothing any more. NULL is allowed, here and below. */
void observer_stop(struct observer *observer);

/* Frees it after the stop, when its last request has been completed, or never will be: the writer
 * has ended. */
void observer_destroy(struct observer *observer);

static const struct histogram_shape OBSERVER_LOOK_SHAPE_US = {
    .count = 8, .bounds = {1000, 5000, 10000, 50000, 100000, 500000, 1000000, 5000000}};

struct observer_figures {
    struct histogram_total look_us;  /* of completed looks */
    uint64_t put_off;                /* looks and steps of the scrub for which memory never had the
                                        state of the snapshot, or that failed */
    uint64_t scrubs;                 /* that were completed */
    uint64_t scrubbed;               /* entities that they have compared */
    uint64_t scrub_us;               /* how long the last one took */
    uint64_t looked[ENTITY_COUNT];   /* entities that differed, as looks have found */
    uint64_t differed[ENTITY_COUNT]; /* the same, as scrubs have found */
};

/* Any thread. All zero for NULL. */
struct observer_figures observer_figures(const struct observer *observer);

/* "resource_provider". Any thread. */
const char *observer_kind_name(enum entity entity);

#endif
