/* Statements that read rows, generated from the tables' columns (store/rows.h). */
#ifndef BERTH_STORE_POSTGRES_EXCHANGE_ROWS_SQL_H
#define BERTH_STORE_POSTGRES_EXCHANGE_ROWS_SQL_H

#include "store/rows.h"

/* Each appends a statement and a NUL byte that is not counted. */
/* All rows, in the order of their ids. */
void pg_rows_sql_all(enum rows_table table, struct buf *sql);
/* The rows that were written by the transaction with that number or later ones. */
void pg_rows_sql_recent(enum rows_table table, uint32_t transaction, struct buf *sql);
/* The rows whose first column (for allocations: whose consumer's id) is in the array $1, in the
 * order of their ids. */
void pg_rows_sql_of_ids(enum rows_table table, struct buf *sql);

#endif
