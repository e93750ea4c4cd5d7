/* The walk through one anchor's combinations: depth first, every rule checked as soon as a choice
 * is made, nothing kept but the choices.
 *
 * Two things keep it from trying in vain. The contests (ac_contests.h) tell before the first choice
 * and after each whether all levels can still have providers. And of levels that could change
 * places (twins) a later one need not try what an earlier one has tried in vain while all before
 * it stood as it stands: were there a combination with it, the two exchanged would be one that the
 * earlier had found. Neither takes out a combination or alters the order of those that there are.
 * Any thread. */
#include "query/ac_contests.h"
#include "query/ac_query.h"

enum { USELESS_WORDS_MAX = 1 << 20 }; /* 8 MiB; of larger trees nothing is remembered */

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

/* Item 9: what several levels ask of one provider and class fits together, also into max_unit. */
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

/* Item 11: before 1.29 a candidate takes resources from one provider of a tree. */
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

/* Whether one of the levels to come can become the subtree's root. */
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
            /* of the tree's own none behind it is above; the sharing ones follow */
            if (slot >= least && bit < query->tree.own_words * 64)
                bit = query->tree.own_words * 64 - 1;
        }
        if (query->budget->left < 0)
            return true;
    }
    return false;
}

/* Item 7: in pre-order, with m the smallest slot, all lie in m's interval. While members are still
 * to be chosen, one of them may become that m. */
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

/* Item 3: the providers of the unsuffixed group have the traits together. What is still wanted must
 * be there among the options of the levels to come. */
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

/* Remembers the rule that was broken last in the order of the rules: what came furthest fell by it.
 */
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

/* Begins with the level's options. */
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

/* Room to remember what is useless in the tree at hand, empty. */
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

/* The first step in a tree that the walk has returned to: with all that is chosen there was a
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

/* Goes back to the level before, and on to its next option. Most walks are never in vain: only one
 * that has been goes on with a matching. */
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
            walk->at[depth] = query->tree.words * 64; /* nor has any other of its options one */
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
