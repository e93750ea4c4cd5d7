/* The database as the rest of berth sees it.
 *
 * Memory holds exactly what the store has sent it: a load, then merges and follows (the news), and
 * the batches that were committed. A batch is planned in memory and handed over as a whole; the
 * store commits it only if nobody else has changed the database since memory last read it. The
 * order of all commits is therefore decided by the commit itself, and a lock only saves work.
 *
 * Only the writer calls these functions (engine/seat.h says which thread that is), except for those
 * marked "any thread", and those of observers. A failure of the database is an enum result and a
 * struct err (status 503), never a check. */
#ifndef BERTH_STORE_STORE_H
#define BERTH_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "model/change.h"
#include "model/difference.h"
#include "model/memory_view.h"
#include "store/missing_consumers.h"

struct store;

/* A database state: equal stamps are equal states. Opaque bytes; all zero: no known state. */
struct store_stamp {
    unsigned char bytes[48];
};

static inline bool store_stamp_is_unknown(const struct store_stamp *stamp)
{
    static const struct store_stamp UNKNOWN;
    return memcmp(stamp, &UNKNOWN, sizeof(UNKNOWN)) == 0;
}

enum { STORE_REVISION_BYTES = 33 };

/* What store_open() does when the server of a database cannot be reached, or does not accept
 * connections yet. Files are not retried. */
struct store_retry {
    /* Waits, and returns whether to connect again. `reason` is one line, without a password. */
    bool (*again)(void *cls, struct slice reason);
    void *cls;
    int stop_fd; /* ends an attempt to connect as soon as it is readable; again() is then called.
                    -1: none */
};

/* What the writer does while the store waits for a server, or reads what it sends, about
 * twenty times a second. The store is in the middle of some function then, so only those for any
 * thread may be called. */
struct store_meanwhile {
    /* False: nothing may wait any longer. The function of the store that waits fails as if its time
     * limit had passed, and so do later ones that would have to wait: for a process that stops. */
    bool (*run)(void *cls);
    void *cls;
};

/* The reason of such a failure, in messages. */
#define STORE_STOPPING "berthd is stopping"

struct store_options {
    struct slice
        connection;      /* SQLAlchemy URL: sqlite:///relative, sqlite:////absolute, sqlite:// */
    int busy_timeout_ms; /* how long a write waits for another writer; 5000 */
    int stalled_ms;      /* on a server: how long another instance that is stopped may keep writes
                            waiting; 0: busy_timeout_ms */
    bool sync_schema; /* create or upgrade the schema at open ([placement_database] sync_on_startup)
                       */
    bool create_missing_file; /* create a missing database file, if sync_schema is set */
    bool synchronous_off;     /* tests only: no fsync */
    uint32_t wal_frames;      /* tests only: the length of a shorter WAL; 0: the default */
    const struct store_meanwhile *meanwhile; /* is copied; see store_set_meanwhile() */
    const struct store_retry *retry;         /* NULL: one attempt. Used only during store_open() */
    struct slice state_directory; /* where a database on a server keeps a file of its own; without
                                     data: nowhere */
    bool completes_consumers;     /* rows that consumers of allocations lack are created
                                     (missing_consumers.h). Otherwise their allocations are left out */
    struct repair_owner owner;    /* of these rows. If the database cannot hold the names, all-zero
                                     uuids take their place */
    uint64_t recycle_us;          /* age at which a connection to a server is replaced; 0: never */
    _Atomic uint64_t *steps; /* NULL, or grows while the database works, so that waiting threads can
                                see its progress */
};

/* Whether this build can open the database of a SQLAlchemy URL; nothing is opened. False: err has
 * one line. Any thread. */
bool store_knows_connection(struct slice connection, struct err *err) BERTH_MUST_CHECK;

/* Names of parameters of such a URL that have no effect, although other programs heed them: "a, b";
 * empty: there are none. In the arena. Any thread. */
struct slice store_ignored_parameters(struct slice connection, struct arena *arena);

/* Opens the database and checks its schema revision (schema.h lists the known ones). Returns NULL
 * with one clear line in err on failure. The caller owns the store. */
