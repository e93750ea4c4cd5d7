/* Ends transactions that have written nothing. Writer thread only. */
#include "store/sqlite/internal.h"

void store_forget_transaction(struct store *store)
{
    struct transaction *transaction = &store->transaction;
    transaction->open = transaction->is_locked = transaction->is_reading = false;
}

void store_end_transaction(struct store *store)
{
    store_forget_transaction(store);
    if (store->writer.handle != NULL && !sqlite3_get_autocommit(store->writer.handle)) {
        struct err ignored = {.status = 503};
        if (!store_run(store, STATEMENT_ROLLBACK, &ignored))
            store->transaction.broken = true;
    }
    if (store->transaction.broken)
        store_disconnect_writer(store, true);
}

bool store_read_stamp(struct store *store, struct store_stamp *stamp)
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

bool store_end_read(struct store *store, struct store_stamp *stamp)
{
    struct transaction *transaction = &store->transaction;
    check(transaction->is_reading);
    bool has_state = store_read_stamp(store, stamp);
    transaction->is_reading = false;
    if (!transaction->is_locked)
        store_end_transaction(store);
    return has_state && store_is_current(store, stamp);
}

void store_unlock(struct store *store)
{
    check(!store->transaction.is_reading);
    if (store->transaction.is_locked)
        store_end_transaction(store);
}
