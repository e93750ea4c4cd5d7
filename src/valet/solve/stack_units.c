/* Units and blocks are classes of a union of servers: by affinity at the level of hosts, then also
 * of racks. Every element that a group may list is a server, or an affinity group, which is one
 * class at its own level: any server below it represents all of it, so no group is walked for each
 * group that lists it. Only an affinity group may list a diversity or exclusivity group, which it
 * then binds: the elements of that group are walked once for each level.
 *
 * Any thread. */
#include "valet/solve/stack_units.h"

#include "valet/solve/anti_affinity.h"

struct maker {
    const struct stack *stack;
    const struct solve_pin *pins;
    struct arena *arena;
    uint32_t *first;  /* for each group: a server below it that is not absent, or UNITS_NONE */
    uint32_t *parent; /* for each server, in the current union */
    bool *bound;      /* for each group: its elements are united at the current level */
    struct units *units;
    struct slice *reason;
};

static bool is_absent(const struct maker *maker, uint32_t server)
{
    const struct solve_pin *pin = &maker->pins[server];
    return pin->kind == SOLVE_ABSENT || (pin->kind == SOLVE_FIXED && pin->present == NULL);
}

static uint32_t first_of(const struct maker *maker, const struct stack_element *element)
{
    if (element->is_group)
        return maker->first[element->at];
    return is_absent(maker, element->at) ? UNITS_NONE : element->at;
}

/* A group during the walk down. */
struct visit {
    uint32_t group;
    uint32_t at; /* of its elements */
};

static void find_first(struct maker *maker, struct visit *path, bool *seen, uint32_t group)
{
    uint32_t depth = 0;
    path[depth++] = (struct visit){group, 0};
    seen[group] = true;
    while (depth > 0) {
        struct visit *visit = &path[depth - 1];
        const struct stack_group *at = &maker->stack->groups[visit->group];
        uint32_t *first = &maker->first[visit->group];
        if (visit->at == at->element_count || *first != UNITS_NONE) {
            depth--;
            continue;
        }
        const struct stack_element *element = &at->elements[visit->at];
        if (element->is_group && !seen[element->at]) {
            seen[element->at] = true;
            path[depth++] = (struct visit){element->at, 0};
            continue;
        }
        *first = first_of(maker, element);
        visit->at++;
    }
}

static void find_firsts(struct maker *maker)
{
    uint32_t count = maker->stack->group_count;
    maker->first = arena_array(maker->arena, count, sizeof(*maker->first));
    struct visit *path = arena_array(maker->arena, count, sizeof(*path));
    bool *seen = arena_zalloc(maker->arena, count);
    for (uint32_t g = 0; g < count; g++)
        maker->first[g] = UNITS_NONE;
    for (uint32_t g = 0; g < count; g++)
        if (!seen[g])
            find_first(maker, path, seen, g);
}

static uint32_t stack_units_find(struct maker *maker, uint32_t server)
{
    uint32_t *parent = maker->parent;
    while (parent[server] != server) {
        parent[server] = parent[parent[server]];
        server = parent[server];
    }
    return server;
}

/* The smaller number becomes the leader. */
static void unite(struct maker *maker, uint32_t *with, uint32_t server)
{
    if (server == UNITS_NONE)
        return;
    if (*with == UNITS_NONE)
        *with = server;
    uint32_t a = stack_units_find(maker, *with);
    uint32_t b = stack_units_find(maker, server);
    if (a < b)
        maker->parent[b] = a;
    else
        maker->parent[a] = b;
}

static void unite_group(struct maker *maker, const struct stack_group *group)
{
    uint32_t with = UNITS_NONE;
    for (uint32_t e = 0; e < group->element_count; e++) {
        const struct stack_element *element = &group->elements[e];
        unite(maker, &with, first_of(maker, element));
        if (!element->is_group || maker->bound[element->at])
            continue;
        const struct stack_group *listed = &maker->stack->groups[element->at];
        if (listed->type == STACK_AFFINITY)
            continue; /* it unites its own elements */
        maker->bound[element->at] = true;
        for (uint32_t i = 0; i < listed->element_count; i++)
            unite(maker, &with, first_of(maker, &listed->elements[i]));
    }
}

