/* See log_sql.h. */
#include "store/mariadb/log/log_sql.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "store/mariadb/session/backend.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_state.h"
#include "store/mariadb/session/variables.h"

static struct slice mark_of(const struct log_state *state)
{
    return (struct slice){(const char *)state->mark, LOG_MARK_LEN};
}

/* An empty table has no row that could say whether the server accepts writes. The newest row must
 * not be that of a derived table: its text would make the server create a file for each query. */
void mariadb_log_sql_newest(const struct mariadb_session *session, const struct log_state *known,
                            struct buf *sql)
{
    buf_append_lit(sql, "SELECT l.number, l.mark, l.digest, ");
    if (known == NULL) {
        buf_append_lit(sql, "l.entries, @@read_only, NULL");
    } else {
        buf_append_lit(sql, "IF(l.mark = ");
        mariadb_literal_binary(sql, mark_of(known));
        buf_append_lit(sql, ", NULL, l.entries), @@read_only, IF(l.mark = ");
        mariadb_literal_binary(sql, mark_of(known));
        buf_append_lit(sql, ", NULL, (SELECT MAX(epoch) FROM berth_epochs))");
    }
    mariadb_backend_column(session, sql);
    buf_append_lit(sql, " FROM (SELECT 1) one LEFT JOIN berth_log l"
                        " ON l.number = (SELECT MAX(number) FROM berth_log);");
}

/* An aggregate has a row of an empty table too. */
void mariadb_log_sql_newest_mark(const struct mariadb_session *session,
                                 const struct log_state *known, struct buf *sql)
{
    buf_append_lit(sql, "SELECT ");
    if (known->number == 0)
        buf_append_lit(sql, "MAX(number), NULL");
    else
        buf_append_lit(sql, "number, mark");
    buf_append_lit(sql, ", @@read_only");
    mariadb_backend_column(session, sql);
    buf_append_lit(sql, " FROM berth_log");
    if (known->number > 0)
        buf_append_lit(sql, " ORDER BY number DESC LIMIT 1");
    buf_append_char(sql, ';');
}

static void append_range(const struct log_range *since, int64_t most, struct buf *sql)
{
    buf_printf(sql, " FROM berth_log WHERE number >= %lld ORDER BY number LIMIT %lld;",
               (long long)since->from, (long long)most);
}

void mariadb_log_sql_since(const struct mariadb_session *session, const struct log_range *since,
                           int64_t least, struct buf *sql)
{
    buf_append_lit(sql, "SELECT number, mark, digest, entries");
    append_range(since, session->is_far_behind ? least : since->most, sql);
}

void mariadb_log_sql_locked(const struct mariadb_session *session, const struct log_range *since,
                            struct buf *sql)
{
    buf_append_lit(sql, "SELECT number, mark, digest, entries,"
                        " (SELECT MAX(epoch) FROM berth_epochs)");
    append_range(since, session->is_far_behind ? 0 : since->most, sql);
}

void mariadb_log_since_end(struct mariadb_session *session, enum server_outcome outcome)
{
    if (outcome == SERVER_OK || session->failure.is_too_large)
        session->is_far_behind = outcome != SERVER_OK;
}

/* Times are compared as numbers: a session's time zone is UTC. */
void mariadb_log_sql_epochs(struct buf *sql)
{
    buf_append_lit(sql, "SELECT epoch, number, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', began_at)"
                        " FROM berth_epochs ORDER BY epoch;");
}

void mariadb_log_sql_insert(const struct log_row *row, const struct log_state *before,
                            struct buf *sql)
{
    buf_printf(sql,
               "INSERT INTO berth_log (number, mark, digest, written_at, entries) SELECT %lld, ",
               (long long)row->number);
    mariadb_literal_binary(sql, row->mark);
    buf_append_lit(sql, ", ");
    mariadb_literal_binary(sql, row->before);
    buf_append_lit(sql, ", ");
    mariadb_literal_instant(sql, clock_wall_us());
    buf_append_lit(sql, ", ");
    mariadb_literal_blob(sql, row->entries);
    if (row->number > 1) {
        buf_printf(sql,
                   " FROM berth_log WHERE number = %lld AND mark = ", (long long)row->number - 1);
        mariadb_literal_binary(sql, mark_of(before));
    } else {
        buf_append_lit(sql, " FROM (SELECT 1) one WHERE NOT EXISTS (SELECT 1 FROM berth_log)");
    }
    buf_append_char(sql, ';');
}

/* Whether the row with that number is this one. */
static void append_is_there(int64_t number, struct slice mark, struct buf *sql)
{
    buf_printf(sql,
               "(SELECT COUNT(*) FROM berth_log WHERE number=%lld AND mark=", (long long)number);
    mariadb_literal_binary(sql, mark);
    buf_append_char(sql, ')');
}

void mariadb_log_sql_check(const struct log_row *row, struct buf *sql)
{
    buf_append_lit(sql, "SET @berth=IF(");
    append_is_there(row->number, row->mark, sql);
    buf_append_lit(sql, ",1,(SELECT 1 UNION SELECT 2));");
}

