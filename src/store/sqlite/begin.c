/* Begins a transaction, and determines what has happened since memory last read the database.
 *
 * To write, BEGIN IMMEDIATE takes SQLite's write lock. No other process commits until the lock is
 * released, so what is found (stamp, data_version, head, log) stays true until then. To read, a
 * snapshot is taken without a lock, and other processes may commit meanwhile. The wal-index header
 * changes only with a commit: if it is the same before and after the snapshot is taken, it is the
 * header of that snapshot.
 *
 * Three checks, from the cheapest to the most expensive, show what has happened:
 *   - The wal-index header is that of our last state: nothing has.
 *   - The data_version of this connection has not changed: no other process has committed (only our
 *     own checkpoint changed the header).
 *   - The wal-index counts every process's commits. If the log has a row for each number since our
 *     last commit, other instances of berth made all of these commits: follow. Otherwise a foreign
 *     writer has committed as well: reload. Also reload if this cannot be decided, because there is
 *     no index, the index was rebuilt, or the log was trimmed or is unreadable.
 *
 * The writer only. */
#include "store/sqlite/internal.h"

#include "base/clock.h"
#include "store/follow.h"

enum {
    SNAPSHOT_TRIES = 64, /* in each of these microseconds, another process would have to commit */
    LOCK_MS = 10,        /* how long one sqlite_lock() waits */
};

/* No counter reaches this value. */
static const int64_t SEQ_MAX = INT64_MAX / 2;

static void transaction_start(struct sqlite_store *store, bool is_locked)
{
    struct transaction *transaction = &store->transaction;
    transaction->open = true;
    transaction->is_locked = is_locked;
    transaction->is_reading = false;
    transaction->seq = store->followed.seq;
    transaction->data_version = store->followed.data_version;
    transaction->change = 0;
    transaction->stamp_known = false;
    transaction->is_in_memory = false;
    transaction->touched.len = 0;
    log_entries_free(&transaction->to_follow);
}

static bool step_head(struct sqlite_store *store, struct err *err)
{
    sqlite3_stmt *head = sqlite_statement(store, STATEMENT_HEAD_READ, err);
    if (head == NULL)
        return false;
    int rc = sqlite3_step(head);
    if (rc == SQLITE_ROW)
        store->transaction.seq = sqlite3_column_int64(head, 0);
    else
        sqlite_read_failed(store, err);
    sqlite3_reset(head);
    return rc == SQLITE_ROW;
}

static bool read_head(struct sqlite_store *store, struct err *err)
{
    if (!step_head(store, err)) {
        /* Our tables are missing: the next begin creates them, as a start does. */
        if (sqlite3_errcode(store->writer.handle) == SQLITE_ERROR)
            sqlite_forget_file(store);
        return false;
    }
    if (store->transaction.seq <= SEQ_MAX)
        return true;
    return err_set(err, 503, NULL,
                   "the database '%s' cannot be used: another program wrote to berth_head or "
                   "berth_log; delete the rows of both",
                   store->writer.path);
}

/* The wal-index; NULL if it is not available. */
static const _Atomic uint64_t *sqlite_index(const struct sqlite_store *store)
{
    const struct sentinel *sentinel = store->sentinel;
    return sentinel == NULL ? NULL : sentinel->index;
}

/* Whether the log rows since our last state account for every commit since; collects their
 * entries. */
static bool explained_by_log(struct sqlite_store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    sqlite3_stmt *rows = sqlite_statement(store, STATEMENT_LOG_READ, err);
    if (rows == NULL)
        return false;
    int64_t seq = store->followed.seq;
    uint32_t change = store->followed.change;
    bool ok = true;
    int rc;
    sqlite3_bind_int64(rows, 1, seq);
    while (ok && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
        struct slice blob = {sqlite3_column_blob(rows, 2), (size_t)sqlite3_column_bytes(rows, 2)};
        ok = sqlite3_column_int64(rows, 0) == ++seq &&
             sqlite3_column_type(rows, 1) == SQLITE_INTEGER &&
             (uint32_t)sqlite3_column_int64(rows, 1) == ++change &&
             log_parse(blob, &transaction->to_follow);
    }
    if (ok && rc != SQLITE_DONE)
        sqlite_read_failed(store, err);
    sqlite3_reset(rows);
    return ok && !err_is_set(err) && seq == transaction->seq && change == transaction->change &&
           follow_is_possible(&transaction->to_follow);
}

static enum store_news examine_moved(struct sqlite_store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    struct followed *followed = &store->followed;
    if (followed->valid && !store->in_memory)
        sqlite_saw_other(store);
    if (!read_head(store, err))
        return STORE_NEWS_FAILED;
    if (!followed->valid || !transaction->stamp_known || sqlite_index(store) == NULL)
        return STORE_NEWS_RELOAD;
    /* Another process's checkpoint started the WAL over, and nothing was written. */
    if (transaction->seq == followed->seq && transaction->change == followed->change &&
        followed->change > 0 && sentinel_stamp_frames(&transaction->stamp) == 0) {
        followed->data_version = transaction->data_version;
        return STORE_NEWS_NONE;
    }
    if (transaction->seq > followed->seq && explained_by_log(store, err))
        return STORE_NEWS_FOLLOW;
    return err_is_set(err) ? STORE_NEWS_FAILED : STORE_NEWS_RELOAD;
}

