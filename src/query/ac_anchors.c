/* Levels and anchors: which slots can serve which choice, and which trees offer something for every
 * choice.
 *
 * Slots are scanned page by page and only as far as the search gets. A level that no sharing
 * provider can serve drives: only trees with one of its slots are looked at. A tree's options for a
 * level are its own slots plus the sharing providers that share an aggregate with one of its
 * providers (item 8). Any thread. */
#include "query/ac_plan.h"

#include <stdlib.h>

#include "base/search.h"

static struct ac_plan_group *group_of(struct ac_plan *plan, const struct ac_level *level)
{
    return &plan->groups[level->group];
}

static void make_levels(struct ac_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < plan->group_count; g++)
        count += plan->groups[g].is_granular ? 1 : plan->groups[g].demand_count;
    plan->levels = arena_zalloc(plan->arena, count * sizeof(*plan->levels));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        struct ac_plan_group *group = &plan->groups[g];
        group->first_level = plan->level_count;
        group->level_count = group->is_granular ? 1 : group->demand_count;
        for (uint32_t i = 0; i < group->level_count; i++) {
            struct ac_level *level = &plan->levels[plan->level_count++];
            level->group = g;
            level->demands = group->is_granular ? group->demands : &group->demands[i];
            level->demand_count = group->is_granular ? group->demand_count : 1;
            level->pages = arena_zalloc(plan->arena, plan->page_count * sizeof(*level->pages));
        }
    }
}

static bool asks_same_class(const struct ac_level *a, const struct ac_level *b)
{
    for (uint32_t i = 0; i < a->demand_count; i++)
        for (uint32_t j = 0; j < b->demand_count; j++)
            if (a->demands[i].class_no.v == b->demands[j].class_no.v)
                return true;
    return false;
}

