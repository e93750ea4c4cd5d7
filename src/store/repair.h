/* Rows that old releases of the Python service left incomplete: finding them (placement-status) and
 * completing them (placement-manage db online_data_migrations). Upstream's two online migrations,
 * which an upgrade of the schema from before 422ece571366 asks for.
 *
 * Each call opens the database of that SQLAlchemy URL and closes it again, and is one transaction;
 * one clear line in err when it cannot be done. */
#ifndef BERTH_STORE_REPAIR_H
#define BERTH_STORE_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* Is there a resource provider without root_provider_id? */
bool repair_find_missing_roots(struct slice connection, bool *found,
                               struct err *err) BERTH_MUST_CHECK;

/* How many consumers have allocations and no row? */
bool repair_count_missing_consumers(struct slice connection, int64_t *count,
                                    struct err *err) BERTH_MUST_CHECK;

/* Makes providers without a root their own, at most `most` of them. *done: how many. */
bool repair_set_roots(struct slice connection, int64_t most, int64_t *done,
                      struct err *err) BERTH_MUST_CHECK;

/* Whom consumers without a row are given to: [placement] incomplete_consumer_*. */
struct repair_owner {
    struct slice project;
    struct slice user;
};

/* Makes the missing rows of consumers, at most `most` of them. *done: how many. */
bool repair_create_consumers(struct slice connection, const struct repair_owner *owner,
                             int64_t most, int64_t *done, struct err *err) BERTH_MUST_CHECK;

#endif
