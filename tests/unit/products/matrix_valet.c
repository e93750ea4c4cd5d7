/* See matrix.h: Valet's planners. One thread. */
#include "products/matrix.h"
#include "replica/valet.h"
#include "unit.h"
#include "valet/state/placement_location.h"
#include "valet/write/plan_groups.h"
#include "valet/write/plan_stacks.h"
#include "valet/write/valet_rule.h"

bool attempt_group_create(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    const struct plan_group group = {SLICE_LIT("silver"), SLICE_LIT("silver"), SLICE_LIT("")};
    return plan_group_create(&group, plan, err);
}

bool attempt_group_describe(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_group_describe(SLICE_LIT("gold"), SLICE_LIT("other words"), plan, err);
}

bool attempt_group_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_group_delete(SLICE_LIT("gold"), plan, err);
}

bool attempt_group_add_members(const struct target *target, const struct plan *plan,
                               struct err *err)
{
    const struct slice project = slice_of(target->project);
    struct planned_members planned;
    return plan_group_add_members(SLICE_LIT("gold"), &project, 1, plan, &planned, err);
}

bool attempt_group_remove_members(const struct target *target, const struct plan *plan,
                                  struct err *err)
{
    (void)target;
    return plan_group_remove_members(SLICE_LIT("gold"), SLICE_LIT("friend"), plan, err);
}

bool attempt_group_remove_guest(const struct target *target, const struct plan *plan,
                                struct err *err)
{
    (void)target;
    return plan_group_remove_members(SLICE_LIT("gold"), SLICE_LIT("guest"), plan, err);
}

static int64_t gold_id(void)
{
    const struct version *version = matrix_cloud.world.edit->version;
    return version_valet_group_by_name(version, SLICE_LIT("gold"))->record.id;
}

void matrix_drop_member(void)
{
    matrix_cloud.world.author = &valet_rule;
    struct plan plan = metal_plan(&matrix_cloud);
    const struct valet_member *member = version_next_valet_member(plan.version, gold_id(), 0);
    change_delete_valet(plan.changes, VALET_MEMBERS, member->record.id);
    assert_true(world_conclude(&matrix_cloud.world, true));
}

void matrix_add_guest(void)
{
    struct record_value member[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], member);
    member[VALET_MEMBER_GROUP_ID].number = gold_id();
    member[VALET_MEMBER_PROJECT].text = SLICE_LIT("guest");
    cloud_put_row(&matrix_cloud, VALET_MEMBERS, member);
}

static const struct valet_plan *new_plan(const struct target *target, const struct plan *plan)
{
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLANS], values);
    values[VALET_PLAN_UUID].text = values[VALET_PLAN_NAME].text = SLICE_LIT("second");
    values[VALET_PLAN_STACK_ID].text = SLICE_LIT("second");
    values[VALET_PLAN_PROJECT].text = slice_of(target->project);
    values[VALET_PLAN_USER].text = SLICE_LIT("user");
    return (const struct valet_plan *)record_pack(&VALET_SHAPES[VALET_PLANS], 0, values,
                                                  plan->arena);
}

/* A placement whose hold is what the target names. */
bool attempt_stack_commit(const struct target *target, const struct plan *plan, struct err *err)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLACEMENTS], values);
    values[VALET_PLACEMENT_UUID].text = SLICE_LIT("pl9");
    values[VALET_PLACEMENT_NAME].text = SLICE_LIT("pl9");
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = SLICE_LIT("srv9");
    const struct stack_row row = {
        .after = (const struct valet_placement *)record_pack(&VALET_SHAPES[VALET_PLACEMENTS], 0,
                                                             values, plan->arena),
        .moves_hold = true,
        .providers = target_claim(target, plan)->providers,
        .provider_count = 1,
        .host = slice_of(target->provider),
    };
    const struct stack_commit commit = {
        .after = new_plan(target, plan),
        .rows = &row,
        .row_count = 1,
        .covers_plan = true,
    };
    return plan_stack_commit(&commit, plan, err);
}

/* pl1, whose hold is on h4, moves to the target's provider. */
bool attempt_migrate(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct valet_placement *before =
        version_valet_placement_by_uuid(plan->version, SLICE_LIT("pl1"));
    const struct valet_plan *row_of_plan = version_next_valet_plan(plan->version, 0);
    const struct stack_row row = {
        .before = before,
        .present = SLICE_LIT("h4"),
        .after = before,
        .moves_hold = true,
        .providers = target_claim(target, plan)->providers,
        .provider_count = 1,
        .host = slice_of(target->provider),
    };
    const struct stack_commit commit = {
        .before = row_of_plan,
        .after = row_of_plan,
        .rows = &row,
        .row_count = 1,
    };
    return plan_stack_commit(&commit, plan, err);
}

bool attempt_stack_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    (void)err;
    plan_stack_delete(version_next_valet_plan(plan->version, 0), plan);
    return true;
}

bool attempt_placement_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    (void)err;
    plan_placement_delete(version_valet_placement_by_uuid(plan->version, SLICE_LIT("pl1")), plan);
    return true;
}
