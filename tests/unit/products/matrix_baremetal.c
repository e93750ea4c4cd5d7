/* See matrix.h: the planners of bare metal. One thread. */
#include "baremetal/write/node_rule.h"
#include "baremetal/write/node_write.h"
#include "products/matrix.h"
#include "replica/nodes.h"
#include "unit.h"

static const struct node *node_of_target(const struct target *target, const struct plan *plan)
{
    return version_node_by_uuid(plan->version, slice_of(target->node));
}

bool attempt_node_create(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    struct node_draft draft = metal_new_node("m9", "iron");
    const struct node *node;
    return plan_node_create(&draft, plan, &node, err);
}

bool attempt_node_update(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct node *before = node_of_target(target, plan);
    struct node_draft draft = node_draft_of(before);
    node_set_text(&draft, NODE_DESCRIPTION, SLICE_LIT("other words"));
    node_set_text(&draft, NODE_RESOURCE_CLASS, SLICE_LIT("steel"));
    const struct plan_node_update update = {
        .before = before, .after = &draft, .ident = slice_of(target->node)};
    const struct node *after;
    bool released;
    return plan_node_update_check(&update, plan, err) &&
           plan_node_update(&update, plan, &after, &released, err);
}

bool attempt_node_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_delete(node_of_target(target, plan), plan, err);
}

bool attempt_node_maintenance(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_maintenance(node_of_target(target, plan), true, (struct slice){0}, plan, err);
}

bool attempt_node_traits(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_traits(node_of_target(target, plan), SLICE_LIT("CUSTOM_U"), plan, err);
}

bool attempt_node_provision(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct node *node = node_of_target(target, plan);
    struct slice name = SLICE_LIT("manage");
    const struct node_verb_name *known = node_verb_find(name);
    const struct plan_node_verb verb = {known->verb, {0}};
    return plan_node_provision_check(node, name, known, plan, err) &&
           plan_node_provision(node, &verb, plan, err);
}

bool attempt_node_power(const struct target *target, const struct plan *plan, struct err *err)
{
    struct slice name = SLICE_LIT("power off");
    return plan_node_power(node_of_target(target, plan), slice_of(target->node), name,
                           node_power_verb_find(name), plan, err);
}

/* m4, which has not been mirrored to Placement: its next write adds al4's consumer. */
static const struct node *unmirrored_node(const struct plan *plan)
{
    return version_node_by_uuid(plan->version, SLICE_LIT("m4"));
}

void matrix_lock_node(void)
{
    matrix_cloud.metal.mirror = false;
    assert_true(metal_power(&matrix_cloud, "m4", "power off"));
    matrix_cloud.metal.mirror = true;
    matrix_cloud.world.now_us += 2 * matrix_cloud.metal.fake_delay_us;
}

bool attempt_node_advance(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_node_advance(unmirrored_node(plan)->record.id, plan, err);
}

/* By the next process. */
bool attempt_node_recover(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    const struct node *node = unmirrored_node(plan);
    matrix_cloud.metal.instance = SLICE_LIT("host boot 3 4");
    return plan_node_recover(node->record.id, node_time(node, NODE_DUE_AT), plan, err);
}

bool attempt_node_allocation_create(const struct target *target, const struct plan *plan,
                                    struct err *err)
{
    (void)target;
    const struct node_allocation_draft draft = metal_new_allocation("al9", "iron");
    const struct plan_node_allocation input = {
        .draft = &draft, .has_uuid = true, .has_class = true};
    return plan_node_allocation_create(&input, plan, &matrix_cloud.planned, err);
}

/* A backfill, which records an existing state. */
bool attempt_node_backfill(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct node_allocation_draft draft = metal_new_allocation("al9", NULL);
    const struct plan_node_allocation input = {
        .draft = &draft, .node = node_of_target(target, plan), .has_uuid = true};
    return plan_node_allocation_create(&input, plan, &matrix_cloud.planned, err);
}

static const struct node_allocation *first_allocation(const struct plan *plan)
{
    return version_node_allocation_by_uuid(plan->version, SLICE_LIT("al1"));
}

bool attempt_node_allocation_update(const struct target *target, const struct plan *plan,
                                    struct err *err)
{
    (void)target;
    struct node_allocation_draft draft = node_allocation_draft_of(first_allocation(plan));
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, SLICE_LIT("called"));
    const struct node_allocation *result;
    return plan_node_allocation_update(first_allocation(plan), &draft, plan, &result, err);
}

bool attempt_node_allocation_delete(const struct target *target, const struct plan *plan,
                                    struct err *err)
{
    (void)target;
    return plan_node_allocation_delete(first_allocation(plan), plan, err);
}

/* Of an allocation that is being allocated and fits only m2 and m3. */
bool attempt_node_allocation_decide(const struct target *target, const struct plan *plan,
                                    struct err *err)
{
    (void)target;
    struct node_choice choice = {0};
    bool tries_again;
    bool is_planned = plan_node_allocation_decide(
        version_node_allocation_by_uuid(plan->version, SLICE_LIT("waits"))->record.id, &choice,
        &tries_again, plan, err);
    node_choice_free(&choice);
    return is_planned;
}

bool attempt_mirror(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    int64_t id = version_node_by_uuid(plan->version, SLICE_LIT("m4"))->record.id;
    return node_write_mirror(id, plan, err);
}
