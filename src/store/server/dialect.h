/* What a kind of database on a server has to know, so that the store can use it: how its sessions
 * are made, and how each question is asked in its language. No text of a statement crosses it, and
 * no result but in types of the store.
 *
 * A question is one exchange, most often one round trip. What has a deadline waits no longer; what
 * has none does not wait. The functions use their session on its thread. */
#ifndef BERTH_STORE_SERVER_DIALECT_H
#define BERTH_STORE_SERVER_DIALECT_H

#include "model/memory_view.h"
#include "store/missing_consumers.h"
#include "store/report.h"
#include "store/row_reader.h"
#include "store/server/answers.h"
#include "store/server/asks.h"
#include "store/server/batch.h"
#include "store/server/id_tables.h"
#include "store/server/instance_row.h"
#include "store/server/question.h"
#include "store/server/session.h"
#include "store/value_forms.h"
#include "store/value_limits.h"

struct server_dialect {
    /* Whether instances can serve such a database; otherwise only the tools know it. */
    bool is_served;

    /* ---- URLs; any thread ---- */

    /* Whether the URL is meant for this dialect, so that url_parse() explains what is wrong. */
    bool (*url_matches)(struct slice url);
    /* What a session needs of a URL, in the arena. NULL: err has one line (503) without a secret.
     */
    const void *(*url_parse)(struct slice url, struct arena *arena, struct slice *target,
                             struct err *err);

    /* The names of its parameters that have no effect, although they would have one in other
     * programs: "a, b"; empty: there are none. NULL: there never are. */
    struct slice (*url_ignored)(const void *url);

    /* ---- sessions: see session.h ---- */

    struct server_session *(*create)(const struct server_session_options *options);
    void (*destroy)(struct server_session *session);
    enum server_outcome (*connect)(struct server_session *session, uint64_t deadline_us,
                                   struct err *err);
    void (*close)(struct server_session *session);
    bool (*is_open)(const struct server_session *session);
    int (*socket)(const struct server_session *session);
    void (*notice_end)(struct server_session *session);
    bool (*in_transaction)(const struct server_session *session);
    enum server_outcome (*rollback)(struct server_session *session, const char *what,
                                    uint64_t deadline_us, struct err *err);
    enum server_reason (*reason)(const struct server_session *session);

    /* ---- the database ---- */

    const struct value_limits *limits;
    /* Adds what only the open database tells. NULL: nothing does. */
    enum server_outcome (*limits_read)(struct server_session *session, struct value_limits *limits,
                                       uint64_t deadline_us, struct err *err);
    const struct value_forms *forms;
    /* Why a server that does not accept writes cannot be used: "is a standby: …". */
    const char *standby;
    /* Prepares a new connection for reading and writing. A server that does not accept writes is
     * refused, with `standby`. */
    enum server_outcome (*make_ready)(struct server_session *session, uint64_t deadline_us,
                                      struct err *err);
    /* SERVER_RETRY: the database is still being restored. Within a snapshot: of its state. */
    enum server_outcome (*check_restored)(struct server_session *session, uint64_t deadline_us,
                                          struct err *err);
    /* Checks, creates or upgrades the schema for an instance that starts. False: err is set (503).
     */
    bool (*start)(struct server_session *session, bool sync, uint64_t deadline_us, struct err *err);
    /* Within a snapshot: whether berth can serve the revision, which is left in `revision`. */
    bool (*check_schema)(struct server_session *session, char revision[static STORE_REVISION_BYTES],
                         uint64_t deadline_us, struct err *err);
    /* Fills everything but seen_us; false: `facts` is as before. */
    bool (*facts)(struct server_session *session, struct store_server *facts, uint64_t deadline_us,
                  struct err *err);
    /* Makes a report for operators; `own`: the name of the instance. */
    enum server_outcome (*inspect)(struct server_session *session, const char *own,
                                   struct arena *arena, struct store_report *report,
                                   uint64_t deadline_us, struct err *err);

    /* ---- snapshots ---- */

