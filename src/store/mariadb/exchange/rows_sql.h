/* Statements that read rows, generated from the tables' columns (store/rows.h). */
#ifndef BERTH_STORE_MARIADB_EXCHANGE_ROWS_SQL_H
#define BERTH_STORE_MARIADB_EXCHANGE_ROWS_SQL_H

#include "base/buf.h"
#include "store/mariadb/session/indexes.h"
#include "store/rows.h"

/* Each appends a statement with a ";" after it, whose columns are the table's cells. */

/* All rows, in the order of their ids if they have any. The ids of allocations' consumers are left
 * NULL: the caller knows them (store/server/consumer_ids.h). */
void mariadb_rows_sql_all(enum rows_table table, struct buf *sql);

/* The rows whose first column (for allocations: whose consumer's id) is one of the ids, at least
 * one, in the order of that column, and then of their own ids. Only those that refer to visible
 * rows; the one they were asked for by is not checked. */
void mariadb_rows_sql_of_ids(enum rows_table table, const int64_t *ids, size_t count,
                             const struct mariadb_indexes *indexes, struct buf *sql);

/* The rows of a table that were inserted or updated at that time, in seconds since 1970, or later.
 * The ids of allocations' consumers are left NULL. */
void mariadb_rows_sql_since(enum rows_table table, int64_t since, struct buf *sql);

#endif
