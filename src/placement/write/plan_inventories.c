/* Inventories: no capacity below zero, only known classes, and no inventory that is in use may be
 * deleted (reducing one below its use is allowed). Each write raises the provider's generation.
 * The writer only. */
#include "placement/write/plan_inventories.h"

#include <stdlib.h>

#include "base/arena.h"
#include "engine/generations.h"
#include "engine/provider_changes.h"
#include "placement/write/plan_providers.h"

static const char CONCURRENT[] = "placement.concurrent_update";

static bool check_generation(const struct provider *provider, int64_t generation, struct err *err)
{
    if (provider->generation == generation)
        return true;
    err_set(err, 409, CONCURRENT, "resource provider generation conflict");
    return err_of_kind(err, REFUSED_PROVIDER_GENERATION);
}

/* prefix: the beginning of the message, up to the provider's uuid. */
static bool check_capacity(const struct plan_inventories *input, struct slice prefix,
                           struct err *err)
{
    for (size_t i = 0; i < input->item_count; i++) {
        const struct plan_inventory *item = &input->items[i];
        int64_t capacity = item->has_figures ? capacity_of(&item->figures) : 1;
        if (capacity > 0 || (capacity == 0 && input->all_can_be_reserved))
            continue;
        return err_set_join(err, 400, NULL, prefix, input->provider_uuid,
                            SLICE_LIT(": Invalid inventory for '"), item->class_name,
                            SLICE_LIT("' on resource provider '"), input->provider_uuid,
                            input->all_can_be_reserved
                                ? SLICE_LIT("'. The reserved value is greater than total.")
                                : SLICE_LIT("'. The reserved value is greater than or equal to "
                                            "total."));
    }
    return true;
}

static bool refuse_class(struct slice prefix, struct slice uuid, struct slice class_name,
                         struct err *err)
{
    return err_set_join(err, 400, NULL, prefix, uuid, SLICE_LIT(": No such resource class "),
                        class_name, SLICE_LIT("."));
}

static void append_delete(const struct plan *plan, const struct provider *provider,
                          int64_t class_id)
{
    change_append(plan->changes, CHANGE_INVENTORY_DELETE)->inventory =
        (struct change_inventory){.provider_id = provider->id, .class_id = class_id};
}

static bool finish(const struct provider *provider, const struct plan *plan, int64_t *generation)
{
    generation_set_steps(plan, provider, 1); /* even if nothing changes */
    *generation = change_next_generation(provider->generation);
    return true;
}

bool plan_inventory_create(const struct plan_inventories *input, const struct plan *plan,
                           int64_t *generation, struct err *err)
{
    const struct slice prefix = SLICE_LIT("Unable to create inventory for resource provider ");
    const struct plan_inventory *item = &input->items[0];
    const struct provider *provider = plan_provider_find(plan->version, input->provider_uuid, err);
    if (provider == NULL || !check_capacity(input, prefix, err))
        return false;
    const struct catalog_row *row = catalog_find(&plan->version->classes, item->class_name);
    if (row == NULL)
        return refuse_class(prefix, input->provider_uuid, item->class_name, err);
    if (provider_inventory_of(provider, (struct class_no){row->number}) != NULL)
        return err_set_join(err, 409, CONCURRENT, SLICE_LIT("Update conflict: Inventory of class "),
                            item->class_name, SLICE_LIT(" on resource provider "),
                            input->provider_uuid, SLICE_LIT(" already exists."));
    provider_put_inventory(plan, true, provider->id, row->id, &item->figures);
    return finish(provider, plan, generation);
}

bool plan_inventory_update(const struct plan_inventories *input, const struct plan *plan,
                           int64_t *generation, struct err *err)
{
    const struct plan_inventory *item = &input->items[0];
    const struct provider *provider = plan_provider_find(plan->version, input->provider_uuid, err);
    if (provider == NULL || !check_generation(provider, input->generation, err) ||
        !check_capacity(input, SLICE_LIT("Unable to update inventory for resource provider "), err))
        return false;
    const struct catalog_row *row = catalog_find(&plan->version->classes, item->class_name);
    if (row == NULL)
        return err_set_join(err, 404, NULL, SLICE_LIT("No such resource class "), item->class_name,
                            SLICE_LIT("."));
    if (provider_inventory_of(provider, (struct class_no){row->number}) == NULL)
        return err_set_join(
            err, 400, NULL,
            SLICE_LIT("No inventory record with resource class for resource provider "),
            input->provider_uuid, SLICE_LIT(": No inventory of class "), item->class_name,
            SLICE_LIT(" found."));
    provider_put_inventory(plan, false, provider->id, row->id, &item->figures);
    return finish(provider, plan, generation);
}

static int plan_inventories_compare_ids(const void *left, const void *right)
{
    int64_t a = (*(const struct catalog_row *const *)left)->id;
    int64_t b = (*(const struct catalog_row *const *)right)->id;
    return a < b ? -1 : a > b;
}

/* "Inventory for 'VCPU, DISK_GB' on resource provider 'U' in use.", with the classes in the order
 * of their ids; rows are sorted in place. */
static bool refuse_in_use(const struct provider *provider, const struct catalog_row **rows,
                          size_t count, struct slice prefix, const char *code, struct err *err)
{
    qsort(rows, count, sizeof(struct catalog_row *), plan_inventories_compare_ids);
    struct slice *parts = arena_array(err->arena, 2 * count + 5, sizeof(*parts));
    size_t n = 0;
    parts[n++] = prefix;
    parts[n++] = SLICE_LIT("Inventory for '");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            parts[n++] = SLICE_LIT(", ");
        parts[n++] = catalog_name(rows[i]);
    }
    parts[n++] = SLICE_LIT("' on resource provider '");
    parts[n++] = provider_uuid(provider);
    parts[n++] = SLICE_LIT("' in use.");
    return err_set_parts(err, 409, code, parts, n);
}

