/* Finds rows that old releases of the Python service left incomplete (placement-status) and
 * completes them (placement-manage db online_data_migrations). These are upstream's two online
 * migrations, which an upgrade of the schema from before 422ece571366 requires.
 *
 * Each call opens the database of that SQLAlchemy URL and closes it again; on failure, err has one
 * clear line. A change is one transaction, or, on a server, one for each few hundred consumers. */
#ifndef BERTH_STORE_REPAIR_H
#define BERTH_STORE_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "store/missing_consumers.h"

/* Whether there is a resource provider without root_provider_id. */
bool repair_find_missing_roots(struct slice connection, bool *found,
                               struct err *err) BERTH_MUST_CHECK;

/* The number of consumers that have allocations and no row. */
bool repair_count_missing_consumers(struct slice connection, int64_t *count,
                                    struct err *err) BERTH_MUST_CHECK;

/* Makes at most `most` providers without a root their own root. *done: the number of providers
 * changed. */
bool repair_set_roots(struct slice connection, int64_t most, int64_t *done,
                      struct err *err) BERTH_MUST_CHECK;

/* Creates at most `most` missing consumer rows. *done: the number of rows created. */
bool repair_create_consumers(struct slice connection, const struct repair_owner *owner,
                             int64_t most, int64_t *done, struct err *err) BERTH_MUST_CHECK;

#endif
