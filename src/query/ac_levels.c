/* Determines the levels and their kinds, which kinds sharing providers can serve, and which levels
 * are twins. All of this is done once per query. Any thread.
 *
 * A query may have thousands of groups that request the same, or as many different things:
 * therefore pages and trees are examined once for each kind, and each loop over groups here is
 * charged. */
#include <stdlib.h>

#include "query/ac_contests.h"
#include "query/ac_query.h"

enum {
    PAIRS_MAX = 12,        /* demands that are compared one by one */
    ALIKE_MIN = 4,         /* with at least this many granular groups, a search for equal kinds is
                            * worthwhile */
    SUBTREES_COMPARED = 8, /* of one level, with all of another's */
};

/* The requirements of a granular group on its provider, as numbers: groups with equal keys are of
 * one kind. */
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

static struct key key_of(struct ac_query *query, const struct ac_query_group *group)
{
    size_t most = 2 + 2 * (size_t)group->demand_count + filter_words(&group->traits) +
                  filter_words(&group->aggregates);
    struct key key = {.words = arena_array(query->arena, most, sizeof(uint64_t))};
    key_put(&key, group->demand_count);
    for (uint32_t i = 0; i < group->demand_count; i++) {
        key_put(&key, group->demands[i].class_no.v);
        key_put(&key, (uint64_t)group->demands[i].amount);
    }
    key_put(&key, group->in_tree ? group->tree_root : UINT64_MAX);
    key_put_filter(&key, &group->traits);
    key_put_filter(&key, &group->aggregates);
    ac_charge(query, 4 + (int64_t)most / 2);
    return key;
}

/* The kinds of granular groups, by key. */
struct kind_table {
    struct key *keys; /* by slot of the table; words NULL: the slot is empty */
    struct ac_kind **kinds;
    uint32_t capacity; /* a power of two; 0: each group is a kind of its own */
};

static struct kind_table kind_table(struct ac_query *query)
{
    struct kind_table table = {.capacity = 4};
    uint32_t granular = 0;
    for (uint32_t g = 0; g < query->group_count; g++)
        granular += query->groups[g].is_granular;
    if (granular < ALIKE_MIN)
        return (struct kind_table){0};
    while (table.capacity < 2 * granular)
        table.capacity *= 2;
    table.keys = arena_zalloc(query->arena, table.capacity * sizeof(*table.keys));
    table.kinds = arena_array(query->arena, table.capacity, sizeof(*table.kinds));
    return table;
}

static struct ac_kind *add_kind(struct ac_query *query, const struct ac_level *level)
{
    struct ac_kind *kind = &query->kinds[query->kind_count];
    *kind = (struct ac_kind){
        .group = level->group, .demands = level->demands, .demand_count = level->demand_count};
    kind->pages = arena_zalloc(query->arena, query->page_count * sizeof(*kind->pages));
    ac_charge(query, 4 + query->page_count / 16);
    query->kind_count++;
    return kind;
}

static struct ac_kind *find_kind(struct ac_query *query, struct kind_table *table,
                                 const struct ac_level *level)
{
    const struct ac_query_group *group = &query->groups[level->group];
    if (!group->is_granular || table->capacity == 0)
        return add_kind(query, level);
    struct key key = key_of(query, group);
    uint32_t at = (uint32_t)(key.hash >> 32) & (table->capacity - 1);
    while (table->keys[at].words != NULL && budget_take(query->budget, 1)) {
        const struct key *other = &table->keys[at];
        if (other->hash == key.hash && other->count == key.count &&
            memcmp(other->words, key.words, key.count * sizeof(*key.words)) == 0)
            return table->kinds[at];
        at = (at + 1) & (table->capacity - 1);
    }
    table->keys[at] = key;
    return table->kinds[at] = add_kind(query, level);
}

