/* Which server executes a session's statements: a proxy may continue a connection on another one,
 * that lacks the session's settings. */
#ifndef BERTH_STORE_MARIADB_SESSION_BACKEND_H
#define BERTH_STORE_MARIADB_SESSION_BACKEND_H

#include "base/buf.h"
#include "store/mariadb/session/rows.h"
#include "store/mariadb/session/session_types.h"
#include "store/server/outcome.h"

/* Appends the statement that gives the session its sign, once it is configured, with a ";" after
 * it. Nothing, if the server did not say at the connect who it is: then there are no signs. */
void mariadb_backend_sign(const struct mariadb_session *session, struct buf *sql);

/* Appends the sign's column to those of a SELECT, with a comma before it. */
void mariadb_backend_column(const struct mariadb_session *session, struct buf *sql);

/* Appends a condition that is true on the connection that was configured, and false, not NULL, on
 * others. */
void mariadb_backend_condition(const struct mariadb_session *session, struct buf *sql);

/* Whether the result, of one row, whose sign is in that column, comes from the connection
 * that was configured, and on Galera has waited for what the cluster has committed.
 * SERVER_LOST: it does not, and may be out of date; the session is closed. */
enum server_outcome mariadb_backend_check(struct mariadb_session *session,
                                          const struct mariadb_rows *rows, size_t column,
                                          struct err *err) BERTH_MUST_CHECK;

#endif
