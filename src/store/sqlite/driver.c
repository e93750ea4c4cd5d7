/* The driver of SQLite: the functions of store.h, each in the file that its name suggests. */
#include "store/sqlite/internal.h"
#include "store/value_limits.h"

static struct store *driver_open(const struct store_options *options, struct err *err)
{
    struct sqlite_store *store = sqlite_open(options, err);
    if (store == NULL)
        return NULL;
    store->base.driver = &sqlite_driver;
    return &store->base;
}

static void driver_close(struct store *store)
{
    sqlite_close(sqlite_of(store));
}

static enum store_news driver_begin_read(struct store *store, struct err *err)
{
    return sqlite_begin_read(sqlite_of(store), err);
}

static enum store_result driver_load(struct store *store, store_sink *sink, void *cls,
                                     struct err *err)
{
    return sqlite_load(sqlite_of(store), sink, cls, err);
}

static enum store_result driver_merge(struct store *store, const struct store_comparer *comparer,
                                      store_sink *sink, void *cls, bool *merged, struct err *err)
{
    return sqlite_merge(sqlite_of(store), comparer, sink, cls, merged, err);
}

static enum store_result driver_follow(struct store *store, const struct memory_view *memory,
                                       store_sink *sink, void *cls, struct err *err)
{
    (void)memory;
    return sqlite_follow(sqlite_of(store), sink, cls, err);
}

static bool driver_check_schema(struct store *store, char revision[static STORE_REVISION_BYTES],
                                struct err *err)
{
    return sqlite_check_schema(sqlite_of(store), revision, err);
}

static bool driver_end_read(struct store *store, struct store_stamp *stamp)
{
    return sqlite_end_read(sqlite_of(store), stamp);
}

/* The lock is that of the file, and memory is compared with it under the lock. */
static bool driver_reads_first(const struct store *store)
{
    (void)store;
    return false;
}

static bool driver_locks_first(const struct store *store)
{
    return sqlite_locks_first(sqlite_of_const(store));
}

static enum store_lock driver_lock(struct store *store, struct err *err)
{
    return sqlite_lock(sqlite_of(store), err);
}

static void driver_unlock(struct store *store)
{
    sqlite_unlock(sqlite_of(store));
}

static int64_t driver_next_id(struct store *store, enum store_table table)
{
    return sqlite_next_id(sqlite_of(store), table);
}

static void driver_reuse_ids(struct store *store)
{
    sqlite_reuse_ids(sqlite_of(store));
}

static bool driver_is_taken(const struct store *store, enum change_kind kind, unsigned field,
                            struct slice text)
{
    return sqlite_is_taken(sqlite_of_const(store), kind, field, text);
}

static enum store_result driver_commit(struct store *store, const struct store_batch *batch,
                                       struct store_stamp *stamp, bool *foreign, struct err *err)
{
    return sqlite_commit(sqlite_of(store), batch, stamp, foreign, err);
}

static const struct store_refusal *driver_why_refused(const struct store *store)
{
    return sqlite_why_refused(sqlite_of_const(store));
}

static enum store_currency driver_currency(const struct store *store,
                                           const struct store_stamp *stamp)
{
    return sqlite_is_current(sqlite_of_const(store), stamp) ? STORE_IS_CURRENT : STORE_IS_OUTDATED;
}

static struct store_figures driver_figures(const struct store *store)
{
    return sqlite_figures(sqlite_of_const(store));
}

static void driver_upkeep(struct store *store)
{
    sqlite_upkeep(sqlite_of(store));
}

/* SQLite reads no deeper JSON; some versions read up to 2000 levels. */
static const struct value_limits limits = {.json_depth = 1000};

static bool can_hold(const struct store *store, const struct change *change, struct err *err)
{
    (void)store;
    return value_limits_fit(&limits, change, err);
}

const struct store_driver sqlite_driver = {
    .knows_connection = sqlite_knows_connection,
    .open = driver_open,
    .close = driver_close,
    .begin_read = driver_begin_read,
    .load = driver_load,
    .merge = driver_merge,
    .follow = driver_follow,
    .check_schema = driver_check_schema,
    .end_read = driver_end_read,
    .locks_first = driver_locks_first,
    .reads_first = driver_reads_first,
    .lock = driver_lock,
    .unlock = driver_unlock,
    .next_id = driver_next_id,
    .reuse_ids = driver_reuse_ids,
    .can_hold = can_hold,
    .is_taken = driver_is_taken,
    .commit = driver_commit,
    .why_refused = driver_why_refused,
    .currency = driver_currency,
    .figures = driver_figures,
    .upkeep = driver_upkeep,
};
