/* The statements with which every transaction that writes to the log begins. Any thread. */
#ifndef BERTH_STORE_MARIADB_WRITE_TEXTS_H
#define BERTH_STORE_MARIADB_WRITE_TEXTS_H

#include "base/buf.h"

/* Appends statements that begin a transaction and take the lock of batches, which they wait for as
 * long as lock_timeout_ms (0: as the server's default); whatever follows waits for locks of others
 * a short time only. They have MARIADB_LOCK_RESULTS results. */
enum { MARIADB_LOCK_RESULTS = 4 };
void mariadb_write_texts_lock(int lock_timeout_ms, struct buf *sql);

#endif