static void mark_shared_classes(struct ac_plan *plan)
{
    for (uint32_t i = 0; i < plan->level_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (asks_same_class(&plan->levels[i], &plan->levels[j]))
                plan->levels[i].shares_class = plan->levels[j].shares_class = true;
}

/* Whether a sharing provider can serve a level for trees other than its own. */
static bool shares_for(struct ac_plan *plan, struct ac_level *level, uint32_t slot)
{
    const struct ac_plan_group *group = group_of(plan, level);
    struct slot_no at = {slot};
    for (uint32_t i = 0; i < level->demand_count; i++)
        if (!fit_demand_slot(plan->version, &level->demands[i], at))
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
    if (plan->shared_count > 0)
        qsort(plan->shared, plan->shared_count, sizeof(*plan->shared), compare_shared);
    plan->tree_sharing = arena_array(plan->arena, plan->sharing_count, sizeof(uint32_t));
    plan->tree_sharing_seen = arena_zalloc(plan->arena, (plan->sharing_count / 64 + 1) * 8);
}

static void find_sharing(struct ac_plan *plan)
{
    const struct catalog_row *row =
        catalog_find(&plan->version->traits, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE"));
    if (row == NULL)
        return;
    const struct slotset *set = &catalog_at(&plan->version->traits, row->number)->slots;
    if (set->count == 0)
        return;
    plan->sharing = arena_array(plan->arena, set->count, sizeof(uint32_t));
    for (uint32_t l = 0; l < plan->level_count; l++)
        plan->levels[l].sharing = arena_zalloc(plan->arena, (set->count / 64 + 1) * 8);
    for (uint32_t slot = slotset_next(set, 0); slot != NUMBER_NONE;
         slot = slotset_next(set, slot + 1)) {
        bool any = false;
        plan->budget->left -= 2 * (int64_t)plan->level_count;
        for (uint32_t l = 0; l < plan->level_count; l++) {
            struct ac_level *level = &plan->levels[l];
            if (!shares_for(plan, level, slot))
                continue;
            any = level->can_share = true;
            level->sharing[plan->sharing_count / 64] |= (uint64_t)1 << (plan->sharing_count % 64);
        }
        if (any)
            plan->sharing[plan->sharing_count++] = slot;
    }
    if (plan->sharing_count > 0)
        index_shared(plan);
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

void ac_levels(struct ac_plan *plan)
{
    plan->page_count = (plan->version->slot_limit + FIT_PAGE_SLOTS - 1) / FIT_PAGE_SLOTS;
    make_levels(plan);
    mark_shared_classes(plan);
    find_sharing(plan);
    plan->is_flat = plan->version->nested_count == 0 && plan->sharing_count == 0;
    plan->is_plain = is_plain(plan);
}

static void option_add(struct ac_plan *plan, struct ac_level *level, uint32_t slot)
{
    level->options = arena_grow(plan->arena, level->options, level->option_count,
                                &level->option_capacity, sizeof(*level->options));
    level->options[level->option_count++] = slot;
}

/* The own slots of the tree [root, end) for a level. */
static void add_own_options(struct ac_plan *plan, struct ac_level *level, uint32_t root,
                            uint32_t end)
{
    const struct ac_plan_group *group = group_of(plan, level);
    bool filter = !plan->is_flat && !group->is_granular &&
                  group->aggregates.any_count + group->aggregates.none_count > 0;
    struct fit_filter positive = {.any = group->aggregates.any,
                                  .any_count = group->aggregates.any_count};
    struct fit_filter negative = {.none = group->aggregates.none,
                                  .none_count = group->aggregates.none_count};
    bool root_is_member = filter && fit_filter_slot(&positive, (struct slot_no){root});
    for (uint32_t slot = root; slot < end;) {
        const uint64_t *words = ac_level_page(plan, level, slot / FIT_PAGE_SLOTS);
        uint64_t word = words[slot % FIT_PAGE_SLOTS / 64] >> (slot % 64);
        if (word == 0) {
            slot = (slot / 64 + 1) * 64;
            continue;
        }
        slot += (uint32_t)__builtin_ctzll(word);
        if (slot >= end)
            break;
        struct slot_no at = {slot};
        if (!filter ||
            ((root_is_member || fit_filter_slot(&positive, at)) && fit_filter_slot(&negative, at)))
            option_add(plan, level, slot);
        slot++;
    }
}

static void see_shared(struct ac_plan *plan, uint32_t aggregate, uint32_t root, uint32_t end)
{
    uint32_t at;
    SEARCH_LOWER(at, 0, plan->shared_count, plan->shared[at].aggregate < aggregate);
    for (; at < plan->shared_count && plan->shared[at].aggregate == aggregate; at++) {
        uint32_t index = plan->shared[at].index;
        uint32_t slot = plan->sharing[index];
        uint64_t bit = (uint64_t)1 << (index % 64);
        if ((plan->tree_sharing_seen[index / 64] & bit) != 0 || (slot >= root && slot < end))
            continue; /* one's own tree's providers are options anyway */
        plan->tree_sharing_seen[index / 64] |= bit;
        plan->tree_sharing[plan->tree_sharing_count++] = index;
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Which sharing providers of other trees this tree shares an aggregate with. */
static void find_tree_sharing(struct ac_plan *plan, uint32_t root, uint32_t end)
{
    for (uint32_t i = 0; i < plan->tree_sharing_count; i++)
        plan->tree_sharing_seen[plan->tree_sharing[i] / 64] = 0;
    plan->tree_sharing_count = 0;
    const struct name_set *last = NULL;
    for (uint32_t slot = root; slot < end; slot++) {
        const struct name_set *set =
            version_place(plan->version, (struct slot_no){slot})->provider->aggregates;
        if (set == last)
            continue;
        last = set;
        for (uint32_t i = 0; i < set->count; i++)
            see_shared(plan, set->numbers[i], root, end);
    }
    if (plan->tree_sharing_count > 1)
        qsort(plan->tree_sharing, plan->tree_sharing_count, sizeof(uint32_t), compare_u32);
}

bool ac_set_options(struct ac_plan *plan, uint32_t root)
{
    struct slot_no at = {root};
    uint32_t end = version_place(plan->version, at)->end;
    if (!budget_take(plan->budget, 2 + (end - root) / 16) || !fit_filter_slot(&plan->roots, at))
        return false;
    if (plan->sharing_count > 0)
        find_tree_sharing(plan, root, end);
    for (uint32_t l = 0; l < plan->level_count; l++) {
        struct ac_level *level = &plan->levels[l];
        const struct ac_plan_group *group = group_of(plan, level);
        level->option_count = 0;
        if (!group->is_granular && !plan->is_flat) {
            struct fit_filter negative = {.none = group->aggregates.none,
                                          .none_count = group->aggregates.none_count};
            if (!fit_filter_slot(&negative, at))
                return false; /* item 2: the root is in a forbidden aggregate */
            if (group->in_tree && root != group->tree_root)
                return false;
        }
        add_own_options(plan, level, root, end);
        for (uint32_t i = 0; level->can_share && i < plan->tree_sharing_count; i++) {
            uint32_t index = plan->tree_sharing[i];
            if (level->sharing[index / 64] >> (index % 64) & 1)
                option_add(plan, level, plan->sharing[index]);
        }
        if (level->option_count == 0)
            return false;
    }
    return true;
}

/* The level whose slots the trees must have: one that nobody shares; NULL if every level may be
 * shared. */
static struct ac_level *find_driver(struct ac_plan *plan)
{
    struct ac_level *driver = NULL;
    for (uint32_t l = 0; l < plan->level_count; l++) {
        struct ac_level *level = &plan->levels[l];
        if (!level->can_share && (driver == NULL || group_of(plan, level)->in_tree))
            driver = level;
    }
    return driver;
}

static void driver_word(struct ac_plan *plan, struct ac_level *driver, uint32_t word_no,
                        uint64_t *word)
{
    uint32_t page = word_no / FIT_WORDS;
    *word = ac_level_page(plan, driver, page)[word_no % FIT_WORDS];
    if (*word == 0 || !plan->is_flat)
        return;
    for (uint32_t l = 0; l < plan->level_count && *word != 0; l++)
        *word &= ac_level_page(plan, &plan->levels[l], page)[word_no % FIT_WORDS];
}

/* The first slot of the driver not below `from`, or NUMBER_NONE. */
static uint32_t driver_next(struct ac_plan *plan, struct ac_level *driver, uint32_t from)
{
    uint32_t words = plan->page_count * FIT_WORDS;
    for (uint32_t word_no = from / 64; word_no < words; word_no++) {
        uint64_t word;
        driver_word(plan, driver, word_no, &word);
        if (word_no == from / 64)
            word &= ~(uint64_t)0 << (from % 64);
        if (word != 0)
            return word_no * 64 + (uint32_t)__builtin_ctzll(word);
    }
    return NUMBER_NONE;
}

static uint32_t next_root(const struct ac_plan *plan, uint32_t from)
{
    for (uint32_t slot = from; slot < plan->version->slot_limit; slot++) {
        const struct place *place = version_place(plan->version, (struct slot_no){slot});
        if (place != NULL && place->provider != NULL && place->root == slot)
            return slot;
    }
    return NUMBER_NONE;
}

bool ac_next_anchor(struct ac_plan *plan, uint32_t *root)
{
    struct ac_level *driver = find_driver(plan);
    uint32_t from = *root;
    while (budget_take(plan->budget, 1)) {
        uint32_t slot = driver != NULL ? driver_next(plan, driver, from) : next_root(plan, from);
        if (slot == NUMBER_NONE)
            return false;
        *root = version_place(plan->version, (struct slot_no){slot})->root;
        if (ac_set_options(plan, *root))
            return true;
        from = version_place(plan->version, (struct slot_no){*root})->end;
    }
    return false;
}

bool ac_plan_is_empty(struct ac_plan *plan)
{
    struct ac_walk walk;
    ac_walk_init(plan, &walk);
    uint32_t root = 0;
    while (ac_next_anchor(plan, &root)) {
        ac_walk_reset(&walk);
        if (ac_walk_next(plan, &walk))
            return false;
        root = version_place(plan->version, (struct slot_no){root})->end;
    }
    return !plan->budget->exhausted;
}
