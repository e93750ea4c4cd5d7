/* Changes of providers that several products plan. Nothing is checked here. */
#include "engine/provider_changes.h"

#include "base/arena.h"

void provider_put_inventory(const struct plan *plan, bool is_new, int64_t provider_id,
                            int64_t class_id, const struct inventory_figures *figures)
{
    struct change *change =
        change_append(plan->changes, is_new ? CHANGE_INVENTORY_INSERT : CHANGE_INVENTORY_UPDATE);
    if (is_new)
        change->created_at_us = plan->now_us;
    else
        change->updated_at_us = plan->now_us;
    change->inventory = (struct change_inventory){
        .provider_id = provider_id,
        .class_id = class_id,
        .total = figures->total,
        .reserved = figures->reserved,
        .min_unit = figures->min_unit,
        .max_unit = figures->max_unit,
        .step_size = figures->step_size,
        .allocation_ratio = figures->allocation_ratio,
    };
}

static void append_links_gone(const struct plan *plan, const struct provider *provider,
                              enum change_kind kind, const struct catalog *catalog,
                              const struct name_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        change_append(plan->changes, kind)->link =
            (struct change_link){provider->id, catalog_row_at(catalog, set->numbers[i])->id};
}

void provider_append_delete(const struct provider *provider, const struct plan *plan)
{
    const struct version *version = plan->version;
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        change_append(plan->changes, CHANGE_INVENTORY_DELETE)->inventory =
            (struct change_inventory){
                .provider_id = provider->id,
                .class_id =
                    catalog_row_at(&version->classes, provider->inventory[i].class_no.v)->id,
            };
    append_links_gone(plan, provider, CHANGE_PROVIDER_TRAIT_DELETE, &version->traits,
                      provider->traits);
    append_links_gone(plan, provider, CHANGE_PROVIDER_AGGREGATE_DELETE, &version->aggregates,
                      provider->aggregates);
    change_append(plan->changes, CHANGE_PROVIDER_DELETE)->provider = (struct change_provider){
        .id = provider->id,
        .generation = provider->generation,
        .uuid = arena_copy(plan->arena, provider_uuid(provider)),
    };
}
