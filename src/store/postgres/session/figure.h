/* Numbers that the server was asked for. What it answers depends on its schema, where any type may
 * have been altered and any function hidden by another one, so an answer may be no number. */
#ifndef BERTH_STORE_POSTGRES_SESSION_FIGURE_H
#define BERTH_STORE_POSTGRES_SESSION_FIGURE_H

#include "base/err.h"
#include "store/postgres/session/session.h"

/* Reads a number out of rows that the session has received. SERVER_FAILED: it is NULL, missing, or
 * of another type; *value is then 0. */
enum server_outcome pg_figure_read(const struct pg_session *session, const struct pg_rows *rows,
                                   size_t row, size_t column, int64_t *value,
                                   struct err *err) BERTH_MUST_CHECK;

/* Executes a statement without parameters that returns one number. */
enum server_outcome pg_figure_ask(struct pg_session *session, const char *sql, int64_t *value,
                                  uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

#endif