    /* Begins one and asks in it. The caller frees the answer, whatever comes of it. */
    enum server_outcome (*snapshot_begin)(struct server_session *session,
                                          const struct snapshot_question *question,
                                          struct snapshot_answer *answer, uint64_t deadline_us,
                                          struct err *err);
    /* Begins one and asks for the newest state in it, and whether there are notes after the view
     * (NULL: that is not asked). The caller frees the answer, whatever comes of it. */
    enum server_outcome (*snapshot_ask)(struct server_session *session,
                                        const struct foreign_view *view, bool is_view_of_server,
                                        struct question_answer *answer, uint64_t deadline_us,
                                        struct err *err);
    /* The next ones are within a snapshot; `timeout_us`: for each answer. */
    enum server_outcome (*snapshot_look)(struct server_session *session, struct snapshot_look *look,
                                         uint64_t deadline_us, struct err *err);
    /* Passes all rows of a table in the order of their ids, with bounded memory. Allocations have
     * no consumer's id. */
    enum server_outcome (*rows_stream)(struct server_session *session, enum rows_table table,
                                       server_take *take, void *cls, uint64_t timeout_us,
                                       struct err *err);
    /* Passes the rows of all sets, in their order. */
    enum server_outcome (*rows_find)(struct server_session *session, const struct row_set *sets,
                                     size_t count, server_take *take, void *cls,
                                     uint64_t timeout_us, struct err *err);
    /* Passes rows that were written lately, and counts. */
    enum server_outcome (*rows_examine)(struct server_session *session,
                                        struct examination *examination, server_take *take,
                                        void *cls, uint64_t timeout_us, struct err *err);
    /* Passes the ids of the consumers that have one of the uuids, as the database compares them,
     * and 0 for each consumer that has allocations and no row. */
    enum server_outcome (*consumers_find)(struct server_session *session, const struct slice *uuids,
                                          size_t count, consumer_take *take, void *cls,
                                          uint64_t timeout_us, struct err *err);
    /* All ids of a table. The caller frees them, whatever comes of it. */
    enum server_outcome (*rows_ids)(struct server_session *session, enum rows_table table,
                                    struct row_ids *ids, uint64_t deadline_us, struct err *err);

    /* ---- the newest state ---- */

    /* The caller frees the answer. */
    enum server_outcome (*question_ask)(struct server_session *session,
                                        const struct question *question,
                                        struct question_answer *answer, uint64_t deadline_us,
                                        struct err *err);
    /* The same in two steps. False: it could not be sent without a wait. */
    bool (*question_send)(struct server_session *session, const struct question *question,
                          struct err *err);
    /* As batch_receive(). SERVER_OK: the caller frees the answer. */
    enum server_outcome (*question_receive)(struct server_session *session,
                                            const struct question *question,
                                            struct question_answer *answer, struct err *err);

    /* ---- batches ---- */

    /* Begins the transaction of the next batch, takes the lock of batches, which another instance
     * may hold, and reads the log's rows. */
    enum server_outcome (*lock_send)(struct server_session *session, const struct log_range *since,
                                     struct err *err);
    /* As batch_drive(). SERVER_OK: the caller frees the news. */
    enum server_outcome (*lock_drive)(struct server_session *session, struct locked_news *news,
                                      uint64_t until_us, uint64_t deadline_us, struct err *err);
    /* Sends a batch. The session refers to it, and to the arena, until its outcome is known.
     * SERVER_REFUSED: a value cannot be sent, and nothing was; SERVER_LOST: anything may have been
     * sent. */
    enum server_outcome (*batch_send)(struct server_session *session,
                                      const struct server_batch *batch, struct arena *arena,
                                      struct err *err);
    /* Waits for the outcome; SERVER_WOKEN: that takes longer than until that time, call it again.
     */
    enum server_outcome (*batch_drive)(struct server_session *session, uint64_t until_us,
                                       uint64_t deadline_us, struct err *err);
    /* The same when the socket is readable: reads what there is, and never waits. SERVER_WOKEN also
     * if the server has answered with an error (has_failed()): what follows may take long, and is
     * left to batch_drive(). */
    enum server_outcome (*batch_receive)(struct server_session *session, struct err *err);
    bool (*has_failed)(const struct server_session *session);
    /* Whether everything that was sent is with the operating system. */
    bool (*is_sent)(struct server_session *session);
    /* Why the server has refused the batch, with that message. It may ask the server, which knows
     * no more than that once anything else was executed. */
    struct server_refusal (*batch_refusal)(struct server_session *session, struct slice message,
                                           uint64_t deadline_us);

    /* ---- what became of a batch: for a thread that may wait, and that the session's wake-up
     * descriptor wakes. `timeout_us`: for the answer to each statement ---- */

