/* A B+ tree of 1 KiB nodes. The writer changes nodes that its edit owns in place. An insert after
 * the last entry splits off only the new entry, so that loading in ascending order fills nodes
 * completely.
 *
 * Invariants:
 * 1. The entries of a node are in strictly ascending order.
 * 2. The key of an inner node's entry is not greater than any key below that entry and is greater
 *    than all keys below the previous entry. The key of a first entry is never compared.
 * 3. Only the root of an empty tree is an empty node.
 * 4. All leaves are at the same depth.
 * 5. A node is not older than the nodes below it. */
#include "base/ptree.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { PTREE_FAN = 42, PTREE_THIN = PTREE_FAN / 4, PTREE_JOINED = PTREE_FAN * 3 / 4 };

struct ptree_node {
    struct cow_node node;
    uint32_t count;
    uint32_t leaf;
    struct ptree_entry entry[PTREE_FAN];
};

static inline bool below(const struct ptree_entry *entry, uint64_t k1, uint64_t k2)
{
    return entry->k1 < k1 || (entry->k1 == k1 && entry->k2 < k2);
}

static inline bool above(const struct ptree_entry *entry, uint64_t k1, uint64_t k2)
{
    return entry->k1 > k1 || (entry->k1 == k1 && entry->k2 > k2);
}

static inline struct ptree_node *child_of(const struct ptree_entry *entry)
{
    return (struct ptree_node *)(uintptr_t)entry->value;
}

/* The first entry of a leaf that is not less than the key. */
static uint32_t leaf_lower(const struct ptree_node *node, uint64_t k1, uint64_t k2)
{
    uint32_t at;
    SEARCH_LOWER(at, 0, node->count, below(&node->entry[at], k1, k2));
    return at;
}

/* The child that contains the key, or would contain it. */
static uint32_t inner_lower(const struct ptree_node *node, uint64_t k1, uint64_t k2)
{
    uint32_t at;
    SEARCH_LOWER(at, 1, node->count, !above(&node->entry[at], k1, k2));
    return at - 1;
}

bool ptree_find(const struct ptree *tree, uint64_t k1, uint64_t k2, uint64_t *value)
{
    const struct ptree_node *node = tree->root;
    if (node == NULL)
        return false;
    while (!node->leaf)
        node = child_of(&node->entry[inner_lower(node, k1, k2)]);
    uint32_t at = leaf_lower(node, k1, k2);
    if (at == node->count || node->entry[at].k1 != k1 || node->entry[at].k2 != k2)
        return false;
    *value = node->entry[at].value;
    return true;
}

/* If the position is after a node's last entry, moves it to the next entry of the tree, if any. */
static void iter_skip_ends(struct ptree_iter *iter)
{
    while (iter->depth > 0) {
        uint32_t level = iter->depth - 1;
        if (iter->at[level] < iter->node[level]->count)
            break;
        iter->depth--;
        if (iter->depth > 0)
            iter->at[iter->depth - 1]++;
    }
    while (iter->depth > 0 && !iter->node[iter->depth - 1]->leaf) {
        const struct ptree_node *inner = iter->node[iter->depth - 1];
        iter->node[iter->depth] = child_of(&inner->entry[iter->at[iter->depth - 1]]);
        iter->at[iter->depth] = 0;
        iter->depth++;
    }
}

const struct ptree_entry *ptree_last(const struct ptree *tree)
{
    const struct ptree_node *node = tree->root;
    if (node == NULL || tree->count == 0)
        return NULL;
    while (!node->leaf)
        node = child_of(&node->entry[node->count - 1]);
    return &node->entry[node->count - 1];
}

void ptree_seek(const struct ptree *tree, uint64_t k1, uint64_t k2, struct ptree_iter *iter)
{
    iter->depth = 0;
    const struct ptree_node *node = tree->root;
    if (node == NULL)
        return;
    for (;;) {
        check(iter->depth < PTREE_DEPTH_MAX);
        uint32_t at = node->leaf ? leaf_lower(node, k1, k2) : inner_lower(node, k1, k2);
        iter->node[iter->depth] = node;
        iter->at[iter->depth] = at;
        iter->depth++;
        if (node->leaf)
            break;
        node = child_of(&node->entry[at]);
    }
    iter_skip_ends(iter);
}

const struct ptree_entry *ptree_iter_get(const struct ptree_iter *iter)
{
    if (iter->depth == 0)
        return NULL;
    return &iter->node[iter->depth - 1]->entry[iter->at[iter->depth - 1]];
}

void ptree_iter_next(struct ptree_iter *iter)
{
    check(iter->depth > 0);
    iter->at[iter->depth - 1]++;
    iter_skip_ends(iter);
}

static void node_insert(struct ptree_node *node, uint32_t at, struct ptree_entry entry)
{
    memmove(&node->entry[at + 1], &node->entry[at], (node->count - at) * sizeof(entry));
    node->entry[at] = entry;
    node->count++;
}

static void node_erase(struct ptree_node *node, uint32_t at)
{
    node->count--;
    memmove(&node->entry[at], &node->entry[at + 1], (node->count - at) * sizeof(node->entry[0]));
}

