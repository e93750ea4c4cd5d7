/* Levels, and the kinds that they are of; who shares what; which levels are twins. All of it once a
 * question. Any thread.
 *
 * A question may have thousands of groups that ask for the same, or for as many different things:
 * so what is asked of pages and trees is asked once a kind, and each loop over groups here is
 * charged. */
#include <stdlib.h>

#include "query/ac_contests.h"
#include "query/ac_plan.h"

enum {
    PAIRS_MAX = 12,        /* demands that are compared one by one */
    ALIKE_MIN = 4,         /* granular groups, among which it pays to look for a kind */
    SUBTREES_COMPARED = 8, /* of a level, with all of another's */
};

/* What a granular group asks of its provider, as numbers: groups with the same ones are of a kind.
 */
struct key {
    uint64_t *words;
    uint32_t count;
    uint64_t hash;
};

static void key_put(struct key *key, uint64_t word)
{
    key->words[key->count++] = word;
    key->hash = (key->hash ^ word) * 0x9e3779b97f4a7c15u;
    key->hash ^= key->hash >> 29;
}

static void key_put_sets(struct key *key, const struct slotset **sets, uint32_t count)
{
    key_put(key, count);
    for (uint32_t i = 0; i < count; i++)
        key_put(key, (uint64_t)(uintptr_t)sets[i]);
}

static void key_put_filter(struct key *key, const struct fit_filter *filter)
{
    key_put(key, filter->any_count);
    for (uint32_t i = 0; i < filter->any_count; i++)
        key_put_sets(key, filter->any[i].sets, filter->any[i].count);
    key_put_sets(key, filter->none, filter->none_count);
}

static size_t filter_words(const struct fit_filter *filter)
{
    size_t words = 2 + (size_t)filter->any_count + filter->none_count;
    for (uint32_t i = 0; i < filter->any_count; i++)
        words += filter->any[i].count;
    return words;
}

static struct key key_of(struct ac_plan *plan, const struct ac_plan_group *group)
{
    size_t most = 2 + 2 * (size_t)group->demand_count + filter_words(&group->traits) +
                  filter_words(&group->aggregates);
    struct key key = {.words = arena_array(plan->arena, most, sizeof(uint64_t))};
    key_put(&key, group->demand_count);
    for (uint32_t i = 0; i < group->demand_count; i++) {
        key_put(&key, group->demands[i].class_no.v);
        key_put(&key, (uint64_t)group->demands[i].amount);
    }
    key_put(&key, group->in_tree ? group->tree_root : UINT64_MAX);
    key_put_filter(&key, &group->traits);
    key_put_filter(&key, &group->aggregates);
    ac_charge(plan, 4 + (int64_t)most / 2);
    return key;
}

/* The kinds of granular groups, by key. */
struct kind_table {
    struct key *keys; /* by slot of the table; words NULL: empty */
    struct ac_kind **kinds;
    uint32_t capacity; /* a power of two; 0: each group is a kind of its own */
};

static struct kind_table kind_table(struct ac_plan *plan)
{
    struct kind_table table = {.capacity = 4};
    uint32_t granular = 0;
    for (uint32_t g = 0; g < plan->group_count; g++)
        granular += plan->groups[g].is_granular;
    if (granular < ALIKE_MIN)
        return (struct kind_table){0};
    while (table.capacity < 2 * granular)
        table.capacity *= 2;
    table.keys = arena_zalloc(plan->arena, table.capacity * sizeof(*table.keys));
    table.kinds = arena_array(plan->arena, table.capacity, sizeof(*table.kinds));
    return table;
}

static struct ac_kind *add_kind(struct ac_plan *plan, const struct ac_level *level)
{
    struct ac_kind *kind = &plan->kinds[plan->kind_count];
    *kind = (struct ac_kind){
        .group = level->group, .demands = level->demands, .demand_count = level->demand_count};
    kind->pages = arena_zalloc(plan->arena, plan->page_count * sizeof(*kind->pages));
    ac_charge(plan, 4 + plan->page_count / 16);
    plan->kind_count++;
    return kind;
}

