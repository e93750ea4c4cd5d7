/* Which row of a chunk was not there in the form that memory has. A check only tells that one was
 * (write_sql.h). */
#ifndef BERTH_STORE_MARIADB_SCHEMA_MISSING_H
#define BERTH_STORE_MARIADB_SCHEMA_MISSING_H

#include "base/buf.h"
#include "store/bundle.h"
#include "store/mariadb/session/rows.h"

/* Appends a statement, with a ";" after it, that reads the rows of the chunk as they are now.
 * False: its kind is not checked. */
bool mariadb_missing_append(const struct bundle *chunk, const struct change *changes,
                            struct buf *sql);

/* The index in the batch of the first change whose row its result does not have as the change
 * expects it; SIZE_MAX: all are there. */
size_t mariadb_missing_find(const struct bundle *chunk, const struct change *changes,
                            const struct mariadb_rows *rows);

#endif
