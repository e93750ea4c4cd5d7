/* Cycles are found by repeatedly removing groups that no remaining group lists; the resulting
 * order, listing before listed, serves the following steps.
 *
 * Exclusivity spreads through affinity (7.2), so servers are joined in two forests: `host` joins
 * servers bound by affinity of level host, `rack` those bound by affinity of any level. An
 * assignment at level host spreads in the first, one at level rack in the second. An affinity group
 * binds the servers below everything that it lists at its own level, including groups of other
 * types. So the need to be bound is passed down the order, and the joining is done up the order,
 * each element once: a bound group is represented by one of its servers. Pure; any thread. */
#include "valet/api/stack/stack_shape.h"

#define NONE UINT32_MAX

enum need { NEED_NOTHING, NEED_RACK, NEED_HOST };

struct forest {
    uint32_t *parent;
    const struct stack_group **claimant; /* at roots; NULL: none */
};

struct shape {
    const struct stack *stack;
    struct err *err;
    uint32_t *order; /* of groups, each before those that it lists */
    uint8_t *need;   /* enum need of each group */
    uint32_t *first; /* a server below each group, or NONE */
    struct forest host, rack;
};

static const struct stack_element *element_at(const struct stack_group *group, uint32_t i)
{
    return &group->elements[i];
}

static uint32_t stack_shape_find(struct forest *forest, uint32_t server)
{
    while (forest->parent[server] != server) {
        forest->parent[server] = forest->parent[forest->parent[server]];
        server = forest->parent[server];
    }
    return server;
}

static void join(struct forest *forest, uint32_t a, uint32_t b)
{
    forest->parent[stack_shape_find(forest, b)] = stack_shape_find(forest, a);
}

static struct forest forest_of(uint32_t servers, struct arena *arena)
{
    struct forest forest = {
        .parent = arena_array(arena, servers, sizeof(uint32_t)),
        .claimant = arena_zalloc(arena, servers * sizeof(const struct stack_group *)),
    };
    for (uint32_t i = 0; i < servers; i++)
        forest.parent[i] = i;
    return forest;
}

static bool refuse_circle(struct shape *shape, const uint32_t *listed_by, uint32_t group)
{
    for (uint32_t i = 0; i < shape->stack->group_count; i++)
        group = listed_by[group];
    return err_set_join(shape->err, 400, NULL, SLICE_LIT("Valet error: group '"),
                        shape->stack->groups[group].orchestration_id,
                        SLICE_LIT("' is part of a circle of groups"));
}

static bool sort_groups(struct shape *shape, struct arena *arena)
{
    const struct stack *stack = shape->stack;
    uint32_t *left = arena_zalloc(arena, stack->group_count * sizeof(*left));
    uint32_t *listed_by = arena_zalloc(arena, stack->group_count * sizeof(*listed_by));
    uint32_t found = 0;
    for (uint32_t g = 0; g < stack->group_count; g++)
        for (uint32_t i = 0; i < stack->groups[g].element_count; i++)
            if (element_at(&stack->groups[g], i)->is_group)
                left[element_at(&stack->groups[g], i)->at]++;
    for (uint32_t g = 0; g < stack->group_count; g++)
        if (left[g] == 0)
            shape->order[found++] = g;
    for (uint32_t at = 0; at < found; at++) {
        const struct stack_group *group = &stack->groups[shape->order[at]];
        for (uint32_t i = 0; i < group->element_count; i++)
            if (element_at(group, i)->is_group && --left[element_at(group, i)->at] == 0)
                shape->order[found++] = element_at(group, i)->at;
    }
    if (found == stack->group_count)
        return true;
    uint32_t somewhere = 0;
    for (uint32_t g = 0; g < stack->group_count; g++) {
        if (left[g] == 0)
            continue;
        somewhere = g;
        for (uint32_t i = 0; i < stack->groups[g].element_count; i++)
            if (element_at(&stack->groups[g], i)->is_group)
                listed_by[element_at(&stack->groups[g], i)->at] = g;
    }
    return refuse_circle(shape, listed_by, somewhere);
}

static bool refuse_listing(struct shape *shape, const struct stack_group *group,
                           const struct stack_group *inner, const char *why)
{
    return err_set_join(shape->err, 400, NULL, SLICE_LIT("Valet error: group '"),
                        group->orchestration_id, SLICE_LIT("' may not list group '"),
                        inner->orchestration_id, SLICE_LIT("': "), slice_of(why));
}

static bool check_listing(struct shape *shape, const struct stack_group *group,
                          const struct stack_group *inner)
{
    if (group->type != STACK_AFFINITY && inner->type != STACK_AFFINITY)
        return refuse_listing(shape, group, inner,
                              "diversity and exclusivity groups take servers and affinity groups");
    if (inner->level > group->level)
        return refuse_listing(shape, group, inner, "it is of a higher level");
    return true;
}

static bool check_listings(struct shape *shape)
{
    for (uint32_t g = 0; g < shape->stack->group_count; g++) {
        const struct stack_group *group = &shape->stack->groups[g];
        for (uint32_t i = 0; i < group->element_count; i++)
            if (element_at(group, i)->is_group &&
                !check_listing(shape, group, &shape->stack->groups[element_at(group, i)->at]))
                return false;
    }
    return true;
}

