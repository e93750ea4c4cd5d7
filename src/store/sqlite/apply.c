/* Executes the changes of a batch as statements, in its transaction.
 *
 * The decision was made in memory; the database only has to agree. Generations change by
 * compare-and-swap, and a row to be changed must exist: if it does not, memory and database differ
 * and the next news are everything, once. A constraint fails because of rows that a load
 * left out (skipped.h) or that a foreign writer made: only the request is refused. Writer thread
 * only. */
#include <stdio.h>

#include "store/sqlite/internal.h"

static void bind_text(sqlite3_stmt *statement, int at, struct slice text)
{
    /* The list keeps the text beyond the step. */
    sqlite3_bind_text64(statement, at, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void bind_id(sqlite3_stmt *statement, int at, int64_t id)
{
    if (id == 0)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_int64(statement, at, id);
}

static void bind_provider(sqlite3_stmt *statement, bool is_root_only,
                          const struct change_provider *provider)
{
    sqlite3_bind_int64(statement, 3, provider->id);
    if (is_root_only)
        bind_id(statement, 4, provider->root_id);
    if (is_root_only || sqlite3_bind_parameter_count(statement) < 4)
        return;
    bind_text(statement, 4, provider->uuid);
    bind_text(statement, 5, provider->name);
    sqlite3_bind_int64(statement, 6, provider->generation);
    bind_id(statement, 7, provider->root_id);
    bind_id(statement, 8, provider->parent_id);
}

static void bind_inventory(sqlite3_stmt *statement, const struct change_inventory *inventory)
{
    sqlite3_bind_int64(statement, 3, inventory->provider_id);
    sqlite3_bind_int64(statement, 4, inventory->class_id);
    if (sqlite3_bind_parameter_count(statement) < 5)
        return;
    sqlite3_bind_int(statement, 5, inventory->total);
    sqlite3_bind_int(statement, 6, inventory->reserved);
    sqlite3_bind_int(statement, 7, inventory->min_unit);
    sqlite3_bind_int(statement, 8, inventory->max_unit);
    sqlite3_bind_int(statement, 9, inventory->step_size);
    sqlite3_bind_double(statement, 10, inventory->allocation_ratio);
}

static void bind_consumer(sqlite3_stmt *statement, int before, enum change_kind kind,
                          const struct change_consumer *consumer)
{
    sqlite3_bind_int64(statement, before + 3, consumer->id);
    if (kind == CHANGE_CONSUMER_DELETE)
        return;
    bind_text(statement, before + 4, consumer->uuid);
    sqlite3_bind_int64(statement, before + 5, consumer->project_id);
    sqlite3_bind_int64(statement, before + 6, consumer->user_id);
    sqlite3_bind_int64(statement, before + 7, consumer->generation);
    bind_id(statement, before + 8, consumer->type_id);
    if (kind == CHANGE_CONSUMER_UPDATE)
        sqlite3_bind_int64(statement, 9, consumer->expected_generation);
}

static void bind_allocation(sqlite3_stmt *statement, int before, enum change_kind kind,
                            const struct change_allocation *allocation)
{
    bind_id(statement, before + 3, allocation->id);
    bind_text(statement, before + 4, allocation->consumer_uuid);
    if (kind == CHANGE_ALLOCATIONS_OF_DELETE)
        return;
    sqlite3_bind_int64(statement, before + 5, allocation->provider_id);
    sqlite3_bind_int64(statement, before + 6, allocation->class_id);
    sqlite3_bind_int64(statement, before + 7, allocation->used);
}

/* The text is valid until the next change is bound. */
static void bind_instant(sqlite3_stmt *statement, int at, struct instant_text *text, int64_t us)
{
    if (us == 0) {
        sqlite3_bind_null(statement, at);
        return;
    }
    if (us != text->us) {
        instant_format(us, text->text);
        text->us = us;
    }
    sqlite3_bind_text(statement, at, text->text, INSTANT_LEN, SQLITE_STATIC);
}

/* `before`: the number of parameters before those of this row. */
static void bind_change(struct sqlite_store *store, sqlite3_stmt *statement, int before,
                        const struct change *change)
{
    if (record_table_of(change->kind) != NULL) {
        sqlite_bind_row(store, statement, change);
        return;
    }
    bind_instant(statement, before + 1, &store->created_at, change->created_at_us);
    bind_instant(statement, before + 2, &store->updated_at, change->updated_at_us);
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
    case CHANGE_CLASS_RENAME:
    case CHANGE_TRAIT_INSERT:
    case CHANGE_AGGREGATE_INSERT:
    case CHANGE_PROJECT_INSERT:
    case CHANGE_USER_INSERT:
    case CHANGE_CONSUMER_TYPE_INSERT:
        bind_text(statement, 4, change->catalog.name);
        sqlite3_bind_int64(statement, 3, change->catalog.id);
        return;
    case CHANGE_CLASS_DELETE:
    case CHANGE_TRAIT_DELETE:
        sqlite3_bind_int64(statement, 3, change->catalog.id);
        return;
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
        bind_provider(statement, change->is_root_only, &change->provider);
        return;
    case CHANGE_PROVIDER_GENERATION:
        sqlite3_bind_int64(statement, 3, change->generation.provider_id);
        sqlite3_bind_int64(statement, 4, change->generation.next);
        sqlite3_bind_int64(statement, 5, change->generation.expected);
        return;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        bind_inventory(statement, &change->inventory);
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        sqlite3_bind_int64(statement, 3, change->link.provider_id);
        sqlite3_bind_int64(statement, 4, change->link.other_id);
        return;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        bind_consumer(statement, before, change->kind, &change->consumer);
        return;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        bind_allocation(statement, before, change->kind, &change->allocation);
        return;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_DELETE:
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_NODE_ALLOCATION_DELETE:
    case CHANGE_VALET_CASES:
    case CHANGE_LOAD_PROVIDERS_END:
    case CHANGE_FOLLOW_PROVIDER_RESET:
    case CHANGE_FOLLOW_CONSUMER_RESET:
    case CHANGE_MERGE_CATALOG_PUT:
    case CHANGE_MERGE_CATALOG_DELETE:
    case CHANGE_KIND_COUNT:
        break;
    }
    check(false);
}

/* Memory has everything that the database contained when the transaction began, except the rows
 * that a load left out, and no other process has written since: memory is not wrong. */
static enum store_result refuse_constraint(struct sqlite_store *store)
{
    struct store_refusal *refusal = &store->refusal;
    int code = sqlite3_extended_errcode(store->writer.handle);
    const char *message = sqlite3_errmsg(store->writer.handle);
    const char *columns = strstr(message, "failed: ");
    *refusal = (struct store_refusal){.is_duplicate = code == SQLITE_CONSTRAINT_UNIQUE ||
                                                      code == SQLITE_CONSTRAINT_PRIMARYKEY ||
                                                      code == SQLITE_CONSTRAINT_ROWID};
    if (columns != NULL)
        snprintf(refusal->columns, sizeof(refusal->columns), "%s", columns + strlen("failed: "));
    return STORE_REFUSED;
}

/* Memory differs from the database, which a load corrects, unless the same row differed before:
 * then either it has been read again since, or reading cannot improve it. */
static enum store_result refuse_mismatch(struct sqlite_store *store, const struct change *change,
                                         struct err *err)
{
    struct mismatches *mismatches = &store->mismatches;
    /* Each kind of change begins with the id of a row. */
    struct mismatch mismatch = {change->kind, change->row.id};
    const size_t count = sizeof(mismatches->at) / sizeof(mismatches->at[0]);
    bool is_known = false;
    for (size_t i = 0; i < count; i++)
        is_known |= mismatches->at[i].kind == mismatch.kind && mismatches->at[i].id == mismatch.id;
    store->refusal = (struct store_refusal){.memory_is_wrong = !is_known};
    if (is_known) {
        err_set(err, 503, NULL, "the database '%s' no longer holds what was read from it",
                store->writer.path);
        return STORE_REFUSED;
    }
    mismatches->at[mismatches->next++ % count] = mismatch;
    mismatches->reads_again = true;
    store->followed.valid = false;
    err_set(err, 503, NULL,
            "the database '%s' no longer holds what was read from it; it is read again",
            store->writer.path);
    return STORE_REFUSED;
}

/* The statement's step was refused, or the store failed. */
static enum store_result refuse_step(struct sqlite_store *store)
{
    return (sqlite3_errcode(store->writer.handle) & 0xff) == SQLITE_CONSTRAINT
               ? refuse_constraint(store)
               : STORE_FAILED;
}

static int statement_of(const struct change *change)
{
    if (change->kind == CHANGE_PROVIDER_UPDATE && change->is_root_only)
        return STATEMENT_ROOT_SET;
    if (change->kind == CHANGE_CONSUMER_UPDATE && change->is_generation_only)
        return STATEMENT_CONSUMER_GENERATION;
    return STATEMENT_CHANGE + (int)change->kind;
}

static enum store_result apply_one(struct sqlite_store *store, const struct change *change,
                                   struct err *err)
{
    sqlite3_stmt *statement = sqlite_statement(store, statement_of(change), err);
    if (statement == NULL)
        return STORE_FAILED;
    bind_change(store, statement, 0, change);
    if (!sqlite_step(store, statement, err))
        return refuse_step(store);
    if (change->kind != CHANGE_ALLOCATIONS_OF_DELETE && sqlite3_changes(store->writer.handle) != 1)
        return refuse_mismatch(store, change, err);
    return STORE_OK;
}

/* Inserts the next STATEMENT_ROWS rows; *done: the number inserted. */
static enum store_result apply_many(struct sqlite_store *store, const struct change *changes,
                                    size_t *done, struct err *err)
{
    sqlite3_stmt *statement = sqlite_statement(store, STATEMENT_MANY + (int)changes->kind, err);
    if (statement == NULL)
        return STORE_FAILED;
    int parameters = sqlite3_bind_parameter_count(statement) / STATEMENT_ROWS;
    for (int i = 0; i < STATEMENT_ROWS; i++)
        bind_change(store, statement, i * parameters, &changes[i]);
    bool ok = sqlite_step(store, statement, err);
    *done = (size_t)sqlite3_changes(store->writer.handle);
    check(!ok || *done == STATEMENT_ROWS);
    return ok ? STORE_OK : refuse_step(store);
}

/* Whether the changes from `at` to `end` begin with STATEMENT_ROWS that can be one statement: they
 * have the same timestamps. */
static bool are_many(const struct change *changes, size_t at, size_t end)
{
    const struct change *first = &changes[at];
    if (!statement_has_many(first->kind) || end - at < STATEMENT_ROWS)
        return false;
    for (const struct change *next = first + 1; next < first + STATEMENT_ROWS; next++)
        if (next->kind != first->kind || next->created_at_us != first->created_at_us ||
            next->updated_at_us != first->updated_at_us)
            return false;
    return true;
}

static enum store_result apply_next(struct sqlite_store *store, const struct change *changes,
                                    size_t *at, size_t end, struct err *err)
{
    if (!are_many(changes, *at, end)) {
        enum store_result result = apply_one(store, &changes[*at], err);
        *at += result == STORE_OK ? 1 : 0;
        return result;
    }
    size_t done = 0;
    enum store_result result = apply_many(store, &changes[*at], &done, err);
    *at += done;
    return result;
}

enum store_result sqlite_apply(struct sqlite_store *store, const struct store_batch *batch,
                               struct err *err)
{
    size_t at = 0;
    for (size_t request = 0; request < batch->requests; request++)
        while (at < batch->ends[request]) {
            enum store_result result =
                apply_next(store, batch->changes, &at, batch->ends[request], err);
            if (result != STORE_OK) {
                store->refusal.request = request;
                store->refusal.change = at;
                return result;
            }
        }
    return STORE_OK;
}

const struct store_refusal *sqlite_why_refused(const struct sqlite_store *store)
{
    return &store->refusal;
}

bool sqlite_is_taken(const struct sqlite_store *store, enum change_kind kind, unsigned field,
                     struct slice text)
{
    return skipped_has(&store->skipped, kind, field, text);
}