static struct ac_kind *find_kind(struct ac_plan *plan, struct kind_table *table,
                                 const struct ac_level *level)
{
    const struct ac_plan_group *group = &plan->groups[level->group];
    if (!group->is_granular || table->capacity == 0)
        return add_kind(plan, level);
    struct key key = key_of(plan, group);
    uint32_t at = (uint32_t)(key.hash >> 32) & (table->capacity - 1);
    while (table->keys[at].words != NULL && budget_take(plan->budget, 1)) {
        const struct key *other = &table->keys[at];
        if (other->hash == key.hash && other->count == key.count &&
            memcmp(other->words, key.words, key.count * sizeof(*key.words)) == 0)
            return table->kinds[at];
        at = (at + 1) & (table->capacity - 1);
    }
    table->keys[at] = key;
    return table->kinds[at] = add_kind(plan, level);
}

static bool make_levels(struct ac_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < plan->group_count; g++)
        count += plan->groups[g].is_granular ? 1 : plan->groups[g].demand_count;
    plan->levels = arena_zalloc(plan->arena, count * sizeof(*plan->levels));
    plan->kinds = arena_array(plan->arena, count, sizeof(*plan->kinds));
    struct kind_table table = kind_table(plan);
    for (uint32_t g = 0; g < plan->group_count; g++) {
        struct ac_plan_group *group = &plan->groups[g];
        group->first_level = plan->level_count;
        group->level_count = group->is_granular ? 1 : group->demand_count;
        for (uint32_t i = 0; i < group->level_count; i++) {
            struct ac_level *level = &plan->levels[plan->level_count++];
            level->group = g;
            level->demands = group->is_granular ? group->demands : &group->demands[i];
            level->demand_count = group->is_granular ? group->demand_count : 1;
            level->twin = NUMBER_NONE;
            level->kind = find_kind(plan, &table, level);
            if (!budget_take(plan->budget, 1 + level->demand_count))
                return false;
        }
    }
    return true;
}

static bool asks_same_class(const struct ac_level *a, const struct ac_level *b)
{
    for (uint32_t i = 0; i < a->demand_count; i++)
        for (uint32_t j = 0; j < b->demand_count; j++)
            if (a->demands[i].class_no.v == b->demands[j].class_no.v)
                return true;
    return false;
}

