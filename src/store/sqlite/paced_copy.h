/* A VFS for SQLite, for the connection that copies the WAL into the database file.
 *
 * A checkpoint writes thousands of pages and syncs them at its end; commits beside it would then
 * wait until the disk has written them all. Here the file is synced after every few pages, so that
 * a commit's sync never waits for more than those. Only writes to the database file are
 * affected. */
#ifndef BERTH_STORE_SQLITE_PACED_COPY_H
#define BERTH_STORE_SQLITE_PACED_COPY_H

/* The VFS's name for sqlite3_open_v2(); NULL if there is no memory for it. It is based on the
 * default VFS at the time of the first call. A failed sync makes the write fail, with
 * SQLITE_IOERR_FSYNC. */
const char *paced_copy_vfs(void);

#endif
