/* Reads rows of a statement as cells (store/cell.h). */
#ifndef BERTH_STORE_SQLITE_CELLS_H
#define BERTH_STORE_SQLITE_CELLS_H

#include <sqlite3.h>

#include "store/instant.h"
#include "store/rows.h"

struct cells {
    struct cell at[ROWS_CELLS_MAX];
    uint8_t kinds[ROWS_CELLS_MAX];
    unsigned count;
    struct instant_text time; /* the last one read: rows written together have the same times */
};

/* For rows of that table. */
void cells_begin(struct cells *cells, enum rows_table table);

/* Reads the statement's current row. Texts are valid until its next step. */
void cells_read(struct cells *cells, sqlite3_stmt *row);

#endif