/* An empty log, the state before the first row, is one to which a row may still be on its way. */
void mariadb_log_sql_check_later(const struct mariadb_session *session, const struct log_row *row,
                                 const struct log_state *before, struct buf *sql)
{
    buf_append_lit(sql, "SET @berth=IF(");
    append_is_there(row->number, row->mark, sql);
    buf_append_lit(sql, ",1,IF(~0+(1-(");
    mariadb_backend_condition(session, sql);
    buf_append_lit(sql, "))");
    if (before != NULL && row->number > 1) {
        buf_append_lit(sql, " AND ");
        append_is_there(row->number - 1, mark_of(before), sql);
    }
    buf_append_lit(sql, ",(SELECT 1 UNION SELECT 2),1));");
}

static void free_result(void *answer)
{
    mariadb_rows_free(answer);
    free(answer);
}

void mariadb_log_rows(struct mariadb_rows *result, struct log_rows *rows)
{
    size_t count = mariadb_rows_count(result);
    struct mariadb_rows *owner = malloc(sizeof(*owner));
    check(owner != NULL);
    *owner = *result;
    *result = (struct mariadb_rows){0};
    *rows = (struct log_rows){.at = calloc(count + 1, sizeof(*rows->at)),
                              .count = count,
                              .answer = owner,
                              .free_answer = free_result};
    check(rows->at != NULL);
    for (size_t i = 0; i < count; i++) {
        struct log_row *row = &rows->at[i];
        if (!mariadb_rows_int(owner, i, 0, &row->number))
            row->number = 0;
        row->mark = mariadb_rows_bytes(owner, i, 1);
        row->before = mariadb_rows_bytes(owner, i, 2);
        row->entries = mariadb_rows_bytes(owner, i, 3);
    }
}

void mariadb_log_locked(struct mariadb_rows *result, struct locked_news *news)
{
    enum { EPOCH_COLUMN = 4 };
    *news = (struct locked_news){.is_there = mariadb_rows_count(result) > 0};
    if (!news->is_there)
        return;
    if (!mariadb_rows_int(result, 0, EPOCH_COLUMN, &news->epoch))
        news->epoch = 0;
    mariadb_log_rows(result, &news->since);
}

/* Also if it comes from another connection: somewhere the row was there. */
static void note_seen(const struct mariadb_rows *result, struct log_newest *newest)
{
    int64_t number = 0;
    if (mariadb_rows_count(result) > 0 && mariadb_rows_int(result, 0, 0, &number) &&
        number > newest->seen)
        newest->seen = number;
}

enum server_outcome mariadb_log_newest(struct mariadb_session *session, struct mariadb_rows *result,
                                       struct log_newest *newest, struct err *err)
{
    enum { READ_ONLY_COLUMN = 4, EPOCH_COLUMN, COLUMNS };
    _Static_assert((int)COLUMNS == (int)MARIADB_NEWEST_COLUMNS, "the rest is backend.h's");
    *newest = (struct log_newest){.seen = newest->seen};
    note_seen(result, newest);
    enum server_outcome outcome = mariadb_backend_check(session, result, COLUMNS, err);
    if (outcome != SERVER_OK)
        return outcome;
    if (!mariadb_rows_int(result, 0, EPOCH_COLUMN, &newest->epoch))
        newest->epoch = 0;
    bool is_empty = mariadb_rows_bytes(result, 0, 0).data == NULL;
    newest->is_primary =
        mariadb_rows_count(result) == 1 &&
        mariadb_value_accepts_writes(mariadb_rows_bytes(result, 0, READ_ONLY_COLUMN));
    newest->is_known = !is_empty && mariadb_rows_bytes(result, 0, 3).data == NULL;
    mariadb_log_rows(result, &newest->rows);
    if (is_empty)
        newest->rows.count = 0;
    return SERVER_OK;
}

enum server_outcome mariadb_log_newest_mark(struct mariadb_session *session,
                                            struct mariadb_rows *result,
                                            const struct log_state *known,
                                            struct log_newest *newest, bool *is_known,
                                            struct err *err)
{
    enum { READ_ONLY_COLUMN = 2, COLUMNS };
    int64_t number = 0;
    *newest = (struct log_newest){0};
    *is_known = false;
    if (mariadb_rows_count(result) == 0)
        return SERVER_OK;
    note_seen(result, newest);
    enum server_outcome outcome = mariadb_backend_check(session, result, COLUMNS, err);
    if (outcome != SERVER_OK)
        return outcome;
    bool has_number = mariadb_rows_int(result, 0, 0, &number);
    bool is_same = known->number == 0
                       ? mariadb_rows_bytes(result, 0, 0).data == NULL
                       : has_number && number == known->number &&
                             slice_equal(mariadb_rows_bytes(result, 0, 1), mark_of(known));
    *is_known =
        is_same && mariadb_value_accepts_writes(mariadb_rows_bytes(result, 0, READ_ONLY_COLUMN));
    newest->is_primary = *is_known;
    newest->is_known = *is_known && known->number > 0;
    if (newest->is_known) {
        mariadb_log_rows(result, &newest->rows);
        newest->rows.at[0].before = newest->rows.at[0].entries = (struct slice){0};
    }
    return SERVER_OK;
}

void mariadb_epoch_rows(const struct mariadb_rows *result, struct epoch_rows *rows)
{
    *rows = (struct epoch_rows){0};
    for (size_t i = 0; i < mariadb_rows_count(result); i++) {
        struct epoch_row row;
        if (mariadb_rows_int(result, i, 0, &row.epoch) &&
            mariadb_rows_int(result, i, 1, &row.number) &&
            mariadb_rows_int(result, i, 2, &row.began_us))
            epoch_rows_append(rows, &row);
    }
}
