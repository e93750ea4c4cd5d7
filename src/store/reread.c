/* See reread.h. The log names what berth's instances have changed; another program may have changed
 * the same entities, or deleted them, so what memory has of each is looked up, and what the
 * database has is only known after it was read.
 *
 * Invariant: memory has a provider's generation only together with the contents and allocations
 * that belong to it. A claim compares nothing but the generation, so with a newer one it would be
 * accepted beyond the capacity. The log has an entry for each raise. If the generation in the
 * database is not the one that these entries lead to, another program has written: the provider is
 * read again with its contents and all its consumers, those in memory and those in the database.
 *
 * A consumer is read by its id and by its uuid: it may have been deleted and created again, or only
 * its row may be gone (missing_consumers.h). One thread, inside one transaction. */
#include "store/reread.h"

#include <stdlib.h>

#include "base/arena.h"
#include "store/cell.h"
#include "store/entities.h"
#include "store/merge.h"

struct item {
    struct difference difference;
    uint32_t raised;    /* its generation, according to the log */
    bool is_suspect;    /* a provider that may be as another program has left it */
    bool has_consumers; /* its consumers are in the list */
    bool has_namesakes; /* consumers with its uuid are */
};

struct rereading {
    struct arena *arena;
    const struct row_reader *reader;
    const struct memory_view *memory;
    struct missing_consumers *missing; /* NULL: nobody asks */
    struct item *items;
    size_t count, capacity;
    struct entities entities;
};

static void append_item(struct rereading *rereading, const struct item *item)
{
    rereading->items = arena_grow(rereading->arena, rereading->items, rereading->count,
                                  &rereading->capacity, sizeof(*item));
    rereading->items[rereading->count++] = *item;
}

static enum entity entity_of(enum log_kind kind)
{
    return kind <= LOG_CLASS_DELETED            ? ENTITY_CLASS
           : kind <= LOG_TRAIT_DELETED          ? ENTITY_TRAIT
           : kind == LOG_AGGREGATE_INSERTED     ? ENTITY_AGGREGATE
           : kind == LOG_PROJECT_INSERTED       ? ENTITY_PROJECT
           : kind == LOG_USER_INSERTED          ? ENTITY_USER
           : kind == LOG_CONSUMER_TYPE_INSERTED ? ENTITY_CONSUMER_TYPE
           : kind <= LOG_PROVIDER_DELETED || kind == LOG_PROVIDER_FOREIGN
               ? ENTITY_PROVIDER
               : (enum entity)(ENTITY_CONSUMER + (int)(kind - LOG_CONSUMER));
}
_Static_assert((int)LOG_VALET - (int)LOG_CONSUMER == (int)ENTITY_VALET - (int)ENTITY_CONSUMER,
               "both have the order of the tables");

static void add_entries(struct rereading *rereading, const struct log_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct log_entry *entry = &entries->data[i];
        enum log_kind kind = entry->kind;
        bool is_whole = kind == LOG_PROVIDER_INSERTED || kind == LOG_PROVIDER_DELETED ||
                        kind == LOG_PROVIDER_FOREIGN;
        append_item(rereading,
                    &(struct item){
                        .difference = {.entity = entity_of(kind),
                                       .id = entry->id,
                                       .uuid = {entry->uuid, entry->uuid_len},
                                       .has_moved = is_whole || kind == LOG_PROVIDER_UPDATED,
                                       .has_contents = is_whole || kind == LOG_PROVIDER_CONTENTS},
                        .raised = kind == LOG_PROVIDER_GENERATION,
                        .is_suspect = kind == LOG_PROVIDER_FOREIGN,
                    });
    }
}

static void reread_add_consumer(void *cls, int64_t id, struct slice uuid)
{
    append_item(cls, &(struct item){.difference = {ENTITY_CONSUMER, .id = id, .uuid = uuid}});
}

static int compare_items(const void *a, const void *b)
{
    const struct difference *left = &((const struct item *)a)->difference;
    const struct difference *right = &((const struct item *)b)->difference;
    if (left->entity != right->entity)
        return left->entity < right->entity ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return slice_compare(&left->uuid, &right->uuid);
}

/* Each entity once. */
static void fold_items(struct rereading *rereading)
{
    struct item *items = rereading->items;
    size_t kept = 0;
    if (rereading->count > 0)
        qsort(items, rereading->count, sizeof(*items), compare_items);
    for (size_t i = 0; i < rereading->count; i++) {
        if (kept == 0 || compare_items(&items[kept - 1], &items[i]) != 0) {
            items[kept++] = items[i];
            continue;
        }
        struct item *into = &items[kept - 1];
        into->raised += items[i].raised;
        into->is_suspect |= items[i].is_suspect;
        into->has_consumers |= items[i].has_consumers;
        into->has_namesakes |= items[i].has_namesakes;
        into->difference.has_moved |= items[i].difference.has_moved;
        into->difference.has_contents |= items[i].difference.has_contents;
    }
    rereading->count = kept;
}

