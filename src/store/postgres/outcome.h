/* What became of an operation on a PostgreSQL server. */
#ifndef BERTH_STORE_POSTGRES_OUTCOME_H
#define BERTH_STORE_POSTGRES_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

/* Everything but PG_OK, PG_END and PG_WOKEN sets the err (503). */
enum pg_outcome {
    PG_OK,
    PG_REFUSED, /* because of the statement's own values: a constraint (class 23), a value that the
                   type or the encoding cannot hold (class 22) or that is too large for an index
                   (class 54), a view's check (class 44). A
                   transaction can only be rolled back */
    PG_RETRY,   /* the server is in a state that passes, or the transaction conflicted with another:
                   classes 08, 40, 53 and 57, and a server that has become read-only (25006). A
                   transaction can only be rolled back */
    PG_FAILED,  /* anything else that the server answers. A transaction can only be rolled back */
    PG_LOST,    /* the connection has ended; see pg_session_commit() */
    PG_TIMEOUT, /* the deadline passed before the answer. The session has closed the connection, so
                   that nothing can be confused with a late answer; see
                   pg_session_commit() */
    PG_END,     /* there are no more results or rows */
    PG_WOKEN,   /* the wake-up descriptor ended a wait; call the function again */
};

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
    bool before_sending; /* PG_REFUSED: U+0000 in a text; nothing has been sent */
    size_t parameter;    /* before_sending: the position of the parameter, from 0 */
};

#endif
