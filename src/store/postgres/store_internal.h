/* The PostgreSQL store, shared by its files. Everything belongs to the writer, except what is
 * marked.
 *
 * The writer has two sessions: one writes, and one reads the news in snapshots of its own, so that
 * neither waits for the other. head.c, housekeeping.c and unknown.c have a session and a thread
 * each. */
#ifndef BERTH_STORE_POSTGRES_STORE_INTERNAL_H
#define BERTH_STORE_POSTGRES_STORE_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/counter.h"
#include "store/driver.h"
#include "store/log.h"
#include "store/postgres/head.h"
#include "store/postgres/housekeeping.h"
#include "store/postgres/session.h"
#include "store/row_reader.h"
#include "store/server/acknowledged.h"
#include "store/server/answers.h"
#include "store/server/consumer_ids.h"
#include "store/server/epochs.h"
#include "store/server/io.h"
#include "store/server/locked_rows.h"
#include "store/skipped.h"

enum {
    POSTGRES_CROWDED = 16, /* batches that are planned under the lock after another instance has
                              overtaken one, or has written since the last one */
};

/* The open read. */
struct postgres_read {
    bool is_open;
    bool has_snapshot;     /* otherwise its rows were read with the lock */
    struct log_state head; /* the newest state */
    bool went_back;        /* it no longer has the state that memory has */
    struct log_rows since; /* of the log, from the state that memory has on */
    bool has_changes;      /* these have the changes themselves; otherwise: */
    struct log_entries to_follow;
    bool has_followed;
    struct foreign_view foreign; /* of the snapshot, if has_view */
    bool has_view;
    bool has_foreign; /* rows that other programs have written were named, in to_follow as well */
};

/* The newest state as the answer to a query has it. */
struct postgres_head_read {
    struct head_news news;
    struct log_state state;
};

/* Rows of the log that are followed; if there are more, memory is read again. */
enum { POSTGRES_FOLLOWED_ROWS_MOST = 10000 };

/* Ids of one table that were reserved. */
struct id_block {
    int64_t *ids;
    size_t count;
    size_t used;      /* given out */
    size_t committed; /* of these, how many cannot be given out again */
    size_t handed;    /* the same, as long as the batch that was handed over is pending; or 0 */
    bool is_used_up;  /* the database has none left, or gives out none; asked again in the next plan
                       */
    bool is_told;     /* that this is so was logged */
    int64_t highest;  /* that memory may have, or has had */
    int64_t read;     /* the highest of a row that was read */
    int64_t floor;    /* ids are higher: the highest when they were last distrusted */
};

/* Why an id was asked for in vain. */
enum lack { LACKS_NONE, LACKS_ANSWER, LACKS_IDS };

struct sending;
struct postgres_unknown;

/* The row after the state that memory has, as a read has found it. */
struct postgres_seen {
    uint64_t at_us; /* 0: there was none, as far as is known */
    int64_t number;
    unsigned char mark[LOG_MARK_LEN];
};

/* Reads rows through a session. */
struct postgres_reader {
    struct pg_session *session;
    struct slice target;
    uint64_t timeout_us;
    struct postgres_store *noting; /* receives the ids of what is read; NULL: nobody does */
};

/* Upstream's tables, whose rows another program may write. */
enum { EXAMINED_TABLES = ROWS_CONSUMERS + 1 };

/* The newest load or merge, for observers. */
struct postgres_load {
    uint64_t number; /* 0: there was none */
    int64_t horizon; /* rows of transactions below were read */
    uint64_t system; /* the cluster and its timeline; 0: not known */
    uint32_t timeline;
    uint64_t skipped[EXAMINED_TABLES]; /* rows of each table that were left out */
};

struct postgres_store {
    struct store base; /* first */
    struct arena *arena;
    struct arena *scratch; /* of errors that nobody reads */
    struct pg_url url;
    uint64_t timeout_us;               /* for an answer of the server */
    uint64_t stalled_us;               /* for which a stalled instance may keep others waiting */
    uint64_t recycle_us;               /* the age at which a session is replaced; 0: never */
    _Atomic uint64_t *steps;           /* store.h */
    struct server_lineage *lineage;    /* of all sessions; any thread */
    struct server_meanwhile meanwhile; /* for the next two */
    struct pg_session *writer;
    struct pg_session *follower;
    struct postgres_reader reader;  /* through the follower */
    struct postgres_head *head;     /* any thread */
    struct pg_connector *connector; /* any thread */
    struct housekeeping *housekeeping;

