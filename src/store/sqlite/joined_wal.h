/* A VFS for SQLite that joins the writes to the WAL.
 *
 * SQLite writes each page of a commit in two calls, 24 bytes and the page, and each call costs the
 * system more than copying the data. Here they are collected and written at once: when 128 KiB are
 * full, when a write does not continue the previous one, and before any other operation on the WAL,
 * above all before its sync, which a commit waits for. Only the WAL is affected. */
#ifndef BERTH_STORE_SQLITE_JOINED_WAL_H
#define BERTH_STORE_SQLITE_JOINED_WAL_H

/* The VFS's name for sqlite3_open_v2(); NULL if there is no memory for it. It is based on the
 * default VFS at the time of the first call. Only for a connection whose every commit syncs
 * (synchronous FULL): without a sync, other processes would see a commit that is not in the file
 * yet. And only for one that rolls back after any failed statement: even a read may report that a
 * write was lost. */
const char *joined_wal_vfs(void);

#endif
