/* How every transaction that writes to the log begins and ends. Any thread.
 *
 * A node of a Galera cluster may roll a transaction back between two statements of a text, when it
 * applies what another node has committed, and does not stop the text: what follows is executed all
 * the same. So on a cluster
 * - autocommit is off, which makes of what follows a second transaction;
 * - the last statement before COMMIT fails unless the row of the log is there, which the first one
 *   has inserted: a second transaction is never committed;
 * - after COMMIT, which may have committed nothing, the row is looked for.
 * Whatever fails leaves autocommit off until mariadb_session_rollback(). */
#ifndef BERTH_STORE_MARIADB_LOG_WRITE_TEXTS_H
#define BERTH_STORE_MARIADB_LOG_WRITE_TEXTS_H

#include "base/buf.h"
#include "store/mariadb/session/session.h"
#include "store/server/log_rows.h"

/* Appends statements that begin a transaction and take the lock of batches, which they wait for as
 * long as lock_timeout_ms (0: as the server's default); whatever follows waits for locks of others
 * a short time only. They have MARIADB_LOCK_RESULTS results. If a session is `asked` for its sign,
 * result MARIADB_LOCK_ROW has the columns of backend.h from MARIADB_LOCK_COLUMNS on. */
enum { MARIADB_LOCK_RESULTS = 4, MARIADB_LOCK_ROW = 2, MARIADB_LOCK_COLUMNS = 1 };
void mariadb_write_texts_lock(bool is_cluster, int lock_timeout_ms,
                              const struct mariadb_session *asked, struct buf *sql);

/* Appends the end of a transaction that has inserted the row into the log, after so many other
 * statements of the same text. Returns which statement of the text is COMMIT, from 1. */
size_t mariadb_write_texts_commit(bool is_cluster, const struct log_row *row, size_t statements,
                                  struct buf *sql);

/* The same if the row is not inserted when the state before is not there: then nothing is, and this
 * succeeds, unless the text has come to another server than the session's, which need not have that
 * state yet. Nothing else is in the transaction. */
size_t mariadb_write_texts_commit_row(const struct mariadb_session *session,
                                      const struct log_row *row, const struct log_state *before,
                                      size_t statements, struct buf *sql);

#endif
