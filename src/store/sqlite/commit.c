/* Beginning and ending the one write transaction.
 *
 * BEGIN IMMEDIATE takes SQLite's write lock; from then on nobody else commits, so what begin finds
 * (stamp, data_version, head, log) holds until the end. Three questions, from cheap to dear, tell
 * what happened since the last time:
 *   - the wal-index header is still that of our last state: nothing;
 *   - data_version of this connection has not moved: nothing by others (our own checkpoint);
 *   - the wal-index counts every commit of anybody. If the log rows since ours carry exactly the
 *     numbers in between, other instances of berth made all of them: follow. Otherwise a stranger
 *     wrote too: reload. In doubt (no index, a rebuilt index, a trimmed or unreadable log): reload.
 *
 * After COMMIT the stamp is read; if the count has risen by exactly our one commit, nobody wrote in
 * between and the stamp is ours. Writer thread only. */
#include <time.h>

#include "store/sqlite/internal.h"

enum {
    LOG_ROWS_KEPT = 4096,
    LOG_TRIM_EVERY = 64, /* batches */
    FOLLOW_ENTRIES_MAX = 200000,
    LEAVE_FREE_US = 2000,
    OTHER_SEEN_FOR_US = 1000000,
};

static void sleep_until_us(int64_t until_us)
{
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = (until_us % 1000000) * 1000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void transaction_start(struct store *store)
{
    struct transaction *transaction = &store->transaction;
    transaction->open = true;
    transaction->seq = store->followed.seq;
    transaction->data_version = store->followed.data_version;
    transaction->change = store->followed.change;
    transaction->other_seen = store->writer.wait.seen;
    transaction->settled = false;
    transaction->failed = false;
    transaction->touched.len = 0;
    log_entries_free(&transaction->to_follow);
    transaction->before = store->followed;
    memcpy(store->next_ids, store->followed.next_ids, sizeof(store->next_ids));
}

/* A deletion beside moves could ask for an order that does not exist (a provider under the newly
 * made namesake of its deleted parent): rare enough to read everything. */
static bool can_follow(const struct log_entries *entries)
{
    bool deleted = false;
    bool updated = false;
    for (size_t i = 0; i < entries->count; i++) {
        deleted |= entries->data[i].kind == LOG_PROVIDER_DELETED;
        updated |= entries->data[i].kind == LOG_PROVIDER_UPDATED;
    }
    return entries->count <= FOLLOW_ENTRIES_MAX && !(deleted && updated);
}

/* Whether the log rows since ours account for every commit since; takes their entries. */
static bool explained_by_log(struct store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    sqlite3_stmt *rows = store_statement(store, STATEMENT_LOG_READ, err);
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
             transaction->to_follow.count <= FOLLOW_ENTRIES_MAX &&
             log_parse(blob, &transaction->to_follow);
    }
    if (ok && rc != SQLITE_DONE)
        db_fail(&store->writer, "read", err);
    sqlite3_reset(rows);
    return ok && !err_is_set(err) && seq == transaction->seq && change == transaction->change &&
           can_follow(&transaction->to_follow);
}

static enum store_begun examine_moved(struct store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    struct followed *followed = &store->followed;
    transaction->other_seen |= followed->valid && !store->in_memory;
    if (!db_query_int(&store->writer, "SELECT seq FROM berth_head", &transaction->seq, err))
        return STORE_BEGIN_FAILED;
    struct sentinel *sentinel = store->sentinel;
    if (!followed->valid || sentinel == NULL || sentinel->index == NULL)
        return STORE_BEGIN_RELOAD;
    struct store_stamp now;
    if (!sentinel_read(sentinel, &now))
        return STORE_BEGIN_RELOAD;
    /* Somebody's checkpoint started the WAL over, and nobody wrote. */
    if (transaction->seq == followed->seq && transaction->change == followed->change &&
        followed->change > 0 && sentinel_stamp_frames(&now) == 0) {
        followed->data_version = transaction->data_version;
        return STORE_BEGIN_UNCHANGED;
    }
    if (transaction->seq > followed->seq && explained_by_log(store, err))
        return STORE_BEGIN_FOLLOW;
    return err_is_set(err) ? STORE_BEGIN_FAILED : STORE_BEGIN_RELOAD;
}

static enum store_begun examine(struct store *store, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    struct followed *followed = &store->followed;
    struct sentinel *sentinel = store->sentinel;
    if (sentinel != NULL && sentinel->index != NULL) {
        struct store_stamp now;
        bool whole = sentinel_read(sentinel, &now);
        transaction->change = sentinel_stamp_change(&now);
        if (whole && followed->valid && followed->stamp_known &&
            memcmp(now.bytes, followed->stamp.bytes, sizeof(now.bytes)) == 0)
            return STORE_BEGIN_UNCHANGED;
    }
    if (!store_data_version(store, &transaction->data_version, err))
        return STORE_BEGIN_FAILED;
    if (followed->valid && transaction->data_version == followed->data_version)
        return STORE_BEGIN_UNCHANGED;
    return examine_moved(store, err);
}