/* Of few levels. */
static void mark_pairs(struct ac_plan *plan)
{
    for (uint32_t i = 1; i < plan->level_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (asks_same_class(&plan->levels[i], &plan->levels[j]))
                plan->levels[i].shares_class = plan->levels[j].shares_class = true;
}

/* Remembers the first level that asks for each class, and marks those that are not alone. */
static bool mark_shared_classes(struct ac_plan *plan)
{
    uint32_t count = 0;
    uint32_t capacity = 4;
    for (uint32_t l = 0; l < plan->level_count; l++)
        count += plan->levels[l].demand_count;
    if (count <= PAIRS_MAX) {
        mark_pairs(plan);
        return true;
    }
    while (capacity < 2 * count)
        capacity *= 2;
    uint32_t *firsts = arena_array(plan->arena, capacity, 2 * sizeof(*firsts)); /* class, level */
    memset(firsts, 0xff, capacity * 2 * sizeof(*firsts));
    for (uint32_t l = 0; l < plan->level_count; l++) {
        struct ac_level *level = &plan->levels[l];
        for (uint32_t i = 0; i < level->demand_count; i++) {
            uint32_t class_no = level->demands[i].class_no.v;
            uint32_t at = class_no * 0x9e3779b1u & (capacity - 1);
            while (firsts[2 * at] != class_no && firsts[2 * at] != NUMBER_NONE &&
                   budget_take(plan->budget, 1))
                at = (at + 1) & (capacity - 1);
            if (firsts[2 * at] == class_no && firsts[2 * at + 1] != l)
                level->shares_class = plan->levels[firsts[2 * at + 1]].shares_class = true;
            if (firsts[2 * at] == NUMBER_NONE) {
                firsts[2 * at] = class_no;
                firsts[2 * at + 1] = l;
            }
        }
        if (!budget_take(plan->budget, level->demand_count))
            return false;
    }
    return true;
}

/* Whether a sharing provider can serve a kind for trees other than its own. */
static bool shares_for(struct ac_plan *plan, const struct ac_kind *kind, uint32_t slot)
{
    const struct ac_plan_group *group = &plan->groups[kind->group];
    struct slot_no at = {slot};
    for (uint32_t i = 0; i < kind->demand_count; i++)
        if (!fit_demand_slot(plan->version, &kind->demands[i], at))
            return false;
    if (group->in_tree &&
        (!group->is_granular || slot < group->tree_root || slot >= group->tree_end))
        return false; /* item 4 */
    if (group->is_granular)
        return fit_filter_slot(&group->traits, at) && fit_filter_slot(&group->aggregates, at);
    struct fit_filter forbidden = {.none = group->traits.none,
                                   .none_count = group->traits.none_count};
    return fit_filter_slot(&forbidden, at) && fit_filter_slot(&group->aggregates, at);
}

static int compare_shared(const void *a, const void *b)
{
    const struct ac_shared *x = a;
    const struct ac_shared *y = b;
    if (x->aggregate != y->aggregate)
        return x->aggregate < y->aggregate ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void index_shared(struct ac_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->sharing_count; i++)
        count += version_place(plan->version, (struct slot_no){plan->sharing[i]})
                     ->provider->aggregates->count;
    plan->shared = arena_array(plan->arena, count, sizeof(*plan->shared));
    for (uint32_t i = 0; i < plan->sharing_count; i++) {
        const struct name_set *set =
            version_place(plan->version, (struct slot_no){plan->sharing[i]})->provider->aggregates;
        for (uint32_t j = 0; j < set->count; j++)
            plan->shared[plan->shared_count++] = (struct ac_shared){set->numbers[j], i};
    }
    bool in_order = true; /* mostly: racks and their pools come one by one */
    for (uint32_t i = 1; i < plan->shared_count && in_order; i++)
        in_order = plan->shared[i - 1].aggregate <= plan->shared[i].aggregate;
    ac_charge(plan, (int64_t)plan->shared_count * (in_order ? 1 : 32));
    if (!in_order)
        qsort(plan->shared, plan->shared_count, sizeof(*plan->shared), compare_shared);
    plan->tree_sharing = arena_array(plan->arena, plan->sharing_count, sizeof(uint32_t));
    plan->tree_sharing_seen = arena_zalloc(plan->arena, (plan->sharing_count / 64 + 1) * 8);
}

/* Notes for which kinds the provider at the slot may share; false: the budget ran out. */
static bool note_sharing(struct ac_plan *plan, uint32_t slot)
{
    bool any = false;
    for (uint32_t k = 0; k < plan->kind_count; k++) {
        struct ac_kind *kind = &plan->kinds[k];
        if (!budget_take(plan->budget, 2 + (int64_t)plan->groups[kind->group].set_count / 2))
            return false;
        if (!shares_for(plan, kind, slot))
            continue;
        any = kind->can_share = true;
        kind->sharing[plan->sharing_count / 64] |= (uint64_t)1 << (plan->sharing_count % 64);
    }
    if (any)
        plan->sharing[plan->sharing_count++] = slot;
    return true;
}

static bool find_sharing(struct ac_plan *plan)
{
    const struct catalog_row *row =
        catalog_find(&plan->version->traits, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE"));
    if (row == NULL)
        return true;
    const struct slotset *set = &catalog_at(&plan->version->traits, row->number)->slots;
    if (set->count == 0)
        return true;
    plan->sharing = arena_array(plan->arena, set->count, sizeof(uint32_t));
    for (uint32_t k = 0; k < plan->kind_count; k++)
        plan->kinds[k].sharing = arena_zalloc(plan->arena, (set->count / 64 + 1) * 8);
    ac_charge(plan, (int64_t)plan->kind_count * (1 + set->count / 512));
    for (uint32_t slot = slotset_next(set, 0); slot != NUMBER_NONE;
         slot = slotset_next(set, slot + 1))
        if (!note_sharing(plan, slot))
            return false;
    if (plan->sharing_count > 0)
        index_shared(plan);
    return true;
}

/* One provider serves all groups, so whatever is asked of several together holds; but not that they
 * be different, and amounts of one class would have to be added. */
static bool is_plain(const struct ac_plan *plan)
{
    uint32_t granular = 0;
    if (!plan->is_flat || plan->level_count == 0)
        return false;
    for (uint32_t l = 0; l < plan->level_count; l++) {
        if (plan->levels[l].shares_class)
            return false;
        granular += plan->groups[plan->levels[l].group].is_granular;
    }
    return !plan->isolate || granular < 2;
}

/* The kind whose slots the trees must have: one that nobody shares. */
static void find_driver(struct ac_plan *plan)
{
    plan->driver = NUMBER_NONE;
    for (uint32_t k = 0; k < plan->kind_count; k++)
        if (!plan->kinds[k].can_share &&
            (plan->driver == NUMBER_NONE || plan->groups[plan->kinds[k].group].in_tree))
            plan->driver = k;
}

bool ac_levels(struct ac_plan *plan)
{
    plan->page_count = (plan->version->slot_limit + FIT_PAGE_SLOTS - 1) / FIT_PAGE_SLOTS;
    if (!make_levels(plan) || !mark_shared_classes(plan) || !find_sharing(plan))
        return false;
    find_driver(plan);
    plan->is_flat = plan->version->nested_count == 0 && plan->sharing_count == 0;
    plan->is_plain = is_plain(plan);
    if (!plan->is_plain && ac_contests_are_likely(plan)) {
        ac_contests_find(plan);
        plan->is_wide = plan->contests != NULL;
    }
    return !plan->budget->exhausted;
}

/* The subtrees' levels are there; the levels' subtrees are made of them. */
static void list_subtrees(struct ac_plan *plan)
{
    for (uint32_t s = 0; s < plan->subtree_count; s++)
        for (uint32_t i = 0; i < plan->subtrees[s].level_count; i++)
            plan->levels[plan->subtrees[s].levels[i]].subtree_count++;
    for (uint32_t l = 0; l < plan->level_count; l++) {
        struct ac_level *level = &plan->levels[l];
        if (level->subtree_count == 0)
            continue;
        level->subtrees = arena_array(plan->arena, level->subtree_count, sizeof(uint32_t));
        level->subtree_count = 0;
    }
    for (uint32_t s = 0; s < plan->subtree_count; s++)
        for (uint32_t i = 0; i < plan->subtrees[s].level_count; i++) {
            struct ac_level *level = &plan->levels[plan->subtrees[s].levels[i]];
            level->subtrees[level->subtree_count++] = s;
            ac_charge(plan, 2);
        }
}

static bool has_level(const struct ac_subtree *subtree, uint32_t level)
{
    for (uint32_t i = 0; i < subtree->level_count; i++)
        if (subtree->levels[i] == level)
            return true;
    return false;
}

/* Whether `one` would be `other` if the levels changed places. */
static bool is_other_with(struct ac_plan *plan, const struct ac_subtree *one,
                          const struct ac_subtree *other, uint32_t level, uint32_t with)
{
    ac_charge(plan, (int64_t)one->level_count * other->level_count / 2);
    if (one->level_count != other->level_count || !has_level(other, with))
        return false;
    for (uint32_t i = 0; i < one->level_count; i++)
        if (one->levels[i] != level && !has_level(other, one->levels[i]))
            return false;
    return true;
}

/* Whether each subtree of `level` has the other level, too, or would be one of that one's if they
 * changed places. */
static bool may_take_place(struct ac_plan *plan, uint32_t level, uint32_t of)
{
    const struct ac_level *a = &plan->levels[level];
    const struct ac_level *b = &plan->levels[of];
    for (uint32_t i = 0; i < a->subtree_count; i++) {
        const struct ac_subtree *subtree = &plan->subtrees[a->subtrees[i]];
        bool found = has_level(subtree, of);
        for (uint32_t j = 0; j < b->subtree_count && !found; j++)
            found = is_other_with(plan, subtree, &plan->subtrees[b->subtrees[j]], level, of);
        if (!found)
            return false;
    }
    return true;
}

static bool alike_in_subtrees(struct ac_plan *plan, uint32_t x, uint32_t y)
{
    const struct ac_level *a = &plan->levels[x];
    const struct ac_level *b = &plan->levels[y];
    if (a->subtree_count != b->subtree_count)
        return false;
    if (a->subtree_count == 0 ||
        memcmp(a->subtrees, b->subtrees, a->subtree_count * sizeof(*a->subtrees)) == 0)
        return true;
    return a->subtree_count <= SUBTREES_COMPARED && may_take_place(plan, x, y) &&
           may_take_place(plan, y, x);
}

bool ac_levels_subtrees(struct ac_plan *plan)
{
    list_subtrees(plan);
    if (plan->kind_count == plan->level_count)
        return budget_take(plan->budget, plan->level_count);
    uint32_t *last = arena_array(plan->arena, plan->kind_count, sizeof(*last));
    memset(last, 0xff, plan->kind_count * sizeof(*last));
    for (uint32_t l = 0; l < plan->level_count; l++) {
        struct ac_level *level = &plan->levels[l];
        uint32_t *of_kind = &last[level->kind - plan->kinds];
        uint32_t other = *of_kind;
        *of_kind = l;
        if (!budget_take(plan->budget, 2 + level->subtree_count / 4))
            return false;
        if (other == NUMBER_NONE || !alike_in_subtrees(plan, l, other))
            continue;
        level->twin = other;
        level->has_twin = plan->levels[other].has_twin = plan->has_twins = true;
    }
    return true;
}
