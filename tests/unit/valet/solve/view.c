/* Groups over servers, by the closure of what they require of pairs. */
#include "view.h"

#include "unit.h"

static uint32_t below(const struct view *view, const struct stack *stack,
                      const struct stack_element *element)
{
    if (!element->is_group)
        return view->absent[element->at] ? 0 : 1u << element->at;
    uint32_t mask = 0;
    const struct stack_group *group = &stack->groups[element->at];
    for (uint32_t e = 0; e < group->element_count; e++)
        mask |= below(view, stack, &group->elements[e]);
    return mask;
}

static uint32_t below_group(const struct view *view, const struct stack *stack, uint32_t group)
{
    struct stack_element element = {true, group};
    return below(view, stack, &element);
}

static void read_affinity(struct view *view, const struct stack *stack)
{
    for (uint32_t s = 0; s < view->count; s++)
        view->together[STACK_HOST][s][s] = view->together[STACK_RACK][s][s] = true;
    for (uint32_t g = 0; g < stack->group_count; g++) {
        uint32_t mask = below_group(view, stack, g);
        for (uint32_t a = 0; a < view->count; a++)
            for (uint32_t b = 0; b < view->count; b++) {
                if (stack->groups[g].type != STACK_AFFINITY || !(mask >> a & mask >> b & 1))
                    continue;
                view->together[STACK_RACK][a][b] = true;
                if (stack->groups[g].level == STACK_HOST)
                    view->together[STACK_HOST][a][b] = true;
                else
                    view->needs_rack[a] = true;
            }
    }
    for (int level = 0; level < 2; level++)
        for (uint32_t k = 0; k < view->count; k++)
            for (uint32_t a = 0; a < view->count; a++)
                for (uint32_t b = 0; b < view->count; b++)
                    if (view->together[level][a][k] && view->together[level][k][b])
                        view->together[level][a][b] = true;
}

static void read_pair(struct view *view, enum stack_level level, uint32_t a, uint32_t b)
{
    view->apart[level][a][b] = view->apart[level][b][a] = true;
    if (view->together[level][a][b])
        view->contradicts = true;
}

static void read_diversity(struct view *view, const struct stack *stack,
                           const struct stack_group *group)
{
    for (uint32_t i = 0; i < group->element_count; i++) {
        uint32_t one = below(view, stack, &group->elements[i]);
        for (uint32_t a = 0; a < view->count; a++)
            if ((one >> a & 1) != 0 && group->level == STACK_RACK)
                view->needs_rack[a] = true;
        for (uint32_t j = 0; j < i; j++) {
            uint32_t other = below(view, stack, &group->elements[j]);
            if (group->elements[i].is_group == group->elements[j].is_group &&
                group->elements[i].at == group->elements[j].at)
                continue;
            for (uint32_t a = 0; a < view->count; a++)
                for (uint32_t b = 0; b < view->count; b++)
                    if ((one >> a & other >> b & 1) != 0)
                        read_pair(view, group->level, a, b);
        }
    }
}

static int exclusive_of(const struct stack_group *group)
{
    for (int i = 0; i < CLOUD_GROUPS; i++)
        if (slice_equal(group->group_uuid, slice_of(cloud_group_uuid(i))))
            return i;
    return -1;
}

/* Adds what one affinity group spreads; true: something was added. */
static bool spread(struct view *view, const struct stack *stack, uint32_t g)
{
    uint32_t mask = below_group(view, stack, g);
    bool is_new = false;
    for (int level = (int)stack->groups[g].level; level < 2; level++)
        for (uint32_t a = 0; a < view->count; a++)
            for (uint32_t b = 0; b < view->count; b++)
                for (int group = 0; group < CLOUD_GROUPS; group++)
                    if ((mask >> a & mask >> b & 1) != 0 && view->assigned[level][a][group] &&
                        !view->assigned[level][b][group])
                        is_new = view->assigned[level][b][group] = true;
    return is_new;
}

static void read_exclusivity(struct view *view, const struct stack *stack)
{
    for (uint32_t g = 0; g < stack->group_count; g++) {
        uint32_t mask = below_group(view, stack, g);
        for (uint32_t s = 0; s < view->count; s++)
            if (stack->groups[g].type == STACK_EXCLUSIVITY && (mask >> s & 1) != 0)
                view->assigned[stack->groups[g].level][s][exclusive_of(&stack->groups[g])] = true;
    }
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t g = 0; g < stack->group_count; g++)
            if (stack->groups[g].type == STACK_AFFINITY)
                again = spread(view, stack, g) || again;
    }
    for (uint32_t s = 0; s < view->count; s++) {
        int groups = 0;
        for (int group = 0; group < CLOUD_GROUPS; group++) {
            groups += view->assigned[0][s][group] || view->assigned[1][s][group];
            if (view->assigned[STACK_RACK][s][group])
                view->needs_rack[s] = true;
        }
        if (groups > 1)
            view->contradicts = true;
    }
}

