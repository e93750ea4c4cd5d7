/* Shared by the files of the SQLite store. Everything here belongs to the writer thread, except
 * what sqlite_is_current() reads (marked). */
#ifndef BERTH_STORE_SQLITE_INTERNAL_H
#define BERTH_STORE_SQLITE_INTERNAL_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/counter.h"
#include "store/driver.h"
#include "store/instant.h"
#include "store/log.h"
#include "store/missing_consumers.h"
#include "store/rows.h"
#include "store/skipped.h"
#include "store/sqlite/db.h"
#include "store/sqlite/record_sql.h"
#include "store/sqlite/sentinel.h"

enum statement {
    STATEMENT_BEGIN,
    STATEMENT_BEGIN_READ,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_DATA_VERSION,
    STATEMENT_HEAD_READ,
    STATEMENT_HEAD_SET,
    STATEMENT_LOG_INSERT,
    STATEMENT_LOG_TRIM,
    STATEMENT_LOG_READ,
    STATEMENT_ROOT_SET,            /* for a PROVIDER_UPDATE of the root only */
    STATEMENT_CONSUMER_GENERATION, /* for a CONSUMER_UPDATE of the generation only */
    STATEMENT_CHANGE,              /* one for each enum change_kind that is written */
    STATEMENT_MANY = STATEMENT_CHANGE + CHANGE_KIND_COUNT, /* inserts of STATEMENT_ROWS rows */
    STATEMENT_COUNT = STATEMENT_MANY + CHANGE_KIND_COUNT
};

enum { MARK_LEN = 16, STATEMENT_ROWS = 8 };

/* The state of the database that memory (the replica) is known to have. */
struct followed {
    bool valid; /* false: nothing loaded, or uncertain: reload */
    int64_t seq;
    int64_t data_version; /* of the writer's connection */
    bool stamp_known;     /* false: another process wrote after our last commit */
    struct store_stamp stamp;
    uint32_t change; /* commits counted by the wal-index */
    int64_t next_ids[STORE_TABLE_COUNT];
};

/* The open transaction: a snapshot that is read, or the write lock, under which may be read. */
struct transaction {
    bool open;
    bool is_locked;  /* it has the write lock */
    bool is_reading; /* between sqlite_begin_read() and sqlite_end_read() */
    int64_t seq;     /* of berth_head when it began */
    int64_t data_version;
    struct store_stamp stamp; /* of the state at its beginning */
    bool stamp_known;
    uint32_t change;   /* the stamp's */
    bool is_in_memory; /* memory has the state at its beginning */
    bool broken;       /* because of I/O: the connection must not be used again */
    struct buf touched;
    struct log_entries to_follow;
};

/* The last rows that the database did not contain in the form that memory had: if a load reads them
 * in the same form again, memory was right. */
struct mismatches {
    struct mismatch {
        enum change_kind kind;
        int64_t id;
    } at[16];
    unsigned next;
    bool reads_again; /* the newest of them caused the next load */
};

/* The write lock, shared with another instance. */
struct sharing {
    int64_t seen_at_us;    /* another writer exists */
    int64_t left_at_us;    /* when the lock was last left free for it */
    int64_t free_until_us; /* 0: not left free */
    unsigned unused;       /* how many times in a row it did not take the lock */
    int64_t
        wanted_at_us; /* since when the lock has been requested without success; 0: it has not */
};

/* Copying the WAL back into the file. */
struct copying {
    int64_t again_at_us; /* not before this time */
    unsigned passes;     /* by the copier, since the WAL started over or nothing could be copied */
    bool is_logged;      /* a sync has failed, and none has succeeded since */
};

struct sqlite_store {
    struct store base; /* first */
    char *path;        /* absolute; "" in memory */
    struct db_options db_options;
    uint32_t wal_frames; /* store_options */
    bool in_memory;

    _Atomic(struct sentinel *) sentinel; /* any thread; NULL in memory, and while there is none */
    _Atomic uint64_t commits;            /* any thread; the stamp in memory */
    struct counter log_head;             /* for metrics: any thread reads, here and below */
    struct counter checkpoints;
    struct counter is_read_only;
    struct counter skipped_rows;
    bool read_only; /* the file cannot be written; there is no sentinel */
    dev_t device;   /* of that file */
    ino_t inode;
    struct sentinel *retired; /* a reader may still be using it: closed a minute later */
    struct sentinel *stale;   /* the file was replaced; the new one is not open yet */