    bool has_read;             /* this process has read the database */
    bool has_state;            /* memory has the state `followed` */
    struct log_state followed; /* without has_state: the newest that memory has had, perhaps in an
                                  earlier process */
    struct acknowledged acknowledged;
    bool must_remember; /* what is gone has not been named yet: the file still has the state before
                         */
    struct postgres_read read;
    struct postgres_head_read head_read;
    struct postgres_seen seen; /* since the last batch was handed over */
    struct epochs epochs;
    struct foreign_view foreign;  /* up to which memory has rows of berth_foreign */
    struct store_going_back gone; /* the last time that the database went back */
    /* The cluster and the timeline of it that memory was read from. On another one, transactions
     * have other numbers, or what other programs wrote may be gone. 0: not known. */
    uint64_t examined_system;
    uint32_t examined_timeline;
    uint64_t read_again_us;    /* memory that is known to be wrong is not read again before then */
    _Atomic bool is_replaced;  /* an observer has found another cluster's tables */
    int64_t load_horizon;      /* of the last load or merge: see postgres_look_at_snapshot() */
    pthread_mutex_t load_lock; /* guards the next one */
    struct postgres_load load;
    struct log_entries suspects; /* entities that are to be read again */
    struct log_entries refused;  /* those because of which batches were refused, since the last
                                    commit */
    struct log_entries unlogged; /* entities that were read again, because other programs may have
                                    written them, and that the next batch names in the log */
    int64_t told_gone;         /* the number of the state of which it was logged that it is gone */
    bool is_locked;            /* the writer has an open transaction with the lock */
    bool is_locking;           /* the writer has sent the statement that takes the lock */
    bool has_lost_lock;        /* a connection has ended since the last answer to that */
    uint64_t lock_deadline_us; /* then its answer must be there */
    struct locked_news locked_news; /* until a read takes them */
    bool must_not_wait;             /* see store_begin_at_once() */
    struct sending *sending;        /* the pending batch, in its err's arena; NULL: there is none */
    struct postgres_unknown *unknown; /* finds out what became of a batch */
    bool waits_in_vain;               /* the lock was not free within the limit */
    struct locked_rows locked;
    unsigned failures;  /* in a row, because of a state of the server that passes */
    uint64_t wanted_us; /* since when it has been wanted without success; 0: it is not */
    unsigned crowded;   /* so many batches more are planned under the lock */

    struct skipped skipped;
    struct consumer_ids consumer_ids; /* while everything is read */
    struct store_refusal refusal;
    struct id_block ids[STORE_TABLE_COUNT];
    enum lack lack;           /* the first since postgres_lacks_id() */
    enum store_table lacking; /* the table of that */
    bool is_silent;           /* the server does not answer; asked again in the next plan */
    int64_t lacks;            /* the number of ids given out that no row can have */
    bool has_reconnected; /* perhaps to a database that went back: see postgres_distrust_ids() */
    bool mends_first;     /* sequences may be behind, which is mended before ids are asked for */
    bool mends_sequences; /* a sequence is behind the ids in its table */
    bool has_mended;      /* this was mended since the last commit */
    unsigned char instance[8];
    uint64_t batches;
    struct buf touched; /* the entries of the batch */

    struct pg_connection_counts connections; /* of all sessions; any thread, as the next ones */
    _Atomic uint64_t lock_timeouts;
    _Atomic uint64_t stalled_ended;
    _Atomic uint64_t unknown_done; /* COMMITs without an answer: what has become of them */
    _Atomic uint64_t unknown_undone;
    _Atomic uint64_t unknown_open;
    struct counter log_head; /* any thread reads */
    struct counter skipped_rows;
    struct counter epoch;
    struct counter unreplicated;
};

static inline struct postgres_store *postgres_of(struct store *store)
{
    return (struct postgres_store *)store;
}

/* The state that memory has now outlives the process. */
static inline void postgres_remember(struct postgres_store *store)
{
    const struct epochs_left left = epochs_leave(&store->epochs);
    store->must_remember = false;
    acknowledged_write(&store->acknowledged, &store->followed, &left);
}

static inline const struct postgres_store *postgres_of_const(const struct store *store)
{
    return (const struct postgres_store *)store;
}

/* The functions of store.h (driver.c), each in the file that its name suggests. */
bool postgres_knows_connection(struct slice connection, struct err *err) BERTH_MUST_CHECK;
struct store *postgres_open(const struct store_options *options, struct err *err);
void postgres_close(struct store *store);
enum store_news postgres_begin_read(struct store *store, struct err *err) BERTH_MUST_CHECK;
enum store_result postgres_load(struct store *store, store_sink *sink, void *cls,
                                struct err *err) BERTH_MUST_CHECK;
