/* What housekeeping writes: the row of the instance, and deletes of old rows of the log. Times are
 * the server's, so that the clocks of instances need not agree. */
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_state.h"

static enum server_outcome run(struct server_session *base, struct buf *sql,
                               struct mariadb_rows *rows, size_t rows_n, const char *what,
                               uint64_t deadline_us, struct err *err)
{
    const struct mariadb_text text = {.sql = buf_slice(sql), .what = what};
    enum server_outcome outcome = mariadb_session_execute(mariadb_session_of(base), &text, rows,
                                                          rows_n, NULL, deadline_us, err);
    buf_free(sql);
    return outcome;
}

/* ---- the row of an instance ---- */

enum server_outcome mariadb_instance_write(struct server_session *base,
                                           const struct instance_row *row, int64_t followed,
                                           uint64_t deadline_us, struct err *err)
{
    struct buf sql = {0};
    buf_append_lit(&sql, "INSERT INTO berth_instances (instance, host, pid, version, node,"
                         " first_seen, last_seen, followed) VALUES (");
    mariadb_literal_text(&sql, slice_of(row->name));
    buf_append_lit(&sql, ", ");
    mariadb_literal_text(&sql, slice_of(row->host));
    buf_printf(&sql, ", %d, ", (int)row->pid);
    mariadb_literal_text(&sql, SLICE_LIT(BERTH_VERSION));
    buf_append_lit(&sql, ", ");
    mariadb_literal_text(&sql, slice_of(row->node));
    buf_printf(&sql,
               ", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), %lld) ON DUPLICATE KEY UPDATE"
               " node=VALUES(node), last_seen=VALUES(last_seen), followed=VALUES(followed);"
               "DELETE FROM berth_instances WHERE last_seen < UTC_TIMESTAMP(6) - INTERVAL 1 DAY",
               (long long)followed);
    return run(base, &sql, NULL, 0, "written", deadline_us, err);
}

enum server_outcome mariadb_instance_delete(struct server_session *base,
                                            const struct instance_row *row, uint64_t deadline_us,
                                            struct err *err)
{
    struct buf sql = {0};
    buf_append_lit(&sql, "DELETE FROM berth_instances WHERE instance=");
    mariadb_literal_text(&sql, slice_of(row->name));
    return run(base, &sql, NULL, 0, "written", deadline_us, err);
}

/* ---- old rows of the log ---- */

enum server_outcome mariadb_log_oldest(struct server_session *base, int64_t after, int64_t most,
                                       int64_t before_us, struct log_oldest *oldest,
                                       uint64_t deadline_us, struct err *err)
{
    struct mariadb_rows rows = {0};
    struct buf sql = {0};
    int64_t are_old = 0;
    *oldest = (struct log_oldest){0};
    buf_printf(&sql, "SELECT MAX(number), COUNT(*) = %lld AND MAX(written_at) < ", (long long)most);
    mariadb_literal_instant(&sql, before_us);
    buf_printf(&sql,
               ", (SELECT MAX(number) FROM berth_log) FROM (SELECT number, written_at FROM"
               " berth_log WHERE number > %lld ORDER BY number LIMIT %lld) oldest",
               (long long)after, (long long)most);
    enum server_outcome outcome = run(base, &sql, &rows, 1, "read", deadline_us, err);
    if (outcome == SERVER_OK && mariadb_rows_int(&rows, 0, 1, &are_old) &&
        mariadb_rows_int(&rows, 0, 2, &oldest->newest) &&
        !mariadb_rows_int(&rows, 0, 0, &oldest->last))
        oldest->last = 0;
    oldest->are_old = are_old != 0;
    mariadb_rows_free(&rows);
    return outcome;
}

enum server_outcome mariadb_log_delete(struct server_session *base, int64_t after, int64_t last,
                                       uint64_t *deleted, uint64_t deadline_us, struct err *err)
{
    struct mariadb_rows rows = {0};
    struct buf sql = {0};
    buf_printf(&sql, "DELETE FROM berth_log WHERE number > %lld AND number <= %lld",
               (long long)after, (long long)last);
    enum server_outcome outcome = run(base, &sql, &rows, 1, "written", deadline_us, err);
    *deleted = outcome == SERVER_OK ? rows.affected : 0;
    mariadb_rows_free(&rows);
    return outcome;
}
