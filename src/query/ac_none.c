/* Why there are no candidates: asked once the search has found none, so that a search that finds
 * some pays nothing.
 *
 * What the walk refused is known from the walk. Otherwise no tree had an option for every level:
 * then the first level that nobody can serve, looked at alone, falls by some condition; or each
 * level can be served, but not by one tree. A level's conditions are asked in one order, page by
 * page; the condition that took out the last of the page that came furthest is the answer. Any
 * thread. */
#include "query/ac_plan.h"

enum { FIND_STEPS = 50000 }; /* a quarter of what a search on a worker has */

const char *ac_none_name(enum ac_none none)
{
    static const char *const NAMES[AC_NONE_COUNT] = {
        [AC_NONE_FOUND_SOME] = "",
        [AC_NONE_UNKNOWN_CLASS] = "unknown_resource_class",
        [AC_NONE_UNKNOWN_TRAIT] = "unknown_trait",
        [AC_NONE_NOTHING_ASKED] = "nothing_asked",
        [AC_NONE_INVENTORY] = "no_inventory",
        [AC_NONE_CAPACITY] = "capacity",
        [AC_NONE_REQUIRED_TRAITS] = "required_traits",
        [AC_NONE_FORBIDDEN_TRAITS] = "forbidden_traits",
        [AC_NONE_MEMBER_OF] = "member_of",
        [AC_NONE_FORBIDDEN_AGGREGATES] = "forbidden_aggregates",
        [AC_NONE_IN_TREE] = "in_tree",
        [AC_NONE_ROOT_TRAITS] = "root_traits",
        [AC_NONE_SHARING] = "sharing",
        [AC_NONE_ONE_TREE] = "one_tree",
        [AC_NONE_SUMS] = "capacity_together",
        [AC_NONE_GROUP_POLICY] = "group_policy",
        [AC_NONE_ONE_PROVIDER] = "one_provider_a_tree",
        [AC_NONE_SAME_SUBTREE] = "same_subtree",
        [AC_NONE_LIMIT] = "limit",
        [AC_NONE_ABANDONED] = "abandoned",
        [AC_NONE_NOT_KNOWN] = "not_known",
    };
    return NAMES[none];
}

static const struct ac_plan_group *group_of(const struct ac_plan *plan, const struct ac_kind *kind)
{
    return &plan->groups[kind->group];
}

/* Whether the group's traits and aggregates are each provider's own matter; else traits are met
 * together, and a root's aggregates are its tree's. */
static bool is_by_provider(const struct ac_plan *plan, const struct ac_kind *kind)
{
    return group_of(plan, kind)->is_granular || plan->is_flat;
}

struct condition {
    struct fit_filter filter;
    enum ac_none none;
};

static struct fit_filter positive(const struct fit_filter *filter)
{
    return (struct fit_filter){.any = filter->any, .any_count = filter->any_count};
}

static struct fit_filter negative(const struct fit_filter *filter)
{
    return (struct fit_filter){.none = filter->none, .none_count = filter->none_count};
}

/* Takes out the slots that neither pass the filter themselves nor by their root (`either`), or that
 * do not pass together with it. */
static void keep_by_root(struct ac_plan *plan, const struct fit_filter *filter, bool either,
                         uint32_t page, uint64_t words[FIT_WORDS])
{
    int64_t cost = 4 + 2 * fit_filter_steps(filter);
    for (uint32_t w = 0; w < FIT_WORDS; w++) {
        for (uint64_t left = words[w]; left != 0; left &= left - 1) {
            struct slot_no slot = {page * FIT_PAGE_SLOTS + w * 64 +
                                   (uint32_t)__builtin_ctzll(left)};
            struct slot_no root = {version_place(plan->version, slot)->root};
            ac_charge(plan, cost);
            bool own = fit_filter_slot(filter, slot);
            bool roots = fit_filter_slot(filter, root);
            if (either ? !own && !roots : !own || !roots)
                words[w] &= ~(left & -left);
        }
    }
}

