/* Consumers by their uuids: which of them there are, and which have allocations and no row
 * (missing_consumers.h). If another process creates the same rows meanwhile, the transaction fails,
 * and is to be repeated. */
#include "base/clock.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_state.h"

enum { CREATE_CONSUMERS = 4, CREATE_STATEMENTS = 5 }; /* the results of a text, from 1 on */

static void append_uuids(struct buf *sql, const char *column, const struct slice *uuids,
                         size_t count)
{
    buf_printf(sql, " WHERE %s IN(", column);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_char(sql, ',');
        mariadb_literal_text(sql, uuids[i]);
    }
    buf_append_char(sql, ')');
}

static void append_missing(struct buf *sql, const struct mariadb_indexes *indexes,
                           const struct slice *uuids, size_t count)
{
    buf_append_lit(sql, " FROM allocations a");
    if (indexes->has_consumer_index)
        buf_append_lit(sql, " FORCE INDEX(" MARIADB_CONSUMER_INDEX ")");
    append_uuids(sql, "a.consumer_id", uuids, count);
    buf_append_lit(sql, " AND NOT EXISTS(SELECT 1 FROM consumers c WHERE c.uuid=a.consumer_id)"
                        " GROUP BY a.consumer_id");
}

enum server_outcome mariadb_consumers_find(struct server_session *base, const struct slice *uuids,
                                           size_t count, consumer_take *take, void *cls,
                                           uint64_t timeout_us, struct err *err)
{
    enum { RESULTS = 2 };
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows[RESULTS] = {0};
    struct buf sql = {0};
    buf_append_lit(&sql, "SELECT c.id,c.uuid FROM consumers c");
    append_uuids(&sql, "c.uuid", uuids, count);
    buf_append_lit(&sql, ";SELECT 0,a.consumer_id");
    append_missing(&sql, &session->indexes, uuids, count);
    const struct mariadb_text text = {
        .sql = buf_slice(&sql), .statements = RESULTS, .what = "read"};
    enum server_outcome outcome = mariadb_session_execute(session, &text, rows, RESULTS, NULL,
                                                          clock_monotonic_us() + timeout_us, err);
    for (size_t result = 0; result < RESULTS; result++) {
        int64_t id;
        for (size_t i = 0; outcome == SERVER_OK && i < mariadb_rows_count(&rows[result]); i++)
            if (mariadb_rows_int(&rows[result], i, 0, &id))
                take(cls, id, mariadb_rows_bytes(&rows[result], i, 1));
        mariadb_rows_free(&rows[result]);
    }
    buf_free(&sql);
    return outcome;
}

/* A project or user that there may be. */
static void append_owner(struct buf *sql, const char *table, struct slice external_id,
                         int64_t now_us)
{
    buf_printf(sql, "INSERT INTO %s (created_at,external_id) SELECT ", table);
    mariadb_literal_second(sql, now_us);
    buf_append_char(sql, ',');
    mariadb_literal_text(sql, external_id);
    buf_printf(sql, " FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM %s WHERE external_id=", table);
    mariadb_literal_text(sql, external_id);
    buf_append_lit(sql, ");");
}

static void append_owner_id(struct buf *sql, const char *table, struct slice external_id)
{
    buf_printf(sql, ",(SELECT id FROM %s WHERE external_id=", table);
    mariadb_literal_text(sql, external_id);
    buf_append_char(sql, ')');
}

enum server_outcome mariadb_consumers_create(struct server_session *base,
                                             const struct repair_owner *owner,
                                             const struct slice *uuids, size_t count,
                                             uint64_t *created, uint64_t deadline_us,
                                             struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows[CREATE_STATEMENTS] = {0};
    const int64_t now_us = clock_wall_us();
    struct buf sql = {0};
    buf_append_lit(&sql, "BEGIN;");
    append_owner(&sql, "projects", owner->project, now_us);
    append_owner(&sql, "users", owner->user, now_us);
    buf_append_lit(&sql, "INSERT INTO consumers (created_at,uuid,project_id,user_id,generation)"
                         " SELECT ");
    mariadb_literal_second(&sql, now_us);
    buf_append_lit(&sql, ",a.consumer_id");
    append_owner_id(&sql, "projects", owner->project);
    append_owner_id(&sql, "users", owner->user);
    buf_append_lit(&sql, ",0");
    append_missing(&sql, &session->indexes, uuids, count);
    buf_append_lit(&sql, ";COMMIT");
    const struct mariadb_text text = {.sql = buf_slice(&sql),
                                      .statements = CREATE_STATEMENTS,
                                      .commit = CREATE_STATEMENTS,
                                      .what = "changed"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, CREATE_STATEMENTS, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        *created = rows[CREATE_CONSUMERS - 1].affected;
    for (size_t i = 0; i < CREATE_STATEMENTS; i++)
        mariadb_rows_free(&rows[i]);
    buf_free(&sql);
    return outcome;
}
