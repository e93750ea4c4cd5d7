/* Databases that store_open() makes: one for each connection, shared and counted. One thread at a
 * time. */
#include <stdlib.h>

#include "memory_store_internal.h"
#include "store/standard.h"

struct memory_shared {
    struct memory_shared *next;
    unsigned stores;
    struct memory_database database;
    char connection[256];
};

static struct memory_shared *all;

static void insert(struct tables *tables, enum change_kind kind, int64_t id, const char *name)
{
    const struct change change = {.kind = kind, .catalog = {id, slice_of(name)}};
    check(tables_execute(tables, &change) == NULL);
}

static void insert_standard_names(struct memory_database *database)
{
    struct tables *tables = &database->tables;
    for (int c = 0; c < standard_class_names_count; c++)
        insert(tables, CHANGE_CLASS_INSERT, c, standard_class_names[c]);
    for (int t = 0; t < standard_trait_names_count; t++)
        insert(tables, CHANGE_TRAIT_INSERT, t + 1, standard_trait_names[t]);
    database->foreign_commit = ++database->commit;
}

static struct memory_shared *find(struct slice connection)
{
    for (struct memory_shared *at = all; at != NULL; at = at->next)
        if (slice_equal(slice_of(at->connection), connection))
            return at;
    return NULL;
}

static struct memory_shared *create(const struct store_options *options)
{
    struct memory_shared *shared = calloc(1, sizeof(*shared));
    check(shared != NULL && options->connection.len < sizeof(shared->connection));
    memcpy(shared->connection, options->connection.data, options->connection.len);
    memory_database_init(&shared->database);
    shared->database.faults.permille[MEMORY_COMMIT_PENDING] = MEMORY_ALWAYS;
    if (options->sync_schema)
        insert_standard_names(&shared->database);
    shared->next = all;
    return all = shared;
}

struct store *store_open(const struct store_options *options, struct err *err)
{
    (void)err;
    struct memory_shared *shared = find(options->connection);
    if (shared == NULL)
        shared = create(options);
    struct store *store = memory_store_open(&shared->database);
    store->shared = shared;
    shared->stores++;
    return store;
}

void memory_store_release(struct memory_shared *shared)
{
    struct memory_shared **at = &all;
    if (--shared->stores > 0)
        return;
    while (*at != shared)
        at = &(*at)->next;
    *at = shared->next;
    memory_database_free(&shared->database);
    free(shared);
}

bool store_knows_connection(struct slice connection, struct err *err)
{
    (void)connection;
    (void)err;
    return true;
}
