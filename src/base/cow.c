/* Nodes owned by edits, and the array built on them. Only the writer calls these functions; readers
 * use the inline functions of the header on published versions. */
#include "base/cow.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

size_t cow_node_bytes(const void *node)
{
    return malloc_usable_size((void *)(uintptr_t)node);
}

void *cow_new(struct cow *cow, size_t bytes)
{
    struct cow_node *node = calloc(1, bytes);
    check(node != NULL);
    node->birth = cow->birth;
    cow->made_bytes += cow_node_bytes(node);
    return node;
}

static void retire(struct cow *cow, const void *node)
{
    struct cow_retired *retired = &cow->retired;
    if (retired->count == retired->capacity) {
        size_t capacity = retired->capacity == 0 ? 64 : retired->capacity * 2;
        void **items = realloc(retired->items, capacity * sizeof(*items));
        check(items != NULL);
        retired->items = items;
        retired->capacity = capacity;
    }
    retired->items[retired->count++] = (void *)(uintptr_t)node;
    cow->retired_bytes += cow_node_bytes(node);
}

void *cow_own_slow(struct cow *cow, const void *node, size_t bytes)
{
    struct cow_node *copy = malloc(bytes);
    check(copy != NULL);
    memcpy(copy, node, bytes);
    copy->birth = cow->birth;
    cow->made_bytes += cow_node_bytes(copy);
    retire(cow, node);
    return copy;
}

void cow_drop(struct cow *cow, const void *node)
{
    if (((const struct cow_node *)node)->birth != cow->birth) {
        retire(cow, node);
        return;
    }
    cow->made_bytes -= cow_node_bytes(node);
    free((void *)(uintptr_t)node);
}

void cow_retired_free(struct cow_retired *retired)
{
    for (size_t i = 0; i < retired->count; i++)
        free(retired->items[i]);
    free(retired->items);
    *retired = (struct cow_retired){0};
}

void cow_retired_shrink(struct cow_retired *retired)
{
    if (retired->count == 0) {
        cow_retired_free(retired);
    } else if (retired->count < retired->capacity / 2) {
        void **items = realloc(retired->items, retired->count * sizeof(*items));
        check(items != NULL);
        retired->items = items;
        retired->capacity = retired->count;
    }
}

static struct cow_dir *own_dir(struct cow *cow, void **at)
{
    if (*at == NULL)
        *at = cow_new(cow, sizeof(struct cow_dir));
    else
        *at = cow_own(cow, *at, sizeof(struct cow_dir));
    return *at;
}

void **cow_array_own_leaf(struct cow *cow, struct cow_array *array, uint32_t leaf)
{
    check(leaf < COW_LEAVES_MAX);
    struct cow_dir *root = own_dir(cow, &array->root);
    struct cow_dir *dir = own_dir(cow, &root->at[leaf / COW_FAN]);
    return &dir->at[leaf % COW_FAN];
}

void *cow_array_own(struct cow *cow, struct cow_array *array, struct cow_shape shape,
                    uint32_t index)
{
    size_t bytes = COW_LEAF_HEADER + ((size_t)shape.item_bytes << shape.shift);
    void **at = cow_array_own_leaf(cow, array, index >> shape.shift);
    if (*at == NULL)
        *at = cow_new(cow, bytes);
    else
        *at = cow_own(cow, *at, bytes);
    return (char *)*at + COW_LEAF_HEADER +
           (size_t)(index & ((1u << shape.shift) - 1)) * shape.item_bytes;
}

static void drop_node(struct cow *cow, void *node, unsigned level)
{
    if (node == NULL)
        return;
    const struct cow_dir *dir = node;
    for (unsigned i = 0; level > 0 && i < COW_FAN; i++)
        drop_node(cow, dir->at[i], level - 1);
    cow_drop(cow, node);
}

void cow_array_drop(struct cow *cow, struct cow_array *array)
{
    drop_node(cow, array->root, 2);
    array->root = NULL;
}

static void free_node(void *node, uint64_t birth, unsigned level, cow_visit *visit, void *cls)
{
    if (node == NULL || ((struct cow_node *)node)->birth < birth)
        return;
    if (level == 0) {
        if (visit != NULL)
            visit(cls, node);
        free(node);
        return;
    }
    struct cow_dir *dir = node;
    for (unsigned i = 0; i < COW_FAN; i++)
        free_node(dir->at[i], birth, level - 1, visit, cls);
    free(dir);
}

void cow_array_free(struct cow_array *array, uint64_t birth, cow_visit *visit, void *cls)
{
    free_node(array->root, birth, 2, visit, cls);
    array->root = NULL;
}
