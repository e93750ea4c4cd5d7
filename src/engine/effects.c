/* Derives effects in one pass over the changes. A request usually names one consumer and a handful
 * of providers, which are found by comparing the last few entries. For larger requests, tables of
 * the ids are built. */
#include "engine/effects.h"

#include "base/arena.h"

enum { FEW = 8 };

/* ---- items by their ids ---- */

static int64_t id_at(const void *items, size_t size, size_t at)
{
    return *(const int64_t *)((const char *)items + at * size);
}

/* Every item begins with its id. NUMBER_NONE: there is no item with that id. */
static uint32_t effects_find(const struct hash_map *ids, const void *items, size_t size,
                             size_t count, int64_t id)
{
    if (ids->slots == NULL) {
        for (size_t i = count; i > 0; i--)
            if (id_at(items, size, i - 1) == id)
                return (uint32_t)(i - 1);
        return NUMBER_NONE;
    }
    const struct hash_slot *slot;
    HASH_MAP_FIND(slot, ids, hash_id(id), id_at(items, size, hash_slot_item(slot)) == id);
    return hash_slot_is_free(slot) ? NUMBER_NONE : hash_slot_item(slot);
}

/* Adds the item at the end to the table. */
static void note_last(struct hash_map *ids, const void *items, size_t size, size_t count,
                      struct arena *arena)
{
    if (count <= FEW)
        return;
    bool is_first = ids->slots == NULL;
    if (is_first)
        *ids = hash_map_create(arena, 4 * FEW);
    for (size_t i = is_first ? 0 : count - 1; i < count; i++) {
        uint32_t hash = hash_id(id_at(items, size, i));
        struct hash_slot *slot;
        hash_map_make_room(ids, arena, i);
        HASH_MAP_FIND(slot, ids, hash, false);
        hash_slot_put(slot, hash, (uint32_t)i);
    }
}

struct effect_provider *effects_provider(const struct effects *effects, int64_t id)
{
    uint32_t at = effects_find(&effects->provider_ids, effects->providers,
                               sizeof(*effects->providers), effects->provider_count, id);
    return at == NUMBER_NONE ? NULL : &effects->providers[at];
}

struct effect_consumer *effects_consumer(const struct effects *effects, int64_t id)
{
    uint32_t at = effects_find(&effects->consumer_ids, effects->consumers,
                               sizeof(*effects->consumers), effects->consumer_count, id);
    return at == NUMBER_NONE ? NULL : &effects->consumers[at];
}

static struct effect_provider *add_provider(struct effects *effects, int64_t id,
                                            const struct provider *before)
{
    effects->providers = arena_grow(effects->arena, effects->providers, effects->provider_count,
                                    &effects->provider_capacity, sizeof(*effects->providers));
    struct effect_provider *provider = &effects->providers[effects->provider_count++];
    *provider = (struct effect_provider){.id = id, .before = before};
    note_last(&effects->provider_ids, effects->providers, sizeof(*effects->providers),
              effects->provider_count, effects->arena);
    return provider;
}

struct effect_provider *effects_provider_of(struct effects *effects,
                                            const struct provider *provider)
{
    struct effect_provider *known = effects_provider(effects, provider->id);
    return known != NULL ? known : add_provider(effects, provider->id, provider);
}

/* The result is valid until the next one is created. */
static struct effect_provider *provider_of(struct effects *effects, const struct version *version,
                                           int64_t id)
{
    struct effect_provider *known = effects_provider(effects, id);
    return known != NULL ? known : add_provider(effects, id, version_provider_by_id(version, id));
}

static bool is_of(const struct change *change, int64_t provider_id, int64_t class_id)
{
    return change->inventory.provider_id == provider_id && change->inventory.class_id == class_id;
}

static int64_t stock_key(int64_t provider_id, int64_t class_id)
{
    return (int64_t)((uint64_t)provider_id * 0x9e3779b97f4a7c15u + (uint64_t)class_id);
}

/* The entry for the inventory; it may belong to another inventory with the same key. NULL: none. */
static struct effect_stock *stock_at(const struct effects *effects, int64_t provider_id,
                                     int64_t class_id)
{
    int64_t key = stock_key(provider_id, class_id);
    uint32_t at = effects_find(&effects->stock_ids, effects->stocks, sizeof(*effects->stocks),
                               effects->stock_count, key);
    return at == NUMBER_NONE ? NULL : &effects->stocks[at];
}

static void note_stock(struct effects *effects, const struct change *change)
{
    int64_t provider_id = change->inventory.provider_id;
    int64_t class_id = change->inventory.class_id;
    struct effect_stock *known = stock_at(effects, provider_id, class_id);
    if (known != NULL) {
        if (is_of(known->change, provider_id, class_id))
            known->change = change;
        return;
    }
    effects->stocks = arena_grow(effects->arena, effects->stocks, effects->stock_count,
                                 &effects->stock_capacity, sizeof(*effects->stocks));
    effects->stocks[effects->stock_count++] =
        (struct effect_stock){stock_key(provider_id, class_id), change};
    note_last(&effects->stock_ids, effects->stocks, sizeof(*effects->stocks), effects->stock_count,
              effects->arena);
}

