/* Finds anchors: the trees that have an option for every choice, and these options.
 *
 * Slots are scanned page by page and only as far as the search gets. If there is a kind that no
 * sharing provider can serve, it is the driver: only trees with one of its slots are examined. A
 * tree's options for a kind are its own slots plus the sharing providers that share an aggregate
 * with one of its providers (item 8). Any thread. */
#include "query/ac_query.h"

#include <stdlib.h>

#include "base/search.h"

enum { KEPT_BYTES_MAX = 256 << 20 }; /* the maximum size of an answer */

static void see_shared(struct ac_query *query, uint32_t aggregate, uint32_t root, uint32_t end)
{
    uint32_t low;
    SEARCH_LOWER(low, 0, query->shared_count, query->shared[low].aggregate < aggregate);
    for (; low < query->shared_count && query->shared[low].aggregate == aggregate; low++) {
        uint32_t index = query->shared[low].index;
        ac_charge(query, 1);
        uint32_t slot = query->sharing[index];
        uint64_t bit = (uint64_t)1 << (index % 64);
        if ((query->tree_sharing_seen[index / 64] & bit) != 0 || (slot >= root && slot < end))
            continue; /* providers of the tree itself are options anyway */
        query->tree_sharing_seen[index / 64] |= bit;
        query->tree_sharing[query->tree_sharing_count++] = index;
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Finds the sharing providers of other trees that share an aggregate with this tree. */
static void find_tree_sharing(struct ac_query *query, uint32_t root, uint32_t end)
{
    for (uint32_t i = 0; i < query->tree_sharing_count; i++)
        query->tree_sharing_seen[query->tree_sharing[i] / 64] = 0;
    query->tree_sharing_count = 0;
    const struct name_set *last = NULL;
    for (uint32_t slot = root; slot < end && budget_take(query->budget, 1); slot++) {
        const struct name_set *set =
            version_place(query->version, (struct slot_no){slot})->provider->aggregates;
        if (set == last)
            continue;
        ac_charge(query, 2 * (int64_t)set->count);
        last = set;
        for (uint32_t i = 0; i < set->count; i++)
            see_shared(query, set->numbers[i], root, end);
    }
    ac_charge(query, 8 * (int64_t)query->tree_sharing_count);
    if (query->tree_sharing_count > 1)
        qsort(query->tree_sharing, query->tree_sharing_count, sizeof(uint32_t), compare_u32);
}

/* Removes the options that the unsuffixed group's aggregates exclude. The provider's own aggregates
 * count, and those of its root (item 2). */
static void keep_members(struct ac_query *query, const struct ac_query_group *group, uint32_t root,
                         uint64_t *words)
{
    struct fit_filter positive = {.any = group->aggregates.any,
                                  .any_count = group->aggregates.any_count};
    struct fit_filter negative = {.none = group->aggregates.none,
                                  .none_count = group->aggregates.none_count};
    int64_t cost = fit_filter_steps(&group->aggregates);
    bool root_is_member = fit_filter_slot(&positive, (struct slot_no){root});
    ac_charge(query, cost);
    for (uint32_t w = 0; w < query->tree.own_words; w++) {
        for (uint64_t left = words[w]; left != 0; left &= left - 1) {
            struct slot_no at = {query->tree.base + w * 64 + (uint32_t)__builtin_ctzll(left)};
            ac_charge(query, cost);
            if ((!root_is_member && (at.v == root || !fit_filter_slot(&positive, at))) ||
                !fit_filter_slot(&negative, at))
                words[w] &= ~(left & -left);
        }
    }
}

/* Finds the slots of the tree [root, end) that can serve a kind. */
static void own_options(struct ac_query *query, uint32_t k, uint32_t root, uint32_t end)
{
    const struct ac_query_group *group = &query->groups[query->kinds[k].group];
    uint64_t *words = query->kinds[k].options;
    uint32_t first = query->tree.base / 64;
    uint32_t last = first + query->tree.own_words - 1;
    if (first / FIT_WORDS == last / FIT_WORDS) {
        const uint64_t *page = ac_kind_page(query, k, first / FIT_WORDS) + first % FIT_WORDS;
        for (uint32_t w = 0; w < query->tree.own_words; w++)
            words[w] = page[w];
    } else {
        for (uint32_t w = first; w <= last; w++)
            words[w - first] = ac_kind_page(query, k, w / FIT_WORDS)[w % FIT_WORDS];
    }
    words[0] &= ~(uint64_t)0 << (root % 64);
    if (end % 64 != 0)
        words[query->tree.own_words - 1] &= ~(~(uint64_t)0 << (end % 64));
    if (!query->is_flat && !group->is_granular &&
        group->aggregates.any_count + group->aggregates.none_count > 0)
        keep_members(query, group, root, words);
}

/* Finds the sharing providers of other trees that can serve a kind. */
static void shared_options(struct ac_query *query, struct ac_kind *kind)
{
    uint64_t *words = kind->options + query->tree.own_words;
    uint64_t word = 0;
    ac_charge(query, query->tree_sharing_count / 4);
    for (uint32_t i = 0; i < query->tree_sharing_count; i++) {
        uint32_t index = query->tree_sharing[i];
        if (kind->can_share)
            word |= (kind->sharing[index / 64] >> (index % 64) & 1) << (i % 64);
        if (i % 64 == 63 || i + 1 == query->tree_sharing_count) {
            words[i / 64] = word;
            word = 0;
        }
    }
}

static bool is_zero(const uint64_t *words, uint32_t count)
{
    uint64_t all = 0;
    for (uint32_t w = 0; w < count; w++)
        all |= words[w];
    return all == 0;
}

/* False: no provider in the tree, or sharing with it, can serve the kind. */
static bool set_kind(struct ac_query *query, uint32_t k, uint32_t root, uint32_t end)
{
    struct ac_kind *kind = &query->kinds[k];
    const struct ac_query_group *group = &query->groups[kind->group];
    if (!group->is_granular && !query->is_flat) {
        struct fit_filter negative = {.none = group->aggregates.none,
                                      .none_count = group->aggregates.none_count};
        ac_charge(query, negative.none_count / 2);
        if (negative.none_count > 0 && !fit_filter_slot(&negative, (struct slot_no){root}))
            return false; /* item 2: the root is in a forbidden aggregate */
        if (group->in_tree && root != group->tree_root)
            return false;
    }
    own_options(query, k, root, end);
    if (query->tree_sharing_count > 0)
        shared_options(query, kind);
    return !is_zero(kind->options, query->tree.words);
}

bool ac_keep(struct ac_query *query, size_t bytes)
{
    query->kept_bytes += bytes;
    if (query->kept_bytes <= KEPT_BYTES_MAX)
        return true;
    query->is_too_large = true;
    budget_exhaust(query->budget);
    return false;
}

/* Lays out the bits of the tree [root, end). False: there are too many. */
static bool lay_out(struct ac_query *query, uint32_t root, uint32_t end)
{
    struct ac_tree *tree = &query->tree;
    tree->base = root - root % 64;
    tree->own_words = (end - tree->base + 63) / 64;
    tree->words = tree->own_words + (query->tree_sharing_count + 63) / 64;
    if (tree->words <= tree->capacity)
        return true;
    tree->capacity = tree->words < 4 ? 4 : tree->words + tree->words / 2;
    if (!ac_keep(query, (size_t)tree->capacity * query->kind_count * sizeof(uint64_t)))
        return false;
    uint64_t *words = arena_array(query->arena, tree->capacity, query->kind_count * sizeof(*words));
    for (uint32_t k = 0; k < query->kind_count; k++, words += tree->capacity)
        query->kinds[k].options = words;
    return true;
}

bool ac_set_options(struct ac_query *query, uint32_t root)
{
    struct slot_no at = {root};
    uint32_t end = version_place(query->version, at)->end;
    int64_t roots = (int64_t)query->roots.any_count + query->roots.none_count;
    if (!budget_take(query->budget, 1 + roots) ||
        (roots > 0 && !fit_filter_slot(&query->roots, at)))
        return false;
    if (query->sharing_count > 0)
        find_tree_sharing(query, root, end);
    if (!lay_out(query, root, end))
        return false;
    int64_t cost = 1 + (int64_t)query->tree.words / 4;
    for (uint32_t k = 0; k < query->kind_count; k++)
        if (!budget_take(query->budget, cost) || !set_kind(query, k, root, end))
            return false;
    return true;
}

static uint64_t driver_word(struct ac_query *query, uint32_t word_no)
{
    uint32_t page = word_no / FIT_WORDS;
    uint64_t word = ac_kind_page(query, query->driver, page)[word_no % FIT_WORDS];
    if (word == 0 || !query->is_flat)
        return word;
    for (uint32_t k = 0; k < query->kind_count && word != 0; k++) {
        if (!budget_take(query->budget, 1))
            return 0;
        word &= ac_kind_page(query, k, page)[word_no % FIT_WORDS];
    }
    return word;
}

/* The driver's first slot that is not less than `from`, or NUMBER_NONE. */
static uint32_t driver_next(struct ac_query *query, uint32_t from)
{
    uint32_t words = query->page_count * FIT_WORDS;
    for (uint32_t word_no = from / 64; word_no < words; word_no++) {
        uint64_t word = driver_word(query, word_no);
        if (word_no == from / 64)
            word &= ~(uint64_t)0 << (from % 64);
        if (word != 0)
            return word_no * 64 + (uint32_t)__builtin_ctzll(word);
        if (word_no % 4 == 0 && !budget_take(query->budget, 1))
            break;
    }
    return NUMBER_NONE;
}

static uint32_t next_root(const struct ac_query *query, uint32_t from)
{
    for (uint32_t slot = from; slot < query->version->slot_limit; slot++) {
        const struct place *place = version_place(query->version, (struct slot_no){slot});
        if (place != NULL && place->provider != NULL && place->root == slot)
            return slot;
        if (!budget_take(query->budget, 1))
            break;
    }
    return NUMBER_NONE;
}

bool ac_next_anchor(struct ac_query *query, uint32_t *root)
{
    uint32_t from = *root;
    while (budget_take(query->budget, 1)) {
        uint32_t slot =
            query->driver != NUMBER_NONE ? driver_next(query, from) : next_root(query, from);
        if (slot == NUMBER_NONE)
            return false;
        *root = version_place(query->version, (struct slot_no){slot})->root;
        if (ac_set_options(query, *root))
            return true;
        from = version_place(query->version, (struct slot_no){*root})->end;
    }
    return false;
}

bool ac_query_is_empty(struct ac_query *query)
{
    struct ac_walk walk;
    ac_walk_init(query, &walk);
    uint32_t root = 0;
    while (ac_next_anchor(query, &root)) {
        ac_walk_reset(&walk);
        if (ac_walk_next(query, &walk))
            return false;
        root = version_place(query->version, (struct slot_no){root})->end;
    }
    return !query->budget->exhausted;
}
