/* What a transaction of a memory store reads and writes: loads, merges, follows, and changes with
 * their constraints. */
#include "memory_store_internal.h"

#include <stdio.h>

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

void memory_store_mark_seen(struct store *store)
{
    tables_copy(&store->seen.tables, &store->database->tables);
    store->seen.commit = store->database->commit;
    store->seen.is_valid = true;
    store->is_in_memory = true;
}

static void copy_seen(struct memory_seen *to, const struct memory_seen *from)
{
    tables_copy(&to->tables, &from->tables);
    to->commit = from->commit;
    to->is_valid = from->is_valid;
}

static void mark_followed(struct store *store)
{
    copy_seen(&store->before, &store->seen);
    store->has_followed = true;
    store->must_load = false;
    memory_store_mark_seen(store);
}

void memory_store_take_back(struct store *store)
{
    if (!store->has_followed)
        return;
    copy_seen(&store->seen, &store->before);
    store->has_followed = false;
}

static void check_may_load(const struct store *store)
{
    check(store->is_open);
    check(store->begun == STORE_BEGIN_RELOAD || !store->database->loads_only_if_asked);
}

enum store_result store_load(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    check_may_load(store);
    bool fails = memory_database_strikes(store->database, MEMORY_READ_FAILS);
    struct cut cut = {sink, cls, fails ? draw_below(store, 60) : -1};
    tables_load(&store->tables, sink_cut, &cut);
    if (fails)
        return fail_reading(store, err);
    mark_followed(store);
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
    if (fails)
        return fail_reading(store, err);
    *merged = true;
    mark_followed(store);
    return STORE_OK;
}

enum store_result store_follow(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    check(store->is_open && store->begun == STORE_BEGIN_FOLLOW);
    bool fails = memory_database_strikes(store->database, MEMORY_READ_FAILS);
    struct cut cut = {sink, cls, fails ? draw_below(store, 8) : -1};
    check(tables_follow(&store->seen.tables, &store->tables, store->database->rng, sink_cut, &cut));
    if (fails)
        return fail_reading(store, err);
    mark_followed(store);
    return STORE_OK;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum store_result refuse(struct store *store, size_t at, const char *constraint,
                                struct err *err)
{
    store->refusal = (struct store_refusal){
        .change = at,
        .is_duplicate = begins_with(constraint, TABLES_UNIQUE),
        .memory_is_wrong = begins_with(constraint, TABLES_STALE),
    };
    store->must_load |= store->refusal.memory_is_wrong;
    snprintf(store->refusal.columns, sizeof(store->refusal.columns), "%s", constraint);
    err_set(err, 503, NULL, "the database in memory refuses a change: %s", constraint);
    return STORE_REFUSED;
}

static enum store_result execute(struct store *store, const struct change_list *changes, size_t at,
                                 struct err *err)
{
    const struct memory_database *database = store->database;
    const struct change *change = &changes->items[at];
    const char *broken = NULL;
    enum store_result own = database->constraint == NULL
                                ? STORE_OK
                                : database->constraint(database->cls, change, &broken);
    if (own == STORE_REFUSED)
        return refuse(store, at, broken, err);
    if (own == STORE_FAILED) {
        memory_store_fail(store, MEMORY_APPLY_FAILS, "cannot be written", err);
        return STORE_FAILED;
    }
    broken = tables_execute(&store->tables, change);
    if (broken == NULL)
        return STORE_OK;
    if (database->on_broken != NULL)
        database->on_broken(database->cls, change, broken);
    return refuse(store, at, broken, err);
}

enum store_result store_apply(struct store *store, const struct change_list *changes,
                              struct err *err)
{
    check(store->is_open && store->is_in_memory && !store->has_failed);
    check(store->intent == STORE_TO_WRITE);
    bool fails = memory_database_strikes(store->database, MEMORY_APPLY_FAILS);
    size_t count = fails ? (size_t)draw_below(store, (int)changes->count) : changes->count;
    enum store_result result = STORE_OK;
    for (size_t i = 0; i < count && result == STORE_OK; i++)
        result = execute(store, changes, i, err);
    if (result == STORE_OK && fails) {
        memory_store_fail(store, MEMORY_APPLY_FAILS, "cannot be written", err);
        result = STORE_FAILED;
    }
    store->has_failed = result != STORE_OK;
    return result;
}

const struct store_refusal *store_why_refused(const struct store *store)
{
    return &store->refusal;
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
    (void)store;
    (void)err;
    revision[0] = '\0';
    return true;
}

struct store_figures store_figures(const struct store *store)
{
    return (struct store_figures){.log_head = store->database->commit};
}

void store_upkeep(struct store *store)
{
    (void)store;
}
