/* Applies changes of providers, inventories and catalogs. Those of links are in apply_links.c, of
 * consumers in apply_consumers.c, of rows of berth's own tables in apply_nodes.c and apply_valet.c.
 * Each change leaves the edit's version consistent: everything derived from the changed row is
 * changed in the same step, except for links that are held back (apply_flush). Writer only. */
#include "replica/apply.h"

#include <stdlib.h>

#include "base/hash.h"
#include "model/node.h"
#include "model/node_allocation.h"
#include "replica/apply_internal.h"
#include "replica/forest.h"
#include "replica/rows.h"
#include "replica/usage.h"

static uint32_t take_provider_no(struct edit *edit)
{
    struct version *version = edit->version;
    struct ptree_iter iter;
    ptree_seek(&version->free_numbers, 0, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    if (entry == NULL)
        return version->provider_limit++;
    uint32_t no = (uint32_t)entry->k1;
    ptree_remove(&edit->cow, &version->free_numbers, no, 0);
    return no;
}

int64_t apply_modified_at(const struct change *change)
{
    return change->updated_at_us != 0 ? change->updated_at_us : change->created_at_us;
}

static void loading_append(struct edit *edit, struct provider *provider, int64_t parent_id)
{
    if (edit->loading_count == edit->loading_capacity) {
        uint32_t capacity = edit->loading_capacity == 0 ? 1024 : edit->loading_capacity * 2;
        struct edit_loading *loading = realloc(edit->loading, capacity * sizeof(*loading));
        check(loading != NULL);
        edit->loading = loading;
        edit->loading_capacity = capacity;
    }
    edit->loading[edit->loading_count++] = (struct edit_loading){provider, parent_id};
}

static void provider_insert(struct edit *edit, const struct change *change)
{
    struct version *version = edit->version;
    const struct change_provider *row = &change->provider;
    check(row->uuid.len <= UUID_TEXT_MAX);
    struct provider *provider = cow_new(&edit->cow, provider_bytes(0, (uint32_t)row->name.len));
    provider->id = row->id;
    provider->no.v = take_provider_no(edit);
    provider->parent.v = NUMBER_NONE;
    provider->modified_at_us = apply_modified_at(change);
    provider->generation = (int32_t)row->generation;
    apply_links_set(edit, provider, true, NULL, 0);
    apply_links_set(edit, provider, false, NULL, 0);
    provider->uuid_len = (uint32_t)row->uuid.len;
    memcpy(provider->uuid, row->uuid.data, row->uuid.len);
    provider->name_len = (uint32_t)row->name.len;
    memcpy(provider->inventory, row->name.data, row->name.len);
    ptree_set(&edit->cow, &version->provider_by_id, (uint64_t)row->id, 0, provider->no.v);
    ptree_set(&edit->cow, &version->provider_by_uuid, hash_text(row->uuid), provider->no.v, 0);
    ptree_set(&edit->cow, &version->provider_by_name, hash_text(row->name), provider->no.v, 0);
    row_sums_add(&version->provider_sums, row->id, provider->generation);
    if (edit->is_loading) {
        loading_append(edit, provider, row->parent_id);
        return;
    }
    if (row->parent_id != 0)
        provider->parent = apply_provider_no(edit, row->parent_id);
    forest_insert(edit, provider);
}

static void load_providers_end(struct edit *edit)
{
    check(edit->is_loading);
    edit->is_loading = false;
    struct provider **providers = calloc(edit->loading_count + 1, sizeof(struct provider *));
    check(providers != NULL);
    for (uint32_t i = 0; i < edit->loading_count; i++) {
        struct edit_loading *loading = &edit->loading[i];
        uint64_t parent;
        if (loading->parent_id != 0 &&
            ptree_find(&edit->version->provider_by_id, (uint64_t)loading->parent_id, 0, &parent))
            loading->provider->parent.v = (uint32_t)parent;
        providers[i] = loading->provider;
    }
    forest_layout(edit, providers, edit->loading_count);
    free(providers);
    free(edit->loading);
    edit->loading = NULL;
    edit->loading_count = edit->loading_capacity = 0;
}

static void provider_take_uuid(struct edit *edit, struct provider *provider, struct slice uuid)
{
    struct ptree *tree = &edit->version->provider_by_uuid;
    uint32_t no = provider->no.v;
    check(uuid.len <= UUID_TEXT_MAX);
    ptree_remove(&edit->cow, tree, hash_text(provider_uuid(provider)), no);
    provider->uuid_len = (uint32_t)uuid.len;
    memcpy(provider->uuid, uuid.data, uuid.len);
    ptree_set(&edit->cow, tree, hash_text(uuid), no, 0);
}

static void provider_update(struct edit *edit, const struct change *change)
{
    struct version *version = edit->version;
    const struct change_provider *row = &change->provider;
    struct provider_no no = apply_provider_no(edit, row->id);
    const struct provider *before = version_provider(version, no);
    if (!slice_equal(provider_name(before), row->name)) {
        ptree_remove(&edit->cow, &version->provider_by_name, hash_text(provider_name(before)),
                     no.v);
        ptree_set(&edit->cow, &version->provider_by_name, hash_text(row->name), no.v, 0);
        edit_resize_provider(edit, no, before->inventory_count, row->name);
    }
    struct provider_no parent = {NUMBER_NONE};
    if (row->parent_id != 0)
        parent = apply_provider_no(edit, row->parent_id);
    if (version_provider(version, no)->parent.v != parent.v)
        forest_move(edit, no, parent);
    struct provider *provider = edit_own_provider(edit, no);
    provider->modified_at_us = apply_modified_at(change);
    if (row->uuid.len > 0 && !slice_equal(provider_uuid(provider), row->uuid))
        provider_take_uuid(edit, provider, row->uuid);
}

static void provider_generation(struct edit *edit, const struct change *change)
{
    struct provider *provider =
        edit_own_provider(edit, apply_provider_no(edit, change->generation.provider_id));
    struct row_sums *sums = &edit->version->provider_sums;
    row_sums_subtract(sums, provider->id, provider->generation);
    provider->generation = (int32_t)change->generation.next;
    row_sums_add(sums, provider->id, provider->generation);
    provider->modified_at_us = apply_modified_at(change); /* a follow's row may have no
                                                           * updated_at */
}

static void provider_delete(struct edit *edit, const struct change *change)
{
    struct version *version = edit->version;
    struct provider_no no = apply_provider_no(edit, change->provider.id);
    const struct provider *provider = version_provider(version, no);
    check(provider->inventory_count == 0 && provider->traits->count == 0 &&
          provider->aggregates->count == 0);
    ptree_remove(&edit->cow, &version->provider_by_id, (uint64_t)provider->id, 0);
    ptree_remove(&edit->cow, &version->provider_by_uuid, hash_text(provider_uuid(provider)), no.v);
    ptree_remove(&edit->cow, &version->provider_by_name, hash_text(provider_name(provider)), no.v);
    row_sums_subtract(&version->provider_sums, provider->id, provider->generation);
    forest_remove(edit, no);
    ptree_set(&edit->cow, &version->free_numbers, no.v, 0, 0);
    name_sets_release(&edit->cow, &version->trait_sets, provider->traits);
    name_sets_release(&edit->cow, &version->aggregate_sets, provider->aggregates);
    cow_drop(&edit->cow, provider);
}

static void put_figures(struct provider_inventory *inventory, const struct change *change)
{
    const struct change_inventory *row = &change->inventory;
    inventory->figures = (struct inventory_figures){
        .total = row->total,
        .reserved = row->reserved,
        .min_unit = row->min_unit,
        .max_unit = row->max_unit,
        .step_size = row->step_size,
        .allocation_ratio = row->allocation_ratio,
    };
    inventory->modified_at_us = apply_modified_at(change);
    provider_inventory_summarise(inventory);
}

static struct provider_inventory *own_inventory(struct edit *edit, const struct change *change,
                                                struct provider **provider)
{
    *provider = edit_own_provider(edit, apply_provider_no(edit, change->inventory.provider_id));
    struct class_no class_no = apply_class_no(edit, change->inventory.class_id);
    const struct provider_inventory *inventory = provider_inventory_of(*provider, class_no);
    check(inventory != NULL);
    return (struct provider_inventory *)(uintptr_t)inventory;
}

static void inventory_insert(struct edit *edit, const struct change *change)
{
    struct provider_no no = apply_provider_no(edit, change->inventory.provider_id);
    const struct provider *before = version_provider(edit->version, no);
    struct class_no class_no = apply_class_no(edit, change->inventory.class_id);
    check(provider_inventory_of(before, class_no) == NULL);
    uint32_t at = before->inventory_count;
    struct provider *provider = edit_resize_provider(edit, no, at + 1, provider_name(before));
    struct provider_inventory *inventory = &provider->inventory[at];
    *inventory = (struct provider_inventory){.class_no = class_no};
    inventory->used = usage_stray_take(&edit->cow, edit->version, no, class_no);
    put_figures(inventory, change);
    forest_refresh(edit, provider, inventory);
}

static void inventory_update(struct edit *edit, const struct change *change)
{
    struct provider *provider;
    struct provider_inventory *inventory = own_inventory(edit, change, &provider);
    put_figures(inventory, change);
    forest_refresh(edit, provider, inventory);
}

static void inventory_delete(struct edit *edit, const struct change *change)
{
    struct provider *provider;
    struct provider_inventory *inventory = own_inventory(edit, change, &provider);
    struct class_no class_no = inventory->class_no;
    usage_stray_add(&edit->cow, edit->version, provider->no, class_no, inventory->used);
    forest_clear_class(edit, provider->no, class_no);
    struct provider_inventory *last = &provider->inventory[provider->inventory_count - 1];
    memmove(inventory, inventory + 1, (size_t)((char *)last - (char *)inventory));
    edit_resize_provider(edit, provider->no, provider->inventory_count - 1,
                         provider_name(provider));
}

/* Removes a provider's inventories and links, before a follow inserts them again. */
static void provider_reset(struct edit *edit, const struct change *change)
{
    struct provider_no no = apply_provider_no(edit, change->provider.id);
    const struct provider *provider = version_provider(edit->version, no);
    forest_clear_contents(edit, no);
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        usage_stray_add(&edit->cow, edit->version, no, provider->inventory[i].class_no,
                        provider->inventory[i].used);
    struct provider *bare = edit_resize_provider(edit, no, 0, provider_name(provider));
    apply_links_set(edit, bare, true, NULL, 0);
    apply_links_set(edit, bare, false, NULL, 0);
}

static void catalog_change(struct edit *edit, const struct change *change, struct catalog *catalog)
{
    const struct change_catalog *row = &change->catalog;
    catalog_insert(&edit->cow, catalog, row->id, row->name, change->created_at_us,
                   change->updated_at_us);
}

static void class_rename(struct edit *edit, const struct change *change)
{
    struct class_no class_no = apply_class_no(edit, change->catalog.id);
    catalog_rename(&edit->cow, &edit->version->classes, class_no.v, change->catalog.name,
                   change->updated_at_us);
}

static void trait_delete(struct edit *edit, const struct change *change)
{
    const struct catalog_row *row = catalog_find_id(&edit->version->traits, change->catalog.id);
    check(row != NULL);
    catalog_delete(&edit->cow, &edit->version->traits, row->number);
}

static struct catalog *catalog_of(struct version *version, enum change_kind insert)
{
    return insert == CHANGE_CLASS_INSERT       ? &version->classes
           : insert == CHANGE_TRAIT_INSERT     ? &version->traits
           : insert == CHANGE_AGGREGATE_INSERT ? &version->aggregates
           : insert == CHANGE_PROJECT_INSERT   ? &version->projects
           : insert == CHANGE_USER_INSERT      ? &version->users
                                               : &version->types;
}

/* The names of traits and aggregates are repeated in sets (name_set.h), which this function does
 * not change: a merge inserts a renamed trait or aggregate as a new one. */
static void merge_catalog(struct edit *edit, const struct change *change)
{
    const struct change_catalog *row = &change->merged.row;
    enum change_kind of = change->merged.of;
    struct catalog *catalog = catalog_of(edit->version, of);
    const struct catalog_row *old = catalog_find_id(catalog, row->id);
    check(old != NULL);
    if (change->kind == CHANGE_MERGE_CATALOG_DELETE) {
        catalog_delete(&edit->cow, catalog, old->number);
        return;
    }
    check(slice_equal(catalog_name(old), row->name) ||
          (of != CHANGE_TRAIT_INSERT && of != CHANGE_AGGREGATE_INSERT));
    catalog_replace(&edit->cow, catalog, old->number, row->name, change->created_at_us,
                    change->updated_at_us);
}

void apply_change(struct edit *edit, const struct change *change)
{
    struct version *version = edit->version;
    bool is_link = change->kind >= CHANGE_PROVIDER_TRAIT_INSERT &&
                   change->kind <= CHANGE_PROVIDER_AGGREGATE_DELETE;
    if (!is_link)
        apply_flush(edit);
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
        catalog_change(edit, change, &version->classes);
        break;
    case CHANGE_CLASS_RENAME:
        class_rename(edit, change);
        break;
    case CHANGE_CLASS_DELETE:
        catalog_delete(&edit->cow, &version->classes, apply_class_no(edit, change->catalog.id).v);
        break;
    case CHANGE_TRAIT_INSERT:
        catalog_change(edit, change, &version->traits);
        break;
    case CHANGE_TRAIT_DELETE:
        trait_delete(edit, change);
        break;
    case CHANGE_AGGREGATE_INSERT:
        catalog_change(edit, change, &version->aggregates);
        break;
    case CHANGE_PROJECT_INSERT:
        catalog_change(edit, change, &version->projects);
        break;
    case CHANGE_USER_INSERT:
        catalog_change(edit, change, &version->users);
        break;
    case CHANGE_CONSUMER_TYPE_INSERT:
        catalog_change(edit, change, &version->types);
        break;
    case CHANGE_PROVIDER_INSERT:
        provider_insert(edit, change);
        break;
    case CHANGE_PROVIDER_UPDATE:
        provider_update(edit, change);
        break;
    case CHANGE_PROVIDER_GENERATION:
        provider_generation(edit, change);
        break;
    case CHANGE_PROVIDER_DELETE:
        provider_delete(edit, change);
        break;
    case CHANGE_INVENTORY_INSERT:
        inventory_insert(edit, change);
        break;
    case CHANGE_INVENTORY_UPDATE:
        inventory_update(edit, change);
        break;
    case CHANGE_INVENTORY_DELETE:
        inventory_delete(edit, change);
        break;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        apply_link_change(edit, change);
        break;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
    case CHANGE_FOLLOW_CONSUMER_RESET:
        apply_consumer_change(edit, change);
        break;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_DELETE:
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_NODE_ALLOCATION_DELETE:
        apply_node_change(edit, change);
        break;
    case CHANGE_VALET_CASES:
        apply_valet_change(edit, change);
        break;
    case CHANGE_LOAD_PROVIDERS_END:
        load_providers_end(edit);
        break;
    case CHANGE_FOLLOW_PROVIDER_RESET:
        provider_reset(edit, change);
        break;
    case CHANGE_MERGE_CATALOG_PUT:
    case CHANGE_MERGE_CATALOG_DELETE:
        merge_catalog(edit, change);
        break;
    case CHANGE_KIND_COUNT:
        check(false);
    }
}

