/* Failures of a database server as messages. */
#ifndef BERTH_STORE_SERVER_FAILURE_H
#define BERTH_STORE_SERVER_FAILURE_H

#include "base/err.h"
#include "store/server/outcome.h"

/* Why a server has refused something, as far as the store makes a difference. */
enum server_reason {
    SERVER_REASON_OTHER,
    SERVER_REASON_LOCKED,   /* a lock was not free in time */
    SERVER_REASON_CONFLICT, /* with another transaction: the same may succeed now */
    SERVER_REASON_READ_ONLY,
    SERVER_REASON_DUPLICATE,    /* a row with the same value is there */
    SERVER_REASON_DUPLICATE_ID, /* the same of the row's id */
    SERVER_REASON_REFERENCE,    /* a row that is referred to is not there, or one that is deleted is
                                   referred to */
    SERVER_REASON_NOT_FOUND,    /* the row is not there as memory has it */
    SERVER_REASON_CANNOT_HOLD,  /* the value is none for this column */
};

/* The first line of a message of the server or of its client library, without control characters,
 * cut to a length that fits a log line. In the arena. */
struct slice server_failure_line(struct arena *arena, const char *message);

/* Sets err to "the database 'TARGET' cannot be WHAT: REASON" (NULL: "used"), and returns the
 * outcome. */
enum server_outcome server_failure_set(enum server_outcome outcome, struct slice target,
                                       const char *what, struct slice reason, struct err *err);

#endif
