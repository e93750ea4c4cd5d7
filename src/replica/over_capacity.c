/* See over_capacity.h. Invariants: both trees have the same inventories; the count is that of the
 * different providers in them. Usually there are none, so that a change costs one comparison. */
#include "replica/over_capacity.h"

bool over_capacity_is(const struct provider_inventory *inventory)
{
    const struct inventory_figures *figures = &inventory->figures;
    return figures->reserved < figures->total && inventory->used > capacity_of(figures);
}

bool over_capacity_has(const struct version *version, struct provider_no provider,
                       struct class_no class_no)
{
    uint64_t since;
    return ptree_find(&version->over_capacity, provider.v, class_no.v, &since);
}

static bool has_any(const struct version *version, struct provider_no provider)
{
    struct ptree_iter iter;
    ptree_seek(&version->over_capacity, provider.v, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    return entry != NULL && entry->k1 == provider.v;
}

static void over_capacity_add(struct cow *cow, struct version *version, struct provider_no provider,
                              struct class_no class_no)
{
    if (over_capacity_has(version, provider, class_no))
        return;
    version->over_capacity_providers += !has_any(version, provider);
    ptree_set(cow, &version->over_capacity, provider.v, class_no.v, cow->birth);
    ptree_set(cow, &version->over_capacity_since, cow->birth, over_capacity_key(provider, class_no),
              0);
}

void over_capacity_clear(struct cow *cow, struct version *version, struct provider_no provider,
                         struct class_no class_no)
{
    uint64_t since;
    if (!ptree_find(&version->over_capacity, provider.v, class_no.v, &since))
        return;
    ptree_remove(cow, &version->over_capacity, provider.v, class_no.v);
    ptree_remove(cow, &version->over_capacity_since, since, over_capacity_key(provider, class_no));
    version->over_capacity_providers -= !has_any(version, provider);
}

void over_capacity_update(struct cow *cow, struct version *version, struct provider_no provider,
                          const struct provider_inventory *inventory)
{
    if (over_capacity_is(inventory))
        over_capacity_add(cow, version, provider, inventory->class_no);
    else
        over_capacity_clear(cow, version, provider, inventory->class_no);
}

void over_capacity_of_version(const struct version *version, over_capacity_visit *visit, void *cls)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    ptree_seek(&version->over_capacity_since, version->node.birth, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL && entry->k1 == version->node.birth;
         ptree_iter_next(&iter)) {
        const struct provider *provider =
            version_provider(version, (struct provider_no){(uint32_t)(entry->k2 >> 32)});
        visit(cls, provider,
              provider_inventory_of(provider, (struct class_no){(uint32_t)entry->k2}));
    }
}
