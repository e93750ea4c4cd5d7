/* The database path in an SQLAlchemy URL. */
#ifndef BERTH_STORE_SQLITE_URL_H
#define BERTH_STORE_SQLITE_URL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"

/* Parses a URL of SQLite as SQLAlchemy does: nothing is percent-decoded, the query is ignored, an
 * empty path or ":memory:" is a database in memory (*path is then empty). *path points into `url`.
 * Fails with one line for other schemes and for a URL with user, host or port. */
bool sqlite_url_parse(struct slice url, struct slice *path, struct err *err) BERTH_MUST_CHECK;

#endif
