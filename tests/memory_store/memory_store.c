/* Reads, locks and commits of a memory store. Reads and commits work on a copy of the committed
 * tables; a commit makes its copy the committed ones. */
#include "memory_store.h"

#include <stdlib.h>

#include "memory_store_internal.h"

struct store *memory_store_open(struct memory_database *database)
{
    struct store *store = calloc(1, sizeof(*store));
    check(store != NULL);
    store->database = database;
    return store;
}

void store_close(struct store *store)
{
    if (store->shared != NULL)
        memory_store_release(store->shared);
    free(store);
}

void memory_store_forget(struct store *store)
{
    store->seen.is_valid = false;
}

void memory_store_fail(const struct store *store, enum memory_fault fault, const char *reason,
                       struct err *err)
{
    const char *own = store->database->faults.reason[fault];
    err_set(err, 503, NULL, "the database in memory %s", own != NULL ? own : reason);
}

bool memory_store_fails(struct store *store, enum memory_fault fault, const char *reason,
                        struct err *err)
{
    if (!memory_database_strikes(store->database, fault))
        return false;
    memory_store_fail(store, fault, reason, err);
    return true;
}

/* With a copy of the generator: store_follow() draws the same again. */
static bool can_follow(const struct store *store)
{
    const struct memory_database *database = store->database;
    struct rng draw = {0};
    if (database->rng != NULL)
        draw = *database->rng;
    return tables_follow(&store->seen.tables, &store->tables, database->rng == NULL ? NULL : &draw,
                         NULL, NULL);
}

static bool is_in_memory(const struct store *store)
{
    return !store->must_load && store->seen.is_valid && store->seen.commit == store->read_commit;
}

static enum store_news examine(struct store *store)
{
    struct memory_database *database = store->database;
    if (store->must_load)
        return STORE_NEWS_RELOAD;
    if (is_in_memory(store))
        return STORE_NEWS_NONE;
    if (!store->seen.is_valid || database->foreign_commit > store->seen.commit ||
        memory_database_strikes(database, MEMORY_LOG_TRIMMED) || !can_follow(store))
        return STORE_NEWS_RELOAD;
    return STORE_NEWS_FOLLOW;
}

static void read_next_ids(struct store *store)
{
    const struct memory_database *database = store->database;
    bool are_reused = database->faults.permille[MEMORY_IDS_REUSED] > 0;
    for (int t = 0; t < STORE_TABLE_COUNT; t++) {
        int64_t least = t == STORE_CLASSES ? MEMORY_FIRST_CUSTOM_CLASS : 1;
        if (least < database->least_id)
            least = database->least_id;
        if (!are_reused && database->highest_id[t] >= least)
            least = database->highest_id[t] + 1;
        store->first_id[t] = memory_free_id(&store->tables, MEMORY_TABLE_OF[t], least);
    }
    memcpy(store->next_id, store->first_id, sizeof(store->next_id));
}

int64_t store_next_id(struct store *store, enum store_table table)
{
    int64_t most = store->database->most_id;
    store->lacks_id |= most != 0 && store->next_id[table] > most;
    return store->next_id[table]++;
}

bool store_lacks_id(struct store *store, struct err *err)
{
    bool lacks = store->lacks_id;
    store->lacks_id = false;
    if (lacks)
        err_set(err, 503, NULL, "the database in memory has no more ids");
    return lacks;
}

void store_reuse_ids(struct store *store)
{
    store->plans++;
    store->lacks_id = false;
    memcpy(store->next_id, store->first_id, sizeof(store->next_id));
}

void memory_store_meet_others(struct store *store)
{
    struct memory_database *database = store->database;
    if (!store->is_locked && memory_database_strikes(database, MEMORY_FOREIGN_WRITE))
        database->foreign_write(database->cls, database);
    if (store->meanwhile != NULL)
        store->meanwhile(store->cls);
}

static void take_snapshot(struct store *store)
{
    tables_copy(&store->tables, &store->database->tables);
    store->read_commit = store->database->commit;
}

enum store_news store_begin_read(struct store *store, struct err *err)
{
    check(!store->is_reading);
    store->outcome = MEMORY_OUTCOME_FAILED;
    if (memory_store_fails(store, MEMORY_BEGIN_READ_FAILS, "begins no read", err))
        return STORE_NEWS_FAILED;
    memory_store_meet_others(store);
    take_snapshot(store);
    read_next_ids(store);
    store->is_reading = true;
    store->outcome = MEMORY_OUTCOME_OPEN;
    store->news = examine(store);
    if (store->went_back && store->news == STORE_NEWS_RELOAD)
        store->news = STORE_NEWS_WENT_BACK;
    return store->news;
}

