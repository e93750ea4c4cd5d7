/* What the trees of our own tables' rows have in common. Rows are found by id in one tree of
 * pointers; every other tree has ids only, so that a row that changes moves in those alone whose
 * key changes with it. Ids are above 0. Lookups: any thread, on a pinned version, the writer also
 * on the one it makes; what changes a tree: the writer only. */
#ifndef BERTH_REPLICA_ROWS_H
#define BERTH_REPLICA_ROWS_H

#include "base/ptree.h"
#include "model/record.h"

/* An entry of a tree of rows; immutable once published. */
struct record_row {
    struct cow_node cow;
    struct record record;
};

/* The row of that id, or NULL. */
const struct record *rows_at(const struct ptree *rows, int64_t id);

/* The row whose text field is that, by a tree of (hash, id); NULL: none. Byte by byte. */
const struct record *rows_find_text(const struct ptree *rows, const struct ptree *tree,
                                    unsigned field, struct slice text);

/* The first id above `after` in a tree of (id, 0); 0: none. */
int64_t rows_next_id(const struct ptree *tree, int64_t after);

/* The first id above `after` under that first key in a tree of (key, id); 0: none. */
int64_t rows_next_under(const struct ptree *tree, uint64_t key, int64_t after);

/* Puts a copy of the record into the tree of rows and returns it, or, if it is NULL, takes the row
 * out and returns NULL. What was there stays readable until it is dropped. */
const struct record *rows_replace(struct cow *cow, struct ptree *rows, int64_t id,
                                  const struct record *record);

/* The row is no part of the version that is made any more; NULL: there was none. */
void rows_drop(struct cow *cow, const struct record *record);

/* In a tree of (key, id): the row's key is `after` now, was `before`; has/had: whether it has
 * one. */
void rows_move_key(struct cow *cow, struct ptree *tree, int64_t id, bool had, uint64_t before,
                   bool has, uint64_t after);

/* ptree_free of a tree of rows. */
void rows_free(struct ptree *rows, uint64_t birth);

#endif
