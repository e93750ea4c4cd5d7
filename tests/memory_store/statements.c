/* Executes changes on tables. Every foreign key, unique index and compare-and-swap that berth
 * relies on is checked at each statement. One thread. */
#include "tables_internal.h"

static bool catalog_has_name(const struct tables *tables, enum table table, struct slice name)
{
    const struct rows *rows = &tables->rows[table];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.catalog.name, name))
            return true;
    return false;
}

static const char *insert_catalog(struct tables *tables, enum table table,
                                  const struct change *change)
{
    if (tables_find(tables, table, change->catalog.id) != NULL)
        return UNIQUE("catalog id is unique");
    if (catalog_has_name(tables, table, change->catalog.name))
        return UNIQUE("catalog name is unique");
    struct change image = *change;
    image.catalog.name = tables_keep_text(tables, image.catalog.name);
    tables_insert(tables, table, &image);
    return NULL;
}

static bool class_in_use(const struct tables *tables, int64_t id)
{
    const struct rows *inventories = &tables->rows[TABLE_INVENTORIES];
    for (uint32_t i = 0; i < inventories->count; i++)
        if (inventories->row[i].image.inventory.class_id == id)
            return true;
    const struct rows *allocations = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < allocations->count; i++)
        if (allocations->row[i].image.allocation.class_id == id)
            return true;
    return false;
}

static const char *change_class(struct tables *tables, const struct change *change)
{
    struct row *row = tables_row(tables, TABLE_CLASSES, change->catalog.id);
    bool is_rename = change->kind == CHANGE_CLASS_RENAME;
    struct slice known = is_rename ? change->renamed.before : change->catalog.name;
    if (row == NULL || !slice_equal(row->image.catalog.name, known))
        return STALE("the class is there");
    if (!is_rename) {
        if (class_in_use(tables, change->catalog.id))
            return "a class that goes is not in use";
        tables_erase(tables, TABLE_CLASSES, row);
        return NULL;
    }
    if (catalog_has_name(tables, TABLE_CLASSES, change->catalog.name))
        return UNIQUE("catalog name is unique");
    row->image.catalog.name = tables_keep_text(tables, change->catalog.name);
    tables_touch(tables, row, change);
    return NULL;
}

static struct row *find_link(struct tables *tables, enum table table,
                             const struct change_link *link)
{
    struct rows *rows = &tables->rows[table];
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].image.link.provider_id == link->provider_id &&
            rows->row[i].image.link.other_id == link->other_id)
            return &rows->row[i];
    return NULL;
}

static const char *delete_trait(struct tables *tables, const struct change *change)
{
    struct row *row = tables_row(tables, TABLE_TRAITS, change->catalog.id);
    if (row == NULL || !slice_equal(row->image.catalog.name, change->catalog.name))
        return STALE("the trait is there");
    const struct rows *links = &tables->rows[TABLE_PROVIDER_TRAITS];
    for (uint32_t i = 0; i < links->count; i++)
        if (links->row[i].image.link.other_id == change->catalog.id)
            return "a trait that goes is not in use";
    tables_erase(tables, TABLE_TRAITS, row);
    return NULL;
}

static const char *check_provider(const struct tables *tables, const struct change_provider *wanted)
{
    const struct rows *rows = &tables->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_provider *other = &rows->row[i].image.provider;
        if (other->id == wanted->id)
            continue;
        if (slice_equal(other->name, wanted->name))
            return UNIQUE("provider name is unique");
        if (slice_equal(other->uuid, wanted->uuid))
            return UNIQUE("provider uuid is unique");
    }
    if (wanted->parent_id != 0 && tables_find(tables, TABLE_PROVIDERS, wanted->parent_id) == NULL)
        return "the parent is there";
    if (wanted->root_id != wanted->id &&
        tables_find(tables, TABLE_PROVIDERS, wanted->root_id) == NULL)
        return "the root is there";
    return NULL;
}

static const char *insert_provider(struct tables *tables, const struct change *change)
{
    if (tables_find(tables, TABLE_PROVIDERS, change->provider.id) != NULL)
        return UNIQUE("provider id is unique");
    const char *broken = check_provider(tables, &change->provider);
    if (broken != NULL)
        return broken;
    struct change image = *change;
    image.provider.name = tables_keep_text(tables, image.provider.name);
    image.provider.uuid = tables_keep_text(tables, image.provider.uuid);
    tables_insert(tables, TABLE_PROVIDERS, &image);
    return NULL;
}

static const char *update_provider(struct tables *tables, const struct change *change)
{
    struct row *row = tables_row(tables, TABLE_PROVIDERS, change->provider.id);
    if (row == NULL)
        return STALE("the provider is there");
    const char *broken = check_provider(tables, &change->provider);
    if (broken != NULL)
        return broken;
    struct change_provider *image = &row->image.provider;
    image->root_id = change->provider.root_id;
    if (!change->is_root_only) {
        image->name = tables_keep_text(tables, change->provider.name);
        image->parent_id = change->provider.parent_id;
    }
    tables_touch(tables, row, change);
    return NULL;
}