bool store_end_read(struct store *store, struct store_stamp *stamp)
{
    check(store->is_reading);
    store->is_reading = false;
    bool holds = is_in_memory(store);
    store->outcome = holds ? MEMORY_OUTCOME_DONE : MEMORY_OUTCOME_FAILED;
    memory_store_meet_others(store);
    memory_store_write_stamp(stamp, store->read_commit);
    return holds && store->read_commit == store->database->commit;
}

bool store_locks_first(const struct store *store)
{
    struct memory_database *database = store->database;
    if (database->lock_order == MEMORY_LOCKS_AT_TIMES)
        return database->rng != NULL && rng_below(database->rng, 2) == 0;
    return database->lock_order == MEMORY_LOCKS_FIRST;
}

enum store_lock store_lock(struct store *store, struct err *err)
{
    check(!store->is_locked && !store->is_reading);
    store->outcome = MEMORY_OUTCOME_FAILED;
    if (memory_database_strikes(store->database, MEMORY_LOCK_HELD)) {
        memory_store_meet_others(store);
        if (store->while_locked != NULL)
            store->while_locked(store->cls);
        return STORE_LOCK_HELD;
    }
    if (memory_store_fails(store, MEMORY_LOCK_FAILS, "cannot be locked", err))
        return STORE_LOCK_FAILED;
    memory_store_meet_others(store);
    store->is_locked = true;
    return STORE_LOCKED;
}

void store_unlock(struct store *store)
{
    check(!store->is_reading);
    store->is_locked = false;
}

static void make_visible(struct store *store)
{
    struct memory_database *database = store->database;
    if (database->on_commit != NULL)
        database->on_commit(database->cls, &database->tables, &store->tables);
    memory_database_commit(database, &store->tables);
}

/* COMMIT fails and its result is unknown; a process that dies in it knows as little. */
static enum store_result end_unknown(struct store *store)
{
    store->outcome = MEMORY_OUTCOME_UNKNOWN;
    store->seen.is_valid = false;
    if (store->database->rng != NULL && rng_below(store->database->rng, 2) == 0)
        make_visible(store);
    return STORE_UNKNOWN;
}

static enum store_result end_commit(struct store *store, struct store_stamp *stamp, bool *foreign,
                                    struct err *err)
{
    if (memory_store_fails(store, MEMORY_COMMIT_FAILS, "cannot commit", err))
        return STORE_FAILED;
    store->is_dead = memory_store_fails(store, MEMORY_DIES, "is gone", err);
    if (store->is_dead ||
        memory_store_fails(store, MEMORY_COMMIT_UNKNOWN, "cannot tell whether it committed", err))
        return end_unknown(store);
    make_visible(store);
    store->outcome = MEMORY_OUTCOME_DONE;
    memory_store_mark_seen(store, store->database->commit);
    memcpy(store->first_id, store->next_id, sizeof(store->first_id));
    if (memory_database_strikes(store->database, MEMORY_COMMIT_RESOLVED)) {
        store->seen.is_valid = false;
        *foreign = true;
        return STORE_OK;
    }
    memory_store_meet_others(store);
    *foreign = store->seen.commit != store->database->commit;
    memory_store_write_stamp(stamp, store->seen.commit);
    return STORE_OK;
}

enum store_result store_commit(struct store *store, const struct store_batch *batch,
                               struct store_stamp *stamp, bool *foreign, struct err *err)
{
    check(!store->is_reading);
    store->commits++;
    store->outcome = MEMORY_OUTCOME_FAILED;
    if (memory_store_fails(store, MEMORY_COMMIT_BEGIN_FAILS, "begins no transaction", err)) {
        store->is_locked = false;
        return STORE_FAILED;
    }
    memory_store_meet_others(store);
    store->is_locked = false;
    take_snapshot(store);
    if (!is_in_memory(store)) {
        err_set(err, 503, NULL, "the database in memory is always taken");
        return STORE_TAKEN;
    }
    if (batch->requests == 0 || batch->ends[batch->requests - 1] == 0) {
        store->outcome = MEMORY_OUTCOME_DONE;
        *foreign = false;
        memory_store_write_stamp(stamp, store->read_commit);
        return STORE_OK;
    }
    if (store->before_commit != NULL)
        store->before_commit(store->cls);
    enum store_result result = memory_store_execute(store, batch, err);
    return result == STORE_OK ? end_commit(store, stamp, foreign, err) : result;
}
