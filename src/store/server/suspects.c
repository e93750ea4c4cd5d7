/* Entities that other programs may have written: those that are to be read again, and those that
 * were and that the next batch names in the log, because other instances may not know of them. A
 * program that writes no log is noticed when a row is not as memory has it. The writer only. */
#include "base/arena.h"
#include "store/reread.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum {
    UNLOGGED_MOST = 20000, /* more are not named: other instances find them as this one did */
    SUSPECTS_MOST = 4000,  /* beyond this, everything is compared */
    /* If one request has more, they are not compared with one another; what is found out about them
     * is kept together. */
    NAMES_MOST = ALIKES_MOST,
    NAMES_BYTES_MOST = 128 * 1024
};

/* A consumer is found by its uuid, so an entry without one names nothing, and cannot be written. */
static void push_unlogged(struct server_store *store, const struct log_entry *entry)
{
    bool is_nameless = entry->kind == LOG_CONSUMER && entry->uuid_len == 0;
    if (!is_nameless && store->unlogged.count < UNLOGGED_MOST)
        log_entries_push(&store->unlogged, entry);
}

void server_name_in_log(struct server_store *store, const struct difference *difference)
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

bool server_suspect(struct store *base, enum entity entity, int64_t id, struct slice uuid)
{
    struct server_store *store = server_store_of(base);
    const struct log_entry entry = reread_entry(entity, id, uuid);
    if (has_entry(&store->suspects, &entry))
        return false;
    store->has_state &= store->suspects.count < SUSPECTS_MOST;
    if (store->suspects.count < SUSPECTS_MOST)
        log_entries_push(&store->suspects, &entry);
    return store->has_state;
}

void server_end_suspicion(struct server_store *store)
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
    enum change_kind insert; /* what inserts such rows */
    int64_t own_id;          /* of a row that has been there before; 0: it is new */
};

/* The texts that were to be inserted. False: the row has none that must be unique. */
static bool names_of(const struct change *change, struct names *names)
{
    struct slice name = change->catalog.name;
    *names = (struct names){.texts = {name, name}, .insert = change->kind};
    switch (change->kind) {
    case CHANGE_CLASS_RENAME:
        names->insert = CHANGE_CLASS_INSERT;
        names->own_id = change->catalog.id;
        names->entity = ENTITY_CLASS;
        return true;
    case CHANGE_CLASS_INSERT:
        names->entity = ENTITY_CLASS;
        return true;
    case CHANGE_TRAIT_INSERT:
        names->entity = ENTITY_TRAIT;
        return true;
    case CHANGE_AGGREGATE_INSERT:
        names->entity = ENTITY_AGGREGATE;
        return true;
    case CHANGE_PROJECT_INSERT:
        names->entity = ENTITY_PROJECT;
        return true;
    case CHANGE_USER_INSERT:
        names->entity = ENTITY_USER;
        return true;
    case CHANGE_CONSUMER_TYPE_INSERT:
        names->entity = ENTITY_CONSUMER_TYPE;
        return true;
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
        *names = (struct names){.entity = ENTITY_PROVIDER,
                                .texts = {change->provider.name, change->provider.uuid},
                                .insert = CHANGE_PROVIDER_INSERT};
        if (change->kind == CHANGE_PROVIDER_UPDATE)
            names->own_id = change->provider.id;
        return true;
    case CHANGE_CONSUMER_INSERT:
        *names = (struct names){.entity = ENTITY_CONSUMER,
                                .texts = {change->consumer.uuid, change->consumer.uuid},
                                .insert = CHANGE_CONSUMER_INSERT};
        return true;
    default:
        return false;
    }
}

/* Whether the row has another text, which the database takes for the one asked for, and this was
 * known already; it is from now on. */
static bool note_alike(struct server_store *store, const struct names *names,
                       const struct namesake *row, bool *is_alike)
{
    struct slice text = names->texts[row->field];
    const struct store_alike alike = {row->id, row->text};
    struct store_alike known;
    *is_alike = row->text.data != NULL && !slice_equal(row->text, text);
    if (!*is_alike)
        return false;
    if (alikes_find(&store->alikes, names->insert, row->field, text, &known) &&
        known.id == row->id && slice_equal(known.text, row->text))
        return true;
    alikes_note(&store->alikes, names->insert, row->field, text, &alike);
    return false;
}

/* Suspects the row, which another program may have inserted. If its text is only alike, and it was
 * read again since the last commit, memory has it; the text is what was not known. True: nothing is
 * new. */
