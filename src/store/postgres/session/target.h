/* The name of a database on a PostgreSQL server, for messages. */
#ifndef BERTH_STORE_POSTGRES_SESSION_TARGET_H
#define BERTH_STORE_POSTGRES_SESSION_TARGET_H

#include "base/arena.h"
#include "base/slice.h"

/* The values of libpq's parameters; empty: not set. */
struct pg_target {
    struct slice user;
    struct slice host; /* names, addresses and directories, separated by commas */
    struct slice port; /* one for all hosts, or as many as hosts, separated by commas */
    struct slice address;
    struct slice database;
    struct slice service;
};

/* "postgresql://user@host:port/db", "postgresql://user@a:1,b:2/db" or, for unix sockets,
 * "postgresql://user@/db?host=/directory". The text is in the arena. */
struct slice pg_target_render(struct arena *arena, const struct pg_target *target);

#endif
