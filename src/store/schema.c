/* See schema.h. Any thread, one at a time for each database. */
#include "store/schema.h"

#include "store/schema_drivers.h"

bool schema_sync(struct slice connection, struct err *err)
{
    return schema_driver_of(connection)->sync(connection, err);
}

bool schema_version(struct slice connection, char revision[static 33], struct err *err)
{
    return schema_driver_of(connection)->version(connection, revision, err);
}

bool schema_stamp(struct slice connection, struct slice revision, struct err *err)
{
    return schema_driver_of(connection)->stamp(connection, revision, err);
}