enum store_result postgres_merge(struct store *store, const struct store_comparer *comparer,
                                 store_sink *sink, void *cls, bool *merged,
                                 struct err *err) BERTH_MUST_CHECK;
enum store_result postgres_follow(struct store *store, const struct memory_view *memory,
                                  store_sink *sink, void *cls, struct err *err) BERTH_MUST_CHECK;
bool postgres_suspect(struct store *store, enum entity entity, int64_t id, struct slice uuid);
bool postgres_should_read(const struct store *store);
struct store_observer *postgres_observe(struct store *store, struct err *err) BERTH_MUST_CHECK;
bool postgres_end_read(struct store *store, struct store_stamp *stamp);
bool postgres_locks_first(const struct store *store);
enum store_lock postgres_lock(struct store *store, struct err *err) BERTH_MUST_CHECK;
void postgres_unlock(struct store *store);
int64_t postgres_next_id(struct store *store, enum store_table table);
bool postgres_lacks_id(struct store *store, struct err *err) BERTH_MUST_CHECK;
void postgres_reuse_ids(struct store *store);
enum store_result postgres_commit(struct store *store, const struct store_batch *batch,
                                  struct store_stamp *stamp, bool *foreign,
                                  struct err *err) BERTH_MUST_CHECK;
enum store_result postgres_await(struct store *store, uint64_t until_us, struct store_stamp *stamp,
                                 bool *foreign, struct err *err) BERTH_MUST_CHECK;
void postgres_give_up(struct store *store);
bool postgres_begin_at_once(struct store *store) BERTH_MUST_CHECK;
void postgres_end_at_once(struct store *store);
int postgres_pending_descriptor(const struct store *store);
enum store_received postgres_receive(struct store *store, struct store_stamp *stamp, bool *foreign);
void postgres_upkeep(struct store *store);
void postgres_set_meanwhile(struct store *store, const struct store_meanwhile *meanwhile);

/* sessions.c: sets the err, and returns false. */
bool postgres_refuse_standby(const struct postgres_store *store, struct err *err);
/* sessions.c: the same for a server that was replaced before it was known what it had `done`
 * ("written", "read"). */
bool postgres_refuse_replaced(const struct postgres_store *store, const char *done,
                              struct err *err);
/* sessions.c: connects the session, to a server that accepts writes, if it is not connected or is
 * connected to another server than the newest session. */
bool postgres_ensure_session(struct postgres_store *store, struct pg_session *session,
                             struct err *err) BERTH_MUST_CHECK;
/* sessions.c: connects the writer when the store is opened, with retries (NULL: none). */
bool postgres_reach_server(struct postgres_store *store, const struct store_retry *retry,
                           struct err *err) BERTH_MUST_CHECK;
/* sessions.c: the same for the writer, whose idle connection may have been ended. */
bool postgres_ensure_writer(struct postgres_store *store, struct err *err) BERTH_MUST_CHECK;
/* sessions.c: an error that nobody reads; valid until the next one. */
struct err postgres_ignored(struct postgres_store *store);
/* sessions.c: a mark that no other batch has. */
void postgres_make_mark(struct postgres_store *store, unsigned char mark[static LOG_MARK_LEN]);
/* sessions.c: the time until which the server must have answered. */
uint64_t postgres_deadline(const struct postgres_store *store);
/* Of a statement that may wait for another instance's lock before it is executed: how long, and
 * until when. */
uint64_t postgres_lock_timeout(const struct postgres_store *store);
uint64_t postgres_lock_deadline(const struct postgres_store *store);

/* locked_news.c: the open read gets the rows that were read with the lock and their newest state,
 * if they are all that is needed; false: a snapshot is needed. Only the first read after the lock
 * gets them. */
bool postgres_take_locked_news(struct postgres_store *store);
/* follow.c: notes the row after the state that memory has. */
void postgres_note_seen(struct postgres_store *store, const struct log_state *next);
/* follow.c: whether a row's entries are nothing but changes, which is also true of empty ones; adds
 * their number. */
bool postgres_are_changes(struct slice blob, size_t *count) BERTH_MUST_CHECK;
/* follow.c: sends these changes. */
void postgres_pass_changes(struct postgres_store *store, struct slice blob, store_sink *sink,
                           void *cls);
/* head_news.c: store_follow_head(), store_take_head(). */
bool postgres_follow_head(struct store *store, const struct store_stamp *head, store_sink *sink,
                          void *cls) BERTH_MUST_CHECK;
