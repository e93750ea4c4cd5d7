/* Who has locked a row: the log names the session, so that an operator can end it. Another user's
 * age of a transaction is only shown to members of pg_read_all_stats. Several sessions that share a
 * lock are not named, for the row does not contain the number of a transaction then. */
#include "log/log.h"
#include "store/postgres/store_internal.h"

static const char HOLDER[] =
    "SELECT format('server process %s (%s)%s', a.pid,"
    " coalesce(nullif(a.application_name, ''), a.usename), ', in a transaction for '"
    " || (extract(epoch FROM clock_timestamp() - a.xact_start))::bigint || ' s')"
    " FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'transactionid'"
    " AND l.granted AND l.mode = 'ExclusiveLock'"
    " AND l.transactionid = (SELECT xmax FROM resource_providers WHERE id = $1)";

void postgres_log_lock_holder(struct postgres_store *store, int64_t provider_id)
{
    const struct pg_parameter id = pg_int4((int32_t)provider_id);
    const struct pg_statement statement = {
        .sql = HOLDER, .parameters = &id, .parameters_n = 1, .what = "read"};
    struct err ignored = postgres_ignored(store);
    struct pg_rows rows = {0};
    bool is_named = !store->read.is_open &&
                    postgres_ensure_session(store, store->follower, &ignored) &&
                    pg_session_execute(store->follower, &statement, &rows, postgres_deadline(store),
                                       &ignored) == SERVER_OK &&
                    pg_rows_count(&rows) > 0;
    struct slice holder =
        is_named ? pg_rows_bytes(&rows, 0, 0) : SLICE_LIT("a session that is not known");
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database '%.*s': the row of the provider with the id %lld is locked by %.*s. "
              "Requests that change it are answered 503",
              SLICE_ARG(store->url.target), (long long)provider_id, SLICE_ARG(holder));
    pg_rows_free(&rows);
}
