/* See follow.h. The log names the entities, and for each the order in which it was created, changed
 * and deleted: so this code knows what memory has of it without asking. One thread, inside one
 * transaction. */
#include "store/follow.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/search.h"
#include "store/entities.h"

struct following {
    struct entities entities;
    const struct log_entries *entries;
};

static int compare_entries(const void *a, const void *b)
{
    const struct log_entry *left = *(const struct log_entry *const *)a;
    const struct log_entry *right = *(const struct log_entry *const *)b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Entries of kinds first to last, by id and then by time; *count of them, in the arena. */
static const struct log_entry **select_entries(const struct following *following,
                                               enum log_kind first, enum log_kind last,
                                               size_t *count)
{
    const struct log_entries *entries = following->entries;
    const struct log_entry **selected =
        arena_array(following->entities.arena, entries->count, sizeof(struct log_entry *));
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

static void follow_named(struct following *following, enum log_kind first, enum log_kind last,
                         enum rows_table table, enum change_kind deletion)
{
    struct entities *entities = &following->entities;
    size_t count;
    const struct log_entry **selected = select_entries(following, first, last, &count);
    for (size_t at = 0; at < count;) {
        struct provider_history history;
        at = read_history(selected, count, at, &history);
        if (history.deleted)
            change_append(&entities->gone, deletion)->catalog.id = history.id;
        entities_want_catalog(entities, table, history.id,
                              history.known && !history.deleted ? CHANGE_CLASS_RENAME
                                                                : rows_info(table)->insert);
    }
}

/* Catalogs whose rows are only ever inserted. */
static void follow_inserted(struct following *following, enum log_kind kind, enum rows_table table)
{
    size_t count;
    const struct log_entry **selected = select_entries(following, kind, kind, &count);
    for (size_t i = 0; i < count; i++)
        entities_want_catalog(&following->entities, table, selected[i]->id,
                              rows_info(table)->insert);
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
static void delete_providers(struct following *following, struct provider_history *all,
                             size_t count)
{
    const struct log_entries *entries = following->entries;
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->data[i].kind != LOG_PROVIDER_DELETED)
            continue;
        struct provider_history *history = find_history(all, count, entries->data[i].id);
        if (history->deleted)
            change_append(&following->entities.gone, CHANGE_PROVIDER_DELETE)->provider.id =
                history->id;
        history->deleted = false;
    }
}

static void follow_providers(struct following *following)
{
    size_t count;
    size_t histories = 0;
    const struct log_entry **selected =
        select_entries(following, LOG_PROVIDER_INSERTED, LOG_PROVIDER_DELETED, &count);
    struct provider_history *all = arena_array(following->entities.arena, count, sizeof(*all));
    for (size_t at = 0; at < count; histories++) {
        at = read_history(selected, count, at, &all[histories]);
        entities_want_provider(&following->entities, &all[histories]);
    }
    delete_providers(following, all, histories);
}

static void follow_consumers(struct following *following)
{
    size_t count;
    const struct log_entry **selected =
        select_entries(following, LOG_CONSUMER, LOG_CONSUMER, &count);
    for (size_t i = 0; i < count; i++) {
        const struct log_entry *entry = selected[i];
        const struct log_entry *last = i == 0 ? NULL : selected[i - 1];
        bool same_id = last != NULL && last->id == entry->id;
        struct slice uuid = {entry->uuid, entry->uuid_len};
        if (!same_id || !slice_equal(uuid, (struct slice){last->uuid, last->uuid_len}))
            entities_reset_consumer(&following->entities, entry->id, uuid);
        if (!same_id)
            entities_want_consumer(&following->entities, entry->id);
    }
}

static void follow_records(struct following *following)
{
    for (size_t i = 0; i < following->entries->count; i++)
        for (int table = 0; table < RECORD_TABLE_COUNT; table++)
            if (following->entries->data[i].kind == record_tables[table].log)
                entities_want_record(&following->entities, (enum record_table)table,
                                     following->entries->data[i].id);
}

static void want_everything(struct following *following)
{
    follow_consumers(following);
    follow_providers(following);
    follow_named(following, LOG_CLASS_INSERTED, LOG_CLASS_DELETED, ROWS_CLASSES,
                 CHANGE_CLASS_DELETE);
    follow_named(following, LOG_TRAIT_INSERTED, LOG_TRAIT_DELETED, ROWS_TRAITS,
                 CHANGE_TRAIT_DELETE);
    follow_inserted(following, LOG_AGGREGATE_INSERTED, ROWS_AGGREGATES);
    follow_inserted(following, LOG_PROJECT_INSERTED, ROWS_PROJECTS);
    follow_inserted(following, LOG_USER_INSERTED, ROWS_USERS);
    follow_inserted(following, LOG_CONSUMER_TYPE_INSERTED, ROWS_CONSUMER_TYPES);
    follow_records(following);
}

bool follow_is_possible(const struct log_entries *entries)
{
    bool deleted = false;
    bool updated = false;
    for (size_t i = 0; i < entries->count; i++) {
        deleted |= entries->data[i].kind == LOG_PROVIDER_DELETED;
        updated |= entries->data[i].kind == LOG_PROVIDER_UPDATED;
        if (entries->data[i].kind == LOG_PROVIDER_FOREIGN)
            return false;
    }
    return !(deleted && updated);
}

bool follow_read(const struct row_reader *reader, const struct log_entries *entries,
                 store_sink *sink, void *cls, struct err *err)
{
    struct arena *arena = arena_create();
    struct following following = {
        .entities = {.arena = arena, .gone.arena = arena, .left.arena = arena},
        .entries = entries,
    };
    want_everything(&following);
    bool ok = entities_read(&following.entities, reader, NULL, err);
    if (ok)
        entities_send(&following.entities, sink, cls);
    arena_destroy(arena);
    return ok;
}
