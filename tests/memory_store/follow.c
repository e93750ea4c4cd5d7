/* The records of a load and of a follow. A follow is derived from the difference of two states, in
 * the order that model/change.h promises; there is no log. One thread. */
#include "base/arena.h"
#include "tables.h"

enum { SENT_AGAIN_PERMILLE = 20 };

static bool sends_again(struct rng *rng)
{
    return rng != NULL && rng_permille(rng, SENT_AGAIN_PERMILLE);
}

void tables_load(const struct tables *tables, store_sink *sink, void *cls)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (uint32_t i = 0; i < tables->rows[t].count; i++)
            sink(cls, &tables->rows[t].row[i].image);
        if (t == TABLE_PROVIDERS)
            sink(cls, &(struct change){.kind = CHANGE_LOAD_PROVIDERS_END});
    }
}

struct fate {
    bool is_updated; /* name, parent or root */
    bool has_moved;  /* anything of its row */
    bool has_other_contents;
};

struct following {
    const struct tables *old;
    const struct tables *new;
    store_sink *sink;
    void *cls;
    struct fate fate[ROWS_MAX]; /* of the new providers */
    bool is_new[ROWS_MAX];
    bool is_sent[ROWS_MAX];
    bool consumer_touched[ROWS_MAX]; /* of the new consumers */
};

/* The row of the same birth, or NULL. */
static const struct row *survivor(const struct rows *rows, const struct row *row)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].birth == row->birth)
            return &rows->row[i];
    return NULL;
}

typedef bool belongs(const struct change *image, int64_t id);

static bool of_provider(const struct change *image, int64_t id)
{
    return image->link.provider_id == id;
}

static bool of_consumer(const struct change *image, int64_t id)
{
    return image->allocation.consumer_id == id;
}

_Static_assert(offsetof(struct change, link.provider_id) ==
                   offsetof(struct change, inventory.provider_id),
               "one of_provider for inventories and links");

/* The next row from `at` on that belongs to the id. */
static uint32_t next_of(const struct rows *rows, uint32_t at, belongs *is_of, int64_t id)
{
    while (at < rows->count && !is_of(&rows->row[at].image, id))
        at++;
    return at;
}

static bool same_rows(const struct following *following, enum table table, belongs *is_of,
                      int64_t id)
{
    const struct rows *old = &following->old->rows[table];
    const struct rows *new = &following->new->rows[table];
    uint32_t a = 0;
    uint32_t b = 0;
    for (;; a++, b++) {
        a = next_of(old, a, is_of, id);
        b = next_of(new, b, is_of, id);
        if (a == old->count || b == new->count)
            return a == old->count && b == new->count;
        if (old->row[a].birth != new->row[b].birth || old->row[a].revision != new->row[b].revision)
            return false;
    }
}

static void check_providers(struct following *following, struct rng *rng)
{
    const struct rows *rows = &following->new->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_provider *now = &rows->row[i].image.provider;
        const struct row *row = survivor(&following->old->rows[TABLE_PROVIDERS], &rows->row[i]);
        following->is_new[i] = row == NULL;
        if (row == NULL)
            continue;
        const struct change_provider *was = &row->image.provider;
        following->fate[i] = (struct fate){
            .is_updated = was->parent_id != now->parent_id || was->root_id != now->root_id ||
                          !slice_equal(was->name, now->name),
            .has_moved = row->revision != rows->row[i].revision,
            .has_other_contents =
                sends_again(rng) ||
                !same_rows(following, TABLE_INVENTORIES, of_provider, now->id) ||
                !same_rows(following, TABLE_PROVIDER_TRAITS, of_provider, now->id) ||
                !same_rows(following, TABLE_PROVIDER_AGGREGATES, of_provider, now->id),
        };
    }
}

