/* The database as the rest of berth sees it: load, begin, apply, commit, follow.
 *
 * A store is one writer's session on one database. Only the writer thread calls these functions,
 * except for store_is_current() and those marked "any thread". A database failure is an enum result
 * and a struct err (status 503), never a check. */
#ifndef BERTH_STORE_STORE_H
#define BERTH_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/change.h"
#include "model/difference.h"

struct store;

/* A database state, for store_is_current(): equal stamps are equal states. Opaque bytes. */
struct store_stamp {
    unsigned char bytes[48];
};

enum { STORE_REVISION_BYTES = 33 };

struct store_options {
    struct slice
        connection;      /* SQLAlchemy URL: sqlite:///relative, sqlite:////absolute, sqlite:// */
    int busy_timeout_ms; /* how long begin waits for another writer; 5000 */
    bool sync_schema; /* create or upgrade the schema at open ([placement_database] sync_on_startup)
                       */
    bool create_missing_file; /* create a missing database file, if sync_schema is set */
    bool synchronous_off;     /* tests only: no fsync */
    uint32_t wal_frames;      /* tests only: the length of a shorter WAL; 0: the default */
    _Atomic uint64_t *steps; /* NULL, or grows while the database works, so that waiting threads can
                                see its progress */
};

/* Whether this build can open the database of a SQLAlchemy URL; nothing is opened. False: err has
 * one line. Any thread. */
bool store_knows_connection(struct slice connection, struct err *err) BERTH_MUST_CHECK;

/* Opens the database and checks its schema revision (schema.h lists the known ones). Returns NULL
 * with one clear line in err on failure. The caller owns the store. */
struct store *store_open(const struct store_options *options, struct err *err);
void store_close(struct store *store);

/* Receives the records of a load or a follow, in an order in which each record refers only to
 * earlier ones; only providers may refer to each other in any order until
 * CHANGE_LOAD_PROVIDERS_END. Texts are valid only during the call. */
typedef void store_sink(void *cls, const struct change *change);

enum store_result {
    STORE_OK,
    STORE_FAILED,  /* err is set (503); the transaction is rolled back, and memory must stay as it
                      was */
    STORE_REFUSED, /* apply only: because of what these changes are; others are not affected. err is
                      set; see store_why_refused() */
    STORE_UNKNOWN, /* commit only: the result is unknown; reload before anything else */
};

/* The result of store_begin. */
enum store_begun {
    STORE_BEGIN_UNCHANGED, /* no other process has written since the last stamp */
    STORE_BEGIN_FOLLOW,    /* another berthd has: call store_follow inside this transaction */
    STORE_BEGIN_RELOAD,    /* a foreign writer has, or the log does not reach back far enough: call
                              store_merge or store_load */
    STORE_BEGIN_FAILED,    /* err is set; no transaction is open */
    STORE_BEGIN_BUSY,      /* STORE_TO_WRITE_SOON only: see there; no transaction is open */
};

enum store_intent {
    STORE_TO_READ,  /* a snapshot, to bring memory up to date: waits for no writer and needs no disk
                       space; ends with store_rollback */
    STORE_TO_WRITE, /* the one write transaction (on SQLite BEGIN IMMEDIATE): until commit or
                       rollback no other process commits */
    STORE_TO_WRITE_SOON, /* the same, but waits only some milliseconds per call for a lock that
                            another process holds. STORE_BEGIN_BUSY: call again (reading in between
                            is allowed); busy_timeout_ms after the first call, the result is
                            STORE_BEGIN_FAILED */
};

enum store_begun store_begin(struct store *store, enum store_intent intent,
                             struct err *err) BERTH_MUST_CHECK;

/* Reads the whole database into sink: catalogs, providers, CHANGE_LOAD_PROVIDERS_END, the rest.
 * Runs inside the transaction of store_begin. Rows come in the order of their ids. Afterwards the
 * store's state counts as followed. */
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
 * Runs inside the transaction of store_begin; if merged, the store's state counts as followed. */