static void hand_needs_down(struct shape *shape)
{
    for (uint32_t at = 0; at < shape->stack->group_count; at++) {
        uint32_t g = shape->order[at];
        const struct stack_group *group = &shape->stack->groups[g];
        uint8_t own = group->type != STACK_AFFINITY ? NEED_NOTHING
                      : group->level == STACK_HOST  ? NEED_HOST
                                                    : NEED_RACK;
        if (shape->need[g] < own)
            shape->need[g] = own;
        for (uint32_t i = 0; i < group->element_count; i++) {
            uint32_t inner = element_at(group, i)->at;
            if (element_at(group, i)->is_group && shape->need[inner] < shape->need[g])
                shape->need[inner] = shape->need[g];
        }
    }
}

static void bind_servers(struct shape *shape)
{
    for (uint32_t at = shape->stack->group_count; at-- > 0;) {
        uint32_t g = shape->order[at];
        const struct stack_group *group = &shape->stack->groups[g];
        shape->first[g] = NONE;
        for (uint32_t i = 0; i < group->element_count; i++) {
            const struct stack_element *element = element_at(group, i);
            uint32_t server = element->is_group ? shape->first[element->at] : element->at;
            if (server == NONE)
                continue;
            if (shape->first[g] == NONE)
                shape->first[g] = server;
            if (shape->need[g] >= NEED_RACK)
                join(&shape->rack, shape->first[g], server);
            if (shape->need[g] == NEED_HOST)
                join(&shape->host, shape->first[g], server);
        }
    }
}

static bool refuse_two(struct shape *shape, uint32_t server, const struct stack_group *a,
                       const struct stack_group *b)
{
    return err_set_join(shape->err, 400, NULL, SLICE_LIT("Valet error: server '"),
                        shape->stack->servers[server].orchestration_id,
                        SLICE_LIT("' is in two exclusivity groups, '"), a->group_name,
                        SLICE_LIT("' and '"), b->group_name, SLICE_LIT("'"));
}

static bool assign(struct shape *shape, const struct stack_group *group, uint32_t server)
{
    struct forest *forest = group->level == STACK_HOST ? &shape->host : &shape->rack;
    const struct stack_group **claimant = &forest->claimant[stack_shape_find(forest, server)];
    if (*claimant != NULL && !slice_equal((*claimant)->group_name, group->group_name))
        return refuse_two(shape, server, *claimant, group);
    *claimant = group;
    return true;
}

static bool assign_all(struct shape *shape)
{
    const struct stack *stack = shape->stack;
    for (uint32_t g = 0; g < stack->group_count; g++) {
        const struct stack_group *group = &stack->groups[g];
        for (uint32_t i = 0; group->type == STACK_EXCLUSIVITY && i < group->element_count; i++) {
            const struct stack_element *element = element_at(group, i);
            uint32_t server = element->is_group ? shape->first[element->at] : element->at;
            if (server != NONE && !assign(shape, group, server))
                return false;
        }
    }
    for (uint32_t s = 0; s < stack->server_count; s++) {
        const struct stack_group *a = shape->host.claimant[stack_shape_find(&shape->host, s)];
        const struct stack_group *b = shape->rack.claimant[stack_shape_find(&shape->rack, s)];
        if (a != NULL && b != NULL && !slice_equal(a->group_name, b->group_name))
            return refuse_two(shape, s, a, b);
    }
    return true;
}

static struct shape shape_of(const struct stack *stack, struct arena *arena, struct err *err)
{
    return (struct shape){
        .stack = stack,
        .err = err,
        .order = arena_array(arena, stack->group_count, sizeof(uint32_t)),
        .need = arena_zalloc(arena, stack->group_count),
        .first = arena_array(arena, stack->group_count, sizeof(uint32_t)),
        .host = forest_of(stack->server_count, arena),
        .rack = forest_of(stack->server_count, arena),
    };
}

static bool stack_shape_fill(struct shape *shape, struct arena *arena)
{
    if (!sort_groups(shape, arena) || !check_listings(shape))
        return false;
    hand_needs_down(shape);
    bind_servers(shape);
    return assign_all(shape);
}

bool stack_shape_check(const struct stack *stack, struct arena *arena, struct err *err)
{
    struct shape shape = shape_of(stack, arena, err);
    return stack_shape_fill(&shape, arena);
}

static struct shape good_shape(const struct stack *stack, struct arena *arena)
{
    struct err none = {.arena = arena};
    struct shape shape = shape_of(stack, arena, &none);
    bool is_good = stack_shape_fill(&shape, arena);
    check(is_good);
    return shape;
}

const bool *stack_shape_bound(const struct stack *stack, uint32_t server, struct arena *arena)
{
    struct shape shape = good_shape(stack, arena);
    bool *bound = arena_array(arena, stack->server_count, sizeof(*bound));
    for (uint32_t s = 0; s < stack->server_count; s++)
        bound[s] = stack_shape_find(&shape.rack, s) == stack_shape_find(&shape.rack, server);
    return bound;
}
