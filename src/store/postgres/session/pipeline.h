/* Many statements in one round trip.
 *
 *     pg_pipeline_begin, pg_pipeline_queue …, pg_pipeline_send, pg_pipeline_next …,
 * pg_pipeline_finish
 *
 * or, for a caller that has something else to do while it waits,
 *
 *     pg_pipeline_begin, pg_pipeline_queue …, pg_pipeline_start, pg_pipeline_drive …
 *
 * The server executes the statements in order and skips the rest after a failure, a COMMIT
 * included. Without BEGIN and COMMIT among them, they are one transaction. */
#ifndef BERTH_STORE_POSTGRES_SESSION_PIPELINE_H
#define BERTH_STORE_POSTGRES_SESSION_PIPELINE_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/rows.h"
#include "store/postgres/session/session_types.h"
#include "store/postgres/session/statement.h"
#include "store/server/outcome.h"

/* Begins a pipeline. SERVER_LOST: there is no connection. */
enum server_outcome pg_pipeline_begin(struct pg_session *session, struct err *err) BERTH_MUST_CHECK;

/* Appends a statement, whose parameters can then be reused. Some statements may already be sent.
 * SERVER_REFUSED: a text contains U+0000; the statement is not appended, and the pipeline is as
 * before. */
enum server_outcome pg_pipeline_queue(struct pg_session *session,
                                      const struct pg_statement *statement,
                                      struct err *err) BERTH_MUST_CHECK;

/* The same for a statement that recurs, whose results come in binary form. */
enum server_outcome pg_pipeline_queue_text(struct pg_session *session, const char *sql,
                                           const struct pg_parameter *parameters, size_t count,
                                           const char *what, struct err *err) BERTH_MUST_CHECK;

/* Appends BEGIN, as pg_session_begin() executes it. It counts as one statement. */
enum server_outcome pg_pipeline_queue_begin(struct pg_session *session, const char *sql,
                                            struct err *err) BERTH_MUST_CHECK;

/* Ends the pipeline's input and sends all of it. The server may already be answering. */
enum server_outcome pg_pipeline_send(struct pg_session *session, uint64_t deadline_us,
                                     struct err *err) BERTH_MUST_CHECK;

/* The same without waiting: pg_pipeline_poll() sends what is left. */
enum server_outcome pg_pipeline_start(struct pg_session *session, struct err *err) BERTH_MUST_CHECK;

/* Waits until everything is sent and the next answer, or the answer to the end, can be read without
 * another wait. SERVER_WOKEN: that takes longer than until that time; call it again. A failure ends
 * the pipeline. */
enum server_outcome pg_pipeline_poll(struct pg_session *session, uint64_t until_us,
                                     uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Whether everything that was started is with the operating system. */
bool pg_pipeline_is_sent(struct pg_session *session);

/* Polls, reads all results and ends the pipeline, as pg_pipeline_finish(). `rows` has an item for
 * each statement, zeroed before the first call, which gets its result; NULL: they are discarded.
 * SERVER_WOKEN: call it again. */
enum server_outcome pg_pipeline_drive(struct pg_session *session, struct pg_rows *rows,
                                      uint64_t until_us, uint64_t deadline_us,
                                      struct err *err) BERTH_MUST_CHECK;

/* The same when the socket is readable: reads what there is, and never waits. SERVER_WOKEN also if
 * the server has answered a statement with an error: what follows may take long, and is left to
 * pg_pipeline_drive(). */
enum server_outcome pg_pipeline_receive(struct pg_session *session, struct pg_rows *rows,
                                        struct err *err) BERTH_MUST_CHECK;
/* Whether that is so. */
bool pg_pipeline_has_failed(const struct pg_session *session);

/* The result of the next statement: SERVER_OK with its rows (NULL: discarded; otherwise the caller
 * frees them), or SERVER_END after the last one. A failure is that of the statement whose position
 * is in pg_session_failure(); it ends the pipeline, and only an open transaction may be left of it.
 */
enum server_outcome pg_pipeline_next(struct pg_session *session, struct pg_rows *rows,
                                     uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* As pg_pipeline_next(), without regard to the wake-up descriptor. */
enum server_outcome pg_pipeline_wait(struct pg_session *session, struct pg_rows *rows,
                                     uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Ends a pipeline to which nothing has been appended. */
void pg_pipeline_abandon(struct pg_session *session);

/* Reads the results that have not been read, discards their rows and ends the pipeline. Returns the
 * first failure among them, or that of the end: without BEGIN, the statements are committed there.
 * If the last statement is a COMMIT and has happened, the outcome is SERVER_OK even if the
 * connection is lost after that. SERVER_OK if the pipeline has ended already. */
enum server_outcome pg_pipeline_finish(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err) BERTH_MUST_CHECK;

#endif