static void note_content(struct effects *effects, const struct version *version, int64_t id,
                         unsigned on, const struct change *change)
{
    struct effect_provider *provider = provider_of(effects, version, id);
    struct effect_content *content = arena_alloc(effects->arena, sizeof(*content));
    *content = (struct effect_content){change, provider->contents};
    provider->contents = content;
    if (on == EFFECT_INVENTORY)
        note_stock(effects, change);
    provider->on |= on;
}

/* `is_new`: the caller knows that no version contains it. */
static struct effect_consumer *consumer_of(struct effects *effects, int64_t id, struct slice uuid,
                                           bool is_new)
{
    struct effect_consumer *known = effects_consumer(effects, id);
    if (known != NULL)
        return known;
    effects->consumers = arena_grow(effects->arena, effects->consumers, effects->consumer_count,
                                    &effects->consumer_capacity, sizeof(*effects->consumers));
    struct effect_consumer *consumer = &effects->consumers[effects->consumer_count++];
    *consumer = (struct effect_consumer){
        .id = id,
        .uuid = uuid,
        .before = is_new ? NULL : version_consumer(effects->before, uuid),
    };
    note_last(&effects->consumer_ids, effects->consumers, sizeof(*effects->consumers),
              effects->consumer_count, effects->arena);
    return consumer;
}

/* ---- one change ---- */

/* Releases what the consumer (NULL: none) holds in the version. */
static void note_left(struct effects *effects, const struct version *version,
                      const struct consumer *consumer)
{
    struct provider_no last = {NUMBER_NONE};
    for (uint32_t i = 0; consumer != NULL && i < consumer->allocation_count; i++) {
        struct provider_no no = consumer->allocation[i].provider;
        if (no.v == last.v)
            continue;
        const struct provider *provider = version_provider(version, no);
        effects_provider_of(effects, provider)->on |= EFFECT_RELEASED;
        last = no;
    }
}

static void note_release(struct effects *effects, const struct change_allocation *row)
{
    struct effect_consumer *consumer =
        consumer_of(effects, row->consumer_id, row->consumer_uuid, false);
    consumer->is_released = true;
    note_left(effects, effects->before, consumer->before);
}

static void note_allocation(struct effects *effects, const struct change_allocation *row)
{
    struct effect_provider *provider = provider_of(effects, effects->before, row->provider_id);
    struct effect_consumer *consumer =
        consumer_of(effects, row->consumer_id, row->consumer_uuid, false);
    struct effect_allocation *allocation = arena_alloc(effects->arena, sizeof(*allocation));
    provider->on |= EFFECT_ALLOCATED;
    *allocation = (struct effect_allocation){
        .row = row,
        .next = consumer->gets,
        .provider = (uint32_t)(provider - effects->providers),
    };
    consumer->gets = allocation;
}

static void effects_note_consumer(struct effects *effects, enum change_kind kind,
                                  const struct change_consumer *row)
{
    struct effect_consumer *consumer =
        consumer_of(effects, row->id, row->uuid, kind == CHANGE_CONSUMER_INSERT);
    consumer->is_gone = kind == CHANGE_CONSUMER_DELETE;
    consumer->row = consumer->is_gone ? NULL : row;
}

/* A key for an id, and for its table by a number. */
static int64_t key_of(int64_t id, unsigned table)
{
    _Static_assert(STORE_ID_MOST <= INT64_MAX >> 4, "an id leaves four bits");
    return (int64_t)((uint64_t)id << 4 | table);
}

static int64_t name_key(enum change_kind insert, int64_t id)
{
    _Static_assert(CHANGE_CONSUMER_TYPE_INSERT < 16, "kinds of catalogs are four bits");
    return key_of(id, (unsigned)insert);
}

static void note_name(struct effects *effects, const struct change *change)
{
    effects->names = arena_grow(effects->arena, effects->names, effects->name_count,
                                &effects->name_capacity, sizeof(*effects->names));
    effects->names[effects->name_count++] =
        (struct effect_name){name_key(change->kind, change->catalog.id), change->catalog.name};
    note_last(&effects->name_ids, effects->names, sizeof(*effects->names), effects->name_count,
              effects->arena);
}

/* Kinds follow the order of the tables, a put and a delete for each. */
static int64_t row_key(enum change_kind kind, int64_t id)
{
    _Static_assert((CHANGE_VALET_PLACEMENT_DELETE - CHANGE_NODE_PUT) / 2 < 16,
                   "our own tables are four bits");
    return key_of(id, (unsigned)(kind - CHANGE_NODE_PUT) / 2);
}

