/* See record_tables.h. Constant. */
#include "store/record_tables.h"

#include "model/node.h"
#include "model/node_allocation.h"

#define VALET(table, text)                                                                         \
    [RECORD_TABLE_VALET +                                                                          \
        (table)] = {(text),                                                                        \
                    &VALET_SHAPES[table],                                                          \
                    (enum change_kind)(CHANGE_VALET_GROUP_PUT + 2 * (int)(table)),                 \
                    (enum change_kind)(CHANGE_VALET_GROUP_DELETE + 2 * (int)(table)),              \
                    (enum log_kind)(LOG_VALET + (int)(table)),                                     \
                    (enum store_table)(STORE_VALET + (int)(table))}

const struct record_table_info record_tables[RECORD_TABLE_COUNT] = {
    [RECORD_TABLE_NODES] = {"berth_nodes", &NODE_SHAPE, CHANGE_NODE_PUT, CHANGE_NODE_DELETE,
                            LOG_NODE, STORE_NODES},
    [RECORD_TABLE_NODE_ALLOCATIONS] = {"berth_node_allocations", &NODE_ALLOCATION_SHAPE,
                                       CHANGE_NODE_ALLOCATION_PUT, CHANGE_NODE_ALLOCATION_DELETE,
                                       LOG_NODE_ALLOCATION, STORE_NODE_ALLOCATIONS},
    VALET(VALET_GROUPS, "berth_valet_groups"),
    VALET(VALET_MEMBERS, "berth_valet_members"),
    VALET(VALET_CLAIMS, "berth_valet_claims"),
    VALET(VALET_PLANS, "berth_valet_plans"),
    VALET(VALET_PLACEMENTS, "berth_valet_placements"),
};

const struct record_table_info *record_table_of(enum change_kind kind)
{
    for (int i = 0; i < RECORD_TABLE_COUNT; i++)
        if (record_tables[i].put == kind || record_tables[i].delete == kind)
            return &record_tables[i];
    return NULL;
}
