/* Lays out a whole database once every provider has come: children are chained below their parents,
 * then each tree is walked in pre-order and gets a range of its own. Work and memory are
 * proportional to the number of providers, whatever the order of rows and the depth of trees.
 * Writer only. */
#include <stdlib.h>

#include "replica/forest_internal.h"

/* A provider's relatives while a database is laid out, by provider number. */
struct family {
    uint32_t first_child;
    uint32_t next_sibling;
    uint32_t index; /* in the list of providers */
    enum { FAMILY_UNSEEN, FAMILY_ON_PATH, FAMILY_SOUND } state;
};

/* Another program may have left a cycle of parents; it is broken so that every provider has a
 * slot. */
static void cut_ring(struct provider **providers, struct family *family, struct provider *provider)
{
    struct provider *first = provider;
    while (provider->parent.v != NUMBER_NONE && family[provider->no.v].state == FAMILY_UNSEEN) {
        family[provider->no.v].state = FAMILY_ON_PATH;
        struct provider *parent = providers[family[provider->parent.v].index];
        if (family[parent->no.v].state == FAMILY_ON_PATH)
            provider->parent.v = NUMBER_NONE;
        else
            provider = parent;
    }
    for (provider = first; family[provider->no.v].state == FAMILY_ON_PATH;
         provider = providers[family[provider->parent.v].index]) {
        family[provider->no.v].state = FAMILY_SOUND;
        if (provider->parent.v == NUMBER_NONE)
            break;
    }
}

/* Lays out the tree below providers[top]; branches must have room for all its providers. */
static void layout_tree(struct edit *edit, struct provider **providers, struct family *family,
                        uint32_t top, struct branch *branches, uint32_t *path)
{
    uint32_t n = 0;
    uint32_t depth = 0;
    struct provider_no root = providers[top]->no;
    uint32_t no = root.v;
    for (;;) {
        struct provider *provider = providers[family[no].index];
        provider->root = root;
        branches[n] = (struct branch){provider, 0};
        path[depth++] = n++;
        uint32_t next = family[no].first_child;
        while (next == NUMBER_NONE && depth > 1) {
            branches[path[--depth]].end = n;
            next = family[branches[path[depth]].provider->no.v].next_sibling;
        }
        if (next == NUMBER_NONE)
            break;
        no = next;
    }
    branches[0].end = n;
    forest_create_tree(edit, branches, n);
}

void forest_layout(struct edit *edit, struct provider **providers, uint32_t count)
{
    struct version *version = edit->version;
    struct family *family = calloc(version->provider_limit + 1, sizeof(*family));
    struct branch *branches = calloc(count + 1, sizeof(*branches));
    uint32_t *path = calloc(count + 1, sizeof(*path));
    check(family != NULL && branches != NULL && path != NULL);
    for (uint32_t i = 0; i < count; i++)
        family[providers[i]->no.v] = (struct family){NUMBER_NONE, NUMBER_NONE, i, FAMILY_UNSEEN};
    for (uint32_t i = 0; i < count; i++)
        cut_ring(providers, family, providers[i]);
    for (uint32_t i = count;
         i-- > 0;) { /* backwards, so that siblings keep the order of their rows */
        if (providers[i]->parent.v == NUMBER_NONE)
            continue;
        version->nested_count++;
        family[providers[i]->no.v].next_sibling = family[providers[i]->parent.v].first_child;
        family[providers[i]->parent.v].first_child = providers[i]->no.v;
    }
    for (uint32_t i = 0; i < count; i++)
        if (providers[i]->parent.v == NUMBER_NONE)
            layout_tree(edit, providers, family, i, branches, path);
    free(path);
    free(branches);
    free(family);
}
