/* The log's rows and the snapshot of a read, in a session of its own. The writer only. */
#include "base/clock.h"
#include "store/postgres/store_internal.h"

static const char NEWEST[] = "SELECT n.*, " EPOCHS_COLUMN " FROM (" LOG_NEWEST_SQL ") n";
static const char SINCE[] = "SELECT number, mark, digest, entries FROM berth_log"
                            " WHERE number >= $1::bigint ORDER BY number LIMIT $2::bigint";

static bool queue(struct pg_session *session, const char *sql,
                  const struct pg_parameter *parameters, size_t count, struct err *err)
{
    const struct pg_statement statement = {.sql = sql,
                                           .parameters = parameters,
                                           .parameters_n = count,
                                           .binary_results = true,
                                           .is_prepared = true,
                                           .what = "read"};
    return pg_pipeline_queue(session, &statement, err) == SERVER_OK;
}

bool postgres_queue_since(const struct postgres_store *store, struct pg_session *session,
                          const char *sql, struct err *err)
{
    int64_t from = store->followed.number > 0 ? store->followed.number : INT64_MAX;
    const struct pg_parameter range[] = {pg_int8(from), pg_int8(POSTGRES_FOLLOWED_ROWS_MOST + 1)};
    return queue(session, sql, range, sizeof(range) / sizeof(range[0]), err);
}

/* Begins the snapshot and reads the log's newest row and those since the one that memory has, and
 * what other programs have written. */
static bool take_snapshot(struct postgres_store *store, struct snapshot_rows *rows, struct err *err)
{
    struct pg_session *session = store->follower;
    uint64_t deadline_us = postgres_deadline(store);
    bool coexists = postgres_head_coexists(store->head);
    bool ok =
        pg_pipeline_begin(session, err) == SERVER_OK &&
        pg_pipeline_queue_begin(session, POSTGRES_SNAPSHOT, err) == SERVER_OK &&
        queue(session, NEWEST, NULL, 0, err) && postgres_queue_since(store, session, SINCE, err) &&
        (!coexists || postgres_queue_foreign(store, err)) &&
        pg_pipeline_send(session, deadline_us, err) == SERVER_OK &&
        pg_pipeline_next(session, NULL, deadline_us, err) == SERVER_OK &&
        pg_pipeline_next(session, &rows->head, deadline_us, err) == SERVER_OK &&
        pg_pipeline_next(session, &rows->since, deadline_us, err) == SERVER_OK &&
        (!coexists || pg_pipeline_next(session, &rows->foreign, deadline_us, err) == SERVER_OK) &&
        pg_pipeline_finish(session, deadline_us, err) == SERVER_OK;
    if (!ok)
        pg_session_close(session);
    return ok;
}

void postgres_free_snapshot_rows(struct snapshot_rows *rows)
{
    pg_rows_free(&rows->head);
    pg_rows_free(&rows->since);
    pg_rows_free(&rows->foreign);
}

/* A connection that was idle may have ended: then a new one serves as well. */
bool postgres_begin_snapshot(struct postgres_store *store, struct snapshot_rows *rows,
                             struct err *err)
{
    struct pg_session *session = store->follower;
    pg_session_notice_end(session);
    bool was_open = pg_session_is_open(session);
    uint64_t soon_us = clock_monotonic_us() + store->timeout_us / 2;
    if (!postgres_ensure_session(store, session, err))
        return false;
    if (take_snapshot(store, rows, err))
        return true;
    if (!was_open || clock_monotonic_us() > soon_us)
        return false;
    postgres_free_snapshot_rows(rows);
    *err = (struct err){.arena = err->arena};
    return postgres_ensure_session(store, session, err) && take_snapshot(store, rows, err);
}

/* The newest state. */
bool postgres_read_head(struct postgres_store *store, const struct pg_rows *rows,
                        struct log_state *head, struct err *err)
{
    enum log_newest newest = log_newest_state(rows, NULL, head);
    epochs_note(&store->epochs, pg_rows_bytes(rows, 0, LOG_NEWEST_COLUMNS));
    if (newest == LOG_NEWEST_STANDBY)
        pg_session_close(store->follower); /* the next one may lead to the primary */
    if (newest != LOG_NEWEST_FOREIGN)
        return newest == LOG_NEWEST_KNOWN || postgres_refuse_standby(store, err);
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
    struct snapshot_rows rows = {0};
    struct log_state state;
    check(store->read.is_open);
    if (store->read.has_snapshot)
        return true;
    bool ok = postgres_begin_snapshot(store, &rows, err) &&
              postgres_read_head(store, &rows.head, &state, err);
    postgres_free_snapshot_rows(&rows);
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
    pg_rows_free(&store->read.since);
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
