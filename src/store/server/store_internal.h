/* The PostgreSQL store, shared by its files. Everything belongs to the writer, except what is
 * marked.
 *
 * The writer has two sessions: one writes, and one reads the news in snapshots of its own, so that
 * neither waits for the other. head.c, housekeeping.c and unknown.c have a session and a thread
 * each. */
#ifndef BERTH_STORE_SERVER_STORE_INTERNAL_H
#define BERTH_STORE_SERVER_STORE_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/counter.h"
#include "store/driver.h"
#include "store/log.h"
#include "store/missing_consumers.h"
#include "store/row_reader.h"
#include "store/server/acknowledged.h"
#include "store/server/alikes.h"
#include "store/server/asks.h"
#include "store/server/consumer_ids.h"
#include "store/server/dialect.h"
#include "store/server/epochs.h"
#include "store/server/head.h"
#include "store/server/housekeeping.h"
#include "store/server/io.h"
#include "store/server/locked_rows.h"
#include "store/server/session.h"
#include "store/server/turns.h"
#include "store/skipped.h"

enum {
    SERVER_CROWDED = 16, /* batches that are planned under the lock after another instance has
                              overtaken one, or has written since the last one */
};

/* The open read. */
struct server_read {
    bool is_open;
    bool is_overtaken;      /* others have written in spite of the lock */
    bool has_snapshot;      /* otherwise its rows were read with the lock */
    int64_t highest_before; /* the highest number in an answer before the snapshot was begun */
    struct log_state head;  /* the newest state */
    bool went_back;         /* it no longer has the state that memory has */
    struct log_rows since;  /* of the log, from the state that memory has on */
    bool has_changes;       /* these have the changes themselves; otherwise: */
    struct log_entries to_follow;
    bool has_followed;
    struct foreign_view foreign; /* of the snapshot, if has_view */
    bool has_view;
    bool has_foreign; /* rows that other programs have written were named, in to_follow as well */
};

/* The newest state as the answer to a query has it. */
struct server_head_read {
    struct head_news news;
    struct log_state state;
};

/* Rows of the log that are followed; if there are more, memory is read again. */
enum { SERVER_FOLLOWED_ROWS_MOST = 10000 };

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
struct server_unknown;

/* The row after the state that memory has, as a read has found it. */
struct server_seen {
    uint64_t at_us; /* 0: there was none, as far as is known */
    int64_t number;
    unsigned char mark[LOG_MARK_LEN];
};

/* Reads rows through a session. */
struct server_reader {
    struct server_session *session;
    struct slice target;
    uint64_t timeout_us;
    struct server_store *noting; /* receives the ids of what is read; NULL: nobody does */
};

/* Upstream's tables, whose rows another program may write. */
enum { EXAMINED_TABLES = ROWS_CONSUMERS + 1 };

/* The newest load or merge, for observers. */
struct server_load {
    uint64_t number; /* 0: there was none */
    int64_t horizon; /* rows of transactions below were read */
    uint64_t system; /* the cluster and its timeline; 0: not known */
    uint32_t timeline;
    uint64_t skipped[EXAMINED_TABLES]; /* rows of each table that were left out */
};

struct server_store {
    struct store base; /* first */
    struct arena *arena;
    struct arena *scratch; /* of errors that nobody reads */
    struct server_address address;
    struct value_limits limits;        /* of the database */
    uint64_t timeout_us;               /* for an answer of the server */
    uint64_t stalled_us;               /* for which a stalled instance may keep others waiting */
    uint64_t recycle_us;               /* the age at which a session is replaced; 0: never */
    _Atomic uint64_t *steps;           /* store.h */
    struct server_lineage *lineage;    /* of all sessions; any thread */
    struct server_meanwhile meanwhile; /* for the next two */
    struct server_session *writer;
    struct server_session *follower;
    struct server_reader reader;        /* through the follower */
    struct server_head *head;           /* any thread */
    struct server_connector *connector; /* any thread */
    struct housekeeping *housekeeping;