static void unite_level(struct maker *maker, enum stack_level level)
{
    memset(maker->bound, 0, maker->stack->group_count * sizeof(*maker->bound));
    for (uint32_t g = 0; g < maker->stack->group_count; g++) {
        const struct stack_group *group = &maker->stack->groups[g];
        if (group->type == STACK_AFFINITY && group->level == level)
            unite_group(maker, group);
    }
}

static void make_units(struct maker *maker)
{
    struct units *units = maker->units;
    uint32_t count = maker->stack->server_count;
    units->unit = arena_zalloc(maker->arena, count * sizeof(*units->unit));
    units->of_server = arena_array(maker->arena, count, sizeof(*units->of_server));
    unite_level(maker, STACK_HOST);
    for (uint32_t s = 0; s < count; s++) {
        units->of_server[s] = UNITS_NONE;
        if (is_absent(maker, s))
            continue;
        uint32_t leader = stack_units_find(maker, s);
        if (leader == s) {
            units->unit[units->unit_count].exclusive = UNITS_NONE;
            units->of_server[s] = units->unit_count++;
        }
        units->of_server[s] = units->of_server[leader];
        struct unit *unit = &units->unit[units->of_server[s]];
        if (maker->pins[s].kind == SOLVE_PLACE)
            unit->placed = units_append(maker->arena, unit->placed, &unit->placed_count, s);
        else
            unit->fixed = units_append(maker->arena, unit->fixed, &unit->fixed_count, s);
    }
}

static void make_blocks(struct maker *maker)
{
    struct units *units = maker->units;
    uint32_t count = maker->stack->server_count;
    units->block = arena_zalloc(maker->arena, units->unit_count * sizeof(*units->block));
    bool *is_done = arena_zalloc(maker->arena, units->unit_count);
    unite_level(maker, STACK_RACK);
    for (uint32_t s = 0; s < count; s++) {
        uint32_t u = units->of_server[s];
        if (u == UNITS_NONE || is_done[u])
            continue;
        is_done[u] = true;
        uint32_t leader =
            stack_units_find(maker, s); /* the smallest, so its unit was created already */
        if (leader == s)
            units->unit[u].block = units->block_count++;
        else
            units->unit[u].block = units->unit[units->of_server[leader]].block;
        struct block *block = &units->block[units->unit[u].block];
        block->units = units_append(maker->arena, block->units, &block->unit_count, u);
    }
}

static struct slice element_name(const struct maker *maker, const struct stack_element *element)
{
    return element->is_group ? maker->stack->groups[element->at].name
                             : maker->stack->servers[element->at].name;
}

static uint32_t exclusive_of(struct maker *maker, const struct stack_group *group)
{
    struct units *units = maker->units;
    for (uint32_t i = 0; i < units->exclusive_count; i++)
        if (slice_equal(units->exclusives[i].uuid, group->group_uuid))
            return i;
    units->exclusives[units->exclusive_count] =
        (struct exclusive){group->group_uuid, group->group_name};
    return units->exclusive_count++;
}

static bool assign(struct maker *maker, uint32_t u, uint32_t exclusive, bool claims_rack,
                   const struct stack_element *element)
{
    struct unit *unit = &maker->units->unit[u];
    if (unit->exclusive != UNITS_NONE && unit->exclusive != exclusive) {
        const struct stack *stack = maker->stack;
        uint32_t server = unit->placed_count > 0 ? unit->placed[0] : unit->fixed[0];
        const struct slice parts[] = {
            SLICE_LIT("Valet error: '"),
            element_name(maker, element),
            SLICE_LIT("' and '"),
            stack->servers[server].name,
            SLICE_LIT("' are bound by affinity, but assigned to two exclusivity groups, '"),
            maker->units->exclusives[unit->exclusive].name,
            SLICE_LIT("' and '"),
            maker->units->exclusives[exclusive].name,
            SLICE_LIT("'"),
        };
        *maker->reason = arena_join(maker->arena, parts, sizeof(parts) / sizeof(parts[0]));
        return false;
    }
    unit->exclusive = exclusive;
    unit->claims_rack = unit->claims_rack || claims_rack;
    unit->needs_rack = unit->needs_rack || claims_rack;
    return true;
}

