/* Failures of a database server as messages. */
#ifndef BERTH_STORE_SERVER_FAILURE_H
#define BERTH_STORE_SERVER_FAILURE_H

#include "base/err.h"
#include "store/server/outcome.h"

/* The first line of a message of the server or of its client library, without control characters,
 * cut to a length that fits a log line. In the arena. */
struct slice server_failure_line(struct arena *arena, const char *message);

/* Sets err to "the database 'TARGET' cannot be WHAT: REASON" (NULL: "used"), and returns the
 * outcome. */
enum server_outcome server_failure_set(enum server_outcome outcome, struct slice target,
                                       const char *what, struct slice reason, struct err *err);

#endif