static const char *step_generation(struct tables *tables, const struct change *change)
{
    struct row *row = tables_row(tables, TABLE_PROVIDERS, change->generation.provider_id);
    if (row == NULL)
        return STALE("the provider is there");
    if (row->image.provider.generation != change->generation.expected)
        return STALE("the provider's generation is the expected one");
    row->image.provider.generation = change->generation.next;
    tables_touch(tables, row, change);
    return NULL;
}

static const char *delete_provider(struct tables *tables, int64_t id)
{
    static const enum table contents[] = {TABLE_INVENTORIES, TABLE_PROVIDER_TRAITS,
                                          TABLE_PROVIDER_AGGREGATES};
    struct row *row = tables_row(tables, TABLE_PROVIDERS, id);
    if (row == NULL)
        return STALE("the provider is there");
    for (size_t c = 0; c < sizeof(contents) / sizeof(contents[0]); c++)
        for (uint32_t i = 0; i < tables->rows[contents[c]].count; i++)
            if (tables->rows[contents[c]].row[i].image.link.provider_id == id)
                return "a provider that goes has no inventories and links";
    for (uint32_t i = 0; i < tables->rows[TABLE_ALLOCATIONS].count; i++)
        if (tables->rows[TABLE_ALLOCATIONS].row[i].image.allocation.provider_id == id)
            return "a provider that goes has no allocations";
    for (uint32_t i = 0; i < tables->rows[TABLE_PROVIDERS].count; i++) {
        const struct change_provider *other = &tables->rows[TABLE_PROVIDERS].row[i].image.provider;
        if (other->id != id && (other->parent_id == id || other->root_id == id))
            return "a provider that goes is nobody's parent or root";
    }
    tables_erase(tables, TABLE_PROVIDERS, row);
    return NULL;
}

static const char *change_inventory(struct tables *tables, const struct change *change)
{
    const struct change_inventory *wanted = &change->inventory;
    struct rows *rows = &tables->rows[TABLE_INVENTORIES];
    struct row *row = NULL;
    for (uint32_t i = 0; i < rows->count && row == NULL; i++)
        if (rows->row[i].image.inventory.provider_id == wanted->provider_id &&
            rows->row[i].image.inventory.class_id == wanted->class_id)
            row = &rows->row[i];
    if (change->kind == CHANGE_INVENTORY_INSERT) {
        if (row != NULL)
            return UNIQUE("provider and class of an inventory are unique");
        if (tables_find(tables, TABLE_PROVIDERS, wanted->provider_id) == NULL ||
            tables_find(tables, TABLE_CLASSES, wanted->class_id) == NULL)
            return "an inventory's provider and class are there";
        tables_insert(tables, TABLE_INVENTORIES, change);
        return NULL;
    }
    if (row == NULL)
        return STALE("the inventory is there");
    if (change->kind == CHANGE_INVENTORY_DELETE) {
        tables_erase(tables, TABLE_INVENTORIES, row);
        return NULL;
    }
    row->image.inventory = *wanted;
    tables_touch(tables, row, change);
    return NULL;
}

static const char *change_link(struct tables *tables, const struct change *change)
{
    bool is_trait = change->kind == CHANGE_PROVIDER_TRAIT_INSERT ||
                    change->kind == CHANGE_PROVIDER_TRAIT_DELETE;
    bool is_insert = change->kind == CHANGE_PROVIDER_TRAIT_INSERT ||
                     change->kind == CHANGE_PROVIDER_AGGREGATE_INSERT;
    enum table table = is_trait ? TABLE_PROVIDER_TRAITS : TABLE_PROVIDER_AGGREGATES;
    struct row *row = find_link(tables, table, &change->link);
    if (!is_insert) {
        if (row == NULL)
            return STALE("the link is there");
        tables_erase(tables, table, row);
        return NULL;
    }
    if (row != NULL)
        return UNIQUE("a link is unique");
    if (tables_find(tables, TABLE_PROVIDERS, change->link.provider_id) == NULL ||
        tables_find(tables, is_trait ? TABLE_TRAITS : TABLE_AGGREGATES, change->link.other_id) ==
            NULL)
        return "what a link joins is there";
    tables_insert(tables, table, change);
    return NULL;
}

static bool owner_exists(const struct tables *tables, const struct change_consumer *row)
{
    return tables_find(tables, TABLE_PROJECTS, row->project_id) != NULL &&
           tables_find(tables, TABLE_USERS, row->user_id) != NULL &&
           (row->type_id == 0 || tables_find(tables, TABLE_TYPES, row->type_id) != NULL);
}

static const char *insert_consumer(struct tables *tables, const struct change *change)
{
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].image.consumer.id == change->consumer.id ||
            slice_equal(rows->row[i].image.consumer.uuid, change->consumer.uuid))
            return UNIQUE("consumer id and uuid are unique");
    if (!owner_exists(tables, &change->consumer))
        return "a consumer's owner is there";
    struct change image = *change;
    image.consumer.uuid = tables_keep_text(tables, image.consumer.uuid);
    tables_insert(tables, TABLE_CONSUMERS, &image);
    return NULL;
}

