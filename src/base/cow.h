/* Copy-on-write memory shared by versions: the writer makes the next version while readers use
 * older ones.
 *
 * Every node begins with a struct cow_node. A node belongs to the edit whose number is its birth:
 * that edit may change it in place; any other edit must copy it and retire the original. Memory
 * that an edit retires is freed only when no reader can hold an older version
 * (replica/replica.h). */
#ifndef BERTH_BASE_COW_H
#define BERTH_BASE_COW_H

#include <stddef.h>
#include <stdint.h>

#include "base/check.h"

struct cow_node {
    uint64_t birth;
};

/* The nodes that an edit has replaced, to be freed once no reader needs them. */
struct cow_retired {
    void **items;
    size_t count;
    size_t capacity;
};

/* One edit. Running out of memory ends the process, because everything stored here has been limited
 * or was loaded before. */
struct cow {
    uint64_t birth; /* number of the version being made, larger than any earlier one */
    struct cow_retired retired;
    size_t made_bytes;    /* of the nodes that this edit made and still has */
    size_t retired_bytes; /* of the nodes in `retired` */
};

/* Makes a zeroed node that belongs to this edit. */
void *cow_new(struct cow *cow, size_t bytes);

/* Returns the node itself if this edit made it; otherwise retires it and returns a copy of `bytes`
 * bytes. */
void *cow_own_slow(struct cow *cow, const void *node, size_t bytes);

static inline void *cow_own(struct cow *cow, const void *node, size_t bytes)
{
    if (((const struct cow_node *)node)->birth == cow->birth)
        return (void *)(uintptr_t)node;
    return cow_own_slow(cow, node, bytes);
}

/* Removes the node from the new version: frees it at once if this edit made it, otherwise retires
 * it. The caller must handle what the node points to. */
void cow_drop(struct cow *cow, const void *node);

/* Frees the nodes and the list. replica.c decides when. */
void cow_retired_free(struct cow_retired *retired);

/* Returns the memory that a list no longer needs after it has become much shorter. */
void cow_retired_shrink(struct cow_retired *retired);

/* The memory that a node occupies, for metrics. */
size_t cow_node_bytes(const void *node);

/* An array of fixed-size items in leaves of 1 << shift items, below two levels of directories;
 * items in absent leaves read as absent. Up to 65 536 leaves. The zero struct is the empty
 * array. */
struct cow_array {
    void *root;
};

struct cow_shape {
    uint32_t item_bytes;
    uint32_t shift;
};

enum { COW_FAN = 256, COW_LEAF_HEADER = 16, COW_LEAVES_MAX = COW_FAN * COW_FAN };

struct cow_dir {
    struct cow_node node;
    uint64_t unused; /* keeps the pointers aligned like a leaf's items */
    void *at[COW_FAN];
};

static inline const void *cow_array_leaf(const struct cow_array *array, uint32_t leaf)
{
    const struct cow_dir *root = array->root;
    if (root == NULL)
        return NULL;
    const struct cow_dir *dir = root->at[leaf / COW_FAN];
    return dir == NULL ? NULL : dir->at[leaf % COW_FAN];
}

/* The item, or NULL if its leaf is absent. The index must be within the array's reach. */
static inline const void *cow_array_at(const struct cow_array *array, struct cow_shape shape,
                                       uint32_t index)
{
    const char *leaf = cow_array_leaf(array, index >> shape.shift);
    if (leaf == NULL)
        return NULL;
    return leaf + COW_LEAF_HEADER + (size_t)(index & ((1u << shape.shift) - 1)) * shape.item_bytes;
}

/* The address of a leaf pointer in an owned directory, for arrays whose caller makes the leaves
 * itself. */
void **cow_array_own_leaf(struct cow *cow, struct cow_array *array, uint32_t leaf);

/* The item in an owned leaf; an absent leaf is made and zeroed. An index beyond the array's reach,
 * COW_LEAVES_MAX << shift, is a programmer error. */
void *cow_array_own(struct cow *cow, struct cow_array *array, struct cow_shape shape,
                    uint32_t index);

/* Removes the array from the new version: drops its directories and leaves, but not what the leaves
 * point to. */
void cow_array_drop(struct cow *cow, struct cow_array *array);

/* Frees every directory and leaf born at or after `birth` (for an abandoned edit its number, for
 * everything 0). `visit`, if given, is called for each such leaf before it is freed. */
typedef void cow_visit(void *cls, void *leaf);
void cow_array_free(struct cow_array *array, uint64_t birth, cow_visit *visit, void *cls);

#endif
