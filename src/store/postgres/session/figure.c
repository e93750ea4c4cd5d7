/* See figure.h. The session's thread. */
#include "store/postgres/session/figure.h"

#include "store/postgres/session/failure.h"

enum server_outcome pg_figure_read(const struct pg_session *session, const struct pg_rows *rows,
                                   size_t row, size_t column, int64_t *value, struct err *err)
{
    if (pg_rows_int(rows, row, column, value))
        return SERVER_OK;
    *value = 0;
    return server_failure_set(SERVER_FAILED, pg_session_target(session), "read",
                              SLICE_LIT("the server's answer is not a number"), err);
}

enum server_outcome pg_figure_ask(struct pg_session *session, const char *sql, int64_t *value,
                                  uint64_t deadline_us, struct err *err)
{
    const struct pg_statement statement = {.sql = sql, .what = "read"};
    struct pg_rows rows = {0};
    *value = 0;
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_figure_read(session, &rows, 0, 0, value, err);
    pg_rows_free(&rows);
    return outcome;
}