    struct db writer;
    sqlite3_stmt *statements[STATEMENT_COUNT];      /* prepared on first use */
    sqlite3_stmt *row_statements[ROWS_TABLE_COUNT]; /* row_reader.c: the rows of one id */

    struct followed followed;
    struct transaction transaction;
    struct skipped skipped;
    bool completes_consumers;         /* store_options, also the next one: */
    struct repair_owner owner;        /* store_options; from malloc */
    struct missing_consumers missing; /* found by the last load or merge, and not created yet */
    struct store_refusal refusal;
    struct mismatches mismatches;
    int64_t next_ids[STORE_TABLE_COUNT]; /* beyond those given out since the last commit */
    unsigned char instance[8];
    uint64_t batches;
    struct sharing sharing;
    int64_t file_checked_at_us;
    int64_t salvage_again_us; /* since when the WAL's contents are not safe; 0: they are */
    struct copying copying;
    int64_t formatted_us; /* the timestamp that `formatted` contains */
    char formatted[INSTANT_LEN];
    struct instant_text created_at, updated_at; /* of the change that was bound last */
};

static inline struct sqlite_store *sqlite_of(struct store *store)
{
    return (struct sqlite_store *)store;
}

static inline const struct sqlite_store *sqlite_of_const(const struct store *store)
{
    return (const struct sqlite_store *)store;
}

/* The functions of store.h (driver.c). */
bool sqlite_knows_connection(struct slice connection, struct err *err) BERTH_MUST_CHECK;
struct sqlite_store *sqlite_open(const struct store_options *options, struct err *err);
void sqlite_close(struct sqlite_store *store);
enum store_news sqlite_begin_read(struct sqlite_store *store, struct err *err) BERTH_MUST_CHECK;
enum store_result sqlite_load(struct sqlite_store *store, store_sink *sink, void *cls,
                              struct err *err) BERTH_MUST_CHECK;
enum store_result sqlite_merge(struct sqlite_store *store, const struct store_comparer *comparer,
                               store_sink *sink, void *cls, bool *merged,
                               struct err *err) BERTH_MUST_CHECK;
enum store_result sqlite_follow(struct sqlite_store *store, store_sink *sink, void *cls,
                                struct err *err) BERTH_MUST_CHECK;
bool sqlite_check_schema(struct sqlite_store *store, char revision[static STORE_REVISION_BYTES],
                         struct err *err) BERTH_MUST_CHECK;
bool sqlite_end_read(struct sqlite_store *store, struct store_stamp *stamp);
bool sqlite_locks_first(const struct sqlite_store *store);
enum store_lock sqlite_lock(struct sqlite_store *store, struct err *err) BERTH_MUST_CHECK;
void sqlite_unlock(struct sqlite_store *store);
int64_t sqlite_next_id(struct sqlite_store *store, enum store_table table);
void sqlite_reuse_ids(struct sqlite_store *store);
bool sqlite_is_taken(const struct sqlite_store *store, enum change_kind kind, unsigned field,
                     struct slice text);
enum store_result sqlite_commit(struct sqlite_store *store, const struct store_batch *batch,
                                struct store_stamp *stamp, bool *foreign,
                                struct err *err) BERTH_MUST_CHECK;
const struct store_refusal *sqlite_why_refused(const struct sqlite_store *store);
bool sqlite_is_current(const struct sqlite_store *store, const struct store_stamp *stamp);
struct store_figures sqlite_figures(const struct sqlite_store *store);
void sqlite_upkeep(struct sqlite_store *store);

/* open.c */
void sqlite_disconnect_writer(struct sqlite_store *store, bool abandon);
bool sqlite_reconnect_writer(struct sqlite_store *store, struct err *err) BERTH_MUST_CHECK;
/* If the file, its WAL or its index is no longer the one at its path: saves what only the open WAL
 * has, closes them all, and unpublishes the sentinel: readers then find that nothing is current. */
void sqlite_notice_file(struct sqlite_store *store);
/* After a commit, if the WAL that it was written to has lost its name: whether the commit is in the
 * file now. */
bool sqlite_salvage_commit(struct sqlite_store *store) BERTH_MUST_CHECK;
/* The same in any case: the next begin opens the file as at a start. */
void sqlite_forget_file(struct sqlite_store *store);
void sqlite_close_retired(struct sqlite_store *store, int64_t retired_before_us);
/* Notices this, and opens the file at the path. False and err if there is no usable file now. */
bool sqlite_ensure_file(struct sqlite_store *store, struct err *err) BERTH_MUST_CHECK;