/* Inserts into an owned node, splitting it if it is full. Returns the new right half or NULL. */
static struct ptree_node *insert_or_split(struct cow *cow, struct ptree_node *node, uint32_t at,
                                          struct ptree_entry entry)
{
    if (node->count < PTREE_FAN) {
        node_insert(node, at, entry);
        return NULL;
    }
    struct ptree_node *right = cow_new(cow, sizeof(*right));
    right->leaf = node->leaf;
    uint32_t keep = at == PTREE_FAN ? PTREE_FAN : PTREE_FAN / 2;
    right->count = PTREE_FAN - keep;
    memcpy(right->entry, &node->entry[keep], right->count * sizeof(entry));
    node->count = keep;
    if (at > keep || keep == PTREE_FAN)
        node_insert(right, at - keep, entry);
    else
        node_insert(node, at, entry);
    return right;
}

/* Sets the key below *at and makes its node owned. Returns the right half if the node was split. */
static struct ptree_node *set_below(struct cow *cow, struct ptree *tree, struct ptree_node **at,
                                    struct ptree_entry entry)
{
    struct ptree_node *node = *at = cow_own(cow, *at, sizeof(*node));
    if (node->leaf) {
        uint32_t i = leaf_lower(node, entry.k1, entry.k2);
        if (i < node->count && node->entry[i].k1 == entry.k1 && node->entry[i].k2 == entry.k2) {
            node->entry[i].value = entry.value;
            return NULL;
        }
        tree->count++;
        return insert_or_split(cow, node, i, entry);
    }
    uint32_t i = inner_lower(node, entry.k1, entry.k2);
    struct ptree_node *child = child_of(&node->entry[i]);
    struct ptree_node *right = set_below(cow, tree, &child, entry);
    node->entry[i].value = (uintptr_t)child;
    if (right == NULL)
        return NULL;
    struct ptree_entry link = {right->entry[0].k1, right->entry[0].k2, (uintptr_t)right};
    return insert_or_split(cow, node, i + 1, link);
}

void ptree_set(struct cow *cow, struct ptree *tree, uint64_t k1, uint64_t k2, uint64_t value)
{
    if (tree->root == NULL) {
        tree->root = cow_new(cow, sizeof(*tree->root));
        tree->root->leaf = 1;
    }
    struct ptree_entry entry = {k1, k2, value};
    struct ptree_node *right = set_below(cow, tree, &tree->root, entry);
    if (right == NULL)
        return;
    struct ptree_node *root = cow_new(cow, sizeof(*root));
    struct ptree_node *left = tree->root;
    root->count = 2;
    root->entry[0] = (struct ptree_entry){left->entry[0].k1, left->entry[0].k2, (uintptr_t)left};
    root->entry[1] = (struct ptree_entry){right->entry[0].k1, right->entry[0].k2, (uintptr_t)right};
    tree->root = root;
}

/* Merges child i + 1 of an owned node into child i if both fit with room to spare. */
static void join_children(struct cow *cow, struct ptree_node *node, uint32_t i)
{
    if (i + 1 >= node->count)
        return;
    struct ptree_node *left = child_of(&node->entry[i]);
    struct ptree_node *right = child_of(&node->entry[i + 1]);
    if (left->count + right->count > PTREE_JOINED)
        return;
    left = cow_own(cow, left, sizeof(*left));
    struct ptree_entry *tail = &left->entry[left->count];
    memcpy(tail, right->entry, right->count * sizeof(*tail));
    if (!left->leaf) {
        tail->k1 = node->entry[i + 1].k1;
        tail->k2 = node->entry[i + 1].k2;
    }
    left->count += right->count;
    node->entry[i].value = (uintptr_t)left;
    node_erase(node, i + 1);
    cow_drop(cow, right);
}

/* Removes the key, which must exist, below *at. *at becomes NULL if its node becomes empty. */
static void remove_below(struct cow *cow, struct ptree_node **at, uint64_t k1, uint64_t k2)
{
    struct ptree_node *node = *at = cow_own(cow, *at, sizeof(*node));
    if (node->leaf) {
        node_erase(node, leaf_lower(node, k1, k2));
    } else {
        uint32_t i = inner_lower(node, k1, k2);
        struct ptree_node *child = child_of(&node->entry[i]);
        remove_below(cow, &child, k1, k2);
        if (child == NULL) {
            node_erase(node, i);
        } else {
            node->entry[i].value = (uintptr_t)child;
            if (child->count < PTREE_THIN) {
                join_children(cow, node, i);
                if (i > 0)
                    join_children(cow, node, i - 1);
            }
        }
    }
    if (node->count == 0) {
        cow_drop(cow, node);
        *at = NULL;
    }
}

bool ptree_remove(struct cow *cow, struct ptree *tree, uint64_t k1, uint64_t k2)
{
    uint64_t value;
    if (!ptree_find(tree, k1, k2, &value))
        return false;
    remove_below(cow, &tree->root, k1, k2);
    tree->count--;
    while (tree->root != NULL && !tree->root->leaf && tree->root->count == 1) {
        struct ptree_node *only = child_of(&tree->root->entry[0]);
        cow_drop(cow, tree->root);
        tree->root = only;
    }
    return true;
}

static void free_node(struct ptree_node *node, uint64_t birth, ptree_visit *visit, void *cls)
{
    if (node->node.birth < birth)
        return;
    for (uint32_t i = 0; i < node->count; i++) {
        if (!node->leaf)
            free_node(child_of(&node->entry[i]), birth, visit, cls);
        else if (visit != NULL)
            visit(cls, &node->entry[i]);
    }
    free(node);
}

void ptree_free(struct ptree *tree, uint64_t birth, ptree_visit *visit, void *cls)
{
    if (tree->root != NULL)
        free_node(tree->root, birth, visit, cls);
    *tree = (struct ptree){0};
}
