/* Connects the sessions of a store. The writer only. */
#include "base/clock.h"
#include "store/postgres/failure.h"
#include "store/postgres/restoring.h"
#include "store/postgres/store_internal.h"

static const char STANDBY[] = "SELECT pg_is_in_recovery()";

/* Statements are planned once, for arrays of any length: without this, a plan would be made for
 * each batch, or the first one, made while a table was small, would be kept. Each row is found
 * through an index. Plans that must use what is off all the same seem so expensive that they would
 * be compiled first, for a tenth of a second. Behind a pooler the settings would stay with a server
 * process that others use next, and statements are planned each time there, with the lengths of
 * their arrays. A server process that waits for a lock or a standby notices that its client has
 * gone. */
static const char PLANNER[] = "SELECT set_config('plan_cache_mode', 'force_generic_plan', false),"
                              " set_config('enable_hashjoin', 'off', false),"
                              " set_config('enable_mergejoin', 'off', false),"
                              " set_config('enable_seqscan', 'off', false),"
                              " set_config('enable_sort', 'off', false),"
                              " set_config('jit', 'off', false),"
                              " CASE WHEN current_setting('client_connection_check_interval', true)"
                              " IS NOT NULL THEN set_config('client_connection_check_interval',"
                              " '2000', false) END,"
                              " pg_is_in_recovery()";

uint64_t postgres_deadline(const struct postgres_store *store)
{
    return clock_monotonic_us() + store->timeout_us;
}

uint64_t postgres_lock_timeout(const struct postgres_store *store)
{
    uint64_t timeout_us = store->timeout_us / 2 + store->stalled_us / 2;
    return timeout_us > store->timeout_us ? timeout_us : store->timeout_us;
}

uint64_t postgres_lock_deadline(const struct postgres_store *store)
{
    return clock_monotonic_us() + postgres_lock_timeout(store);
}

struct err postgres_ignored(struct postgres_store *store)
{
    arena_reset(store->scratch);
    return (struct err){.arena = store->scratch};
}

void postgres_make_mark(struct postgres_store *store, unsigned char mark[static LOG_MARK_LEN])
{
    _Static_assert(sizeof(store->instance) + sizeof(store->batches) == LOG_MARK_LEN, "both fit");
    memcpy(mark, store->instance, sizeof(store->instance));
    memcpy(mark + sizeof(store->instance), &store->batches, sizeof(store->batches));
    store->batches++;
}

bool postgres_refuse_standby(const struct postgres_store *store, struct err *err)
{
    return err_set(err, 503, NULL,
                   "the database '%.*s' is a standby: writes need the primary (see "
                   "target_session_attrs)",
                   SLICE_ARG(store->url.target));
}

bool postgres_refuse_replaced(const struct postgres_store *store, const char *done, struct err *err)
{
    (void)server_failure_set(SERVER_LOST, store->url.target, done,
                             SLICE_LIT("another server has taken over meanwhile"), err);
    return false;
}

/* Also checks that the server accepts writes. */
static bool set_planner(struct postgres_store *store, struct pg_session *session, struct err *err)
{
    bool is_pooled = pg_session_server(session)->is_pooled;
    const struct pg_statement statement = {
        .sql = is_pooled ? STANDBY : PLANNER, .binary_results = true, .what = "used"};
    struct pg_rows rows = {0};
    int64_t is_standby = 1;
    bool ok =
        pg_session_execute(session, &statement, &rows, postgres_deadline(store), err) == SERVER_OK;
    if (ok && (!pg_rows_int(&rows, 0, is_pooled ? 0 : 7, &is_standby) || is_standby != 0))
        ok = postgres_refuse_standby(store, err);
    pg_rows_free(&rows);
    return ok;
}

bool postgres_ensure_session(struct postgres_store *store, struct pg_session *session,
                             struct err *err)
{
    if (pg_session_has_moved(session) && !pg_session_in_transaction(session))
        pg_session_close(session);
    if (pg_session_is_open(session))
        return true;
    if (pg_session_connect(session, postgres_deadline(store), err) == SERVER_OK &&
        set_planner(store, session, err)) {
        if (session == store->writer || session == store->follower)
            store->has_reconnected = true;
        return true;
    }
    pg_session_close(session);
    return false;
}

void postgres_set_meanwhile(struct store *base, const struct store_meanwhile *meanwhile)
{
    struct postgres_store *store = postgres_of(base);
    check(!store->meanwhile.is_running);
    store->meanwhile = (struct server_meanwhile){0};
    if (meanwhile != NULL)
        store->meanwhile = (struct server_meanwhile){.run = meanwhile->run, .cls = meanwhile->cls};
}

bool postgres_ensure_writer(struct postgres_store *store, struct err *err)
{
    pg_session_notice_end(store->writer);
    return postgres_ensure_session(store, store->writer, err);
}

/* Until it succeeds, fails in a way that does not pass, or is not to be tried again. */
static bool connect_writer(struct postgres_store *store, const struct store_retry *retry,
                           struct err *err)
{
    for (;;) {
        struct err failure = postgres_ignored(store);
        enum server_outcome outcome =
            pg_session_connect(store->writer, postgres_deadline(store), &failure);
        if (outcome == SERVER_OK)
            outcome = pg_restoring_check(store->writer, postgres_deadline(store), &failure);
        if (outcome == SERVER_OK)
            return true;
        bool may_pass =
            outcome == SERVER_RETRY || outcome == SERVER_LOST || outcome == SERVER_TIMEOUT;
        if (!may_pass || retry == NULL || !retry->again(retry->cls, failure.message))
            return err_set(err, failure.status, failure.code, "%.*s", SLICE_ARG(failure.message));
    }
}

bool postgres_reach_server(struct postgres_store *store, const struct store_retry *retry,
                           struct err *err)
{
    pg_session_set_stop(store->writer, retry == NULL ? -1 : retry->stop_fd);
    bool reached = connect_writer(store, retry, err) && set_planner(store, store->writer, err);
    pg_session_set_stop(store->writer, -1);
    return reached;
}
