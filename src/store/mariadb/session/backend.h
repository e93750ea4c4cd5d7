/* Which server executes a session's statements: a proxy may continue a connection on another one,
 * that lacks the session's settings. */
#ifndef BERTH_STORE_MARIADB_SESSION_BACKEND_H
#define BERTH_STORE_MARIADB_SESSION_BACKEND_H

#include "base/buf.h"
#include "store/mariadb/session/session.h"

/* Appends columns to those of a SELECT, each with a comma before it; or nothing, if the server did
 * not say at the connect who it is. */
void mariadb_backend_columns(const struct mariadb_session *session, struct buf *sql);

/* Whether the result, of one row, which has these columns from that one on, comes from the
 * connection that was configured, and on Galera has waited for what the cluster has committed.
 * SERVER_LOST: it does not, and may be out of date; the session is closed. */
enum server_outcome mariadb_backend_check(struct mariadb_session *session,
                                          const struct mariadb_rows *rows, size_t column,
                                          struct err *err) BERTH_MUST_CHECK;

#endif
