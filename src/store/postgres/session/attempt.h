/* One attempt to connect to one host. */
#ifndef BERTH_STORE_POSTGRES_SESSION_ATTEMPT_H
#define BERTH_STORE_POSTGRES_SESSION_ATTEMPT_H

#include <libpq-fe.h>
#include <stdint.h>

#include "store/postgres/session/failure.h"
#include "store/postgres/session/hosts.h"

struct pg_attempt {
    const struct pg_url *url;
    const char *application_name;
    const char *session_attrs; /* NULL: the URL's target_session_attrs */
    struct arena *arena;
    uint64_t deadline_us;
    struct server_meanwhile *meanwhile; /* io.h */
    int stop_fd;  /* readable: ends the attempt as its deadline does; -1: none */
    PGconn *conn; /* the caller's, if the outcome is SERVER_OK */
};

/* SERVER_OK, SERVER_RETRY, SERVER_FAILED or SERVER_TIMEOUT. Otherwise *reason is one line in the
 * arena, and failure has the SQLSTATE, if a server answered. */
enum server_outcome pg_attempt_run(struct pg_attempt *attempt, const struct pg_host *host,
                                   struct pg_failure *failure,
                                   struct slice *reason) BERTH_MUST_CHECK;

#endif