/* Memory forgets with a failed transaction what it loaded or followed in it. */
static void take_back(struct store *store)
{
    bool in_doubt = !store->followed.valid;
    store->followed = store->transaction.before;
    store->followed.valid &= !in_doubt;
}

static void end_transaction(struct store *store)
{
    store->transaction.open = false;
    if (store->transaction.failed)
        take_back(store);
    if (!sqlite3_get_autocommit(store->writer.handle)) {
        struct err ignored = {.status = 503};
        if (!store_run(store, STATEMENT_ROLLBACK, &ignored))
            store->transaction.broken = true;
    }
    if (store->transaction.broken)
        store_disconnect_writer(store, true);
}

enum store_begun store_begin(struct store *store, struct err *err)
{
    check(!store->transaction.open);
    if (store->leave_free_until_us > db_monotonic_us())
        sleep_until_us(store->leave_free_until_us);
    store->leave_free_until_us = 0;
    if (!store_ensure_file(store, err))
        return STORE_BEGIN_FAILED;
    store_checkpoint(store, CHECKPOINT_LATE_FRAMES);
    store->writer.wait.seen = false;
    store->transaction.broken = false;
    if (!store_run(store, STATEMENT_BEGIN, err)) {
        if (store->transaction.broken)
            store_disconnect_writer(store, true);
        return STORE_BEGIN_FAILED;
    }
    transaction_start(store);
    enum store_begun begun = examine(store, err);
    if (begun == STORE_BEGIN_FAILED)
        end_transaction(store);
    store->transaction.settled = begun == STORE_BEGIN_UNCHANGED;
    return begun;
}

void store_mark_followed(struct store *store)
{
    struct followed *followed = &store->followed;
    const struct transaction *transaction = &store->transaction;
    *followed = (struct followed){.valid = true,
                                  .seq = transaction->seq,
                                  .data_version = transaction->data_version,
                                  .change = transaction->change};
    memcpy(followed->next_ids, store->next_ids, sizeof(store->next_ids));
    store->transaction.settled = true;
    struct sentinel *sentinel = store->sentinel;
    followed->stamp_known =
        sentinel != NULL && sentinel->index != NULL && sentinel_read(sentinel, &followed->stamp);
}

static bool write_log(struct store *store, const unsigned char mark[static MARK_LEN],
                      struct err *err)
{
    struct transaction *transaction = &store->transaction;
    struct sentinel *sentinel = store->sentinel;
    int64_t seq = transaction->seq + 1;
    sqlite3_stmt *log = store_statement(store, STATEMENT_LOG_INSERT, err);
    sqlite3_stmt *head = store_statement(store, STATEMENT_HEAD_SET, err);
    sqlite3_stmt *trim = store_statement(store, STATEMENT_LOG_TRIM, err);
    if (log == NULL || head == NULL || trim == NULL)
        return false;
    struct buf *touched = &transaction->touched;
    sqlite3_bind_int64(log, 1, seq);
    sqlite3_bind_blob(log, 2, mark, MARK_LEN, SQLITE_STATIC);
    store_bind_instant(store, log, 3, db_now_us());
    if (sentinel != NULL && sentinel->index != NULL)
        sqlite3_bind_int64(log, 4, (uint32_t)(transaction->change + 1));
    else
        sqlite3_bind_null(log, 4);
    sqlite3_bind_blob64(log, 5, touched->len == 0 ? "" : touched->data, touched->len,
                        SQLITE_STATIC);
    sqlite3_bind_int64(head, 1, seq);
    if (!store_step(store, log, err) || !store_step(store, head, err))
        return false;
    if (store->batches % LOG_TRIM_EVERY != 0)
        return true;
    sqlite3_bind_int64(trim, 1, seq - LOG_ROWS_KEPT);
    return store_step(store, trim, err);
}

bool store_find_mark(struct store *store, const unsigned char mark[static MARK_LEN], bool *found,
                     struct err *err)
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

/* COMMIT failed in a way that does not say whether it happened. What the file holds now is made
 * durable first (the sync that failed may have lost what the page cache still shows), then asked
 * for the batch's mark. */
static enum store_result resolve_commit(struct store *store,
                                        const unsigned char mark[static MARK_LEN], struct err *err)
{
    struct err detail = {.arena = err->arena};
    bool found = false;
    store->followed.valid = false;
    store_disconnect_writer(store, true);
    if (!store_reconnect_writer(store, &detail) ||
        sqlite3_wal_checkpoint_v2(store->writer.handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                  NULL) != SQLITE_OK ||
        !store_find_mark(store, mark, &found, &detail))
        return STORE_UNKNOWN;
    return found ? STORE_OK : STORE_FAILED;
}

