/* Verbs and power: an action begins in one commit, with the lock and the time at which it ends; the
 * conductor writes the end in another. There is no hardware, so an action only takes time. Writer
 * thread only. */
#include "baremetal/write/plan_node_states.h"

#include "baremetal/write/node_rule.h"
#include "baremetal/write/node_write.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"
#include "replica/nodes.h"

static enum node_state state_of(const struct node *node)
{
    return node_state_find(node_text(node, NODE_PROVISION_STATE));
}

static void set_state(struct node_draft *draft, enum node_field field, enum node_state state)
{
    node_set_text(draft, field, node_state_text(state));
}

static void lock(struct node_draft *draft, const struct plan *plan)
{
    node_set_text(draft, NODE_RESERVATION, plan_metal(plan)->host);
    node_set_text(draft, NODE_OWNER_INSTANCE, plan_metal(plan)->instance);
    node_set_time(draft, NODE_DUE_AT, plan->now_us + plan_metal(plan)->fake_delay_us);
}

static void unlock(struct node_draft *draft)
{
    node_set_null(draft, NODE_RESERVATION);
    node_set_null(draft, NODE_OWNER_INSTANCE);
    node_set_null(draft, NODE_DUE_AT);
    node_set_null(draft, NODE_PASSING_TO);
    node_set_null(draft, NODE_PASSING_POWER);
    node_set_null(draft, NODE_PASSING_ERROR);
}

static void set_course(struct node_draft *draft, const struct node_course *course,
                       const struct plan *plan)
{
    set_state(draft, NODE_PROVISION_STATE, course->state);
    set_state(draft, NODE_TARGET_PROVISION_STATE, course->target);
    set_state(draft, NODE_PASSING_TO, course->to);
    node_set_time(draft, NODE_PROVISION_UPDATED_AT, plan->now_us);
    if (course->state == NODE_INSPECTING) {
        node_set_time(draft, NODE_INSPECTION_STARTED_AT, plan->now_us);
        node_set_null(draft, NODE_INSPECTION_FINISHED_AT);
    } else if (course->state == NODE_INSPECT_FAILED) {
        node_set_null(draft, NODE_INSPECTION_STARTED_AT);
    }
}

static bool refuse_action(struct slice action, struct slice node, struct slice state,
                          struct err *err)
{
    return err_set_join(err, 400, NULL, SLICE_LIT("The requested action \""), action,
                        SLICE_LIT("\" can not be performed on node \""), node,
                        SLICE_LIT("\" while it is in state \""),
                        state.data == NULL ? SLICE_LIT("None") : state, SLICE_LIT("\"."));
}

static bool refuse_maintenance(const struct node *node, struct err *err)
{
    return err_set(err, 400, NULL,
                   "The provisioning operation can't be performed on node %.*s because it's in "
                   "maintenance mode.",
                   SLICE_ARG(node_text(node, NODE_UUID)));
}

static bool refuse_protected(const struct node *node, struct err *err)
{
    return err_set(err, 403, NULL,
                   "Node %.*s is protected and cannot be undeployed, rebuilt or deleted",
                   SLICE_ARG(node_text(node, NODE_UUID)));
}

static bool refuse_retired(const struct node *node, struct err *err)
{
    return err_set(err, 400, NULL,
                   "The providing operation can't be performed on node %.*s because it is retired.",
                   SLICE_ARG(node_text(node, NODE_UUID)));
}

static enum node_answer plan_node_states_begin(const struct node *node, enum node_verb verb,
                                               bool maintenance, bool has_steps,
                                               struct node_course *course)
{
    const struct node_circumstances circumstances = {
        .maintenance = maintenance,
        .is_protected = node_bool(node, NODE_PROTECTED),
        .retired = node_bool(node, NODE_RETIRED),
        .has_steps = has_steps,
    };
    return node_machine_begin(state_of(node), verb, &circumstances, course);
}

bool plan_node_provision_check(const struct node *node, struct slice name,
                               const struct node_verb_name *verb, const struct plan *plan,
                               struct err *err)
{
    struct node_course course;
    bool maintenance = node_bool(node, NODE_MAINTENANCE);
    enum node_answer answer = NODE_REFUSED_STATE;
    if (verb != NULL)
        answer = plan_node_states_begin(node, verb->verb, maintenance, false, &course);
    if (answer == NODE_REFUSED_MAINTENANCE && slice_equal(name, SLICE_LIT("deploy")) &&
        plan_node_states_begin(node, verb->verb, false, false, &course) == NODE_REFUSED_STATE)
        answer = NODE_REFUSED_STATE; /* a verb of that name exists, so the state is the reason */
    if (answer == NODE_REFUSED_MAINTENANCE)
        return refuse_maintenance(node, err);
    if (answer != NODE_REFUSED_STATE)
        return true;
    if (plan_node_is_unlocked(node, plan, err))
        return refuse_action(name, node_text(node, NODE_UUID),
                             node_text(node, NODE_PROVISION_STATE), err);
    err->kind = REFUSED_OTHERWISE; /* waiting would not make it possible */
    return false;
}

