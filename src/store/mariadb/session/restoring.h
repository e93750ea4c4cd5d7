/* Whether the database is complete, or still being restored. */
#ifndef BERTH_STORE_MARIADB_SESSION_RESTORING_H
#define BERTH_STORE_MARIADB_SESSION_RESTORING_H

#include "store/mariadb/session/session.h"

/* SERVER_RETRY: some of the tables of upstream are there, but not all of them, or one has no
 * primary key, or has rows that refer to a table without any. Two queries, the second of which is
 * of the state of a snapshot. */
enum server_outcome mariadb_restoring_check(struct server_session *session, uint64_t deadline_us,
                                            struct err *err) BERTH_MUST_CHECK;

#endif