/* Collects the provider's inventories that are not kept; false with err set if one of them is in
 * use. kept is indexed like the provider's inventories; NULL: none is kept. */
static bool check_gone(const struct plan *plan, const struct provider *provider, const bool *kept,
                       struct slice prefix, struct err *err)
{
    const struct catalog_row **used =
        arena_array(plan->arena, provider->inventory_count, sizeof(struct catalog_row *));
    size_t count = 0;
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        if ((kept == NULL || !kept[i]) && provider->inventory[i].used != 0)
            used[count++] =
                catalog_row_at(&plan->version->classes, provider->inventory[i].class_no.v);
    if (count > 0)
        return refuse_in_use(provider, used, count, prefix, "placement.inventory.inuse", err);
    return true;
}

static void append_gone(const struct plan *plan, const struct provider *provider, const bool *kept)
{
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        if (kept == NULL || !kept[i])
            append_delete(
                plan, provider,
                catalog_row_at(&plan->version->classes, provider->inventory[i].class_no.v)->id);
}

struct class_item {
    const struct catalog_row *row;
    const struct plan_inventory *item;
};

static int compare_items(const void *left, const void *right)
{
    int64_t a = ((const struct class_item *)left)->row->id;
    int64_t b = ((const struct class_item *)right)->row->id;
    return a < b ? -1 : a > b;
}

/* The items with their classes, in the order of the classes' ids; NULL with err set: a class is
 * unknown. */
static struct class_item *find_classes(const struct plan_inventories *input,
                                       const struct plan *plan, struct err *err)
{
    struct class_item *items = arena_array(plan->arena, input->item_count, sizeof(*items));
    for (size_t i = 0; i < input->item_count; i++) {
        const struct plan_inventory *item = &input->items[i];
        const struct catalog_row *row = catalog_find(&plan->version->classes, item->class_name);
        if (row == NULL || !item->has_figures) {
            refuse_class(SLICE_LIT("Unknown resource class in inventory for resource provider "),
                         input->provider_uuid, item->class_name, err);
            return NULL;
        }
        items[i] = (struct class_item){row, item};
    }
    qsort(items, input->item_count, sizeof(*items), compare_items);
    return items;
}

bool plan_inventories_set(const struct plan_inventories *input, const struct plan *plan,
                          int64_t *generation, struct err *err)
{
    const struct provider *provider = plan_provider_find(plan->version, input->provider_uuid, err);
    if (provider == NULL || !check_generation(provider, input->generation, err) ||
        !check_capacity(input, SLICE_LIT("Unable to update inventory for resource provider "), err))
        return false;
    struct class_item *items = find_classes(input, plan, err);
    if (items == NULL)
        return false;
    bool *kept = arena_zalloc(plan->arena, provider->inventory_count * sizeof(bool));
    const struct provider_inventory **olds =
        arena_array(plan->arena, input->item_count, sizeof(struct provider_inventory *));
    for (size_t i = 0; i < input->item_count; i++) {
        olds[i] = provider_inventory_of(provider, (struct class_no){items[i].row->number});
        if (olds[i] != NULL)
            kept[olds[i] - provider->inventory] = true;
    }
    if (!check_gone(plan, provider, kept, SLICE_LIT("update conflict: "), err))
        return false;
    append_gone(plan, provider, kept);
    for (size_t i = 0; i < input->item_count; i++)
        provider_put_inventory(plan, olds[i] == NULL, provider->id, items[i].row->id,
                               &items[i].item->figures);
    return finish(provider, plan, generation);
}

bool plan_inventory_delete(struct slice provider_uuid_text, struct slice class_name,
                           const struct plan *plan, struct err *err)
{
    const struct provider *provider = plan_provider_find(plan->version, provider_uuid_text, err);
    if (provider == NULL)
        return false;
    const struct slice prefix = SLICE_LIT("No inventory of class ");
    const struct slice middle = SLICE_LIT(" found for delete");
    const struct catalog_row *row = catalog_find(&plan->version->classes, class_name);
    if (row == NULL)
        return err_set_join(err, 404, NULL, prefix, class_name, middle,
                            SLICE_LIT(": No such resource class "), class_name, SLICE_LIT("."));
    const struct provider_inventory *inventory =
        provider_inventory_of(provider, (struct class_no){row->number});
    if (inventory == NULL)
        return err_set_join(err, 404, NULL, prefix, class_name, middle, SLICE_LIT(": "), prefix,
                            class_name, middle);
    if (inventory->used != 0)
        return err_set_join(err, 409, CONCURRENT, SLICE_LIT("Unable to delete inventory of class "),
                            class_name, SLICE_LIT(": Inventory for '"), class_name,
                            SLICE_LIT("' on resource provider '"), provider_uuid_text,
                            SLICE_LIT("' in use."));
    append_delete(plan, provider, row->id);
    generation_set_steps(plan, provider, 1); /* even if nothing changes */
    return true;
}

bool plan_inventories_delete(struct slice provider_uuid_text, const struct plan *plan,
                             struct err *err)
{
    const struct provider *provider = plan_provider_find(plan->version, provider_uuid_text, err);
    if (provider == NULL || !check_gone(plan, provider, NULL, SLICE_LIT(""), err))
        return false;
    append_gone(plan, provider, NULL);
    generation_set_steps(plan, provider, 1); /* even if nothing changes */
    return true;
}
