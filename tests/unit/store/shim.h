/* A VFS between SQLite and the real one that imitates failing disks. */
#ifndef BERTH_TESTS_STORE_SHIM_H
#define BERTH_TESTS_STORE_SHIM_H

#include <sqlite3.h>
#include <stdbool.h>

/* The failures to imitate; all zero: none. Threads of the store read it while the test sets it. */
struct shim {
    _Atomic int write_fails;    /* an SQLite result code */
    _Atomic int wal_sync_fails; /* the same */
    _Atomic bool once;          /* wal_sync_fails only once */
    _Atomic int database_sync_fails_once;
    _Atomic bool read_only;
    _Atomic bool closed_directory; /* no file beside the database can be opened */
    _Atomic bool no_shared_memory;
    _Atomic bool holds_database_writes;    /* to the file itself, until this is false again */
    _Atomic unsigned held_database_writes; /* so far */
};
extern struct shim shim;

/* Writes to database files, and to their WALs, by this thread. */
extern _Thread_local unsigned shim_database_writes;
extern _Thread_local unsigned shim_wal_writes;

/* Makes it the default VFS of this process. */
void shim_install(void);

/* fixture_setup and fixture_teardown, with a disk without failures. */
int shim_setup(void **state);
int shim_teardown(void **state);

#endif
