/* See restoring.h. pg_restore first creates all tables, then fills them one by one, and creates the
 * primary key of a table only after all of its rows are there. Without --single-transaction, all of
 * this can be seen, and a partly filled database looks like one from which somebody has deleted
 * rows. One thread at a time. */
#include "store/postgres/session/restoring.h"

#include "base/buf.h"
#include "store/postgres/session/failure.h"
#include "store/rows.h"

/* Tables that are not there at all are somebody else's to create, or to report. */
static const char UNFINISHED[] =
    "SELECT min(name) FROM unnest($1::text[]) AS t (name)"
    " WHERE to_regclass(name) IS NOT NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_index"
    " WHERE indrelid = to_regclass(name) AND indisprimary AND indisvalid)";

/* As an array's text. */
static void append_tables(struct buf *names)
{
    buf_append_lit(names, "{berth_log");
    for (int table = 0; table < ROWS_PARENTS; table++)
        buf_printf(names, ",%s", rows_name((enum rows_table)table));
    buf_append_char(names, '}');
}

enum server_outcome pg_restoring_check(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err)
{
    struct buf names = {0};
    struct pg_rows rows = {0};
    append_tables(&names);
    const struct pg_parameter tables = pg_literal(buf_slice(&names));
    const struct pg_statement statement = {
        .sql = UNFINISHED, .parameters = &tables, .parameters_n = 1, .what = "read"};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    struct slice name = outcome == SERVER_OK ? pg_rows_bytes(&rows, 0, 0) : (struct slice){0};
    if (name.data != NULL)
        outcome = server_failure_set(
            SERVER_RETRY, pg_session_target(session), NULL,
            arena_printf(err->arena, "the table %.*s has no primary key; is it being restored?",
                         SLICE_ARG(name)),
            err);
    pg_rows_free(&rows);
    buf_free(&names);
    return outcome;
}
