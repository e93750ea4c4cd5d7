/* The databases of this build. A new kind of database is one more row here. Constant; any thread.
 */
#include "store/driver.h"

static const struct store_driver *const servers[] = {
#ifdef BERTH_SERVERS
    &server_driver,
#endif
    NULL,
};

const struct store_driver *store_driver_of(struct slice connection)
{
    for (size_t i = 0; servers[i] != NULL; i++)
        if (servers[i]->matches(connection))
            return servers[i];
    return &sqlite_driver;
}
