/* One connection to a MariaDB or MySQL server, its texts, and its failures.
 *
 *     mariadb_session_execute
 *
 * or, for a caller that has something else to do while it waits,
 *
 *     mariadb_text_start, mariadb_text_drive … or mariadb_text_receive …
 *
 * A session is used by one thread at a time. All waits have a deadline, a time of
 * clock_monotonic_us(); nothing else blocks. A session never reconnects by itself: its owner calls
 * mariadb_session_connect() again, and knows what was lost. */
#ifndef BERTH_STORE_MARIADB_SESSION_SESSION_H
#define BERTH_STORE_MARIADB_SESSION_SESSION_H

#include <stdint.h>

#include "base/err.h"
#include "store/mariadb/session/failure.h"
#include "store/mariadb/session/rows.h"
#include "store/mariadb/session/session_types.h"
#include "store/mariadb/session/url.h"
#include "store/server/outcome.h"

/* What of it all dialects have is in store/server/session.h; the URL of the address is a struct
 * mariadb_url. The session is not connected yet. The caller owns it. */
struct mariadb_session *mariadb_session_create(const struct server_session_options *options);

/* Before it is connected; MARIADB_SYNC_WAIT_READS without it. */
void mariadb_session_set_sync_wait(struct mariadb_session *session, int sync_wait);

/* Closes the connection without waiting for the server. NULL is allowed. */
void mariadb_session_destroy(struct mariadb_session *session);

/* Connects, trying each address of the host in turn, and applies the session's settings. The URL's
 * option file is read each time. A connection that is still open is closed first. SERVER_RETRY: the
 * server cannot be reached, does not accept connections at the moment, or is a Galera node that is
 * not ready. SERVER_FAILED: it refuses this user, database or parameter. */
enum server_outcome mariadb_session_connect(struct mariadb_session *session, uint64_t deadline_us,
                                            struct err *err) BERTH_MUST_CHECK;

/* Closes the connection without waiting for the server: an open transaction is rolled back, and a
 * running text's results are lost. */
void mariadb_session_close(struct mariadb_session *session);

bool mariadb_session_is_open(const struct mariadb_session *session);

/* Of its connection, which must be open. It is readable when an answer arrives, and when the
 * connection ends. */
int mariadb_session_socket(const struct mariadb_session *session);

/* Looks whether the server has ended a connection that was idle, and then closes it: nothing that
 * would be sent could reach the server. Not while a text runs. */
void mariadb_session_notice_end(struct mariadb_session *session);

/* Whether a transaction may be open, or the next statement may begin one because autocommit is off.
 * Both end with mariadb_session_rollback(). After a deadlock (1213), the server has ended it, which
 * is only known here after the next text. */
bool mariadb_session_in_transaction(const struct mariadb_session *session);

/* Details of the failure that a function last returned. */
const struct mariadb_failure *mariadb_session_failure(const struct mariadb_session *session);

/* Why the last function failed, if the server has answered. */
enum server_reason mariadb_session_reason(const struct mariadb_session *session);

const struct mariadb_server *mariadb_session_server(const struct mariadb_session *session);

/* Executes a text. Its first rows_n results are copied to `rows` (initialised with zeroes; NULL:
 * none); of statements without rows, the number of affected rows. *results, if it is not NULL, is
 * the number of results. */
enum server_outcome mariadb_session_execute(struct mariadb_session *session,
                                            const struct mariadb_text *text,
                                            struct mariadb_rows *rows, size_t rows_n,
                                            size_t *results, uint64_t deadline_us,
                                            struct err *err) BERTH_MUST_CHECK;

/* Frees the results that a text in steps has left. Not while it runs. */
void mariadb_session_free_kept(struct mariadb_session *session);

/* After the failure of a transaction, or of a statement in none: whether another session has ended
 * it (MARIADB_CONFLICT), so that it can be sent again before the deadline; then after a pause. What
 * is left of the transaction is to be rolled back first. */
bool mariadb_session_tries_again(const struct mariadb_session *session, enum server_outcome outcome,
                                 uint64_t deadline_us) BERTH_MUST_CHECK;

/* Executes a text that is a string, and discards its results. `what` is for messages. */
enum server_outcome mariadb_session_run(struct mariadb_session *session, const char *sql,
                                        const char *what, uint64_t deadline_us,
                                        struct err *err) BERTH_MUST_CHECK;

/* Ends a transaction, and the work without autocommit (write_texts.h). */
enum server_outcome mariadb_session_rollback(struct mariadb_session *session, const char *what,
                                             uint64_t deadline_us,
                                             struct err *err) BERTH_MUST_CHECK;

/* ---- in steps ---- */

/* Begins a text, without waiting: what cannot be sent at once is sent by mariadb_text_drive().
 * No answer is read. The text's memory and the rows must stay until the text has ended. */
enum server_outcome mariadb_text_start(struct mariadb_session *session,
                                       const struct mariadb_text *text, struct mariadb_rows *rows,
                                       size_t rows_n, struct err *err) BERTH_MUST_CHECK;

/* Whether everything that was started is with the operating system. */
bool mariadb_text_is_sent(const struct mariadb_session *session);

/* Sends and reads until the text has ended (SERVER_OK), or until that time (SERVER_WOKEN: call it
 * again). A failure ends the text. */
enum server_outcome mariadb_text_drive(struct mariadb_session *session, uint64_t until_us,
                                       uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* The same when the socket is ready: sends and reads what is possible, and never waits. */
enum server_outcome mariadb_text_receive(struct mariadb_session *session,
                                         struct err *err) BERTH_MUST_CHECK;

/* ---- streams ---- */

/* Sends a statement whose rows are then read one by one, with bounded memory. Until SERVER_END or a
 * failure, nothing else can be executed. */
enum server_outcome mariadb_stream_begin(struct mariadb_session *session,
                                         const struct mariadb_text *text,
                                         struct err *err) BERTH_MUST_CHECK;

/* SERVER_OK: `row` has one row, until the next call (initialise it with zeroes; the caller frees
 * it). SERVER_END: there are no more. */
enum server_outcome mariadb_stream_next(struct mariadb_session *session, struct mariadb_rows *row,
                                        uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Reads and discards the rest of a stream. SERVER_OK also if it has ended already. */
enum server_outcome mariadb_stream_finish(struct mariadb_session *session, uint64_t deadline_us,
                                          struct err *err) BERTH_MUST_CHECK;

#endif
