/* The statements that read and write rows of the log, and their results. Any thread. */
#ifndef BERTH_STORE_MARIADB_LOG_LOG_SQL_H
#define BERTH_STORE_MARIADB_LOG_LOG_SQL_H

#include "base/buf.h"
#include "store/mariadb/session/session.h"
#include "store/server/dialect.h"
#include "store/server/epochs.h"
#include "store/server/log_rows.h"

/* Each appends a statement with a ";" after it. */

/* Reads the newest row, and whether the server accepts writes: one row, of NULLs if the log is
 * empty. If it has the mark of `known` (NULL: none is), it comes without its entries; otherwise
 * with the newest epoch. The columns of backend.h follow from MARIADB_NEWEST_COLUMNS on. */
enum { MARIADB_NEWEST_COLUMNS = 6 };
void mariadb_log_sql_newest(const struct mariadb_session *session, const struct log_state *known,
                            struct buf *sql);

/* Reads the number and the mark of the newest row, and whether the server accepts writes. `known`:
 * what memory has, all zero if that is the empty log. Strict reads ask this thousands of times a
 * second, and it is half the work for the server. */
void mariadb_log_sql_newest_mark(const struct mariadb_session *session,
                                 const struct log_state *known, struct buf *sql);

/* The rows from a number on; only the first `least` of them, if all are too many to be followed. */
void mariadb_log_sql_since(const struct mariadb_session *session, const struct log_range *since,
                           int64_t least, struct buf *sql);
/* The same, each row with the newest epoch; none, if there are too many. Everybody waits for
 * whoever has the lock, and a result of its own would be sent on its own, and wake the writer once
 * more. */
void mariadb_log_sql_locked(const struct mariadb_session *session, const struct log_range *since,
                            struct buf *sql);
/* What became of a text with either. */
void mariadb_log_since_end(struct mariadb_session *session, enum server_outcome outcome);

/* All epochs, in their order. */
void mariadb_log_sql_epochs(struct buf *sql);

/* Inserts a row, if the state before is there; otherwise nothing. */
void mariadb_log_sql_insert(const struct log_row *row, const struct log_state *before,
                            struct buf *sql);

/* Fails with 1242 unless the row is there, which an earlier statement of the text has inserted. */
void mariadb_log_sql_check(const struct log_row *row, struct buf *sql);

/* The same in another text than the state before the row was seen in, and it succeeds too if that
 * state, unless it is NULL, is gone. Meanwhile a proxy may have continued the connection on another
 * node, which need not have either row yet: there it fails with 1690, unless the row is there. */
void mariadb_log_sql_check_later(const struct mariadb_session *session, const struct log_row *row,
                                 const struct log_state *before, struct buf *sql);

/* Moves a result whose first columns are number, mark, digest and entries. */
void mariadb_log_rows(struct mariadb_rows *result, struct log_rows *rows);
/* The same of mariadb_log_sql_locked(). Nothing is there if there are no rows. */
void mariadb_log_locked(struct mariadb_rows *result, struct locked_news *news);
/* The same of the newest row, if it comes from the session's own connection (backend.h). */
enum server_outcome mariadb_log_newest(struct mariadb_session *session, struct mariadb_rows *result,
                                       struct log_newest *newest, struct err *err) BERTH_MUST_CHECK;
/* The answer to that question, if the newest row is `known` and the server accepts writes.
 * Otherwise *is_known is false, the answer says nothing, and mariadb_log_sql_newest() has to ask.
 */
enum server_outcome mariadb_log_newest_mark(struct mariadb_session *session,
                                            struct mariadb_rows *result,
                                            const struct log_state *known,
                                            struct log_newest *newest, bool *is_known,
                                            struct err *err) BERTH_MUST_CHECK;
void mariadb_epoch_rows(const struct mariadb_rows *result, struct epoch_rows *rows);

#endif
