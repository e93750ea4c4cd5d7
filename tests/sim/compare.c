/* Row by row, in the order of the rows; what the version derives is audited by replica/audit.h. Any
 * thread, on a pinned version. */
#include "compare.h"

#include "replica/nodes.h"
#include "replica/rows.h"

static int64_t modified_at(const struct row *row)
{
    return row->image.updated_at_us != 0 ? row->image.updated_at_us : row->image.created_at_us;
}

static bool same_catalog(const struct catalog *catalog, const struct rows *rows)
{
    if (catalog->by_id.count != rows->count || catalog->by_name.count != rows->count)
        return false;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change *image = &rows->row[i].image;
        const struct catalog_row *row = catalog_find_id(catalog, image->catalog.id);
        if (row == NULL || row != catalog_find(catalog, image->catalog.name) ||
            row->created_at_us != image->created_at_us ||
            row->updated_at_us != image->updated_at_us)
            return false;
    }
    return true;
}

static const struct provider_inventory *
find_inventory(const struct version *version, const struct provider *provider, int64_t class_id)
{
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        if (catalog_row_at(&version->classes, provider->inventory[i].class_no.v)->id == class_id)
            return &provider->inventory[i];
    return NULL;
}

/* In any order: statements for many rows may insert them in another one than memory. */
static bool same_inventories(const struct version *version, const struct provider *provider,
                             const struct tables *tables)
{
    const struct rows *rows = &tables->rows[TABLE_INVENTORIES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_inventory *row = &rows->row[i].image.inventory;
        if (row->provider_id != provider->id)
            continue;
        count++;
        const struct provider_inventory *has = find_inventory(version, provider, row->class_id);
        if (has == NULL || has->figures.total != row->total ||
            has->figures.reserved != row->reserved || has->figures.min_unit != row->min_unit ||
            has->figures.max_unit != row->max_unit || has->figures.step_size != row->step_size ||
            has->figures.allocation_ratio != row->allocation_ratio ||
            has->used != tables_used(tables, provider->id, row->class_id) ||
            has->modified_at_us != modified_at(&rows->row[i]))
            return false;
    }
    return count == provider->inventory_count;
}

static bool same_links(const struct catalog *catalog, const struct name_set *set,
                       const struct rows *rows, int64_t provider_id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->row[i].image.link.provider_id != provider_id)
            continue;
        const struct catalog_row *row = catalog_find_id(catalog, rows->row[i].image.link.other_id);
        if (row == NULL || !name_set_has(set, row->number))
            return false;
        count++;
    }
    return count == set->count;
}

static const char *compare_provider(const struct version *version, const struct row *row,
                                    const struct tables *tables)
{
    const struct change_provider *wanted = &row->image.provider;
    const struct provider *provider = version_provider_by_id(version, wanted->id);
    if (provider == NULL || provider != version_provider_by_uuid(version, wanted->uuid) ||
        provider != version_provider_by_name(version, wanted->name))
        return "a provider is not there";
    int64_t parent_id = 0;
    if (provider->parent.v != NUMBER_NONE)
        parent_id = version_provider(version, provider->parent)->id;
    if (parent_id != wanted->parent_id ||
        version_provider(version, provider->root)->id != wanted->root_id)
        return "a provider's parent or root";
    if (provider->generation != wanted->generation)
        return "a provider's generation";
    if (provider->modified_at_us != modified_at(row))
        return "a provider's time";
    if (!same_inventories(version, provider, tables))
        return "a provider's inventories";
    if (!same_links(&version->traits, provider->traits, &tables->rows[TABLE_PROVIDER_TRAITS],
                    provider->id))
        return "a provider's traits";
    if (!same_links(&version->aggregates, provider->aggregates,
                    &tables->rows[TABLE_PROVIDER_AGGREGATES], provider->id))
        return "a provider's aggregates";
    return NULL;
}