    bool has_read;             /* this process has read the database */
    bool has_state;            /* memory has the state `followed` */
    struct log_state followed; /* without has_state: the newest that memory has had, perhaps in an
                                  earlier process */
    struct acknowledged acknowledged;
    bool must_remember; /* what is gone has not been named yet: the file still has the state before
                         */
    struct server_read read;
    struct server_head_read head_read;
    struct server_seen seen; /* since the last batch was handed over */
    struct epochs epochs;
    struct foreign_view foreign;  /* up to which memory has rows of berth_foreign */
    struct store_going_back gone; /* the last time that the database went back */
    /* The cluster and the timeline of it that memory was read from. On another one, transactions
     * have other numbers, or what other programs wrote may be gone. 0: not known. */
    uint64_t examined_system;
    uint32_t examined_timeline;
    uint64_t read_again_us;    /* memory that is known to be wrong is not read again before then */
    _Atomic bool is_replaced;  /* an observer has found another cluster's tables */
    int64_t load_horizon;      /* of the last load or merge: see server_look_at_snapshot() */
    pthread_mutex_t load_lock; /* guards the next one */
    struct server_load load;
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
    struct server_unknown *unknown; /* finds out what became of a batch */
    bool waits_in_vain;             /* the lock was not free within the limit */
    struct locked_rows locked;
    uint64_t taken_us; /* since when others have won each time; 0: they have not the last time */
    uint64_t last_taken_us; /* when a batch was last decided */
    unsigned failures;      /* in a row, because of a state of the server that passes */
    uint64_t wanted_us;     /* since when it has been wanted without success; 0: it is not */
    struct turns turns;
    struct server_asks asks;
    unsigned crowded; /* so many batches more are planned under the lock */

    struct skipped skipped;
    bool completes_consumers;         /* store_options */
    struct repair_owner owner;        /* the same, or all-zero uuids */
    struct missing_consumers missing; /* found by the last load, merge or follow, and not created
                                         yet */
    uint64_t missing_found_us;        /* when they were found */
    uint64_t quiet_us;                /* after so long they are created; tests shorten it */
    struct alikes alikes;
    struct consumer_ids consumer_ids; /* while everything is read */
    struct store_refusal refusal;
    struct id_block ids[STORE_TABLE_COUNT];
    enum lack lack;           /* the first since server_lacks_id() */
    enum store_table lacking; /* the table of that */
    bool is_silent;           /* the server does not answer; asked again in the next plan */
    bool silence_is_told;     /* that this is so was logged */
    int64_t lacks;            /* the number of ids given out that no row can have */
    bool has_reconnected;     /* perhaps to a database that went back: see server_distrust_ids() */
    bool mends_first;     /* sequences may be behind, which is mended before ids are asked for */
    bool mends_sequences; /* a sequence is behind the ids in its table */
    bool has_mended;      /* this was mended since the last commit */
    uint64_t instance;    /* random */
    uint64_t batches;
    struct buf touched; /* the entries of the batch */

    struct server_connection_counts connections; /* of all sessions; any thread, as the next ones */
    _Atomic uint64_t lock_timeouts;
    _Atomic uint64_t stalled_ended;
    _Atomic uint64_t unknown_done; /* COMMITs without an answer: what has become of them */
    _Atomic uint64_t unknown_undone;
    _Atomic uint64_t unknown_open;
    struct counter log_head; /* any thread reads */
    struct counter skipped_rows;
    struct counter epoch;
    struct counter unreplicated;
    struct counter conflicts;
    struct counter lock_conflicts;
    struct counter lost_batches;
};

static inline struct server_store *server_store_of(struct store *store)
{
    return (struct server_store *)store;
}

/* The state that memory has now outlives the process. */
static inline void server_remember(struct server_store *store)
{
    const struct epochs_left left = epochs_leave(&store->epochs);
    store->must_remember = false;
    acknowledged_write(&store->acknowledged, &store->followed, &left);
}

static inline const struct server_store *server_store_of_const(const struct store *store)
{
    return (const struct server_store *)store;
}

/* The functions of store.h (driver.c), each in the file that its name suggests. */
bool server_knows_connection(struct slice connection, struct err *err) BERTH_MUST_CHECK;
struct slice server_ignored_parameters(struct slice connection, struct arena *arena);
struct store *server_open(const struct store_options *options, struct err *err);
void server_close(struct store *store);
enum store_news server_begin_read(struct store *store, struct err *err) BERTH_MUST_CHECK;
enum store_result server_load(struct store *store, store_sink *sink, void *cls,
                              struct err *err) BERTH_MUST_CHECK;
enum store_result server_merge(struct store *store, const struct store_comparer *comparer,
                               store_sink *sink, void *cls, bool *merged,
                               struct err *err) BERTH_MUST_CHECK;
enum store_result server_follow(struct store *store, const struct memory_view *memory,
                                store_sink *sink, void *cls, struct err *err) BERTH_MUST_CHECK;