struct store *store_open(const struct store_options *options, struct err *err);
void store_close(struct store *store);

/* From now on, and instead of what was set before; NULL: nothing is done meanwhile. A database in a
 * file does nothing in any case. */
void store_set_meanwhile(struct store *store, const struct store_meanwhile *meanwhile);

/* Receives the records of a load or a follow, in an order in which each record refers only to
 * earlier ones; only providers may refer to each other in any order until
 * CHANGE_LOAD_PROVIDERS_END. Texts are valid only during the call. */
typedef void store_sink(void *cls, const struct change *change);

enum store_result {
    STORE_OK,
    STORE_FAILED, /* err is set (503), and nothing was changed */

    STORE_PENDING, /* only from store_commit() and store_await(): call store_await() */

    /* Only from these two; nothing was changed, except perhaps with STORE_UNKNOWN. */
    STORE_TAKEN,   /* somebody else has changed the database since memory read it: take the news and
                      plan again. err is set, for the case that this never succeeds. For a read, see
                      store_begin_read() */
    STORE_REFUSED, /* because of what one request changes; others are not affected. err is set; see
                      store_why_refused() */
    STORE_UNKNOWN, /* err is set; the next news tell whether the batch was committed */
};

/* ---- news ---- */

/* What has happened since memory last read the database. */
enum store_news {
    STORE_NEWS_NONE,
    STORE_NEWS_FOLLOW,    /* other instances have committed, or entities are suspected: call
                             store_follow() */
    STORE_NEWS_RELOAD,    /* a foreign writer has, or the log does not reach back far enough: call
                             store_merge() or store_load() */
    STORE_NEWS_WENT_BACK, /* as STORE_NEWS_RELOAD, because the database no longer has the state that
                             memory has: a backup was restored, or a failover has lost commits. See
                             store_why_went_back() */
    STORE_NEWS_FAILED,    /* err is set; no read has begun */
};

/* Of the last STORE_NEWS_WENT_BACK; valid as long as the store. */
struct store_going_back {
    int64_t had;           /* the number of the newest batch that memory has */
    int64_t has;           /* and of the newest one in the database; 0: there is none */
    struct slice database; /* the URL, without a password */
};
struct store_going_back store_why_went_back(const struct store *store);

/* Begins to read one committed state of the database. It waits for no writer and needs no disk
 * space. While the store is locked, the state is the newest one; if others write in spite of the
 * lock, a load, merge or follow is STORE_TAKEN, because the tables no longer have that state, and
 * sends nothing. They are also STORE_TAKEN if the database has ended the read because others change
 * the schema, or if they have found allocations whose consumer has no row, which the next read
 * begins with creating; then perhaps after they have sent something. Ends with store_end_read(),
 * also after a failure of one of the functions below. */
enum store_news store_begin_read(struct store *store, struct err *err) BERTH_MUST_CHECK;

/* Reads the whole database into sink: catalogs, providers, CHANGE_LOAD_PROVIDERS_END, the rest.
 * Rows come in the order of their ids. Afterwards memory counts as having the state that is being
 * read. */
enum store_result store_load(struct store *store, store_sink *sink, void *cls,
                             struct err *err) BERTH_MUST_CHECK;

/* Compares memory with the records that a load streams; implemented by the code that knows memory.
 */
struct store_comparer {
    store_sink *compare; /* receives the records of a load */
    /* Called after the last record: returns the differences. NULL: so many that everything must be
     * loaded. */
    const struct differences *(*end)(void *cls);
    void *cls;
};

/* For memory that has some state of this database: streams all rows into the comparer, and then the
 * rows that differ into sink, in the order of a merge (model/change.h). *merged false: nothing was
 * sent and store_load must follow, because too much differs or because memory is known to be wrong.
 * If merged, memory counts as having the state that is being read. */
enum store_result store_merge(struct store *store, const struct store_comparer *comparer,
                              store_sink *sink, void *cls, bool *merged,
                              struct err *err) BERTH_MUST_CHECK;