static void take_stamp(struct store *store, struct store_stamp *stamp, bool *stranger)
{
    struct transaction *transaction = &store->transaction;
    struct followed *followed = &store->followed;
    struct sentinel *sentinel = store->sentinel;
    uint64_t commits = atomic_fetch_add(&store->commits, 1) + 1;
    *stranger = false;
    followed->seq = transaction->seq + 1;
    followed->data_version = transaction->data_version;
    followed->change = transaction->change + 1;
    memcpy(followed->next_ids, store->next_ids, sizeof(store->next_ids));
    followed->stamp_known = false;
    if (store->in_memory) {
        *stamp = (struct store_stamp){0};
        memcpy(stamp->bytes, &commits, sizeof(commits));
    } else if (sentinel == NULL) {
        *stranger = true;
    } else if (sentinel->index != NULL) {
        *stranger =
            !sentinel_read(sentinel, stamp) || sentinel_stamp_change(stamp) != followed->change;
        followed->stamp_known = !*stranger;
        followed->stamp = *stamp;
    } else {
        /* The sentinel's value first: if the writer's own has not moved after it, nobody else's
         * commit is in it (architecture, section 5). */
        struct err detail = {.status = 503};
        int64_t version = -1;
        *stranger = !sentinel_read(sentinel, stamp) ||
                    !store_data_version(store, &version, &detail) ||
                    version != followed->data_version;
    }
    transaction->other_seen |= *stranger;
}

/* While somebody else has been seen lately: between two sights of it this one could commit often.
 */
static void leave_free(struct store *store)
{
    int64_t now_us = db_monotonic_us();
    if (store->transaction.other_seen)
        store->other_seen_until_us = now_us + OTHER_SEEN_FOR_US;
    if (now_us < store->other_seen_until_us)
        store->leave_free_until_us = now_us + LEAVE_FREE_US;
}

enum store_result store_commit(struct store *store, struct store_stamp *stamp, bool *stranger,
                               struct err *err)
{
    struct transaction *transaction = &store->transaction;
    check(transaction->open && transaction->settled && !transaction->failed);
    unsigned char mark[MARK_LEN];
    memcpy(mark, store->instance, sizeof(store->instance));
    memcpy(mark + sizeof(store->instance), &store->batches, sizeof(store->batches));
    store->batches++;
    transaction->failed = true; /* until it is committed */
    if (!write_log(store, mark, err)) {
        end_transaction(store);
        return STORE_FAILED;
    }
    struct err failure = {.arena = err->arena};
    if (!store_run(store, STATEMENT_COMMIT, &failure)) {
        if (transaction->broken) {
            transaction->open = transaction->failed = false;
            enum store_result result = resolve_commit(store, mark, err);
            *stranger = true;
            if (result == STORE_OK)
                return STORE_OK;
            err_set_text(err, failure.status, failure.code, failure.message);
            return result;
        }
        err_set_text(err, failure.status, failure.code, failure.message);
        end_transaction(store);
        return STORE_FAILED;
    }
    transaction->open = transaction->failed = false;
    take_stamp(store, stamp, stranger);
    leave_free(store);
    return STORE_OK;
}

bool store_rollback(struct store *store, struct store_stamp *stamp)
{
    check(store->transaction.open);
    struct sentinel *sentinel = store->sentinel;
    const struct transaction *transaction = &store->transaction;
    bool held = store->followed.valid && transaction->settled && !transaction->failed;
    if (store->in_memory) {
        uint64_t commits = store->commits;
        *stamp = (struct store_stamp){0};
        memcpy(stamp->bytes, &commits, sizeof(commits));
    } else if (held) {
        /* Read under the lock: it is the state that the transaction saw. */
        held = sentinel != NULL && sentinel_read(sentinel, stamp);
        if (held && sentinel->index != NULL) {
            store->followed.stamp = *stamp;
            store->followed.stamp_known = true;
        }
    }
    end_transaction(store);
    return held && store_is_current(store, stamp);
}

int64_t store_next_id(struct store *store, enum store_table table)
{
    check(store->transaction.open);
    return store->next_ids[table]++;
}

bool store_is_current(const struct store *store, const struct store_stamp *stamp)
{
    if (store->in_memory) {
        uint64_t commits = atomic_load_explicit(&store->commits, memory_order_acquire);
        return memcmp(stamp->bytes, &commits, sizeof(commits)) == 0;
    }
    struct sentinel *sentinel = atomic_load_explicit(&store->sentinel, memory_order_acquire);
    return sentinel != NULL && sentinel_is_current(sentinel, stamp);
}
