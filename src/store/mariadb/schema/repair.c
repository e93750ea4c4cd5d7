/* The two online migrations on MariaDB and MySQL. They set the same times as the Python service,
 * and create no projects or users that are not needed. Each is one transaction; if another process
 * creates the same rows meanwhile, it is repeated. One thread at a time. */
#include "store/mariadb/schema/repair.h"

#include "base/buf.h"
#include "base/clock.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/tool_session.h"

#define MISSING_CONSUMERS                                                                          \
    "FROM allocations AS a LEFT JOIN consumers AS c ON a.consumer_id = c.uuid WHERE c.id IS NULL"

enum { REPAIR_ATTEMPTS_MOST = 8, REPAIR_RESULTS_MOST = 4 };

/* Asks for one number in a session of its own. */
static bool ask_repair(struct slice connection, struct slice sql, int64_t *answer, struct err *err)
{
    struct mariadb_session *session = mariadb_tool_open(connection, err);
    if (session == NULL)
        return false;
    struct mariadb_text text = {.sql = sql, .statements = 1, .what = "read"};
    struct mariadb_rows rows = {0};
    bool ok = mariadb_session_execute(session, &text, &rows, 1, NULL, mariadb_tool_deadline(),
                                      err) == SERVER_OK;
    if (ok && !mariadb_rows_int(&rows, 0, 0, answer))
        ok = err_set(err, 503, NULL, "the database cannot be read: a number is none");
    mariadb_rows_free(&rows);
    mariadb_session_destroy(session);
    return ok;
}

bool mariadb_find_missing_roots(struct slice connection, bool *found, struct err *err)
{
    int64_t answer = 0;
    bool ok = ask_repair(
        connection,
        SLICE_LIT(
            "SELECT EXISTS (SELECT 1 FROM resource_providers WHERE root_provider_id IS NULL)"),
        &answer, err);
    *found = answer != 0;
    return ok;
}

bool mariadb_count_missing_consumers(struct slice connection, int64_t *count, struct err *err)
{
    *count = 0;
    return ask_repair(connection,
                      SLICE_LIT("SELECT COUNT(DISTINCT a.consumer_id) " MISSING_CONSUMERS), count,
                      err);
}

/* A text from BEGIN on; *done: the rows that its last statement has changed. */
static enum server_outcome repair_once(struct mariadb_session *session,
                                       const struct mariadb_text *text, uint64_t deadline_us,
                                       int64_t *done, struct err *err)
{
    struct mariadb_rows rows[REPAIR_RESULTS_MOST] = {0};
    enum server_outcome outcome =
        mariadb_session_execute(session, text, rows, text->statements, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        *done = (int64_t)rows[text->statements - 1].affected;
    for (size_t i = 0; i < REPAIR_RESULTS_MOST; i++)
        mariadb_rows_free(&rows[i]);
    return outcome == SERVER_OK ? mariadb_tool_commit(session, text->what, deadline_us, err)
                                : outcome;
}

/* Whether another process was at work; then nothing of the transaction is left. */
static bool can_repair_again(struct mariadb_session *session, uint64_t deadline_us,
                             struct arena *arena)
{
    enum mariadb_kind kind = mariadb_session_failure(session)->kind;
    struct err ignored = {.arena = arena};
    return mariadb_session_is_open(session) &&
           (kind == MARIADB_DUPLICATE || kind == MARIADB_CONFLICT) &&
           mariadb_session_run(session, "ROLLBACK", "changed", deadline_us, &ignored) == SERVER_OK;
}

/* Frees the text. */
static bool repair(struct slice connection, struct buf *sql, size_t statements, int64_t *done,
                   struct err *err)
{
    struct mariadb_session *session = mariadb_tool_open(connection, err);
    uint64_t deadline_us = mariadb_tool_deadline();
    struct mariadb_text text = {.sql = buf_slice(sql), .statements = statements, .what = "changed"};
    bool ok = false;
    check(statements <= REPAIR_RESULTS_MOST);
    *done = 0;
    for (int attempt = 1; session != NULL && !ok; attempt++) {
        struct err failed = {.arena = err->arena};
        ok = repair_once(session, &text, deadline_us, done, &failed) == SERVER_OK;
        if (ok)
            break;
        *done = 0;
        if (attempt == REPAIR_ATTEMPTS_MOST ||
            !can_repair_again(session, deadline_us, err->arena)) {
            err_set_text(err, failed.status, failed.code, failed.message);
            break;
        }
    }
    mariadb_session_destroy(session);
    buf_free(sql);
    return ok;
}

bool mariadb_set_roots(struct slice connection, int64_t most, int64_t *done, struct err *err)
{
    struct buf sql = {0};
    buf_append_lit(&sql, "START TRANSACTION;"
                         "UPDATE resource_providers SET root_provider_id = id, updated_at = ");
    mariadb_literal_second(&sql, clock_wall_us());
    buf_printf(&sql, " WHERE root_provider_id IS NULL ORDER BY id LIMIT %lld", (long long)most);
    return repair(connection, &sql, 2, done, err);
}

static void append_owner(struct buf *sql, const char *table, struct slice external_id,
                         int64_t now_us)
{
    buf_printf(sql, "INSERT INTO %s (created_at, external_id) SELECT ", table);
    mariadb_literal_second(sql, now_us);
    buf_append_char(sql, ',');
    mariadb_literal_text(sql, external_id);
    buf_printf(sql,
               " FROM DUAL WHERE EXISTS (SELECT 1 " MISSING_CONSUMERS ")"
               " AND NOT EXISTS (SELECT 1 FROM %s WHERE external_id = ",
               table);
    mariadb_literal_text(sql, external_id);
    buf_append_lit(sql, ");");
}

static void append_owner_id(struct buf *sql, const char *table, struct slice external_id)
{
    buf_printf(sql, "(SELECT id FROM %s WHERE external_id = ", table);
    mariadb_literal_text(sql, external_id);
    buf_append_lit(sql, "),");
}

bool mariadb_create_consumers(struct slice connection, const struct repair_owner *owner,
                              int64_t most, int64_t *done, struct err *err)
{
    struct buf sql = {0};
    int64_t now_us = clock_wall_us();
    buf_append_lit(&sql, "START TRANSACTION;");
    append_owner(&sql, "projects", owner->project, now_us);
    append_owner(&sql, "users", owner->user, now_us);
    buf_append_lit(&sql, "INSERT INTO consumers (created_at, uuid, project_id, user_id, generation)"
                         " SELECT ");
    mariadb_literal_second(&sql, now_us);
    buf_append_lit(&sql, ",a.consumer_id,");
    append_owner_id(&sql, "projects", owner->project);
    append_owner_id(&sql, "users", owner->user);
    buf_printf(&sql, "0 " MISSING_CONSUMERS " GROUP BY a.consumer_id LIMIT %lld", (long long)most);
    return repair(connection, &sql, 4, done, err);
}