enum store_result store_merge(struct store *store, const struct store_comparer *comparer,
                              store_sink *sink, void *cls, bool *merged,
                              struct err *err) BERTH_MUST_CHECK;

/* Reads the entities that other instances have logged as changed since this store last followed. */
enum store_result store_follow(struct store *store, store_sink *sink, void *cls,
                               struct err *err) BERTH_MUST_CHECK;

/* Executes the statements of one request's changes. STORE_FAILED: the whole transaction must be
 * rolled back. STORE_REFUSED: the same; memory then has the state from before it, and the other
 * requests may be planned again in a new transaction. */
enum store_result store_apply(struct store *store, const struct change_list *changes,
                              struct err *err) BERTH_MUST_CHECK;

/* Why the last store_apply() returned STORE_REFUSED; valid until the next call of it. */
struct store_refusal {
    size_t change;     /* the index of the refused change in the list */
    bool is_duplicate; /* another row has a value that must be unique, for which the Python service
                          answers 409. Otherwise any other constraint, or memory_is_wrong */
    bool memory_is_wrong; /* the row is not as in memory: the next begin is a reload. Otherwise none
                             is needed */
    char columns[96];     /* "resource_providers.name", "t.a, t.b"; "" if none are named */
};
const struct store_refusal *store_why_refused(const struct store *store);

/* Whether a row that the last load left out, and that memory therefore does not know, has that text
 * in a unique column: a row with that text cannot be inserted. `kind` is the change that would
 * insert it: CHANGE_PROVIDER_INSERT (its name), CHANGE_CONSUMER_INSERT (its uuid), or a put of a
 * record (`field` is its RECORD_UNIQUE field; 0 for the others). Writer thread. */
bool store_is_taken(const struct store *store, enum change_kind kind, unsigned field,
                    struct slice text);

/* Writes the log row for the applied changes, commits, and fills the stamp of the new state. On
 * STORE_OK, *foreign is true if another process wrote between this commit and the reading of the
 * stamp: the stamp must then not be published, and the next begin finds the difference. */
enum store_result store_commit(struct store *store, struct store_stamp *stamp, bool *foreign,
                               struct err *err) BERTH_MUST_CHECK;

/* Ends a transaction without any change; used after a begin that only followed or loaded. Fills the
 * stamp of the state that the transaction saw; false if memory does not have that state, or if the
 * database has changed since. */
bool store_rollback(struct store *store, struct store_stamp *stamp);

/* The next free ids, valid inside the transaction: each call returns a new one. */
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
int64_t store_next_id(struct store *store, enum store_table table);

/* Whether the database is still in the state of that stamp: any thread, wait-free, usually without
 * a system call. False as soon as any process (including this one) has committed a newer state. */
bool store_is_current(const struct store *store, const struct store_stamp *stamp);

/* Whether the schema is at a supported revision, as the open transaction sees it. `revision`
 * receives the revision found, "" if there is none. False with err (503): it is unsupported, or
 * cannot be read. */
bool store_check_schema(struct store *store, char revision[static STORE_REVISION_BYTES],
                        struct err *err) BERTH_MUST_CHECK;

/* For metrics; 0 if a figure does not apply. */
struct store_figures {
    uint64_t log_head;     /* the newest batch in the log, ours or another instance's */
    uint64_t wal_bytes;    /* of the frames in the WAL; the file may be longer */
    uint64_t checkpoints;  /* begun by this store */
    uint64_t skipped_rows; /* left out by the last load; each is logged once */
    bool is_read_only;     /* the file cannot be written */
};

/* Any thread. */
struct store_figures store_figures(const struct store *store);

/* Upkeep between batches: checkpoints, trims the log, notices a replaced file; may do nothing. */
void store_upkeep(struct store *store);

#endif