static bool suspect_namesake(struct server_store *store, const struct names *names,
                             const struct namesake *row)
{
    bool is_alike;
    struct slice uuid = names->entity != ENTITY_CONSUMER ? (struct slice){0}
                        : row->text.data != NULL         ? row->text
                                                         : names->texts[0];
    if (note_alike(store, names, row, &is_alike))
        return true;
    const struct log_entry entry = reread_entry(names->entity, row->id, uuid);
    if (!is_alike || !has_entry(&store->refused, &entry))
        server_suspect(&store->base, names->entity, row->id, uuid);
    return false;
}

/* Rows because of which a change was refused. */
struct namesakes_seen {
    size_t count;
    size_t old; /* about which nothing is new */
};

/* Suspects all of them. False: they are not known. */
static bool suspect_namesakes(struct server_store *store, const struct names *names,
                              struct namesakes_seen *seen)
{
    struct err ignored = server_ignored(store);
    struct namesakes found = {0};
    bool ok = server_ensure_session(store, store->follower, &ignored) &&
              store->follower->dialect->namesakes(store->follower, names->entity, names->texts,
                                                  ignored.arena, &found, server_deadline(store),
                                                  &ignored) == SERVER_OK;
    for (size_t i = 0; ok && i < found.count; i++) {
        bool is_own = names->own_id != 0 && found.at[i].id == names->own_id;
        seen->count += !is_own;
        if (is_own)
            server_suspect(&store->base, names->entity, names->own_id, (struct slice){0});
        else
            seen->old += suspect_namesake(store, names, &found.at[i]);
    }
    return ok;
}

/* Whether a request that only mentions a name inserts its row, maybe together with others. */
static bool is_mentioned(enum change_kind insert)
{
    return insert == CHANGE_AGGREGATE_INSERT || insert == CHANGE_PROJECT_INSERT ||
           insert == CHANGE_USER_INSERT || insert == CHANGE_CONSUMER_TYPE_INSERT;
}

/* The names that the request of the change inserts into the same catalog, in its order. None: they
 * are too many. */
static size_t names_beside(const struct store_batch *batch, size_t at, struct slice *names)
{
    size_t request = bundle_request_of(batch, at);
    size_t bytes = 0;
    size_t count = 0;
    for (size_t i = request == 0 ? 0 : batch->ends[request - 1]; i < batch->ends[request]; i++) {
        const struct change *change = &batch->changes[i];
        if (change->kind != batch->changes[at].kind)
            continue;
        bytes += change->catalog.name.len;
        if (count == NAMES_MOST || bytes > NAMES_BYTES_MOST)
            return 0;
        names[count++] = change->catalog.name;
    }
    return count;
}

/* The same for all names of the request, of which the database may take others for stored ones, or
 * for one another. The follower has just been asked for the first. */
static void suspect_names_beside(struct server_store *store, const struct names *names,
                                 const struct store_batch *batch, size_t at,
                                 struct namesakes_seen *seen)
{
    struct err ignored = server_ignored(store);
    struct slice *texts = arena_array(ignored.arena, NAMES_MOST, sizeof(*texts));
    size_t count = names_beside(batch, at, texts);
    struct namesakes found = {0};
    if (count < 2 || store->follower->dialect->names_alike(
                         store->follower, names->entity, texts, count, ignored.arena, &found,
                         server_deadline(store), &ignored) != SERVER_OK)
        return;
    for (size_t i = 0; i < found.count; i++) {
        const struct namesake row = {.id = found.at[i].id, .text = found.at[i].text};
        struct names one = *names;
        bool is_alike;
        one.texts[0] = texts[found.at[i].field];
        seen->count++;
        seen->old += row.id == 0 ? note_alike(store, &one, &row, &is_alike)
                                 : suspect_namesake(store, &one, &row);
    }
}

bool server_suspect_refused(struct server_store *store, const struct store_batch *batch, size_t at,
                            bool is_duplicate)
{
    const struct change *change = at == STORE_UNNAMED ? NULL : &batch->changes[at];
    struct difference entity;
    struct names names;
    struct namesakes_seen seen = {0};
    size_t before = store->suspects.count;
    bool is_named = false;
    if (change != NULL && written_entity(change, &entity))
        is_named = server_suspect(&store->base, entity.entity, entity.id, entity.uuid);
    if (change != NULL && is_duplicate && names_of(change, &names)) {
        is_named = suspect_namesakes(store, &names, &seen);
        if (is_named && is_mentioned(change->kind) && store->follower->dialect->names_alike != NULL)
            suspect_names_beside(store, &names, batch, at, &seen);
    }
    if (seen.count > 0 && seen.old == seen.count)
        return false;
    /* What has been read again since the last commit is still not as memory has it. */
    for (size_t i = before; i < store->suspects.count; i++) {
        bool was_refused = has_entry(&store->refused, &store->suspects.data[i]);
        is_named &= !was_refused;
        if (!was_refused)
            log_entries_push(&store->refused, &store->suspects.data[i]);
    }
    store->has_state &= is_named;
    return true;
}
