/* Connecting to one of a URL's hosts, with a deadline. */
#ifndef BERTH_STORE_POSTGRES_SESSION_CONNECT_H
#define BERTH_STORE_POSTGRES_SESSION_CONNECT_H

#include <libpq-fe.h>
#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/failure.h"
#include "store/postgres/session/url.h"
#include "store/server/io.h"

/* Tries the hosts in their order, from *attempt on (0: the first), until one accepts; what libpq's
 * target_session_attrs accepts is decided for each host. All attempts end as soon as stop_fd is
 * readable (-1: none), or as `meanwhile` says (io.h). SERVER_OK: *conn is a non-blocking connection
 * of the caller, and *attempt is where to continue with the others. Otherwise SERVER_RETRY,
 * SERVER_FAILED or SERVER_TIMEOUT, the SQLSTATE in failure if a server answered, and err. */
enum server_outcome pg_connect(const struct pg_url *url, const char *application_name,
                               uint64_t deadline_us, struct server_meanwhile *meanwhile,
                               int stop_fd, size_t *attempt, PGconn **conn,
                               struct pg_failure *failure, struct err *err) BERTH_MUST_CHECK;

#endif
