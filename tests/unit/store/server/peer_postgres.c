/* PostgreSQL's part of peer.h. */
#include "peer_kinds.h"

#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/session/session.h"
#include "store/postgres/session/session_state.h"

static enum server_outcome execute(struct server_session *session, const char *sql, struct buf *row,
                                   uint64_t deadline_us, struct err *err)
{
    const struct pg_statement statement = {.sql = sql};
    struct pg_rows rows = {0};
    enum server_outcome outcome =
        pg_session_execute(pg_session_of(session), &statement, &rows, deadline_us, err);
    size_t columns =
        outcome == SERVER_OK && pg_rows_count(&rows) > 0 ? (size_t)PQnfields(rows.result) : 0;
    for (size_t i = 0; i < columns; i++) {
        buf_append_slice(row, i == 0 ? SLICE_LIT("") : SLICE_LIT("|"));
        buf_append_slice(row, pg_rows_bytes(&rows, 0, i));
    }
    pg_rows_free(&rows);
    return outcome;
}

static int64_t connection(const struct server_session *session)
{
    return pg_session_server(pg_session_of_const(session))->backend;
}

static const char *terminate(struct arena *arena, int64_t connection)
{
    return arena_printf(arena, "SELECT pg_terminate_backend(%lld, 60000)", (long long)connection)
        .data;
}

static const char *has_ended(struct arena *arena, int64_t connection)
{
    return arena_printf(arena,
                        "SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity WHERE pid = %lld)"
                        " THEN 0 ELSE 1 END",
                        (long long)connection)
        .data;
}

static const char *set_last_id(struct arena *arena, const char *table, int64_t last)
{
    return arena_printf(arena, "SELECT setval('%s_id_seq', %lld)", table, (long long)last).data;
}

const struct peer_kind peer_postgres = {
    .execute = execute,
    .connection = connection,
    .terminate = terminate,
    .has_ended = has_ended,
    .set_last_id = set_last_id,
    .queue = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
             " AND (wait_event_type = 'Lock' OR wait_event = 'PgSleep')",
    .standby = {"CREATE SCHEMA standby",
                "CREATE FUNCTION standby.pg_is_in_recovery() RETURNS boolean LANGUAGE sql"
                " AS 'SELECT true'",
                "ALTER ROLE berth SET search_path = standby, pg_catalog, public"},
    .primary = {"ALTER ROLE berth RESET search_path"},
    .hold = {"CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS"
             " 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'",
             "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON traits DEFERRABLE"
             " INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()"},
    .release = {"DROP TRIGGER late ON traits"},
};
