/* Questions of the store to a server, each in one round trip. What is sent does not wait, unless
 * the function has a deadline. The thread of the session. */
#ifndef BERTH_STORE_POSTGRES_EXCHANGES_H
#define BERTH_STORE_POSTGRES_EXCHANGES_H

#include "store/postgres/session.h"
#include "store/row_reader.h"
#include "store/server/answers.h"
#include "store/server/batch.h"
#include "store/server/id_tables.h"
#include "store/server/instance_row.h"
#include "store/server/question.h"

/* Begins a snapshot and asks in it. The caller frees the answer, whatever comes of it. */
enum server_outcome pg_snapshot_begin(struct pg_session *session,
                                      const struct snapshot_question *question,
                                      struct snapshot_answer *answer, uint64_t deadline_us,
                                      struct err *err) BERTH_MUST_CHECK;

/* Begins a snapshot and asks for the newest state in it, and whether there are notes after the view
 * (NULL: that is not asked). The caller frees the answer, whatever comes of it. */
enum server_outcome pg_snapshot_ask(struct pg_session *session, const struct foreign_view *view,
                                    bool is_view_of_server, struct question_answer *answer,
                                    uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* In a snapshot. */
enum server_outcome pg_snapshot_look(struct pg_session *session, struct snapshot_look *look,
                                     uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Asks for the newest state. The caller frees the answer. */
enum server_outcome pg_question_ask(struct pg_session *session, const struct question *question,
                                    struct question_answer *answer, uint64_t deadline_us,
                                    struct err *err) BERTH_MUST_CHECK;

/* The same in two steps. False: it could not be sent without a wait. */
bool pg_question_send(struct pg_session *session, const struct question *question,
                      struct err *err) BERTH_MUST_CHECK;
/* As pg_pipeline_receive(). SERVER_OK: the caller frees the answer. */
enum server_outcome pg_question_receive(struct pg_session *session, const struct question *question,
                                        struct question_answer *answer,
                                        struct err *err) BERTH_MUST_CHECK;

/* Begins the transaction of the next batch, takes the lock of batches, which another instance may
 * hold, and reads the log's rows. */
enum server_outcome pg_lock_send(struct pg_session *session, const struct log_range *since,
                                 struct err *err) BERTH_MUST_CHECK;
/* As pg_pipeline_drive(). SERVER_OK: the caller frees the news. */
enum server_outcome pg_lock_drive(struct pg_session *session, struct locked_news *news,
                                  uint64_t until_us, uint64_t deadline_us,
                                  struct err *err) BERTH_MUST_CHECK;

/* Sends a batch without waiting. The session refers to it, and to the arena, until its outcome is
 * known, which pg_pipeline_drive() or pg_pipeline_receive() tells. SERVER_REFUSED: a value cannot
 * be sent; SERVER_LOST: nothing was. Anything that is queued, COMMIT included, may already be with
 * the server. */
enum server_outcome pg_batch_send(struct pg_session *session, const struct server_batch *batch,
                                  struct arena *arena, struct err *err) BERTH_MUST_CHECK;
/* Why the server has refused the batch, with that message. */
struct server_refusal pg_batch_refusal(const struct pg_session *session, struct slice message);

/* The next ones are for a thread that may wait, and that the session's wake-up descriptor wakes.
 * `timeout_us`: for the answer to each statement. */

/* The first row of the log with that number, or a later one; only its number and mark. The caller
 * frees it, whatever comes of it. */
enum server_outcome pg_log_first(struct pg_session *session, int64_t number, struct log_rows *found,
                                 uint64_t timeout_us, struct err *err) BERTH_MUST_CHECK;
/* Begins a transaction with the lock of batches. */
enum server_outcome pg_lock_wait(struct pg_session *session, uint64_t timeout_us,
                                 struct err *err) BERTH_MUST_CHECK;
/* Ends one that may have failed. */
enum server_outcome pg_lock_leave(struct pg_session *session, uint64_t timeout_us,
                                  struct err *err) BERTH_MUST_CHECK;
/* In such a transaction: writes the row, which is empty, if the state before is there, and commits.
 * Nothing is written if it is not. */
enum server_outcome pg_number_take(struct pg_session *session, const struct log_row *row,
                                   const struct log_state *before, uint64_t timeout_us,
                                   struct err *err) BERTH_MUST_CHECK;

/* Reserves ids. */
enum server_outcome pg_ids_reserve(struct pg_session *session, enum store_table table,
                                   struct id_range *ids, uint64_t deadline_us,
                                   struct err *err) BERTH_MUST_CHECK;
/* From now on, ids are higher than those of all rows, and than `floor`. */
enum server_outcome pg_ids_mend(struct pg_session *session, enum store_table of, int64_t floor,
                                uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* The rows of which one has one of the texts: of providers name and uuid, or else the same text
 * twice. */
enum server_outcome pg_namesakes(struct pg_session *session, enum entity entity,
                                 const struct slice texts[static 2], struct arena *arena,
                                 struct namesakes *found, uint64_t deadline_us,
                                 struct err *err) BERTH_MUST_CHECK;

/* Who has locked a provider's row, for an operator; without data: not known. */
enum server_outcome pg_row_holder(struct pg_session *session, int64_t provider_id,
                                  struct arena *arena, struct slice *holder, uint64_t deadline_us,
                                  struct err *err) BERTH_MUST_CHECK;

/* The next ones are within a snapshot; `timeout_us`: for each answer. */

/* Passes all rows of a table in the order of their ids, with bounded memory. Allocations have no
 * consumer's id. */
enum server_outcome pg_rows_stream(struct pg_session *session, enum rows_table table,
                                   server_take *take, void *cls, uint64_t timeout_us,
                                   struct err *err) BERTH_MUST_CHECK;
/* Passes the rows of all sets, in their order. */
enum server_outcome pg_rows_find(struct pg_session *session, const struct row_set *sets,
                                 size_t count, server_take *take, void *cls, uint64_t timeout_us,
                                 struct err *err) BERTH_MUST_CHECK;
/* Passes rows that were written lately, and counts. */
enum server_outcome pg_rows_examine(struct pg_session *session, struct examination *examination,
                                    server_take *take, void *cls, uint64_t timeout_us,
                                    struct err *err) BERTH_MUST_CHECK;
/* All ids of a table. The caller frees them, whatever comes of it. */
enum server_outcome pg_rows_ids(struct pg_session *session, enum rows_table table,
                                struct row_ids *ids, uint64_t deadline_us,
                                struct err *err) BERTH_MUST_CHECK;

/* Inserts or updates the row of an instance, with the server's time; `followed` is the number of
 * the newest batch that memory has. Also deletes the rows of instances that have not written for a
 * day. A failure leaves the session in no transaction, or closed. */
enum server_outcome pg_instance_write(struct pg_session *session, const struct instance_row *row,
                                      int64_t followed, uint64_t deadline_us,
                                      struct err *err) BERTH_MUST_CHECK;
enum server_outcome pg_instance_delete(struct pg_session *session, const struct instance_row *row,
                                       uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* Looks at the oldest rows of the log after that number, `most` of them. */
enum server_outcome pg_log_oldest(struct pg_session *session, int64_t after, int64_t most,
                                  int64_t before_us, struct log_oldest *oldest,
                                  uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;
/* Deletes the rows after the one number, up to the other. */
enum server_outcome pg_log_delete(struct pg_session *session, int64_t after, int64_t last,
                                  uint64_t *deleted, uint64_t deadline_us,
                                  struct err *err) BERTH_MUST_CHECK;

/* Ends connections that hold the lock of batches and have done nothing for that long. */
enum server_outcome pg_stalled_end(struct pg_session *session, uint64_t least_us,
                                   struct arena *arena, struct stalled *ended, uint64_t deadline_us,
                                   struct err *err) BERTH_MUST_CHECK;

#endif
