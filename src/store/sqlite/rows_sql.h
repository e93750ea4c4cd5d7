/* The statements that read upstream's tables, generated from the tables of columns (store/rows.h).
 */
#ifndef BERTH_STORE_SQLITE_ROWS_SQL_H
#define BERTH_STORE_SQLITE_ROWS_SQL_H

#include "base/buf.h"
#include "store/rows.h"

/* Append a statement, terminated by a NUL that is not counted. Its columns are the table's cells.
 */

/* Reads all rows in the order of their ids; those of links, which have none, in that of their
 * rowids. */
void rows_sql_all(enum rows_table table, struct buf *sql);

/* Reads the rows whose first column, or, for allocations, the id of whose consumer is ?1. It leaves
 * out rows that refer to a row that does not exist or is invisible. */
void rows_sql_of_id(enum rows_table table, struct buf *sql);

#endif
