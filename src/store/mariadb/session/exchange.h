/* Texts and results between a session and its server. */
#ifndef BERTH_STORE_MARIADB_SESSION_EXCHANGE_H
#define BERTH_STORE_MARIADB_SESSION_EXCHANGE_H

#include <stdint.h>

#include "store/mariadb/session/session_state.h"

/* Closes the connection and forgets everything that belonged to it. Never waits. */
void mariadb_exchange_drop(struct mariadb_session *session);

/* Drops a connection that has failed, and sets err. Returns SERVER_LOST. */
enum server_outcome mariadb_exchange_lose(struct mariadb_session *session, const char *what,
                                          struct err *err);

/* Begins a text, whose first rows_n results fill `rows` (NULL: none). SERVER_OK; SERVER_LOST: there
 * is no connection; SERVER_REFUSED: it is larger than the server accepts. */
enum server_outcome mariadb_exchange_begin(struct mariadb_session *session,
                                           const struct mariadb_text *text,
                                           struct mariadb_rows *rows, size_t rows_n,
                                           struct err *err) BERTH_MUST_CHECK;

/* Sends what can be sent without a wait. SERVER_OK, also if that is not everything; otherwise a
 * failure, which ends the text. */
enum server_outcome mariadb_exchange_send(struct mariadb_session *session,
                                          struct err *err) BERTH_MUST_CHECK;

/* Goes on with the text until it ends (SERVER_END), a stream has a row (SERVER_OK), the wake-up
 * descriptor is readable (-1: none) or that time has come (SERVER_WOKEN). A failure ends the
 * text. */
enum server_outcome mariadb_exchange_drive(struct mariadb_session *session, int wake_fd,
                                           uint64_t until_us, uint64_t deadline_us,
                                           struct err *err) BERTH_MUST_CHECK;

#endif