static struct effect_row *effects_row_of(const struct effects *effects, int64_t key)
{
    uint32_t at = effects_find(&effects->row_ids, effects->rows, sizeof(*effects->rows),
                               effects->row_count, key);
    return at == NUMBER_NONE ? NULL : &effects->rows[at];
}

const struct change *effects_row(const struct effects *effects, enum change_kind put, int64_t id)
{
    const struct effect_row *row = effects_row_of(effects, row_key(put, id));
    return row == NULL ? NULL : row->change;
}

static void note_row(struct effects *effects, const struct change *change)
{
    int64_t key = row_key(change->kind, change->row.id);
    struct effect_row *known = effects_row_of(effects, key);
    if (known != NULL) {
        known->change = change;
        return;
    }
    effects->rows = arena_grow(effects->arena, effects->rows, effects->row_count,
                               &effects->row_capacity, sizeof(*effects->rows));
    effects->rows[effects->row_count++] = (struct effect_row){key, change};
    note_last(&effects->row_ids, effects->rows, sizeof(*effects->rows), effects->row_count,
              effects->arena);
}

/* Effects on providers. Also used for consequences, whose effects on consumers no rule checks. */
static void note_of_provider(struct effects *effects, const struct version *version,
                             const struct change *change)
{
    struct effect_provider *provider;
    switch (change->kind) {
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
        provider = provider_of(effects, version, change->provider.id);
        provider->row = &change->provider;
        break;
    case CHANGE_PROVIDER_DELETE:
        provider_of(effects, version, change->provider.id)->is_gone = true;
        break;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        note_content(effects, version, change->inventory.provider_id, EFFECT_INVENTORY, change);
        break;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
        note_content(effects, version, change->link.provider_id, EFFECT_TRAIT, change);
        break;
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        note_content(effects, version, change->link.provider_id, EFFECT_AGGREGATE, change);
        break;
    default:
        break;
    }
}

void effects_derive(struct effects *effects, const struct plan *plan)
{
    *effects =
        (struct effects){.before = plan->version, .changes = plan->changes, .arena = plan->arena};
    for (size_t i = 0; i < plan->changes->count; i++) {
        const struct change *change = &plan->changes->items[i];
        effects->kinds |= (uint64_t)1 << change->kind;
        switch (change->kind) {
        case CHANGE_ALLOCATION_INSERT:
            note_allocation(effects, &change->allocation);
            break;
        case CHANGE_ALLOCATIONS_OF_DELETE:
            note_release(effects, &change->allocation);
            break;
        case CHANGE_CONSUMER_INSERT:
        case CHANGE_CONSUMER_UPDATE:
        case CHANGE_CONSUMER_DELETE:
            effects_note_consumer(effects, change->kind, &change->consumer);
            break;
        case CHANGE_CLASS_INSERT:
        case CHANGE_TRAIT_INSERT:
        case CHANGE_AGGREGATE_INSERT:
        case CHANGE_PROJECT_INSERT:
        case CHANGE_USER_INSERT:
        case CHANGE_CONSUMER_TYPE_INSERT:
            note_name(effects, change);
            break;
        case CHANGE_NODE_PUT:
        case CHANGE_NODE_DELETE:
        case CHANGE_NODE_ALLOCATION_PUT:
        case CHANGE_NODE_ALLOCATION_DELETE:
        case CHANGE_VALET_CASES:
            note_row(effects, change);
            break;
        default:
            note_of_provider(effects, plan->version, change);
            break;
        }
    }
}

void effects_add_providers(struct effects *effects, const struct plan *plan)
{
    const struct version *version = plan->version;
    for (size_t i = 0; i < plan->changes->count; i++) {
        const struct change *change = &plan->changes->items[i];
        if (change->kind == CHANGE_ALLOCATION_INSERT)
            provider_of(effects, version, change->allocation.provider_id)->on |= EFFECT_ALLOCATED;
        else if (change->kind == CHANGE_ALLOCATIONS_OF_DELETE)
            note_left(effects, version,
                      version_consumer(version, change->allocation.consumer_uuid));
        else
            note_of_provider(effects, version, change);
    }
}

/* ---- lookups ---- */

int64_t effects_root_id(const struct effects *effects, const struct effect_provider *provider)
{
    return provider->row != NULL ? provider->row->root_id
                                 : version_provider(effects->before, provider->before->root)->id;
}

/* The name of the row with that id, whether this request adds it or it existed before. */
static struct slice name_of(const struct effects *effects, const struct catalog *catalog,
                            enum change_kind insert, int64_t id)
{
    uint32_t at = effects_find(&effects->name_ids, effects->names, sizeof(*effects->names),
                               effects->name_count, name_key(insert, id));
    if (at != NUMBER_NONE)
        return effects->names[at].name;
    const struct catalog_row *row = catalog_find_id(catalog, id); /* VCPU is the class with id 0 */
    return row == NULL ? (struct slice){0} : catalog_name(row);
}

