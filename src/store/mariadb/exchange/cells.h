/* Rows of MariaDB and MySQL as cells (store/cell.h). */
#ifndef BERTH_STORE_MARIADB_EXCHANGE_CELLS_H
#define BERTH_STORE_MARIADB_EXCHANGE_CELLS_H

#include "store/rows.h"

struct mariadb_cells {
    unsigned count;
    uint8_t kinds[ROWS_CELLS_MAX];
    struct cell at[ROWS_CELLS_MAX];
};

void mariadb_cells_begin(struct mariadb_cells *cells, enum rows_table table);

/* Values as the server sends them to a session that does not prepare statements; NULL: null. Texts
 * belong to the row. */
void mariadb_cells_read(struct mariadb_cells *cells, const char *const *values,
                        const unsigned long *lengths);

#endif
