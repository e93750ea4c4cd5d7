/* Moves the rows of berth_foreign (foreign_triggers.h) into rows of the log, so that every instance
 * knows of them, and so that they do not pile up. It does so as another instance would: memory
 * follows these rows as any others. One thread at a time for each session. */
#ifndef BERTH_STORE_MARIADB_FOREIGN_FOREIGN_LOG_H
#define BERTH_STORE_MARIADB_FOREIGN_FOREIGN_LOG_H

#include <stdint.h>

#include "base/err.h"
#include "store/mariadb/session/session.h"

enum { MARIADB_FOREIGN_MOVED_AT_ONCE = 10000 };

/* A transaction that has the lock of batches: appends a row to the log because of which everybody
 * compares all rows, and executes one more statement; "": none. After a failure, the transaction
 * may be open. */
enum server_outcome mariadb_foreign_log_everything(struct mariadb_session *session,
                                                   const char *also, uint64_t deadline_us,
                                                   struct err *err) BERTH_MUST_CHECK;

/* Moves what there is, in transactions of MARIADB_FOREIGN_MOVED_AT_ONCE rows, and adds to *moved
 * how many. If another node's transaction keeps winning, the rest is left for the next time
 * (SERVER_OK). After a failure, a transaction may be open. */
enum server_outcome mariadb_foreign_log_move(struct mariadb_session *session, uint64_t *moved,
                                             uint64_t deadline_us,
                                             struct err *err) BERTH_MUST_CHECK;

#endif
