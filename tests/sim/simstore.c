/* store.h over tables in memory. One thread: a transaction of another store cannot be open, so that
 * begin never waits; what else can happen to it happens by chance. */
#include "simstore.h"

#include <stdlib.h>

#include "model/capacity.h"
#include "model/node_allocation.h"

static bool strikes(struct store *store, int permille)
{
    return !store->database->quiet && rng_permille(store->database->rng, permille);
}

static void write_stamp(struct store_stamp *stamp, uint64_t commit)
{
    memset(stamp, 0, sizeof(*stamp));
    memcpy(stamp->bytes, &commit, sizeof(commit));
}

struct store *simstore_open(struct database *database)
{
    struct store *store = calloc(1, sizeof(*store));
    check(store != NULL);
    store->database = database;
    return store;
}

void store_close(struct store *store)
{
    free(store);
}

static bool fail_store(struct err *err, const char *what)
{
    return err_set(err, 503, NULL, "the simulated database fails to %s", what);
}

static enum store_begun examine(struct store *store)
{
    const struct database *database = store->database;
    if (store->seen_valid && store->seen_commit == database->commit)
        return STORE_BEGIN_UNCHANGED;
    struct rng draw = *database->rng; /* asked twice, answered alike */
    if (!store->seen_valid || database->foreign_commit > store->seen_commit ||
        strikes(store, database->faults.log_trimmed) ||
        !tables_follow(&store->seen, &database->tables, &draw, NULL, NULL))
        return STORE_BEGIN_RELOAD;
    return STORE_BEGIN_FOLLOW;
}

static void read_next_ids(struct store *store)
{
    for (int t = 0; t < STORE_TABLE_COUNT; t++) {
        int64_t least = t == STORE_CLASSES ? FIRST_CUSTOM_ID : 1;
        if (!store->database->faults.ids_used_again && store->database->highest_id[t] >= least)
            least = store->database->highest_id[t] + 1;
        store->next_id[t] = database_free_id(&store->tables, database_table_of[t], least);
    }
}

enum store_begun store_begin(struct store *store, enum store_intent intent, struct err *err)
{
    store->intent = intent == STORE_TO_READ ? STORE_TO_READ : STORE_TO_WRITE;
    store->followed_here = false;
    struct database *database = store->database;
    if (store->is_open)
        sim_fail("begin inside a transaction");
    store->outcome = OUTCOME_FAILED;
    if (intent == STORE_TO_WRITE_SOON && strikes(store, database->faults.lock_held)) {
        if (strikes(store, database->faults.foreign_writes))
            database_foreign_write(database);
        store->while_locked(store->cls);
        return STORE_BEGIN_BUSY;
    }
    if (strikes(store, database->faults.begin_fails)) {
        fail_store(err, "begin");
        return STORE_BEGIN_FAILED;
    }
    if (strikes(store, database->faults.foreign_writes))
        database_foreign_write(database);
    store->is_open = true;
    store->has_failed = false;
    store->outcome = OUTCOME_OPEN;
    tables_copy(&store->tables, &database->tables);
    read_next_ids(store);
    store->begun = examine(store);
    store->is_in_memory = store->begun == STORE_BEGIN_UNCHANGED;
    return store->begun;
}

/* Lets only so many records through. */
struct cut {
    store_sink *sink;
    void *cls;
    int left;
};

static void sink_cut(void *cls, const struct change *change)
{
    struct cut *cut = cls;
    if (cut->left == 0)
        return;
    cut->left--;
    cut->sink(cut->cls, change);
}

/* Memory was told more in this transaction; whoever planned on that gives it up when the
 * transaction fails. */
static void mark_followed(struct store *store)
{
    tables_copy(&store->before, &store->seen);
    store->before_commit_no = store->seen_commit;
    store->before_valid = store->seen_valid;
    store->followed_here = true;
}

static void take_back(struct store *store)
{
    if (!store->followed_here)
        return;
    tables_copy(&store->seen, &store->before);
    store->seen_commit = store->before_commit_no;
    store->seen_valid = store->before_valid;
    store->followed_here = false;
}

static void mark_seen(struct store *store)
{
    tables_copy(&store->seen, &store->database->tables);
    store->seen_commit = store->database->commit;
    store->seen_valid = true;
    store->is_in_memory = true;
}

