/* Moves the rows of berth_foreign (foreign_rows.h) into rows of the log, so that every instance
 * knows of them, and so that they do not pile up. It does so as another instance would: memory
 * follows these rows as any others. One thread at a time for each session. */
#ifndef BERTH_STORE_POSTGRES_FOREIGN_FOREIGN_LOG_H
#define BERTH_STORE_POSTGRES_FOREIGN_FOREIGN_LOG_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/session.h"

enum { FOREIGN_MOVED_AT_ONCE = 10000 };

/* Within a transaction of READ COMMITTED that has the lock of batches (PG_TAKE_LOCK): appends a
 * row to the log because of which everybody compares all rows. */
enum server_outcome foreign_log_everything(struct pg_session *session, uint64_t deadline_us,
                                           struct err *err) BERTH_MUST_CHECK;

/* Moves what there is, in transactions of FOREIGN_MOVED_AT_ONCE rows, and adds to *moved how many.
 * After a failure, a transaction may be open. */
enum server_outcome foreign_log_move(struct pg_session *session, uint64_t *moved,
                                     uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

#endif
