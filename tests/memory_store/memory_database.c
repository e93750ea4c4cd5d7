/* See memory_database.h. */
#include "memory_database.h"

const char *const MEMORY_FAULT_NAMES[MEMORY_FAULT_COUNT] = {
    [MEMORY_BEGIN_READ_FAILS] = "begin_read_fails",
    [MEMORY_LOCK_FAILS] = "lock_fails",
    [MEMORY_LOCK_HELD] = "lock_held",
    [MEMORY_COMMIT_BEGIN_FAILS] = "commit_begin_fails",
    [MEMORY_READ_FAILS] = "read_fails",
    [MEMORY_APPLY_FAILS] = "apply_fails",
    [MEMORY_COMMIT_FAILS] = "commit_fails",
    [MEMORY_COMMIT_UNKNOWN] = "commit_unknown",
    [MEMORY_COMMIT_RESOLVED] = "commit_resolved",
    [MEMORY_COMMIT_PENDING] = "commit_pending",
    [MEMORY_DIES] = "dies",
    [MEMORY_FOREIGN_WRITE] = "foreign_write",
    [MEMORY_LOG_TRIMMED] = "log_trimmed",
    [MEMORY_MERGE_GIVEN_UP] = "merge_given_up",
    [MEMORY_QUERY_FAILS] = "query_fails",
    [MEMORY_IDS_REUSED] = "ids_reused",
};

const enum table MEMORY_TABLE_OF[STORE_TABLE_COUNT] = {
    [STORE_CLASSES] = TABLE_CLASSES,
    [STORE_TRAITS] = TABLE_TRAITS,
    [STORE_AGGREGATES] = TABLE_AGGREGATES,
    [STORE_PROJECTS] = TABLE_PROJECTS,
    [STORE_USERS] = TABLE_USERS,
    [STORE_CONSUMER_TYPES] = TABLE_TYPES,
    [STORE_PROVIDERS] = TABLE_PROVIDERS,
    [STORE_CONSUMERS] = TABLE_CONSUMERS,
    [STORE_ALLOCATIONS] = TABLE_ALLOCATIONS,
    [STORE_NODES] = TABLE_NODES,
    [STORE_NODE_ALLOCATIONS] = TABLE_NODE_ALLOCATIONS,
    [STORE_VALET + VALET_GROUPS] = TABLE_VALET + VALET_GROUPS,
    [STORE_VALET + VALET_MEMBERS] = TABLE_VALET + VALET_MEMBERS,
    [STORE_VALET + VALET_CLAIMS] = TABLE_VALET + VALET_CLAIMS,
    [STORE_VALET + VALET_PLANS] = TABLE_VALET + VALET_PLANS,
    [STORE_VALET + VALET_PLACEMENTS] = TABLE_VALET + VALET_PLACEMENTS,
};

void memory_database_init(struct memory_database *database)
{
    database->tables.texts = &database->texts;
}

void memory_database_free(struct memory_database *database)
{
    texts_free(&database->texts);
}

void memory_database_commit(struct memory_database *database, const struct tables *tables)
{
    tables_copy(&database->tables, tables);
    database->commit++;
    for (int t = 0; t < STORE_TABLE_COUNT; t++) {
        int64_t highest = tables_highest_id(tables, MEMORY_TABLE_OF[t]);
        if (highest > database->highest_id[t])
            database->highest_id[t] = highest;
    }
    if (database->on_state != NULL)
        database->on_state(database->cls, database);
}

void memory_database_commit_foreign(struct memory_database *database, const struct tables *tables)
{
    memory_database_commit(database, tables);
    database->foreign_commit = database->commit;
}

bool memory_database_strikes(struct memory_database *database, enum memory_fault fault)
{
    int permille = database->faults.permille[fault];
    if (database->quiet)
        return false;
    return database->rng == NULL ? permille > 0 : rng_permille(database->rng, permille);
}

int64_t memory_free_id(const struct tables *tables, enum table table, int64_t least)
{
    int64_t id = tables_highest_id(tables, table) + 1;
    return id < least ? least : id;
}
