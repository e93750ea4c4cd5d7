/* Ends transactions that have written nothing. The writer only. */
#include "store/sqlite/internal.h"

void sqlite_forget_transaction(struct sqlite_store *store)
{
    struct transaction *transaction = &store->transaction;
    transaction->open = transaction->is_locked = transaction->is_reading = false;
}

void sqlite_end_transaction(struct sqlite_store *store)
{
    sqlite_forget_transaction(store);
    if (store->writer.handle != NULL && !sqlite3_get_autocommit(store->writer.handle)) {
        struct err ignored = {.status = 503};
        if (!sqlite_run(store, STATEMENT_ROLLBACK, &ignored))
            store->transaction.broken = true;
    }
    if (store->transaction.broken)
        sqlite_disconnect_writer(store, true);
}

bool sqlite_read_stamp(struct sqlite_store *store, struct store_stamp *stamp)
{
    const struct transaction *transaction = &store->transaction;
    bool has_state = store->followed.valid && transaction->is_in_memory;
    *stamp = (struct store_stamp){0};
    if (store->in_memory) {
        uint64_t commits = store->commits;
        memcpy(stamp->bytes, &commits, sizeof(commits));
        return has_state;
    }
    *stamp = transaction->stamp;
    if (!has_state || !transaction->stamp_known)
        return false;
    const struct sentinel *sentinel = store->sentinel;
    if (sentinel != NULL && sentinel->index != NULL) {
        store->followed.stamp = *stamp;
        store->followed.stamp_known = true;
    }
    return true;
}

bool sqlite_end_read(struct sqlite_store *store, struct store_stamp *stamp)
{
    struct transaction *transaction = &store->transaction;
    check(transaction->is_reading);
    bool has_state = sqlite_read_stamp(store, stamp);
    transaction->is_reading = false;
    if (!transaction->is_locked)
        sqlite_end_transaction(store);
    return has_state && sqlite_is_current(store, stamp);
}

void sqlite_unlock(struct sqlite_store *store)
{
    check(!store->transaction.is_reading);
    if (store->transaction.is_locked)
        sqlite_end_transaction(store);
}
