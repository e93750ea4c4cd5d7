/* The catalog of resource classes; classes with an id below FIRST_CUSTOM_ID are standard and cannot
 * be changed. The writer only. */
#include "placement/write/plan_classes.h"

#include "base/arena.h"

enum { FIRST_CUSTOM_ID = 10000 };

static bool plan_classes_refuse_unknown(struct slice name, struct err *err)
{
    return err_set_join(err, 404, NULL, SLICE_LIT("No such resource class "), name, SLICE_LIT("."));
}

static void append_insert(struct slice name, const struct plan *plan)
{
    struct change *change = change_append(plan->changes, CHANGE_CLASS_INSERT);
    change->created_at_us = plan->now_us;
    change->catalog = (struct change_catalog){store_next_id(plan->store, STORE_CLASSES), name};
}

bool plan_class_create(struct slice name, const struct plan *plan, struct err *err)
{
    if (catalog_find(&plan->version->classes, name) != NULL)
        return err_set_join(err, 409, NULL,
                            SLICE_LIT("Conflicting resource class already exists: "), name);
    append_insert(name, plan);
    return true;
}

bool plan_class_rename(struct slice name, struct slice new_name, const struct plan *plan,
                       struct err *err)
{
    const struct catalog *catalog = &plan->version->classes;
    const struct catalog_row *row = catalog_find(catalog, name);
    if (row == NULL)
        return plan_classes_refuse_unknown(name, err);
    if (row->id < FIRST_CUSTOM_ID)
        return err_set_join(err, 400, NULL, SLICE_LIT("Cannot update standard resource class "),
                            name);
    if (slice_equal(name, new_name))
        return true;
    if (catalog_find(catalog, new_name) != NULL)
        return err_set_join(err, 409, NULL, SLICE_LIT("Resource class already exists: "), new_name);
    struct change *change = change_append(plan->changes, CHANGE_CLASS_RENAME);
    change->updated_at_us = plan->now_us;
    change->renamed = (struct change_renamed){.row = {row->id, new_name}, .before = name};
    return true;
}

bool plan_class_ensure(struct slice name, const struct plan *plan, bool *is_new, struct err *err)
{
    (void)err;
    *is_new = catalog_find(&plan->version->classes, name) == NULL;
    if (*is_new)
        append_insert(name, plan);
    return true;
}

/* Also true for a class without inventory whose inventory another program has deleted. */
static bool is_allocated(const struct version *version, uint32_t class_number)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    ptree_seek(&version->consumers, 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        for (uint32_t i = 0; i < consumer->allocation_count; i++)
            if (consumer->allocation[i].class_no.v == class_number)
                return true;
    }
    return false;
}

bool plan_class_delete(struct slice name, const struct plan *plan, struct err *err)
{
    const struct catalog_row *row = catalog_find(&plan->version->classes, name);
    if (row == NULL)
        return plan_classes_refuse_unknown(name, err);
    if (row->id < FIRST_CUSTOM_ID)
        return err_set_join(err, 400, NULL,
                            SLICE_LIT("Error in delete resource class: Cannot delete standard "
                                      "resource class "),
                            name, SLICE_LIT("."));
    if (version_column(plan->version, (struct class_no){row->number})->holders.count > 0 ||
        is_allocated(plan->version, row->number))
        return err_set_join(
            err, 409, NULL,
            SLICE_LIT("Error in delete resource class: Cannot delete resource class "), name,
            SLICE_LIT(". Class is in use in inventory."));
    change_append(plan->changes, CHANGE_CLASS_DELETE)->catalog =
        (struct change_catalog){row->id, name};
    return true;
}
