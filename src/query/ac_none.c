/* Determines why there are no candidates, and how many providers each condition left. It runs only
 * when the search has found no candidate, so that other searches cost nothing extra (unless the log
 * must show the counts).
 *
 * If the walk refused combinations, it has noted the reason. Otherwise no tree had an option for
 * every level. Then either some level alone cannot be served, and the reason is a condition of the
 * first such level; or each level can be served, but not by one tree. A level's conditions are
 * applied in a fixed order, page by page; the reason is the condition that removed the last slot of
 * the page that came furthest. Counting must visit all pages; if that is too much work, there are
 * no counts. One function, examine_page(), does both.
 *
 * All of it is charged to the request's budget, as two parts of it, so that a request on the slow
 * lane has its turns. The last condition of a part may exceed it by its cost for one page. Any
 * thread. */
#include "query/ac_query.h"

enum {
    FIND_STEPS = AC_REASON_STEPS_MOST / 2,
    COUNT_STEPS = AC_REASON_STEPS_MOST / 2,
    STEPS_OF_A_CONDITION = 8, /* to list it */
};

const char *ac_none_name(enum ac_none none)
{
    static const char *const NAMES[AC_NONE_COUNT] = {
        [AC_NONE_FOUND_SOME] = "",
        [AC_NONE_UNKNOWN_CLASS] = "unknown_resource_class",
        [AC_NONE_UNKNOWN_TRAIT] = "unknown_trait",
        [AC_NONE_NOTHING_REQUESTED] = "nothing_requested",
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

static const struct ac_query_group *ac_none_group_of(const struct ac_query *query,
                                                     const struct ac_kind *kind)
{
    return &query->groups[kind->group];
}

/* Whether each provider must meet the group's traits and aggregates on its own; otherwise traits
 * are met together, and a root's aggregates count for its whole tree. */
static bool is_by_provider(const struct ac_query *query, const struct ac_kind *kind)
{
    return ac_none_group_of(query, kind)->is_granular || query->is_flat;
}

/* An entry of the list of conditions that are applied in turn to a kind's providers. */
struct condition {
    struct ac_step step;             /* its name, and how many providers it has left so far */
    const struct fit_demand *demand; /* NULL: the condition does not concern a resource */
    struct fit_filter filter;        /* of traits or aggregates; empty for the others */
    bool by_root;                    /* the filter is met together with the root of the tree */
    bool is_counted; /* false before the first condition that only providers can meet, because bits
                      * without a provider are still set then */
};

static struct fit_filter positive(const struct fit_filter *filter)
{
    return (struct fit_filter){.any = filter->any, .any_count = filter->any_count};
}

static struct fit_filter negative(const struct fit_filter *filter)
{
    return (struct fit_filter){.none = filter->none, .none_count = filter->none_count};
}

struct conditions {
    struct condition *list;
    uint32_t count;
    size_t capacity;
};

/* Removes slots by the filter: with `either`, those that do not pass it and whose root does not
 * pass it; otherwise those that do not pass together with their root. False: the budget ran out. */
static bool keep_by_root(struct ac_query *query, const struct fit_filter *filter, bool either,
                         uint32_t page, uint64_t words[FIT_WORDS])
{
    int64_t cost = 4 + 2 * fit_filter_steps(filter);
    for (uint32_t w = 0; w < FIT_WORDS; w++) {
        if (!budget_take(query->budget, cost * __builtin_popcountll(words[w])))
            return false;
        for (uint64_t left = words[w]; left != 0; left &= left - 1) {
            struct slot_no slot = {page * FIT_PAGE_SLOTS + w * 64 +
                                   (uint32_t)__builtin_ctzll(left)};
            struct slot_no root = {version_place(query->version, slot)->root};
            bool own = fit_filter_slot(filter, slot);
            bool roots = fit_filter_slot(filter, root);
            if (either ? !own && !roots : !own || !roots)
                words[w] &= ~(left & -left);
        }
    }
    return true;
}

static void add_condition(struct ac_query *query, const struct ac_query_group *group,
                          const struct condition *condition, struct conditions *out)
{
    bool was_counted = out->count > 0 && out->list[out->count - 1].is_counted;
    /* The reason is the last condition that a page came to. */
    check(out->count == 0 || out->list[out->count - 1].step.by <= condition->step.by);
    ac_charge(query, STEPS_OF_A_CONDITION);
    out->list = arena_grow(query->arena, out->list, out->count, &out->capacity, sizeof(*out->list));
    struct condition *added = &out->list[out->count++];
    *added = *condition;
    added->step.group = group->requested;
    added->is_counted = was_counted || condition->demand != NULL ||
                        condition->filter.any_count > 0 || condition->step.by == AC_NONE_IN_TREE;
}

/* The filters that are checked for each provider. */
static void add_filters(struct ac_query *query, const struct ac_kind *kind, struct conditions *out)
{
    const struct ac_query_group *group = ac_none_group_of(query, kind);
    const struct condition all[] = {
        {.step.by = AC_NONE_REQUIRED_TRAITS, .filter = positive(&group->traits)},
        {.step.by = AC_NONE_FORBIDDEN_TRAITS, .filter = negative(&group->traits)},
        {.step.by = AC_NONE_MEMBER_OF, .filter = positive(&group->aggregates)},
        {.step.by = AC_NONE_FORBIDDEN_AGGREGATES, .filter = negative(&group->aggregates)},
    };
    bool by_provider = is_by_provider(query, kind);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct condition filter = all[i];
        filter.by_root = !by_provider && filter.step.by != AC_NONE_FORBIDDEN_TRAITS;
        if (filter.filter.any_count + filter.filter.none_count > 0 &&
            (by_provider || filter.step.by != AC_NONE_REQUIRED_TRAITS))
            add_condition(query, group, &filter, out);
    }
}

/* The kind's conditions in the order in which they are applied. */
static struct conditions list_conditions(struct ac_query *query, const struct ac_kind *kind)
{
    const struct ac_query_group *group = ac_none_group_of(query, kind);
    struct conditions conditions = {0};
    for (uint32_t i = 0; i < kind->demand_count; i++) {
        const struct fit_demand *demand = &kind->demands[i];
        const struct condition capacity = {
            .step = {.by = AC_NONE_CAPACITY,
                     .resource = &group->requested->resources[demand - group->demands]},
            .demand = demand};
        add_condition(query, group, &capacity, &conditions);
    }
    add_filters(query, kind, &conditions);
    if (group->in_tree)
        add_condition(query, group, &(struct condition){.step.by = AC_NONE_IN_TREE}, &conditions);
    return conditions;
}

/* False: the budget ran out. */
static bool apply_condition(struct ac_query *query, const struct ac_kind *kind,
                            const struct condition *condition, uint32_t page,
                            uint64_t words[FIT_WORDS])
{
    const struct ac_query_group *group = ac_none_group_of(query, kind);
    enum ac_none by = condition->step.by;
    if (condition->by_root)
        return keep_by_root(query, &condition->filter, by == AC_NONE_MEMBER_OF, page, words);
    if (condition->demand != NULL)
        ac_charge(query, fit_demand_page(query->version, condition->demand, page, words));
    else if (by == AC_NONE_IN_TREE)
        ac_keep_interval(page, group->tree_root, group->tree_end, words);
    else
        fit_filter_page(&condition->filter, page, words);
    return true;
}

static uint64_t count_words(const uint64_t words[FIT_WORDS])
{
    uint64_t count = 0;
    for (uint32_t w = 0; w < FIT_WORDS; w++)
        count += (uint64_t)__builtin_popcountll(words[w]);
    return count;
}

/* Applies the conditions in turn and adds to each how many slots it leaves. Returns the one that
 * removes the last slot of the page; AC_NONE_FOUND_SOME: slots remain; AC_NONE_NOT_KNOWN: the
 * budget ran out. */
static enum ac_none examine_page(struct ac_query *query, const struct ac_kind *kind,
                                 struct conditions *conditions, uint32_t page)
{
    uint64_t words[FIT_WORDS];
    memset(words, 0xff, sizeof(words));
    if (!budget_take(query->budget,
                     8 + FIT_STEPS_A_SET * (int64_t)ac_none_group_of(query, kind)->set_count))
        return AC_NONE_NOT_KNOWN;
    for (uint32_t i = 0; i < conditions->count; i++) {
        struct condition *condition = &conditions->list[i];
        if (!budget_take(query->budget, FIT_WORDS) ||
            !apply_condition(query, kind, condition, page, words))
            return AC_NONE_NOT_KNOWN;
        uint64_t left = count_words(words);
        if (condition->is_counted)
            condition->step.providers += left;
        if (left == 0)
            return condition->step.by;
    }
    return AC_NONE_FOUND_SOME;
}

static bool somebody_has(const struct fit_any *any)
{
    for (uint32_t i = 0; i < any->count; i++)
        if (any->sets[i]->count > 0)
            return true;
    return false;
}

/* The reason why no provider can serve the level alone; AC_NONE_FOUND_SOME: some provider can. */
static enum ac_none kind_none(struct ac_query *query, const struct ac_kind *kind)
{
    const struct ac_query_group *group = ac_none_group_of(query, kind);
    for (uint32_t i = 0; i < kind->demand_count; i++)
        if (kind->demands[i].column->holders.count == 0)
            return AC_NONE_INVENTORY;
    struct conditions conditions = list_conditions(query, kind);
    enum ac_none furthest = kind->demand_count > 0 ? AC_NONE_CAPACITY : AC_NONE_REQUIRED_TRAITS;
    for (uint32_t page = 0; page < query->page_count; page++) {
        enum ac_none none = examine_page(query, kind, &conditions, page);
        if (none == AC_NONE_NOT_KNOWN)
            return none;
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

/* Whether there would be an anchor if any root were allowed. */
static bool falls_by_roots(const struct ac_query *query)
{
    if (query->roots.any_count + query->roots.none_count == 0)
        return false;
    struct ac_query any_root = *query;
    any_root.roots = (struct fit_filter){0};
    uint32_t root = 0;
    return ac_next_anchor(&any_root, &root);
}

/* Counts one kind after the other until a condition leaves no provider. */
static void count_steps(struct ac_query *query, struct ac_reason *reason)
{
    struct ac_step *steps = NULL;
    uint32_t step_count = 0;
    size_t capacity = 0;
    bool is_empty = false;
    for (uint32_t k = 0; k < query->kind_count && !is_empty; k++) {
        const struct ac_kind *kind = &query->kinds[k];
        struct conditions conditions = list_conditions(query, kind);
        for (uint32_t page = 0; page < query->page_count; page++)
            if (examine_page(query, kind, &conditions, page) == AC_NONE_NOT_KNOWN)
                return;
        for (uint32_t i = 0; i < conditions.count && !is_empty; i++) {
            if (!conditions.list[i].is_counted)
                continue;
            steps = arena_grow(query->arena, steps, step_count, &capacity, sizeof(*steps));
            steps[step_count++] = conditions.list[i].step;
            is_empty = conditions.list[i].step.providers == 0;
        }
    }
    reason->steps = steps;
    reason->step_count = step_count;
}

static enum ac_none ac_none_find(struct ac_query *query)
{
    bool can_share = false;
    for (uint32_t k = 0; k < query->kind_count; k++) {
        enum ac_none none = kind_none(query, &query->kinds[k]);
        if (none != AC_NONE_FOUND_SOME)
            return none;
        can_share = can_share || query->kinds[k].can_share;
    }
    if (falls_by_roots(query))
        return AC_NONE_ROOT_TRAITS;
    if (query->budget->exhausted)
        return AC_NONE_NOT_KNOWN;
    return can_share ? AC_NONE_SHARING : AC_NONE_ONE_TREE;
}

static enum ac_none find_if_not_noted(struct ac_query *query)
{
    if (query->lacks_traits)
        return AC_NONE_REQUIRED_TRAITS;
    if (query->none != AC_NONE_FOUND_SOME)
        return query->none;
    return ac_none_find(query);
}

void ac_reason_find(struct ac_query *query, bool has_some, struct ac_reason *reason)
{
    struct budget *whole = query->budget;
    enum ac_counts counts = query->request->counts;
    *reason = (struct ac_reason){.none = AC_NONE_FOUND_SOME};
    if (!has_some) {
        struct budget part = budget_begin_part(whole, FIND_STEPS);
        query->budget = &part;
        reason->none = find_if_not_noted(query);
        budget_end_part(&part);
    }
    if (counts == AC_COUNTS_ALWAYS || (counts == AC_COUNTS_IF_NONE && !has_some)) {
        struct budget part = budget_begin_part(whole, COUNT_STEPS);
        query->budget = &part;
        count_steps(query, reason);
        budget_end_part(&part);
    }
    query->budget = whole;
}
