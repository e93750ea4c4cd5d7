/* Looks for what keeps a batch from being committed: rows with the same texts, whoever has locked a
 * row, and whoever holds the lock of batches without using it. */
#include "base/arena.h"
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/session/locks.h"
#include "store/postgres/session/session_state.h"

/* ---- namesakes ---- */

#define CATALOG_ID(table, column)                                                                  \
    "SELECT id FROM " table " WHERE " column " = $1::text OR " column " = $2::text"

static const char *const namesakes[ENTITY_NODE] = {
    [ENTITY_CLASS] = CATALOG_ID("resource_classes", "name"),
    [ENTITY_TRAIT] = CATALOG_ID("traits", "name"),
    [ENTITY_AGGREGATE] = CATALOG_ID("placement_aggregates", "uuid"),
    [ENTITY_PROJECT] = CATALOG_ID("projects", "external_id"),
    [ENTITY_USER] = CATALOG_ID("users", "external_id"),
    [ENTITY_CONSUMER_TYPE] = CATALOG_ID("consumer_types", "name"),
    [ENTITY_PROVIDER] =
        "SELECT id FROM resource_providers WHERE name = $1::text OR uuid = $2::text",
    [ENTITY_CONSUMER] = CATALOG_ID("consumers", "uuid"),
};

enum server_outcome pg_namesakes(struct server_session *base, enum entity entity,
                                 const struct slice texts[static 2], struct arena *arena,
                                 struct namesakes *found, uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter parameters[] = {pg_text(texts[0]), pg_text(texts[1])};
    const struct pg_statement statement = {.sql = namesakes[entity],
                                           .parameters = parameters,
                                           .parameters_n = 2,
                                           .binary_results = true,
                                           .what = "read"};
    struct pg_rows rows = {0};
    *found = (struct namesakes){0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    size_t count = pg_rows_count(&rows);
    found->at = arena_zalloc(arena, (count + 1) * sizeof(*found->at));
    for (size_t i = 0; i < count; i++)
        if (pg_rows_int(&rows, i, 0, &found->at[found->count].id))
            found->count++;
    pg_rows_free(&rows);
    return outcome;
}

/* ---- who has locked a row ---- */

/* Another user's age of a transaction is only shown to members of pg_read_all_stats. Several
 * sessions that share a lock are not named, for the row does not contain the number of a
 * transaction then. */
static const char HOLDER[] =
    "SELECT format('server process %s (%s)%s', a.pid,"
    " coalesce(nullif(a.application_name, ''), a.usename), ', in a transaction for '"
    " || (extract(epoch FROM clock_timestamp() - a.xact_start))::bigint || ' s')"
    " FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'transactionid'"
    " AND l.granted AND l.mode = 'ExclusiveLock'"
    " AND l.transactionid = (SELECT xmax FROM resource_providers WHERE id = $1)";

enum server_outcome pg_row_holder(struct server_session *base, int64_t provider_id,
                                  struct arena *arena, struct slice *holder, uint64_t deadline_us,
                                  struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter id = pg_int4((int32_t)provider_id);
    const struct pg_statement statement = {
        .sql = HOLDER, .parameters = &id, .parameters_n = 1, .what = "read"};
    struct pg_rows rows = {0};
    *holder = (struct slice){0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (pg_rows_count(&rows) > 0)
        *holder = arena_copy(arena, pg_rows_bytes(&rows, 0, 0));
    pg_rows_free(&rows);
    return outcome;
}

/* ---- who holds the lock ---- */

/* One that computes, or waits for the disk or for a standby, does not wait for its client, and is
 * left alone. A bigint as an advisory lock: the upper half is classid, the lower half objid. */
static const char TERMINATE[] =
    "SELECT a.pid, pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND l.classid = (" PG_LOCK_BATCHES " >> 32)::oid"
    " AND l.objid = (" PG_LOCK_BATCHES " & 4294967295)::oid"
    " AND a.wait_event = 'ClientRead'"
    " AND a.state_change < clock_timestamp() - $1::int * interval '1 millisecond'";

enum server_outcome pg_stalled_end(struct server_session *base, uint64_t least_us,
                                   struct arena *arena, struct stalled *ended, uint64_t deadline_us,
                                   struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter least_ms = pg_int4((int32_t)(least_us / 1000));
    const struct pg_statement statement = {
        .sql = TERMINATE, .parameters = &least_ms, .parameters_n = 1, .what = "locked"};
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    size_t count = pg_rows_count(&rows);
    struct slice *names = arena_array(arena, count + 1, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        struct slice pid = pg_rows_bytes(&rows, i, 0);
        names[i] = arena_printf(arena, "server process %.*s", SLICE_ARG(pid));
    }
    *ended = (struct stalled){names, count};
    pg_rows_free(&rows);
    return outcome;
}
