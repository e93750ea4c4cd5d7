/* Settings of the server that the session relies on. */
#ifndef BERTH_STORE_POSTGRES_SESSION_SESSION_SETTINGS_H
#define BERTH_STORE_POSTGRES_SESSION_SESSION_SETTINGS_H

#include "store/postgres/session/session_types.h"
#include "store/postgres/session/statement.h"
#include "store/server/lineage.h"

enum { PG_SETTINGS_OWN = 3 }; /* the parameters that both statements begin with */

/* Sets them for the current transaction. */
extern const char PG_SETTINGS_OF_TRANSACTION[];

/* Sets them for the session if the server process is $4 (int4), which it is unless a pooler is
 * in between. Returns the process id, the server's address (NULL for a unix socket), and NULL if
 * nothing was set. */
extern const char PG_SETTINGS_OF_SESSION[];

/* The timeline of a primary; NULL: of a standby. pg_control_checkpoint() has the old one until the
 * first checkpoint after a promotion. */
#define PG_TIMELINE                                                                                \
    "CASE WHEN NOT pg_is_in_recovery() THEN"                                                       \
    " ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END"

/* Fails if the server is not the one that the parameters identify. */
extern const char PG_SERVER_IS_SAME[];
enum { PG_SERVER_PARAMETERS = 2 };

/* Refers to *id until the statement is queued. */
void pg_server_values(const struct server_id *id,
                      struct pg_parameter values[static PG_SERVER_PARAMETERS]);

/* Fills in those parameters, and returns their number. */
size_t pg_settings_values(const struct server_session_options *options,
                          struct pg_parameter values[static PG_SETTINGS_OWN]);

#endif
