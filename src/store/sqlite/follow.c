/* Reads again the entities that other instances' batches changed.
 *
 * The log names the entities, and for each the order in which it was created, changed and deleted:
 * so this code knows what memory has of it without asking. Writer thread, inside its
 * transaction. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/search.h"
#include "store/sqlite/entities.h"

static int compare_entries(const void *a, const void *b)
{
    const struct log_entry *left = *(const struct log_entry *const *)a;
    const struct log_entry *right = *(const struct log_entry *const *)b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Entries of kinds first to last, by id and then by time; *count of them, in the list's arena. */
static const struct log_entry **select_entries(struct entities *entities, enum log_kind first,
                                               enum log_kind last, size_t *count)
{
    const struct log_entries *entries = &entities->store->transaction.to_follow;
    const struct log_entry **selected =
        arena_array(entities->arena, entries->count, sizeof(struct log_entry *));
    *count = 0;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->data[i].kind >= first && entries->data[i].kind <= last)
            selected[(*count)++] = &entries->data[i];
    if (*count > 0)
        qsort(selected, *count, sizeof(struct log_entry *), compare_entries);
    return selected;
}

/* The history of the entity at selected[at]; returns the start of the next one. */
static size_t read_history(const struct log_entry **selected, size_t count, size_t at,
                           struct provider_history *history)
{
    enum log_kind first = selected[at]->kind;
    *history = (struct provider_history){
        .id = selected[at]->id,
        .known = first != LOG_CLASS_INSERTED && first != LOG_TRAIT_INSERTED &&
                 first != LOG_PROVIDER_INSERTED,
    };
    for (; at < count && selected[at]->id == history->id; at++) {
        enum log_kind kind = selected[at]->kind;
        if (kind == LOG_CLASS_DELETED || kind == LOG_TRAIT_DELETED || kind == LOG_PROVIDER_DELETED)
            history->deleted = history->known;
        history->updated |= kind == LOG_PROVIDER_UPDATED;
        history->contents |= kind == LOG_PROVIDER_CONTENTS;
    }
    return at;
}

static bool follow_named(struct entities *entities, enum log_kind first, enum log_kind last,
                         enum rows_table table, enum change_kind deletion)
{
    size_t count;
    const struct log_entry **selected = select_entries(entities, first, last, &count);
    for (size_t at = 0; at < count;) {
        struct provider_history history;
        at = read_history(selected, count, at, &history);
        if (history.deleted)
            change_append(&entities->gone, deletion)->catalog.id = history.id;
        size_t before = entities->catalogs.count;
        if (!entities_read(entities, table, history.id, &entities->catalogs))
            return false;
        if (entities->catalogs.count > before && history.known && !history.deleted)
            entities->catalogs.items[before].kind = CHANGE_CLASS_RENAME;
    }
    return true;
}

/* Catalogs whose rows are only ever inserted. */
static bool follow_inserted(struct entities *entities, enum log_kind kind, enum rows_table table)
{
    size_t count;
    const struct log_entry **selected = select_entries(entities, kind, kind, &count);
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || selected[i]->id != selected[i - 1]->id) &&
            !entities_read(entities, table, selected[i]->id, &entities->catalogs))
            return false;
    return true;
}

static struct provider_history *find_history(struct provider_history *all, size_t count, int64_t id)
{
    size_t at;
    SEARCH_LOWER(at, 0, count, all[at].id < id);
    check(at < count && all[at].id == id);
    return &all[at];
}

/* Deletions in the order in which they happened: children before their parents. If an id was used
 * again, only its first deletion concerns the provider in memory. */
static void delete_providers(struct entities *entities, struct provider_history *all, size_t count)
{
    const struct log_entries *entries = &entities->store->transaction.to_follow;
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->data[i].kind != LOG_PROVIDER_DELETED)
            continue;
        struct provider_history *history = find_history(all, count, entries->data[i].id);
        if (history->deleted)
            change_append(&entities->gone, CHANGE_PROVIDER_DELETE)->provider.id = history->id;
        history->deleted = false;
    }
}

static bool follow_providers(struct entities *entities)
{
    size_t count;
    size_t histories = 0;
    const struct log_entry **selected =
        select_entries(entities, LOG_PROVIDER_INSERTED, LOG_PROVIDER_DELETED, &count);
    struct provider_history *all = arena_array(entities->arena, count, sizeof(*all));
    for (size_t at = 0; at < count;) {
        at = read_history(selected, count, at, &all[histories]);
        if (!entities_read_provider(entities, &all[histories++]))
            return false;
    }
    delete_providers(entities, all, histories);
    return true;
}

static bool follow_consumers(struct entities *entities)
{
    size_t count;
    const struct log_entry **selected =
        select_entries(entities, LOG_CONSUMER, LOG_CONSUMER, &count);
    for (size_t i = 0; i < count; i++) {
        const struct log_entry *entry = selected[i];
        const struct log_entry *last = i == 0 ? NULL : selected[i - 1];
        bool same_id = last != NULL && last->id == entry->id;
        struct slice uuid = {entry->uuid, entry->uuid_len};
        if (!same_id || !slice_equal(uuid, (struct slice){last->uuid, last->uuid_len})) {
            entities_reset_consumer(entities, entry->id, uuid);
        }
        if (same_id)
            continue;
        if (!entities_read_consumer(entities, entry->id))
            return false;
    }
    return true;
}

static bool read_everything(struct entities *entities)
{
    return follow_consumers(entities) && follow_providers(entities) &&
           follow_named(entities, LOG_CLASS_INSERTED, LOG_CLASS_DELETED, ROWS_CLASSES,
                        CHANGE_CLASS_DELETE) &&
           follow_named(entities, LOG_TRAIT_INSERTED, LOG_TRAIT_DELETED, ROWS_TRAITS,
                        CHANGE_TRAIT_DELETE) &&
           follow_inserted(entities, LOG_AGGREGATE_INSERTED, ROWS_AGGREGATES) &&
           follow_inserted(entities, LOG_PROJECT_INSERTED, ROWS_PROJECTS) &&
           follow_inserted(entities, LOG_USER_INSERTED, ROWS_USERS) &&
           follow_inserted(entities, LOG_CONSUMER_TYPE_INSERTED, ROWS_CONSUMER_TYPES) &&
           store_follow_rows(entities->store, &entities->rows, entities->err) &&
           store_read_next_ids(entities->store, entities->err);
}

enum store_result store_follow(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    check(store->transaction.open);
    struct arena *arena = arena_create();
    struct entities entities = entities_begin(store, NULL, arena, err);
    bool ok = read_everything(&entities);
    if (ok) {
        entities_send(&entities, sink, cls);
        store_mark_followed(store);
    }
    arena_destroy(arena);
    return ok ? STORE_OK : STORE_FAILED;
}
