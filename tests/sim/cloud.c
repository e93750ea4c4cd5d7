/* See cloud.h. One thread. */
#include "cloud.h"

#include "universe.h"

void cloud_fill(struct memory_database *database)
{
    static struct tables tables;
    tables_copy(&tables, &database->tables);
    for (int c = 0; c < CLASSES; c++)
        sim_execute(
            &tables,
            &(struct change){.kind = CHANGE_CLASS_INSERT,
                             .catalog = {c < STANDARD_CLASSES ? c : MEMORY_FIRST_CUSTOM_CLASS + c,
                                         universe_class(c)}});
    for (int t = 0; t < STANDARD_TRAITS; t++)
        sim_execute(&tables, &(struct change){.kind = CHANGE_TRAIT_INSERT,
                                              .catalog = {t + 1, universe_trait(t)}});
    for (int p = 0; p < PROVIDERS / 2; p++) {
        int64_t parent = p % 4 == 0 ? 0 : p - p % 4 + 1;
        sim_execute(&tables,
                    &(struct change){.kind = CHANGE_PROVIDER_INSERT,
                                     .created_at_us = 1,
                                     .provider = {p + 1, parent, parent == 0 ? p + 1 : parent, 0,
                                                  universe_provider(p), universe_name(p)}});
        for (int c = 0; c < STANDARD_CLASSES; c++)
            sim_execute(&tables,
                        &(struct change){.kind = CHANGE_INVENTORY_INSERT,
                                         .created_at_us = 1,
                                         .inventory = {p + 1, c, 12 + p, 0, 1, 8, 1, 1.5}});
    }
    memory_database_commit_foreign(database, &tables);
}

/* A consumer without allocations, as the Python service leaves one behind. */
static void foreign_consumer(struct tables *tables, struct rng *rng)
{
    struct slice uuid = universe_consumer(rng_below(rng, CONSUMERS));
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.consumer.uuid, uuid))
            return;
    if (tables->rows[TABLE_PROJECTS].count == 0 || tables->rows[TABLE_USERS].count == 0)
        return;
    sim_execute(tables,
                &(struct change){
                    .kind = CHANGE_CONSUMER_INSERT,
                    .created_at_us = 1,
                    .consumer = {.id = memory_free_id(tables, TABLE_CONSUMERS, 1),
                                 .project_id = tables->rows[TABLE_PROJECTS].row[0].image.catalog.id,
                                 .user_id = tables->rows[TABLE_USERS].row[0].image.catalog.id,
                                 .generation = rng_below(rng, 3),
                                 .uuid = uuid}});
}

static void foreign_inventory(struct tables *tables, struct rng *rng)
{
    const struct rows *rows = &tables->rows[TABLE_INVENTORIES];
    if (rows->count == 0)
        return;
    struct change change = rows->row[rng_below(rng, (int)rows->count)].image;
    change.kind = CHANGE_INVENTORY_UPDATE;
    change.inventory.total = 1 + rng_below(rng, 20);
    change.inventory.reserved = 0;
    sim_execute(tables, &change);
    const struct row *provider = tables_find(tables, TABLE_PROVIDERS, change.inventory.provider_id);
    int64_t generation = provider->image.provider.generation;
    sim_execute(tables, &(struct change){.kind = CHANGE_PROVIDER_GENERATION,
                                         .updated_at_us = 1,
                                         .generation = {change.inventory.provider_id, generation,
                                                        generation + 1}});
}

static void foreign_provider(struct tables *tables, struct rng *rng)
{
    int at = rng_below(rng, PROVIDERS);
    const struct rows *rows = &tables->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.provider.uuid, universe_provider(at)) ||
            slice_equal(rows->row[i].image.provider.name, universe_name(at)))
            return;
    int64_t id = memory_free_id(tables, TABLE_PROVIDERS, 1);
    sim_execute(tables, &(struct change){
                            .kind = CHANGE_PROVIDER_INSERT,
                            .provider = {id, 0, id, 0, universe_provider(at), universe_name(at)}});
}

void cloud_release(struct tables *tables, struct rng *rng)
{
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    if (rows->count == 0)
        return;
    struct change change = rows->row[rng_below(rng, (int)rows->count)].image;
    sim_execute(tables, &(struct change){.kind = CHANGE_ALLOCATIONS_OF_DELETE,
                                         .allocation = {.consumer_uuid = change.consumer.uuid}});
    change.kind = CHANGE_CONSUMER_DELETE;
    sim_execute(tables, &change);
}

/* A node goes and leaves its allocation behind, or an allocation its node. */
static void foreign_node(struct tables *tables, struct rng *rng)
{
    bool is_node = rng_below(rng, 2) == 0;
    const struct rows *rows = &tables->rows[is_node ? TABLE_NODES : TABLE_NODE_ALLOCATIONS];
    if (rows->count == 0)
        return;
    struct change change = {.kind = is_node ? CHANGE_NODE_DELETE : CHANGE_NODE_ALLOCATION_DELETE};
    change.row.id = rows->row[rng_below(rng, (int)rows->count)].image.row.id;
    sim_execute(tables, &change);
}

void cloud_foreign_write(struct memory_database *database)
{
    static struct tables tables;
    typedef void writes(struct tables * tables, struct rng * rng);
    static writes *const all[] = {foreign_consumer, foreign_inventory, foreign_provider,
                                  cloud_release, foreign_node};
    tables_copy(&tables, &database->tables);
    all[rng_below(database->rng, 5)](&tables, database->rng);
    memory_database_commit_foreign(database, &tables);
}
