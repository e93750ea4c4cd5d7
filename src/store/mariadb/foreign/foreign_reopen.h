/* Lets the server open upstream's tables again.
 *
 * MariaDB reads the triggers of a table when it opens it. If a Galera node ends the statement that
 * needs the table at that moment, because somebody changes the schema of another table that its
 * transaction uses, the server takes this for a syntax error in a trigger. The table stays open
 * without its triggers, and each write that gets it is refused (is_broken_table in
 * session/failure.h), until all of its uses are closed. One thread at a time for each session. */
#ifndef BERTH_STORE_MARIADB_FOREIGN_FOREIGN_REOPEN_H
#define BERTH_STORE_MARIADB_FOREIGN_FOREIGN_REOPEN_H

#include <stdint.h>

#include "base/err.h"
#include "store/mariadb/session/session.h"

/* One of upstream's tables; in no transaction. Nothing is written, and other nodes do nothing. It
 * is tried for a second. SERVER_RETRY with MARIADB_LOCKED: transactions use the table all the time.
 */
enum server_outcome mariadb_foreign_reopen(struct mariadb_session *session, const char *table,
                                           uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* After a statement was refused because a table is open without its triggers: ends the transaction,
 * and reopens the table. Whether the transaction is to be tried again: not if the table was
 * reopened a moment ago, and the trigger is refused all the same. */
bool mariadb_foreign_mend(struct mariadb_session *session, uint64_t deadline_us) BERTH_MUST_CHECK;

#endif
