/* Plans the writes of exclusivity groups and of their members (Valet spec, section 4). Groups are
 * named by uuid; one deleted in the meantime is a 404. */
#ifndef BERTH_VALET_WRITE_PLAN_GROUPS_H
#define BERTH_VALET_WRITE_PLAN_GROUPS_H

#include "engine/plan.h"
#include "model/valet.h"

struct plan_group {
    struct slice uuid; /* new */
    struct slice name;
    struct slice description;
};

/* 400 if another group has the name. */
bool plan_group_create(const struct plan_group *group, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

bool plan_group_describe(struct slice uuid, struct slice description, const struct plan *plan,
                         struct err *err) BERTH_MUST_CHECK;

/* 409 if it has members. Also deletes the links to its aggregate, which increments each provider's
 * generation, and its claims. */
bool plan_group_delete(struct slice uuid, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

enum { PLAN_GROUP_MEMBERS_MAX = 10000 };

/* Adds the projects that are not members yet; *added lists them, in the plan's arena, in order. 400
 * if there would be more than PLAN_GROUP_MEMBERS_MAX. */
struct planned_members {
    const struct slice *added;
    size_t count;
};
bool plan_group_add_members(struct slice uuid, const struct slice *projects, size_t count,
                            const struct plan *plan, struct planned_members *planned,
                            struct err *err) BERTH_MUST_CHECK;

/* Removes one member, which must exist (404), or, with data == NULL, all. 409 while one of them
 * holds something on a host of the group. */
bool plan_group_remove_members(struct slice uuid, struct slice project, const struct plan *plan,
                               struct err *err) BERTH_MUST_CHECK;

#endif