/* Reads the entities that other instances have logged as changed since this store last followed,
 * and those that are suspected. It may be called again in the same read. `memory` has the state
 * that is followed from; a database that notices every write of other programs does not use it. */
enum store_result store_follow(struct store *store, const struct memory_view *memory,
                               store_sink *sink, void *cls, struct err *err) BERTH_MUST_CHECK;

/* The state that a query has found (store_query_head()) may be known from the query's answer: if it
 * is one batch after the state that memory has, and the answer has what that batch has changed.
 * Sends these changes to `sink`; memory may then have the state with store_take_head(), if nothing
 * else is asked of the store in between, or leave it. False: nothing was sent; begin a read. No
 * read is open, and no batch is pending. */
bool store_follow_head(struct store *store, const struct store_stamp *head, store_sink *sink,
                       void *cls) BERTH_MUST_CHECK;

/* False: memory must not have the state, because the server that has it was replaced. */
bool store_take_head(struct store *store) BERTH_MUST_CHECK;

/* After store_follow(): whether some of what the open read has followed was written by programs
 * that write no log. */
bool store_follows_foreign(const struct store *store);

/* Memory may not have this entity as the database does: the next follow, or that of the open read,
 * reads it again, a provider with all its consumers. `uuid`: of a consumer. False: it is suspected
 * already, or this database never needs it, because it notices every write of other programs. */
bool store_suspect(struct store *store, enum entity entity, int64_t id, struct slice uuid);

/* Whether the schema is at a supported revision, as the open read sees it. `revision` receives the
 * revision found, "" if there is none. False with err (503): it is unsupported, or cannot be read.
 * The read stays open. */
bool store_check_schema(struct store *store, char revision[static STORE_REVISION_BYTES],
                        struct err *err) BERTH_MUST_CHECK;

/* Ends the read. Fills the stamp of the state that was read; false if memory does not have that
 * state, or if the database has changed since. */
bool store_end_read(struct store *store, struct store_stamp *stamp);

/* Whether memory is known to be wrong, or entities are suspected since a read failed, and it is
 * time to read again, even if there are no requests: about once a second. */
bool store_should_read(const struct store *store);

/* ---- other programs ---- */

/* Reads the database beside the writer, in snapshots of its own, to find what programs without a
 * log have written. It may wait for the server for as long as the time limit. One thread at a time,
 * which need not be the writer. */
struct store_observer;

/* The caller owns it, and frees it before the store is closed. NULL: this database notices every
 * write (err is not set), or err is set. */
struct store_observer *store_observe(struct store *store, struct err *err) BERTH_MUST_CHECK;
void store_observer_free(struct store_observer *observer);

/* From now on, its functions do not wait for the server, and fail. Any thread. */
void store_observer_stop(struct store_observer *observer);

/* Begins a snapshot, and fills the stamp of its state. Memory can be compared with the snapshot
 * only if it has the same stamp. Ends with store_observer_end(). False: err is set, and none has
 * begun.
 */
bool store_observer_begin(struct store_observer *observer, struct store_stamp *stamp,
                          struct err *err) BERTH_MUST_CHECK;
void store_observer_end(struct store_observer *observer);

/* Of all rows of an entity that a load would pass. */
struct store_sums {
    uint64_t rows;
    bool has_sums;       /* the next two are known */
    int64_t ids;         /* their sum */
    int64_t generations; /* the same; 0 of a catalog */
};

/* Compares rows with memory. */
struct store_examiner {
    store_sink *recent; /* receives, as from a load, each row of a catalog, each provider, aggregate
                           of a provider and consumer that was written lately by anybody; each row
                           once, before the sums */
    /* Whether memory has the same sums, as far as the recent rows do not explain what differs. */
    bool (*has_sums)(void *cls, enum entity entity, const struct store_sums *sums);
    /* Otherwise, receives the ids of all of them in ascending order; if the sums had sums, returns
     * whether `row` is to receive all rows. */
    bool (*ids)(void *cls, enum entity entity, const int64_t *ids, size_t count);
    store_sink *row;
    void (*rows_end)(void *cls, enum entity entity);
    /* Instead of all others: nobody knows what was written since the last time. The next read of
     * the writer's has STORE_NEWS_RELOAD. */
    void (*unknown)(void *cls);
    /* Whether some rows were too many for this time: the next time passes the same ones again. */
    bool (*is_full)(void *cls);
    void *cls;
};

