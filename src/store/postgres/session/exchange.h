/* Bytes and answers between a session and its server, without any knowledge of statements. */
#ifndef BERTH_STORE_POSTGRES_SESSION_EXCHANGE_H
#define BERTH_STORE_POSTGRES_SESSION_EXCHANGE_H

#include <stdint.h>

#include "store/postgres/session/session_state.h"

/* Frees the results that were kept. */
void pg_exchange_free_kept(struct pg_session *session);

/* Closes the connection and forgets everything that belonged to it. */
void pg_exchange_drop(struct pg_session *session);

/* Drops a connection that has failed, and sets err. Returns SERVER_LOST. */
enum server_outcome pg_exchange_lose(struct pg_session *session, const char *what, struct err *err);

/* Sends everything that has been queued, and reads meanwhile, since the server may stop reading
 * until its answers are read. SERVER_OK, SERVER_LOST or SERVER_TIMEOUT. */
enum server_outcome pg_exchange_flush(struct pg_session *session, const char *what,
                                      uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Sends the rest and waits until the next result of libpq is there, or until that time
 * (SERVER_WOKEN). SERVER_OK, SERVER_WOKEN, SERVER_LOST or SERVER_TIMEOUT. */
enum server_outcome pg_exchange_poll(struct pg_session *session, const char *what,
                                     uint64_t until_us, uint64_t deadline_us,
                                     struct err *err) BERTH_MUST_CHECK;

/* Waits for the next result of libpq; NULL ends those of one statement. SERVER_OK, SERVER_LOST,
 * SERVER_TIMEOUT or, with a wake-up descriptor, SERVER_WOKEN. */
enum server_outcome pg_exchange_result(struct pg_session *session, const char *what, int wake_fd,
                                       uint64_t deadline_us, PGresult **result,
                                       struct err *err) BERTH_MUST_CHECK;

#endif