    /* The first row of the log with that number, or a later one; only its number and mark. The
     * caller frees it, whatever comes of it. */
    enum server_outcome (*log_first)(struct server_session *session, int64_t number,
                                     struct log_rows *found, uint64_t timeout_us, struct err *err);
    /* Begins a transaction with the lock of batches. */
    enum server_outcome (*lock_wait)(struct server_session *session, uint64_t timeout_us,
                                     struct err *err);
    /* Ends one that may have failed. */
    enum server_outcome (*lock_leave)(struct server_session *session, uint64_t timeout_us,
                                      struct err *err);
    /* In such a transaction: writes the row, which is empty, if the state before is there, and
     * commits. Nothing is written if it is not. */
    enum server_outcome (*number_take)(struct server_session *session, const struct log_row *row,
                                       const struct log_state *before, uint64_t timeout_us,
                                       struct err *err);

    /* ---- what else the writer asks ---- */

    enum server_outcome (*ids_reserve)(struct server_session *session, enum store_table table,
                                       struct id_range *ids, uint64_t deadline_us, struct err *err);
    /* From now on, ids are higher than those of all rows, and than `floor`. */
    enum server_outcome (*ids_mend)(struct server_session *session, enum store_table table,
                                    int64_t floor, uint64_t deadline_us, struct err *err);
    /* Inserts a row for each of these consumers that has allocations and none, in a transaction of
     * its own. After a failure, it may be open. */
    enum server_outcome (*consumers_create)(struct server_session *session,
                                            const struct repair_owner *owner,
                                            const struct slice *uuids, size_t count,
                                            uint64_t *created, uint64_t deadline_us,
                                            struct err *err);
    /* The rows that have one of the texts, as the database compares them: of providers name and
     * uuid, or else the same text twice. */
    enum server_outcome (*namesakes)(struct server_session *session, enum entity entity,
                                     const struct slice texts[static 2], struct arena *arena,
                                     struct namesakes *found, uint64_t deadline_us,
                                     struct err *err);
    /* The same for names of a catalog that one request inserts, for all of them: each row has the
     * index of the name as its field. If there is none for a name, but an equal one is before it,
     * id 0 and the first of these. NULL: equal names have equal bytes. */
    enum server_outcome (*names_alike)(struct server_session *session, enum entity entity,
                                       const struct slice *names, size_t count, struct arena *arena,
                                       struct namesakes *found, uint64_t deadline_us,
                                       struct err *err);
    /* Who has locked a provider's row, for an operator; without data: not known. */
    enum server_outcome (*row_holder)(struct server_session *session, int64_t provider_id,
                                      struct arena *arena, struct slice *holder,
                                      uint64_t deadline_us, struct err *err);
    /* Ends connections that hold the lock of batches and have done nothing for that long. */
    enum server_outcome (*stalled_end)(struct server_session *session, uint64_t least_us,
                                       struct arena *arena, struct stalled *ended,
                                       uint64_t deadline_us, struct err *err);

    /* ---- asks for turns (asks.h): of a dialect with clusters, or else NULL ---- */

    enum server_outcome (*ask_write)(struct server_session *session, const struct turn_ask *ask,
                                     uint64_t deadline_us, struct err *err);
    enum server_outcome (*ask_delete)(struct server_session *session, const struct turn_ask *ask,
                                      uint64_t deadline_us, struct err *err);
    enum server_outcome (*asks_read)(struct server_session *session, struct turn_asks *asks,
                                     uint64_t deadline_us, struct err *err);

    /* ---- housekeeping ---- */

    /* Inserts or updates the row of an instance, with the server's time; `followed` is the number
     * of the newest batch that memory has. Also deletes the rows of instances that have not written
     * for a day. A failure leaves the session in no transaction, or closed. */
    enum server_outcome (*instance_write)(struct server_session *session,
                                          const struct instance_row *row, int64_t followed,
                                          uint64_t deadline_us, struct err *err);
    enum server_outcome (*instance_delete)(struct server_session *session,
                                           const struct instance_row *row, uint64_t deadline_us,
                                           struct err *err);
    /* Looks at the oldest rows of the log after that number, `most` of them. */
    enum server_outcome (*log_oldest)(struct server_session *session, int64_t after, int64_t most,
                                      int64_t before_us, struct log_oldest *oldest,
                                      uint64_t deadline_us, struct err *err);
    /* Deletes the rows after the one number, up to the other. */
    enum server_outcome (*log_delete)(struct server_session *session, int64_t after, int64_t last,
                                      uint64_t *deleted, uint64_t deadline_us, struct err *err);
    /* Moves notes of other programs' writes into the log, in transactions that have the lock of
     * batches, and adds to *moved how many. After a failure, a transaction may be open. */
    enum server_outcome (*notes_move)(struct server_session *session, uint64_t *moved,
                                      uint64_t deadline_us, struct err *err);
};

#endif
