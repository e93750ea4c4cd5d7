/* A session for a tool that runs beside servers. */
#ifndef BERTH_STORE_POSTGRES_SESSION_TOOL_SESSION_H
#define BERTH_STORE_POSTGRES_SESSION_TOOL_SESSION_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/session.h"

/* Until when a tool waits for an answer. An index on a large table takes minutes. */
uint64_t tool_session_deadline(void);

/* Connects to the database of the URL. The caller destroys the session. NULL: err is set. */
struct pg_session *tool_session_open(struct slice connection, struct err *err) BERTH_MUST_CHECK;

/* Begins a transaction in which no statement waits longer than a minute for a lock: one that
 * waited for ever would block all statements behind it. */
enum server_outcome tool_session_begin(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err) BERTH_MUST_CHECK;

/* From now on, no statement of the transaction waits for a lock for longer than half a second. That
 * is less than PostgreSQL's deadlock_timeout: whoever locks tables that others use in another order
 * gives up before the server ends the transaction of one of them. */
enum server_outcome tool_session_hurry(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err) BERTH_MUST_CHECK;

/* Whether the last statement failed because of a lock that others had: the transaction may succeed
 * if it is repeated a little later. */
bool tool_session_was_held_up(const struct pg_session *session);

/* After a failure: leaves the session without a transaction, or closes it. */
void tool_session_roll_back(struct pg_session *session, uint64_t deadline_us, struct arena *arena);

/* Until when such a transaction is repeated: for a minute from now. */
uint64_t tool_session_patience(void);

/* After tool_session_was_held_up(): rolls back, and waits a little. False: the transaction is not
 * to be repeated, because until_us has passed or the connection has ended. */
bool tool_session_give_way(struct pg_session *session, uint64_t until_us, uint64_t deadline_us,
                           struct arena *arena) BERTH_MUST_CHECK;

enum server_outcome tool_session_commit(struct pg_session *session, uint64_t deadline_us,
                                        struct err *err) BERTH_MUST_CHECK;

#endif
