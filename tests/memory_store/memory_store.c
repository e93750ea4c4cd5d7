/* Reads, locks and commits of a memory store. Reads and commits work on a copy of the committed
 * tables; a commit makes its copy the committed ones. */
#include "memory_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

#include "memory_store_internal.h"

struct store *memory_store_open(struct memory_database *database)
{
    struct store *store = calloc(1, sizeof(*store));
    check(store != NULL);
    store->database = database;
    store->descriptor = -1;
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

static bool draws(const struct store *store)
{
    return store->database->rng != NULL && rng_below(store->database->rng, 2) == 0;
}

int64_t store_next_id(struct store *store, enum store_table table)
{
    int64_t most = store->database->most_id;
    store->lacks_id |= most != 0 && store->next_id[table] > most;
    store->lacks_id |= store->is_at_once && store->lacks_at_once;
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

void store_adapt(const struct store *store, struct change *change)
{
    enum { SECOND_US = 1000000 };
    if (!store->database->has_whole_seconds)
        return;
    change->created_at_us -= change->created_at_us % SECOND_US;
    change->updated_at_us -= change->updated_at_us % SECOND_US;
}

bool store_can_hold(const struct store *store, const struct change *change, struct err *err)
{
    const char *cannot_hold = store->database->cannot_hold;
    if (cannot_hold == NULL || change->kind > CHANGE_CONSUMER_TYPE_INSERT ||
        !slice_equal(change->catalog.name, slice_of(cannot_hold)))
        return true;
    return err_set(err, 400, NULL, "the database in memory cannot hold %s", cannot_hold);
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

static void set_outcome(struct store *store, enum memory_outcome outcome)
{
    if (!store->pending.is_there)
        store->outcome = outcome;
}

enum store_news store_begin_read(struct store *store, struct err *err)
{
    check(!store->is_reading);
    store->reads++;
    set_outcome(store, MEMORY_OUTCOME_FAILED);
    if (memory_store_fails(store, MEMORY_BEGIN_READ_FAILS, "begins no read", err))
        return STORE_NEWS_FAILED;
    memory_store_meet_others(store);
    take_snapshot(store);
    if (!store->pending.is_there)
        read_next_ids(store);
    store->is_reading = true;
    set_outcome(store, MEMORY_OUTCOME_OPEN);
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
    set_outcome(store, holds ? MEMORY_OUTCOME_DONE : MEMORY_OUTCOME_FAILED);
    memory_store_meet_others(store);
    memory_store_write_stamp(stamp, store->read_commit);
    return holds && store->read_commit == store->database->commit;
}

struct store_turn store_turn(const struct store *store)
{
    struct memory_database *database = store->database;
    return database->turn == NULL ? (struct store_turn){0} : database->turn(database->cls);
}

bool store_locks_first(const struct store *store)
{
    struct memory_database *database = store->database;
    if (database->lock_order == MEMORY_LOCKS_AT_TIMES)
        return database->rng != NULL && rng_below(database->rng, 2) == 0;
    return database->lock_order == MEMORY_LOCKS_FIRST;
}

bool store_reads_first(const struct store *store)
{
    return store->database->reads_first;
}

enum store_lock store_lock(struct store *store, struct err *err)
{
    check(!store->is_locked && !store->is_reading && !store->pending.is_there);
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
    if (draws(store))
        make_visible(store);
    return STORE_UNKNOWN;
}

/* The batch reaches the database. */
static enum store_result execute(struct store *store, struct err *err)
{
    struct memory_pending *pending = &store->pending;
    take_snapshot(store);
    if (!is_in_memory(store)) {
        err_set(err, 503, NULL, "the database in memory is always taken");
        return STORE_TAKEN;
    }
    pending->commit = store->read_commit;
    if (pending->batch.requests == 0 || pending->batch.ends[pending->batch.requests - 1] == 0)
        return STORE_OK;
    if (store->before_commit != NULL)
        store->before_commit(store->cls);
    enum store_result result = memory_store_execute(store, &pending->batch, err);
    if (result != STORE_OK)
        return result;
    if (memory_store_fails(store, MEMORY_COMMIT_FAILS, "cannot commit", err))
        return STORE_FAILED;
    store->is_dead = memory_store_fails(store, MEMORY_DIES, "is gone", err);
    if (store->is_dead ||
        memory_store_fails(store, MEMORY_COMMIT_UNKNOWN, "cannot tell whether it committed", err))
        return end_unknown(store);
    make_visible(store);
    pending->commit = store->database->commit;
    tables_copy(&pending->tables, &store->tables);
    return STORE_OK;
}

static void end_done(struct store *store, struct store_stamp *stamp, bool *foreign)
{
    const struct memory_pending *pending = &store->pending;
    store->outcome = MEMORY_OUTCOME_DONE;
    memory_store_write_stamp(stamp, pending->commit);
    *foreign = false;
    if (pending->commit == store->seen.commit)
        return;
    tables_copy(&store->seen.tables, &pending->tables);
    store->seen.commit = pending->commit;
    if (memory_database_strikes(store->database, MEMORY_COMMIT_RESOLVED)) {
        store->seen.is_valid = false;
        *foreign = true;
        return;
    }
    memory_store_meet_others(store);
    *foreign = store->seen.commit != store->database->commit;
}

/* The result of a batch that has reached the database arrives. Ids that it may have used are not
 * given out again. */
static enum store_result end_batch(struct store *store, struct store_stamp *stamp, bool *foreign)
{
    struct memory_pending *pending = &store->pending;
    enum store_result result = pending->result;
    pending->is_there = false;
    store->outcome = MEMORY_OUTCOME_FAILED;
    if (result == STORE_OK) {
        end_done(store, stamp, foreign);
    } else if (result == STORE_UNKNOWN) {
        store->outcome = MEMORY_OUTCOME_UNKNOWN;
        store->seen.is_valid = false;
    } else {
        memcpy(store->first_id, store->ids_before, sizeof(store->first_id));
    }
    return result;
}

enum store_result store_await(struct store *store, uint64_t until_us, struct store_stamp *stamp,
                              bool *foreign, struct err *err)
{
    struct memory_pending *pending = &store->pending;
    (void)until_us;
    check(pending->is_there && !store->is_reading);
    memory_store_meet_others(store);
    bool is_late =
        store->still_pending != NULL ? store->still_pending(store->cls) : pending->awaits-- > 0;
    bool is_ending = !is_late || pending->is_given_up;
    if (pending->is_executed && pending->reason[0] != '\0')
        err_set(err, 503, NULL, "%s", pending->reason);
    if (!pending->is_executed && (is_ending || draws(store))) {
        pending->is_executed = true;
        pending->result = execute(store, err);
        is_ending |= store->is_dead;
    }
    return is_ending ? end_batch(store, stamp, foreign) : STORE_PENDING;
}

bool store_begin_at_once(struct store *store)
{
    check(!store->is_reading && !store->is_locked && !store->pending.is_there);
    store->is_at_once = store->does_at_once;
    return store->is_at_once;
}

void store_end_at_once(struct store *store)
{
    store->is_at_once = false;
}

int store_pending_descriptor(const struct store *store)
{
    return store->pending.is_there && store->pending.reason[0] == '\0' ? store->descriptor : -1;
}

enum store_received store_receive(struct store *store, struct store_stamp *stamp, bool *foreign)
{
    struct memory_pending *pending = &store->pending;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    check(pending->is_there && !store->is_reading);
    memory_store_meet_others(store);
    bool is_late =
        store->still_pending != NULL ? store->still_pending(store->cls) : pending->awaits-- > 0;
    if (!is_late && !pending->is_executed) {
        pending->is_executed = true;
        pending->result = execute(store, &err);
        snprintf(pending->reason, sizeof(pending->reason), "%.*s", SLICE_ARG(err.message));
    }
    arena_destroy(arena);
    if (is_late)
        return STORE_RECEIVED_PART;
    if (pending->result != STORE_OK) {
        pending->awaits = 0;
        return STORE_RECEIVED_OTHER;
    }
    (void)end_batch(store, stamp, foreign);
    return STORE_RECEIVED_COMMIT;
}

void store_give_up(struct store *store)
{
    store->pending.is_given_up = true;
}

enum store_result store_commit(struct store *store, const struct store_batch *batch,
                               struct store_stamp *stamp, bool *foreign, struct err *err)
{
    struct memory_pending *pending = &store->pending;
    check(!store->is_reading && !pending->is_there);
    store->commits++;
    if (memory_store_fails(store, MEMORY_COMMIT_BEGIN_FAILS, "begins no transaction", err)) {
        store->outcome = MEMORY_OUTCOME_FAILED;
        store->is_locked = false;
        return STORE_FAILED;
    }
    memory_store_meet_others(store);
    store->is_locked = false;
    memcpy(store->ids_before, store->first_id, sizeof(store->ids_before));
    memcpy(store->first_id, store->next_id, sizeof(store->first_id));
    pending->is_there = true;
    pending->batch = *batch;
    pending->plan = store->plans;
    pending->is_executed = pending->is_given_up = false;
    pending->awaits = 0;
    pending->reason[0] = '\0';
    if (memory_database_strikes(store->database, MEMORY_COMMIT_PENDING)) {
        pending->awaits =
            store->database->rng == NULL ? 1 : 1 + (unsigned)rng_below(store->database->rng, 6);
        return STORE_PENDING;
    }
    pending->is_executed = true;
    pending->result = execute(store, err);
    return end_batch(store, stamp, foreign);
}