/* 9.1: edges are between units, and so at the level of racks between blocks. */
static void spread_apart(struct view *view, int level)
{
    bool(*apart)[ORACLE_SERVERS_MAX] = view->apart[level];
    bool(*together)[ORACLE_SERVERS_MAX] = view->together[level];
    for (int round = 0; round < 2; round++) /* to one side's unit, then to the other's */
        for (uint32_t a = 0; a < view->count; a++)
            for (uint32_t b = 0; b < view->count; b++)
                for (uint32_t like = 0; like < view->count; like++)
                    if (together[a][like] && apart[like][b])
                        apart[a][b] = apart[b][a] = true;
}

struct view view_of(const struct plan *plan)
{
    struct view view = {.count = plan->stack.server_count};
    assert_true(view.count <= ORACLE_SERVERS_MAX);
    for (uint32_t s = 0; s < view.count; s++)
        view.absent[s] = plan->pins[s].kind == SOLVE_ABSENT ||
                         (plan->pins[s].kind == SOLVE_FIXED && plan->pins[s].present == NULL);
    read_affinity(&view, &plan->stack);
    for (uint32_t g = 0; g < plan->stack.group_count; g++)
        if (plan->stack.groups[g].type == STACK_DIVERSITY)
            read_diversity(&view, &plan->stack, &plan->stack.groups[g]);
    spread_apart(&view, STACK_HOST);
    spread_apart(&view, STACK_RACK);
    read_exclusivity(&view, &plan->stack);
    for (uint32_t a = 0; a < view.count; a++) /* a unit has what one of its servers has */
        for (uint32_t b = 0; b < view.count; b++)
            if (!view.absent[a] && view.needs_rack[a] && view.together[STACK_HOST][a][b])
                view.needs_rack[b] = true;
    return view;
}

int view_group(const struct view *view, uint32_t server)
{
    for (int group = 0; group < CLOUD_GROUPS; group++)
        if (view->assigned[0][server][group] || view->assigned[1][server][group])
            return group;
    return -1;
}

/* --- new conditions */

static bool is_subset(const struct stack_names *a, const struct stack_names *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->count; k++)
            found = found || slice_equal(a->names[i], b->names[k]);
        if (!found)
            return false;
    }
    return true;
}

static void compare_pairs(struct view *anew, const struct view *old, const bool *known)
{
    for (uint32_t a = 0; a < anew->count; a++)
        for (uint32_t b = 0; b < anew->count; b++) {
            if (!known[a] || !known[b])
                continue;
            for (int level = 0; level < 2; level++)
                if (old->together[level][a][b])
                    anew->together[level][a][b] = false;
            if (old->apart[STACK_RACK][a][b])
                anew->apart[STACK_RACK][a][b] = anew->apart[STACK_HOST][a][b] = false;
            if (old->apart[STACK_HOST][a][b])
                anew->apart[STACK_HOST][a][b] = false;
        }
}

struct anew view_anew(const struct plan *plan)
{
    struct anew anew = {.view = {.count = plan->stack.server_count}};
    const struct plan *accepted = plan->accepted;
    bool known[ORACLE_SERVERS_MAX];
    if (accepted == NULL)
        return anew;
    struct view old = view_of(accepted);
    struct view now = anew.view = view_of(plan);
    for (uint32_t s = 0; s < now.count; s++) {
        const struct stack_server *server = &plan->servers[s];
        const struct stack_server *before = &accepted->servers[s];
        known[s] =
            !old.contradicts && slice_equal(server->orchestration_id, before->orchestration_id);
        anew.locations[s] = !known[s] || !is_subset(&server->locations, &before->locations) ||
                            !is_subset(&before->locations, &server->locations);
        anew.zone[s] = !known[s] || !slice_equal(server->zone, before->zone);
        anew.view.needs_rack[s] = now.needs_rack[s] && !(known[s] && old.needs_rack[s]);
        int group = view_group(&now, s);
        anew.exclusive[s] = known[s] ? group != view_group(&old, s) ||
                                           (group >= 0 && now.assigned[STACK_RACK][s][group] &&
                                            !old.assigned[STACK_RACK][s][group])
                                     : group >= 0;
    }
    compare_pairs(&anew.view, &old, known);
    return anew;
}
