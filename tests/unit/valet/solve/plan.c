/* Stacks for tests. */
#include "plan.h"

#include "unit.h"

struct plan *plan_create(struct arena *arena)
{
    struct plan *plan = arena_zalloc(arena, sizeof(*plan));
    plan->arena = arena;
    plan->request = (struct solve_request){
        .stack = &plan->stack, .default_zone = SLICE_LIT("nova"), .step_limit = 200000};
    plan->dropped_at = -1;
    plan->budget.left = INT64_MAX / 2;
    return plan;
}

/* Space for one more, and exactly what exists for the solver. */
#define GROW(plan, array, count, capacity)                                                         \
    ((plan)->array = arena_grow((plan)->arena, (plan)->array, (count), &(plan)->capacity,          \
                                sizeof(*(plan)->array)))

uint32_t plan_add_server(struct plan *plan, const char *name, int vcpus, int ram, int disk)
{
    plan->stack.servers = GROW(plan, servers, plan->stack.server_count, server_capacity);
    plan->request.pins = GROW(plan, pins, plan->stack.server_count, pin_capacity);
    GROW(plan, released, plan->stack.server_count, released_capacity);
    GROW(plan, owned, plan->stack.server_count, owned_capacity);
    const int amounts[CLOUD_CLASSES] = {vcpus, ram, disk};
    uint32_t at = plan->stack.server_count++;
    struct stack_server *server = &plan->servers[at];
    *server = (struct stack_server){0};
    plan->pins[at] = (struct solve_pin){0};
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
    plan->stack.groups = GROW(plan, groups, plan->stack.group_count, group_capacity);
    GROW(plan, elements, plan->stack.group_count, elements_capacity);
    GROW(plan, element_capacity, plan->stack.group_count, element_capacity_capacity);
    uint32_t at = plan->stack.group_count++;
    struct stack_group *group = &plan->groups[at];
    *group = (struct stack_group){0};
    plan->elements[at] = NULL;
    plan->element_capacity[at] = 0;
    group->name = group->orchestration_id = arena_copy(plan->arena, slice_of(name));
    group->type = type;
    group->level = level;
    if (type == STACK_EXCLUSIVITY) {
        group->group_uuid = slice_of(cloud_group_uuid(exclusive));
        group->group_name = slice_of(cloud_group_name(exclusive));
    }
    return at;
}

static void add_element(struct plan *plan, uint32_t group, bool is_group, uint32_t at)
{
    struct stack_group *to = &plan->groups[group];
    to->elements = plan->elements[group] =
        arena_grow(plan->arena, plan->elements[group], to->element_count,
                   &plan->element_capacity[group], sizeof(*to->elements));
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
