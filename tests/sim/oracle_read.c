/* Tables as the oracle sees them, and the difference of two clouds. One thread. */
#include "clients.h"
#include "oracle.h"

static int number_of(const struct tables *tables, enum table table, int64_t id)
{
    return universe_number(tables_find(tables, table, id)->image.catalog.name);
}

static int provider_of(const struct tables *tables, int64_t id)
{
    return universe_number(tables_find(tables, TABLE_PROVIDERS, id)->image.provider.uuid);
}

static bool is_metal(const struct tables *tables, int64_t provider_id)
{
    return universe_is_metal(
        tables_find(tables, TABLE_PROVIDERS, provider_id)->image.provider.uuid);
}

static void read_providers(struct oracle *oracle, const struct tables *tables)
{
    const struct rows *rows = &tables->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_provider *row = &rows->row[i].image.provider;
        if (universe_is_metal(row->uuid))
            continue;
        oracle->provider[universe_number(row->uuid)] = (struct oracle_provider){
            .exists = true,
            .name = universe_number(row->name),
            .parent = row->parent_id == 0 ? NOBODY : provider_of(tables, row->parent_id),
            .generation = row->generation,
        };
    }
    rows = &tables->rows[TABLE_INVENTORIES];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_inventory *row = &rows->row[i].image.inventory;
        if (is_metal(tables, row->provider_id))
            continue;
        struct oracle_provider *provider = &oracle->provider[provider_of(tables, row->provider_id)];
        int class = number_of(tables, TABLE_CLASSES, row->class_id);
        provider->has[class] = true;
        provider->figures[class] =
            (struct inventory_figures){row->total,    row->reserved,  row->min_unit,
                                       row->max_unit, row->step_size, row->allocation_ratio};
    }
    rows = &tables->rows[TABLE_PROVIDER_TRAITS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_link *row = &rows->row[i].image.link;
        oracle->provider[provider_of(tables, row->provider_id)]
            .traits[number_of(tables, TABLE_TRAITS, row->other_id)] = true;
    }
    rows = &tables->rows[TABLE_PROVIDER_AGGREGATES];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_link *row = &rows->row[i].image.link;
        if (tables_find(tables, TABLE_PROVIDERS, row->provider_id) == NULL)
            continue; /* another program has deleted it, and no generation was compared */
        oracle->provider[provider_of(tables, row->provider_id)]
            .aggregates[number_of(tables, TABLE_AGGREGATES, row->other_id)] = true;
    }
}

static void read_consumers(struct oracle *oracle, const struct tables *tables)
{
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_consumer *row = &rows->row[i].image.consumer;
        if (universe_is_metal(row->uuid))
            continue;
        oracle->consumer[universe_number(row->uuid)] = (struct oracle_consumer){
            .exists = true,
            .project = number_of(tables, TABLE_PROJECTS, row->project_id),
            .user = number_of(tables, TABLE_USERS, row->user_id),
            .type = row->type_id == 0 ? NOBODY : number_of(tables, TABLE_TYPES, row->type_id),
            .generation = row->generation,
        };
    }
    rows = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_allocation *row = &rows->row[i].image.allocation;
        if (universe_is_metal(row->consumer_uuid))
            continue;
        oracle->consumer[universe_number(row->consumer_uuid)].amount[provider_of(
            tables, row->provider_id)][number_of(tables, TABLE_CLASSES, row->class_id)] +=
            row->used;
    }
}

void oracle_read(struct oracle *oracle, const struct tables *tables)
{
    *oracle = (struct oracle){0};
    const struct rows *classes = &tables->rows[TABLE_CLASSES];
    for (uint32_t i = 0; i < classes->count; i++)
        if (!universe_is_metal(classes->row[i].image.catalog.name))
            oracle->classes[universe_number(classes->row[i].image.catalog.name)] = true;
    for (uint32_t i = 0; i < tables->rows[TABLE_TRAITS].count; i++)
        oracle->traits[universe_number(tables->rows[TABLE_TRAITS].row[i].image.catalog.name)] =
            true;
    read_providers(oracle, tables);
    read_consumers(oracle, tables);
}

static bool figures_differ(const struct inventory_figures *a, const struct inventory_figures *b)
{
    return a->total != b->total || a->reserved != b->reserved || a->min_unit != b->min_unit ||
           a->max_unit != b->max_unit || a->step_size != b->step_size ||
           a->allocation_ratio != b->allocation_ratio;
}

static const char *provider_differs(const struct oracle_provider *a,
                                    const struct oracle_provider *b)
{
    if (a->exists != b->exists)
        return "a provider's being there";
    if (!a->exists)
        return NULL;
    if (a->name != b->name || a->parent != b->parent)
        return "a provider's name or parent";
    if (a->generation != b->generation)
        return "a provider's generation";
    for (int c = 0; c < CLASSES; c++)
        if (a->has[c] != b->has[c] || (a->has[c] && figures_differ(&a->figures[c], &b->figures[c])))
            return "an inventory";
    if (memcmp(a->traits, b->traits, sizeof(a->traits)) != 0)
        return "a provider's traits";
    if (memcmp(a->aggregates, b->aggregates, sizeof(a->aggregates)) != 0)
        return "a provider's aggregates";
    return NULL;
}

static const char *consumer_differs(const struct oracle_consumer *a,
                                    const struct oracle_consumer *b)
{
    if (a->exists != b->exists)
        return "a consumer's being there";
    if (!a->exists)
        return NULL;
    if (a->project != b->project || a->user != b->user || a->type != b->type)
        return "a consumer's owner";
    if (a->generation != b->generation)
        return "a consumer's generation";
    if (memcmp(a->amount, b->amount, sizeof(a->amount)) != 0)
        return "what a consumer holds";
    return NULL;
}

const char *oracle_differs(const struct oracle *a, const struct oracle *b)
{
    if (memcmp(a->classes, b->classes, sizeof(a->classes)) != 0)
        return "the classes";
    if (memcmp(a->traits, b->traits, sizeof(a->traits)) != 0)
        return "the traits";
    const char *what = NULL;
    for (int p = 0; p < PROVIDERS && what == NULL; p++)
        what = provider_differs(&a->provider[p], &b->provider[p]);
    for (int c = 0; c < CONSUMERS && what == NULL; c++)
        what = consumer_differs(&a->consumer[c], &b->consumer[c]);
    return what;
}
