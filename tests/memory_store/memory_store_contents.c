/* What a memory store reads and writes: loads, merges, follows, and changes with their
 * constraints. */
#include "memory_store_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* Lets only so many records through; below 0: all. */
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

/* Below n, drawn; without a generator 0. */
static int draw_below(struct store *store, int n)
{
    struct rng *rng = store->database->rng;
    return rng == NULL ? 0 : rng_below(rng, n);
}

static enum store_result fail_reading(struct store *store, struct err *err)
{
    memory_store_fail(store, MEMORY_READ_FAILS, "cannot be read", err);
    return STORE_FAILED;
}

/* The next read may succeed. */
static bool is_ended(struct store *store, struct err *err)
{
    if (store->database->ended_reads == 0)
        return false;
    store->database->ended_reads--;
    return !err_set(err, 503, NULL, "the database in memory the read was ended");
}

void memory_store_mark_seen(struct store *store, uint64_t commit)
{
    tables_copy(&store->seen.tables, &store->tables);
    store->seen.commit = commit;
    store->seen.is_valid = true;
}

static void mark_read(struct store *store)
{
    check(!store->pending.is_there);
    store->must_load = store->went_back = false;
    memory_store_mark_seen(store, store->read_commit);
}

static void check_may_load(const struct store *store)
{
    check(store->is_reading);
    check(!store->database->checks_loads ||
          (!store->is_locked &&
           (store->news == STORE_NEWS_RELOAD || store->news == STORE_NEWS_WENT_BACK)));
}

enum store_result store_load(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    check_may_load(store);
    bool fails = memory_database_strikes(store->database, MEMORY_READ_FAILS);
    struct cut cut = {sink, cls, fails ? draw_below(store, 60) : -1};
    tables_load(&store->tables, sink_cut, &cut);
    if (is_ended(store, err))
        return STORE_TAKEN;
    if (fails)
        return fail_reading(store, err);
    mark_read(store);
    return STORE_OK;
}

enum store_result store_merge(struct store *store, const struct store_comparer *comparer,
                              store_sink *sink, void *cls, bool *merged, struct err *err)
{
    check_may_load(store);
    *merged = false;
    if (store->must_load || memory_database_strikes(store->database, MEMORY_MERGE_GIVEN_UP))
        return STORE_OK;
    bool fails = memory_database_strikes(store->database, MEMORY_READ_FAILS);
    tables_load(&store->tables, comparer->compare, comparer->cls);
    const struct differences *differences = comparer->end(comparer->cls);
    if (differences == NULL)
        return STORE_OK;
    struct cut cut = {sink, cls, fails ? draw_below(store, 8) : -1};
    tables_merge(&store->tables, differences, sink_cut, &cut);
    if (is_ended(store, err))
        return STORE_TAKEN;
    if (fails)
        return fail_reading(store, err);
    *merged = true;
    mark_read(store);
    return STORE_OK;
}

enum store_result store_follow(struct store *store, const struct memory_view *memory,
                               store_sink *sink, void *cls, struct err *err)
{
    (void)memory;
    check(store->is_reading && store->news == STORE_NEWS_FOLLOW);
    if (store->is_locked && store->database->overtakes > 0) {
        store->database->overtakes--;
        return STORE_TAKEN;
    }
    bool fails = memory_database_strikes(store->database, MEMORY_READ_FAILS);
    struct cut cut = {sink, cls, fails ? draw_below(store, 8) : -1};
    check(tables_follow(&store->seen.tables, &store->tables, store->database->rng, sink_cut, &cut));
    if (is_ended(store, err))
        return STORE_TAKEN;
    if (fails)
        return fail_reading(store, err);
    mark_read(store);
    return STORE_OK;
}

/* Everything is read from the database. */
bool store_follow_head(struct store *store, const struct store_stamp *head, store_sink *sink,
                       void *cls)
{
    (void)store;
    (void)head;
    (void)sink;
    (void)cls;
    return false;
}

bool store_take_head(struct store *store)
{
    (void)store;
    return false;
}

bool store_follows_foreign(const struct store *store)
{
    (void)store;
    return false;
}

/* ---- what a test has ---- */

bool store_suspect(struct store *store, enum entity entity, int64_t id, struct slice uuid)
{
    return store->observer != NULL && store->observer->suspect(store->cls, entity, id, uuid);
}

bool store_should_read(const struct store *store)
{
    (void)store;
    return false;
}

struct store_observer {
    struct store *store;
};

struct store_observer *store_observe(struct store *store, struct err *err)
{
    (void)err;
    if (store->observer == NULL)
        return NULL;
    struct store_observer *observer = calloc(1, sizeof(*observer));
    check(observer != NULL);
    observer->store = store;
    return observer;
}

void store_observer_free(struct store_observer *observer)
{
    free(observer);
}

void store_observer_stop(struct store_observer *observer)
{
    (void)observer;
}