/* missing_consumers.c */
/* Where a read leaves those that it finds; NULL: none is created. */
struct missing_consumers *sqlite_missing(struct sqlite_store *store);
/* Creates the rows that the last read has missed, unless the lock is held. No transaction is open
 * otherwise. */
bool sqlite_create_found(struct sqlite_store *store, struct err *err) BERTH_MUST_CHECK;

/* checkpoint.c */
/* Ensures that the WAL is copied into the file. Between two batches; takes milliseconds. */
void sqlite_checkpoint(struct sqlite_store *store);
void sqlite_cut_wal(struct sqlite_store *store);
/* Waits some milliseconds if the WAL outgrows its limit while it is being copied. */
void sqlite_brake(struct sqlite_store *store);

/* resolve.c: whether a row of the log has that mark. */
bool sqlite_find_mark(struct sqlite_store *store, const unsigned char mark[static MARK_LEN],
                      bool *found, struct err *err) BERTH_MUST_CHECK;
/* The same file after a failed COMMIT that broke the connection. STORE_OK: the commit has happened
 * nevertheless; STORE_FAILED: it has not and never will; STORE_UNKNOWN: this could not be
 * determined in time. */
enum store_result sqlite_resolve_commit(struct sqlite_store *store,
                                        const unsigned char mark[static MARK_LEN],
                                        struct arena *arena) BERTH_MUST_CHECK;

/* statements.c */
/* Whether there is a statement STATEMENT_MANY for the kind: its parameters are those of several
 * rows, one row after the other. If a row cannot be inserted, those before it stay. */
bool statement_has_many(enum change_kind kind);
sqlite3_stmt *sqlite_statement(struct sqlite_store *store, int which,
                               struct err *err) BERTH_MUST_CHECK;
/* A reading statement in a transaction has failed: sets err, and ends the connection together with
 * the transaction if the connection is broken. False. */
bool sqlite_read_failed(struct sqlite_store *store, struct err *err);
/* Steps a statement that returns no rows, and resets it. False and err when it fails. */
bool sqlite_step(struct sqlite_store *store, sqlite3_stmt *statement,
                 struct err *err) BERTH_MUST_CHECK;
bool sqlite_run(struct sqlite_store *store, int which, struct err *err) BERTH_MUST_CHECK;
bool sqlite_data_version(struct sqlite_store *store, int64_t *version,
                         struct err *err) BERTH_MUST_CHECK;
void sqlite_bind_instant(struct sqlite_store *store, sqlite3_stmt *statement, int at, int64_t us);

/* record_rows.c */
/* Binds a change of one of record_tables to its statement. */
void sqlite_bind_row(struct sqlite_store *store, sqlite3_stmt *statement,
                     const struct change *change);

/* next_ids.c */
bool sqlite_read_next_ids(struct sqlite_store *store, struct err *err) BERTH_MUST_CHECK;

/* begin.c */
/* Memory now has the state that the open transaction sees. */
void sqlite_mark_followed(struct sqlite_store *store);

/* share.c */
void sqlite_saw_other(struct sqlite_store *store);
/* After a commit: decides for how long the lock is left free. */
void sqlite_plan_leaving_free(struct sqlite_store *store);
/* Waits until another writer has had its turn, or for the time that was decided. */
void sqlite_leave_free(struct sqlite_store *store);

/* begin.c */
/* What has happened before the open transaction. */
enum store_news sqlite_examine(struct sqlite_store *store, struct err *err) BERTH_MUST_CHECK;

/* end.c */
/* Rolls back the open transaction, if any. */
void sqlite_end_transaction(struct sqlite_store *store);
/* It has ended. */
void sqlite_forget_transaction(struct sqlite_store *store);
/* The stamp of the open transaction's state. False: it is not known, or memory does not have that
 * state. */
bool sqlite_read_stamp(struct sqlite_store *store, struct store_stamp *stamp);

/* apply.c: executes the statements of a batch. If this fails, the transaction must be rolled back.
 */
enum store_result sqlite_apply(struct sqlite_store *store, const struct store_batch *batch,
                               struct err *err) BERTH_MUST_CHECK;

#endif
