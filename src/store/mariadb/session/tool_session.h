/* A session for a tool that runs beside servers. */
#ifndef BERTH_STORE_MARIADB_SESSION_TOOL_SESSION_H
#define BERTH_STORE_MARIADB_SESSION_TOOL_SESSION_H

#include <stdint.h>

#include "base/err.h"
#include "store/mariadb/session/session.h"

/* Until when a tool waits for an answer. An index on a large table takes minutes. */
uint64_t mariadb_tool_deadline(void);

/* Connects to the database of the URL. No statement waits longer than a minute for a lock: DDL that
 * waited for ever would block all statements behind it. The caller destroys the session. NULL: err
 * is set. */
struct mariadb_session *mariadb_tool_open(struct slice connection,
                                          struct err *err) BERTH_MUST_CHECK;

enum server_outcome mariadb_tool_commit(struct mariadb_session *session, const char *what,
                                        uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

#endif
