/* Ends the connection of an instance that holds the lock and does nothing with it, because it was
 * stopped or its machine is gone. The server's own limits do not apply to a client that stops
 * within a pipeline, so the next in line does it. One that computes, or waits for the disk or for a
 * standby, does not wait for its client, and is left alone.
 *
 * The next in line waits for half of the limit, looks for a holder that has done nothing for the
 * other half, and waits again: one that had just begun to do nothing is found at the second look,
 * when the limit has passed. */
#include "log/log.h"
#include "store/postgres/locks.h"
#include "store/postgres/store_internal.h"

/* A bigint as an advisory lock: the upper half is classid, the lower half objid. */
static const char TERMINATE[] =
    "SELECT a.pid, pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND l.classid = (" PG_LOCK_BATCHES " >> 32)::oid"
    " AND l.objid = (" PG_LOCK_BATCHES " & 4294967295)::oid"
    " AND a.wait_event = 'ClientRead'"
    " AND a.state_change < clock_timestamp() - $1::int * interval '1 millisecond'";

void postgres_end_stalled_by(struct postgres_store *store, struct pg_session *session,
                             struct err *err)
{
    const struct pg_parameter least_ms = pg_int4((int32_t)(store->stalled_us / 2000));
    const struct pg_statement statement = {
        .sql = TERMINATE, .parameters = &least_ms, .parameters_n = 1, .what = "locked"};
    struct pg_rows rows = {0};
    atomic_fetch_add(&store->lock_timeouts, 1);
    if (pg_session_execute(session, &statement, &rows, postgres_deadline(store), err) == SERVER_OK)
        for (size_t i = 0; i < pg_rows_count(&rows); i++)
            log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                      "the database '%.*s': the connection of server process %s, which held the "
                      "lock for the next batch without using it, was ended",
                      SLICE_ARG(store->url.target), pg_rows_bytes(&rows, i, 0).data);
    atomic_fetch_add(&store->stalled_ended, pg_rows_count(&rows));
    pg_rows_free(&rows);
}

void postgres_end_stalled(struct postgres_store *store)
{
    struct err ignored = postgres_ignored(store);
    if (!store->read.is_open && postgres_ensure_session(store, store->follower, &ignored))
        postgres_end_stalled_by(store, store->follower, &ignored);
}
