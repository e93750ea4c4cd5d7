/* Plans a batch: all requests one after the other, on one edit.
 *
 * Each request is planned on a version that contains everything planned before it. A refused
 * request leaves no change. Nothing is written: the changes are collected for the store
 * (planned.h). The writer only. */
#include "base/clock.h"
#include "engine/checked.h"
#include "engine/pipeline_internal.h"
#include "engine/write_limit.h"
#include "replica/apply.h"

/* One request, or what other processes' writes require. */
struct planning {
    struct plan plan;
    struct edit *edit;
    struct planned *planned;
    uint64_t rows; /* that it writes */
};

/* Applies the changes in the plan's list to memory, and collects them. Those that the checks have
 * appended, such as new generations, do not have the database's form yet. */
static void take_planned(struct planning *planning)
{
    struct change_list *changes = planning->plan.changes;
    for (size_t i = 0; i < changes->count; i++) {
        store_adapt(planning->plan.store, &changes->items[i]);
        apply_describe_put(planning->edit->version, &changes->items[i]);
        planned_add(planning->planned, &changes->items[i]);
        apply_change(planning->edit, &changes->items[i]);
    }
    apply_flush(planning->edit);
    changes->count = 0;
}

/* Whether the database gave an id to each new row, and can hold all values, which get the form that
 * they will have there. */
static bool can_be_stored(const struct plan *plan, struct err *err)
{
    bool can_be = !store_lacks_id(plan->store, err);
    for (size_t i = 0; i < plan->changes->count && can_be; i++) {
        store_adapt(plan->store, &plan->changes->items[i]);
        can_be = store_can_hold(plan->store, &plan->changes->items[i], err);
    }
    return can_be || err_of_kind(err, REFUSED_BY_DATABASE);
}

/* Applies the consequences of what was applied, step by step. */
static bool take_following(struct planning *planning, struct checked *checked, struct err *err)
{
    while (checked_follow(checked, &planning->plan)) {
        planning->rows += write_limit_changes(planning->plan.changes);
        if (!plan_rows_fit(planning->rows, planning->plan.max_rows, err) ||
            !can_be_stored(&planning->plan, err))
            return false;
        take_planned(planning);
    }
    return true;
}

/* Plans what other processes' writes still require. */
static bool make_up(struct planning *planning, struct err *err)
{
    struct checked checked;
    if (!checked_foreign(&checked, &planning->plan))
        return true;
    bool ok = take_following(planning, &checked, err);
    planned_end_request(planning->planned, NULL);
    return ok;
}

/* Runs the request's planner; the results of an earlier run are discarded. What cannot be stored
 * is refused, and no planner needs to know of it. */
static bool plan_once(struct pipeline_request *request, const struct plan *plan)
{
    plan->changes->count = 0;
    *plan->said = (struct plan_said){0};
    request->err = (struct err){.arena = request->err.arena};
    bool is_planned = request->plan(request, plan);
    check(is_planned || err_is_set(&request->err));
    struct err why = {.arena = request->err.arena};
    if (can_be_stored(plan, &why) || !is_planned)
        return is_planned;
    request->err = why;
    return false;
}

/* A request that has too many changes is refused without further checks. */
static bool plan_and_check(const struct pipeline *pipeline, struct pipeline_request *request,
                           struct planning *planning, struct checked *checked)
{
    const struct plan *plan = &planning->plan;
    if (pipeline->plans_twice)
        plan_once(request, plan);
    if (!plan_once(request, plan) ||
        !plan_rows_fit(plan->changes->count, request->max_rows, &request->err) ||
        !checked_planned(checked, plan, &request->err))
        return false;
    planning->rows = write_limit_rows(&checked->effects);
    return plan_rows_fit(planning->rows, request->max_rows, &request->err);
}

/* False: its consequences are too many, or cannot be stored, and the edit must be abandoned; err is
 * set. */
static bool plan_request(const struct pipeline *pipeline, struct pipeline_request *request,
                         struct planning *planning, struct err *err)
{
    struct checked checked;
    struct plan *plan = &planning->plan;
    plan->author = request->author;
    plan->max_rows = request->max_rows;
    plan->now_us = clock_wall_us();
    if (!plan_and_check(pipeline, request, planning, &checked))
        return true;
    planning->planned->must_commit |= plan->said->must_commit;
    if (plan->changes->count == 0)
        return true;
    take_planned(planning);
    bool ok = take_following(planning, &checked, err);
    planned_end_request(planning->planned, request);
    if (ok && request->applied != NULL)
        request->applied(request, plan);
    return ok;
}

static struct planning planning_of(const struct pipeline *pipeline, struct edit *edit,
                                   struct planned *planned, struct change_list *changes,
                                   struct plan_said *said)
{
    struct arena *arena = planned->changes.arena;
    *changes = (struct change_list){.arena = arena};
    *said = (struct plan_said){0};
    return (struct planning){
        .plan = {.version = edit->version,
                 .changes = changes,
                 .arena = arena,
                 .store = pipeline->store,
                 .rules = pipeline->rules,
                 .said = said,
                 .now_us = clock_wall_us()},
        .edit = edit,
        .planned = planned,
    };
}

bool planning_is_full(const struct pipeline *pipeline, const struct planned *planned)
{
    return planned->changes.count >= pipeline->changes_most;
}

static bool plan_all(const struct pipeline *pipeline, struct planning *planning,
                     struct pipeline_request *first, struct pipeline_request **end, struct err *err)
{
    for (struct pipeline_request *request = first; request != *end; request = request->next) {
        if (request != first && planning_is_full(pipeline, planning->planned)) {
            *end = request;
            return true;
        }
        if (!plan_request(pipeline, request, planning, err))
            return false;
    }
    return true;
}

bool planning_run(struct pipeline *pipeline, struct edit *edit, struct pipeline_request *first,
                  struct pipeline_request **end, struct planned *planned, struct err *err)
{
    struct change_list changes;
    struct plan_said said;
    struct planning planning = planning_of(pipeline, edit, planned, &changes, &said);
    store_reuse_ids(pipeline->store);
    return make_up(&planning, err) && plan_all(pipeline, &planning, first, end, err);
}

bool planning_continue(struct pipeline *pipeline, struct edit *edit, struct pipeline_request *first,
                       struct pipeline_request **end, struct planned *planned, struct err *err)
{
    struct change_list changes;
    struct plan_said said;
    struct planning planning = planning_of(pipeline, edit, planned, &changes, &said);
    return plan_all(pipeline, &planning, first, end, err);
}
