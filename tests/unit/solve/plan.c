/* Stacks for tests. */
#include "plan.h"

#include "unit.h"

struct plan *plan_create(struct arena *arena)
{
    struct plan *plan = arena_zalloc(arena, sizeof(*plan));
    plan->arena = arena;
    plan->stack.servers = plan->servers;
    plan->stack.groups = plan->groups;
    plan->request = (struct solve_request){.stack = &plan->stack,
                                           .pins = plan->pins,
                                           .default_zone = SLICE_LIT("nova"),
                                           .step_limit = 200000};
    plan->dropped_at = -1;
    plan->budget.left = INT64_MAX / 2;
    return plan;
}

uint32_t plan_add_server(struct plan *plan, const char *name, int vcpus, int ram, int disk)
{
    assert_true(plan->stack.server_count < PLAN_SERVERS_MAX);
    const int amounts[CLOUD_CLASSES] = {vcpus, ram, disk};
    uint32_t at = plan->stack.server_count++;
    struct stack_server *server = &plan->servers[at];
    struct stack_amount *list = arena_array(plan->arena, CLOUD_CLASSES, sizeof(*list));
    for (int c = 0; c < CLOUD_CLASSES; c++)
        if (amounts[c] > 0)
            list[server->amount_count++] =
                (struct stack_amount){slice_of(cloud_class_name(c)), amounts[c]};
    server->amounts = list;
    server->name = arena_copy(plan->arena, slice_of(name));
    server->orchestration_id = arena_printf(plan->arena, "id-%s", name);
    plan->released[at] = plan->owned[at] = -1;
    return at;
}

uint32_t plan_add_group(struct plan *plan, const char *name, enum stack_group_type type,
                        enum stack_level level, int exclusive)
{
    assert_true(plan->stack.group_count < PLAN_GROUPS_MAX);
    uint32_t at = plan->stack.group_count++;
    struct stack_group *group = &plan->groups[at];
    group->name = group->orchestration_id = arena_copy(plan->arena, slice_of(name));
    group->type = type;
    group->level = level;
    group->elements = plan->elements[at];
    if (type == STACK_EXCLUSIVITY) {
        group->group_uuid = slice_of(cloud_group_uuid(exclusive));
        group->group_name = slice_of(cloud_group_name(exclusive));
    }
    return at;
}

static void add_element(struct plan *plan, uint32_t group, bool is_group, uint32_t at)
{
    struct stack_group *to = &plan->groups[group];
    assert_true(to->element_count < PLAN_ELEMENTS_MAX);
    plan->elements[group][to->element_count++] = (struct stack_element){is_group, at};
}

void plan_add_to(struct plan *plan, uint32_t group, uint32_t server)
{
    add_element(plan, group, false, server);
}

void plan_add_group_to(struct plan *plan, uint32_t group, uint32_t listed)
{
    add_element(plan, group, true, listed);
}

void plan_add_name(struct plan *plan, struct stack_names *names, const char *name)
{
    struct slice *more = arena_array(plan->arena, (size_t)names->count + 1, sizeof(*more));
    if (names->count > 0)
        memcpy(more, names->names, names->count * sizeof(*more));
    more[names->count] = slice_of(name);
    *names = (struct stack_names){more, names->count + 1};
}

void plan_solve(struct plan *plan, const struct version *version)
{
    plan->result = solve(version, &plan->request, plan->arena, &plan->budget, &plan->outcome);
}
