/* The lock of the next batch, for batches that are planned under it.
 *
 * After a batch came too late, batches are planned under the lock, so that loaded instances take
 * turns, until some in a row had no news to follow. The statement that takes it may wait for
 * another instance on the server; the writer looks for its answer now and then. The writer only.
 */
#include "base/clock.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum {
    LOCK_WAITS_MOST = 3, /* times the longer of the store's time limits */
    CALL_MS = 5,         /* for which one call waits */
};

bool server_locks_first(const struct store *base)
{
    return server_store_of_const(base)->crowded > 0;
}

struct store_turn server_turn(const struct store *base)
{
    const struct server_store *store = server_store_of_const(base);
    return turns_next(&store->turns, turns_node(store->writer->node), clock_monotonic_us());
}

/* Nobody reads these rows before the writer takes them, and they may be lost by then. Those of a
 * connection that is not the session's own cannot be taken, but somewhere they were there. */
static void note_seen(const struct server_store *store)
{
    const struct log_rows *since = &store->locked_news.since;
    if (since->count > 0)
        server_head_note_seen(store->head, since->at[since->count - 1].number);
}

static bool send_lock(struct server_store *store, struct err *err)
{
    const struct log_range since = server_since(store);
    store->lock_deadline_us = server_lock_deadline(store);
    return server_ensure_writer(store, err) &&
           store->writer->dialect->lock_send(store->writer, &since, err) == SERVER_OK;
}

/* A connection that ended meanwhile is replaced, once. */
static enum store_lock lock_failed(struct server_store *store, enum server_outcome outcome,
                                   struct err *err)
{
    bool is_answer = outcome == SERVER_FAILED || outcome == SERVER_RETRY;
    enum server_reason reason =
        is_answer ? server_session_reason(store->writer) : SERVER_REASON_OTHER;
    bool is_held = reason == SERVER_REASON_LOCKED;
    bool is_lost = outcome == SERVER_LOST && !store->has_lost_lock;
    counter_add(&store->lock_conflicts, reason == SERVER_REASON_CONFLICT);
    uint64_t now_us = clock_monotonic_us();
    server_session_close(store->writer);
    note_seen(store);
    locked_news_free(&store->locked_news);
    store->is_locking = false;
    if (store->wanted_us == 0)
        store->wanted_us = now_us;
    uint64_t limit_us =
        store->stalled_us > store->timeout_us ? store->stalled_us : store->timeout_us;
    bool may_pass = (is_held || reason == SERVER_REASON_CONFLICT) &&
                    now_us - store->wanted_us < LOCK_WAITS_MOST * limit_us;
    if (may_pass && is_held)
        server_end_stalled(store);
    if (!may_pass && !is_lost) {
        store->wanted_us = 0;
        store->has_lost_lock = false;
        return STORE_LOCK_FAILED;
    }
    store->has_lost_lock |= is_lost;
    *err = (struct err){.arena = err->arena};
    return STORE_LOCK_HELD;
}

enum store_lock server_lock(struct store *base, struct err *err)
{
    struct server_store *store = server_store_of(base);
    check(!store->is_locked && !store->read.is_open && store->sending == NULL);
    if (!store->is_locking && !send_lock(store, err))
        return lock_failed(store, SERVER_RETRY, err);
    store->is_locking = true;
    uint64_t until_us = clock_monotonic_us() + CALL_MS * UINT64_C(1000);
    enum server_outcome outcome = store->writer->dialect->lock_drive(
        store->writer, &store->locked_news, until_us, store->lock_deadline_us, err);
    if (outcome == SERVER_WOKEN)
        return STORE_LOCK_HELD;
    if (outcome != SERVER_OK)
        return lock_failed(store, outcome, err);
    store->is_locking = store->has_lost_lock = false;
    store->is_locked = true;
    note_seen(store);
    store->wanted_us = 0;
    return STORE_LOCKED;
}

void server_unlock(struct store *base)
{
    struct server_store *store = server_store_of(base);
    struct err ignored = server_ignored(store);
    locked_news_free(&store->locked_news);
    if (store->is_locking)
        server_session_close(store->writer); /* the server ends the statement */
    store->is_locking = store->is_locked = false;
    server_session_rollback(store->writer, "unlocked", server_deadline(store), &ignored);
}