static enum store_news examine(struct sqlite_store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    const struct followed *followed = &store->followed;
    if (sqlite_index(store) != NULL && transaction->stamp_known && followed->valid &&
        followed->stamp_known &&
        memcmp(&transaction->stamp, &followed->stamp, sizeof(followed->stamp)) == 0)
        return STORE_NEWS_NONE;
    if (!sqlite_data_version(store, &transaction->data_version, err))
        return STORE_NEWS_FAILED;
    if (followed->valid && transaction->data_version == followed->data_version)
        return STORE_NEWS_NONE;
    return examine_moved(store, err);
}

enum store_news sqlite_examine(struct sqlite_store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    if (transaction->stamp_known && sqlite_index(store) != NULL)
        transaction->change = sentinel_stamp_change(&transaction->stamp);
    enum store_news news = examine(store, err);
    transaction->is_in_memory = news == STORE_NEWS_NONE;
    return news;
}

/* The lock costs no round trip, and under it the batch cannot come too late. */
bool sqlite_locks_first(const struct sqlite_store *store)
{
    (void)store;
    return true;
}

static enum store_lock take_lock(struct sqlite_store *store, struct err *err)
{
    struct sharing *sharing = &store->sharing;
    struct db_wait *wait = &store->writer.wait;
    struct err failure = {.arena = err->arena};
    int timeout_ms = wait->timeout_ms;
    int64_t now_us = (int64_t)clock_monotonic_us();
    if (sharing->wanted_at_us == 0)
        sharing->wanted_at_us = now_us;
    int64_t left_ms = timeout_ms - (now_us - sharing->wanted_at_us) / 1000;
    bool is_last = left_ms <= LOCK_MS;
    wait->seen = false;
    wait->timeout_ms = !is_last ? LOCK_MS : left_ms > 0 ? (int)left_ms : 0;
    bool ok = sqlite_run(store, STATEMENT_BEGIN, &failure);
    wait->timeout_ms = timeout_ms;
    if (wait->seen)
        sqlite_saw_other(store);
    if (!ok && !is_last && sqlite3_errcode(store->writer.handle) == SQLITE_BUSY)
        return STORE_LOCK_HELD;
    sharing->wanted_at_us = 0;
    if (ok)
        return STORE_LOCKED;
    err_set_text(err, failure.status, failure.code, failure.message);
    return STORE_LOCK_FAILED;
}

enum store_lock sqlite_lock(struct sqlite_store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    check(!transaction->open);
    sqlite_leave_free(store);
    if (!sqlite_ensure_file(store, err)) {
        store->sharing.wanted_at_us = 0;
        return STORE_LOCK_FAILED;
    }
    transaction->broken = false;
    sqlite_checkpoint(store);
    sqlite_brake(store);
    enum store_lock locked = take_lock(store, err);
    if (locked == STORE_LOCKED) {
        struct sentinel *sentinel = store->sentinel;
        transaction_start(store, true);
        transaction->stamp_known = sentinel != NULL && sentinel_read(sentinel, &transaction->stamp);
    } else if (locked == STORE_LOCK_FAILED) {
        sqlite_end_transaction(store);
    }
    return locked;
}

/* Takes a snapshot; *stamped: the transaction's stamp belongs to it. */
static bool take_snapshot(struct sqlite_store *store, bool *stamped, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    struct sentinel *sentinel = store->sentinel;
    struct store_stamp after;
    bool before_known = sentinel != NULL && sentinel_read(sentinel, &transaction->stamp);
    if (!sqlite_run(store, STATEMENT_BEGIN_READ, err) || !read_head(store, err))
        return false;
    *stamped = before_known && sentinel_read(sentinel, &after) &&
               memcmp(&after, &transaction->stamp, sizeof(after)) == 0;
    return true;
}

static bool begin_snapshot(struct sqlite_store *store, struct err *err)
{
    if (!sqlite_ensure_file(store, err))
        return false;
    store->transaction.broken = false;
    transaction_start(store, false);
    bool stamped = false;
    for (int i = 1; !stamped; i++) {
        if (!take_snapshot(store, &stamped, err))
            return false;
        if (stamped || store->sentinel == NULL || i == SNAPSHOT_TRIES)
            break;
        if (!sqlite_run(store, STATEMENT_ROLLBACK, err))
            return false;
    }
    store->transaction.stamp_known = stamped;
    return true;
}

enum store_news sqlite_begin_read(struct sqlite_store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    check(transaction->is_locked || !transaction->open);
    check(!transaction->is_reading);
    sqlite_reuse_ids(store);
    enum store_news news = STORE_NEWS_FAILED;
    if (sqlite_create_found(store, err) && (transaction->is_locked || begin_snapshot(store, err)))
        news = sqlite_examine(store, err);
    transaction->is_reading = news != STORE_NEWS_FAILED;
    if (!transaction->is_reading && !transaction->is_locked)
        sqlite_end_transaction(store);
    return news;
}

void sqlite_mark_followed(struct sqlite_store *store)
{
    struct followed *followed = &store->followed;
    const struct transaction *transaction = &store->transaction;
    *followed = (struct followed){.valid = true,
                                  .seq = transaction->seq,
                                  .data_version = transaction->data_version,
                                  .change = transaction->change};
    memcpy(followed->next_ids, store->next_ids, sizeof(store->next_ids));
    counter_set(&store->log_head, (uint64_t)followed->seq);
    store->transaction.is_in_memory = true;
    followed->stamp_known = transaction->stamp_known && sqlite_index(store) != NULL;
    followed->stamp = transaction->stamp;
}
