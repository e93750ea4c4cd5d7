/* Parts of the statements that read rows, as every server understands them; table t is the one that
 * is read. Pure; any thread. */
#ifndef BERTH_STORE_SERVER_ROWS_PARTS_H
#define BERTH_STORE_SERVER_ROWS_PARTS_H

#include "base/buf.h"
#include "store/rows.h"

/* What the servers write in different ways. */
struct rows_parts {
    const char *null_id;                  /* an id that is NULL */
    const char *before_uuid, *after_uuid; /* around a column: cell_is_uuid() */
    char quote;                           /* around the names of records' columns */
    /* The text of a record's column if it is an object, otherwise NULL: answers copy an object
     * unchanged, so whatever else the column contains is left out. */
    void (*append_object)(const char *name, struct buf *sql);
};

/* "SELECT …" of the table's cells. Consumers' columns are those of c, or NULL unless `is_joined`.
 * With `is_checked`, a reference that need not be there is NULL if there is no such row. */
void rows_parts_select(const struct rows_parts *parts, enum rows_table table, bool is_joined,
                       bool is_checked, struct buf *sql);

/* " AND …": the row refers to visible rows only, as SQLite's statements require. The one that rows
 * are asked for by, the first column, is not checked. */
void rows_parts_references(const struct rows_parts *parts, enum rows_table table, struct buf *sql);

/* Allocations, which can be read with the ids of their consumers. */
bool rows_parts_is_of_consumers(enum rows_table table);

/* Links have no ids of their own. */
bool rows_parts_has_id(enum rows_table table);

#endif
