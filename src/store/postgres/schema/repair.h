/* The functions of store/repair.h on PostgreSQL. */
#ifndef BERTH_STORE_POSTGRES_SCHEMA_REPAIR_H
#define BERTH_STORE_POSTGRES_SCHEMA_REPAIR_H

#include "store/repair.h"

bool pg_find_missing_roots(struct slice connection, bool *found, struct err *err) BERTH_MUST_CHECK;
bool pg_count_missing_consumers(struct slice connection, int64_t *count,
                                struct err *err) BERTH_MUST_CHECK;
bool pg_set_roots(struct slice connection, int64_t most, int64_t *done,
                  struct err *err) BERTH_MUST_CHECK;
bool pg_create_consumers(struct slice connection, const struct repair_owner *owner, int64_t most,
                         int64_t *done, struct err *err) BERTH_MUST_CHECK;

#endif
