/* The news: a snapshot in a session of its own, and what has happened since memory last read the
 * database. The writer only.
 *
 * The log is read from the row that memory has on. If that row is no longer there, or not the same,
 * the database went back: a backup was restored, or a failover has lost commits.
 *
 * While the writer holds the lock, it has read the log's rows in the round trip that took it, and
 * nobody adds any: tables are read only if these rows are not enough (follow.c), and only then is
 * there a snapshot. Where other programs' writes are noted (foreign.c), there always is one. */
#include "store/server/store_internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "log/log.h"
#include "store/load.h"
#include "store/merge.h"

/* Of another history with as many batches, it is only known that the newest is gone. */
static uint64_t lost_batches(const struct server_store *store)
{
    int64_t lost = store->followed.number - store->read.head.number;
    return lost > 1 ? (uint64_t)lost : 1;
}

/* " on the node NAME", of a cluster. */
static struct slice write_node(const struct server_store *store, char *out, size_t room)
{
    const char *node = store->follower->node;
    int len = node[0] == '\0' ? 0 : snprintf(out, room, " on the node %s", node);
    return (struct slice){out, (size_t)len};
}

/* Once for each state: until memory has been read again, each read finds the same. */
static void tell_gone(struct server_store *store)
{
    char node[SERVER_NODE_BYTES + sizeof(" on the node ")];
    if (store->told_gone == store->followed.number)
        return;
    store->told_gone = store->followed.number;
    store->gone = (struct store_going_back){.had = store->followed.number,
                                            .has = store->read.head.number,
                                            .database = store->address.target};
    counter_add(&store->lost_batches, lost_batches(store));
    log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
              "the database '%.*s' went back: it no longer has batch %lld, which %s; its newest "
              "batch%.*s is %lld",
              SLICE_ARG(store->address.target), (long long)store->followed.number,
              store->has_read ? "memory has" : "this berthd had before it was restarted",
              SLICE_ARG(write_node(store, node, sizeof(node))), (long long)store->read.head.number);
}

/* Whether the database no longer has the state that memory has. If only newer rows are there, the
 * state's own has been pruned, and that is not known. */
static bool is_gone(const struct server_store *store, const struct log_rows *since)
{
    struct log_state first;
    if (store->followed.number == 0)
        return false;
    if (since->count == 0)
        return true;
    return since->at[0].number == store->followed.number &&
           !(log_row_state(&since->at[0], &first) && log_state_equal(&first, &store->followed));
}

/* An empty log that memory has read has no row of its own. */
static bool is_still_empty(const struct server_store *store)
{
    return store->followed.number == 0 && store->read.head.number == 0;
}

static enum store_news find_news(struct server_store *store)
{
    const struct log_rows *since = &store->read.since;
    bool is_same = is_still_empty(store) || log_state_equal(&store->read.head, &store->followed);
    if (store->has_state && is_same && (store->suspects.count > 0 || store->read.has_foreign))
        return STORE_NEWS_FOLLOW;
    if (store->has_state && is_same) {
        server_note_no_foreign(store);
        return STORE_NEWS_NONE;
    }
    if (store->has_state && server_explains(store))
        return STORE_NEWS_FOLLOW;
    store->read.went_back = is_gone(store, since);
    if (!store->read.went_back)
        return STORE_NEWS_RELOAD;
    tell_gone(store);
    return STORE_NEWS_WENT_BACK;
}

static bool read_newest(struct server_store *store, struct snapshot_answer *answer, struct err *err)
{
    if (!store->read.has_snapshot)
        return true;
    if (!server_begin_snapshot(store, answer, err) ||
        !server_read_head(store, answer, &store->read.head, err))
        return false;
    store->read.since = answer->since;
    answer->since = (struct log_rows){0};
    return true;
}

/* A table that is newer than the snapshot looks empty. While a restore replaces all tables in one
 * transaction, a read waits for it, with a snapshot from before, and then finds nothing. So what
 * seems to be gone is looked for once more, in a newer snapshot. */
static bool read_again_if_gone(struct server_store *store, struct snapshot_answer *answer,
                               struct err *err)
{
    if (!store->read.has_snapshot || !is_gone(store, &store->read.since))
        return true;
    snapshot_answer_free(answer);
    server_free_read(store);
    struct server_session *session = store->follower;
    if (session->dialect->rollback(session, "read", server_deadline(store), err) != SERVER_OK) {
        server_session_close(session);
        return false;
    }
    return read_newest(store, answer, err);
}

enum { READ_AGAIN_US = 1000000, AFTER_FAILURE_US = 5000000 };

/* Nobody else may take the news, because the log's newest row is still that of memory. */
bool server_should_read(const struct store *base)
{
    const struct server_store *store = server_store_of_const(base);
    return (!store->has_state || store->suspects.count > 0) && !store->is_locked &&
           !store->read.is_open && clock_monotonic_us() >= store->read_again_us;
}

