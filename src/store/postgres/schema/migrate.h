/* The schema of a database on a PostgreSQL server: upstream's, berth's own tables, and the standard
 * names.
 *
 * Whatever is changed is changed in one transaction, under an advisory lock: several tools and
 * instances can do it at once. */
#ifndef BERTH_STORE_POSTGRES_SCHEMA_MIGRATE_H
#define BERTH_STORE_POSTGRES_SCHEMA_MIGRATE_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/session.h"

/* For an instance that starts, on a connected session without a transaction: checks the revision
 * or, with `sync`, creates the schema or upgrades it to the newest; creates those of berth's own
 * tables and columns that are missing; inserts missing standard classes and traits. A database that
 * lacks nothing is only read, so that a user with few rights can serve it. The session may be
 * closed on failure (503). */
bool pg_migrate_at_start(struct pg_session *session, bool sync, uint64_t deadline_us,
                         struct err *err) BERTH_MUST_CHECK;

/* Inside a transaction that reads: whether berth can serve the revision, which is left in
 * `revision`. */
bool pg_migrate_check_served(struct pg_session *session, char revision[static 33],
                             uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* The functions of schema.h. A sync also creates berth's own tables. */
bool pg_migrate_sync(struct slice connection, struct err *err) BERTH_MUST_CHECK;
bool pg_migrate_version(struct slice connection, char revision[static 33],
                        struct err *err) BERTH_MUST_CHECK;
bool pg_migrate_stamp(struct slice connection, struct slice revision,
                      struct err *err) BERTH_MUST_CHECK;

#endif
