/* See schema_drivers.h. A new kind of database is one more row here. Constant; any thread. */
#include "store/schema_drivers.h"

#include "store/sqlite/schema_driver.h"
#ifdef BERTH_MARIADB
#include "store/mariadb/schema_driver.h"
#endif
#ifdef BERTH_POSTGRES
#include "store/postgres/schema_driver.h"
#endif

static const struct schema_driver *const servers[] = {
#ifdef BERTH_POSTGRES
    &pg_schema_driver,
#endif
#ifdef BERTH_MARIADB
    &mariadb_schema_driver,
#endif
    NULL,
};

const struct schema_driver *schema_driver_of(struct slice connection)
{
    for (size_t i = 0; servers[i] != NULL; i++)
        if (servers[i]->matches(connection))
            return servers[i];
    return &sqlite_schema_driver;
}