/* Passes the rows to the examiner that may differ from memory, because they were written since the
 * last time, or because some are gone. False: err is set; the next time passes the same rows again.
 */
bool store_observer_examine(struct store_observer *observer, const struct store_examiner *examiner,
                            struct err *err) BERTH_MUST_CHECK;

/* Passes the rows of the entities with these ids (ascending, each once), as from a load: of
 * providers also their inventories, traits and aggregates, of consumers their allocations. */
bool store_observer_find(struct store_observer *observer, enum entity entity, const int64_t *ids,
                         size_t count, store_sink *sink, void *cls,
                         struct err *err) BERTH_MUST_CHECK;

/* ---- batches ---- */

/* Whether the next batch should be planned while the store is locked: where the lock costs nothing,
 * and where others have written so much lately that a batch planned without it would often be too
 * late. */
bool store_locks_first(const struct store *store);

/* Whether other programs write what a commit cannot notice: then memory has to be read again before
 * each batch is planned, or a request that is refused beside others that are committed would be
 * refused because of what is no longer so. */
bool store_reads_first(const struct store *store);

/* When others write through other servers of the same database, where no lock orders them. */
struct store_turn {
    bool is_shared;   /* they do: no batch is planned before the one before is decided, and none
                         under the lock */
    uint64_t wait_us; /* for so long, the next batch is left to them; 0: it may be planned on the
                         newest state */
    uint64_t look_us; /* after so long, the news tell whether one of them has written */
};
struct store_turn store_turn(const struct store *store);

enum store_lock {
    STORE_LOCKED,
    STORE_LOCK_HELD, /* by another process, for longer than the few milliseconds for which one call
                        waits: call again. busy_timeout_ms after the first call, the result is
                        STORE_LOCK_FAILED */
    STORE_LOCK_FAILED, /* err is set */
};

/* Keeps other instances from committing until store_commit() or store_unlock(). It is not needed
 * for a commit. Not while a batch is pending. */
enum store_lock store_lock(struct store *store, struct err *err) BERTH_MUST_CHECK;
/* Also gives up waiting for the lock. Does nothing if the store is not locked. */
void store_unlock(struct store *store);

/* The next free ids: each call returns a new one, which no other instance gives out. If the
 * database gives out none, each call returns another number that no row can have; see
 * store_lacks_id(). */
enum store_table {
    STORE_CLASSES, /* custom ones start at 10000 */
    STORE_TRAITS,
    STORE_AGGREGATES,
    STORE_PROJECTS,
    STORE_USERS,
    STORE_CONSUMER_TYPES,
    STORE_PROVIDERS,
    STORE_CONSUMERS,
    STORE_ALLOCATIONS,
    STORE_NODES,
    STORE_NODE_ALLOCATIONS,
    STORE_VALET, /* those of model/valet.h, in its order */
    STORE_TABLE_COUNT = STORE_VALET + VALET_TABLE_COUNT
};
/* No number is larger: ids are combined with small numbers. */
#define STORE_ID_MOST (INT64_MAX >> 4)
int64_t store_next_id(struct store *store, enum store_table table);

/* Whether the database gave out no id for one of the calls since this function was last called, or
 * since the plan began; err says why (503). What was planned with that id must not be committed. */
bool store_lacks_id(struct store *store, struct err *err) BERTH_MUST_CHECK;

/* A plan begins, or begins again: the ids given out since the last commit, or since the pending
 * batch was handed over, are free. */
void store_reuse_ids(struct store *store);

/* Gives the values of a planned change the form in which the database will hold them, before memory
 * has it (value_forms.h). */
void store_adapt(const struct store *store, struct change *change);

/* Whether the database can hold the values of a planned change. False: err is set (400), and the
 * request must be refused. */
