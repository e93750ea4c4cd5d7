/* What the files of the tables share: rows as such (tables.c) under the statements (constraints.c).
 */
#ifndef BERTH_SIM_TABLES_INTERNAL_H
#define BERTH_SIM_TABLES_INTERNAL_H

#include "tables.h"

/* The same text, for as long as the program runs. */
struct slice tables_keep_text(struct slice text);

/* NULL if there is none. */
struct row *tables_row(struct tables *tables, enum table table, int64_t id);

/* Keeps the order of the ids. */
void tables_insert(struct tables *tables, enum table table, const struct change *image);
void tables_erase(struct tables *tables, enum table table, const struct row *row);

/* The row has been updated by that change. */
void tables_touch(struct tables *tables, struct row *row, const struct change *change);

/* tables_execute for nodes and their allocations. */
const char *tables_execute_row(struct tables *tables, const struct change *change);

#endif