static const char *update_consumer(struct tables *tables, const struct change *change)
{
    struct row *row = tables_row(tables, TABLE_CONSUMERS, change->consumer.id);
    if (row == NULL || !slice_equal(row->image.consumer.uuid, change->consumer.uuid))
        return STALE("the consumer is there");
    if (row->image.consumer.generation != change->consumer.expected_generation)
        return STALE("the consumer's generation is the expected one");
    if (!owner_exists(tables, &change->consumer))
        return "a consumer's owner is there";
    struct change_consumer *image = &row->image.consumer;
    image->generation = change->consumer.generation;
    if (!change->is_generation_only) {
        image->project_id = change->consumer.project_id;
        image->user_id = change->consumer.user_id;
        image->type_id = change->consumer.type_id;
    }
    tables_touch(tables, row, change);
    return NULL;
}

static const char *delete_consumer(struct tables *tables, const struct change *change)
{
    struct row *row = tables_row(tables, TABLE_CONSUMERS, change->consumer.id);
    if (row == NULL || !slice_equal(row->image.consumer.uuid, change->consumer.uuid))
        return STALE("the consumer is there");
    const struct rows *allocations = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < allocations->count; i++)
        if (allocations->row[i].image.allocation.consumer_id == change->consumer.id)
            return "a consumer that goes has no allocations";
    tables_erase(tables, TABLE_CONSUMERS, row);
    return NULL;
}

static const char *insert_allocation(struct tables *tables, const struct change *change)
{
    const struct change_allocation *wanted = &change->allocation;
    const struct row *consumer = tables_find(tables, TABLE_CONSUMERS, wanted->consumer_id);
    if (tables_find(tables, TABLE_ALLOCATIONS, wanted->id) != NULL)
        return UNIQUE("allocation id is unique");
    if (consumer == NULL || !slice_equal(consumer->image.consumer.uuid, wanted->consumer_uuid) ||
        tables_find(tables, TABLE_PROVIDERS, wanted->provider_id) == NULL ||
        tables_find(tables, TABLE_CLASSES, wanted->class_id) == NULL)
        return "an allocation's consumer, provider and class are there";
    if (wanted->used < 1)
        return "an allocation is of something";
    struct change image = *change;
    image.allocation.consumer_uuid = consumer->image.consumer.uuid;
    tables_insert(tables, TABLE_ALLOCATIONS, &image);
    return NULL;
}

static void delete_allocations_of(struct tables *tables, struct slice consumer_uuid)
{
    struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!slice_equal(rows->row[i].image.allocation.consumer_uuid, consumer_uuid))
            rows->row[kept++] = rows->row[i];
    rows->count = kept;
}

const char *tables_execute(struct tables *tables, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
        return insert_catalog(tables, TABLE_CLASSES, change);
    case CHANGE_TRAIT_INSERT:
        return insert_catalog(tables, TABLE_TRAITS, change);
    case CHANGE_AGGREGATE_INSERT:
        return insert_catalog(tables, TABLE_AGGREGATES, change);
    case CHANGE_PROJECT_INSERT:
        return insert_catalog(tables, TABLE_PROJECTS, change);
    case CHANGE_USER_INSERT:
        return insert_catalog(tables, TABLE_USERS, change);
    case CHANGE_CONSUMER_TYPE_INSERT:
        return insert_catalog(tables, TABLE_TYPES, change);
    case CHANGE_CLASS_RENAME:
    case CHANGE_CLASS_DELETE:
        return change_class(tables, change);
    case CHANGE_TRAIT_DELETE:
        return delete_trait(tables, change);
    case CHANGE_PROVIDER_INSERT:
        return insert_provider(tables, change);
    case CHANGE_PROVIDER_UPDATE:
        return update_provider(tables, change);
    case CHANGE_PROVIDER_GENERATION:
        return step_generation(tables, change);
    case CHANGE_PROVIDER_DELETE:
        return delete_provider(tables, change->provider.id);
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        return change_inventory(tables, change);
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        return change_link(tables, change);
    case CHANGE_CONSUMER_INSERT:
        return insert_consumer(tables, change);
    case CHANGE_CONSUMER_UPDATE:
        return update_consumer(tables, change);
    case CHANGE_CONSUMER_DELETE:
        return delete_consumer(tables, change);
    case CHANGE_ALLOCATION_INSERT:
        return insert_allocation(tables, change);
    case CHANGE_ALLOCATIONS_OF_DELETE:
        delete_allocations_of(tables, change->allocation.consumer_uuid);
        return NULL;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_DELETE:
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_NODE_ALLOCATION_DELETE:
    case CHANGE_VALET_CASES:
        return tables_execute_row(tables, change);
    default:
        return "a plan has no records of loads and follows";
    }
}
