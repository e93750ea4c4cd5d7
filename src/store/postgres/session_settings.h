/* Settings of the server that the session relies on. */
#ifndef BERTH_STORE_POSTGRES_SESSION_SETTINGS_H
#define BERTH_STORE_POSTGRES_SESSION_SETTINGS_H

#include "store/postgres/session_types.h"
#include "store/postgres/statement.h"

enum { PG_SETTINGS_OWN = 3 }; /* the parameters that both statements begin with */

/* Sets them for the current transaction. */
extern const char PG_SETTINGS_OF_TRANSACTION[];

/* Sets them for the session if the server process is $4 (int4), which it is unless a pooler is
 * in between. Returns the process id, the server's address (NULL for a unix socket), and NULL if
 * nothing was set. */
extern const char PG_SETTINGS_OF_SESSION[];

/* Fills in those parameters, and returns their number. */
size_t pg_settings_values(const struct pg_session_options *options,
                          struct pg_parameter values[static PG_SETTINGS_OWN]);

#endif
