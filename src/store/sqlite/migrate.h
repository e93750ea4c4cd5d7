/* The schema of an open database: reads its revision, and upgrades it. */
#ifndef BERTH_STORE_SQLITE_MIGRATE_H
#define BERTH_STORE_SQLITE_MIGRATE_H

#include <limits.h>

#include "store/sqlite/db.h"
#include "store/store.h"

/* Inside a write transaction: checks the revision, with `sync` creates the schema or upgrades it to
 * the newest, and creates our own tables. */
bool migrate_at_open(struct db *db, bool sync, struct err *err) BERTH_MUST_CHECK;

/* Inside a transaction: whether berth can serve the revision. */
bool migrate_check_served(struct db *db, char revision[static STORE_REVISION_BYTES],
                          struct err *err) BERTH_MUST_CHECK;

/* The stored revision, "" if there is none. */
bool migrate_read_revision(struct db *db, char revision[static STORE_REVISION_BYTES],
                           struct err *err) BERTH_MUST_CHECK;

/* For a file that cannot be written: whether it can be served as it is. */
bool migrate_check_read_only(struct db *db, struct err *err) BERTH_MUST_CHECK;

/* Opens the database of a URL for a tool that runs beside servers; to_look: for a tool that only
 * reads and creates no file. `path` keeps its name, for messages. */
bool migrate_open_for_tool(struct db *db, struct slice connection, char path[static PATH_MAX],
                           bool create, struct err *err) BERTH_MUST_CHECK;
bool migrate_open_to_look(struct db *db, struct slice connection, char path[static PATH_MAX],
                          struct err *err) BERTH_MUST_CHECK;

/* The functions of schema.h for files. */
bool migrate_sync(struct slice connection, struct err *err) BERTH_MUST_CHECK;
bool migrate_version(struct slice connection, char revision[static 33],
                     struct err *err) BERTH_MUST_CHECK;
bool migrate_stamp(struct slice connection, struct slice revision,
                   struct err *err) BERTH_MUST_CHECK;

/* Inside a write transaction: inserts missing standard classes and traits, in the order of data/.
 * Upstream does this at every start, whether or not the schema is synchronised. */
bool standard_sync(struct db *db, struct err *err) BERTH_MUST_CHECK;

#endif
