/* The view of berth_foreign as a text: the ids of the notes that memory has.
 *
 * Ids are given out before transactions are committed, and on a cluster each node has its own: that
 * an id is there says nothing about lower ones. So a view is the set of those that were there,
 * "3,7-31/4,40": 3, each fourth from 7 to 31, and 40. It stays small, because notes are soon moved
 * into the log, and what is there no longer need not be known. A view that lacks ids is no harm:
 * these notes are read again. Pure; any thread. */
#ifndef BERTH_STORE_MARIADB_FOREIGN_FOREIGN_IDS_H
#define BERTH_STORE_MARIADB_FOREIGN_FOREIGN_IDS_H

#include "base/buf.h"

/* Of a text. Ids that have no place in it are left out: a server takes some 20 us for each piece of
 * a condition, with every question. */
enum { MARIADB_FOREIGN_IDS_BYTES_MOST = 8192 };

/* Ids with equal distances that have not been written yet. All zero: none. */
struct mariadb_foreign_ids {
    struct buf text;
    int64_t first, last, step;
    unsigned run;
};

/* In ascending order. */
void mariadb_foreign_ids_add(struct mariadb_foreign_ids *ids, int64_t id);

/* The text, from malloc, with its NUL byte. `ids` is then all zero. */
char *mariadb_foreign_ids_end(struct mariadb_foreign_ids *ids);

/* Appends the condition that a column `id` is none of those; NULL, or what is no such text: any id
 * is. */
void mariadb_foreign_ids_condition(const char *text, struct buf *sql);

#endif