bool server_suspect(struct store *store, enum entity entity, int64_t id, struct slice uuid);
bool server_should_read(const struct store *store);
struct store_observer *server_observe(struct store *store, struct err *err) BERTH_MUST_CHECK;
bool server_end_read(struct store *store, struct store_stamp *stamp);
bool server_locks_first(const struct store *store);
bool server_reads_first(const struct store *store);
struct store_turn server_turn(const struct store *store);
enum store_lock server_lock(struct store *store, struct err *err) BERTH_MUST_CHECK;
void server_unlock(struct store *store);
int64_t server_next_id(struct store *store, enum store_table table);
bool server_lacks_id(struct store *store, struct err *err) BERTH_MUST_CHECK;
void server_reuse_ids(struct store *store);
enum store_result server_commit(struct store *store, const struct store_batch *batch,
                                struct store_stamp *stamp, bool *foreign,
                                struct err *err) BERTH_MUST_CHECK;
enum store_result server_await(struct store *store, uint64_t until_us, struct store_stamp *stamp,
                               bool *foreign, struct err *err) BERTH_MUST_CHECK;
void server_give_up(struct store *store);
bool server_begin_at_once(struct store *store) BERTH_MUST_CHECK;
void server_end_at_once(struct store *store);
int server_pending_descriptor(const struct store *store);
enum store_received server_receive(struct store *store, struct store_stamp *stamp, bool *foreign);
void server_upkeep(struct store *store);
void server_set_meanwhile(struct store *store, const struct store_meanwhile *meanwhile);

/* sessions.c: sets the err, and returns false. */
bool server_refuse_standby(const struct server_store *store, struct err *err);
/* sessions.c: the same for a server that was replaced before it was known what it had `done`
 * ("written", "read"). */
bool server_refuse_replaced(const struct server_store *store, const char *done, struct err *err);
/* sessions.c: connects the session, to a server that accepts writes, if it is not connected or is
 * connected to another server than the newest session. */
bool server_ensure_session(struct server_store *store, struct server_session *session,
                           struct err *err) BERTH_MUST_CHECK;
/* sessions.c: connects the writer when the store is opened, with retries (NULL: none). */
bool server_reach_server(struct server_store *store, const struct store_retry *retry,
                         struct err *err) BERTH_MUST_CHECK;
/* sessions.c: the same for the writer, whose idle connection may have been ended. */
bool server_ensure_writer(struct server_store *store, struct err *err) BERTH_MUST_CHECK;
/* sessions.c: an error that nobody reads; valid until the next one. */
struct err server_ignored(struct server_store *store);
/* sessions.c: a mark that no other batch has. */
void server_make_mark(struct server_store *store, unsigned char mark[static LOG_MARK_LEN]);
/* sessions.c: the time until which the server must have answered. */
uint64_t server_deadline(const struct server_store *store);
/* Of a statement that may wait for another instance's lock before it is executed: how long, and
 * until when. */
uint64_t server_lock_timeout(const struct server_store *store);
uint64_t server_lock_deadline(const struct server_store *store);

/* locked_news.c: the open read gets the rows that were read with the lock and their newest state,
 * if they are all that is needed; false: a snapshot is needed. Only the first read after the lock
 * gets them. */
bool server_take_locked_news(struct server_store *store);
/* follow.c: notes the row after the state that memory has. */
void server_note_seen(struct server_store *store, const struct log_state *next);
/* follow.c: whether a row's entries are nothing but changes, which is also true of empty ones; adds
 * their number. */
bool server_are_changes(struct slice blob, size_t *count) BERTH_MUST_CHECK;
/* follow.c: sends these changes. */
void server_pass_changes(struct server_store *store, struct slice blob, store_sink *sink,
                         void *cls);
/* head_news.c: store_follow_head(), store_take_head(). */
bool server_follow_head(struct store *store, const struct store_stamp *head, store_sink *sink,
                        void *cls) BERTH_MUST_CHECK;
