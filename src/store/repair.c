/* See repair.h. Any thread, one at a time for each database. */
#include "store/repair.h"

#include "store/schema_drivers.h"

bool repair_find_missing_roots(struct slice connection, bool *found, struct err *err)
{
    return schema_driver_of(connection)->find_missing_roots(connection, found, err);
}

bool repair_count_missing_consumers(struct slice connection, int64_t *count, struct err *err)
{
    return schema_driver_of(connection)->count_missing_consumers(connection, count, err);
}

bool repair_set_roots(struct slice connection, int64_t most, int64_t *done, struct err *err)
{
    return schema_driver_of(connection)->set_roots(connection, most, done, err);
}

bool repair_create_consumers(struct slice connection, const struct repair_owner *owner,
                             int64_t most, int64_t *done, struct err *err)
{
    return schema_driver_of(connection)->create_consumers(connection, owner, most, done, err);
}
