/* Questions of one statement, whose answer is copied. */
#ifndef BERTH_STORE_MARIADB_SESSION_ASK_H
#define BERTH_STORE_MARIADB_SESSION_ASK_H

#include "store/mariadb/session/session.h"

/* `rows` is initialised with zeroes; the caller frees it, whatever comes of it. */
enum server_outcome mariadb_ask(struct mariadb_session *session, struct slice sql,
                                struct mariadb_rows *rows, uint64_t deadline_us,
                                struct err *err) BERTH_MUST_CHECK;

/* The same without an answer's being needed: *is_allowed is false, and the outcome SERVER_OK, if
 * the user may not ask. */
enum server_outcome mariadb_ask_if_allowed(struct mariadb_session *session, struct slice sql,
                                           struct mariadb_rows *rows, bool *is_allowed,
                                           uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Whether the last failure of the session was that the user may not do that. */
bool mariadb_was_denied(const struct mariadb_session *session);

/* A number of an answer; 0 if it is none. */
int64_t mariadb_answer_int(const struct mariadb_rows *rows, size_t row, size_t column);

#endif
