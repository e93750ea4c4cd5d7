/* One attempt to connect to a MariaDB or MySQL server. */
#ifndef BERTH_STORE_MARIADB_SESSION_ATTEMPT_H
#define BERTH_STORE_MARIADB_SESSION_ATTEMPT_H

#include <mysql.h>
#include <stdint.h>

#include "base/arena.h"
#include "store/mariadb/session/failure.h"
#include "store/mariadb/session/login.h"
#include "store/server/io.h"
#include "store/server/outcome.h"

struct mariadb_attempt {
    const struct mariadb_login *login;
    const char *program_name; /* unless the login has one */
    struct arena *arena;      /* for the reason */
    uint64_t deadline_us;
    struct server_meanwhile *meanwhile; /* NULL: nothing */
    int stop_fd; /* readable: ends the attempt as its deadline does; -1: none */
    MYSQL *conn; /* the caller's, if the outcome is SERVER_OK: non-blocking, to be used with the
                    functions that have _start and _cont */
};

enum {
    MARIADB_PACKET_BYTES_MOST = 128 * 1024 * 1024 /* of one row that a server may send */
};

/* SERVER_OK, SERVER_RETRY, SERVER_FAILED or SERVER_TIMEOUT. Otherwise *reason is one line in the
 * arena, and failure has the number, if a server or libmariadb gave one. Any thread. */
enum server_outcome mariadb_attempt_run(struct mariadb_attempt *attempt,
                                        struct mariadb_failure *failure,
                                        struct slice *reason) BERTH_MUST_CHECK;

#endif
