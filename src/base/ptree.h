/* A persistent ordered map from (k1, k2) to a 64-bit value: a B+ tree with copy-on-write nodes.
 *
 * It serves as map (k2 = 0), as multimap under a hash (k1 = hash, k2 = number), as ordered set.
 * Any thread may look into a tree of a published version; ptree_set, _remove and _free are the
 * writer's, on trees of its own edit. The zero struct is the empty tree. */
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

/* A place in one tree, good until that tree is changed. */
struct ptree_iter {
    const struct ptree_node *node[PTREE_DEPTH_MAX];
    uint32_t at[PTREE_DEPTH_MAX];
    uint32_t depth; /* 0: at the end */
};

/* The value of exactly this key; false if there is none. */
bool ptree_find(const struct ptree *tree, uint64_t k1, uint64_t k2, uint64_t *value);

/* Stands at the first entry not below (k1, k2). ptree_iter_get is NULL at the end. */
void ptree_seek(const struct ptree *tree, uint64_t k1, uint64_t k2, struct ptree_iter *iter);
const struct ptree_entry *ptree_iter_get(const struct ptree_iter *iter);
void ptree_iter_next(struct ptree_iter *iter);

/* The entry with the largest key; NULL: the tree is empty. Good as long as an iterator. */
const struct ptree_entry *ptree_last(const struct ptree *tree);

/* Inserts the entry or replaces its value. */
void ptree_set(struct cow *cow, struct ptree *tree, uint64_t k1, uint64_t k2, uint64_t value);

/* Removes the entry; false if there was none. */
bool ptree_remove(struct cow *cow, struct ptree *tree, uint64_t k1, uint64_t k2);

/* Frees every node born at or after `birth`; `visit`, if given, sees each entry of such leaves: the
 * entries themselves may refer to older memory, which the visitor must tell apart. */
typedef void ptree_visit(void *cls, const struct ptree_entry *entry);
void ptree_free(struct ptree *tree, uint64_t birth, ptree_visit *visit, void *cls);

#endif
