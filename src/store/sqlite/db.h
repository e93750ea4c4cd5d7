/* One SQLite connection, configured as all of ours are. */
#ifndef BERTH_STORE_SQLITE_DB_H
#define BERTH_STORE_SQLITE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* Waiting for another process's lock: tries every millisecond. One per connection. */
struct db_wait {
    int timeout_ms;
    int64_t began_us; /* of the current wait */
    bool seen;        /* another process held the lock; the reader of this flag resets it */
};

struct db {
    sqlite3 *handle;     /* NULL: closed */
    struct db_wait wait; /* the handle points to it: a struct db must not move while open */
    const char *path;    /* for messages; "" in memory; belongs to the owner */
    bool read_only;
    bool was_moved; /* db_open() failed because the path now leads to another file */
    int open_code;  /* SQLite's result, if db_open() failed; SQLITE_OK: the failure was not SQLite's
                     */
};

struct db_options {
    const char *path; /* absolute, or "" for a database in memory */
    int busy_timeout_ms;
    bool create;
    bool synchronous_off;
    _Atomic uint64_t *steps; /* store.h */
    bool may_be_read_only;   /* a file that cannot be written is opened read-only */
    bool joins_wal;          /* commits are written in few calls: the writer's connection */
    bool paces_copy;         /* checkpoints are synced in pieces: the copier's connection */
    bool keep_journal;       /* the journal mode is not changed: not a server's connection */
    bool exclusive;          /* no other process may have it open, now or until it is closed */
    bool without_locks;      /* a file that only this process knows about */
};

/* Opens with WAL, synchronous FULL, no automatic checkpoint. One clear line on failure. */
bool db_open(struct db *db, const struct db_options *options, struct err *err) BERTH_MUST_CHECK;

/* Finalizes every statement of the connection and closes it. `abandon`: the file at the path is no
 * longer ours, or the last sync failed: no checkpoint is made, and the files beside the path
 * stay. */
void db_close(struct db *db, bool abandon);

/* err gets status 503 and "the database 'PATH' cannot be WHAT: SQLite's reason". Always false. */
bool db_fail(const struct db *db, const char *what, struct err *err);

/* Copies the WAL into the file and switches back to the journal mode DELETE. Only for a connection
 * that was opened as exclusive. False: the handle has the reason. */
bool db_leave_wal(struct db *db) BERTH_MUST_CHECK;

bool db_exec(struct db *db, const char *sql, struct err *err) BERTH_MUST_CHECK;
bool db_exec_all(struct db *db, const char *const *statements, struct err *err) BERTH_MUST_CHECK;

/* NULL and err if it does not compile. */
sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct err *err) BERTH_MUST_CHECK;

/* The first column of the first row; *value is unchanged if there is no row. */
bool db_query_int(struct db *db, const char *sql, int64_t *value, struct err *err) BERTH_MUST_CHECK;

/* A column's text, empty (data NULL) for NULL; valid until the statement's next step. */
struct slice db_column_text(sqlite3_stmt *statement, int column);

#endif
