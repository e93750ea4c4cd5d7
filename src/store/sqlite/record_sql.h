/* SQL for the tables of records (store/record_tables.h): their columns are created, read and
 * written as the tables of fields describe them. */
#ifndef BERTH_STORE_SQLITE_RECORD_SQL_H
#define BERTH_STORE_SQLITE_RECORD_SQL_H

#include "base/buf.h"
#include "store/record_tables.h"
#include "store/sqlite/db.h"

/* Inside a write transaction: creates missing tables, columns that a table of an older berth lacks,
 * and the indexes. */
bool record_sql_make_tables(struct db *db, struct err *err) BERTH_MUST_CHECK;

/* Whether the database has the table with all its columns. */
bool record_sql_is_whole(struct db *db, const struct record_table_info *table, bool *is_whole,
                         struct err *err) BERTH_MUST_CHECK;

/* Appends the statement that reads rows, up to FROM: id first, then the stored fields in order. A
 * column that the database lacks is read as NULL. *exists: whether the table exists at all. */
bool record_sql_select(struct db *db, const struct record_table_info *table, struct buf *sql,
                       bool *exists, struct err *err) BERTH_MUST_CHECK;

/* Appends the statement of a change: parameter 1 is the id, the fields follow in order. */
void record_sql_statement(enum change_kind kind, struct buf *sql);

#endif
