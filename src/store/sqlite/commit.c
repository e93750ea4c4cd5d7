/* Commits a batch.
 *
 * After COMMIT the stamp is read; if the count has risen by exactly our one commit, no other
 * process wrote in between and the stamp is ours. The writer only. */
#include "store/sqlite/internal.h"

#include "base/clock.h"

enum {
    LOG_ROWS_KEPT = 4096,
    LOG_TRIM_EVERY = 64, /* batches */
};

static bool write_log(struct sqlite_store *store, const unsigned char mark[static MARK_LEN],
                      struct err *err)
{
    struct transaction *transaction = &store->transaction;
    struct sentinel *sentinel = store->sentinel;
    int64_t seq = transaction->seq + 1;
    sqlite3_stmt *log = sqlite_statement(store, STATEMENT_LOG_INSERT, err);
    sqlite3_stmt *head = sqlite_statement(store, STATEMENT_HEAD_SET, err);
    sqlite3_stmt *trim = sqlite_statement(store, STATEMENT_LOG_TRIM, err);
    if (log == NULL || head == NULL || trim == NULL)
        return false;
    struct buf *touched = &transaction->touched;
    sqlite3_bind_int64(log, 1, seq);
    sqlite3_bind_blob(log, 2, mark, MARK_LEN, SQLITE_STATIC);
    sqlite_bind_instant(store, log, 3, clock_wall_us());
    if (sentinel != NULL && sentinel->index != NULL)
        sqlite3_bind_int64(log, 4, (uint32_t)(transaction->change + 1));
    else
        sqlite3_bind_null(log, 4);
    sqlite3_bind_blob64(log, 5, touched->len == 0 ? "" : touched->data, touched->len,
                        SQLITE_STATIC);
    sqlite3_bind_int64(head, 1, seq);
    if (!sqlite_step(store, log, err) || !sqlite_step(store, head, err))
        return false;
    if (store->batches % LOG_TRIM_EVERY != 0)
        return true;
    sqlite3_bind_int64(trim, 1, seq - LOG_ROWS_KEPT);
    return sqlite_step(store, trim, err);
}

static void take_stamp(struct sqlite_store *store, struct store_stamp *stamp, bool *foreign)
{
    struct transaction *transaction = &store->transaction;
    struct followed *followed = &store->followed;
    struct sentinel *sentinel = store->sentinel;
    uint64_t commits = atomic_fetch_add(&store->commits, 1) + 1;
    *foreign = false;
    followed->seq = transaction->seq + 1;
    counter_set(&store->log_head, (uint64_t)followed->seq);
    followed->data_version = transaction->data_version;
    followed->change = transaction->change + 1;
    memcpy(followed->next_ids, store->next_ids, sizeof(store->next_ids));
    followed->stamp_known = false;
    if (store->in_memory) {
        *stamp = (struct store_stamp){0};
        memcpy(stamp->bytes, &commits, sizeof(commits));
    } else if (sentinel == NULL) {
        *foreign = true;
    } else if (sentinel->index != NULL) {
        *foreign =
            !sentinel_read(sentinel, stamp) || sentinel_stamp_change(stamp) != followed->change;
        followed->stamp_known = !*foreign;
        followed->stamp = *stamp;
    } else {
        /* The sentinel's value is read first: if the writer's own has not changed after that, no
         * other process's commit is included (architecture, section 5). */
        struct err detail = {.status = 503};
        int64_t version = -1;
        *foreign = !sentinel_read(sentinel, stamp) ||
                   !sqlite_data_version(store, &version, &detail) ||
                   version != followed->data_version;
    }
    if (*foreign)
        sqlite_saw_other(store);
}

