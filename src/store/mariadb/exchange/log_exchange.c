/* Finds out what became of a batch, and makes sure that it stays so (store/server/unknown.h). On
 * Galera, the batch may still be on its way to this node: a read waits for what the cluster has
 * committed by then, and of two rows with the same number only one is certified. */
#include "base/clock.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/log/log_sql.h"
#include "store/mariadb/log/write_texts.h"
#include "store/mariadb/session/exchange.h"
#include "store/mariadb/session/session_settings.h"

/* The session's wake-up descriptor ends the wait. */
static enum server_outcome execute(struct mariadb_session *session, const struct mariadb_text *text,
                                   struct mariadb_rows *rows, uint64_t timeout_us, struct err *err)
{
    uint64_t deadline_us = clock_monotonic_us() + timeout_us;
    enum server_outcome outcome =
        mariadb_exchange_begin(session, text, rows, rows == NULL ? 0 : 1, err);
    if (outcome == SERVER_OK)
        outcome = mariadb_exchange_drive(session, session->base.options.wake_fd, UINT64_MAX,
                                         deadline_us, err);
    if (outcome == SERVER_WOKEN)
        mariadb_exchange_drop(session);
    return outcome == SERVER_END ? SERVER_OK : outcome;
}

enum server_outcome mariadb_log_first(struct server_session *base, int64_t number,
                                      struct log_rows *found, uint64_t timeout_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows = {0};
    struct buf sql = {0};
    buf_printf(&sql,
               "SELECT number, mark FROM berth_log WHERE number >= %lld ORDER BY number LIMIT 1",
               (long long)number);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome = execute(session, &text, &rows, timeout_us, err);
    mariadb_log_rows(&rows, found);
    buf_free(&sql);
    return outcome;
}

enum server_outcome mariadb_lock_wait(struct server_session *base, uint64_t timeout_us,
                                      struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct buf sql = {0};
    mariadb_write_texts_lock(session->server.is_galera, base->options.lock_timeout_ms, NULL, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "locked"};
    enum server_outcome outcome = execute(session, &text, NULL, timeout_us, err);
    buf_free(&sql);
    return outcome;
}

enum server_outcome mariadb_lock_leave(struct server_session *base, uint64_t timeout_us,
                                       struct err *err)
{
    const struct mariadb_text text = {.sql = SLICE_LIT(MARIADB_ROLLBACK), .what = "unlocked"};
    return execute(mariadb_session_of(base), &text, NULL, timeout_us, err);
}

enum server_outcome mariadb_number_take(struct server_session *base, const struct log_row *row,
                                        const struct log_state *before, uint64_t timeout_us,
                                        struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct buf sql = {0};
    mariadb_log_sql_insert(row, before, &sql);
    size_t commit = mariadb_write_texts_commit_row(session, row, before, 1, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .commit = commit, .what = "written"};
    enum server_outcome outcome = execute(session, &text, NULL, timeout_us, err);
    buf_free(&sql);
    return outcome;
}
