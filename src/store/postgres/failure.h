/* Failures of a PostgreSQL server as results and messages. */
#ifndef BERTH_STORE_POSTGRES_FAILURE_H
#define BERTH_STORE_POSTGRES_FAILURE_H

#include <libpq-fe.h>

#include "base/err.h"
#include "store/postgres/outcome.h"

/* Which of PG_REFUSED, PG_RETRY and PG_FAILED the SQLSTATE stands for. */
enum pg_outcome pg_failure_classify(const char *sqlstate);

/* The first line of a message of the server or of libpq, without control characters, cut to a
 * length that fits a log line. In the arena. */
struct slice pg_failure_line(struct arena *arena, const char *message);

/* Sets err to "the database 'TARGET' cannot be WHAT: REASON", and returns the result. */
enum pg_outcome pg_failure_set(enum pg_outcome result, struct slice target, const char *what,
                               struct slice reason, struct err *err);

/* Fills `failure` from a result of the server that reports an error. */
void pg_failure_read(struct pg_failure *failure, const PGresult *result);

#endif
