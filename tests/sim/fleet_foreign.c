/* What another program writes to the fleet's database: the Python service, which shares it during a
 * switch. It follows the rules of the tables and of capacity, raises generations as it does there,
 * takes ids from the sequences, and writes no log. Each of its transactions is committed at once,
 * unless an open one has written the same rows.
 *
 * What it has lost returns with other contents, as far as instances can tell: a consumer's id, with
 * the same generation, may be that of another consumer. Spared is what they cannot tell until they
 * have looked. Claims compare nothing of a provider but its id and its generation, so neither
 * returns with other contents. A look finds no row whose time is wrong if the sums are right, so an
 * id or a generation of a consumer does not return then either. One thread. */
#include "base/clock.h"
#include "fake_postgres/consumers.h"
#include "fake_postgres/process.h"
#include "fleet.h"
#include "memory_store/tables_internal.h"
#include "model/capacity.h"
#include "universe.h"

enum { WRITES_MOST = 64 };

/* A transaction that is being made, on the newest state. */
struct foreign {
    const struct tables *tables;
    size_t count;
    struct row_write writes[WRITES_MOST];
};

static void put(struct foreign *foreign, enum table table, const struct row *row, bool is_delete)
{
    check(foreign->count < WRITES_MOST);
    foreign->writes[foreign->count++] =
        (struct row_write){.table = table, .is_delete = is_delete, .row = *row};
}

static void insert(struct foreign *foreign, enum table table, const struct change *image)
{
    put(foreign, table, &(struct row){.birth = ++server.states.clock, .image = *image}, false);
}

/* ---- after a loss ---- */

static void note_highest(int64_t id, int64_t generation)
{
    struct foreign_highest *lost = &fleet.foreign_lost;
    lost->id = id > lost->id ? id : lost->id;
    lost->generation = generation > lost->generation ? generation : lost->generation;
}

void foreign_note_loss(void)
{
    const struct rows *rows = states_newest(&server.states)->tables.rows;
    for (uint32_t i = 0; i < rows[TABLE_PROVIDERS].count; i++) {
        const struct change_provider *row = &rows[TABLE_PROVIDERS].row[i].image.provider;
        note_highest(row->id, row->generation);
    }
    for (uint32_t i = 0; i < rows[TABLE_CONSUMERS].count; i++) {
        const struct change_consumer *row = &rows[TABLE_CONSUMERS].row[i].image.consumer;
        note_highest(row->id, row->generation);
    }
}

/* Whether no number that such a row has had returns. */
static bool spares(enum table table)
{
    return table == TABLE_PROVIDERS || (table == TABLE_CONSUMERS && fleet.foreign_clock_us != 0);
}

static int64_t next_id(enum table table)
{
    bool is_spared = spares(table);
    int64_t id = fleet_database.next_id(table);
    while (is_spared && id <= fleet.foreign_lost.id)
        id = fleet_database.next_id(table);
    return id;
}

static int64_t raised(enum table table, int64_t generation)
{
    int64_t lost = spares(table) ? fleet.foreign_lost.generation : 0;
    return generation > lost ? generation + 1 : lost + 1;
}

/* ---- times ---- */

static int64_t now_us(void)
{
    return (clock_wall_us() + fleet.foreign_clock_us) / 1000000 * 1000000;
}

/* ---- rows ---- */

/* The id of the catalog's row with that name, which is inserted if it is missing. */
static int64_t ensure_name(struct foreign *foreign, enum table table, enum change_kind kind,
                           struct slice name)
{
    const struct row *row = consumers_catalog_row(foreign->tables, table, name);
    if (row != NULL)
        return row->image.catalog.id;
    struct change image = {.kind = kind, .created_at_us = now_us()};
    image.catalog =
        (struct change_catalog){next_id(table), tables_keep_text(foreign->tables, name)};
    insert(foreign, table, &image);
    return image.catalog.id;
}

static const struct row *some_row(const struct foreign *foreign, enum table table)
{
    const struct rows *rows = &foreign->tables->rows[table];
    return rows->count == 0 ? NULL : &rows->row[rng_below(&fleet.rng, (int)rows->count)];
}

static void raise_provider(struct foreign *foreign, int64_t id)
{
    struct row row = *tables_find(foreign->tables, TABLE_PROVIDERS, id);
    row.image.provider.generation = raised(TABLE_PROVIDERS, row.image.provider.generation);
    row.image.updated_at_us = now_us();
    put(foreign, TABLE_PROVIDERS, &row, false);
}

