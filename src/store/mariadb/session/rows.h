/* The rows of a result. */
#ifndef BERTH_STORE_MARIADB_SESSION_ROWS_H
#define BERTH_STORE_MARIADB_SESSION_ROWS_H

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct mariadb_cell;

/* A copy of a result, independent of the session, owned by whom it was given to. All zero: no
 * rows. */
struct mariadb_rows {
    struct buf bytes; /* the values, each followed by a NUL byte */
    struct mariadb_cell *cells;
    size_t cells_n, cells_room;
    struct buf types;  /* a byte for each column */
    uint64_t affected; /* rows that the statement inserted or deleted, or that an UPDATE found */
    uint64_t insert_id;
};

void mariadb_rows_free(struct mariadb_rows *rows);

size_t mariadb_rows_count(const struct mariadb_rows *rows);

/* A value's text, followed by a NUL byte that is not counted; valid as long as the rows. Without
 * data for NULL, and for a column that the result does not have. */
struct slice mariadb_rows_bytes(const struct mariadb_rows *rows, size_t row, size_t column);

/* A value of an integer type, or of a DECIMAL without a fraction (such as SUM() of integers).
 * False: it is NULL, or something else. */
bool mariadb_rows_int(const struct mariadb_rows *rows, size_t row, size_t column,
                      int64_t *value) BERTH_MUST_CHECK;

/* A value of FLOAT, DOUBLE or DECIMAL. False as above. The server writes a FLOAT with six digits:
 * a statement that needs it exactly must convert it to DOUBLE. */
bool mariadb_rows_float(const struct mariadb_rows *rows, size_t row, size_t column,
                        double *value) BERTH_MUST_CHECK;

/* ---- filling ---- */

/* Forgets the values, and takes the columns of the result. */
void mariadb_rows_begin(struct mariadb_rows *rows, MYSQL_RES *result);

/* Forgets the values, and keeps the columns. */
void mariadb_rows_clear(struct mariadb_rows *rows);

/* Copies a row of the result that mariadb_rows_begin() was called with. */
void mariadb_rows_append(struct mariadb_rows *rows, MYSQL_ROW row, const unsigned long *lengths);

#endif
