/* The kinds of databases on servers that this build can use. Constant; any thread. */
#ifndef BERTH_STORE_SERVER_DIALECTS_H
#define BERTH_STORE_SERVER_DIALECTS_H

#include "store/server/dialect.h"

/* The dialect that a URL is meant for; NULL: none. */
const struct server_dialect *server_dialect_of(struct slice url);

/* Those that the build has. */
extern const struct server_dialect pg_dialect;
extern const struct server_dialect mariadb_dialect;

#endif
