/* See write_texts.h.
 *
 * The lock is a row: on a Galera node it keeps the others of the node from working in vain, and
 * nothing elsewhere; the number of the log's row decides everywhere. Once it is held, only other
 * programs hold locks that matter, and all instances wait. */
#include "store/mariadb/write_texts.h"

enum { ROW_WAIT_S = 2, DEFAULT_WAIT_S = 50 };

void mariadb_write_texts_lock(int lock_timeout_ms, struct buf *sql)
{
    int wait_s = lock_timeout_ms > 0 ? (lock_timeout_ms + 999) / 1000 : DEFAULT_WAIT_S;
    buf_printf(sql,
               "SET innodb_lock_wait_timeout=%d;BEGIN;"
               "SELECT name FROM berth_locks WHERE name='batches' FOR UPDATE;"
               "SET innodb_lock_wait_timeout=%d;",
               wait_s, ROW_WAIT_S);
}
