/* The schema of a database on a MariaDB or MySQL server: upstream's, berth's own tables, and the
 * standard names.
 *
 * DDL is not part of a transaction there. A change that is broken off at any point is completed by
 * the next sync or start. Several tools and instances can do it at once, also on several Galera
 * nodes. */
#ifndef BERTH_STORE_MARIADB_SCHEMA_MIGRATE_H
#define BERTH_STORE_MARIADB_SCHEMA_MIGRATE_H

#include <stdint.h>

#include "base/err.h"
#include "store/mariadb/session/session.h"

/* For an instance that starts, on a connected session without a transaction: checks the revision
 * or, with `sync`, creates the schema or upgrades it to the newest; creates those of berth's own
 * tables and columns that are missing; inserts missing standard classes and traits. A database that
 * lacks nothing is only read, so that a user with few rights can serve it. The session may be
 * closed on failure (503). */
bool mariadb_migrate_at_start(struct mariadb_session *session, bool sync, uint64_t deadline_us,
                              struct err *err) BERTH_MUST_CHECK;

/* Inside a transaction that reads: whether berth can serve the revision, which is left in
 * `revision`. */
bool mariadb_migrate_check_served(struct mariadb_session *session, char revision[static 33],
                                  uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* The functions of schema.h. A sync also creates berth's own tables. */
bool mariadb_migrate_sync(struct slice connection, struct err *err) BERTH_MUST_CHECK;
bool mariadb_migrate_version(struct slice connection, char revision[static 33],
                             struct err *err) BERTH_MUST_CHECK;
bool mariadb_migrate_stamp(struct slice connection, struct slice revision,
                           struct err *err) BERTH_MUST_CHECK;

#endif