bool plan_node_provision(const struct node *node, const struct plan_node_verb *verb,
                         const struct plan *plan, struct err *err)
{
    struct node_course course;
    if (!plan_node_is_unlocked(node, plan, err))
        return false;
    enum node_answer answer =
        plan_node_states_begin(node, verb->verb, node_bool(node, NODE_MAINTENANCE),
                               verb->clean_error.data != NULL, &course);
    if (answer == NODE_REFUSED_PROTECTED)
        return refuse_protected(node, err);
    if (answer == NODE_REFUSED_RETIRED)
        return refuse_retired(node, err);
    check(answer == NODE_AT_ONCE || answer == NODE_PASSES);
    struct node_draft draft = node_draft_of(node);
    struct node_write write = {.before = node, .after = &draft};
    set_course(&draft, &course, plan);
    if (node_machine_is_transient(course.state)) {
        node_set_null(&draft, NODE_LAST_ERROR);
        lock(&draft, plan);
    }
    if (course.to == NODE_CLEAN_FAILED)
        node_set_text(&draft, NODE_PASSING_ERROR, verb->clean_error);
    if (course.state == NODE_DELETING) {
        node_set_null(&draft, NODE_INSTANCE_INFO);
        node_set_null(&draft, NODE_INSTANCE_UUID);
        write.releases = version_node_allocation_of(plan->version, node->record.id);
    }
    return node_write(&write, plan, NULL, err);
}

bool plan_node_power(const struct node *node, struct slice ident, struct slice name,
                     const struct node_power_verb *verb, const struct plan *plan, struct err *err)
{
    if (verb == NULL)
        return refuse_action(name, ident, node_text(node, NODE_POWER_STATE), err);
    if (!node_state_lets_power(state_of(node)))
        return refuse_action(name, ident, node_text(node, NODE_PROVISION_STATE), err);
    if (!plan_node_is_unlocked(node, plan, err))
        return false;
    struct node_draft draft = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &draft};
    lock(&draft, plan);
    node_set_text(&draft, NODE_TARGET_POWER_STATE, node_power_text(verb->ends));
    node_set_text(&draft, NODE_PASSING_POWER, node_power_text(verb->ends));
    node_set_null(&draft, NODE_LAST_ERROR);
    return node_write(&write, plan, NULL, err);
}

static void end_power(const struct node *node, struct node_draft *draft)
{
    node_set_text(draft, NODE_POWER_STATE, node_text(node, NODE_PASSING_POWER));
    node_set_null(draft, NODE_TARGET_POWER_STATE);
    node_set_null(draft, NODE_LAST_ERROR);
    unlock(draft);
}

static void end_state(const struct node *node, struct node_draft *draft, const struct plan *plan)
{
    const struct node_course now = {
        .state = state_of(node),
        .target = node_state_find(node_text(node, NODE_TARGET_PROVISION_STATE)),
        .to = node_state_find(node_text(node, NODE_PASSING_TO)),
    };
    struct node_course next = node_machine_next(&now);
    set_course(draft, &next, plan);
    if (now.state == NODE_INSPECTING) {
        node_set_time(draft, NODE_INSPECTION_FINISHED_AT, plan->now_us);
        node_set_null(draft, NODE_INSPECTION_STARTED_AT);
    }
    if (!node_machine_is_transient(next.state))
        node_set_text(draft, NODE_LAST_ERROR, node_text(node, NODE_PASSING_ERROR));
    if (node_machine_is_transient(next.state))
        lock(draft, plan);
    else
        unlock(draft);
}

/* A time further away than any that is ever set comes from a clock that has since been set back. */
static bool is_over(const struct node *node, const struct plan *plan)
{
    int64_t left_us = node_time(node, NODE_DUE_AT) - plan->now_us;
    return left_us <= 0 || left_us > plan_metal(plan)->fake_delay_us + METAL_CLOCK_SLACK_US;
}

static bool is_ours(const struct node *node, const struct plan *plan)
{
    return slice_equal(node_text(node, NODE_OWNER_INSTANCE), plan_metal(plan)->instance);
}

bool plan_node_advance(int64_t id, const struct plan *plan, struct err *err)
{
    const struct node *node = version_node(plan->version, id);
    if (node == NULL || node_is_null(node, NODE_RESERVATION) || !is_ours(node, plan) ||
        !is_over(node, plan))
        return true;
    struct node_draft draft = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &draft};
    if (!node_is_null(node, NODE_PASSING_POWER))
        end_power(node, &draft);
    else if (node_machine_is_transient(state_of(node)))
        end_state(node, &draft, plan);
    else
        unlock(&draft);
    return node_write(&write, plan, NULL, err);
}

bool plan_node_recover(int64_t id, int64_t due_us, const struct plan *plan, struct err *err)
{
    const struct node *node = version_node(plan->version, id);
    if (node == NULL || node_is_null(node, NODE_RESERVATION) || is_ours(node, plan) ||
        node_time(node, NODE_DUE_AT) != due_us)
        return true;
    struct node_draft draft = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &draft};
    enum node_state state = state_of(node);
    if (!node_is_null(node, NODE_PASSING_POWER)) {
        node_set_null(&draft, NODE_TARGET_POWER_STATE);
        node_set_text(&draft, NODE_LAST_ERROR,
                      SLICE_LIT("Pending power operation was aborted due to conductor restart"));
    } else if (node_machine_is_transient(state)) {
        struct node_course course = node_machine_interrupted(state);
        set_course(&draft, &course, plan);
        node_set_text(&draft, NODE_LAST_ERROR,
                      arena_printf(plan->arena,
                                   "The %.*s state can't be resumed by conductor %.*s. Moving to "
                                   "fail state.",
                                   SLICE_ARG(node_state_text(state)),
                                   SLICE_ARG(plan_metal(plan)->host)));
    }
    unlock(&draft);
    return node_write(&write, plan, NULL, err);
}
