/* The functions of store/repair.h on MariaDB and MySQL. */
#ifndef BERTH_STORE_MARIADB_SCHEMA_REPAIR_H
#define BERTH_STORE_MARIADB_SCHEMA_REPAIR_H

#include "store/repair.h"

bool mariadb_find_missing_roots(struct slice connection, bool *found,
                                struct err *err) BERTH_MUST_CHECK;
bool mariadb_count_missing_consumers(struct slice connection, int64_t *count,
                                     struct err *err) BERTH_MUST_CHECK;
bool mariadb_set_roots(struct slice connection, int64_t most, int64_t *done,
                       struct err *err) BERTH_MUST_CHECK;
bool mariadb_create_consumers(struct slice connection, const struct repair_owner *owner,
                              int64_t most, int64_t *done, struct err *err) BERTH_MUST_CHECK;

#endif