bool store_can_hold(const struct store *store, const struct change *change,
                    struct err *err) BERTH_MUST_CHECK;

/* Whether a row that the last load left out, and that memory therefore does not know, has that text
 * in a unique column: a row with that text cannot be inserted. `kind` is the change that would
 * insert it: CHANGE_PROVIDER_INSERT (its name), CHANGE_CONSUMER_INSERT (its uuid), or a put of a
 * record (`field` is its RECORD_UNIQUE field; 0 for the others). */
bool store_is_taken(const struct store *store, enum change_kind kind, unsigned field,
                    struct slice text);

/* A row that the database takes for one with another text. */
struct store_alike {
    int64_t id;        /* 0: of a project, user, consumer type or aggregate that was to be inserted
                          by the same request: only the text tells whether there is one */
    struct slice text; /* the row's; valid until the next commit */
};

/* Whether the database is known to take the text in a unique column for that of a row, which memory
 * holds apart, so that a row with that text cannot be inserted beside it. It becomes known by the
 * refusal of such a row. Memory may not have the row, or with another text: then it says nothing.
 * `insert` is the change that inserts rows; `field` is 1 for a provider's uuid, otherwise 0. */
bool store_find_alike(const struct store *store, enum change_kind insert, unsigned field,
                      struct slice text, struct store_alike *alike) BERTH_MUST_CHECK;

/* The changes of all requests of a batch, one request after the other. The caller owns everything,
 * until the batch is decided. */
struct store_batch {
    const struct change *changes;
    const size_t *ends; /* of each request: the index after its last change */
    size_t requests;
    bool must_commit; /* it is committed even without changes, which shows that the database takes
                         writes. A store whose lock shows that need not commit it */
};

/* Writes the changes and their row of the log in one transaction, durably, if the database is in
 * the state that memory has; then memory counts as having the new state, and the stamp is filled
 * with it. In any case the store is no longer locked. A batch without changes only finds out
 * whether memory has the newest state: STORE_OK or STORE_TAKEN, unless it must be committed.
 *
 * STORE_PENDING: the batch is on its way to the database, and store_await() tells what becomes of
 * it. Until it is decided, the batch and err's arena stay as they are, and no other one is handed
 * over. Reads may begin and end, but take no news: these may be the batch itself.
 *
 * On STORE_OK, *foreign is true if the stamp must not be published, because another process wrote
 * before it was read: the next news have the difference. */
enum store_result store_commit(struct store *store, const struct store_batch *batch,
                               struct store_stamp *stamp, bool *foreign,
                               struct err *err) BERTH_MUST_CHECK;

/* The store does not know it. */
#define STORE_UNNAMED SIZE_MAX

/* The result of the pending batch, as that of store_commit(), as soon as it is known; STORE_PENDING
 * at that time (of clock_monotonic_us()), or a few milliseconds later. However long the database
 * does not answer, a batch is pending for a limited time. */
enum store_result store_await(struct store *store, uint64_t until_us, struct store_stamp *stamp,
                              bool *foreign, struct err *err) BERTH_MUST_CHECK;

/* Nobody waits any longer to learn what became of a pending batch: if the database does not say it
 * at once, the result is STORE_UNKNOWN. For a process that stops. Does nothing if no batch is
 * pending. */
void store_give_up(struct store *store);

/* Why the last batch was STORE_REFUSED; valid until the next store_commit(). */
struct store_refusal {
    size_t request;    /* its index in the batch, or STORE_UNNAMED: any of its requests */
    size_t change;     /* the index of the refused change in the batch, or STORE_UNNAMED */
    bool is_duplicate; /* another row has a value that must be unique, for which the Python service
                          answers 409. Otherwise any other constraint, or one of those below */
    bool cannot_hold;  /* a value that this database cannot hold, which store_can_hold() did not
                          know: another one will do */
    bool memory_is_wrong; /* the row is not as in memory: the next news have what the database has,
                             at the second refusal for the same reason of everything. Otherwise
                             none are needed */
    bool is_locked;       /* another program's session has locked the row, for longer than is waited
                             for. Each attempt takes as long */
    char columns[96];     /* "resource_providers.name", "t.a, t.b"; "" if none are named */
};
const struct store_refusal *store_why_refused(const struct store *store);

