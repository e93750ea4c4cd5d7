/* The rows that a load left out, and the names and ids that they occupy nevertheless.
 *
 * Memory does not know these rows, but the database's unique indexes do. Each is logged when a load
 * first finds it, and not again as long as it exists. The writer only. */
#ifndef BERTH_STORE_SKIPPED_H
#define BERTH_STORE_SKIPPED_H

#include "base/arena.h"
#include "store/store.h"

struct skipped_row {
    const char *table; /* a name that lives as long as the program */
    int64_t id;
    bool is_own_id; /* otherwise its provider's */
};

/* Sorted by table and id. */
struct skipped_rows {
    struct skipped_row *at;
    size_t count, capacity;
};

struct skipped_text; /* an occupied one */

/* Initialised with zeros: no load yet. */
struct skipped {
    struct skipped_rows rows; /* of the newest load */
    struct skipped_rows before;
    struct arena *arena; /* of the texts */
    struct skipped_text *texts;
    size_t text_count, text_capacity;
    int64_t referred[STORE_TABLE_COUNT]; /* the largest id that a left-out row refers to */
};

/* A load begins: forgets everything except which rows have been logged. */
void skipped_begin(struct skipped *skipped);
void skipped_add(struct skipped *skipped, const char *table, bool is_own_id, int64_t id);
/* The row just added occupies that text: see store_is_taken(). */
void skipped_take(struct skipped *skipped, enum change_kind kind, unsigned field,
                  struct slice text);
/* The row just added refers to that id, which therefore must not be given out: the row would belong
 * to the new object. */
void skipped_refer(struct skipped *skipped, enum store_table table, int64_t id);
/* The load has ended: logs the rows that no earlier load has found. `path`: the database's. */
void skipped_end(struct skipped *skipped, const char *path);
bool skipped_has(const struct skipped *skipped, enum change_kind kind, unsigned field,
                 struct slice text);
void skipped_free(struct skipped *skipped);

#endif
