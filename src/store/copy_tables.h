/* The tables that a copy to a database on a server consists of: all columns of upstream's tables,
 * also those that memory does not have, and berth's own tables of records. */
#ifndef BERTH_STORE_COPY_TABLES_H
#define BERTH_STORE_COPY_TABLES_H

#include "store/rows.h"

enum {
    COPY_TABLES = ROWS_PARENTS, /* the first of rows.h, in an order that references allow */
    COPY_COLUMNS_MOST = 1 + RECORD_FIELDS_MAX,
    COPY_KEY_MOST = 2,
    COPY_SHORT_BYTES = 1020,             /* 255 characters */
    COPY_NOT_IN_ROWS = COPY_COLUMNS_MOST /* struct copy_column, in_rows */
};

struct copy_column {
    const char *name;
    enum cell_kind cell; /* never CELL_NUMBER */
    bool is_needed;      /* NOT NULL on a server */
    bool is_wide;        /* an integer of 64 bits; otherwise of 32 */
    bool is_bool;        /* an integer that is 0 or 1 */
    bool is_json;
    bool is_short;    /* a text that has room for COPY_SHORT_BYTES */
    unsigned in_rows; /* its position in rows_info(), or COPY_NOT_IN_ROWS */
};

struct copy_table {
    const char *name;
    enum rows_table rows;
    unsigned count;
    unsigned key_count; /* columns of the primary key, which are integers */
    unsigned key[COPY_KEY_MOST];
    struct copy_column columns[COPY_COLUMNS_MOST];
};

void copy_table_describe(enum rows_table table, struct copy_table *description);

/* The position of the column with that name, which the table has. */
unsigned copy_table_find(const struct copy_table *table, const char *column);

/* A column whose values a server only accepts if a row with that id exists. */
struct copy_reference {
    enum rows_table table;
    const char *column;
    enum rows_table refers_to;
};
enum { COPY_REFERENCES = 5 };
extern const struct copy_reference copy_references[COPY_REFERENCES];

/* A column in which no two rows have the same text. */
struct copy_unique {
    enum rows_table table;
    const char *column;
};
enum { COPY_UNIQUES = 9 };
extern const struct copy_unique copy_uniques[COPY_UNIQUES];

/* Appends the names of the columns, each after the prefix (such as "t."), with the quotation mark
 * of the kind of database. */
void copy_table_append_columns(const struct copy_table *table, const char *prefix, char quote,
                               struct buf *sql);

/* " ORDER BY " and the columns of the key. */
void copy_table_append_order(const struct copy_table *table, struct buf *sql);

/* "TABLE with COLUMN 5" or "TABLE with COLUMN 5 and COLUMN 6", in the arena. */
struct slice copy_table_row_name(const struct copy_table *table, const struct cell *cells,
                                 struct arena *arena);

/* Which row comes first: <0, 0 or >0. */
int copy_table_compare_keys(const struct copy_table *table, const struct cell *one,
                            const struct cell *other);

#endif