static bool same_allocations(const struct version *version, const struct consumer *consumer,
                             const struct tables *tables)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    uint32_t at = 0;
    int64_t newest = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_allocation *row = &rows->row[i].image.allocation;
        if (row->consumer_id != consumer->id)
            continue;
        if (at == consumer->allocation_count)
            return false;
        const struct consumer_allocation *has = &consumer->allocation[at++];
        if (version_provider(version, has->provider)->id != row->provider_id ||
            catalog_row_at(&version->classes, has->class_no.v)->id != row->class_id ||
            has->used != row->used)
            return false;
        if (rows->row[i].image.created_at_us > newest)
            newest = rows->row[i].image.created_at_us;
    }
    return at == consumer->allocation_count && newest == consumer->allocated_at_us;
}

static const char *compare_consumer(const struct version *version, const struct row *row,
                                    const struct tables *tables)
{
    const struct change_consumer *wanted = &row->image.consumer;
    const struct consumer *consumer = version_consumer(version, wanted->uuid);
    if (consumer == NULL || consumer->id != wanted->id)
        return "a consumer is not there";
    int64_t type_id =
        consumer->type == NUMBER_NONE ? 0 : catalog_row_at(&version->types, consumer->type)->id;
    if (catalog_row_at(&version->projects, consumer->project)->id != wanted->project_id ||
        catalog_row_at(&version->users, consumer->user)->id != wanted->user_id ||
        type_id != wanted->type_id)
        return "a consumer's owner";
    if (consumer->generation != wanted->generation)
        return "a consumer's generation";
    return same_allocations(version, consumer, tables) ? NULL : "a consumer's allocations";
}

static bool same_nodes(const struct version *version, const struct rows *rows)
{
    const struct node *node = version_next_node(version, 0);
    for (uint32_t i = 0; i < rows->count; i++, node = version_next_node(version, node->record.id))
        if (node == NULL || !record_equal(&node->record, rows->row[i].image.row.record) ||
            node != version_node_by_uuid(version, node_text(node, NODE_UUID)))
            return false;
    return node == NULL;
}

static bool same_node_allocations(const struct version *version, const struct rows *rows)
{
    const struct node_allocation *has = version_next_node_allocation(version, 0);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (has == NULL || !record_equal(&has->record, rows->row[i].image.row.record))
            return false;
        has = version_next_node_allocation(version, has->record.id);
    }
    return has == NULL;
}

static bool same_rows(const struct ptree *has, const struct rows *rows)
{
    int64_t id = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        id = rows_next_id(has, id);
        if (id == 0 || !record_equal(rows_at(has, id), rows->row[i].image.row.record))
            return false;
    }
    return rows_next_id(has, id) == 0;
}

const char *compare_version(const struct version *version, const struct tables *tables)
{
    const struct rows *rows = tables->rows;
    if (!same_catalog(&version->classes, &rows[TABLE_CLASSES]))
        return "the classes";
    if (!same_catalog(&version->traits, &rows[TABLE_TRAITS]))
        return "the traits";
    if (!same_catalog(&version->aggregates, &rows[TABLE_AGGREGATES]))
        return "the aggregates";
    if (!same_catalog(&version->projects, &rows[TABLE_PROJECTS]) ||
        !same_catalog(&version->users, &rows[TABLE_USERS]) ||
        !same_catalog(&version->types, &rows[TABLE_TYPES]))
        return "the projects, users or types";
    if (version->provider_by_id.count != rows[TABLE_PROVIDERS].count ||
        version->consumers.count != rows[TABLE_CONSUMERS].count)
        return "how many providers or consumers there are";
    if (!same_nodes(version, &rows[TABLE_NODES]) ||
        !same_node_allocations(version, &rows[TABLE_NODE_ALLOCATIONS]))
        return "the nodes or their allocations";
    for (unsigned t = 0; t < VALET_TABLE_COUNT; t++)
        if (!same_rows(&version->valet[t].rows, &rows[TABLE_VALET + t]))
            return "the rows of groups and plans";
    const char *what = NULL;
    for (uint32_t i = 0; i < rows[TABLE_PROVIDERS].count && what == NULL; i++)
        what = compare_provider(version, &rows[TABLE_PROVIDERS].row[i], tables);
    for (uint32_t i = 0; i < rows[TABLE_CONSUMERS].count && what == NULL; i++)
        what = compare_consumer(version, &rows[TABLE_CONSUMERS].row[i], tables);
    return what;
}
