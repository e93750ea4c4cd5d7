/* The kinds of databases on servers that this build can use. Constant; any thread. */
#ifndef BERTH_STORE_SERVER_DIALECTS_H
#define BERTH_STORE_SERVER_DIALECTS_H

#include "store/server/dialect.h"

/* The dialect that a URL is meant for; NULL: none. */
const struct server_dialect *server_dialect_of(struct slice url);

/* Of PostgreSQL, if the build has it. */
extern const struct server_dialect pg_dialect;

#endif
