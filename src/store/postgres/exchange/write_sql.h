/* The statements that write a bundle: one for many rows, whose columns are array parameters.
 *
 * An insert is generated from the table's columns. What must find its row names, if it does not,
 * the row's position in an error (write_sql_row()). */
#ifndef BERTH_STORE_POSTGRES_EXCHANGE_WRITE_SQL_H
#define BERTH_STORE_POSTGRES_EXCHANGE_WRITE_SQL_H

#include "store/bundle.h"
#include "store/postgres/session/array.h"
#include "store/rows.h"

enum { WRITE_SQL_ARRAYS_MOST = ROWS_CELLS_MAX };

/* Fills the statement's arrays with the rows of the bundle; returns their number. */
size_t write_sql_fill(const struct bundle *bundle, const struct change *changes,
                      struct pg_array arrays[static WRITE_SQL_ARRAYS_MOST]);

/* How much of a statement the change takes: the bytes of a record that is written. All other rows
 * are small, because clients cannot make them large. */
size_t write_sql_bytes(const struct change *change);

/* Appends the statement and a NUL byte that is not counted. */
void write_sql_append(enum bundle_kind kind, struct buf *sql);

/* The position in the bundle of the row that was not found, by the server's message (SQLSTATE
 * 22P02), whose quotation marks depend on its language. SIZE_MAX: the message names none. */
size_t write_sql_row(struct slice message);

#endif