/* 7.2: an assignment spreads to the whole of an affinity group whose level is not higher: at the
 * level of hosts to the unit, at that of racks to the block. */
static bool assign_group(struct maker *maker, const struct stack_group *group)
{
    struct units *units = maker->units;
    uint32_t exclusive = exclusive_of(maker, group);
    for (uint32_t e = 0; e < group->element_count; e++) {
        uint32_t server = first_of(maker, &group->elements[e]);
        if (server == UNITS_NONE)
            continue;
        uint32_t u = units->of_server[server];
        if (group->level == STACK_HOST) {
            if (!assign(maker, u, exclusive, false, &group->elements[e]))
                return false;
            continue;
        }
        if (units->unit[u].exclusive == exclusive && units->unit[u].claims_rack)
            continue; /* already counted with another of its block */
        const struct block *block = &units->block[units->unit[u].block];
        for (uint32_t i = 0; i < block->unit_count; i++)
            if (!assign(maker, block->units[i], exclusive, true, &group->elements[e]))
                return false;
    }
    return true;
}

static bool assign_exclusives(struct maker *maker)
{
    struct units *units = maker->units;
    units->exclusives =
        arena_array(maker->arena, maker->stack->group_count, sizeof(*units->exclusives));
    for (uint32_t g = 0; g < maker->stack->group_count; g++)
        if (maker->stack->groups[g].type == STACK_EXCLUSIVITY &&
            !assign_group(maker, &maker->stack->groups[g]))
            return false;
    return true;
}

static void mark_block(struct units *units, uint32_t server, bool *is_marked)
{
    if (server == UNITS_NONE)
        return;
    uint32_t b = units->unit[units->of_server[server]].block;
    const struct block *block = &units->block[b];
    if (is_marked[b])
        return;
    is_marked[b] = true;
    for (uint32_t i = 0; i < block->unit_count; i++)
        units->unit[block->units[i]].needs_rack = true;
}

/* Everything below an affinity group at the level of racks is in one block, as is each element of a
 * diversity group. */
static void mark_racks(struct maker *maker)
{
    bool *is_marked = arena_zalloc(maker->arena, maker->units->block_count * sizeof(*is_marked));
    for (uint32_t g = 0; g < maker->stack->group_count; g++) {
        const struct stack_group *group = &maker->stack->groups[g];
        if (group->level != STACK_RACK)
            continue;
        if (group->type == STACK_AFFINITY)
            mark_block(maker->units, maker->first[g], is_marked);
        for (uint32_t e = 0; group->type == STACK_DIVERSITY && e < group->element_count; e++) {
            uint32_t server = first_of(maker, &group->elements[e]);
            if (server != UNITS_NONE)
                maker->units->unit[maker->units->of_server[server]].needs_rack = true;
        }
    }
}

bool units_of_stack(const struct stack *stack, const struct solve_pin *pins, struct arena *arena,
                    struct units *units, struct slice *reason)
{
    *units = (struct units){0};
    struct maker maker = {
        .stack = stack, .pins = pins, .arena = arena, .units = units, .reason = reason};
    maker.parent = arena_array(arena, stack->server_count, sizeof(*maker.parent));
    for (uint32_t s = 0; s < stack->server_count; s++)
        maker.parent[s] = s;
    maker.bound = arena_zalloc(arena, stack->group_count * sizeof(*maker.bound));
    find_firsts(&maker);
    make_units(&maker);
    make_blocks(&maker);
    mark_racks(&maker);
    return anti_affinity_make(stack, maker.first, arena, units, reason) &&
           assign_exclusives(&maker);
}
