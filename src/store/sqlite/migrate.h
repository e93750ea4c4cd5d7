/* The schema of an open database: which revision it is at, and bringing it to one. */
#ifndef BERTH_STORE_SQLITE_MIGRATE_H
#define BERTH_STORE_SQLITE_MIGRATE_H

#include "store/schema.h"
#include "store/sqlite/db.h"

/* Inside a write transaction: checks the revision, with `sync` creates or upgrades to the newest,
 * makes our own tables. */
bool migrate_at_open(struct db *db, bool sync, struct err *err) BERTH_MUST_CHECK;

/* Of a file that cannot be written: whether it can be served as it is. */
bool migrate_check_read_only(struct db *db, struct err *err) BERTH_MUST_CHECK;

/* Inside a write transaction: inserts the standard classes and traits that are missing, in the
 * order of data/. Upstream does this at every start, synchronised schema or not. */
bool standard_sync(struct db *db, struct err *err) BERTH_MUST_CHECK;

#endif
