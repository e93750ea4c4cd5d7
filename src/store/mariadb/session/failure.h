/* Failures of MariaDB and MySQL servers as results, kinds and names. */
#ifndef BERTH_STORE_MARIADB_SESSION_FAILURE_H
#define BERTH_STORE_MARIADB_SESSION_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "store/server/outcome.h"

enum {
    MARIADB_NAME_BYTES = 65 * 4, /* 64 characters, and a NUL byte */
    MARIADB_MESSAGE_BYTES = 512, /* the most that libmariadb keeps (MYSQL_ERRMSG_SIZE) */
};

/* What a failure means to the one who has sent the statement. */
enum mariadb_kind {
    MARIADB_OTHER,
    MARIADB_DUPLICATE,   /* a unique key has the value */
    MARIADB_REFERENCE,   /* a foreign key */
    MARIADB_CANNOT_HOLD, /* a column or a constraint does not accept the value */
    MARIADB_NOT_FOUND,   /* a check of berth's own: a statement did not find its rows (1242) */
    MARIADB_LOCKED,      /* a lock was waited for too long */
    MARIADB_CONFLICT,    /* another transaction won: deadlock, certification, changed row */
    MARIADB_READ_ONLY,   /* the server, or the transaction */
    MARIADB_PASSES,      /* a state of the server */
};

/* Details of the last failure; empty texts if the server gave none. */
struct mariadb_failure {
    unsigned code; /* 0: it was not the server, nor libmariadb */
    char sqlstate[6];
    enum mariadb_kind kind;
    char message[MARIADB_MESSAGE_BYTES]; /* the server's own, or libmariadb's, and nothing else */
    char table[MARIADB_NAME_BYTES];      /* of a duplicate, by MySQL only */
    char key[MARIADB_NAME_BYTES];    /* the unique key, the foreign key, the check, the trigger */
    char column[MARIADB_NAME_BYTES]; /* that cannot hold a value */
    uint64_t row;         /* the position of its row in the statement, from 1; 0: not known */
    size_t result;        /* the number of results of the text before the failure: the position of
                             the statement, from 0 */
    bool before_sending;  /* nothing has been sent */
    bool is_broken_table; /* the server has opened the table without its triggers, which it could
                            not read; a conflict with whoever changed them (foreign_reopen.h) */
    bool is_too_large;    /* the server's answer, so that the session has closed the connection */
};

/* Which of SERVER_REFUSED, SERVER_RETRY, SERVER_LOST and SERVER_FAILED the error's number stands
 * for. Any thread. */
enum server_outcome mariadb_failure_classify(unsigned code);

enum mariadb_kind mariadb_failure_kind(unsigned code);

/* Whether a COMMIT that is answered with it certainly does not happen. Any thread. */
bool mariadb_failure_of_commit_is_certain(unsigned code);

/* Whether a server that answers a login with it may accept the same login later. Any thread. */
bool mariadb_failure_of_login_passes(unsigned code, const char *message);

/* Fills everything but the positions, and returns the outcome. Names are read from the message,
 * which must be in English; any text is accepted. Any thread. */
enum server_outcome mariadb_failure_read(struct mariadb_failure *failure, unsigned code,
                                         const char *sqlstate, const char *message);

#endif
