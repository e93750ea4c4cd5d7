/* One SQLite connection, set up as every connection of ours is. */
#ifndef BERTH_STORE_SQLITE_DB_H
#define BERTH_STORE_SQLITE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* Waiting for another process's lock: asks every millisecond. One a connection. */
struct db_wait {
    int timeout_ms;
    int64_t began_us; /* of the current wait */
    bool seen;        /* somebody else held the lock; whoever looks sets it back */
};

struct db {
    sqlite3 *handle;     /* NULL: closed */
    struct db_wait wait; /* the handle points to it: a struct db does not move while open */
    const char *path;    /* for messages; "" in memory; the owner's */
    bool read_only;
    bool was_moved; /* db_open() failed because the path leads to another file by now */
    int open_code;  /* SQLite's result, if db_open() failed; SQLITE_OK: it was not SQLite's */
};

struct db_options {
    const char *path; /* absolute, or "" for a database in memory */
    int busy_timeout_ms;
    bool create;
    bool synchronous_off;
    _Atomic uint64_t *steps; /* store.h */
    bool may_be_read_only;   /* a file that cannot be written is opened to be read */
    bool joins_wal;          /* commits are written in few calls: the writer's connection */
    bool paces_copy;         /* checkpoints are synced in pieces: the copier's connection */
    bool keep_journal;       /* the journal mode stays as it is: not a server's connection */
    bool exclusive;          /* nobody else may have it open, now and until it is closed */
    bool without_locks;      /* a file that only this process knows of */
};

/* Opens with WAL, synchronous FULL, no automatic checkpoint. One clear line when it cannot. */
bool db_open(struct db *db, const struct db_options *options, struct err *err) BERTH_MUST_CHECK;

/* Finalizes every statement of the connection and closes it. `abandon`: the file at the path is no
 * longer ours, or the last sync failed: no checkpoint, and the files beside the path stay. */
void db_close(struct db *db, bool abandon);

/* err gets status 503 and "the database 'PATH' cannot be WHAT: SQLite's reason". Always false. */
bool db_fail(const struct db *db, const char *what, struct err *err);

/* Copies the WAL into the file and goes back to the journal mode DELETE. Only for a connection that
 * was opened to be exclusive. False: the reason is the handle's. */
bool db_leave_wal(struct db *db) BERTH_MUST_CHECK;

bool db_exec(struct db *db, const char *sql, struct err *err) BERTH_MUST_CHECK;
bool db_exec_all(struct db *db, const char *const *statements, struct err *err) BERTH_MUST_CHECK;

/* NULL and err when it does not compile. */
sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct err *err) BERTH_MUST_CHECK;

/* The first column of the first row; *value stays as it was when there is no row. */
bool db_query_int(struct db *db, const char *sql, int64_t *value, struct err *err) BERTH_MUST_CHECK;

/* A column's text, empty (data NULL) for NULL; valid until the statement's next step. */
struct slice db_column_text(sqlite3_stmt *statement, int column);

#endif