enum store_news server_begin_read(struct store *base, struct err *err)
{
    struct server_store *store = server_store_of(base);
    struct snapshot_answer answer = {0};
    enum store_news news = STORE_NEWS_FAILED;
    check(!store->read.is_open);
    if (store->must_remember)
        server_remember(store);
    server_free_read(store);
    store->read = (struct server_read){0};
    store->read.has_snapshot = !server_take_locked_news(store);
    if (server_create_missing(store, err) && read_newest(store, &answer, err) &&
        read_again_if_gone(store, &answer, err)) {
        store->has_state &=
            !server_is_other_cluster(store) && !atomic_exchange(&store->is_replaced, false);
        server_read_foreign(store, &answer.notes);
        news = find_news(store);
        store->read.is_open = true;
        if (store->is_locked && store->read.head.number > store->followed.number)
            store->crowded = SERVER_CROWDED;
        counter_set(&store->log_head, (uint64_t)store->read.head.number);
    }
    store->read_again_us =
        clock_monotonic_us() + (news == STORE_NEWS_FAILED ? AFTER_FAILURE_US : READ_AGAIN_US);
    snapshot_answer_free(&answer);
    return news;
}

/* After a failure: whether memory has the state that it counts as having. What this read has
 * followed before is lost with the failure. */
static bool keeps_state(const struct server_store *store)
{
    return !store->read.has_followed && (store->read.is_overtaken || store->missing.count > 0);
}

static bool stream_all(struct server_store *store, struct tree_order *forest, store_sink *sink,
                       void *cls, struct err *err)
{
    const struct row_reader reader = server_row_reader(&store->reader);
    bool ok = server_need_snapshot(store, err);
    const struct server_id id = ok ? store->follower->id : (struct server_id){0};
    store->examined_system = id.system;
    store->examined_timeline = id.timeline;
    ok = ok &&
         store->follower->dialect->check_restored(store->follower, server_deadline(store), err) ==
             SERVER_OK &&
         server_look_at_snapshot(store, &store->load_horizon, err) &&
         load_stream(&reader, forest, &store->skipped, server_missing(store), sink, cls, err);
    counter_set(&store->skipped_rows, store->skipped.rows.count);
    ok = ok && server_is_whole(store, err);
    store->has_state &= ok || keeps_state(store);
    return ok;
}

enum store_result server_load(struct store *base, store_sink *sink, void *cls, struct err *err)
{
    struct server_store *store = server_store_of(base);
    struct tree_order forest = {0};
    bool ok = stream_all(store, &forest, sink, cls, err);
    tree_order_free(&forest);
    ok = ok && server_mark_read(store, false, err);
    if (ok)
        log_entries_free(&store->suspects);
    return ok ? STORE_OK : server_read_failed(store);
}

/* Passes on what a merge reads, and names consumers that memory does not know: the comparison has
 * only their ids. */
struct naming {
    struct server_store *store;
    store_sink *sink;
    void *cls;
};

static void name_and_pass(void *cls, const struct change *change)
{
    const struct naming *naming = cls;
    if (change->kind == CHANGE_CONSUMER_INSERT) {
        const struct difference consumer = {ENTITY_CONSUMER, .id = change->consumer.id,
                                            .uuid = change->consumer.uuid};
        server_name_in_log(naming->store, &consumer);
    }
    naming->sink(naming->cls, change);
}

enum store_result server_merge(struct store *base, const struct store_comparer *comparer,
                               store_sink *sink, void *cls, bool *merged, struct err *err)
{
    struct server_store *store = server_store_of(base);
    struct tree_order forest = {0};
    *merged = false;
    bool ok = stream_all(store, &forest, comparer->compare, comparer->cls, err);
    const struct differences *differences = ok ? comparer->end(comparer->cls) : NULL;
    if (differences != NULL) {
        for (size_t i = 0; i < differences->count; i++)
            server_name_in_log(store, &differences->items[i]);
        const struct row_reader reader = server_row_reader(&store->reader);
        struct naming naming = {store, sink, cls};
        ok = merge_read(&reader, &forest, differences, name_and_pass, &naming, err);
        *merged = ok;
    }
    tree_order_free(&forest);
    ok = ok && (!*merged || server_mark_read(store, false, err));
    *merged &= ok;
    if (*merged)
        log_entries_free(&store->suspects);
    store->has_state &= ok || keeps_state(store);
    return ok ? STORE_OK : server_read_failed(store);
}

bool server_end_read(struct store *base, struct store_stamp *stamp)
{
    struct server_store *store = server_store_of(base);
    struct err ignored = server_ignored(store);
    check(store->read.is_open);
    store->read.is_open = false;
    if (store->read.has_followed)
        server_end_suspicion(store);
    *stamp = log_state_stamp(&store->read.head, store->foreign.taken);
    server_free_read(store);
    server_session_rollback(store->follower, "read", server_deadline(store), &ignored);
    return store->has_state && log_state_equal(&store->followed, &store->read.head);
}