/* For a thread that must not wait. From now on until store_end_at_once(), no function of the store
 * waits: an id that the database has to be asked for is lacking, and a batch with changes is sent,
 * or is STORE_TAKEN. False: a batch cannot be sent without waiting at present. */
bool store_begin_at_once(struct store *store);
void store_end_at_once(struct store *store);

/* Of a pending batch that is sent: it is readable when store_receive() may go on. -1: the batch is
 * to be looked after with store_await(), now. */
int store_pending_descriptor(const struct store *store);

enum store_received {
    STORE_RECEIVED_PART,   /* more is to come */
    STORE_RECEIVED_COMMIT, /* the batch is committed: as STORE_OK of store_await() */
    STORE_RECEIVED_OTHER,  /* store_await() tells what became of it */
};

/* Receives what there is of the answer to a pending batch, and never waits. */
enum store_received store_receive(struct store *store, struct store_stamp *stamp, bool *foreign);

/* ---- currency ---- */

/* Whether the database is still in the state of a stamp. */
enum store_currency {
    STORE_IS_CURRENT,
    STORE_IS_OUTDATED, /* some process, perhaps this one, has committed a newer state */
    STORE_MUST_ASK,    /* only the database knows: see store_query_head() */
};

/* Any thread, wait-free, usually without a system call. */
enum store_currency store_currency(const struct store *store, const struct store_stamp *stamp);

/* Whether that is known without a query to the database. */
static inline bool store_is_current(const struct store *store, const struct store_stamp *stamp)
{
    return store_currency(store, stamp) == STORE_IS_CURRENT;
}

/* The newest state of the database, at a moment between a query and its answer. */
struct store_head {
    struct store_stamp stamp;
    bool is_known;       /* false: the database has not answered in time, or with an error */
    struct slice reason; /* why it is not; without data: that is not known */
};

/* Sends a query for the newest state to the database. Only for stores that return STORE_MUST_ASK.
 * `answered` is called once, within the store's deadline, on a thread of the store or during this
 * call; the head is valid only during the call. It may send the next query. At most two queries are
 * unanswered at a time, and none when the store is closed. Any thread. */
void store_query_head(struct store *store,
                      void (*answered)(void *cls, const struct store_head *head), void *cls);

/* Asks the same on a connection of its own, and never waits: for a thread that waits for its
 * descriptor among others. One thread uses it. */
struct store_asker;

enum { STORE_ASKERS_MOST = 8 };

/* NULL: the store has none. There are at most STORE_ASKERS_MOST at a time, and none when the store
 * is closed. Any thread. */
struct store_asker *store_open_asker(struct store *store);
void store_close_asker(struct store_asker *asker); /* its thread uses it no more; NULL is allowed */

/* Sends a query, unless one is on its way. Returns a descriptor that is readable when there may be
 * an answer, and stays the same until it is closed; -1: the asker is not connected, or was just
 * disconnected, so store_query_head() is to be used. */
int store_ask(struct store_asker *asker);

enum store_asked {
    STORE_ASKED_NOTHING,
    STORE_ASKED_PENDING,
    STORE_ASKED_ANSWERED, /* the head is known, and valid as long as it is */
    STORE_ASKED_IN_VAIN,  /* there will be no answer, so store_query_head() is to be used */
};

/* Its descriptor is readable, or may be. */
enum store_asked store_take_answer(struct store_asker *asker, struct store_head *head);

/* The answer to the query that is on its way does not matter any more. */
void store_forget_query(struct store_asker *asker);

/* From now on, no query waits for the database: what it has not answered is not known. For a
 * process that stops. Any thread. */
void store_stop_queries(struct store *store);

/* Whether memory with the stamp `have` contains the state `head`: it is that state or, in the same
 * history of the database, a later one. False if that is not known, or if `head` is all zero, which
 * is no state. Only for stores that return STORE_MUST_ASK. Any thread. */
