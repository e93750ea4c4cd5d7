/* See ask.h. The session's thread. */
#include "store/mariadb/session/ask.h"

enum server_outcome mariadb_ask(struct mariadb_session *session, struct slice sql,
                                struct mariadb_rows *rows, uint64_t deadline_us, struct err *err)
{
    const struct mariadb_text text = {.sql = sql, .statements = 1, .what = "read"};
    return mariadb_session_execute(session, &text, rows, 1, NULL, deadline_us, err);
}

enum {
    DENIED_DATABASE = 1044,
    DENIED_TABLE = 1142,
    DENIED_COLUMN = 1143,
    DENIED_WITHOUT_RIGHT = 1227 /* one that is not of a table */
};

bool mariadb_was_denied(const struct mariadb_session *session)
{
    unsigned code = mariadb_session_failure(session)->code;
    return code == DENIED_DATABASE || code == DENIED_TABLE || code == DENIED_COLUMN ||
           code == DENIED_WITHOUT_RIGHT;
}

enum server_outcome mariadb_ask_if_allowed(struct mariadb_session *session, struct slice sql,
                                           struct mariadb_rows *rows, bool *is_allowed,
                                           uint64_t deadline_us, struct err *err)
{
    struct err why = {.arena = err->arena};
    enum server_outcome outcome = mariadb_ask(session, sql, rows, deadline_us, &why);
    *is_allowed = outcome == SERVER_OK;
    if (outcome == SERVER_OK || (mariadb_session_is_open(session) && mariadb_was_denied(session)))
        return SERVER_OK;
    err_set(err, why.status, NULL, "%.*s", SLICE_ARG(why.message));
    return outcome;
}

int64_t mariadb_answer_int(const struct mariadb_rows *rows, size_t row, size_t column)
{
    int64_t value = 0;
    return mariadb_rows_int(rows, row, column, &value) ? value : 0;
}