static struct slice number_name(const struct catalog *catalog, uint32_t number)
{
    return number == NUMBER_NONE ? (struct slice){0}
                                 : catalog_name(catalog_row_at(catalog, number));
}

struct slice effects_project(const struct effects *effects, const struct effect_consumer *consumer)
{
    const struct catalog *projects = &effects->before->projects;
    if (consumer->row != NULL)
        return name_of(effects, projects, CHANGE_PROJECT_INSERT, consumer->row->project_id);
    if (consumer->is_gone || consumer->before == NULL)
        return (struct slice){0};
    return number_name(projects, consumer->before->project);
}

struct slice effects_type(const struct effects *effects, const struct effect_consumer *consumer)
{
    const struct catalog *types = &effects->before->types;
    if (consumer->row != NULL)
        return name_of(effects, types, CHANGE_CONSUMER_TYPE_INSERT, consumer->row->type_id);
    if (consumer->is_gone || consumer->before == NULL)
        return (struct slice){0};
    return number_name(types, consumer->before->type);
}

struct slice effects_user(const struct effects *effects, const struct effect_consumer *consumer)
{
    const struct catalog *users = &effects->before->users;
    if (consumer->row != NULL)
        return name_of(effects, users, CHANGE_USER_INSERT, consumer->row->user_id);
    if (consumer->is_gone || consumer->before == NULL)
        return (struct slice){0};
    return number_name(users, consumer->before->user);
}

struct slice effects_class_name(const struct effects *effects, int64_t class_id)
{
    return name_of(effects, &effects->before->classes, CHANGE_CLASS_INSERT, class_id);
}

bool effects_name_id(const struct effects *effects, enum change_kind insert, struct slice name,
                     int64_t *id)
{
    const struct version *version = effects->before;
    const struct catalog_row *row =
        catalog_find(insert == CHANGE_CLASS_INSERT ? &version->classes : &version->traits, name);
    if (row != NULL) {
        *id = row->id;
        return true;
    }
    for (size_t i = 0; effects_have(effects, insert) && i < effects->name_count; i++) {
        const struct effect_name *at = &effects->names[i];
        *id = at->key >> 4;
        if (at->key == name_key(insert, *id) && slice_equal(at->name, name))
            return true;
    }
    return false;
}

struct slice effects_aggregate_uuid(const struct effects *effects, int64_t aggregate_id)
{
    return name_of(effects, &effects->before->aggregates, CHANGE_AGGREGATE_INSERT, aggregate_id);
}

static struct inventory_figures figures_of(const struct change_inventory *row)
{
    return (struct inventory_figures){
        .total = row->total,
        .reserved = row->reserved,
        .min_unit = row->min_unit,
        .max_unit = row->max_unit,
        .step_size = row->step_size,
        .allocation_ratio = row->allocation_ratio,
    };
}

/* The last change to the provider's inventory of that class; NULL: none. */
static const struct change *inventory_change(const struct effects *effects,
                                             const struct effect_provider *provider,
                                             int64_t class_id)
{
    const struct effect_stock *stock = stock_at(effects, provider->id, class_id);
    if (stock == NULL || is_of(stock->change, provider->id, class_id))
        return stock == NULL ? NULL : stock->change;
    for (const struct effect_content *at = provider->contents; at != NULL; at = at->next)
        if ((at->change->kind == CHANGE_INVENTORY_INSERT ||
             at->change->kind == CHANGE_INVENTORY_UPDATE ||
             at->change->kind == CHANGE_INVENTORY_DELETE) &&
            at->change->inventory.class_id == class_id)
            return at->change;
    return NULL;
}

bool effects_inventory(const struct effects *effects, const struct effect_provider *provider,
                       int64_t class_id, struct inventory_figures *figures)
{
    const struct change *change = (provider->on & EFFECT_INVENTORY) == 0
                                      ? NULL
                                      : inventory_change(effects, provider, class_id);
    if (change != NULL) {
        *figures = figures_of(&change->inventory);
        return change->kind != CHANGE_INVENTORY_DELETE;
    }
    const struct catalog_row *row = catalog_find_id(&effects->before->classes, class_id);
    const struct provider_inventory *inventory =
        row == NULL || provider->before == NULL
            ? NULL
            : provider_inventory_of(provider->before, (struct class_no){row->number});
    if (inventory == NULL)
        return false;
    *figures = inventory->figures;
    return true;
}

bool effects_holds_something(const struct effect_consumer *consumer)
{
    return consumer->gets != NULL || (!consumer->is_released && consumer->before != NULL &&
                                      consumer->before->allocation_count > 0);
}
