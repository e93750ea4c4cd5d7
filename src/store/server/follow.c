/* Follows the log: each row since the state that memory has contains the digest of the one before
 * it, and either what its batch has changed, or the changes themselves (store/log_changes.h). If
 * all rows have the changes, no table is read. A change that does not fit into memory, because
 * another program has written, is suspected by the caller, which follows again: then the tables are
 * read. The writer only. */
#include "base/clock.h"
#include "store/log_changes.h"
#include "store/reread.h"
#include "store/server/store_internal.h"

void server_note_seen(struct server_store *store, const struct log_state *next)
{
    if (store->seen.at_us != 0)
        return;
    store->seen.at_us = clock_monotonic_us();
    store->seen.number = next->number;
    memcpy(store->seen.mark, next->mark, LOG_MARK_LEN);
}

static bool count_change(void *cls, const struct change *change)
{
    size_t *count = cls;
    (void)change;
    return ++*count <= LOG_ENTRIES_MAX;
}

bool server_are_changes(struct slice blob, size_t *count)
{
    return blob.len == 0 || (log_changes_is(blob) && log_changes_read(blob, count_change, count));
}

/* The entities that the rows after the first name. */
static bool collect_entries(struct server_store *store)
{
    bool ok = true;
    for (size_t i = 1; ok && i < store->read.since.count; i++)
        ok = log_parse(store->read.since.at[i].entries, &store->read.to_follow);
    store->read.has_changes = false;
    return ok;
}

/* The first row is the state's own. */
bool server_explains(struct server_store *store)
{
    const struct log_rows *since = &store->read.since;
    struct log_state state = {0};
    size_t changes = 0;
    bool has_changes = true;
    for (size_t i = 0; i < since->count; i++) {
        const struct log_row *row = &since->at[i];
        struct log_state next;
        if (!log_row_state(row, &next))
            return false;
        if (i == 0 && !log_state_equal(&next, &store->followed))
            return false;
        if (i == 1)
            server_note_seen(store, &next);
        if (i > 0 && (next.number != state.number + 1 ||
                      memcmp(row->before.data, state.digest, LOG_DIGEST_LEN) != 0))
            return false;
        has_changes &= i == 0 || server_are_changes(row->entries, &changes);
        state = next;
    }
    store->read.has_changes = has_changes;
    return state.number > 0 && log_state_equal(&state, &store->read.head) &&
           (has_changes || collect_entries(store));
}

struct passing {
    struct server_store *store;
    store_sink *sink;
    void *cls;
};

static bool pass_change(void *cls, const struct change *change)
{
    const struct passing *passing = cls;
    if (change->kind == CHANGE_CONSUMER_INSERT)
        server_note_id(passing->store, ROWS_CONSUMERS, change->consumer.id);
    if (change->kind == CHANGE_ALLOCATION_INSERT)
        server_note_id(passing->store, ROWS_ALLOCATIONS, change->allocation.id);
    passing->sink(passing->cls, change);
    return true;
}

void server_pass_changes(struct server_store *store, struct slice blob, store_sink *sink, void *cls)
{
    struct passing passing = {store, sink, cls};
    if (blob.len > 0)
        check(log_changes_read(blob, pass_change, &passing));
}

static void pass_all_changes(struct server_store *store, store_sink *sink, void *cls)
{
    for (size_t i = 1; i < store->read.since.count; i++)
        server_pass_changes(store, store->read.since.at[i].entries, sink, cls);
}

static bool reread(struct server_store *store, const struct memory_view *memory, store_sink *sink,
                   void *cls, struct err *err)
{
    const struct row_reader reader = server_row_reader(&store->reader);
    if (store->read.has_changes)
        check(collect_entries(store)); /* no more of them than changes, which were counted */
    return server_need_snapshot(store, err) &&
           reread_entries(&reader, &store->read.to_follow, &store->suspects, memory,
                          server_missing(store), sink, cls, err) &&
           server_is_whole(store, err);
}

enum store_result server_follow(struct store *base, const struct memory_view *memory,
                                store_sink *sink, void *cls, struct err *err)
{
    struct server_store *store = server_store_of(base);
    check(store->read.is_open);
    bool from_log = store->read.has_changes && !store->read.has_foreign &&
                    store->suspects.count == 0 && !store->read.has_followed;
    if (from_log)
        pass_all_changes(store, sink, cls);
    if ((!from_log && !reread(store, memory, sink, cls, err)) ||
        !server_mark_read(store, true, err)) {
        store->has_state &= !store->read.has_followed; /* memory does not have what that sent */
        return server_read_failed(store);
    }
    store->read.has_followed = true;
    return STORE_OK;
}