bool store_observer_begin(struct store_observer *observer, struct store_stamp *stamp,
                          struct err *err)
{
    return observer->store->observer->begin(observer->store->cls, stamp, err);
}

void store_observer_end(struct store_observer *observer)
{
    observer->store->observer->end(observer->store->cls);
}

bool store_observer_examine(struct store_observer *observer, const struct store_examiner *examiner,
                            struct err *err)
{
    return observer->store->observer->examine(observer->store->cls, examiner, err);
}

bool store_observer_find(struct store_observer *observer, enum entity entity, const int64_t *ids,
                         size_t count, store_sink *sink, void *cls, struct err *err)
{
    const struct memory_wanted wanted = {entity, ids, count};
    return observer->store->observer->find(observer->store->cls, &wanted, sink, cls, err);
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum store_result refuse(struct store *store, size_t request, size_t at,
                                const char *constraint, struct err *err)
{
    store->refusal = (struct store_refusal){
        .request = store->database->names_no_culprit ? STORE_UNNAMED : request,
        .change = store->database->names_no_culprit ? STORE_UNNAMED : at,
        .is_duplicate = begins_with(constraint, TABLES_UNIQUE),
        .memory_is_wrong = begins_with(constraint, TABLES_STALE),
        .is_locked = begins_with(constraint, TABLES_LOCKED),
    };
    store->must_load |= store->refusal.memory_is_wrong;
    snprintf(store->refusal.columns, sizeof(store->refusal.columns), "%s", constraint);
    err_set(err, 503, NULL, "the database in memory refuses a change: %s", constraint);
    return STORE_REFUSED;
}

static enum store_result execute(struct store *store, const struct store_batch *batch,
                                 size_t request, size_t at, struct err *err)
{
    const struct memory_database *database = store->database;
    const struct change *change = &batch->changes[at];
    const char *broken = NULL;
    enum store_result own = database->constraint == NULL
                                ? STORE_OK
                                : database->constraint(database->cls, change, &broken);
    if (own == STORE_REFUSED)
        return refuse(store, request, at, broken, err);
    if (own == STORE_FAILED) {
        memory_store_fail(store, MEMORY_APPLY_FAILS, "cannot be written", err);
        return STORE_FAILED;
    }
    broken = tables_execute_planned(&store->tables, change);
    if (broken == NULL)
        return STORE_OK;
    if (database->on_broken != NULL)
        database->on_broken(database->cls, change, broken);
    return refuse(store, request, at, broken, err);
}

enum store_result memory_store_execute(struct store *store, const struct store_batch *batch,
                                       struct err *err)
{
    size_t all = batch->ends[batch->requests - 1];
    bool fails = memory_database_strikes(store->database, MEMORY_APPLY_FAILS);
    size_t count = fails ? (size_t)draw_below(store, (int)all) : all;
    enum store_result result = STORE_OK;
    size_t request = 0;
    for (size_t i = 0; i < count && result == STORE_OK; i++) {
        while (i >= batch->ends[request])
            request++;
        result = execute(store, batch, request, i, err);
    }
    if (result == STORE_OK && fails) {
        memory_store_fail(store, MEMORY_APPLY_FAILS, "cannot be written", err);
        result = STORE_FAILED;
    }
    return result;
}

const struct store_refusal *store_why_refused(const struct store *store)
{
    return &store->refusal;
}

/* Only the one of the test. */
bool store_find_alike(const struct store *store, enum change_kind insert, unsigned field,
                      struct slice text, struct store_alike *alike)
{
    const struct memory_database *database = store->database;
    *alike = database->alike.row;
    return database->alike.text.data != NULL && insert == database->alike.insert && field == 0 &&
           slice_equal(text, database->alike.text);
}

/* A load leaves no row out. */
bool store_is_taken(const struct store *store, enum change_kind kind, unsigned field,
                    struct slice text)
{
    (void)store;
    (void)kind;
    (void)field;
    (void)text;
    return false;
}

bool store_check_schema(struct store *store, char revision[static STORE_REVISION_BYTES],
                        struct err *err)
{
    check(store->is_reading);
    (void)err;
    revision[0] = '\0';
    return true;
}

struct store_going_back store_why_went_back(const struct store *store)
{
    return (struct store_going_back){.had = (int64_t)store->seen.commit,
                                     .has = (int64_t)store->read_commit,
                                     .database = SLICE_LIT("memory")};
}

struct store_server store_server(const struct store *store)
{
    (void)store;
    return (struct store_server){0};
}

struct store_figures store_figures(const struct store *store)
{
    return (struct store_figures){.log_head = store->database->commit};
}

void store_upkeep(struct store *store)
{
    (void)store;
}

/* It never waits. */
void store_set_meanwhile(struct store *store, const struct store_meanwhile *meanwhile)
{
    (void)store;
    (void)meanwhile;
}

void store_stop_queries(struct store *store)
{
    (void)store;
}
