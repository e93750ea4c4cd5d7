/* Failures of a PostgreSQL server. */
#ifndef BERTH_STORE_POSTGRES_SESSION_FAILURE_H
#define BERTH_STORE_POSTGRES_SESSION_FAILURE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/server/failure.h"

enum {
    PG_NAME_BYTES = 64,    /* of the server's names, with a NUL byte */
    PG_DETAIL_BYTES = 1280 /* fits a value of 255 characters with what is said about it */
};

/* Details of the last failure; empty texts if the server gave none. */
struct pg_failure {
    char sqlstate[6];
    char schema[PG_NAME_BYTES];
    char table[PG_NAME_BYTES];
    char column[PG_NAME_BYTES];
    char constraint[PG_NAME_BYTES];
    char detail[PG_DETAIL_BYTES]; /* cut to that length */
    size_t statement;    /* in a pipeline: the position of the statement that failed, from 0; their
                            number, if it is their end that failed */
    bool before_sending; /* SERVER_REFUSED: U+0000 in a text; nothing has been sent */
    size_t parameter;    /* before_sending: the position of the parameter, from 0 */
};

/* Which outcome the SQLSTATE stands for: SERVER_REFUSED for the classes 22, 23, 44 and 54,
 * SERVER_RETRY for the classes 08, 40, 53 and 57 and for a server that has become read-only
 * (25006), or else SERVER_FAILED. */
enum server_outcome pg_failure_classify(const char *sqlstate);

/* The reason that the SQLSTATE stands for. */
enum server_reason pg_failure_reason(const char *sqlstate);

/* Fills `failure` from a result of the server that reports an error. */
void pg_failure_read(struct pg_failure *failure, const PGresult *result);

#endif
