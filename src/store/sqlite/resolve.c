/* Handles a failed COMMIT of which it is not known whether it will last.
 *
 * When the sync of a commit fails, its frames are in the WAL after the last one that the wal-index
 * counts: no connection sees them, but after a power cut, recovery treats them as a commit. A later
 * successful sync proves nothing about them, because the system drops what it could not write. So
 * the first of these frames is overwritten, under the write lock, and that is synced: recovery ends
 * there. Only then is it certain that the commit has not happened. This is retried until it
 * succeeds, for as long as another writer would be waited for; after that the outcome stays
 * unknown. The writer only. */

#include "store/sqlite/internal.h"

#include "base/clock.h"
#include "base/wait.h"

enum { TRY_AGAIN_US = 2000 };

/* Makes the frame after the last one invalid, durably. */
static bool end_wal_here(struct sqlite_store *store)
{
    static const unsigned char zeros[SENTINEL_FRAME_HEADER_BYTES];
    struct sentinel *sentinel = store->sentinel;
    struct store_stamp stamp;
    sqlite3_file *wal = NULL;
    sqlite3_int64 size;
    if (sentinel == NULL || sentinel->index == NULL || !sentinel_read(sentinel, &stamp) ||
        sqlite3_file_control(store->writer.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) !=
            SQLITE_OK ||
        wal == NULL || wal->pMethods == NULL || wal->pMethods->xFileSize(wal, &size) != SQLITE_OK)
        return false;
    sqlite3_int64 at = (sqlite3_int64)sentinel_stamp_wal_end(&stamp);
    return size <= at || (wal->pMethods->xWrite(wal, zeros, (int)sizeof(zeros), at) == SQLITE_OK &&
                          wal->pMethods->xSync(wal, SQLITE_SYNC_FULL) == SQLITE_OK);
}

/* Without a wal-index the journal is a file that ends with the commit: its state is checked. */
static bool is_certain(struct sqlite_store *store)
{
    return store->sentinel != NULL && store->sentinel->index == NULL ? true : end_wal_here(store);
}

bool sqlite_find_mark(struct sqlite_store *store, const unsigned char mark[static MARK_LEN],
                      bool *found, struct err *err)
{
    /* It would be the newest row, or near it. */
    sqlite3_stmt *rows = db_prepare(
        &store->writer, "SELECT mark = ?1 FROM berth_log ORDER BY seq DESC LIMIT 1000", err);
    if (rows == NULL)
        return false;
    *found = false;
    int rc;
    sqlite3_bind_blob(rows, 1, mark, MARK_LEN, SQLITE_STATIC);
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW && !*found)
        *found = sqlite3_column_int(rows, 0) == 1;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        db_fail(&store->writer, "read", err);
    sqlite3_finalize(rows);
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

static bool resolve_once(struct sqlite_store *store, const unsigned char mark[static MARK_LEN],
                         bool *found, struct err *err)
{
    if (store->writer.handle == NULL && !sqlite_reconnect_writer(store, err))
        return false;
    bool ok = sqlite_run(store, STATEMENT_BEGIN, err) &&
              sqlite_find_mark(store, mark, found, err) && is_certain(store);
    if (sqlite3_get_autocommit(store->writer.handle) == 0)
        ok = sqlite_run(store, STATEMENT_ROLLBACK, err) && ok;
    /* It may have read invalid data from a failing disk. */
    if (!ok)
        sqlite_disconnect_writer(store, true);
    return ok;
}

enum store_result sqlite_resolve_commit(struct sqlite_store *store,
                                        const unsigned char mark[static MARK_LEN],
                                        struct arena *arena)
{
    const struct followed before = store->followed;
    int64_t deadline_us =
        (int64_t)clock_monotonic_us() + store->db_options.busy_timeout_ms * INT64_C(1000);
    bool found = false;
    sqlite_disconnect_writer(store, true);
    for (;;) {
        struct err ignored = {.arena = arena};
        if (resolve_once(store, mark, &found, &ignored))
            break;
        if ((int64_t)clock_monotonic_us() >= deadline_us)
            return STORE_UNKNOWN;
        wait_sleep_us(TRY_AGAIN_US);
    }
    if (found)
        return STORE_OK;
    /* Memory is as it was before; the new connection counts versions from its own start. */
    bool has_index = store->sentinel != NULL && store->sentinel->index != NULL;
    store->followed = before;
    store->followed.valid = before.valid && before.stamp_known && has_index;
    store->followed.data_version = -1;
    return STORE_FAILED;
}