/* Adds the consumers of providers that may be as another program has left them. */
static bool add_holders(struct rereading *rereading, struct err *err)
{
    struct change_list rows = {.arena = rereading->arena};
    int64_t *ids = arena_array(rereading->arena, rereading->count, sizeof(*ids));
    size_t count = 0;
    for (size_t i = 0, all = rereading->count; i < all; i++) {
        struct item *item = &rereading->items[i];
        if (!item->is_suspect || item->has_consumers)
            continue;
        item->has_consumers = true;
        ids[count++] = item->difference.id; /* ascending, as the items are */
        rereading->memory->holders(rereading->memory->cls, item->difference.id, reread_add_consumer,
                                   rereading);
    }
    if (count == 0)
        return true;
    const struct row_set set = {ROWS_HOLDERS, ids, count, &rows};
    if (!row_reader_find(rereading->reader, &set, 1, err))
        return false;
    for (size_t i = 0; i < rows.count; i++)
        if (cell_is_uuid(rows.items[i].allocation.consumer_uuid))
            reread_add_consumer(rereading, rows.items[i].allocation.consumer_id,
                                rows.items[i].allocation.consumer_uuid);
    fold_items(rereading);
    return true;
}

static void reread_look_up(struct rereading *rereading)
{
    const struct memory_view *memory = rereading->memory;
    for (size_t i = 0; i < rereading->count; i++) {
        struct difference *difference = &rereading->items[i].difference;
        /* What a consumer's reset does not find is not reset. */
        difference->is_known =
            difference->entity == ENTITY_CONSUMER ||
            memory->find(memory->cls, difference->entity, difference->id).is_known;
    }
}

static bool read_items(struct rereading *rereading, struct err *err)
{
    struct arena *arena = rereading->arena;
    struct entities *entities = &rereading->entities;
    *entities = (struct entities){.arena = arena, .gone.arena = arena, .left.arena = arena};
    /* Rows that refer to others are removed before them. */
    for (int providers = 0; providers < 2; providers++)
        for (size_t i = 0; i < rereading->count; i++) {
            const struct difference *difference = &rereading->items[i].difference;
            if ((difference->entity == ENTITY_CONSUMER) == (providers == 0) && difference->id != 0)
                merge_want(entities, difference);
        }
    return entities_read(entities, rereading->reader, NULL, err);
}

/* Whether other programs have written providers of which only the log was known. */
static bool find_foreign(struct rereading *rereading)
{
    const struct memory_view *memory = rereading->memory;
    bool is_found = false;
    for (size_t i = 0; i < rereading->count; i++) {
        struct item *item = &rereading->items[i];
        const struct change *row =
            item->difference.entity == ENTITY_PROVIDER
                ? entities_row(&rereading->entities, ROWS_PROVIDERS, item->difference.id)
                : NULL;
        if (row == NULL || item->is_suspect)
            continue;
        /* A new one begins with 0. */
        struct known_entity known = memory->find(memory->cls, ENTITY_PROVIDER, item->difference.id);
        uint32_t expected = (uint32_t)known.generation + item->raised;
        item->is_suspect = (uint32_t)row->provider.generation != expected;
        item->difference.has_moved |= item->is_suspect;
        item->difference.has_contents |= item->is_suspect;
        is_found |= item->is_suspect;
    }
    return is_found;
}

/* Whether rows were read of consumers that no entry names: an id that one names may by now be that
 * of another consumer, which memory may have. */
static bool find_successors(struct rereading *rereading)
{
    const struct change_list *rows = &rereading->entities.rows[ROWS_CONSUMERS];
    const size_t before = rereading->count;
    for (size_t i = 0; i < rows->count; i++) {
        const struct change_consumer *row = &rows->items[i].consumer;
        const struct item item = {
            .difference = {ENTITY_CONSUMER, .id = row->id, .uuid = row->uuid}};
        if (bsearch(&item, rereading->items, before, sizeof(item), compare_items) == NULL)
            append_item(rereading, &item);
    }
    if (rereading->count == before)
        return false;
    fold_items(rereading);
    return true;
}

/* Whether the consumer has no row with that id and uuid. */
static bool is_gone(struct rereading *rereading, const struct difference *consumer)
{
    const struct change *row = entities_row(&rereading->entities, ROWS_CONSUMERS, consumer->id);
    return row == NULL || !slice_equal(row->consumer.uuid, consumer->uuid);
}

static void take_namesake(void *cls, int64_t id, struct slice uuid)
{
    struct rereading *rereading = cls;
    if (id != 0)
        reread_add_consumer(rereading, id, arena_copy(rereading->arena, uuid));
    else if (rereading->missing != NULL && cell_is_uuid(uuid))
        missing_consumers_add(rereading->missing, uuid);
}

