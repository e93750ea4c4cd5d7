/* Statements and parameters as libpq takes them. */
#ifndef BERTH_STORE_POSTGRES_SESSION_SEND_H
#define BERTH_STORE_POSTGRES_SESSION_SEND_H

#include <stdint.h>

#include "store/postgres/session/session_state.h"
#include "store/postgres/session/statement.h"

/* SERVER_REFUSED: a text contains U+0000. Otherwise SERVER_OK. */
enum server_outcome pg_send_check(struct pg_session *session, const struct pg_statement *statement,
                                  struct err *err) BERTH_MUST_CHECK;

/* Passes the statement to libpq; if it is to be prepared first, appends the entry for that. False:
 * the connection is broken. */
bool pg_send_statement(struct pg_session *session,
                       const struct pg_statement *statement) BERTH_MUST_CHECK;

/* The connection now has the prepared statement with this hash. */
void pg_send_remember(struct pg_session *session, uint64_t hash);

#endif
