/* See coexist.h. Any thread, one at a time for each database. */
#include "store/coexist.h"

#include "store/schema_drivers.h"

bool coexist_enable(struct slice connection, struct err *err)
{
    return schema_driver_of(connection)->coexist_enable(connection, err);
}

bool coexist_disable(struct slice connection, struct err *err)
{
    return schema_driver_of(connection)->coexist_disable(connection, err);
}

bool coexist_read_status(struct slice connection, struct coexist_status *status, struct err *err)
{
    return schema_driver_of(connection)->coexist_read_status(connection, status, err);
}