bool server_take_head(struct store *store) BERTH_MUST_CHECK;
/* snapshot.c: the log's rows since the one that memory has, that one included. */
struct log_range server_since(const struct server_store *store);
/* snapshot.c: begins the follower's snapshot. The caller frees the answer. */
bool server_begin_snapshot(struct server_store *store, struct snapshot_answer *answer,
                           struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: the state of the newest row; takes the epochs. */
bool server_read_head(struct server_store *store, struct snapshot_answer *answer,
                      struct log_state *head, struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: tables are going to be read, of the state that the open read has. */
bool server_need_snapshot(struct server_store *store, struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: after a load, merge or follow has failed: STORE_TAKEN if it may succeed in the next
 * read. */
enum store_result server_read_failed(const struct server_store *store);
/* missing_consumers.c: what the store needs to create them; at the open. */
void server_set_owner(struct server_store *store, const struct store_options *options);
/* missing_consumers.c: where a read leaves those that it finds; NULL: none is created. */
struct missing_consumers *server_missing(struct server_store *store);
/* missing_consumers.c: whether memory may have what was read; false: err is set, and the next read
 * creates what is missing. */
bool server_is_whole(struct server_store *store, struct err *err) BERTH_MUST_CHECK;
/* missing_consumers.c: waits, and creates the rows that the last read has missed, unless others
 * have written some meanwhile. No snapshot is open. False: err is set, and nothing can be read. */
bool server_create_missing(struct server_store *store, struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: frees what a read has of the log. */
void server_free_read(struct server_store *store);
/* snapshot.c: memory has that state, which it has followed or read. `went_back`: the database no
 * longer has the one before. */
void server_have(struct server_store *store, const struct log_state *state, bool went_back);
/* snapshot.c: memory has the state that is being read. `is_continued`: it has followed the log.
 * False: it must not have it, because the server has been replaced. */
bool server_mark_read(struct server_store *store, bool is_continued,
                      struct err *err) BERTH_MUST_CHECK;
/* snapshot.c: whether the transactions that have been looked at (observer.c) were numbered by
 * another cluster than that of the open read. */
bool server_is_other_cluster(const struct server_store *store);
/* The opposite, for a session of the store. */
bool server_is_server_of_memory(const struct server_store *store, const struct server_id *server);
/* foreign.c: whether the view that memory has is one of the follower's server. */
bool server_is_view_of_server(const struct server_store *store);
/* foreign.c: takes the notes that memory does not have into the read that begins. */
void server_read_foreign(struct server_store *store, struct foreign_notes *notes);
/* foreign.c: for a load: whether there are triggers, a view of all that is read now, and the number
 * of the oldest transaction that the open read does not see, or of the next one. */
bool server_look_at_snapshot(struct server_store *store, int64_t *horizon,
                             struct err *err) BERTH_MUST_CHECK;
/* foreign.c: the view that memory has once the read counts as read; NULL: as before. */
const struct foreign_view *server_foreign_view(struct server_store *store, bool is_continued);
/* foreign.c: it counts. */
void server_take_foreign(struct server_store *store);
/* foreign.c: there is nothing to read: later queries need not look at older notes. */
void server_note_no_foreign(struct server_store *store);
/* follow.c: whether the rows of the log that were read lead from the state that memory has to the
 * newest one. */
bool server_explains(struct server_store *store);

/* ids.c */
/* The ids given out so far belong to the batch that is handed over. */
void server_hand_over_ids(struct server_store *store);
/* It is decided. `kept`: its rows may exist, and its ids are not given out again. */
void server_decide_ids(struct server_store *store, bool kept);
/* No id of the blocks is given out any more. */
void server_drop_ids(struct server_store *store);
/* The same, because the sequences may be those of a database that went back: what was reserved may
 * be given out again, and the next ids may be those of rows. */
void server_distrust_ids(struct server_store *store);
/* A row with that id has been read. */
void server_note_id(struct server_store *store, enum rows_table table, int64_t id);
void server_free_ids(struct server_store *store);
/* Moves sequences behind the largest id in their table; all blocks are then used up. */
bool server_mend_sequences(struct server_store *store, struct server_session *session,
                           struct err *err) BERTH_MUST_CHECK;

/* observer.c: memory has what a load or a merge has read. */
void server_note_load(struct server_store *store);

/* suspects.c */
/* The next batch names the entity in the log: other instances may not know of it. */
void server_name_in_log(struct server_store *store, const struct difference *difference);
/* What was suspected has been read again. */
void server_end_suspicion(struct server_store *store);
/* The change at this index of the batch was refused because its row is not as memory has it
 * (STORE_UNNAMED: it is not known which), or because it repeats the text of another row: the next
 * news are what it concerns, or everything, if that is not known or has not helped before. Of
 * names, what the database takes for one another is known from now on. False: that was known
 * before, and there is nothing to read. */
bool server_suspect_refused(struct server_store *store, const struct store_batch *batch, size_t at,
                            bool is_duplicate);

/* lock_holder.c: logs who has locked a provider's row. */
void server_log_lock_holder(struct server_store *store, int64_t provider_id);

/* stalled.c: through the follower; or through a session that is connected and idle, on its thread.
 */
void server_end_stalled(struct server_store *store);
void server_end_stalled_by(struct server_store *store, struct server_session *session,
                           struct err *err);

/* row_reader.c: reads inside the session's snapshot, on its thread. */
struct row_reader server_row_reader(struct server_reader *reader);

#endif
