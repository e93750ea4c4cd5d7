/* Reads again the entities in which memory differs from the database. */
#ifndef BERTH_STORE_MERGE_H
#define BERTH_STORE_MERGE_H

#include "model/difference.h"
#include "store/entities.h"
#include "store/row_reader.h"
#include "store/store.h"
#include "store/tree_order.h"

/* Reads the entities that differ and sends them in the order of a merge (model/change.h). `forest`
 * has the places of all providers, from the rows that were compared: broken chains of parents are
 * then repaired in the same places as in a load. False: err is set, and nothing was sent. */
bool merge_read(const struct row_reader *reader, const struct tree_order *forest,
                const struct differences *differences, store_sink *sink, void *cls,
                struct err *err) BERTH_MUST_CHECK;

/* Notes that one entity is to be read, and what is to be sent of it. */
void merge_want(struct entities *entities, const struct difference *difference);
/* The table of a catalog. */
enum rows_table merge_catalog_table(enum entity entity);
/* Notes that a row of a catalog is to be deleted. */
void merge_delete_catalog(struct entities *entities, const struct difference *difference);

#endif
