/* The walk through one anchor's combinations: depth first, every rule checked as soon as a choice
 * is made, nothing kept but the choices. Any thread. */
#include "query/ac_plan.h"

void ac_walk_init(struct ac_plan *plan, struct ac_walk *walk)
{
    walk->at = arena_zalloc(plan->arena, plan->level_count * sizeof(*walk->at));
    walk->chosen = arena_zalloc(plan->arena, plan->level_count * sizeof(*walk->chosen));
    walk->started = false;
}

static const struct place *place_at(const struct ac_plan *plan, uint32_t slot)
{
    return version_place(plan->version, (struct slot_no){slot});
}

static int64_t demand_of(const struct ac_level *level, struct class_no class_no)
{
    for (uint32_t i = 0; i < level->demand_count; i++)
        if (level->demands[i].class_no.v == class_no.v)
            return level->demands[i].amount;
    return 0;
}

/* Item 9: what several levels ask of one provider and class fits together, also into max_unit. */
static bool sums_fit(const struct ac_plan *plan, const struct ac_walk *walk, uint32_t depth,
                     uint32_t slot)
{
    const struct ac_level *level = &plan->levels[depth];
    for (uint32_t i = 0; i < level->demand_count; i++) {
        const struct fit_demand *demand = &level->demands[i];
        int64_t room = fit_demand_headroom(demand, (struct slot_no){slot});
        room -= demand->amount;
        for (uint32_t j = 0; j < depth && room >= 0; j++)
            if (walk->chosen[j] == slot)
                room -= demand_of(&plan->levels[j], demand->class_no);
        if (room < 0)
            return false;
    }
    return true;
}

static bool is_granular(const struct ac_plan *plan, uint32_t depth)
{
    return plan->groups[plan->levels[depth].group].is_granular;
}

static bool is_isolated(const struct ac_plan *plan, const struct ac_walk *walk, uint32_t depth,
                        uint32_t slot)
{
    if (!is_granular(plan, depth))
        return true;
    for (uint32_t j = 0; j < depth; j++)
        if (walk->chosen[j] == slot && is_granular(plan, j))
            return false;
    return true;
}

/* Item 11: before 1.29 a candidate takes resources from one provider of a tree. */
static bool is_alone_in_tree(const struct ac_plan *plan, const struct ac_walk *walk, uint32_t depth,
                             uint32_t slot)
{
    if (plan->levels[depth].demand_count == 0)
        return true;
    for (uint32_t j = 0; j < depth; j++)
        if (walk->chosen[j] != slot && plan->levels[j].demand_count > 0 &&
            place_at(plan, walk->chosen[j])->root == place_at(plan, slot)->root)
            return false;
    return true;
}

/* Item 7: in pre-order, with m the smallest slot, all lie in m's interval. While members are still
 * to be chosen, one of them may become that m. */
static bool subtree_holds(const struct ac_plan *plan, const struct ac_walk *walk, uint32_t depth,
                          const struct ac_subtree *subtree)
{
    uint32_t least = NUMBER_NONE;
    uint32_t most = 0;
    bool open = false;
    for (uint32_t i = 0; i < subtree->level_count; i++) {
        if (subtree->levels[i] > depth) {
            open = true;
            continue;
        }
        uint32_t slot = walk->chosen[subtree->levels[i]];
        least = slot < least ? slot : least;
        most = slot > most ? slot : most;
    }
    if (least == NUMBER_NONE || most < place_at(plan, least)->end)
        return true;
    if (!open)
        return false;
    for (uint32_t i = 0; i < subtree->level_count; i++) {
        if (subtree->levels[i] <= depth)
            continue;
        const struct ac_level *level = &plan->levels[subtree->levels[i]];
        for (uint32_t o = 0; o < level->option_count; o++)
            if (level->options[o] < least && most < place_at(plan, level->options[o])->end)
                return true;
    }
    return false;
}

static bool subtrees_hold(const struct ac_plan *plan, const struct ac_walk *walk, uint32_t depth)
{
    for (uint32_t s = 0; s < plan->subtree_count; s++)
        for (uint32_t i = 0; i < plan->subtrees[s].level_count; i++)
            if (plan->subtrees[s].levels[i] == depth &&
                !subtree_holds(plan, walk, depth, &plan->subtrees[s]))
                return false;
    return true;
}

static bool any_chosen_has(const struct fit_any *any, const uint32_t *slots, uint32_t count)
{
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < any->count; i++)
            if (slotset_has(any->sets[i], (struct slot_no){slots[s]}))
                return true;
    return false;
}

static bool any_option_has(const struct fit_any *any, const struct ac_level *level)
{
    return any_chosen_has(any, level->options, level->option_count);
}

/* Item 3: the providers of the unsuffixed group have the traits together. What is still wanted must
 * be there among the options of the levels to come. */
static bool traits_met(const struct ac_plan *plan, const struct ac_walk *walk, uint32_t depth)
{
    const struct ac_plan_group *group = &plan->groups[plan->levels[depth].group];
    if (group->is_granular || plan->is_flat)
        return true;
    uint32_t first = group->first_level;
    uint32_t last = first + group->level_count - 1;
    for (uint32_t i = 0; i < group->traits.any_count; i++) {
        const struct fit_any *any = &group->traits.any[i];
        bool met = any_chosen_has(any, walk->chosen + first, depth - first + 1);
        for (uint32_t level = depth + 1; level <= last && !met; level++)
            met = any_option_has(any, &plan->levels[level]);
        if (!met)
            return false;
    }
    return true;
}

/* Remembers the rule that was broken last in the order of the rules: what came furthest fell by it.
 */
static bool breaks(struct ac_plan *plan, enum ac_none rule)
{
    if (plan->none < rule)
        plan->none = rule;
    return false;
}

static bool choose(struct ac_plan *plan, struct ac_walk *walk, uint32_t depth)
{
    const struct ac_level *level = &plan->levels[depth];
    uint32_t slot = level->options[walk->at[depth]];
    walk->chosen[depth] = slot;
    if (level->shares_class && !sums_fit(plan, walk, depth, slot))
        return breaks(plan, AC_NONE_SUMS);
    if (plan->isolate && !is_isolated(plan, walk, depth, slot))
        return breaks(plan, AC_NONE_GROUP_POLICY);
    if (!plan->nested_aware && !is_alone_in_tree(plan, walk, depth, slot))
        return breaks(plan, AC_NONE_ONE_PROVIDER);
    if (!subtrees_hold(plan, walk, depth))
        return breaks(plan, AC_NONE_SAME_SUBTREE);
    bool met = traits_met(plan, walk, depth);
    plan->lacks_traits = plan->lacks_traits || !met;
    return met;
}

bool ac_walk_next(struct ac_plan *plan, struct ac_walk *walk)
{
    uint32_t depth = 0;
    if (plan->level_count == 0)
        return false;
    if (walk->started) {
        depth = plan->level_count - 1;
        walk->at[depth]++;
    } else {
        walk->started = true;
        walk->at[0] = 0;
    }
    for (;;) {
        if (!budget_take(plan->budget, 1 + depth / 8))
            return false;
        if (walk->at[depth] == plan->levels[depth].option_count) {
            if (depth == 0)
                return false;
            depth--;
            walk->at[depth]++;
            continue;
        }
        if (!choose(plan, walk, depth)) {
            walk->at[depth]++;
            continue;
        }
        if (depth == plan->level_count - 1)
            return true;
        depth++;
        walk->at[depth] = 0;
    }
}
