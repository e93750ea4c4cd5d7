/* Rows of our own tables as a database read them (cell.h), and the records that they are. */
#ifndef BERTH_STORE_RECORD_ROWS_H
#define BERTH_STORE_RECORD_ROWS_H

#include "store/cell.h"
#include "store/record_tables.h"

/* The kinds (enum cell_kind) of a row's cells: the id's, then those of the stored fields in order.
 * `kinds` has room for 1 + RECORD_FIELDS_MAX; returns their number. A text of a RECORD_JSON field
 * must be null if it is not a JSON object. */
unsigned record_rows_cell_kinds(const struct record_table_info *table, uint8_t *kinds);

/* The record of the row, in the arena; NULL for an invisible row. */
const struct record *record_rows_pack(const struct record_table_info *table,
                                      const struct cell *cells, struct arena *arena);

/* The text that such a row has in a stored field, whether it is visible or not; it belongs to the
 * cell's owner or to the arena. */
struct slice record_rows_text(const struct record_field *field, const struct cell *cell,
                              struct arena *arena);

#endif
