/* Re-reading what other instances' batches touched.
 *
 * The log says which entities, and for each in which order it was made, altered and deleted: so
 * what memory knows of it is known here without asking memory. Everything is read first and sent
 * then, in an order in which each record refers only to earlier ones: what goes, catalogs,
 * providers parents first, their contents, consumers, allocations by id, rows of our own. Writer
 * thread, inside its transaction. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/search.h"
#include "store/sqlite/internal.h"

struct following {
    struct store *store;
    struct err *err;
    struct change_list gone;      /* resets and deletes */
    struct change_list catalogs;  /* inserts, renames */
    struct change_list providers; /* one record or two for each, by id */
    struct change_list contents;
    struct change_list consumers;
    struct change_list allocations;
    struct change_list rows; /* of our own tables */
};

/* What the log tells of one entity. */
struct history {
    int64_t id;
    bool known;    /* memory has it */
    bool deleted;  /* that one is deleted */
    bool updated;  /* name, parent or root */
    bool contents; /* inventories, traits, aggregates */
};

static bool read_entity(struct following *following, enum rows_table table, int64_t id,
                        struct change_list *list)
{
    return store_reread(following->store, table, id, list, following->err);
}

static int compare_entries(const void *a, const void *b)
{
    const struct log_entry *left = *(const struct log_entry *const *)a;
    const struct log_entry *right = *(const struct log_entry *const *)b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Entries of kinds first to last, by id and then by time; *count of them, in the list's arena. */
static const struct log_entry **select_entries(struct following *following, enum log_kind first,
                                               enum log_kind last, size_t *count)
{
    const struct log_entries *entries = &following->store->transaction.to_follow;
    const struct log_entry **selected =
        arena_array(following->gone.arena, entries->count, sizeof(struct log_entry *));
    *count = 0;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->data[i].kind >= first && entries->data[i].kind <= last)
            selected[(*count)++] = &entries->data[i];
    if (*count > 0)
        qsort(selected, *count, sizeof(struct log_entry *), compare_entries);
    return selected;
}

/* The history of the entity at selected[at]; returns where the next one begins. */
static size_t read_history(const struct log_entry **selected, size_t count, size_t at,
                           struct history *history)
{
    enum log_kind first = selected[at]->kind;
    *history = (struct history){
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

static bool follow_named(struct following *following, enum log_kind first, enum log_kind last,
                         enum rows_table table, enum change_kind deletion)
{
    size_t count;
    const struct log_entry **selected = select_entries(following, first, last, &count);
    for (size_t at = 0; at < count;) {
        struct history history;
        at = read_history(selected, count, at, &history);
        if (history.deleted)
            change_append(&following->gone, deletion)->catalog.id = history.id;
        size_t before = following->catalogs.count;
        if (!read_entity(following, table, history.id, &following->catalogs))
            return false;
        if (following->catalogs.count > before && history.known && !history.deleted)
            following->catalogs.items[before].kind = CHANGE_CLASS_RENAME;
    }
    return true;
}

/* Catalogs whose rows are only ever inserted. */
static bool follow_inserted(struct following *following, enum log_kind kind, enum rows_table table)
{
    size_t count;
    const struct log_entry **selected = select_entries(following, kind, kind, &count);
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || selected[i]->id != selected[i - 1]->id) &&
            !read_entity(following, table, selected[i]->id, &following->catalogs))
            return false;
    return true;
}

