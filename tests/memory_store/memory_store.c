/* Opens, begins and ends transactions of a memory store. A transaction works on a copy of the
 * committed tables, which a commit makes the committed ones. */
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

static void write_stamp(struct store_stamp *stamp, uint64_t commit)
{
    memset(stamp, 0, sizeof(*stamp));
    memcpy(stamp->bytes, &commit, sizeof(commit));
}

/* With a copy of the generator: store_follow() draws the same again. */
static bool can_follow(const struct store *store)
{
    const struct memory_database *database = store->database;
    struct rng draw = {0};
    if (database->rng != NULL)
        draw = *database->rng;
    return tables_follow(&store->seen.tables, &database->tables,
                         database->rng == NULL ? NULL : &draw, NULL, NULL);
}

static enum store_begun examine(struct store *store)
{
    struct memory_database *database = store->database;
    if (store->must_load)
        return STORE_BEGIN_RELOAD;
    if (store->seen.is_valid && store->seen.commit == database->commit)
        return STORE_BEGIN_UNCHANGED;
    if (!store->seen.is_valid || database->foreign_commit > store->seen.commit ||
        memory_database_strikes(database, MEMORY_LOG_TRIMMED) || !can_follow(store))
        return STORE_BEGIN_RELOAD;
    return STORE_BEGIN_FOLLOW;
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
        store->next_id[t] = memory_free_id(&store->tables, MEMORY_TABLE_OF[t], least);
    }
}

static void maybe_write_foreign(struct store *store)
{
    struct memory_database *database = store->database;
    if (memory_database_strikes(database, MEMORY_FOREIGN_WRITE))
        database->foreign_write(database->cls, database);
}

enum store_begun store_begin(struct store *store, enum store_intent intent, struct err *err)
{
    check(!store->is_open);
    store->intent = intent == STORE_TO_READ ? STORE_TO_READ : STORE_TO_WRITE;
    store->has_followed = false;
    store->outcome = MEMORY_OUTCOME_FAILED;
    store->begun_count++;
    if (intent == STORE_TO_WRITE_SOON &&
        memory_database_strikes(store->database, MEMORY_LOCK_HELD)) {
        maybe_write_foreign(store);
        if (store->while_locked != NULL)
            store->while_locked(store->cls);
        return STORE_BEGIN_BUSY;
    }
    if (memory_store_fails(
            store, intent == STORE_TO_READ ? MEMORY_BEGIN_READ_FAILS : MEMORY_BEGIN_WRITE_FAILS,
            "begins no transaction", err))
        return STORE_BEGIN_FAILED;
    maybe_write_foreign(store);
    store->is_open = true;
    store->has_failed = false;
    store->outcome = MEMORY_OUTCOME_OPEN;
    tables_copy(&store->tables, &store->database->tables);
    read_next_ids(store);
    store->begun = examine(store);
    store->is_in_memory = store->begun == STORE_BEGIN_UNCHANGED;
    return store->begun;
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

enum store_result store_commit(struct store *store, struct store_stamp *stamp, bool *foreign,
                               struct err *err)
{
    check(store->is_open && store->is_in_memory && !store->has_failed);
    if (store->before_commit != NULL)
        store->before_commit(store->cls);
    store->is_open = false;
    if (memory_store_fails(store, MEMORY_COMMIT_FAILS, "cannot commit", err)) {
        store->outcome = MEMORY_OUTCOME_FAILED;
        memory_store_take_back(store);
        return STORE_FAILED;
    }
    store->is_dead = memory_store_fails(store, MEMORY_DIES, "is gone", err);
    if (store->is_dead ||
        memory_store_fails(store, MEMORY_COMMIT_UNKNOWN, "cannot tell whether it committed", err))
        return end_unknown(store);
    make_visible(store);
    store->outcome = MEMORY_OUTCOME_DONE;
    memory_store_mark_seen(store);
    if (memory_database_strikes(store->database, MEMORY_COMMIT_RESOLVED)) {
        store->seen.is_valid = false;
        *foreign = true;
        return STORE_OK;
    }
    maybe_write_foreign(store);
    *foreign = store->seen.commit != store->database->commit;
    write_stamp(stamp, store->database->commit);
    return STORE_OK;
}

bool store_rollback(struct store *store, struct store_stamp *stamp)
{
    check(store->is_open);
    store->is_open = false;
    bool holds = store->is_in_memory && !store->has_failed;
    store->outcome = holds ? MEMORY_OUTCOME_DONE : MEMORY_OUTCOME_FAILED;
    if (!holds) {
        memory_store_take_back(store);
        return false;
    }
    maybe_write_foreign(store);
    write_stamp(stamp, store->database->commit);
    return store->seen.commit == store->database->commit;
}

int64_t store_next_id(struct store *store, enum store_table table)
{
    check(store->is_open);
    return store->next_id[table]++;
}

bool store_is_current(const struct store *store, const struct store_stamp *stamp)
{
    struct store_stamp now;
    write_stamp(&now, store->database->commit);
    return !store->database->stamps_never_current &&
           memcmp(now.bytes, stamp->bytes, sizeof(now.bytes)) == 0;
}
