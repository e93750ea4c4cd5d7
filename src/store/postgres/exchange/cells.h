/* Rows of PostgreSQL as cells (store/cell.h). */
#ifndef BERTH_STORE_POSTGRES_EXCHANGE_CELLS_H
#define BERTH_STORE_POSTGRES_EXCHANGE_CELLS_H

#include "store/postgres/session/rows.h"
#include "store/postgres/session/statement.h"
#include "store/rows.h"

struct pg_cells {
    unsigned count;
    uint8_t kinds[ROWS_CELLS_MAX];
    struct cell at[ROWS_CELLS_MAX];
};

void pg_cells_begin(struct pg_cells *cells, enum rows_table table);

/* Texts belong to the rows. */
void pg_cells_read(struct pg_cells *cells, const struct pg_rows *rows, size_t row);

#endif
