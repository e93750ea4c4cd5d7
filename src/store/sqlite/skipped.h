/* The rows that a load left out, and what they keep taken all the same.
 *
 * Memory does not know these rows, the database's unique indexes do. Each is named in the log when
 * a load first meets it, and not again as long as it stays. Writer thread only. */
#ifndef BERTH_STORE_SQLITE_SKIPPED_H
#define BERTH_STORE_SQLITE_SKIPPED_H

#include "base/arena.h"
#include "store/store.h"

struct skipped_row {
    const char *table; /* a name that lives as long as the program */
    int64_t id;
    bool is_own_id; /* else its provider's */
};

/* Sorted by table and id. */
struct skipped_rows {
    struct skipped_row *at;
    size_t count, capacity;
};

struct skipped_text; /* one that is taken */

/* All zero: no load yet. */
struct skipped {
    struct skipped_rows rows; /* of the newest load */
    struct skipped_rows before;
    struct arena *arena; /* of the texts */
    struct skipped_text *texts;
    size_t text_count, text_capacity;
    int64_t referred[STORE_TABLE_COUNT]; /* the largest id that a row left out refers to */
};

/* A load begins: everything but what has been logged is forgotten. */
void skipped_begin(struct skipped *skipped);
void skipped_add(struct skipped *skipped, const char *table, bool is_own_id, int64_t id);
/* The row just added keeps that text taken: see store_is_taken(). */
void skipped_take(struct skipped *skipped, enum change_kind kind, unsigned field,
                  struct slice text);
/* The row just added refers to that id, which therefore must not be handed out: the row would
 * become the new one's. */
void skipped_refer(struct skipped *skipped, enum store_table table, int64_t id);
/* The load is over: logs the rows that no load has met before. `path`: the database's. */
void skipped_end(struct skipped *skipped, const char *path);
bool skipped_has(const struct skipped *skipped, enum change_kind kind, unsigned field,
                 struct slice text);
void skipped_free(struct skipped *skipped);

#endif