static bool read_parent(struct following *following, int64_t id, bool *exists, int64_t *parent_id)
{
    sqlite3_stmt *rows = store_statement(following->store, STATEMENT_PARENT_READ, following->err);
    if (rows == NULL)
        return false;
    sqlite3_bind_int64(rows, 1, id);
    int rc = sqlite3_step(rows);
    struct slice uuid;
    *exists = rc == SQLITE_ROW && rows_read_uuid(rows, 1, &uuid);
    if (rc == SQLITE_ROW)
        *parent_id = rows_read_optional_id(rows, 0);
    else if (rc != SQLITE_DONE)
        store_read_failed(following->store, following->err);
    sqlite3_reset(rows);
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

/* As a load does: the root is the end of the chain of parents; a broken chain is a root. */
static bool find_root(struct following *following, struct change_provider *provider)
{
    enum { DEPTH_MAX = 100000 };
    int64_t above = provider->parent_id;
    provider->root_id = provider->id;
    for (int depth = 0; above != 0; depth++) {
        bool exists;
        int64_t next = 0;
        if (!read_parent(following, above, &exists, &next))
            return false;
        if (!exists && depth > 0)
            return true;
        if (!exists || depth == DEPTH_MAX || above == provider->id) {
            provider->parent_id = 0;
            provider->root_id = provider->id;
            return true;
        }
        provider->root_id = above;
        above = next;
    }
    return true;
}

static void forget_provider(struct following *following, const struct history *history)
{
    if (!history->known || !(history->contents || history->deleted))
        return;
    change_append(&following->gone, CHANGE_FOLLOW_PROVIDER_RESET)->provider.id = history->id;
}

/* An existing provider's row as the images of its two records. */
static void as_images(struct following *following, const struct history *history)
{
    struct change *row = &following->providers.items[following->providers.count - 1];
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
    *change_append(&following->providers, CHANGE_PROVIDER_GENERATION) = image;
}

static bool follow_provider(struct following *following, const struct history *history)
{
    struct change_list *providers = &following->providers;
    size_t before = providers->count;
    forget_provider(following, history);
    if (!read_entity(following, ROWS_PROVIDERS, history->id, providers))
        return false;
    if (providers->count == before)
        return true;
    if (!find_root(following, &providers->items[before].provider))
        return false;
    bool anew = !history->known || history->deleted;
    if (!anew)
        as_images(following, history);
    if (!anew && !history->contents)
        return true;
    return read_entity(following, ROWS_INVENTORIES, history->id, &following->contents) &&
           read_entity(following, ROWS_PROVIDER_TRAITS, history->id, &following->contents) &&
           read_entity(following, ROWS_PROVIDER_AGGREGATES, history->id, &following->contents);
}

static struct history *find_history(struct history *all, size_t count, int64_t id)
{
    size_t at;
    SEARCH_LOWER(at, 0, count, all[at].id < id);
    check(at < count && all[at].id == id);
    return &all[at];
}

/* Deletions in the order in which they happened: children went before their parents. Of an id that
 * was used again only the first one is of the provider that memory knows. */
static void delete_providers(struct following *following, struct history *all, size_t count)
{
    const struct log_entries *entries = &following->store->transaction.to_follow;
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->data[i].kind != LOG_PROVIDER_DELETED)
            continue;
        struct history *history = find_history(all, count, entries->data[i].id);
        if (history->deleted)
            change_append(&following->gone, CHANGE_PROVIDER_DELETE)->provider.id = history->id;
        history->deleted = false;
    }
}

static bool follow_providers(struct following *following)
{
    size_t count;
    size_t histories = 0;
    const struct log_entry **selected =
        select_entries(following, LOG_PROVIDER_INSERTED, LOG_PROVIDER_DELETED, &count);
    struct history *all = arena_array(following->gone.arena, count, sizeof(*all));
    for (size_t at = 0; at < count;) {
        at = read_history(selected, count, at, &all[histories]);
        if (!follow_provider(following, &all[histories++]))
            return false;
    }
    delete_providers(following, all, histories);
    return true;
}

static bool follow_consumer(struct following *following, int64_t id)
{
    size_t before = following->consumers.count;
    if (!read_entity(following, ROWS_CONSUMERS, id, &following->consumers))
        return false;
    if (following->consumers.count == before)
        return true;
    struct change_consumer *consumer = &following->consumers.items[before].consumer;
    struct change_list types = {.arena = following->gone.arena};
    if (consumer->type_id != 0 &&
        !read_entity(following, ROWS_CONSUMER_TYPES, consumer->type_id, &types))
        return false;
    if (types.count == 0)
        consumer->type_id = 0;
    return store_reread_allocations(following->store, consumer->uuid, &following->allocations,
                                    following->err);
}