static bool make_levels(struct ac_query *query)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < query->group_count; g++)
        count += query->groups[g].is_granular ? 1 : query->groups[g].demand_count;
    query->levels = arena_zalloc(query->arena, count * sizeof(*query->levels));
    query->kinds = arena_array(query->arena, count, sizeof(*query->kinds));
    struct kind_table table = kind_table(query);
    for (uint32_t g = 0; g < query->group_count; g++) {
        struct ac_query_group *group = &query->groups[g];
        group->first_level = query->level_count;
        group->level_count = group->is_granular ? 1 : group->demand_count;
        for (uint32_t i = 0; i < group->level_count; i++) {
            struct ac_level *level = &query->levels[query->level_count++];
            level->group = g;
            level->demands = group->is_granular ? group->demands : &group->demands[i];
            level->demand_count = group->is_granular ? group->demand_count : 1;
            level->twin = NUMBER_NONE;
            level->kind = find_kind(query, &table, level);
            if (!budget_take(query->budget, 1 + level->demand_count))
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

/* For few levels. */
static void mark_pairs(struct ac_query *query)
{
    for (uint32_t i = 1; i < query->level_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (asks_same_class(&query->levels[i], &query->levels[j]))
                query->levels[i].shares_class = query->levels[j].shares_class = true;
}

/* Stores the first level that requests each class, and marks the levels that share a class. */
static bool mark_shared_classes(struct ac_query *query)
{
    uint32_t count = 0;
    uint32_t capacity = 4;
    for (uint32_t l = 0; l < query->level_count; l++)
        count += query->levels[l].demand_count;
    if (count <= PAIRS_MAX) {
        mark_pairs(query);
        return true;
    }
    while (capacity < 2 * count)
        capacity *= 2;
    uint32_t *firsts = arena_array(query->arena, capacity, 2 * sizeof(*firsts)); /* class, level */
    memset(firsts, 0xff, capacity * 2 * sizeof(*firsts));
    for (uint32_t l = 0; l < query->level_count; l++) {
        struct ac_level *level = &query->levels[l];
        for (uint32_t i = 0; i < level->demand_count; i++) {
            uint32_t class_no = level->demands[i].class_no.v;
            uint32_t at = class_no * 0x9e3779b1u & (capacity - 1);
            while (firsts[2 * at] != class_no && firsts[2 * at] != NUMBER_NONE &&
                   budget_take(query->budget, 1))
                at = (at + 1) & (capacity - 1);
            if (firsts[2 * at] == class_no && firsts[2 * at + 1] != l)
                level->shares_class = query->levels[firsts[2 * at + 1]].shares_class = true;
            if (firsts[2 * at] == NUMBER_NONE) {
                firsts[2 * at] = class_no;
                firsts[2 * at + 1] = l;
            }
        }
        if (!budget_take(query->budget, level->demand_count))
            return false;
    }
    return true;
}

/* Whether a sharing provider can serve a kind for trees other than its own. */
static bool shares_for(struct ac_query *query, const struct ac_kind *kind, uint32_t slot)
{
    const struct ac_query_group *group = &query->groups[kind->group];
    struct slot_no at = {slot};
    for (uint32_t i = 0; i < kind->demand_count; i++)
        if (!fit_demand_slot(query->version, &kind->demands[i], at))
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

static void index_shared(struct ac_query *query)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < query->sharing_count; i++)
        count += version_place(query->version, (struct slot_no){query->sharing[i]})
                     ->provider->aggregates->count;
    query->shared = arena_array(query->arena, count, sizeof(*query->shared));
    for (uint32_t i = 0; i < query->sharing_count; i++) {
        const struct name_set *set =
            version_place(query->version, (struct slot_no){query->sharing[i]})
                ->provider->aggregates;
        for (uint32_t j = 0; j < set->count; j++)
            query->shared[query->shared_count++] = (struct ac_shared){set->numbers[j], i};
    }
    bool in_order = true; /* as a rule: racks and their pools come one by one */
    for (uint32_t i = 1; i < query->shared_count && in_order; i++)
        in_order = query->shared[i - 1].aggregate <= query->shared[i].aggregate;
    ac_charge(query, (int64_t)query->shared_count * (in_order ? 1 : 32));
    if (!in_order)
        qsort(query->shared, query->shared_count, sizeof(*query->shared), compare_shared);
    query->tree_sharing = arena_array(query->arena, query->sharing_count, sizeof(uint32_t));
    query->tree_sharing_seen = arena_zalloc(query->arena, (query->sharing_count / 64 + 1) * 8);
}

/* Finds the kinds for which the provider at the slot may share; false: the budget ran out. */
static bool note_sharing(struct ac_query *query, uint32_t slot)
{
    bool any = false;
    for (uint32_t k = 0; k < query->kind_count; k++) {
        struct ac_kind *kind = &query->kinds[k];
        if (!budget_take(query->budget, 2 + (int64_t)query->groups[kind->group].set_count / 2))
            return false;
        if (!shares_for(query, kind, slot))
            continue;
        any = kind->can_share = true;
        kind->sharing[query->sharing_count / 64] |= (uint64_t)1 << (query->sharing_count % 64);
    }
    if (any)
        query->sharing[query->sharing_count++] = slot;
    return true;
}

static bool find_sharing(struct ac_query *query)
{
    const struct catalog_row *row =
        catalog_find(&query->version->traits, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE"));
    if (row == NULL)
        return true;
    const struct slotset *set = &catalog_at(&query->version->traits, row->number)->slots;
    if (set->count == 0)
        return true;
    query->sharing = arena_array(query->arena, set->count, sizeof(uint32_t));
    for (uint32_t k = 0; k < query->kind_count; k++)
        query->kinds[k].sharing = arena_zalloc(query->arena, (set->count / 64 + 1) * 8);
    ac_charge(query, (int64_t)query->kind_count * (1 + set->count / 512));
    for (uint32_t slot = slotset_next(set, 0); slot != NUMBER_NONE;
         slot = slotset_next(set, slot + 1))
        if (!note_sharing(query, slot))
            return false;
    if (query->sharing_count > 0)
        index_shared(query);
    return true;
}

/* Whether one provider may serve all groups, so that requirements on several groups together are
 * met automatically. Not if the groups must have different providers, or if amounts of one class
 * must be added. */
static bool is_plain(const struct ac_query *query)
{
    uint32_t granular = 0;
    if (!query->is_flat || query->level_count == 0)
        return false;
    for (uint32_t l = 0; l < query->level_count; l++) {
        if (query->levels[l].shares_class)
            return false;
        granular += query->groups[query->levels[l].group].is_granular;
    }
    return !query->isolate || granular < 2;
}

/* Finds the driver: a kind that no sharing provider serves, so that trees must have one of its
 * slots. */
static void find_driver(struct ac_query *query)
{
    query->driver = NUMBER_NONE;
    for (uint32_t k = 0; k < query->kind_count; k++)
        if (!query->kinds[k].can_share &&
            (query->driver == NUMBER_NONE || query->groups[query->kinds[k].group].in_tree))
            query->driver = k;
}

bool ac_levels(struct ac_query *query)
{
    query->page_count = (query->version->slot_limit + FIT_PAGE_SLOTS - 1) / FIT_PAGE_SLOTS;
    if (!make_levels(query) || !mark_shared_classes(query) || !find_sharing(query))
        return false;
    find_driver(query);
    query->is_flat = query->version->nested_count == 0 && query->sharing_count == 0;
    query->is_plain = is_plain(query);
    if (!query->is_plain && ac_contests_are_likely(query)) {
        ac_contests_find(query);
        query->is_wide = query->contests != NULL;
    }
    return !query->budget->exhausted;
}

/* The levels of the subtrees are known; derives the subtrees of each level from them. */
static void list_subtrees(struct ac_query *query)
{
    for (uint32_t s = 0; s < query->subtree_count; s++)
        for (uint32_t i = 0; i < query->subtrees[s].level_count; i++)
            query->levels[query->subtrees[s].levels[i]].subtree_count++;
    for (uint32_t l = 0; l < query->level_count; l++) {
        struct ac_level *level = &query->levels[l];
        if (level->subtree_count == 0)
            continue;
        level->subtrees = arena_array(query->arena, level->subtree_count, sizeof(uint32_t));
        level->subtree_count = 0;
    }
    for (uint32_t s = 0; s < query->subtree_count; s++)
        for (uint32_t i = 0; i < query->subtrees[s].level_count; i++) {
            struct ac_level *level = &query->levels[query->subtrees[s].levels[i]];
            level->subtrees[level->subtree_count++] = s;
            ac_charge(query, 2);
        }
}

static bool has_level(const struct ac_subtree *subtree, uint32_t level)
{
    for (uint32_t i = 0; i < subtree->level_count; i++)
        if (subtree->levels[i] == level)
            return true;
    return false;
}

/* Whether `one` would become `other` if the levels were exchanged. */
static bool is_other_with(struct ac_query *query, const struct ac_subtree *one,
                          const struct ac_subtree *other, uint32_t level, uint32_t with)
{
    ac_charge(query, (int64_t)one->level_count * other->level_count / 2);
    if (one->level_count != other->level_count || !has_level(other, with))
        return false;
    for (uint32_t i = 0; i < one->level_count; i++)
        if (one->levels[i] != level && !has_level(other, one->levels[i]))
            return false;
    return true;
}

/* Whether each subtree of `level` also contains the other level, or would become one of the other's
 * subtrees if the two were exchanged. */
static bool may_take_place(struct ac_query *query, uint32_t level, uint32_t of)
{
    const struct ac_level *a = &query->levels[level];
    const struct ac_level *b = &query->levels[of];
    for (uint32_t i = 0; i < a->subtree_count; i++) {
        const struct ac_subtree *subtree = &query->subtrees[a->subtrees[i]];
        bool found = has_level(subtree, of);
        for (uint32_t j = 0; j < b->subtree_count && !found; j++)
            found = is_other_with(query, subtree, &query->subtrees[b->subtrees[j]], level, of);
        if (!found)
            return false;
    }
    return true;
}

static bool equal_in_subtrees(struct ac_query *query, uint32_t x, uint32_t y)
{
    const struct ac_level *a = &query->levels[x];
    const struct ac_level *b = &query->levels[y];
    if (a->subtree_count != b->subtree_count)
        return false;
    if (a->subtree_count == 0 ||
        memcmp(a->subtrees, b->subtrees, a->subtree_count * sizeof(*a->subtrees)) == 0)
        return true;
    return a->subtree_count <= SUBTREES_COMPARED && may_take_place(query, x, y) &&
           may_take_place(query, y, x);
}

bool ac_levels_subtrees(struct ac_query *query)
{
    list_subtrees(query);
    if (query->kind_count == query->level_count)
        return budget_take(query->budget, query->level_count);
    uint32_t *last = arena_array(query->arena, query->kind_count, sizeof(*last));
    memset(last, 0xff, query->kind_count * sizeof(*last));
    for (uint32_t l = 0; l < query->level_count; l++) {
        struct ac_level *level = &query->levels[l];
        uint32_t *of_kind = &last[level->kind - query->kinds];
        uint32_t other = *of_kind;
        *of_kind = l;
        if (!budget_take(query->budget, 2 + level->subtree_count / 4))
            return false;
        if (other == NUMBER_NONE || !equal_in_subtrees(query, l, other))
            continue;
        level->twin = other;
        level->has_twin = query->levels[other].has_twin = query->has_twins = true;
    }
    return true;
}
