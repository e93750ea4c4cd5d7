/* The catalog of traits. The writer only. */
#include "placement/write/plan_traits.h"

#include "base/arena.h"

bool plan_trait_put(struct slice name, const struct plan *plan, struct planned_trait *result,
                    struct err *err)
{
    (void)err;
    const struct catalog_row *row = catalog_find(&plan->version->traits, name);
    if (row != NULL) {
        *result = (struct planned_trait){.created_at_us = row->created_at_us};
        return true;
    }
    struct change *change = change_append(plan->changes, CHANGE_TRAIT_INSERT);
    change->created_at_us = plan->now_us;
    change->catalog = (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), name};
    *result = (struct planned_trait){.is_new = true, .created_at_us = plan->now_us};
    return true;
}

bool plan_trait_delete(struct slice name, const struct plan *plan, struct err *err)
{
    const struct catalog *catalog = &plan->version->traits;
    const struct catalog_row *row = catalog_find(catalog, name);
    if (row == NULL)
        return err_set_join(err, 404, NULL, SLICE_LIT("No such trait(s): "), name, SLICE_LIT("."));
    if (!slice_starts_with(name, SLICE_LIT("CUSTOM_")))
        return err_set_join(err, 400, NULL, SLICE_LIT("Cannot delete standard trait "), name,
                            SLICE_LIT("."));
    if (catalog_at(catalog, row->number)->slots.count > 0)
        return err_set_join(err, 409, NULL, SLICE_LIT("The trait "), name,
                            SLICE_LIT(" is in use by a resource provider."));
    change_append(plan->changes, CHANGE_TRAIT_DELETE)->catalog =
        (struct change_catalog){row->id, name};
    return true;
}