/* Whether the WAL at its path contains the last commit and all earlier ones. */
static bool is_wal_whole(struct sqlite_store *store)
{
    struct sentinel *sentinel = store->sentinel;
    sqlite3_file *wal = NULL;
    if (sentinel == NULL)
        return true;
    if (!sentinel_has_wal(sentinel))
        return false;
    sqlite3_file_control(store->writer.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    return !store->transaction.stamp_known || wal == NULL || wal->pMethods == NULL ||
           sentinel_has_frames(sentinel, wal, &store->transaction.stamp);
}

/* The transaction has ended with COMMIT, of which it is not known whether it will last. */
static enum store_result resolve(struct sqlite_store *store,
                                 const unsigned char mark[static MARK_LEN],
                                 const struct err *failure, struct err *err)
{
    enum store_result result = sqlite_resolve_commit(store, mark, err->arena);
    if (result != STORE_OK)
        err_set(err, failure->status, failure->code, "%.*s%s", SLICE_ARG(failure->message),
                result == STORE_UNKNOWN ? "; it is not known whether the write was made" : "");
    return result;
}

static enum store_result end_commit(struct sqlite_store *store,
                                    const unsigned char mark[static MARK_LEN],
                                    struct store_stamp *stamp, bool *foreign, struct err *err)
{
    struct transaction *transaction = &store->transaction;
    struct err failure = {.arena = err->arena};
    bool ok = sqlite_run(store, STATEMENT_COMMIT, &failure);
    if (!ok && transaction->broken) {
        sqlite_forget_transaction(store);
        *foreign = true;
        return resolve(store, mark, &failure, err);
    }
    if (!ok) {
        err_set_text(err, failure.status, failure.code, failure.message);
        sqlite_end_transaction(store);
        return STORE_FAILED;
    }
    sqlite_forget_transaction(store);
    if (!is_wal_whole(store) && !sqlite_salvage_commit(store)) {
        store->followed.valid = false;
        err_set(err, 503, NULL,
                "the database '%s' lost its WAL; it is not known whether the write was made",
                store->path);
        return STORE_UNKNOWN;
    }
    take_stamp(store, stamp, foreign);
    sqlite_plan_leaving_free(store);
    return STORE_OK;
}

static enum store_result write_batch(struct sqlite_store *store, const struct store_batch *batch,
                                     struct store_stamp *stamp, bool *foreign, struct err *err)
{
    unsigned char mark[MARK_LEN];
    memcpy(mark, store->instance, sizeof(store->instance));
    memcpy(mark + sizeof(store->instance), &store->batches, sizeof(store->batches));
    store->batches++;
    enum store_result result = sqlite_apply(store, batch, err);
    log_append_all(&store->transaction.touched, batch->changes, batch->ends[batch->requests - 1]);
    if (result == STORE_OK && !write_log(store, mark, err))
        result = STORE_FAILED;
    if (result == STORE_OK)
        return end_commit(store, mark, stamp, foreign, err);
    sqlite_end_transaction(store);
    return result;
}

/* Takes the lock, unless it is held, and finds out whether memory is as new as the database. */
static enum store_result lock_and_examine(struct sqlite_store *store, struct err *err)
{
    enum store_lock locked = STORE_LOCKED;
    while (!store->transaction.is_locked && (locked = sqlite_lock(store, err)) == STORE_LOCK_HELD)
        ;
    if (locked == STORE_LOCK_FAILED)
        return STORE_FAILED;
    if (store->transaction.is_in_memory || sqlite_examine(store, err) != STORE_NEWS_FAILED)
        return STORE_OK;
    sqlite_end_transaction(store);
    return STORE_FAILED;
}

enum store_result sqlite_commit(struct sqlite_store *store, const struct store_batch *batch,
                                struct store_stamp *stamp, bool *foreign, struct err *err)
{
    const struct transaction *transaction = &store->transaction;
    check(!transaction->is_reading);
    if (lock_and_examine(store, err) != STORE_OK)
        return STORE_FAILED;
    if (!transaction->is_in_memory || !store->followed.valid) {
        err_set(err, 503, NULL, "other processes keep writing to the database '%s'", store->path);
        sqlite_end_transaction(store);
        return STORE_TAKEN;
    }
    if (batch->requests > 0 && batch->ends[batch->requests - 1] > 0)
        return write_batch(store, batch, stamp, foreign, err);
    *foreign = !sqlite_read_stamp(store, stamp);
    sqlite_end_transaction(store);
    return STORE_OK;
}
