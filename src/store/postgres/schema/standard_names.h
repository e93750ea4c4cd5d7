/* Standard resource classes and traits on PostgreSQL. */
#ifndef BERTH_STORE_POSTGRES_SCHEMA_STANDARD_NAMES_H
#define BERTH_STORE_POSTGRES_SCHEMA_STANDARD_NAMES_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/session.h"

/* The number of those that the database lacks. */
enum server_outcome standard_names_count_missing(struct pg_session *session, int64_t *count,
                                                 uint64_t deadline_us,
                                                 struct err *err) BERTH_MUST_CHECK;

/* Inside a transaction: inserts them, in the order of data/. Upstream does this at every start,
 * whether or not the schema is synchronised. */
enum server_outcome standard_names_insert(struct pg_session *session, uint64_t deadline_us,
                                          struct err *err) BERTH_MUST_CHECK;

#endif
