/* The reshaper: claims against inventories that are about to change.
 *
 * Allocations are checked while each listed provider has the union of its old and new inventories
 * (with the new figures if both have a class). Only then are the old inventories deleted that are
 * not listed, provided nothing is allocated of them any more. The union is stored in the targets'
 * stock, so that claim.c needs no knowledge of it. The writer only. */
#include "placement/write/plan_reshaper.h"

#include "base/arena.h"
#include "base/buf.h"
#include "engine/provider_changes.h"

static bool check_generation(const struct reshape_provider *wanted, const struct provider *provider,
                             struct err *err)
{
    if (wanted->generation == provider->generation)
        return true;
    struct slice given = wanted->generation_text;
    if (given.data == NULL)
        given = arena_printf(err->arena, "%lld", (long long)wanted->generation);
    err_set(err, 409, "placement.concurrent_update",
            "resource provider generation conflict for provider %.*s: actual: %d, given: "
            "%.*s",
            SLICE_ARG(wanted->uuid), provider->generation, SLICE_ARG(given));
    return err_of_kind(err, REFUSED_PROVIDER_GENERATION);
}

/* These targets are the first of the set, so that targets[i] belongs to providers[i]. */
static bool find_providers(struct claim_set *set, const struct reshape *reshape)
{
    for (size_t i = 0; i < reshape->provider_count; i++) {
        const struct reshape_provider *wanted = &reshape->providers[i];
        const struct provider *provider =
            version_provider_by_uuid(set->plan->version, wanted->uuid);
        if (provider == NULL)
            return err_set(set->err, 400, "placement.resource_provider.not_found",
                           "Resource provider %.*s in inventories not found: No resource provider "
                           "with uuid %.*s found",
                           SLICE_ARG(wanted->uuid), SLICE_ARG(wanted->uuid));
        if (!check_generation(wanted, provider, set->err))
            return false;
        /* the union is written first, unless it equals the current state; then the requested
         * inventories */
        claim_target_of(set, provider)->generation_steps = wanted->inventory_count > 0 ? 2 : 1;
    }
    check(set->target_count == reshape->provider_count);
    return true;
}

static bool unite(struct claim_set *set, struct claim_target *target,
                  const struct reshape_provider *wanted)
{
    const struct version *version = set->plan->version;
    claim_stock_fill(set, target, wanted->inventory_count);
    for (size_t i = 0; i < target->stock_count; i++)
        target->stock[i].is_going = true;
    size_t count = target->stock_count;
    for (size_t i = 0; i < wanted->inventory_count; i++) {
        const struct reshape_inventory *inventory = &wanted->inventories[i];
        const struct catalog_row *row = catalog_find(&version->classes, inventory->class_name);
        if (row == NULL)
            return claim_refuse_class(set, inventory->class_name);
        struct class_no class_no = {row->number};
        struct claim_stock *stock = claim_stock_of(target, class_no);
        if (stock == NULL) {
            stock = &target->stock[count++];
            int64_t used = claim_stray_use(target, class_no, version);
            *stock = (struct claim_stock){
                .class_no = class_no, .is_new = true, .before = used, .after = used};
        }
        stock->figures = &inventory->figures;
        stock->is_going = false;
    }
    target->stock_count = count;
    claim_stock_sort(target);
    return true;
}

static bool check_gone_unused(struct claim_set *set, const struct claim_target *target)
{
    bool in_use = false;
    for (size_t i = 0; i < target->stock_count && !in_use; i++)
        in_use = target->stock[i].is_going && target->stock[i].after > 0;
    if (!in_use)
        return true;
    const struct catalog *classes = &set->plan->version->classes;
    struct buf names = {0};
    struct ptree_iter iter;
    ptree_seek(&classes->by_id, 0, 0, &iter);
    for (const struct ptree_entry *entry; (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter)) {
        uint32_t number = (uint32_t)entry->value;
        const struct claim_stock *stock = claim_stock_of(target, (struct class_no){number});
        if (stock == NULL || !stock->is_going || stock->after == 0)
            continue;
        if (names.len > 0)
            buf_append_lit(&names, ", ");
        buf_append_slice(&names, catalog_name(catalog_row_at(classes, number)));
    }
    err_set(set->err, 409, "placement.inventory.inuse",
            "update conflict: Inventory for '%.*s' on resource provider '%.*s' in use.",
            SLICE_ARG(buf_slice(&names)), SLICE_ARG(provider_uuid(target->provider)));
    buf_free(&names);
    return false;
}

static void append_inventory(const struct claim_set *set, const struct claim_target *target,
                             const struct reshape_inventory *inventory)
{
    const struct plan *plan = set->plan;
    const struct catalog_row *row = catalog_find(&plan->version->classes, inventory->class_name);
    const struct claim_stock *stock = claim_stock_of(target, (struct class_no){row->number});
    provider_put_inventory(plan, stock->is_new, target->provider->id, row->id, &inventory->figures);
}

static void append_removals(const struct claim_set *set, const struct claim_target *target)
{
    for (size_t i = 0; i < target->stock_count; i++) {
        if (!target->stock[i].is_going)
            continue;
        uint32_t number = target->stock[i].class_no.v;
        struct change *change = change_append(set->plan->changes, CHANGE_INVENTORY_DELETE);
        change->inventory.provider_id = target->provider->id;
        change->inventory.class_id = catalog_row_at(&set->plan->version->classes, number)->id;
    }
}

bool plan_reshaper(const struct reshape *reshape, const struct plan *plan, struct err *err)
{
    struct claim_set set;
    claim_begin(&set, reshape->claims, reshape->claim_count, CLAIM_BY_RESHAPER,
                reshape->provider_count, plan, err);
    if (!find_providers(&set, reshape) || !claim_check_generations(&set) ||
        !claim_find_providers(&set))
        return false;
    for (size_t i = 0; i < reshape->provider_count; i++)
        if (!unite(&set, &set.targets[i], &reshape->providers[i]))
            return false;
    if (!claim_check_amounts(&set))
        return false;
    for (size_t i = 0; i < reshape->provider_count; i++)
        if (!check_gone_unused(&set, &set.targets[i]))
            return false;
    for (size_t i = 0; i < reshape->provider_count; i++)
        for (size_t k = 0; k < reshape->providers[i].inventory_count; k++)
            append_inventory(&set, &set.targets[i], &reshape->providers[i].inventories[k]);
    claim_write(&set);
    for (size_t i = 0; i < reshape->provider_count; i++)
        append_removals(&set, &set.targets[i]);
    return true;
}
