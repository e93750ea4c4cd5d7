/* Plans POST /resource_classes, PUT and DELETE /resource_classes/{name}. The names passed in must
 * have the form of custom classes. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_CLASSES_H
#define BERTH_PLACEMENT_WRITE_PLAN_CLASSES_H

#include "engine/plan.h"

bool plan_class_create(struct slice name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* Before 1.7: renames a custom class. */
bool plan_class_rename(struct slice name, struct slice new_name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* From 1.7: creates the class if it does not exist; *is_new: it did not exist. */
bool plan_class_ensure(struct slice name, const struct plan *plan, bool *is_new,
                       struct err *err) BERTH_MUST_CHECK;

/* Refuses standard classes and those that have inventory. */
bool plan_class_delete(struct slice name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
