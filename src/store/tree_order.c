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

/* NULL: it has none, or there is no such provider. */
static struct tree_node *parent_of(const struct tree_order *forest, const struct tree_node *node)
{
    return node->parent_id == 0 ? NULL : find_node(forest, node->parent_id);
}

/* The cycle begins at its smallest id, so that all instances agree, whichever of its providers and
 * of those below it they have read. */
static void cut_cycle(const struct tree_order *forest, struct tree_node *member)
{
    struct tree_node *least = member;
    for (struct tree_node *at = parent_of(forest, member); at != member; at = parent_of(forest, at))
        if (at->id < least->id)
            least = at;
    least->parent_id = 0;
}

static void forget_path(const struct tree_order *forest, struct tree_node *start)
{
    for (struct tree_node *node = start; node->state == ROOT_LOOKED_FOR;
         node = parent_of(forest, node))
        node->state = ROOT_NOT_KNOWN;
}

static void find_root(struct tree_order *forest, struct tree_node *start)
{
    struct tree_node *top = start;
    uint32_t depth = 0;
    while (top->state == ROOT_NOT_KNOWN) {
        top->state = ROOT_LOOKED_FOR;
        struct tree_node *parent = parent_of(forest, top);
        if (parent != NULL && parent->state == ROOT_LOOKED_FOR) {
            forget_path(forest, start);
            cut_cycle(forest, parent);
            top = start;
            depth = 0;
            continue;
        }
        if (parent == NULL) {
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
