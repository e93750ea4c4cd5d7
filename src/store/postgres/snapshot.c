/* The log's rows and the snapshot of a read, in a session of its own. The writer only. */
#include "base/clock.h"
#include "store/postgres/exchanges.h"
#include "store/postgres/store_internal.h"

struct log_range postgres_since(const struct postgres_store *store)
{
    return (struct log_range){.from =
                                  store->followed.number > 0 ? store->followed.number : INT64_MAX,
                              .most = POSTGRES_FOLLOWED_ROWS_MOST + 1};
}

static bool take_snapshot(struct postgres_store *store, struct snapshot_answer *answer,
                          struct err *err)
{
    const struct snapshot_question question = {
        .since = postgres_since(store),
        .view = postgres_head_coexists(store->head) ? &store->foreign : NULL,
        .is_view_of_server = postgres_is_view_of_server(store),
    };
    bool ok = pg_snapshot_begin(store->follower, &question, answer, postgres_deadline(store),
                                err) == SERVER_OK;
    if (!ok)
        pg_session_close(store->follower);
    return ok;
}

/* A connection that was idle may have ended: then a new one serves as well. */
bool postgres_begin_snapshot(struct postgres_store *store, struct snapshot_answer *answer,
                             struct err *err)
{
    struct pg_session *session = store->follower;
    pg_session_notice_end(session);
    bool was_open = pg_session_is_open(session);
    uint64_t soon_us = clock_monotonic_us() + store->timeout_us / 2;
    if (!postgres_ensure_session(store, session, err))
        return false;
    if (take_snapshot(store, answer, err))
        return true;
    if (!was_open || clock_monotonic_us() > soon_us)
        return false;
    snapshot_answer_free(answer);
    *err = (struct err){.arena = err->arena};
    return postgres_ensure_session(store, session, err) && take_snapshot(store, answer, err);
}

bool postgres_read_head(struct postgres_store *store, struct snapshot_answer *answer,
                        struct log_state *head, struct err *err)
{
    enum log_found found = log_newest_state(&answer->newest, NULL, head);
    epochs_note(&store->epochs, &answer->epochs);
    if (found == LOG_FOUND_STANDBY)
        pg_session_close(store->follower); /* the next one may lead to the primary */
    if (found != LOG_FOUND_FOREIGN)
        return found == LOG_FOUND_STATE || postgres_refuse_standby(store, err);
    return err_set(err, 503, NULL,
                   "the database '%.*s' cannot be used: another program wrote to berth_log; delete "
                   "its rows",
                   SLICE_ARG(store->url.target));
}

/* The session through which the open read has learnt of its state. */
static struct pg_session *session_of(const struct postgres_store *store)
{
    return store->read.has_snapshot ? store->follower : store->writer;
}

bool postgres_is_server_of_memory(const struct postgres_store *store,
                                  const struct server_id *server)
{
    return server->system == store->examined_system && server->timeline == store->examined_timeline;
}

bool postgres_is_other_cluster(const struct postgres_store *store)
{
    return !postgres_is_server_of_memory(store, &pg_session_server(session_of(store))->id);
}

bool postgres_need_snapshot(struct postgres_store *store, struct err *err)
{
    struct snapshot_answer answer = {0};
    struct log_state state;
    check(store->read.is_open);
    if (store->read.has_snapshot)
        return true;
    bool ok = postgres_begin_snapshot(store, &answer, err) &&
              postgres_read_head(store, &answer, &state, err);
    snapshot_answer_free(&answer);
    store->read.has_snapshot = ok && log_state_equal(&state, &store->read.head) &&
                               pg_session_server(store->follower)->id.system ==
                                   pg_session_server(store->writer)->id.system;
    return store->read.has_snapshot ||
           (ok ? err_set(err, 503, NULL, "other processes keep writing to the database '%.*s'",
                         SLICE_ARG(store->url.target))
               : false);
}

void postgres_free_read(struct postgres_store *store)
{
    log_entries_free(&store->read.to_follow);
    log_rows_free(&store->read.since);
    foreign_view_free(&store->read.foreign);
}

void postgres_have(struct postgres_store *store, const struct log_state *state, bool went_back)
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
        postgres_remember(store);
}

bool postgres_mark_read(struct postgres_store *store, bool is_continued, struct err *err)
{
    check(store->sending == NULL);
    const struct foreign_view *view = postgres_foreign_view(store, is_continued);
    const struct server_id *server = &pg_session_server(session_of(store))->id;
    if (!postgres_head_note(store->head, &store->read.head, view, server, is_continued))
        return postgres_refuse_replaced(store, "read", err);
    postgres_take_foreign(store);
    if (!is_continued) {
        postgres_distrust_ids(store); /* it may have gone back, and its sequences with it */
        postgres_note_load(store);
    }
    postgres_have(store, &store->read.head, store->read.went_back);
    return true;
}
