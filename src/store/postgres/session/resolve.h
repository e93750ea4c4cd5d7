/* The addresses of a host name, with a deadline. */
#ifndef BERTH_STORE_POSTGRES_SESSION_RESOLVE_H
#define BERTH_STORE_POSTGRES_SESSION_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/check.h"
#include "store/server/io.h"

enum pg_resolved {
    PG_RESOLVED, /* the addresses are texts in the arena, in the system's order of preference */
    PG_RESOLVE_FAILS, /* *reason is set, a constant text */
    PG_RESOLVE_LATE,  /* the deadline has passed */
};

/* Whether libpq has to look the name up: it is not an address, a directory, or an abstract socket.
 */
bool pg_resolve_is_name(const char *host);

/* At most `most` addresses. PG_RESOLVE_LATE also soon after stop_fd is readable (-1: none), or as
 * `meanwhile` says. Any thread. */
enum pg_resolved pg_resolve(const char *host, uint64_t deadline_us,
                            struct server_meanwhile *meanwhile, int stop_fd, struct arena *arena,
                            size_t most, const char **addresses, size_t *count,
                            const char **reason) BERTH_MUST_CHECK;

#endif
