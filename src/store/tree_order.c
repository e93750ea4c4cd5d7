/* See tree_order.h. Any one thread. */
#include "store/tree_order.h"

#include <stdlib.h>

#include "base/search.h"

struct tree_node {
    int64_t id;
    int64_t parent_id;
    int64_t root_id;
    uint32_t depth;
    enum { ROOT_NOT_KNOWN, ROOT_LOOKED_FOR, ROOT_KNOWN } state;
};

static struct tree_node *find_node(const struct tree_order *forest, int64_t id)
{
    size_t at;
    SEARCH_LOWER(at, 0, forest->count, forest->nodes[at].id < id);
    return at < forest->count && forest->nodes[at].id == id ? &forest->nodes[at] : NULL;
}

static void find_root(struct tree_order *forest, struct tree_node *start)
{
    struct tree_node *top = start;
    uint32_t depth = 0;
    while (top->state == ROOT_NOT_KNOWN) {
        top->state = ROOT_LOOKED_FOR;
        struct tree_node *parent = top->parent_id == 0 ? NULL : find_node(forest, top->parent_id);
        /* No such parent, or a cycle: the tree begins here. */
        if (parent == NULL || parent->state == ROOT_LOOKED_FOR) {
            top->parent_id = 0;
            top->root_id = top->id;
            top->state = ROOT_KNOWN;
            break;
        }
        top = parent;
        depth++;
    }
    int64_t root_id = top->root_id;
    depth += top->depth;
    for (struct tree_node *node = start; node->state == ROOT_LOOKED_FOR;
         node = find_node(forest, node->parent_id)) {
        node->root_id = root_id;
        node->depth = depth--;
        node->state = ROOT_KNOWN;
    }
}

void tree_order_add(struct tree_order *forest, int64_t id, int64_t parent_id)
{
    if (forest->count == forest->capacity) {
        forest->capacity = forest->capacity == 0 ? 256 : forest->capacity * 2;
        forest->nodes = reallocarray(forest->nodes, forest->capacity, sizeof(struct tree_node));
        check(forest->nodes != NULL);
    }
    forest->nodes[forest->count++] = (struct tree_node){.id = id, .parent_id = parent_id};
}

void tree_order_end(struct tree_order *forest)
{
    for (size_t i = 0; i < forest->count; i++)
        find_root(forest, &forest->nodes[i]);
}

static const struct tree_node *must_find(const struct tree_order *forest, int64_t id)
{
    const struct tree_node *node = find_node(forest, id);
    check(node != NULL);
    return node;
}

void tree_order_place(const struct tree_order *forest, struct change_provider *provider)
{
    const struct tree_node *node = must_find(forest, provider->id);
    provider->parent_id = node->parent_id;
    provider->root_id = node->root_id;
}

uint32_t tree_order_depth(const struct tree_order *forest, int64_t id)
{
    return must_find(forest, id)->depth;
}

void tree_order_free(struct tree_order *forest)
{
    free(forest->nodes);
    *forest = (struct tree_order){0};
}
