/* One server of one VCPU, anywhere. This is the one place where the status comes to the planner. */
#include "api/valet/planner_check.h"

#include "replica/hosts.h"

/* The first host, in the order of their slots, with so much left of the class. */
static const struct provider *find_host(const struct version *version, struct class_no class_no)
{
    const struct host_marks marks = host_marks_of(version);
    for (uint32_t slot = 0; slot < version->slot_limit; slot++) {
        const struct provider *provider = version_place(version, (struct slot_no){slot})->provider;
        if (provider == NULL || !host_is(&marks, provider))
            continue;
        const struct provider_inventory *inventory = provider_inventory_of(provider, class_no);
        if (inventory != NULL && capacity_headroom(&inventory->figures, inventory->used) > 0)
            return provider;
    }
    return NULL;
}

bool planner_check(const struct version *version, const struct conf_valet *valet,
                   struct arena *arena, struct slice *message)
{
    const struct catalog_row *vcpu = catalog_find(&version->classes, SLICE_LIT("VCPU"));
    const struct provider *host =
        vcpu == NULL ? NULL : find_host(version, (struct class_no){vcpu->number});
    (void)valet;
    (void)arena;
    *message = host == NULL ? SLICE_LIT("ping: no host has room") : SLICE_LIT("ping");
    return true;
}