bool store_covers(const struct store *store, const struct store_stamp *have,
                  const struct store_stamp *head);

/* For metrics; 0 if a figure does not apply. */
struct store_figures {
    uint64_t log_head;     /* the newest batch in the log, ours or another instance's */
    uint64_t epoch;        /* how often the database went back, as it says itself */
    uint64_t unreplicated; /* batches committed whose wait for a standby was cancelled */
    uint64_t wal_bytes;    /* of the frames in the WAL; the file may be longer */
    uint64_t checkpoints;  /* begun by this store */
    uint64_t skipped_rows; /* left out by the last load; each is logged once */
    bool is_read_only;     /* the file cannot be written */

    /* Of a database on a server. */
    uint64_t behind;        /* how many batches of the log memory does not have yet */
    uint64_t foreign_moved; /* notes of other programs' writes that it has moved into the log */
    uint64_t log_pruned;    /* old rows of the log that this store has deleted */
    uint64_t connections;   /* made since the start */
    uint64_t failed_connections; /* attempts */
    uint64_t lock_timeouts;      /* the lock for the next batch was not free in time */
    uint64_t conflicts;      /* batches refused because of another transaction: deadlocks, on Galera
                                failed certifications */
    uint64_t lock_conflicts; /* the same while it waited for the lock for the next batch, or read
                                what others had written under it */
    uint64_t lost_batches; /* that memory had, and that the database then no longer had; at least */
    uint64_t unknown_done; /* commits without an answer that were found to be there */
    uint64_t unknown_undone; /* the same, proved never to happen */
    uint64_t unknown_open;   /* the same, and it could not be found out in time */
    uint64_t stalled_ended;  /* connections that held it without using it, and that were ended */
    uint64_t node_changes;   /* of a cluster: how often it went on writing through another node */
};

/* Any thread. */
struct store_figures store_figures(const struct store *store);

/* To how many servers a commit is copied, as far as the server of the database says. */
enum store_replication {
    STORE_REPLICATION_NONE,
    STORE_REPLICATION_ASYNC,   /* a failover may lose commits that were acknowledged */
    STORE_REPLICATION_SYNC,    /* a commit waits for standbys, or for the nodes of its cluster */
    STORE_REPLICATION_UNKNOWN, /* this user may not see who copies the server's changes */
};

enum { STORE_SETTINGS_MOST = 8 };

/* A setting of the server that operators have to know: whether acknowledged changes survive a crash
 * of it, what it accepts, and how fast ids are used up. */
struct store_setting {
    const char *name; /* static */
    char value[16];
};

/* The server of a database, as it was when it last answered. */
struct store_server {
    uint64_t seen_us; /* of clock_monotonic_us(): when that was. 0: the database has no server, or
                         it has not answered yet, and the rest is empty */
    bool is_standby;
    bool is_read_only; /* transactions are, unless they say otherwise */
    bool is_pooled;    /* a pooler such as PgBouncer is in between */
    bool uses_tls;
    enum store_replication replication;
    bool knows_standbys;   /* otherwise `standbys` means nothing */
    bool has_timeline;     /* otherwise this kind of server has none */
    unsigned standbys;     /* connected to it */
    uint32_t timeline;     /* grows with each promotion; 0: of a standby, not known */
    char address[80];      /* as the server sees it: "192.0.2.7:5432", "unix socket" */
    char version[64];      /* "15.20 (Debian 15.20-0+deb12u1)" */
    char isolation[24];    /* of berth's batches */
    unsigned cluster_size; /* the nodes of a cluster all of whose nodes may be written; 0: the
                              server is in no such cluster, and the next two are empty */
    char node[64];         /* the server's name in it */
    char node_state[32];   /* "Synced" */
    unsigned setting_count;
    struct store_setting settings[STORE_SETTINGS_MOST];
};

/* Facts that are at most ten seconds old while the server answers. Any thread. */
struct store_server store_server(const struct store *store);

/* Upkeep between batches: checkpoints, trims the log, notices a replaced file; may do nothing. */
void store_upkeep(struct store *store);

#endif
