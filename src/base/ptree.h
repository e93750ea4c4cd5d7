/* A persistent ordered map from (k1, k2) to a 64-bit value: a B+ tree with copy-on-write nodes.
 *
 * It is used as a map (k2 = 0), as a multimap keyed by a hash (k1 = hash, k2 = number) and as an
 * ordered set. Any thread may read a tree of a published version; only the writer calls ptree_set,
 * _remove and _free, on trees of its own edit. The zero struct is the empty tree. */
#ifndef BERTH_BASE_PTREE_H
#define BERTH_BASE_PTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cow.h"

struct ptree {
    struct ptree_node *root;
    uint64_t count;
};

struct ptree_entry {
    uint64_t k1;
    uint64_t k2;
    uint64_t value;
};

enum { PTREE_DEPTH_MAX = 12 };

/* A position in one tree, valid until that tree is changed. */
struct ptree_iter {
    const struct ptree_node *node[PTREE_DEPTH_MAX];
    uint32_t at[PTREE_DEPTH_MAX];
    uint32_t depth; /* 0: at the end */
};

/* Finds the value of exactly this key; false: there is none. */
bool ptree_find(const struct ptree *tree, uint64_t k1, uint64_t k2, uint64_t *value);

/* Moves the iterator to the first entry not less than (k1, k2). ptree_iter_get returns NULL at the
 * end. */
void ptree_seek(const struct ptree *tree, uint64_t k1, uint64_t k2, struct ptree_iter *iter);
const struct ptree_entry *ptree_iter_get(const struct ptree_iter *iter);
void ptree_iter_next(struct ptree_iter *iter);

/* The entry with the largest key; NULL: the tree is empty. Valid as long as an iterator would
 * be. */
const struct ptree_entry *ptree_last(const struct ptree *tree);

/* Inserts the entry, or replaces its value. */
void ptree_set(struct cow *cow, struct ptree *tree, uint64_t k1, uint64_t k2, uint64_t value);

/* Removes the entry; false: there was none. */
bool ptree_remove(struct cow *cow, struct ptree *tree, uint64_t k1, uint64_t k2);

/* Frees every node born at or after `birth`. `visit`, if given, is called for each entry of the
 * leaves that are freed. The entries themselves may refer to older memory, which the visitor must
 * recognise and keep. */
typedef void ptree_visit(void *cls, const struct ptree_entry *entry);
void ptree_free(struct ptree *tree, uint64_t birth, ptree_visit *visit, void *cls);

#endif
