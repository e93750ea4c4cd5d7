/* The operations of placement-manage on the schema of a database.
 *
 * Each opens the database of that SQLAlchemy URL and closes it again. Source: operators spec,
 * Database. */
#ifndef BERTH_STORE_SCHEMA_H
#define BERTH_STORE_SCHEMA_H

#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"
#include "store/revisions.h"

/* db sync: creates the schema or upgrades it to the newest revision. On failure (here and below),
 * err has one clear line and nothing is changed. */
bool schema_sync(struct slice connection, struct err *err) BERTH_MUST_CHECK;

/* The revision as stored, even if unknown (at most 32 bytes and a NUL); empty if there is none. */
bool schema_version(struct slice connection, char revision[static 33],
                    struct err *err) BERTH_MUST_CHECK;

/* Writes the revision without migrating, but restores the indexes that the newest revision dropped
 * when the database is stamped with an older one: 8.0.0 then finds its own schema. "base" removes
 * the revision. */
bool schema_stamp(struct slice connection, struct slice revision, struct err *err) BERTH_MUST_CHECK;

#endif
