/* See write_texts.h.
 *
 * The lock is a row: on a Galera node it keeps the others of the node from working in vain, and
 * nothing elsewhere; the number of the log's row decides everywhere. Once it is held, only other
 * programs hold locks that matter, and all instances wait.
 *
 * The checks do not wait for what the cluster has committed meanwhile (wsrep_sync_wait), as a
 * SELECT would: SET does not. */
#include "store/mariadb/log/write_texts.h"

#include "store/mariadb/log/locks.h"
#include "store/mariadb/log/log_sql.h"
#include "store/mariadb/session/backend.h"

enum { ROW_WAIT_S = 2, DEFAULT_WAIT_S = 50 };

void mariadb_write_texts_lock(bool is_cluster, int lock_timeout_ms,
                              const struct mariadb_session *asked, struct buf *sql)
{
    int wait_s = lock_timeout_ms > 0 ? (lock_timeout_ms + 999) / 1000 : DEFAULT_WAIT_S;
    buf_printf(sql, "SET %sinnodb_lock_wait_timeout=%d;BEGIN;SELECT name",
               is_cluster ? "autocommit=0, " : "", wait_s);
    if (asked != NULL)
        mariadb_backend_column(asked, sql);
    buf_printf(sql, MARIADB_LOCK_FROM "SET innodb_lock_wait_timeout=%d;", ROW_WAIT_S);
}

size_t mariadb_write_texts_commit(bool is_cluster, const struct log_row *row, size_t statements,
                                  struct buf *sql)
{
    if (!is_cluster) {
        buf_append_lit(sql, "COMMIT");
        return statements + 1;
    }
    mariadb_log_sql_check(row, sql);
    buf_append_lit(sql, "COMMIT;");
    mariadb_log_sql_check(row, sql);
    buf_append_lit(sql, "SET autocommit=1");
    return statements + 2;
}

size_t mariadb_write_texts_commit_row(const struct mariadb_session *session,
                                      const struct log_row *row, const struct log_state *before,
                                      size_t statements, struct buf *sql)
{
    buf_append_lit(sql, "COMMIT;");
    mariadb_log_sql_check_later(session, row, before, sql);
    if (mariadb_session_server(session)->is_galera)
        buf_append_lit(sql, "SET autocommit=1");
    return statements + 1;
}
