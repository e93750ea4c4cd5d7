/* Checks of every commit that are the same in all worlds. One thread. */
#include "model/capacity.h"
#include "model/node_allocation.h"
#include "sim.h"

/* An active allocation's consumer holds its bare metal node, which then is also reserved. */
static bool is_taken_node(const struct tables *tables, const struct change_inventory *inventory)
{
    const struct rows *held = &tables->rows[TABLE_ALLOCATIONS];
    const struct rows *active = &tables->rows[TABLE_NODE_ALLOCATIONS];
    for (uint32_t i = 0; i < held->count; i++) {
        const struct change_allocation *at = &held->row[i].image.allocation;
        if (at->provider_id != inventory->provider_id || at->class_id != inventory->class_id)
            continue;
        for (uint32_t k = 0; k < active->count; k++) {
            const struct node_allocation *row = node_allocation_of(active->row[k].image.row.record);
            if (slice_equal(node_allocation_text(row, NODE_ALLOCATION_UUID), at->consumer_uuid) &&
                node_allocation_text_is(row, NODE_ALLOCATION_STATE, "active"))
                return inventory->total == 1 && at->used == 1;
        }
    }
    return false;
}

void sim_check_capacity(const struct tables *before, const struct tables *after)
{
    const struct rows *rows = &after->rows[TABLE_INVENTORIES];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_inventory *row = &rows->row[i].image.inventory;
        struct inventory_figures figures = {row->total,    row->reserved,  row->min_unit,
                                            row->max_unit, row->step_size, row->allocation_ratio};
        int64_t used = tables_used(after, row->provider_id, row->class_id);
        bool is_altered =
            rows->row[i].birth > before->clock || rows->row[i].revision > before->clock;
        if (used > capacity_of(&figures) && !is_altered &&
            used > tables_used(before, row->provider_id, row->class_id) &&
            !(used == 1 && is_taken_node(after, row)))
            sim_fail("provider %lld, class %lld: %lld used of %lld", (long long)row->provider_id,
                     (long long)row->class_id, (long long)used, (long long)capacity_of(&figures));
    }
}

void sim_execute(struct tables *tables, const struct change *change)
{
    const char *broken = tables_execute(tables, change);
    if (broken != NULL)
        sim_constraint_broken(NULL, change, broken);
}

void sim_constraint_broken(void *cls, const struct change *change, const char *constraint)
{
    (void)cls;
    sim_fail("change %d breaks a constraint: %s", (int)change->kind, constraint);
}