enum store_result store_load(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    if (!store->is_open || store->begun != STORE_BEGIN_RELOAD)
        sim_fail("a load that nobody asked for");
    bool fails = strikes(store, store->database->faults.read_fails);
    struct cut cut = {sink, cls, fails ? rng_below(store->database->rng, 60) : -1};
    tables_load(&store->tables, sink_cut, &cut);
    if (fails) {
        fail_store(err, "read");
        return STORE_FAILED;
    }
    mark_followed(store);
    mark_seen(store);
    return STORE_OK;
}

/* Memory may be asked to load all the same. */
enum store_result store_merge(struct store *store, const struct store_comparer *comparer,
                              store_sink *sink, void *cls, bool *merged, struct err *err)
{
    if (!store->is_open || store->begun != STORE_BEGIN_RELOAD)
        sim_fail("a merge that nobody asked for");
    *merged = false;
    if (strikes(store, store->database->faults.merge_given_up))
        return STORE_OK;
    bool fails = strikes(store, store->database->faults.read_fails);
    struct cut cut = {comparer->compare, comparer->cls, -1};
    tables_load(&store->tables, sink_cut, &cut);
    const struct differences *differences = comparer->end(comparer->cls);
    if (differences == NULL)
        return STORE_OK;
    cut = (struct cut){sink, cls, fails ? rng_below(store->database->rng, 8) : -1};
    tables_merge(&store->tables, differences, sink_cut, &cut);
    if (fails) {
        fail_store(err, "read");
        return STORE_FAILED;
    }
    *merged = true;
    mark_followed(store);
    mark_seen(store);
    return STORE_OK;
}

enum store_result store_follow(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    if (!store->is_open || store->begun != STORE_BEGIN_FOLLOW)
        sim_fail("a follow that nobody asked for");
    bool fails = strikes(store, store->database->faults.read_fails);
    struct cut cut = {sink, cls, fails ? rng_below(store->database->rng, 8) : -1};
    if (!tables_follow(&store->seen, &store->tables, store->database->rng, sink_cut, &cut))
        sim_fail("a follow that cannot be");
    if (fails) {
        fail_store(err, "read");
        return STORE_FAILED;
    }
    mark_followed(store);
    mark_seen(store);
    return STORE_OK;
}

enum store_result store_apply(struct store *store, const struct change_list *changes,
                              struct err *err)
{
    if (!store->is_open || !store->is_in_memory || store->has_failed ||
        store->intent != STORE_TO_WRITE)
        sim_fail("apply outside a transaction that can take it");
    bool fails = strikes(store, store->database->faults.apply_fails);
    size_t count = changes->count;
    if (fails)
        count = (size_t)rng_below(store->database->rng, (int)count);
    for (size_t i = 0; i < count; i++)
        database_execute(&store->tables, &changes->items[i]);
    if (!fails)
        return STORE_OK;
    store->has_failed = true;
    fail_store(err, "write");
    return STORE_FAILED;
}

/* A bare metal node is reserved by whoever has it: its consumer is an active allocation's. */
static bool is_taken_node(const struct tables *tables, const struct change_inventory *inventory)
{
    const struct rows *held = &tables->rows[TABLE_ALLOCATIONS];
    const struct rows *active = &tables->rows[TABLE_NODE_ALLOCATIONS];
    for (uint32_t i = 0; i < held->count; i++) {
        const struct change_allocation *at = &held->row[i].image.allocation;
        if (at->provider_id != inventory->provider_id || at->class_id != inventory->class_id)
            continue;
        for (uint32_t k = 0; k < active->count; k++) {
            const struct node_allocation *row = node_allocation_of(active->row[k].image.row.record);
            if (slice_equal(node_allocation_text(row, NODE_ALLOCATION_UUID), at->consumer_uuid) &&
                node_allocation_text_is(row, NODE_ALLOCATION_STATE, "active"))
                return inventory->total == 1 && at->used == 1;
        }
    }
    return false;
}

