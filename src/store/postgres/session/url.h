/* libpq's connection parameters from a database URL as SQLAlchemy accepts it. */
#ifndef BERTH_STORE_POSTGRES_SESSION_URL_H
#define BERTH_STORE_POSTGRES_SESSION_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

/* For PQconnectStartParams(). Everything is in the arena of the parse. */
struct pg_url {
    const char **keywords; /* `count` names, in libpq's order, and NULL */
    const char **values;   /* `count` values, none of them empty, and NULL */
    size_t count;
    struct slice target; /* for messages: "postgresql://user@host:port/db", never with a password */
};

/* Whether the URL is meant for PostgreSQL, so that pg_url_parse() explains what is wrong with
 * it. Any thread. */
bool pg_url_matches(struct slice url);

/* Parses a URL as SQLAlchemy's make_url() and its psycopg2 dialect do, and appends `parameters`
 * (oslo.db's connection_parameters: "name=value&name=value", or empty) to its query as oslo.db
 * does. The environment and libpq's service file are left to libpq.
 *
 * False with one line (503), which never has a secret in it: another driver; a parameter that libpq
 * does not know, or that is given twice; and whatever SQLAlchemy accepts but would misread (U+0000,
 * bytes that are not UTF-8, text that it drops, an unencoded "@"). Any thread. */
bool pg_url_parse(struct slice url, struct slice parameters, struct arena *arena,
                  struct pg_url *parsed, struct err *err) BERTH_MUST_CHECK;

/* The value of one of libpq's keywords; NULL: it is not set. */
const char *pg_url_value(const struct pg_url *url, const char *keyword);

#endif
