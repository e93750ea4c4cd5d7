/* Whether the database is complete, or still being restored. */
#ifndef BERTH_STORE_POSTGRES_SESSION_RESTORING_H
#define BERTH_STORE_POSTGRES_SESSION_RESTORING_H

#include "store/postgres/session/session.h"

/* SERVER_RETRY: a table that memory is read from has no primary key. One query; within a snapshot,
 * of its state. */
enum server_outcome pg_restoring_check(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err) BERTH_MUST_CHECK;

#endif
