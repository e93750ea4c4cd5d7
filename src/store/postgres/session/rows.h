/* The rows of a result. */
#ifndef BERTH_STORE_POSTGRES_SESSION_ROWS_H
#define BERTH_STORE_POSTGRES_SESSION_ROWS_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "base/slice.h"

/* Owned by whom it was given to, and independent of the session. All zero: no rows. */
struct pg_rows {
    PGresult *result;
};

void pg_rows_free(struct pg_rows *rows);

size_t pg_rows_count(const struct pg_rows *rows);

/* The number of rows that the statement inserted, updated, deleted or returned. */
uint64_t pg_rows_affected(const struct pg_rows *rows);

/* A value's text or binary form, followed by a NUL byte that is not counted; valid as long as the
 * rows. Without data for NULL, and for a column that the result does not have. */
struct slice pg_rows_bytes(const struct pg_rows *rows, size_t row, size_t column);

/* A value of smallint, integer, bigint, oid or boolean, in either form. False: it is NULL, or
 * something else. */
bool pg_rows_int(const struct pg_rows *rows, size_t row, size_t column,
                 int64_t *value) BERTH_MUST_CHECK;

/* A value of real or double precision, in either form. False as above. */
bool pg_rows_float(const struct pg_rows *rows, size_t row, size_t column,
                   double *value) BERTH_MUST_CHECK;

#endif
