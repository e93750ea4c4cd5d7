/* See entities.h. Everything is read first and then sent, in an order in which each record refers
 * only to earlier ones. Providers with fewer ancestors come first: a provider's ancestors are then
 * in place before it, so that no intermediate step makes a cycle, whichever providers have
 * exchanged places. */
#include "store/sqlite/entities.h"

#include <stdlib.h>

#include "base/arena.h"

struct entities entities_begin(struct store *store, const struct tree_order *forest,
                               struct arena *arena, struct err *err)
{
    struct change_list none = {.arena = arena};
    return (struct entities){
        .store = store,
        .forest = forest,
        .err = err,
        .arena = arena,
        .gone = none,
        .catalogs = none,
        .providers = none,
        .left = none,
        .contents = none,
        .consumers = none,
        .allocations = none,
        .rows = none,
    };
}

bool entities_read(struct entities *entities, enum rows_table table, int64_t id,
                   struct change_list *list)
{
    return store_reread(entities->store, table, id, list, entities->err);
}

static bool read_parent(struct entities *entities, int64_t id, bool *exists, int64_t *parent_id)
{
    sqlite3_stmt *rows = store_statement(entities->store, STATEMENT_PARENT_READ, entities->err);
    if (rows == NULL)
        return false;
    sqlite3_bind_int64(rows, 1, id);
    int rc = sqlite3_step(rows);
    struct slice uuid;
    *exists = rc == SQLITE_ROW && rows_read_uuid(rows, 1, &uuid);
    if (rc == SQLITE_ROW)
        *parent_id = rows_read_optional_id(rows, 0);
    else if (rc != SQLITE_DONE)
        store_read_failed(entities->store, entities->err);
    sqlite3_reset(rows);
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

/* As in a load: the root is the end of the chain of parents; a broken chain makes a root. */
static bool find_root(struct entities *entities, struct change_provider *provider,
                      uint32_t *above_count)
{
    enum { DEPTH_MAX = 100000 };
    int64_t above = provider->parent_id;
    provider->root_id = provider->id;
    *above_count = 0;
    for (int depth = 0; above != 0; depth++) {
        bool exists;
        int64_t next = 0;
        if (!read_parent(entities, above, &exists, &next))
            return false;
        if (!exists && depth > 0)
            return true;
        if (!exists || depth == DEPTH_MAX || above == provider->id) {
            provider->parent_id = 0;
            provider->root_id = provider->id;
            *above_count = 0;
            return true;
        }
        provider->root_id = above;
        ++*above_count;
        above = next;
    }
    return true;
}

static void forget_provider(struct entities *entities, const struct provider_history *history)
{
    if (!history->known || !(history->contents || history->deleted))
        return;
    change_append(&entities->gone, CHANGE_FOLLOW_PROVIDER_RESET)->provider.id = history->id;
}

/* Sets parent and root, and *depth. */
static bool place(struct entities *entities, struct change_provider *provider, uint32_t *depth)
{
    if (entities->forest == NULL)
        return find_root(entities, provider, depth);
    tree_order_place(entities->forest, provider);
    *depth = tree_order_depth(entities->forest, provider->id);
    return true;
}

/* For each record of `providers`. */
static void append_depth(struct entities *entities, uint32_t depth)
{
    entities->depths = arena_grow(entities->arena, entities->depths, entities->depth_count,
                                  &entities->depth_capacity, sizeof(uint32_t));
    entities->depths[entities->depth_count++] = depth;
}

/* An existing provider's row as its two records. */
static void as_images(struct entities *entities, const struct provider_history *history)
{
    struct change *row = &entities->providers.items[entities->providers.count - 1];
    struct change image = *row;
    image.kind = CHANGE_PROVIDER_GENERATION;
    image.generation = (struct change_generation){.provider_id = row->provider.id,
                                                  .expected = row->provider.generation,
                                                  .next = row->provider.generation};
    if (!history->updated) {
        *row = image;
        return;
    }
    row->kind = CHANGE_PROVIDER_UPDATE;
    *change_append(&entities->providers, CHANGE_PROVIDER_GENERATION) = image;
}

bool entities_read_provider(struct entities *entities, const struct provider_history *history)
{
    struct change_list *providers = &entities->providers;
    size_t before = providers->count;
    forget_provider(entities, history);
    if (!entities_read(entities, ROWS_PROVIDERS, history->id, providers))
        return false;
    if (providers->count == before)
        return true;
    uint32_t depth;
    if (!place(entities, &providers->items[before].provider, &depth))
        return false;
    bool is_new = !history->known || history->deleted;
    if (!is_new)
        as_images(entities, history);
    for (size_t i = before; i < providers->count; i++)
        append_depth(entities, depth);
    if (!is_new && !history->contents)
        return true;
    return entities_read(entities, ROWS_INVENTORIES, history->id, &entities->contents) &&
           entities_read(entities, ROWS_PROVIDER_TRAITS, history->id, &entities->contents) &&
           entities_read(entities, ROWS_PROVIDER_AGGREGATES, history->id, &entities->contents);
}

void entities_reset_consumer(struct entities *entities, int64_t id, struct slice uuid)
{
    struct change *reset = change_append(&entities->gone, CHANGE_FOLLOW_CONSUMER_RESET);
    reset->consumer.id = id;
    reset->consumer.uuid = uuid;
}

bool entities_read_consumer(struct entities *entities, int64_t id)
{
    size_t before = entities->consumers.count;
    if (!entities_read(entities, ROWS_CONSUMERS, id, &entities->consumers))
        return false;
    if (entities->consumers.count == before)
        return true;
    struct change_consumer *consumer = &entities->consumers.items[before].consumer;
    struct change_list types = {.arena = entities->arena};
    if (consumer->type_id != 0 &&
        !entities_read(entities, ROWS_CONSUMER_TYPES, consumer->type_id, &types))
        return false;
    if (types.count == 0)
        consumer->type_id = 0;
    return store_reread_allocations(entities->store, consumer->uuid, &entities->allocations,
                                    entities->err);
}

static int compare_allocations(const void *a, const void *b)
{
    int64_t left = ((const struct change *)a)->allocation.id;
    int64_t right = ((const struct change *)b)->allocation.id;
    return left < right ? -1 : left > right;
}

static void send(const struct change_list *list, store_sink *sink, void *cls)
{
    for (size_t i = 0; i < list->count; i++)
        sink(cls, &list->items[i]);
}

struct placed {
    uint32_t depth;
    size_t at;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *left = a;
    const struct placed *right = b;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

static void send_providers(struct entities *entities, store_sink *sink, void *cls)
{
    size_t count = entities->providers.count;
    struct placed *order = arena_array(entities->arena, count, sizeof(*order));
    check(entities->depth_count == count);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct placed){entities->depths[i], i};
    if (count > 0)
        qsort(order, count, sizeof(*order), compare_placed);
    for (size_t i = 0; i < count; i++)
        sink(cls, &entities->providers.items[order[i].at]);
}

void entities_send(struct entities *entities, store_sink *sink, void *cls)
{
    struct change_list *allocations = &entities->allocations;
    send(&entities->gone, sink, cls);
    send(&entities->catalogs, sink, cls);
    send_providers(entities, sink, cls);
    send(&entities->left, sink, cls);
    send(&entities->contents, sink, cls);
    send(&entities->consumers, sink, cls);
    if (allocations->count > 0)
        qsort(allocations->items, allocations->count, sizeof(struct change), compare_allocations);
    send(allocations, sink, cls);
    send(&entities->rows, sink, cls);
}
