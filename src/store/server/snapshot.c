/* The log's rows and the snapshot of a read, in a session of its own. The writer only.
 *
 * A server may end a transaction that only reads: a Galera node does so when somebody changes a
 * table that the transaction has read from, as with each trigger of "db coexist". Then the same is
 * read in the next transaction, soon. */
#include "base/clock.h"
#include "base/wait.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum { ENDED_PAUSE_US = 2000 };

struct log_range server_since(const struct server_store *store)
{
    return (struct log_range){.from =
                                  store->followed.number > 0 ? store->followed.number : INT64_MAX,
                              .most = SERVER_FOLLOWED_ROWS_MOST + 1};
}

static bool take_snapshot(struct server_store *store, struct snapshot_answer *answer,
                          struct err *err)
{
    const struct snapshot_question question = {
        .since = server_since(store),
        .view = server_head_coexists(store->head) ? &store->foreign : NULL,
        .is_view_of_server = server_is_view_of_server(store),
    };
    store->read.highest_before = server_head_highest(store->head);
    bool ok = store->follower->dialect->snapshot_begin(store->follower, &question, answer,
                                                       server_deadline(store), err) == SERVER_OK;
    if (!ok) {
        server_head_note_seen(store->head, answer->newest.seen);
        server_session_close(store->follower);
    }
    return ok;
}

/* Others have changed what it was reading. */
static bool was_ended(const struct server_store *store)
{
    return server_session_reason(store->follower) == SERVER_REASON_CONFLICT;
}

enum store_result server_read_failed(const struct server_store *store)
{
    bool may_succeed = store->read.is_overtaken || store->missing.count > 0 || was_ended(store);
    return may_succeed ? STORE_TAKEN : STORE_FAILED;
}

/* A connection that was idle may have ended: then a new one serves as well. */
bool server_begin_snapshot(struct server_store *store, struct snapshot_answer *answer,
                           struct err *err)
{
    struct server_session *session = store->follower;
    server_session_notice_end(session);
    bool was_open = server_session_is_open(session);
    uint64_t soon_us = clock_monotonic_us() + store->timeout_us / 2;
    if (!server_ensure_session(store, session, err))
        return false;
    while (!take_snapshot(store, answer, err)) {
        bool is_ended = was_ended(store);
        if ((!was_open && !is_ended) || clock_monotonic_us() > soon_us)
            return false;
        was_open = false;
        if (is_ended)
            wait_sleep_us(ENDED_PAUSE_US);
        snapshot_answer_free(answer);
        *err = (struct err){.arena = err->arena};
        if (!server_ensure_session(store, session, err))
            return false;
    }
    return true;
}

bool server_read_head(struct server_store *store, struct snapshot_answer *answer,
                      struct log_state *head, struct err *err)
{
    enum log_found found = log_newest_state(&answer->newest, NULL, head);
    epochs_note(&store->epochs, &answer->epochs);
    if (found == LOG_FOUND_STANDBY)
        server_session_close(store->follower); /* the next one may lead to the primary */
    if (found == LOG_FOUND_STATE)
        server_head_note_snapshot(store->head, store->read.highest_before, head->number);
    if (found != LOG_FOUND_FOREIGN)
        return found == LOG_FOUND_STATE || server_refuse_standby(store, err);
    return err_set(err, 503, NULL,
                   "the database '%.*s' cannot be used: another program wrote to berth_log; delete "
                   "its rows",
                   SLICE_ARG(store->address.target));
}

/* The session through which the open read has learnt of its state. */
static struct server_session *session_of(const struct server_store *store)
{
    return store->read.has_snapshot ? store->follower : store->writer;
}

bool server_is_server_of_memory(const struct server_store *store, const struct server_id *server)
{
    return server->system == store->examined_system && server->timeline == store->examined_timeline;
}

bool server_is_other_cluster(const struct server_store *store)
{
    return !server_is_server_of_memory(store, &(session_of(store))->id);
}

bool server_need_snapshot(struct server_store *store, struct err *err)
{
    struct snapshot_answer answer = {0};
    struct log_state state;
    check(store->read.is_open);
    if (store->read.has_snapshot)
        return true;
    bool ok =
        server_begin_snapshot(store, &answer, err) && server_read_head(store, &answer, &state, err);
    snapshot_answer_free(&answer);
    bool is_same_system = store->follower->id.system == store->writer->id.system;
    store->read.has_snapshot = ok && is_same_system && log_state_equal(&state, &store->read.head);
    store->read.is_overtaken = ok && is_same_system && !store->read.has_snapshot;
    return store->read.has_snapshot ||
           (ok ? err_set(err, 503, NULL, "other processes keep writing to the database '%.*s'",
                         SLICE_ARG(store->address.target))
               : false);
}

void server_free_read(struct server_store *store)
{
    log_entries_free(&store->read.to_follow);
    log_rows_free(&store->read.since);
    foreign_view_free(&store->read.foreign);
}

void server_have(struct server_store *store, const struct log_state *state, bool went_back)
{
    epochs_take(&store->epochs, went_back ? store->followed.number : 0);
    store->told_gone = 0;
    counter_set(&store->epoch, (uint64_t)epochs_newest(&store->epochs).epoch);
    store->followed = *state;
    store->has_read = true;
    store->has_state = true;
    if (went_back)
        store->must_remember = true;
    else
        server_remember(store);
}

/* Who has written the rows that memory did not have. */
static void note_writers(struct server_store *store)
{
    const struct log_rows *since = &store->read.since;
    for (size_t i = 0; i < since->count; i++)
        if (since->at[i].number > store->followed.number && since->at[i].mark.len == LOG_MARK_LEN)
            turns_note(&store->turns, store->instance, since->at[i].number,
                       (const unsigned char *)since->at[i].mark.data, clock_monotonic_us());
}

bool server_mark_read(struct server_store *store, bool is_continued, struct err *err)
{
    check(store->sending == NULL);
    const struct foreign_view *view = server_foreign_view(store, is_continued);
    const struct server_id *server = &(session_of(store))->id;
    if (!server_head_note(store->head, &store->read.head, view, server, is_continued))
        return server_refuse_replaced(store, "read", err);
    server_take_foreign(store);
    if (!is_continued) {
        server_distrust_ids(store); /* it may have gone back, and its sequences with it */
        server_note_load(store);
    }
    note_writers(store);
    server_have(store, &store->read.head, store->read.went_back);
    return true;
}