/* The condition by which the last slot of the page falls; AC_NONE_FOUND_SOME: none does. */
static enum ac_none page_none(struct ac_plan *plan, const struct ac_kind *kind, uint32_t page)
{
    const struct ac_plan_group *group = group_of(plan, kind);
    const struct condition conditions[] = {
        {positive(&group->traits), AC_NONE_REQUIRED_TRAITS},
        {negative(&group->traits), AC_NONE_FORBIDDEN_TRAITS},
        {positive(&group->aggregates), AC_NONE_MEMBER_OF},
        {negative(&group->aggregates), AC_NONE_FORBIDDEN_AGGREGATES},
    };
    bool by_provider = is_by_provider(plan, kind);
    uint64_t words[FIT_WORDS];
    memset(words, 0xff, sizeof(words));
    for (uint32_t i = 0; i < kind->demand_count; i++)
        ac_charge(plan, fit_demand_page(plan->version, &kind->demands[i], page, words));
    if (fit_words_empty(words))
        return AC_NONE_CAPACITY;
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        const struct condition *condition = &conditions[i];
        if (by_provider || condition->none == AC_NONE_FORBIDDEN_TRAITS)
            fit_filter_page(&condition->filter, page, words);
        else if (condition->none != AC_NONE_REQUIRED_TRAITS &&
                 condition->filter.any_count + condition->filter.none_count > 0)
            keep_by_root(plan, &condition->filter, condition->none == AC_NONE_MEMBER_OF, page,
                         words);
        if (fit_words_empty(words))
            return condition->none;
    }
    if (group->in_tree)
        ac_keep_interval(page, group->tree_root, group->tree_end, words);
    return fit_words_empty(words) ? AC_NONE_IN_TREE : AC_NONE_FOUND_SOME;
}

static bool somebody_has(const struct fit_any *any)
{
    for (uint32_t i = 0; i < any->count; i++)
        if (any->sets[i]->count > 0)
            return true;
    return false;
}

/* Why nobody serves the level, looked at alone; AC_NONE_FOUND_SOME: somebody does. */
static enum ac_none kind_none(struct ac_plan *plan, const struct ac_kind *kind)
{
    const struct ac_plan_group *group = group_of(plan, kind);
    for (uint32_t i = 0; i < kind->demand_count; i++)
        if (kind->demands[i].column->holders.count == 0)
            return AC_NONE_INVENTORY;
    enum ac_none furthest = kind->demand_count > 0 ? AC_NONE_CAPACITY : AC_NONE_REQUIRED_TRAITS;
    for (uint32_t page = 0; page < plan->page_count; page++) {
        if (!budget_take(plan->budget, 8 + FIT_STEPS_A_SET * (int64_t)group->set_count))
            return AC_NONE_NOT_KNOWN;
        enum ac_none none = page_none(plan, kind, page);
        if (none == AC_NONE_FOUND_SOME) {
            furthest = none;
            break;
        }
        if (none > furthest)
            furthest = none;
    }
    bool has_capacity = furthest == AC_NONE_FOUND_SOME || furthest > AC_NONE_REQUIRED_TRAITS;
    for (uint32_t i = 0; has_capacity && i < group->traits.any_count; i++)
        if (!somebody_has(&group->traits.any[i]))
            return AC_NONE_REQUIRED_TRAITS;
    return furthest;
}

/* Whether there would be an anchor if any root would do. */
static bool falls_by_roots(const struct ac_plan *plan)
{
    if (plan->roots.any_count + plan->roots.none_count == 0)
        return false;
    struct ac_plan any_root = *plan;
    any_root.roots = (struct fit_filter){0};
    uint32_t root = 0;
    return ac_next_anchor(&any_root, &root);
}

static enum ac_none find(struct ac_plan *plan)
{
    bool can_share = false;
    for (uint32_t k = 0; k < plan->kind_count; k++) {
        enum ac_none none = kind_none(plan, &plan->kinds[k]);
        if (none != AC_NONE_FOUND_SOME)
            return none;
        can_share = can_share || plan->kinds[k].can_share;
    }
    if (falls_by_roots(plan))
        return AC_NONE_ROOT_TRAITS;
    if (plan->budget->exhausted)
        return AC_NONE_NOT_KNOWN;
    return can_share ? AC_NONE_SHARING : AC_NONE_ONE_TREE;
}

enum ac_none ac_none_find(struct ac_plan *plan)
{
    if (plan->lacks_traits)
        return AC_NONE_REQUIRED_TRAITS;
    if (plan->none != AC_NONE_FOUND_SOME)
        return plan->none;
    struct budget own = {.left = FIND_STEPS};
    struct budget *search = plan->budget;
    plan->budget = &own;
    enum ac_none none = find(plan);
    plan->budget = search;
    return none;
}