bool postgres_take_head(struct store *store) BERTH_MUST_CHECK;
/* snapshot.c: the log's rows since the one that memory has, that one included. */
struct log_range postgres_since(const struct postgres_store *store);
/* snapshot.c: begins the follower's snapshot. The caller frees the answer. */
bool postgres_begin_snapshot(struct postgres_store *store, struct snapshot_answer *answer,
                             struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: the state of the newest row; takes the epochs. */
bool postgres_read_head(struct postgres_store *store, struct snapshot_answer *answer,
                        struct log_state *head, struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: tables are going to be read, of the state that the open read has. */
bool postgres_need_snapshot(struct postgres_store *store, struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: frees what a read has of the log. */
void postgres_free_read(struct postgres_store *store);
/* snapshot.c: memory has that state, which it has followed or read. `went_back`: the database no
 * longer has the one before. */
void postgres_have(struct postgres_store *store, const struct log_state *state, bool went_back);
/* snapshot.c: memory has the state that is being read. `is_continued`: it has followed the log.
 * False: it must not have it, because the server has been replaced. */
bool postgres_mark_read(struct postgres_store *store, bool is_continued,
                        struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: whether the transactions that have been looked at (observer.c) were numbered by
 * another cluster than that of the open read. */
bool postgres_is_other_cluster(const struct postgres_store *store);
/* The opposite, for a session of the store. */
bool postgres_is_server_of_memory(const struct postgres_store *store,
                                  const struct server_id *server);
/* foreign.c: whether the view that memory has is one of the follower's server. */
bool postgres_is_view_of_server(const struct postgres_store *store);
/* foreign.c: takes the notes that memory does not have into the read that begins. */
void postgres_read_foreign(struct postgres_store *store, struct foreign_notes *notes);
/* foreign.c: for a load: whether there are triggers, a view of all that is read now, and the number
 * of the oldest transaction that the open read does not see, or of the next one. */
bool postgres_look_at_snapshot(struct postgres_store *store, int64_t *horizon,
                               struct err *err) BERTH_MUST_CHECK;
/* foreign.c: the view that memory has once the read counts as read; NULL: as before. */
const struct foreign_view *postgres_foreign_view(struct postgres_store *store, bool is_continued);
/* foreign.c: it counts. */
void postgres_take_foreign(struct postgres_store *store);
/* foreign.c: there is nothing to read: later queries need not look at older notes. */
void postgres_note_no_foreign(struct postgres_store *store);
/* follow.c: whether the rows of the log that were read lead from the state that memory has to the
 * newest one. */
bool postgres_explains(struct postgres_store *store);

/* ids.c */
/* The ids given out so far belong to the batch that is handed over. */
void postgres_hand_over_ids(struct postgres_store *store);
/* It is decided. `kept`: its rows may exist, and its ids are not given out again. */
void postgres_decide_ids(struct postgres_store *store, bool kept);
/* No id of the blocks is given out any more. */
void postgres_drop_ids(struct postgres_store *store);
/* The same, because the sequences may be those of a database that went back: what was reserved may
 * be given out again, and the next ids may be those of rows. */
void postgres_distrust_ids(struct postgres_store *store);
/* A row with that id has been read. */
void postgres_note_id(struct postgres_store *store, enum rows_table table, int64_t id);
void postgres_free_ids(struct postgres_store *store);
/* Moves sequences behind the largest id in their table; all blocks are then used up. */
bool postgres_mend_sequences(struct postgres_store *store, struct pg_session *session,
                             struct err *err) BERTH_MUST_CHECK;

/* observer.c: memory has what a load or a merge has read. */
void postgres_note_load(struct postgres_store *store);

/* suspects.c */
/* The next batch names the entity in the log: other instances may not know of it. */
void postgres_name_in_log(struct postgres_store *store, const struct difference *difference);
/* What was suspected has been read again. */
void postgres_end_suspicion(struct postgres_store *store);
/* The change was refused because its row is not as memory has it (NULL: it is not known which), or
 * because it repeats the text of another row: the next news are what it concerns, or everything, if
 * that is not known or has not helped before. */
void postgres_suspect_refused(struct postgres_store *store, const struct change *change,
                              bool is_duplicate);

/* lock_holder.c: logs who has locked a provider's row. */
void postgres_log_lock_holder(struct postgres_store *store, int64_t provider_id);

/* stalled.c: through the follower; or through a session that is connected and idle, on its thread.
 */
void postgres_end_stalled(struct postgres_store *store);
void postgres_end_stalled_by(struct postgres_store *store, struct pg_session *session,
                             struct err *err);

/* row_reader.c: reads inside the session's snapshot, on its thread. */
struct row_reader postgres_row_reader(struct postgres_reader *reader);

#endif
