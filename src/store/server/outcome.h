/* What became of an operation on a database server. */
#ifndef BERTH_STORE_SERVER_OUTCOME_H
#define BERTH_STORE_SERVER_OUTCOME_H

/* Everything but SERVER_OK, SERVER_END and SERVER_WOKEN sets the err (503). */
enum server_outcome {
    SERVER_OK,
    SERVER_REFUSED, /* because of the statement's own values: a constraint, or a value that the
                       type, the encoding or an index cannot hold. A transaction can only be rolled
                       back */
    SERVER_RETRY,   /* the server is in a state that passes, or does not accept writes, or the
                       transaction conflicted with another. A transaction can only be rolled back */
    SERVER_FAILED,  /* anything else that the server answers. A transaction can only be rolled back
                     */
    SERVER_LOST,    /* the connection has ended: a COMMIT may have happened all the same */
    SERVER_TIMEOUT, /* the deadline passed before the answer. The session has closed the connection,
                       so that nothing can be confused with a late answer; a COMMIT may happen all
                       the same */
    SERVER_END,     /* there are no more results or rows */
    SERVER_WOKEN,   /* the wake-up descriptor ended a wait; call the function again */
};

#endif
