/* The hosts that a URL names. */
#ifndef BERTH_STORE_POSTGRES_SESSION_HOSTS_H
#define BERTH_STORE_POSTGRES_SESSION_HOSTS_H

#include "base/arena.h"
#include "store/postgres/session/url.h"

enum { PG_HOSTS_MOST = 32 };

/* Values of libpq's parameters for one host; NULL: not set, or as the URL has it. */
struct pg_host {
    const char *host;
    const char *address; /* hostaddr */
    const char *port;
};

/* The hosts of the URL, at least one; its values are NULL if libpq is to find it in its
 * environment. False: *reason says why libpq would not accept these lists, a constant text. */
bool pg_hosts_list(const struct pg_url *url, struct arena *arena,
                   struct pg_host hosts[static PG_HOSTS_MOST], size_t *count,
                   const char **reason) BERTH_MUST_CHECK;

#endif
