/* A VFS between SQLite and the real one that does what disks do. */
#ifndef BERTH_TESTS_STORE_SHIM_H
#define BERTH_TESTS_STORE_SHIM_H

#include <sqlite3.h>
#include <stdbool.h>

/* What it is to do; all zero: nothing. Set between two calls of the store, by its thread. */
struct shim {
    int write_fails;    /* an SQLite result code */
    int wal_sync_fails; /* the same */
    bool once;          /* wal_sync_fails only once */
    int database_sync_fails_once;
    bool read_only;
    bool no_shared_memory;
    unsigned
        database_write_takes_us; /* each write to the database file itself; set before threads */
};
extern struct shim shim;

/* Writes to database files by this thread. */
extern _Thread_local unsigned shim_database_writes;

/* Makes it the default VFS of this process. */
void shim_install(void);

/* fixture_setup and fixture_teardown, with a disk that is well. */
int shim_setup(void **state);
int shim_teardown(void **state);

#endif