/* Whatever was planned, and by whom: nothing grows above its capacity. */
static void check_capacity(const struct tables *before, const struct tables *after)
{
    const struct rows *rows = &after->rows[TABLE_INVENTORIES];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_inventory *row = &rows->row[i].image.inventory;
        struct inventory_figures figures = {row->total,    row->reserved,  row->min_unit,
                                            row->max_unit, row->step_size, row->allocation_ratio};
        int64_t used = tables_used(after, row->provider_id, row->class_id);
        bool is_altered =
            rows->row[i].birth > before->clock || rows->row[i].revision > before->clock;
        if (used > capacity_of(&figures) && !is_altered &&
            used > tables_used(before, row->provider_id, row->class_id) &&
            !(used == 1 && is_taken_node(after, row)))
            sim_fail("provider %lld, class %lld: %lld used of %lld", (long long)row->provider_id,
                     (long long)row->class_id, (long long)used, (long long)capacity_of(&figures));
    }
}

static void happen(struct store *store)
{
    check_capacity(&store->database->tables, &store->tables);
    if (store->database->compare != NULL)
        store->database->compare(&store->database->tables, &store->tables);
    database_commit(store->database, &store->tables);
}

/* COMMIT fails so that nobody knows; a process that dies in it knows as little. */
static enum store_result fail_unknown(struct store *store, struct err *err)
{
    store->outcome = OUTCOME_UNKNOWN;
    store->seen_valid = false;
    if (rng_below(store->database->rng, 2) == 0)
        happen(store);
    fail_store(err, "tell whether it committed");
    return STORE_UNKNOWN;
}

enum store_result store_commit(struct store *store, struct store_stamp *stamp, bool *foreign,
                               struct err *err)
{
    const struct faults *faults = &store->database->faults;
    if (!store->is_open || !store->is_in_memory || store->has_failed)
        sim_fail("commit of a transaction that cannot be committed");
    if (store->before_commit != NULL)
        store->before_commit(store->cls);
    store->is_open = false;
    if (strikes(store, faults->commit_fails)) {
        store->outcome = OUTCOME_FAILED;
        take_back(store);
        fail_store(err, "commit");
        return STORE_FAILED;
    }
    if (strikes(store, faults->dies)) {
        store->is_dead = true;
        return fail_unknown(store, err);
    }
    if (strikes(store, faults->commit_unknown))
        return fail_unknown(store, err);
    happen(store);
    store->outcome = OUTCOME_DONE;
    mark_seen(store);
    *foreign = false;
    if (strikes(store, faults->commit_resolved)) {
        store->seen_valid = false;
        *foreign = true;
        return STORE_OK;
    }
    if (strikes(store, faults->foreign_writes)) {
        database_foreign_write(store->database);
        *foreign = true;
    }
    write_stamp(stamp, store->database->commit);
    return STORE_OK;
}

bool store_rollback(struct store *store, struct store_stamp *stamp)
{
    if (!store->is_open)
        sim_fail("rollback outside a transaction");
    store->is_open = false;
    bool holds = store->is_in_memory && !store->has_failed;
    store->outcome = holds ? OUTCOME_DONE : OUTCOME_FAILED;
    if (!holds)
        take_back(store);
    if (holds && strikes(store, store->database->faults.foreign_writes)) {
        database_foreign_write(store->database);
        holds = false;
    }
    write_stamp(stamp, store->database->commit);
    return holds;
}

int64_t store_next_id(struct store *store, enum store_table table)
{
    if (!store->is_open)
        sim_fail("an id outside a transaction");
    return store->next_id[table]++;
}

bool store_is_current(const struct store *store, const struct store_stamp *stamp)
{
    struct store_stamp now;
    write_stamp(&now, store->database->commit);
    return memcmp(now.bytes, stamp->bytes, sizeof(now.bytes)) == 0;
}

bool store_check_schema(struct store *store, char revision[static STORE_REVISION_BYTES],
                        struct err *err)
{
    (void)store;
    (void)err;
    revision[0] = '\0';
    return true;
}

/* No constraint of the simulated database fails, and no row is left out. */
const struct store_refusal *store_why_refused(const struct store *store)
{
    static const struct store_refusal none;
    (void)store;
    return &none;
}

bool store_is_taken(const struct store *store, enum change_kind kind, unsigned field,
                    struct slice text)
{
    (void)store;
    (void)kind;
    (void)field;
    (void)text;
    return false;
}

void store_upkeep(struct store *store)
{
    (void)store;
}
