/* Consumers that have allocations and no row.
 *
 * The Python service leaves one if its connection breaks while it commits the claim of a new
 * consumer: it deletes the consumer that it has created, and the claim may have been committed. It
 * counts such allocations as used and does not list them. Whoever finds some in a database creates
 * the rows that they lack, as "placement-manage db online_data_migrations" does, and then reads
 * again: memory never has less than what counts, and everything that counts can be listed and
 * deleted. One thread. */
#ifndef BERTH_STORE_MISSING_CONSUMERS_H
#define BERTH_STORE_MISSING_CONSUMERS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

/* The owner of created rows: [placement] incomplete_consumer_*. */
struct repair_owner {
    struct slice project;
    struct slice user;
};

/* All zero: none. */
struct missing_consumers {
    struct arena *arena;
    struct slice *uuids;
    size_t count, capacity;
};

/* Copies the uuid, which must be one that clients can name (cell_is_uuid()). */
void missing_consumers_add(struct missing_consumers *missing, struct slice uuid);
/* After the last one: each is there once. */
void missing_consumers_end(struct missing_consumers *missing);
void missing_consumers_free(struct missing_consumers *missing);

/* Whether a read has found none, so that memory may have what was read. False: err is set (503).
 * `database`: as below. */
bool missing_consumers_are_none(const struct missing_consumers *missing, struct slice database,
                                struct err *err) BERTH_MUST_CHECK;

/* Logs that `created` of them have got a row. `database`: its URL, without a password. */
void missing_consumers_log(const struct missing_consumers *missing, uint64_t created,
                           struct slice database);

#endif
