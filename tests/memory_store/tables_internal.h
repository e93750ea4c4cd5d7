/* Shared by the files of the tables: rows (tables.c) and the statements on them (statements.c). */
#ifndef BERTH_TESTS_TABLES_INTERNAL_H
#define BERTH_TESTS_TABLES_INTERNAL_H

#include "tables.h"

/* Why a statement is refused, as tables_execute() returns it. */
#define UNIQUE(constraint) TABLES_UNIQUE constraint
#define STALE(constraint)  TABLES_STALE constraint

/* A copy of the text that lives as long as the tables' texts. */
struct slice tables_keep_text(const struct tables *tables, struct slice text);

/* NULL if there is none. */
struct row *tables_row(struct tables *tables, enum table table, int64_t id);

/* Keeps the order of the ids. */
void tables_insert(struct tables *tables, enum table table, const struct change *image);
void tables_erase(struct tables *tables, enum table table, const struct row *row);

/* The row has been updated by that change. */
void tables_touch(struct tables *tables, struct row *row, const struct change *change);

/* tables_execute() for berth's own tables of records. */
const char *tables_execute_row(struct tables *tables, const struct change *change);

#endif
