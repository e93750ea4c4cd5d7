/* The tables that memory is made of, as data: upstream's, column by column, and our tables of
 * records.
 *
 * A database reads the columns of a row as cells, in the order given here; this module turns them
 * into the change that inserts the row. A load, a merge and a follow use the same code, and so do
 * all databases. */
#ifndef BERTH_STORE_ROWS_H
#define BERTH_STORE_ROWS_H

#include "base/buf.h"
#include "store/cell.h"
#include "store/record_tables.h"

/* In the order of a load. */
enum rows_table {
    ROWS_CLASSES,
    ROWS_TRAITS,
    ROWS_AGGREGATES,
    ROWS_PROJECTS,
    ROWS_USERS,
    ROWS_CONSUMER_TYPES,
    ROWS_PROVIDERS,
    ROWS_INVENTORIES,
    ROWS_PROVIDER_TRAITS,
    ROWS_PROVIDER_AGGREGATES,
    ROWS_CONSUMERS,
    ROWS_ALLOCATIONS,
    ROWS_RECORDS,                                     /* those of record_tables, in their order */
    ROWS_PARENTS = ROWS_RECORDS + RECORD_TABLE_COUNT, /* ROWS_PROVIDERS with fewer columns */
    ROWS_HOLDERS, /* ROWS_ALLOCATIONS, found by their providers; only on servers */
    ROWS_TABLE_COUNT,
    ROWS_CELLS_MAX = 1 + RECORD_FIELDS_MAX
};

enum rows_flag {
    ROWS_NEEDED = 1 << 0,      /* a row in which it is null is invisible to clients */
    ROWS_IS_UUID = 1 << 1,     /* the same for a text that is not a uuid (cell.h) */
    ROWS_OF_CONSUMER = 1 << 2, /* not the row's own column, but that of the consumer whose uuid is
                                  the row's consumer_id; the row is invisible without one */
    ROWS_REFERS = 1 << 3, /* the id of a visible row of `refers_to`. Otherwise the row is invisible,
                             or the column counts as null if it is not ROWS_NEEDED */
};

struct rows_column {
    const char *name;
    enum cell_kind cell;
    unsigned flags;
    enum rows_table refers_to; /* ROWS_REFERS */
    uint16_t at;               /* the offset of its field in struct change */
    uint16_t bytes;            /* the size of that field */
    uint16_t chars;            /* CELL_TEXT: how many characters upstream's column has room for */
};

/* A table of upstream. The first column is the row's id, or, in the tables whose rows need none
 * here, that of their provider; it is an integer. */
struct rows_info {
    const char *name;
    enum change_kind insert;
    enum store_table ids; /* STORE_TABLE_COUNT: rows are not known by ids of their own */
    const struct rows_column *columns;
    unsigned count;
};

static inline bool rows_is_record(enum rows_table table)
{
    return table >= ROWS_RECORDS && table < ROWS_PARENTS;
}

/* NULL for a table of records. */
const struct rows_info *rows_info(enum rows_table table);
/* NULL for a table of upstream. */
const struct record_table_info *rows_record_info(enum rows_table table);

/* The name of any table. */
const char *rows_name(enum rows_table table);

/* The kinds (enum cell_kind) of the table's cells; returns their number. */
unsigned rows_cell_kinds(enum rows_table table, uint8_t kinds[static ROWS_CELLS_MAX]);

/* The change that inserts the row with these cells. A number outside the range that the API accepts
 * is limited to it. False: the row is invisible, and the change has what can be read of it (a
 * record: NULL). A text belongs to the owner of its cell; a record is in the arena, which rows of
 * upstream's tables do not need. */
bool rows_change(enum rows_table table, const struct cell *cells, struct arena *arena,
                 struct change *change) BERTH_MUST_CHECK;

/* The field of a ROWS_REFERS column. */
static inline int64_t *rows_reference(const struct rows_column *column, struct change *change)
{
    return (int64_t *)(void *)((char *)change + column->at);
}

/* The table of upstream into which a change of that kind inserts a row; ROWS_TABLE_COUNT: none. */
enum rows_table rows_inserted_by(enum change_kind kind);

/* The same for a change that inserts or updates a row: it has all columns that it writes, in the
 * fields of the change that inserts one. */
enum rows_table rows_written_by(enum change_kind kind);

/* Appends the rest of an INSERT statement, "INTO table (columns) VALUES (...), (...)", for that
 * number of rows. The parameters, each `mark` and a number ("?1", "$1"), are for each row:
 * created_at, updated_at, then the other columns in their order. */
void rows_append_into(struct buf *sql, enum rows_table table, unsigned rows, char mark);

/* Copies the texts of such a change into the arena. */
void rows_copy_texts(enum rows_table table, struct arena *arena, struct change *change);

#endif
