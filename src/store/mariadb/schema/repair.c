/* The two online migrations on MariaDB and MySQL. They set the same times as the Python service,
 * and create no projects or users that are not needed. If another process creates the same rows
 * meanwhile, a transaction is repeated. One thread at a time. */
#include "store/mariadb/schema/repair.h"

#include "base/buf.h"
#include "base/clock.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_state.h"
#include "store/mariadb/session/tool_session.h"
#include "store/server/dialect.h"

#define MISSING_CONSUMERS                                                                          \
    "FROM allocations AS a LEFT JOIN consumers AS c ON a.consumer_id = c.uuid WHERE c.id IS NULL"

enum { REPAIR_ATTEMPTS_MOST = 8, REPAIR_RESULTS_MOST = 2 };

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

/* The consumers that have allocations and no row, at most that many. The caller frees the rows. */
static bool list_missing(struct mariadb_session *session, int64_t most, struct mariadb_rows *rows,
                         struct err *err)
{
    struct buf sql = {0};
    buf_printf(&sql, "SELECT a.consumer_id " MISSING_CONSUMERS " GROUP BY a.consumer_id LIMIT %lld",
               (long long)most);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .statements = 1, .what = "read"};
    bool ok = mariadb_session_execute(session, &text, rows, 1, NULL, mariadb_tool_deadline(),
                                      err) == SERVER_OK;
    buf_free(&sql);
    return ok;
}

/* Creates rows for those that are listed from there on. */
static bool create_some(struct mariadb_session *session, const struct repair_owner *owner,
                        const struct mariadb_rows *rows, size_t from, int64_t *done,
                        struct err *err)
{
    struct slice uuids[ROW_READER_UUIDS_MOST];
    uint64_t deadline_us = mariadb_tool_deadline();
    size_t count = 0;
    for (size_t i = from; i < mariadb_rows_count(rows) && count < ROW_READER_UUIDS_MOST; i++)
        uuids[count++] = mariadb_rows_bytes(rows, i, 0);
    for (int attempt = 1;; attempt++) {
        struct err failed = {.arena = err->arena};
        uint64_t created = 0;
        if (session->base.dialect->consumers_create(&session->base, owner, uuids, count, &created,
                                                    deadline_us, &failed) == SERVER_OK) {
            *done += (int64_t)created;
            return true;
        }
        if (attempt == REPAIR_ATTEMPTS_MOST || !can_repair_again(session, deadline_us, err->arena))
            return err_set_text(err, failed.status, failed.code, failed.message);
    }
}

bool mariadb_create_consumers(struct slice connection, const struct repair_owner *owner,
                              int64_t most, int64_t *done, struct err *err)
{
    struct mariadb_session *session = mariadb_tool_open(connection, err);
    struct mariadb_rows rows = {0};
    *done = 0;
    if (session == NULL)
        return false;
    bool ok = list_missing(session, most, &rows, err);
    for (size_t from = 0; ok && from < mariadb_rows_count(&rows); from += ROW_READER_UUIDS_MOST)
        ok = create_some(session, owner, &rows, from, done, err);
    mariadb_rows_free(&rows);
    mariadb_session_destroy(session);
    return ok;
}