/* The rows of a table that belong to a provider. */
static void delete_contents(struct foreign *foreign, enum table table, int64_t provider_id)
{
    const struct rows *rows = &foreign->tables->rows[table];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change *image = &rows->row[i].image;
        if ((table == TABLE_INVENTORIES ? image->inventory.provider_id : image->link.provider_id) ==
            provider_id)
            put(foreign, table, &rows->row[i], true);
    }
}

/* What the consumer holds of that inventory is added up in *own. */
static void delete_allocations(struct foreign *foreign, struct slice uuid,
                               const struct change_inventory *inventory, int64_t *own)
{
    const struct rows *rows = &foreign->tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_allocation *row = &rows->row[i].image.allocation;
        if (!slice_equal(row->consumer_uuid, uuid))
            continue;
        if (inventory != NULL && row->provider_id == inventory->provider_id &&
            row->class_id == inventory->class_id)
            *own += row->used;
        put(foreign, TABLE_ALLOCATIONS, &rows->row[i], true);
    }
}

/* ---- its requests ---- */

/* A new consumer gets generation 1, because its first allocations raise it. */
static void put_consumer(struct foreign *foreign, int number)
{
    struct slice uuid = universe_consumer(number);
    const struct row *known = consumers_row(foreign->tables, uuid);
    if (known != NULL) {
        struct row row = *known;
        row.image.consumer.generation = raised(TABLE_CONSUMERS, row.image.consumer.generation);
        row.image.consumer.expected_generation = row.image.consumer.generation;
        row.image.updated_at_us = now_us();
        put(foreign, TABLE_CONSUMERS, &row, false);
        return;
    }
    struct change image = {.kind = CHANGE_CONSUMER_INSERT, .created_at_us = now_us()};
    int owner = rng_below(&fleet.rng, OWNERS);
    image.consumer = (struct change_consumer){
        .project_id =
            ensure_name(foreign, TABLE_PROJECTS, CHANGE_PROJECT_INSERT, universe_project(owner)),
        .user_id = ensure_name(foreign, TABLE_USERS, CHANGE_USER_INSERT, universe_user(owner)),
        .generation = 1,
        .expected_generation = 1,
        .uuid = tables_keep_text(foreign->tables, uuid),
    };
    image.consumer.id = next_id(TABLE_CONSUMERS);
    insert(foreign, TABLE_CONSUMERS, &image);
}

/* The smallest amount that may be allocated. */
static int64_t least_of(const struct change_inventory *row)
{
    int64_t steps = (row->min_unit + row->step_size - 1) / row->step_size;
    return (steps < 1 ? 1 : steps) * row->step_size;
}

/* A consumer gets allocations in place of those that it has. Only the providers of the new ones are
 * raised. */
static bool claim(struct foreign *foreign)
{
    const struct row *row = some_row(foreign, TABLE_INVENTORIES);
    if (row == NULL)
        return false;
    const struct change_inventory *inventory = &row->image.inventory;
    const struct inventory_figures figures = {inventory->total,     inventory->reserved,
                                              inventory->min_unit,  inventory->max_unit,
                                              inventory->step_size, inventory->allocation_ratio};
    int number = rng_below(&fleet.rng, CONSUMERS);
    struct slice uuid = universe_consumer(number);
    int64_t amount = least_of(inventory);
    int64_t own = 0;
    delete_allocations(foreign, uuid, inventory, &own);
    if (amount > inventory->max_unit ||
        tables_used(foreign->tables, inventory->provider_id, inventory->class_id) - own + amount >
            capacity_of(&figures))
        return false;
    put_consumer(foreign, number);
    struct change image = {.kind = CHANGE_ALLOCATION_INSERT, .created_at_us = now_us()};
    image.allocation = (struct change_allocation){
        .id = next_id(TABLE_ALLOCATIONS),
        .consumer_uuid = tables_keep_text(foreign->tables, uuid),
        .provider_id = inventory->provider_id,
        .class_id = inventory->class_id,
        .used = amount,
    };
    insert(foreign, TABLE_ALLOCATIONS, &image);
    raise_provider(foreign, inventory->provider_id);
    return true;
}

/* A consumer and its allocations go. No provider is raised. */
static bool release(struct foreign *foreign)
{
    const struct row *consumer = some_row(foreign, TABLE_CONSUMERS);
    if (consumer == NULL)
        return false;
    delete_allocations(foreign, consumer->image.consumer.uuid, NULL, NULL);
    put(foreign, TABLE_CONSUMERS, consumer, true);
    return true;
}

/* Its connection broke while it committed a claim, and it deletes the consumer that it has created.
 * The claim may have been committed. */