static bool follow_consumers(struct following *following)
{
    size_t count;
    const struct log_entry **selected =
        select_entries(following, LOG_CONSUMER, LOG_CONSUMER, &count);
    for (size_t i = 0; i < count; i++) {
        const struct log_entry *entry = selected[i];
        const struct log_entry *last = i == 0 ? NULL : selected[i - 1];
        bool same_id = last != NULL && last->id == entry->id;
        struct slice uuid = {entry->uuid, entry->uuid_len};
        if (!same_id || !slice_equal(uuid, (struct slice){last->uuid, last->uuid_len})) {
            struct change *reset = change_append(&following->gone, CHANGE_FOLLOW_CONSUMER_RESET);
            reset->consumer.id = entry->id;
            reset->consumer.uuid = uuid;
        }
        if (same_id)
            continue;
        if (!follow_consumer(following, entry->id))
            return false;
    }
    return true;
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

static int64_t provider_of(const struct change *change)
{
    return change->kind == CHANGE_PROVIDER_GENERATION ? change->generation.provider_id
                                                      : change->provider.id;
}

/* The place of that provider's first record, or count. */
static size_t find_provider(const struct change_list *list, int64_t id)
{
    size_t at;
    SEARCH_LOWER(at, 0, list->count, provider_of(&list->items[at]) < id);
    return at < list->count && provider_of(&list->items[at]) == id ? at : list->count;
}

static void send_provider(const struct change_list *list, size_t at, bool *sent, store_sink *sink,
                          void *cls)
{
    int64_t id = provider_of(&list->items[at]);
    for (; at < list->count && provider_of(&list->items[at]) == id && !sent[at]; at++) {
        sink(cls, &list->items[at]);
        sent[at] = true;
    }
}

static void send_providers(const struct change_list *list, store_sink *sink, void *cls)
{
    bool *sent = arena_zalloc(list->arena, list->count);
    size_t *chain = arena_array(list->arena, list->count, sizeof(*chain));
    for (size_t i = 0; i < list->count; i++) {
        size_t depth = 0;
        for (size_t at = i; at < list->count && !sent[at] && depth < list->count;) {
            const struct change *change = &list->items[at];
            chain[depth++] = at;
            if (change->kind == CHANGE_PROVIDER_GENERATION)
                break;
            at = find_provider(list, change->provider.parent_id);
        }
        while (depth > 0)
            send_provider(list, chain[--depth], sent, sink, cls);
    }
}

static bool read_everything(struct following *following)
{
    return follow_consumers(following) && follow_providers(following) &&
           follow_named(following, LOG_CLASS_INSERTED, LOG_CLASS_DELETED, ROWS_CLASSES,
                        CHANGE_CLASS_DELETE) &&
           follow_named(following, LOG_TRAIT_INSERTED, LOG_TRAIT_DELETED, ROWS_TRAITS,
                        CHANGE_TRAIT_DELETE) &&
           follow_inserted(following, LOG_AGGREGATE_INSERTED, ROWS_AGGREGATES) &&
           follow_inserted(following, LOG_PROJECT_INSERTED, ROWS_PROJECTS) &&
           follow_inserted(following, LOG_USER_INSERTED, ROWS_USERS) &&
           follow_inserted(following, LOG_CONSUMER_TYPE_INSERTED, ROWS_CONSUMER_TYPES) &&
           store_follow_rows(following->store, &following->rows, following->err) &&
           store_read_next_ids(following->store, following->err);
}

enum store_result store_follow(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    check(store->transaction.open);
    struct arena *arena = arena_create();
    struct change_list none = {.arena = arena};
    struct following following = {store, err, none, none, none, none, none, none, none};
    bool ok = read_everything(&following);
    if (ok) {
        send(&following.gone, sink, cls);
        send(&following.catalogs, sink, cls);
        send_providers(&following.providers, sink, cls);
        send(&following.contents, sink, cls);
        send(&following.consumers, sink, cls);
        if (following.allocations.count > 0)
            qsort(following.allocations.items, following.allocations.count, sizeof(struct change),
                  compare_allocations);
        send(&following.allocations, sink, cls);
        send(&following.rows, sink, cls);
        store_mark_followed(store);
    }
    arena_destroy(arena);
    return ok ? STORE_OK : STORE_FAILED;
}
