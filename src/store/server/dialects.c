/* See dialects.h. A new kind of database is one more row here. */
#include "store/server/dialects.h"

static const struct server_dialect *const dialects[] = {
#ifdef BERTH_POSTGRES
    &pg_dialect,
#endif
#ifdef BERTH_MARIADB
    &mariadb_dialect,
#endif
    NULL,
};

const struct server_dialect *server_dialect_of(struct slice url)
{
    for (size_t i = 0; dialects[i] != NULL; i++)
        if (dialects[i]->url_matches(url))
            return dialects[i];
    return NULL;
}