/* The table's rows, and their shape; NULL if the change is no put. */
static const struct ptree *rows_of_put(const struct version *version, enum change_kind kind,
                                       const struct record_shape **shape)
{
    switch (kind) {
    case CHANGE_NODE_PUT:
        *shape = &NODE_SHAPE;
        return &version->nodes;
    case CHANGE_NODE_ALLOCATION_PUT:
        *shape = &NODE_ALLOCATION_SHAPE;
        return &version->node_allocations;
    case CHANGE_VALET_CASES:
        *shape = &VALET_SHAPES[change_valet_table(kind)];
        return change_is_valet_put(kind) ? &version->valet[change_valet_table(kind)].rows : NULL;
    default:
        return NULL;
    }
}

static bool has_same_names(const struct record_shape *shape, const struct record *a,
                           const struct record *b)
{
    for (unsigned i = 0; i < shape->stored; i++)
        if ((shape->fields[i].flags & RECORD_UNIQUE) != 0 &&
            (record_is_null(a, i) != record_is_null(b, i) ||
             !slice_equal(record_text(a, i), record_text(b, i))))
            return false;
    return true;
}

void apply_describe_put(const struct version *version, struct change *change)
{
    const struct record_shape *shape;
    const struct ptree *rows = rows_of_put(version, change->kind, &shape);
    if (rows == NULL)
        return;
    const struct record *before = rows_at(rows, change->row.id);
    change->is_new = before == NULL;
    change->keeps_names = before != NULL && has_same_names(shape, before, change->row.record);
}

void apply_flush(struct edit *edit)
{
    apply_links_flush(edit);
}
