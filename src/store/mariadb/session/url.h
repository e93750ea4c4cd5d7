/* Connection parameters from a database URL as SQLAlchemy accepts it for MariaDB and MySQL. */
#ifndef BERTH_STORE_MARIADB_SESSION_URL_H
#define BERTH_STORE_MARIADB_SESSION_URL_H

#include <stdbool.h>

#include "base/err.h"
#include "store/mariadb/session/url_fields.h"

/* Whether the URL is meant for MariaDB or MySQL, so that mariadb_url_parse() explains what is wrong
 * with it. Any thread. */
bool mariadb_url_matches(struct slice url);

/* Parses a URL as SQLAlchemy's make_url() and its MySQL dialects do, and appends `parameters`
 * (oslo.db's connection_parameters: "name=value&name=value", or empty) to its query as oslo.db
 * does.
 *
 * False with one line (503), which never has a secret in it: another driver; a parameter that is
 * unknown, given twice, or has a value that would be misread; and whatever SQLAlchemy accepts but
 * would misread (U+0000, bytes that are not UTF-8, text that it drops, an unencoded "@"). Any
 * thread. */
bool mariadb_url_parse(struct slice url, struct slice parameters, struct arena *arena,
                       struct mariadb_url *parsed, struct err *err) BERTH_MUST_CHECK;

/* A copy in the arena. Any thread. */
struct mariadb_url mariadb_url_copy(const struct mariadb_url *url, struct arena *arena);

#endif
