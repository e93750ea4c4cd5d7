/* The answer to a query for the newest state, as news: most often another instance has committed
 * one batch of claims since memory last followed, and then the answer has all of it, so that a read
 * on this instance need not ask the database twice more.
 *
 * The row contains the digest of the one before, which memory has, so it belongs to the same
 * history; nothing else is taken from the answer. Whatever is not as simple as that is left to an
 * ordinary read. The writer only. */
#include "base/clock.h"
#include "store/server/store_internal.h"

/* Whether memory follows the log and nothing else, and has all that an ordinary read would bring.
 */
static bool can_follow(struct server_store *store)
{
    check(!store->read.is_open && store->sending == NULL);
    return !store->is_locked && store->has_state && !store->is_replaced && !store->must_remember &&
           store->suspects.count == 0 && !server_head_coexists(store->head);
}

/* Epochs are only added. */
static bool has_same_epochs(const struct server_store *store, const struct log_newest *newest)
{
    return newest->epoch == epochs_newest(&store->epochs).epoch;
}

/* Whether that is the row after the one that memory has. */
static bool continues(const struct server_store *store, const struct log_row *row)
{
    const struct slice digest = {(const char *)store->followed.digest, LOG_DIGEST_LEN};
    return row->number == store->followed.number + 1 && slice_equal(row->before, digest);
}

bool server_follow_head(struct store *base, const struct store_stamp *head, store_sink *sink,
                        void *cls)
{
    struct server_store *store = server_store_of(base);
    struct server_head_read *read = &store->head_read;
    const struct log_newest *newest = &read->news.newest;
    size_t changes = 0;
    log_rows_free(&read->news.newest.rows);
    if (!can_follow(store) || !server_head_take_news(store->head, head, &read->news) ||
        !server_is_server_of_memory(store, &read->news.server) || !has_same_epochs(store, newest) ||
        !continues(store, &newest->rows.at[0]) ||
        !log_row_state(&newest->rows.at[0], &read->state) ||
        !server_are_changes(newest->rows.at[0].entries, &changes))
        return false;
    const struct store_stamp stamp = log_state_stamp(&read->state, store->foreign.taken);
    if (memcmp(&stamp, head, sizeof(stamp)) != 0)
        return false;
    server_pass_changes(store, newest->rows.at[0].entries, sink, cls);
    return true;
}

bool server_take_head(struct store *base)
{
    struct server_store *store = server_store_of(base);
    struct server_head_read *read = &store->head_read;
    check(read->news.newest.rows.count > 0 && read->state.number == store->followed.number + 1);
    if (!server_head_note(store->head, &read->state, NULL, &read->news.server, true))
        return false;
    server_note_seen(store, &read->state);
    epochs_note_same(&store->epochs);
    turns_note(&store->turns, store->instance, read->state.number, read->state.mark,
               clock_monotonic_us());
    server_have(store, &read->state, false);
    counter_set(&store->log_head, (uint64_t)read->state.number);
    return true;
}