/* Looks for the consumers that are gone by their uuids. *found: others are to be read. */
static bool find_namesakes(struct rereading *rereading, bool *found, struct err *err)
{
    struct slice *uuids = arena_array(rereading->arena, rereading->count, sizeof(*uuids));
    const size_t before = rereading->count;
    size_t count = 0;
    for (size_t i = 0; i < before; i++) {
        struct item *item = &rereading->items[i];
        const struct difference *difference = &item->difference;
        if (difference->entity != ENTITY_CONSUMER || item->has_namesakes ||
            !is_gone(rereading, difference))
            continue;
        item->has_namesakes = true;
        if (count == 0 || !slice_equal(uuids[count - 1], difference->uuid))
            uuids[count++] = difference->uuid;
    }
    if (!row_reader_find_consumers(rereading->reader, uuids, count, take_namesake, rereading, err))
        return false;
    fold_items(rereading);
    *found = rereading->count > before;
    return true;
}

struct gone_provider {
    uint32_t position;
    int64_t id;
};

static int compare_positions(const void *a, const void *b)
{
    uint32_t left = ((const struct gone_provider *)a)->position;
    uint32_t right = ((const struct gone_provider *)b)->position;
    return (left < right) - (left > right);
}

/* Children before their parents. */
static void delete_providers(struct rereading *rereading)
{
    const struct memory_view *memory = rereading->memory;
    struct gone_provider *gone = arena_array(rereading->arena, rereading->count, sizeof(*gone));
    size_t count = 0;
    for (size_t i = 0; i < rereading->count; i++) {
        struct difference *difference = &rereading->items[i].difference;
        if (difference->entity != ENTITY_PROVIDER || !difference->is_known ||
            entities_row(&rereading->entities, ROWS_PROVIDERS, difference->id) != NULL)
            continue;
        if (!difference->has_contents) /* otherwise it was reset when it was read */
            change_append(&rereading->entities.gone, CHANGE_FOLLOW_PROVIDER_RESET)->provider.id =
                difference->id;
        gone[count++] = (struct gone_provider){
            memory->find(memory->cls, ENTITY_PROVIDER, difference->id).position, difference->id};
    }
    if (count > 0)
        qsort(gone, count, sizeof(*gone), compare_positions);
    for (size_t i = 0; i < count; i++)
        change_append(&rereading->entities.left, CHANGE_PROVIDER_DELETE)->provider.id = gone[i].id;
}

static void delete_catalog_rows(struct rereading *rereading)
{
    for (size_t i = 0; i < rereading->count; i++) {
        struct difference *difference = &rereading->items[i].difference;
        if (difference->entity >= ENTITY_PROVIDER || !difference->is_known ||
            entities_row(&rereading->entities, merge_catalog_table(difference->entity),
                         difference->id) != NULL)
            continue;
        merge_delete_catalog(&rereading->entities, difference);
    }
}

bool reread_entries(const struct row_reader *reader, const struct log_entries *logged,
                    const struct log_entries *suspected, const struct memory_view *memory,
                    struct missing_consumers *missing, store_sink *sink, void *cls, struct err *err)
{
    struct rereading rereading = {
        .arena = arena_create(), .reader = reader, .memory = memory, .missing = missing};
    bool ok, again;
    add_entries(&rereading, logged);
    add_entries(&rereading, suspected);
    fold_items(&rereading);
    do {
        ok = add_holders(&rereading, err);
        if (ok) {
            reread_look_up(&rereading);
            ok = read_items(&rereading, err);
        }
        again = ok && (find_foreign(&rereading) || find_successors(&rereading));
        if (ok && !again)
            ok = find_namesakes(&rereading, &again, err);
    } while (ok && again);
    if (missing != NULL && ok)
        missing_consumers_end(missing);
    else if (missing != NULL)
        missing_consumers_free(missing); /* a read that fails has found none */
    if (ok && (missing == NULL || missing->count == 0)) {
        delete_providers(&rereading);
        delete_catalog_rows(&rereading);
        entities_send(&rereading.entities, sink, cls);
    }
    arena_destroy(rereading.arena);
    return ok;
}

struct log_entry reread_entry(enum entity entity, int64_t id, struct slice uuid)
{
    static const enum log_kind kinds[ENTITY_CONSUMER] = {
        [ENTITY_CLASS] = LOG_CLASS_RENAMED,
        [ENTITY_TRAIT] = LOG_TRAIT_INSERTED,
        [ENTITY_AGGREGATE] = LOG_AGGREGATE_INSERTED,
        [ENTITY_PROJECT] = LOG_PROJECT_INSERTED,
        [ENTITY_USER] = LOG_USER_INSERTED,
        [ENTITY_CONSUMER_TYPE] = LOG_CONSUMER_TYPE_INSERTED,
        [ENTITY_PROVIDER] = LOG_PROVIDER_FOREIGN,
    };
    struct log_entry entry = {
        .kind = entity < ENTITY_CONSUMER
                    ? kinds[entity]
                    : (enum log_kind)(LOG_CONSUMER + (int)(entity - ENTITY_CONSUMER)),
        .id = id};
    check(uuid.len <= sizeof(entry.uuid));
    entry.uuid_len = (uint8_t)uuid.len;
    if (uuid.len > 0)
        memcpy(entry.uuid, uuid.data, uuid.len);
    return entry;
}
