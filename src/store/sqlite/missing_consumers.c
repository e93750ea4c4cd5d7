/* See store/missing_consumers.h. The rows are written by a transaction of their own, as by another
 * program: the next read reads everything. The writer only. */
#include "store/missing_consumers.h"

#include "store/sqlite/internal.h"
#include "store/sqlite/repair.h"

struct missing_consumers *sqlite_missing(struct sqlite_store *store)
{
    return store->completes_consumers && !store->read_only ? &store->missing : NULL;
}

static bool missing_consumers_create(struct sqlite_store *store, int64_t *created, struct err *err)
{
    bool ok = sqlite_run(store, STATEMENT_BEGIN, err) &&
              sqlite_create_missing(&store->writer, &store->owner, INT64_MAX, created, err) &&
              sqlite_run(store, STATEMENT_COMMIT, err);
    store->followed.valid = false;
    if (!ok)
        sqlite_end_transaction(store);
    return ok;
}

bool sqlite_create_found(struct sqlite_store *store, struct err *err)
{
    int64_t created = 0;
    if (store->missing.count == 0 || store->transaction.is_locked)
        return true;
    if (!sqlite_ensure_file(store, err))
        return false;
    store->transaction.broken = false;
    if (!store->read_only && !missing_consumers_create(store, &created, err))
        return false;
    if (created > 0)
        missing_consumers_log(&store->missing, (uint64_t)created, slice_of(store->path));
    missing_consumers_free(&store->missing);
    return true;
}
