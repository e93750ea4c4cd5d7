/* A VFS of SQLite's that joins the writes to the WAL.
 *
 * SQLite writes each page of a commit in two calls, 24 bytes and the page, each of which costs the
 * system more than copying them does. Here they are collected and written at once: when 128 KiB
 * are full, when something else than the next bytes is written, and before anything else is done to
 * the WAL; before its sync above all, which is what a commit waits for. Nothing but the WAL is
 * touched. */
#ifndef BERTH_STORE_SQLITE_JOINED_WAL_H
#define BERTH_STORE_SQLITE_JOINED_WAL_H

/* The VFS's name for sqlite3_open_v2(); NULL when there is no memory for it. It stands on what is
 * the default VFS at the first call. Only for a connection whose every commit syncs (synchronous
 * FULL): without a sync the others would be told of a commit that is not in the file yet. And only
 * for one that rolls back after any statement that failed: a read, too, may tell of a write that
 * was lost. */
const char *joined_wal_vfs(void);

#endif
