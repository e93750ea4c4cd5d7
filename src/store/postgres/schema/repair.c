/* The two online migrations on PostgreSQL. They set the same times as the Python service, and
 * create no projects or users that are not needed. Rows that another process creates meanwhile are
 * left alone. One thread at a time. */
#include "store/postgres/schema/repair.h"

#include "base/clock.h"
#include "store/instant.h"
#include "store/postgres/session/figure.h"
#include "store/postgres/session/session_state.h"
#include "store/postgres/session/tool_session.h"
#include "store/server/dialect.h"

#define MISSING_CONSUMERS                                                                          \
    "FROM allocations a LEFT JOIN consumers c ON a.consumer_id = c.uuid WHERE c.id IS NULL"

enum { PARAMETERS_MOST = 4 };

struct pg_repair {
    struct pg_session *session;
    uint64_t deadline_us;
    char now[INSTANT_LEN];
};

/* Asks for one number in a session of its own. */
static bool ask_number(struct slice connection, const char *sql, int64_t *answer, struct err *err)
{
    struct pg_session *session = tool_session_open(connection, err);
    if (session == NULL)
        return false;
    bool ok = pg_figure_ask(session, sql, answer, tool_session_deadline(), err) == SERVER_OK;
    pg_session_destroy(session);
    return ok;
}

static bool repair_begin(struct pg_repair *repair, struct slice connection, struct err *err)
{
    repair->session = tool_session_open(connection, err);
    if (repair->session == NULL)
        return false;
    repair->deadline_us = tool_session_deadline();
    instant_format(clock_wall_us(), repair->now);
    if (tool_session_begin(repair->session, repair->deadline_us, err) == SERVER_OK)
        return true;
    pg_session_destroy(repair->session);
    return false;
}

/* Closing the session rolls back anything that is not committed. */
static bool repair_end(struct pg_repair *repair, bool ok, struct err *err)
{
    ok = ok && tool_session_commit(repair->session, repair->deadline_us, err) == SERVER_OK;
    pg_session_destroy(repair->session);
    return ok;
}

/* Executes a statement whose first parameter is the time, followed by `others`. */
static bool change(struct pg_repair *repair, const char *sql, const struct pg_parameter *others,
                   size_t others_n, int64_t *done, struct err *err)
{
    struct pg_parameter parameters[PARAMETERS_MOST] = {
        pg_literal((struct slice){repair->now, INSTANT_LEN})};
    check(others_n < PARAMETERS_MOST);
    memcpy(parameters + 1, others, others_n * sizeof(*others));
    struct pg_statement statement = {
        .sql = sql, .parameters = parameters, .parameters_n = others_n + 1, .what = "changed"};
    struct pg_rows rows = {0};
    if (pg_session_execute(repair->session, &statement, &rows, repair->deadline_us, err) !=
        SERVER_OK)
        return false;
    *done = (int64_t)pg_rows_affected(&rows);
    pg_rows_free(&rows);
    return true;
}

bool pg_find_missing_roots(struct slice connection, bool *found, struct err *err)
{
    int64_t answer = 0;
    bool ok = ask_number(
        connection,
        "SELECT (EXISTS (SELECT FROM resource_providers WHERE root_provider_id IS NULL))::int",
        &answer, err);
    *found = answer != 0;
    return ok;
}

bool pg_count_missing_consumers(struct slice connection, int64_t *count, struct err *err)
{
    *count = 0;
    return ask_number(connection, "SELECT count(DISTINCT a.consumer_id) " MISSING_CONSUMERS, count,
                      err);
}

bool pg_set_roots(struct slice connection, int64_t most, int64_t *done, struct err *err)
{
    struct pg_repair repair;
    const struct pg_parameter limit = pg_int8(most);
    *done = 0;
    return repair_begin(&repair, connection, err) &&
           repair_end(&repair,
                      change(&repair,
                             "UPDATE resource_providers SET root_provider_id = id,"
                             " updated_at = $1::timestamp WHERE id IN (SELECT id FROM"
                             " resource_providers WHERE root_provider_id IS NULL LIMIT $2::bigint)",
                             &limit, 1, done, err),
                      err);
}

/* The consumers that have allocations and no row, at most that many. The caller frees the rows. */
static bool list_missing(struct pg_session *session, int64_t most, struct pg_rows *rows,
                         struct err *err)
{
    const struct pg_parameter limit = pg_int8(most);
    const struct pg_statement statement = {.sql = "SELECT DISTINCT a.consumer_id " MISSING_CONSUMERS
                                                  " LIMIT $1::bigint",
                                           .parameters = &limit,
                                           .parameters_n = 1,
                                           .what = "read"};
    return pg_session_execute(session, &statement, rows, tool_session_deadline(), err) == SERVER_OK;
}

/* Creates rows for those that are listed from there on. */
static bool create_some(struct pg_session *session, const struct repair_owner *owner,
                        const struct pg_rows *rows, size_t from, int64_t *done, struct err *err)
{
    struct slice uuids[ROW_READER_UUIDS_MOST];
    uint64_t created = 0;
    size_t count = 0;
    for (size_t i = from; i < pg_rows_count(rows) && count < ROW_READER_UUIDS_MOST; i++)
        uuids[count++] = pg_rows_bytes(rows, i, 0);
    bool ok = session->base.dialect->consumers_create(&session->base, owner, uuids, count, &created,
                                                      tool_session_deadline(), err) == SERVER_OK;
    *done += (int64_t)created;
    return ok;
}

bool pg_create_consumers(struct slice connection, const struct repair_owner *owner, int64_t most,
                         int64_t *done, struct err *err)
{
    struct pg_session *session = tool_session_open(connection, err);
    struct pg_rows rows = {0};
    *done = 0;
    if (session == NULL)
        return false;
    bool ok = list_missing(session, most, &rows, err);
    for (size_t from = 0; ok && from < pg_rows_count(&rows); from += ROW_READER_UUIDS_MOST)
        ok = create_some(session, owner, &rows, from, done, err);
    pg_rows_free(&rows);
    pg_session_destroy(session);
    return ok;
}
