/* The functions of store/repair.h for files. */
#ifndef BERTH_STORE_SQLITE_REPAIR_H
#define BERTH_STORE_SQLITE_REPAIR_H

#include "store/repair.h"
#include "store/sqlite/db.h"

bool sqlite_find_missing_roots(struct slice connection, bool *found,
                               struct err *err) BERTH_MUST_CHECK;
bool sqlite_count_missing_consumers(struct slice connection, int64_t *count,
                                    struct err *err) BERTH_MUST_CHECK;
bool sqlite_set_roots(struct slice connection, int64_t most, int64_t *done,
                      struct err *err) BERTH_MUST_CHECK;
bool sqlite_create_consumers(struct slice connection, const struct repair_owner *owner,
                             int64_t most, int64_t *done, struct err *err) BERTH_MUST_CHECK;

/* Inside a write transaction: creates at most `most` rows that consumers of allocations lack. */
bool sqlite_create_missing(struct db *db, const struct repair_owner *owner, int64_t most,
                           int64_t *done, struct err *err) BERTH_MUST_CHECK;

#endif
