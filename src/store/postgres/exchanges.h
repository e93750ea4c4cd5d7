/* Questions of the store to a server, each in one round trip. What is sent does not wait, unless
 * the function has a deadline. The thread of the session. */
#ifndef BERTH_STORE_POSTGRES_EXCHANGES_H
#define BERTH_STORE_POSTGRES_EXCHANGES_H

#include "store/postgres/session.h"
#include "store/server/answers.h"
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

#endif
