/* One connection to a PostgreSQL server, its statements, and its failures.
 *
 * A session is used by one thread at a time. All waits have a deadline, a time of
 * clock_monotonic_us(); nothing else blocks. A session never reconnects by itself: its owner calls
 * pg_session_connect() again, and knows what was lost. */
#ifndef BERTH_STORE_POSTGRES_SESSION_SESSION_H
#define BERTH_STORE_POSTGRES_SESSION_SESSION_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/failure.h"
#include "store/postgres/session/rows.h"
#include "store/postgres/session/session_types.h"
#include "store/postgres/session/statement.h"
#include "store/postgres/session/url.h"

/* What of it all dialects have is in store/server/session.h; the URL of the address is a struct
 * pg_url. The session is not connected yet. The caller owns it. */
struct pg_session *pg_session_create(const struct server_session_options *options);

/* Before it is connected; PG_PREPARED_AUTO without it. */
void pg_session_set_prepared(struct pg_session *session, enum pg_prepared_use use);

/* Closes the connection without waiting for the server. NULL is allowed. */
void pg_session_destroy(struct pg_session *session);

/* Connects to the first host that accepts, trying each of its addresses in turn, and applies the
 * session's settings. A host gets the URL's connect_timeout, or an equal share of the time that is
 * left. An old primary (lineage.h) is passed over. A connection that is still open is closed first.
 * SERVER_RETRY: the servers cannot be reached or do not accept connections at the moment.
 * SERVER_FAILED: they refuse this user, database or parameter. */
enum server_outcome pg_session_connect(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err) BERTH_MUST_CHECK;

/* Closes the connection without waiting for the server: an open transaction is rolled back, and a
 * running statement's result is lost. */
void pg_session_close(struct pg_session *session);

bool pg_session_is_open(const struct pg_session *session);

/* Of its connection, which must be open. It is readable when an answer arrives, and when the
 * connection ends. */
int pg_session_socket(const struct pg_session *session);

/* Looks whether the server has ended a connection that was idle, and then closes it: nothing that
 * would be sent could reach the server. Not in a pipeline. */
void pg_session_notice_end(struct pg_session *session);

/* Whether a transaction is open, even a failed one. It ends with COMMIT or ROLLBACK. */
bool pg_session_in_transaction(const struct pg_session *session);

/* "postgresql://user@host:port/db" */
struct slice pg_session_target(const struct pg_session *session);

/* Details of the failure that a function last returned. */
const struct pg_failure *pg_session_failure(const struct pg_session *session);

/* Why the last function failed, if the server has answered. */
enum server_reason pg_session_reason(const struct pg_session *session);

const struct pg_server *pg_session_server(const struct pg_session *session);

/* Room for the results of a pipeline of at most three statements that is read in steps: all zero
 * when it begins, and freed with the next one, or with the connection. */
struct pg_rows *pg_session_kept(struct pg_session *session);

/* Executes one statement and fills `rows` (NULL: they are discarded). Not in a pipeline. */
enum server_outcome pg_session_execute(struct pg_session *session,
                                       const struct pg_statement *statement, struct pg_rows *rows,
                                       uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Executes a statement without parameters and discards its rows. `what` is for messages. */
enum server_outcome pg_session_run(struct pg_session *session, const char *sql, const char *what,
                                   uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Executes BEGIN (with options: "BEGIN ISOLATION LEVEL READ COMMITTED") and, behind a pooler,
 * applies the session's settings to the transaction. */
enum server_outcome pg_session_begin(struct pg_session *session, const char *sql,
                                     uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Sends a statement whose rows are then read one by one, with bounded memory. Until SERVER_END or a
 * failure, nothing else can be executed. */
enum server_outcome pg_stream_begin(struct pg_session *session,
                                    const struct pg_statement *statement, uint64_t deadline_us,
                                    struct err *err) BERTH_MUST_CHECK;

/* SERVER_OK: `rows` has one row, until the next call, which frees it (initialise it with zeroes).
 * SERVER_END: there are no more. */
enum server_outcome pg_stream_next(struct pg_session *session, struct pg_rows *rows,
                                   uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

#endif
