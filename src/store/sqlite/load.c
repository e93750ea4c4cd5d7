/* Brings memory to the state that the open transaction sees. Writer thread, inside its
 * transaction. */
#include <stdio.h>

#include "store/follow.h"
#include "store/load.h"
#include "store/merge.h"
#include "store/sqlite/row_reader.h"

/* A load reads each page once. The cache's pages lie among the rows that memory keeps, so the
 * memory of a larger cache is not returned afterwards (8 MiB cost 640 bytes per host with 10 000).
 * Writes access pages all over the file: with a quarter of it in the cache, a claim takes an eighth
 * less time (measured with 100 000 allocations). */
enum { LOAD_SHARE = 64, LOAD_MIN_KIB = 1024, LOAD_MAX_KIB = 8192 };
enum { WRITE_SHARE = 4, WRITE_MIN_KIB = 8192, WRITE_MAX_KIB = 262144 };

/* That fraction of the file, within limits. */
static bool size_cache(struct sqlite_store *store, int share, int64_t min_kib, int64_t max_kib,
                       struct err *err)
{
    int64_t pages = 0;
    int64_t page_bytes = 0;
    if (!db_query_int(&store->writer, "PRAGMA page_count", &pages, err) ||
        !db_query_int(&store->writer, "PRAGMA page_size", &page_bytes, err))
        return false;
    int64_t kib = pages * page_bytes / 1024 / share;
    kib = kib < min_kib ? min_kib : kib > max_kib ? max_kib : kib;
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA cache_size = -%ld", kib);
    return db_exec(&store->writer, sql, err);
}

static bool load_rows(struct sqlite_store *store, struct tree_order *forest, store_sink *sink,
                      void *cls, struct err *err)
{
    const struct row_reader reader = sqlite_row_reader(store);
    return size_cache(store, LOAD_SHARE, LOAD_MIN_KIB, LOAD_MAX_KIB, err) &&
           load_stream(&reader, forest, &store->skipped, sqlite_missing(store), sink, cls, err) &&
           sqlite_read_next_ids(store, err) &&
           size_cache(store, WRITE_SHARE, WRITE_MIN_KIB, WRITE_MAX_KIB, err);
}

static bool stream_all(struct sqlite_store *store, struct tree_order *forest, store_sink *sink,
                       void *cls, struct err *err)
{
    check(store->transaction.is_reading);
    bool ok = load_rows(store, forest, sink, cls, err) &&
              missing_consumers_are_none(&store->missing, slice_of(store->path), err);
    counter_set(&store->skipped_rows, store->skipped.rows.count);
    sqlite3_db_release_memory(store->writer.handle);
    if (!ok)
        store->followed.valid = false;
    return ok;
}

/* STORE_TAKEN if it may succeed in the next read. */
static enum store_result read_failed(const struct sqlite_store *store)
{
    return store->missing.count > 0 ? STORE_TAKEN : STORE_FAILED;
}

enum store_result sqlite_load(struct sqlite_store *store, store_sink *sink, void *cls,
                              struct err *err)
{
    struct tree_order forest = {0};
    if (!store->mismatches.reads_again)
        store->mismatches = (struct mismatches){0};
    store->mismatches.reads_again = false;
    bool ok = stream_all(store, &forest, sink, cls, err);
    tree_order_free(&forest);
    if (!ok)
        return read_failed(store);
    sqlite_mark_followed(store);
    return STORE_OK;
}

enum store_result sqlite_merge(struct sqlite_store *store, const struct store_comparer *comparer,
                               store_sink *sink, void *cls, bool *merged, struct err *err)
{
    struct tree_order forest = {0};
    *merged = false;
    if (store->mismatches.reads_again)
        return STORE_OK;
    bool ok = stream_all(store, &forest, comparer->compare, comparer->cls, err);
    const struct differences *differences = ok ? comparer->end(comparer->cls) : NULL;
    if (differences != NULL) {
        const struct row_reader reader = sqlite_row_reader(store);
        ok = merge_read(&reader, &forest, differences, sink, cls, err);
        *merged = ok;
    }
    tree_order_free(&forest);
    if (!ok) {
        store->followed.valid = false;
        return read_failed(store);
    }
    if (*merged) {
        store->mismatches = (struct mismatches){0};
        sqlite_mark_followed(store);
    }
    return STORE_OK;
}

enum store_result sqlite_follow(struct sqlite_store *store, store_sink *sink, void *cls,
                                struct err *err)
{
    check(store->transaction.is_reading);
    const struct row_reader reader = sqlite_row_reader(store);
    if (!sqlite_read_next_ids(store, err) ||
        !follow_read(&reader, &store->transaction.to_follow, sink, cls, err))
        return STORE_FAILED;
    sqlite_mark_followed(store);
    return STORE_OK;
}
