/* Entities that other programs may have written: those that are to be read again, and those that
 * were and that the next batch names in the log, because other instances may not know of them. A
 * program that writes no log is noticed when a row is not as memory has it. The writer only. */
#include "store/postgres/exchanges.h"
#include "store/postgres/store_internal.h"
#include "store/reread.h"

enum {
    UNLOGGED_MOST = 20000, /* more are not named: other instances find them as this one did */
    SUSPECTS_MOST = 4000   /* beyond this, everything is compared */
};

/* A consumer is found by its uuid, so an entry without one names nothing, and cannot be written. */
static void push_unlogged(struct postgres_store *store, const struct log_entry *entry)
{
    bool is_nameless = entry->kind == LOG_CONSUMER && entry->uuid_len == 0;
    if (!is_nameless && store->unlogged.count < UNLOGGED_MOST)
        log_entries_push(&store->unlogged, entry);
}

void postgres_name_in_log(struct postgres_store *store, const struct difference *difference)
{
    const struct log_entry entry =
        reread_entry(difference->entity, difference->id, difference->uuid);
    push_unlogged(store, &entry);
}

static bool is_same_entry(const struct log_entry *left, const struct log_entry *right)
{
    return left->kind == right->kind && left->id == right->id &&
           left->uuid_len == right->uuid_len &&
           memcmp(left->uuid, right->uuid, left->uuid_len) == 0;
}

static bool has_entry(const struct log_entries *entries, const struct log_entry *entry)
{
    for (size_t i = 0; i < entries->count; i++)
        if (is_same_entry(&entries->data[i], entry))
            return true;
    return false;
}

bool postgres_suspect(struct store *base, enum entity entity, int64_t id, struct slice uuid)
{
    struct postgres_store *store = postgres_of(base);
    const struct log_entry entry = reread_entry(entity, id, uuid);
    if (has_entry(&store->suspects, &entry))
        return false;
    store->has_state &= store->suspects.count < SUSPECTS_MOST;
    if (store->suspects.count < SUSPECTS_MOST)
        log_entries_push(&store->suspects, &entry);
    return store->has_state;
}

void postgres_end_suspicion(struct postgres_store *store)
{
    for (size_t i = 0; i < store->suspects.count; i++)
        push_unlogged(store, &store->suspects.data[i]);
    log_entries_free(&store->suspects);
}

/* ---- refused changes ---- */

/* The entity whose row a compare-and-set did not find. False: a row of a table that only berth
 * writes. */
static bool written_entity(const struct change *change, struct difference *entity)
{
    switch (change->kind) {
    case CHANGE_CLASS_RENAME:
    case CHANGE_CLASS_DELETE:
        *entity = (struct difference){ENTITY_CLASS, .id = change->catalog.id};
        return true;
    case CHANGE_TRAIT_DELETE:
        *entity = (struct difference){ENTITY_TRAIT, .id = change->catalog.id};
        return true;
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
        *entity = (struct difference){ENTITY_PROVIDER, .id = change->provider.id};
        return true;
    case CHANGE_PROVIDER_GENERATION:
        *entity = (struct difference){ENTITY_PROVIDER, .id = change->generation.provider_id};
        return true;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        *entity = (struct difference){ENTITY_PROVIDER, .id = change->inventory.provider_id};
        return true;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        *entity = (struct difference){ENTITY_PROVIDER, .id = change->link.provider_id};
        return true;
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        *entity = (struct difference){ENTITY_CONSUMER, .id = change->consumer.id,
                                      .uuid = change->consumer.uuid};
        return true;
    default:
        return false;
    }
}

/* What rows of an entity are known by, besides their ids. */
struct names {
    enum entity entity;
    struct slice texts[2];
};

/* The texts that were to be inserted. False: the row has none that must be unique. */
static bool names_of(const struct change *change, struct names *names)
{
    struct slice name = change->catalog.name;
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
    case CHANGE_CLASS_RENAME:
        *names = (struct names){ENTITY_CLASS, {name, name}};
        return true;
    case CHANGE_TRAIT_INSERT:
        *names = (struct names){ENTITY_TRAIT, {name, name}};
        return true;
    case CHANGE_AGGREGATE_INSERT:
        *names = (struct names){ENTITY_AGGREGATE, {name, name}};
        return true;
    case CHANGE_PROJECT_INSERT:
        *names = (struct names){ENTITY_PROJECT, {name, name}};
        return true;
    case CHANGE_USER_INSERT:
        *names = (struct names){ENTITY_USER, {name, name}};
        return true;
    case CHANGE_CONSUMER_TYPE_INSERT:
        *names = (struct names){ENTITY_CONSUMER_TYPE, {name, name}};
        return true;
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
        *names = (struct names){ENTITY_PROVIDER, {change->provider.name, change->provider.uuid}};
        return true;
    case CHANGE_CONSUMER_INSERT:
        *names = (struct names){ENTITY_CONSUMER, {change->consumer.uuid, change->consumer.uuid}};
        return true;
    default:
        return false;
    }
}

/* Suspects the rows that another program has inserted. */
static bool suspect_namesakes(struct postgres_store *store, const struct names *names)
{
    struct err ignored = postgres_ignored(store);
    struct namesakes found = {0};
    bool ok = postgres_ensure_session(store, store->follower, &ignored) &&
              pg_namesakes(store->follower, names->entity, names->texts, ignored.arena, &found,
                           postgres_deadline(store), &ignored) == SERVER_OK;
    for (size_t i = 0; ok && i < found.count; i++)
        postgres_suspect(&store->base, names->entity, found.ids[i],
                         names->entity == ENTITY_CONSUMER ? names->texts[0] : (struct slice){0});
    return ok;
}

void postgres_suspect_refused(struct postgres_store *store, const struct change *change,
                              bool is_duplicate)
{
    struct difference entity;
    struct names names;
    size_t before = store->suspects.count;
    bool is_named = false;
    if (change != NULL && written_entity(change, &entity))
        is_named = postgres_suspect(&store->base, entity.entity, entity.id, entity.uuid);
    if (change != NULL && is_duplicate && names_of(change, &names))
        is_named = suspect_namesakes(store, &names);
    /* What has been read again since the last commit is still not as memory has it. */
    for (size_t i = before; i < store->suspects.count; i++) {
        bool was_refused = has_entry(&store->refused, &store->suspects.data[i]);
        is_named &= !was_refused;
        if (!was_refused)
            log_entries_push(&store->refused, &store->suspects.data[i]);
    }
    store->has_state &= is_named;
}
