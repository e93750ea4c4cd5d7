/* One server of one VCPU, anywhere. This is the one place where the status comes to the planner. */
#include "api/valet/planner_check.h"

#include "replica/hosts.h"

static bool has_room(const struct host_marks *marks, const struct provider *provider,
                     struct class_no class_no)
{
    const struct provider_inventory *inventory = provider == NULL || !host_is(marks, provider)
                                                     ? NULL
                                                     : provider_inventory_of(provider, class_no);
    return inventory != NULL && capacity_headroom(&inventory->figures, inventory->used) > 0;
}

enum planner_state planner_check(const struct version *version, const struct conf_valet *valet,
                                 struct arena *arena, struct budget *budget, struct slice *message)
{
    const struct host_marks marks = host_marks_of(version);
    const struct catalog_row *vcpu = catalog_find(&version->classes, SLICE_LIT("VCPU"));
    (void)valet;
    (void)arena;
    *message = SLICE_LIT("ping");
    for (uint32_t slot = 0; vcpu != NULL && slot < version->slot_limit; slot++) {
        if (!budget_take(budget, 1))
            return PLANNER_EXPENSIVE;
        if (has_room(&marks, version_place(version, (struct slot_no){slot})->provider,
                     (struct class_no){vcpu->number}))
            return PLANNER_WORKS;
    }
    *message = SLICE_LIT("ping: no host has room");
    return PLANNER_WORKS;
}