static bool can_follow(const struct following *following)
{
    bool updated = false;
    bool deleted = false;
    const struct rows *new = &following->new->rows[TABLE_PROVIDERS];
    const struct rows *old = &following->old->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < new->count; i++)
        updated |= following->fate[i].is_updated;
    for (uint32_t i = 0; i < old->count; i++)
        deleted |= survivor(new, &old->row[i]) == NULL;
    return !(updated && deleted);
}

static void send(const struct following *following, const struct change *change)
{
    following->sink(following->cls, change);
}

static void reset_consumers(struct following *following, struct rng *rng)
{
    const struct rows *old = &following->old->rows[TABLE_CONSUMERS];
    const struct rows *new = &following->new->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < new->count; i++) {
        const struct row *was = survivor(old, &new->row[i]);
        following->consumer_touched[i] =
            was == NULL || was->revision != new->row[i].revision || sends_again(rng) ||
            !same_rows(following, TABLE_ALLOCATIONS, of_consumer, new->row[i].image.consumer.id);
    }
    for (uint32_t i = 0; i < old->count; i++) {
        const struct row *now = survivor(new, &old->row[i]);
        if (now != NULL && !following->consumer_touched[now - new->row])
            continue;
        struct change reset = {.kind = CHANGE_FOLLOW_CONSUMER_RESET};
        reset.consumer.id = old->row[i].image.consumer.id;
        reset.consumer.uuid = old->row[i].image.consumer.uuid;
        send(following, &reset);
    }
}

static int depth_of(const struct tables *tables, const struct change_provider *provider)
{
    int depth = 0;
    for (; provider->parent_id != 0; depth++)
        provider = &tables_find(tables, TABLE_PROVIDERS, provider->parent_id)->image.provider;
    return depth;
}

static void forget_providers(struct following *following)
{
    const struct rows *old = &following->old->rows[TABLE_PROVIDERS];
    const struct rows *new = &following->new->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < old->count; i++) {
        const struct row *now = survivor(new, &old->row[i]);
        if (now != NULL && !following->fate[now - new->row].has_other_contents)
            continue;
        struct change reset = {.kind = CHANGE_FOLLOW_PROVIDER_RESET};
        reset.provider.id = old->row[i].image.provider.id;
        send(following, &reset);
    }
    for (int depth = ROWS_MAX; depth >= 0; depth--)
        for (uint32_t i = 0; i < old->count; i++) {
            const struct change_provider *provider = &old->row[i].image.provider;
            if (survivor(new, &old->row[i]) != NULL || depth_of(following->old, provider) != depth)
                continue;
            struct change gone = {.kind = CHANGE_PROVIDER_DELETE};
            gone.provider = *provider;
            send(following, &gone);
        }
}

static void send_catalog_deletes(struct following *following, enum table table,
                                 enum change_kind kind)
{
    const struct rows *old = &following->old->rows[table];
    for (uint32_t i = 0; i < old->count; i++) {
        if (survivor(&following->new->rows[table], &old->row[i]) != NULL)
            continue;
        struct change gone = {.kind = kind};
        gone.catalog = old->row[i].image.catalog;
        send(following, &gone);
    }
}

static void send_catalog(struct following *following, enum table table)
{
    const struct rows *new = &following->new->rows[table];
    for (uint32_t i = 0; i < new->count; i++) {
        const struct row *was = survivor(&following->old->rows[table], &new->row[i]);
        if (was != NULL && was->revision == new->row[i].revision)
            continue;
        struct change change = new->row[i].image;
        if (was != NULL)
            change.kind = CHANGE_CLASS_RENAME;
        send(following, &change);
    }
}

static void send_provider(struct following *following, const struct row *row)
{
    size_t at = (size_t)(row - following->new->rows[TABLE_PROVIDERS].row);
    const struct change_provider *provider = &row->image.provider;
    const struct fate *fate = &following->fate[at];
    if (following->is_sent[at])
        return;
    following->is_sent[at] = true;
    if (provider->parent_id != 0)
        send_provider(following, tables_find(following->new, TABLE_PROVIDERS, provider->parent_id));
    if (following->is_new[at]) {
        send(following, &row->image);
        return;
    }
    if (!fate->is_updated && !fate->has_moved && !fate->has_other_contents)
        return;
    struct change change = row->image;
    change.kind = CHANGE_PROVIDER_UPDATE;
    if (fate->is_updated)
        send(following, &change);
    change.kind = CHANGE_PROVIDER_GENERATION;
    change.generation =
        (struct change_generation){provider->id, provider->generation, provider->generation};
    send(following, &change);
}

