/* The walk through one anchor's combinations: depth first, every rule checked as soon as a choice
 * is made, nothing stored except the choices.
 *
 * Two methods avoid trying in vain. The contests (ac_contests.h) show, before the first choice and
 * after each, whether all levels can still have providers. And of twins (levels that can be
 * exchanged), a later one does not try an option that an earlier one has tried in vain with the
 * same choices before both: a combination with it would, with the two exchanged, have been found by
 * the earlier one. Neither method removes a combination or changes the order. Any thread. */
#include "query/ac_contests.h"
#include "query/ac_query.h"

enum { USELESS_WORDS_MAX = 1 << 20 }; /* 8 MiB; for larger trees nothing is remembered */

void ac_walk_init(struct ac_query *query, struct ac_walk *walk)
{
    *walk = (struct ac_walk){
        .at = arena_zalloc(query->arena, query->level_count * sizeof(*walk->at)),
        .chosen = arena_zalloc(query->arena, query->level_count * sizeof(*walk->chosen)),
        .found_before =
            arena_zalloc(query->arena, query->level_count * sizeof(*walk->found_before)),
    };
}

void ac_walk_leave(const struct ac_query *query, const struct ac_walk *walk, uint32_t *place)
{
    size_t bytes = query->level_count * sizeof(*place);
    memcpy(place, walk->at, bytes);
    memcpy(place + query->level_count, walk->chosen, bytes);
}

void ac_walk_return(const struct ac_query *query, struct ac_walk *walk, const uint32_t *place)
{
    size_t bytes = query->level_count * sizeof(*place);
    memcpy(walk->at, place, bytes);
    memcpy(walk->chosen, place + query->level_count, bytes);
    walk->started = walk->is_new_here = true;
}

static const struct place *place_at(const struct ac_query *query, uint32_t slot)
{
    return version_place(query->version, (struct slot_no){slot});
}

static int64_t demand_of(const struct ac_level *level, struct class_no class_no)
{
    for (uint32_t i = 0; i < level->demand_count; i++)
        if (level->demands[i].class_no.v == class_no.v)
            return level->demands[i].amount;
    return 0;
}

/* Item 9: what several levels request from one provider and class fits together, also within
 * max_unit. */
static bool sums_fit(const struct ac_query *query, const struct ac_walk *walk, uint32_t depth,
                     uint32_t slot)
{
    const struct ac_level *level = &query->levels[depth];
    for (uint32_t i = 0; i < level->demand_count; i++) {
        const struct fit_demand *demand = &level->demands[i];
        int64_t room = fit_demand_headroom(demand, (struct slot_no){slot});
        room -= demand->amount;
        for (uint32_t j = 0; j < depth && room >= 0; j++)
            if (walk->chosen[j] == slot)
                room -= demand_of(&query->levels[j], demand->class_no);
        if (room < 0)
            return false;
    }
    return true;
}

static bool is_granular(const struct ac_query *query, uint32_t depth)
{
    return query->groups[query->levels[depth].group].is_granular;
}

static bool is_isolated(const struct ac_query *query, const struct ac_walk *walk, uint32_t depth,
                        uint32_t slot)
{
    if (!is_granular(query, depth))
        return true;
    for (uint32_t j = 0; j < depth; j++)
        if (walk->chosen[j] == slot && is_granular(query, j))
            return false;
    return true;
}

/* Item 11: before 1.29, a candidate takes resources from only one provider of a tree. */
static bool is_alone_in_tree(const struct ac_query *query, const struct ac_walk *walk,
                             uint32_t depth, uint32_t slot)
{
    if (query->levels[depth].demand_count == 0)
        return true;
    for (uint32_t j = 0; j < depth; j++)
        if (walk->chosen[j] != slot && query->levels[j].demand_count > 0 &&
            place_at(query, walk->chosen[j])->root == place_at(query, slot)->root)
            return false;
    return true;
}

/* Whether one of the remaining levels can become the subtree's root. */
static bool may_hold_later(struct ac_query *query, uint32_t depth, const struct ac_subtree *subtree,
                           uint32_t least, uint32_t most)
{
    const struct ac_kind *last = NULL;
    for (uint32_t i = 0; i < subtree->level_count; i++) {
        const struct ac_kind *kind = query->levels[subtree->levels[i]].kind;
        ac_charge(query, 1);
        if (subtree->levels[i] <= depth || kind == last)
            continue;
        last = kind;
        const uint64_t *options = kind->options;
        for (uint32_t bit = ac_next_option(&query->tree, options, NULL, 0); bit != NUMBER_NONE;
             bit = ac_next_option(&query->tree, options, NULL, bit + 1)) {
            uint32_t slot = ac_option_slot(query, bit);
            ac_charge(query, 1);
            if (slot < least && most < place_at(query, slot)->end)
                return true;
            /* after this bit, none of the tree's own slots is an ancestor; the sharing providers
             * follow */
            if (slot >= least && bit < query->tree.own_words * 64)
                bit = query->tree.own_words * 64 - 1;
        }
        if (query->budget->left < 0)
            return true;
    }
    return false;
}