static bool abandon(struct foreign *foreign)
{
    const struct row *consumer = some_row(foreign, TABLE_CONSUMERS);
    if (consumer == NULL)
        return false;
    put(foreign, TABLE_CONSUMERS, consumer, true);
    fleet.tally.abandoned += consumers_holds(foreign->tables, consumer->image.consumer.uuid);
    return true;
}

static bool set_total(struct foreign *foreign)
{
    const struct row *known = some_row(foreign, TABLE_INVENTORIES);
    if (known == NULL)
        return false;
    struct row row = *known;
    row.image.inventory.total = 8 + rng_below(&fleet.rng, 20);
    row.image.updated_at_us = now_us();
    put(foreign, TABLE_INVENTORIES, &row, false);
    raise_provider(foreign, row.image.inventory.provider_id);
    return true;
}

static bool add_trait(struct foreign *foreign)
{
    const struct row *provider = some_row(foreign, TABLE_PROVIDERS);
    if (provider == NULL)
        return false;
    int64_t trait = 1 + rng_below(&fleet.rng, STANDARD_TRAITS); /* these are never deleted */
    const struct rows *rows = &foreign->tables->rows[TABLE_PROVIDER_TRAITS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].image.link.provider_id == provider->image.provider.id &&
            rows->row[i].image.link.other_id == trait)
            return false;
    struct change image = {.kind = CHANGE_PROVIDER_TRAIT_INSERT, .created_at_us = now_us()};
    image.link = (struct change_link){provider->image.provider.id, trait};
    insert(foreign, TABLE_PROVIDER_TRAITS, &image);
    raise_provider(foreign, provider->image.provider.id);
    return true;
}

static bool create_trait(struct foreign *foreign)
{
    ensure_name(foreign, TABLE_TRAITS, CHANGE_TRAIT_INSERT,
                universe_trait(rng_below(&fleet.rng, TRAITS)));
    return foreign->count > 0;
}

static bool create_provider(struct foreign *foreign)
{
    int number = rng_below(&fleet.rng, PROVIDERS);
    struct slice uuid = universe_provider(number);
    struct slice name = universe_name(number);
    const struct rows *rows = &foreign->tables->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.provider.uuid, uuid) ||
            slice_equal(rows->row[i].image.provider.name, name))
            return false;
    struct change image = {.kind = CHANGE_PROVIDER_INSERT, .created_at_us = now_us()};
    int64_t id = next_id(TABLE_PROVIDERS);
    image.provider = (struct change_provider){id,
                                              0,
                                              id,
                                              0,
                                              tables_keep_text(foreign->tables, uuid),
                                              tables_keep_text(foreign->tables, name)};
    insert(foreign, TABLE_PROVIDERS, &image);
    return true;
}

static bool has_children_or_allocations(const struct tables *tables, int64_t id)
{
    const struct rows *providers = &tables->rows[TABLE_PROVIDERS];
    const struct rows *allocations = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < providers->count; i++)
        if (providers->row[i].image.provider.parent_id == id)
            return true;
    for (uint32_t i = 0; i < allocations->count; i++)
        if (allocations->row[i].image.allocation.provider_id == id)
            return true;
    return false;
}

static bool delete_provider(struct foreign *foreign)
{
    const struct row *provider = some_row(foreign, TABLE_PROVIDERS);
    if (provider == NULL ||
        has_children_or_allocations(foreign->tables, provider->image.provider.id))
        return false;
    static const enum table contents[] = {TABLE_INVENTORIES, TABLE_PROVIDER_TRAITS,
                                          TABLE_PROVIDER_AGGREGATES};
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
        delete_contents(foreign, contents[i], provider->image.provider.id);
    put(foreign, TABLE_PROVIDERS, provider, true);
    return true;
}

void foreign_write(void)
{
    static bool (*const all[])(struct foreign * foreign) = {
        claim,     claim,        claim,           release,         set_total,
        add_trait, create_trait, create_provider, delete_provider, abandon,
    };
    static const char *const names[] = {
        "claims",
        "claims",
        "claims",
        "releases",
        "sets a total",
        "adds a trait",
        "creates a trait",
        "creates a provider",
        "deletes a provider",
        "deletes only the row of a consumer",
    };
    enum { KINDS = sizeof(all) / sizeof(all[0]) };
    struct foreign foreign = {.tables = &states_newest(&server.states)->tables};
    int kind = rng_below(&fleet.rng, KINDS);
    bool is_made = all[kind](&foreign) && fake_server_write(foreign.writes, foreign.count);
    process_trace("another program %s%s", names[kind], is_made ? "" : ", in vain");
    fleet.tally.foreign_writes += is_made;
    fleet.has_foreign |= is_made;
}
