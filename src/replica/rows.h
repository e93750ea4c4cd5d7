/* Operations on the trees of rows of berth's own tables. Rows are found by id in one tree of
 * pointers; every other tree contains only ids, so that a changed row moves only in those trees
 * whose key has changed. Ids are above 0. Lookups: any thread, on a pinned version, the writer also
 * on the version it is making. Functions that change a tree: the writer only. */
#ifndef BERTH_REPLICA_ROWS_H
#define BERTH_REPLICA_ROWS_H

#include "base/ptree.h"
#include "model/record.h"

/* An entry of a tree of rows; immutable once published. */
struct record_row {
    struct cow_node cow;
    struct record record;
};

/* The row with that id, or NULL. */
const struct record *rows_at(const struct ptree *rows, int64_t id);

/* The row whose text field has that value, by a tree of (hash, id); NULL: none. Byte by byte. */
const struct record *rows_find_text(const struct ptree *rows, const struct ptree *tree,
                                    unsigned field, struct slice text);

/* The smallest id above `after` in a tree of (id, 0); 0: none. */
int64_t rows_next_id(const struct ptree *tree, int64_t after);

/* The smallest id above `after` among those with that key in a tree of (key, id); 0: none. */
int64_t rows_next_under(const struct ptree *tree, uint64_t key, int64_t after);

/* Puts a copy of the record into the tree of rows and returns it. If the record is NULL, removes
 * the row and returns NULL. The previous row can be read until it is dropped. */
const struct record *rows_replace(struct cow *cow, struct ptree *rows, int64_t id,
                                  const struct record *record);

/* Removes the row from the version being made; NULL: there was none. */
void rows_drop(struct cow *cow, const struct record *record);

/* In a tree of (key, id), changes the row's key from `before` to `after`; has/had: whether it has a
 * key. */
void rows_move_key(struct cow *cow, struct ptree *tree, int64_t id, bool had, uint64_t before,
                   bool has, uint64_t after);

/* ptree_free for a tree of rows. */
void rows_free(struct ptree *rows, uint64_t birth);

#endif
