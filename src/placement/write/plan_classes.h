/* Plans POST /resource_classes, PUT and DELETE /resource_classes/{name}. Names that are given have
 * the form of custom classes. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_CLASSES_H
#define BERTH_PLACEMENT_WRITE_PLAN_CLASSES_H

#include "engine/plan.h"

bool plan_class_create(struct slice name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* Before 1.7: another name for a custom class. */
bool plan_class_rename(struct slice name, struct slice new_name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* From 1.7: creates the class if it does not exist; *is_new says whether it did. */
bool plan_class_ensure(struct slice name, const struct plan *plan, bool *is_new,
                       struct err *err) BERTH_MUST_CHECK;

/* Refuses standard classes and those of which there is inventory. */
bool plan_class_delete(struct slice name, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