static void send_contents(struct following *following, enum table table, const struct row *row)
{
    size_t at = (size_t)(row - following->new->rows[TABLE_PROVIDERS].row);
    if (!following->is_new[at] && !following->fate[at].has_other_contents)
        return;
    const struct rows *rows = &following->new->rows[table];
    int64_t id = row->image.provider.id;
    for (uint32_t i = 0; (i = next_of(rows, i, of_provider, id)) < rows->count; i++)
        send(following, &rows->row[i].image);
}

static void send_consumers(struct following *following)
{
    const struct rows *consumers = &following->new->rows[TABLE_CONSUMERS];
    const struct rows *allocations = &following->new->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < consumers->count; i++)
        if (following->consumer_touched[i])
            send(following, &consumers->row[i].image);
    for (uint32_t i = 0; i < allocations->count; i++) {
        int64_t id = allocations->row[i].image.allocation.consumer_id;
        const struct row *consumer = tables_find(following->new, TABLE_CONSUMERS, id);
        if (following->consumer_touched[consumer - consumers->row])
            send(following, &allocations->row[i].image);
    }
}

/* Sends the rows that differ, and some that do not; for a deleted row its id. */
static void send_rows(struct following *following, enum table table, enum change_kind gone,
                      struct rng *rng)
{
    const struct rows *old = &following->old->rows[table];
    const struct rows *new = &following->new->rows[table];
    for (uint32_t i = 0; i < old->count; i++) {
        int64_t id = old->row[i].image.row.id;
        if (tables_find(following->new, table, id) == NULL)
            send(following, &(struct change){.kind = gone, .row = {id, NULL}});
    }
    for (uint32_t i = 0; i < new->count; i++) {
        const struct row *was = survivor(old, &new->row[i]);
        if (was == NULL || was->revision != new->row[i].revision || sends_again(rng))
            send(following, &new->row[i].image);
    }
}

bool tables_follow(const struct tables *old, const struct tables *new, struct rng *rng,
                   store_sink *sink, void *cls)
{
    struct following following = {.old = old, .new = new, .sink = sink, .cls = cls};
    check_providers(&following, rng);
    if (!can_follow(&following))
        return false;
    if (sink == NULL)
        return true;
    reset_consumers(&following, rng);
    forget_providers(&following);
    send_catalog_deletes(&following, TABLE_CLASSES, CHANGE_CLASS_DELETE);
    send_catalog_deletes(&following, TABLE_TRAITS, CHANGE_TRAIT_DELETE);
    for (enum table table = TABLE_CLASSES; table <= TABLE_TYPES; table++)
        send_catalog(&following, table);
    const struct rows *providers = &new->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < providers->count; i++)
        send_provider(&following, &providers->row[i]);
    for (uint32_t i = 0; i < providers->count; i++)
        for (enum table table = TABLE_INVENTORIES; table <= TABLE_PROVIDER_AGGREGATES; table++)
            send_contents(&following, table, &providers->row[i]);
    send_consumers(&following);
    send_rows(&following, TABLE_NODES, CHANGE_NODE_DELETE, rng);
    send_rows(&following, TABLE_NODE_ALLOCATIONS, CHANGE_NODE_ALLOCATION_DELETE, rng);
    for (unsigned t = 0; t < VALET_TABLE_COUNT; t++)
        send_rows(&following, (enum table)(TABLE_VALET + t),
                  (enum change_kind)(CHANGE_VALET_GROUP_DELETE + 2 * t), rng);
    return true;
}
