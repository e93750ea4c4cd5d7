/* The ids of new rows are those after the largest that the database contains. Writer thread, inside
 * its transaction. */
#include "store/sqlite/internal.h"

/* No counter reaches this value: another program wrote it, and further ids would overflow. */
static const int64_t ID_MAX = STORE_ID_MOST;

/* The largest id in a column that refers to rows of another table. */
#define REFERRED(column, table)                                                                    \
    "(SELECT ifnull(max(" column "), 0) FROM " table " WHERE typeof(" column ") = 'integer'"       \
    " AND " column " < 576460752303423487)"

bool sqlite_read_next_ids(struct sqlite_store *store, struct err *err)
{
    static const char *const max_id[STORE_TABLE_COUNT] = {
        [STORE_CLASSES] = "SELECT max(max(id), 9999) FROM resource_classes",
        [STORE_TRAITS] = "SELECT max(id) FROM traits",
        [STORE_AGGREGATES] = "SELECT max(id) FROM placement_aggregates",
        [STORE_PROJECTS] = "SELECT max(id) FROM projects",
        [STORE_USERS] = "SELECT max(id) FROM users",
        [STORE_CONSUMER_TYPES] = "SELECT max(id) FROM consumer_types",
        [STORE_PROVIDERS] = "SELECT max(id) FROM resource_providers",
        [STORE_CONSUMERS] = "SELECT max(id) FROM consumers",
        [STORE_ALLOCATIONS] = "SELECT max(id) FROM allocations",
        /* An allocation may still refer to a node whose row was removed by another program. */
        [STORE_NODES] = "SELECT max(ifnull(max(id), 0), " REFERRED(
            "node_id", "berth_node_allocations") ") FROM berth_nodes",
        [STORE_NODE_ALLOCATIONS] = "SELECT max(id) FROM berth_node_allocations",
        /* The same: rows may refer to others that were removed by another program. */
        [STORE_VALET + VALET_GROUPS] = "SELECT max(ifnull(max(id), 0), " REFERRED(
            "group_id",
            "berth_valet_members") ", " REFERRED("group_id",
                                                 "berth_valet_claims") ") FROM berth_valet_groups",
        [STORE_VALET + VALET_MEMBERS] = "SELECT max(id) FROM berth_valet_members",
        [STORE_VALET + VALET_CLAIMS] = "SELECT max(id) FROM berth_valet_claims",
        [STORE_VALET + VALET_PLANS] = "SELECT max(ifnull(max(id), 0), " REFERRED(
            "plan_id", "berth_valet_placements") ") FROM berth_valet_plans",
        [STORE_VALET + VALET_PLACEMENTS] = "SELECT max(id) FROM berth_valet_placements",
    };
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        int64_t id = 0;
        if (store->read_only &&
            table >= STORE_NODES) /* which may be missing; no ids are needed then */
            continue;
        if (!db_query_int(&store->writer, max_id[table], &id, err))
            return false;
        if (id > ID_MAX)
            return err_set(err, 503, NULL, "the database '%s' has run out of ids",
                           store->writer.path);
        if (store->skipped.referred[table] > id && store->skipped.referred[table] < ID_MAX)
            id = store->skipped.referred[table];
        int64_t next = id < 0 ? 1 : id + 1;
        /* Other services remember nodes by their ids for a while, so an id is never used again. */
        if (table < STORE_NODES || next > store->next_ids[table])
            store->next_ids[table] = next;
    }
    return true;
}

int64_t sqlite_next_id(struct sqlite_store *store, enum store_table table)
{
    return store->next_ids[table]++;
}

void sqlite_reuse_ids(struct sqlite_store *store)
{
    memcpy(store->next_ids, store->followed.next_ids, sizeof(store->next_ids));
}