/* Item 7: if m is the smallest slot in pre-order, all must be in m's interval. While members are
 * still to be chosen, one of them may become m. */
static bool subtree_holds(struct ac_query *query, const struct ac_walk *walk, uint32_t depth,
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
    if (least == NUMBER_NONE || most < place_at(query, least)->end)
        return true;
    return open && may_hold_later(query, depth, subtree, least, most);
}

static bool subtrees_hold(struct ac_query *query, const struct ac_walk *walk, uint32_t depth)
{
    const struct ac_level *level = &query->levels[depth];
    for (uint32_t s = 0; s < level->subtree_count; s++) {
        const struct ac_subtree *subtree = &query->subtrees[level->subtrees[s]];
        ac_charge(query, subtree->level_count / 4);
        if (!subtree_holds(query, walk, depth, subtree))
            return false;
    }
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

static bool any_option_has(struct ac_query *query, const struct fit_any *any,
                           const struct ac_level *level)
{
    const uint64_t *options = level->kind->options;
    for (uint32_t bit = ac_next_option(&query->tree, options, NULL, 0);
         bit != NUMBER_NONE && query->budget->left >= 0;
         bit = ac_next_option(&query->tree, options, NULL, bit + 1)) {
        uint32_t slot = ac_option_slot(query, bit);
        ac_charge(query, any->count);
        if (any_chosen_has(any, &slot, 1))
            return true;
    }
    return false;
}

/* Item 3: the providers of the unsuffixed group together have the traits. The traits still missing
 * must exist among the options of the remaining levels. */
static bool traits_met(struct ac_query *query, const struct ac_walk *walk, uint32_t depth)
{
    const struct ac_query_group *group = &query->groups[query->levels[depth].group];
    if (group->is_granular || query->is_flat)
        return true;
    uint32_t first = group->first_level;
    uint32_t last = first + group->level_count - 1;
    for (uint32_t i = 0; i < group->traits.any_count; i++) {
        const struct fit_any *any = &group->traits.any[i];
        ac_charge(query, (int64_t)any->count * (depth - first + 1));
        bool met = any_chosen_has(any, walk->chosen + first, depth - first + 1);
        for (uint32_t level = depth + 1; level <= last && !met; level++)
            met = any_option_has(query, any, &query->levels[level]);
        if (!met)
            return false;
    }
    return true;
}

/* Stores the broken rule that is last in the order of the rules, because the combinations that came
 * furthest failed at it. */
static bool breaks(struct ac_query *query, enum ac_none rule)
{
    if (query->none < rule)
        query->none = rule;
    return false;
}

static bool choose(struct ac_query *query, struct ac_walk *walk, uint32_t depth)
{
    const struct ac_level *level = &query->levels[depth];
    uint32_t slot = ac_option_slot(query, walk->at[depth]);
    walk->chosen[depth] = slot;
    if (level->shares_class && !sums_fit(query, walk, depth, slot))
        return breaks(query, AC_NONE_SUMS);
    if (query->isolate && !is_isolated(query, walk, depth, slot))
        return breaks(query, AC_NONE_GROUP_POLICY);
    if (!query->nested_aware && !is_alone_in_tree(query, walk, depth, slot))
        return breaks(query, AC_NONE_ONE_PROVIDER);
    if (!subtrees_hold(query, walk, depth))
        return breaks(query, AC_NONE_SAME_SUBTREE);
    if (walk->is_matched && !ac_contests_choose(query, depth, walk->at[depth]))
        return false;
    bool met = traits_met(query, walk, depth);
    query->lacks_traits = query->lacks_traits || !met;
    return met;
}

static uint64_t *useless_of(const struct ac_query *query, const struct ac_walk *walk,
                            uint32_t depth)
{
    return walk->useless + (size_t)depth * query->tree.words;
}

static void note_useless(const struct ac_query *query, struct ac_walk *walk, uint32_t depth)
{
    uint32_t bit = walk->at[depth];
    if (walk->useless != NULL && query->levels[depth].has_twin &&
        walk->found == walk->found_before[depth])
        useless_of(query, walk, depth)[bit / 64] |= (uint64_t)1 << (bit % 64);
}

/* Starts with the level's options. */
static void enter(struct ac_query *query, struct ac_walk *walk, uint32_t depth)
{
    const struct ac_level *level = &query->levels[depth];
    walk->at[depth] = 0;
    if (walk->useless == NULL || !level->has_twin)
        return;
    uint64_t *useless = useless_of(query, walk, depth);
    size_t bytes = query->tree.words * sizeof(*useless);
    if (level->twin == NUMBER_NONE)
        memset(useless, 0, bytes);
    else
        memcpy(useless, useless_of(query, walk, level->twin), bytes);
    ac_charge(query, query->tree.words / 8);
}

/* Allocates and clears the memory for options of the current tree that are known to be useless. */
static void forget_useless(struct ac_query *query, struct ac_walk *walk)
{
    size_t words = (size_t)query->level_count * query->tree.words;
    if (!query->has_twins || words > USELESS_WORDS_MAX) {
        walk->useless = NULL;
        walk->useless_words = 0;
        return;
    }
    if (words > walk->useless_words) {
        walk->useless = arena_array(query->arena, words, sizeof(*walk->useless));
        walk->useless_words = (uint32_t)words;
    }
    memset(walk->useless, 0, words * sizeof(*walk->useless));
    ac_charge(query, (int64_t)words / 16);
}

/* The first step in a tree; false: there is no combination. */
static bool ac_enumerate_begin(struct ac_query *query, struct ac_walk *walk)
{
    walk->started = true;
    walk->is_new_here = walk->is_matched = false;
    if (query->is_wide && !ac_contests_match(query, walk, 0))
        return false;
    forget_useless(query, walk);
    enter(query, walk, 0);
    return true;
}

/* The first step in a tree to which the walk has returned: the current choices made a
 * combination. */
static void ac_enumerate_go_on(struct ac_query *query, struct ac_walk *walk)
{
    walk->is_new_here = walk->is_matched = false;
    forget_useless(query, walk);
    walk->found++;
    for (uint32_t l = 0; l < query->level_count; l++)
        walk->found_before[l] = walk->found - 1;
    ac_charge(query, query->level_count / 4);
}

/* Returns to the previous level and continues with its next option. Matching begins only after a
 * walk has tried in vain, which most never do. */
static uint32_t go_back(struct ac_query *query, struct ac_walk *walk, uint32_t depth)
{
    depth--;
    bool in_vain = walk->found == walk->found_before[depth];
    note_useless(query, walk, depth);
    walk->at[depth]++;
    if (in_vain && query->may_contest)
        ac_contests_find(query);
    if (in_vain && query->contests != NULL && !walk->is_matched) {
        walk->is_matched = ac_contests_match(query, walk, depth);
        if (!walk->is_matched)
            walk->at[depth] = query->tree.words * 64; /* none of its other options has a
                                                       * combination, either */
    }
    return depth;
}

static const uint64_t *without(const struct ac_query *query, const struct ac_walk *walk,
                               uint32_t depth)
{
    return walk->useless != NULL && query->levels[depth].has_twin ? useless_of(query, walk, depth)
                                                                  : NULL;
}

bool ac_walk_next(struct ac_query *query, struct ac_walk *walk)
{
    uint32_t depth = 0;
    if (query->level_count == 0)
        return false;
    if (walk->started) {
        depth = query->level_count - 1;
        walk->at[depth]++;
        if (walk->is_new_here)
            ac_enumerate_go_on(query, walk);
    } else if (!ac_enumerate_begin(query, walk)) {
        return false;
    }
    const bool is_bare = !query->has_twins && !query->may_contest && query->contests == NULL;
    for (;;) {
        if (!budget_take(query->budget, 2 + depth / 4))
            return false;
        const struct ac_level *level = &query->levels[depth];
        uint32_t bit =
            ac_next_option(&query->tree, level->kind->options,
                           is_bare ? NULL : without(query, walk, depth), walk->at[depth]);
        if (bit == NUMBER_NONE) {
            if (depth == 0) {
                walk->at[0] = bit;
                return false;
            }
            if (is_bare)
                walk->at[--depth]++;
            else
                depth = go_back(query, walk, depth);
            continue;
        }
        walk->at[depth] = bit;
        walk->found_before[depth] = walk->found;
        if (!choose(query, walk, depth)) {
            if (!is_bare)
                note_useless(query, walk, depth);
            walk->at[depth]++;
            continue;
        }
        if (++depth == query->level_count) {
            walk->found++;
            return true;
        }
        if (is_bare)
            walk->at[depth] = 0;
        else
            enter(query, walk, depth);
    }
}
