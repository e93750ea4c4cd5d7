/* A VFS of SQLite's for the connection that copies the WAL into the database file.
 *
 * A checkpoint writes thousands of pages and syncs them at its end; the commits beside it then wait
 * until the disk has taken them all. Here the file is synced after every few pages, so that a
 * commit's sync never stands behind more than those. Nothing but writes to the database file is
 * touched. */
#ifndef BERTH_STORE_SQLITE_PACED_COPY_H
#define BERTH_STORE_SQLITE_PACED_COPY_H

/* The VFS's name for sqlite3_open_v2(); NULL when there is no memory for it. It stands on what is
 * the default VFS at the first call. A sync that fails makes the write fail, with
 * SQLITE_IOERR_FSYNC. */
const char *paced_copy_vfs(void);

#endif
