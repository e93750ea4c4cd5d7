/* Resolves names to slot sets. Pure; any thread, on a pinned version.
 *
 * An unknown name is an error only if nothing before it, in the Python service's order, makes the
 * answer empty. Only then, because this costs a search, the earlier groups are tried. */
#include "base/hash.h"
#include "query/ac_query.h"
#include "query/lookup.h"

enum { STEPS_OF_A_NAME = 16 }; /* cost of one lookup */

struct resolver {
    const struct version *version;
    const struct ac_request *request;
    struct arena *arena;
    struct budget *budget;
    struct ac_query *query;
    struct err *err;
};

static bool refuse_traits(struct resolver *r, const struct ac_names *names)
{
    r->query->none = AC_NONE_UNKNOWN_TRAIT;
    return err_set_text(r->err, 400, NULL,
                        lookup_missing_traits(r->version, r->arena, names, false));
}

static bool trait_sets(struct resolver *r, const struct ac_names *names,
                       const struct slotset ***sets)
{
    return lookup_traits(r->version, r->arena, names, sets) || refuse_traits(r, names);
}

static bool resolve_traits(struct resolver *r, const struct ac_names *required,
                           uint32_t required_count, const struct ac_names *forbidden,
                           struct fit_filter *filter)
{
    struct fit_any *any = arena_array(r->arena, required_count, sizeof(*any));
    for (uint32_t i = 0; i < required_count; i++) {
        any[i].count = required[i].count;
        if (!trait_sets(r, &required[i], &any[i].sets))
            return false;
    }
    filter->any = any;
    filter->any_count = required_count;
    filter->none_count = forbidden->count;
    return trait_sets(r, forbidden, &filter->none);
}

/* Whether some provider is in all the required aggregates. */
static bool has_members(struct resolver *r, const struct fit_filter *aggregates)
{
    struct fit_filter positive = {.any = aggregates->any, .any_count = aggregates->any_count};
    if (positive.any_count == 0)
        return true;
    uint32_t pages = (r->version->slot_limit + FIT_PAGE_SLOTS - 1) / FIT_PAGE_SLOTS;
    int64_t cost = 8;
    for (uint32_t i = 0; i < positive.any_count; i++)
        cost += FIT_STEPS_A_SET * (1 + (int64_t)positive.any[i].count);
    for (uint32_t page = 0; page < pages && budget_take(r->budget, cost); page++) {
        uint64_t words[FIT_WORDS];
        memset(words, 0xff, sizeof(words));
        fit_filter_page(&positive, page, words);
        if (!fit_words_empty(words))
            return true;
    }
    return false;
}

/* The request's headrooms of the demand's class. */
static void resolve_headrooms(const struct ac_request *request, struct fit_demand *demand)
{
    uint32_t at = 0;
    while (at < request->headroom_count && request->headrooms[at].class_no.v < demand->class_no.v)
        at++;
    demand->headrooms = &request->headrooms[at];
    demand->headroom_count = 0;
    while (at + demand->headroom_count < request->headroom_count &&
           demand->headrooms[demand->headroom_count].class_no.v == demand->class_no.v)
        demand->headroom_count++;
}

static bool resolve_demands(struct resolver *r, const struct ac_group *requested,
                            struct ac_query_group *group)
{
    group->demands = arena_array(r->arena, requested->resource_count, sizeof(*group->demands));
    group->demand_count = requested->resource_count;
    for (uint32_t i = 0; i < requested->resource_count; i++) {
        const struct ac_resource *resource = &requested->resources[i];
        const struct catalog_row *row = catalog_find(&r->version->classes, resource->class_name);
        if (row == NULL) {
            r->query->none = AC_NONE_UNKNOWN_CLASS;
            return err_set_join(r->err, 400, NULL,
                                SLICE_LIT("Invalid resource class in resources parameter: "
                                          "No such resource class "),
                                resource->class_name, SLICE_LIT("."));
        }
        group->demands[i].class_no.v = row->number;
        group->demands[i].column = version_column(r->version, group->demands[i].class_no);
        group->demands[i].amount = resource->amount;
        group->demands[i].headroom_count = 0;
        if (r->request->headroom_count > 0) {
            r->budget->left -= r->request->headroom_count / 4;
            resolve_headrooms(r->request, &group->demands[i]);
        }
    }
    return true;
}

static void resolve_tree(struct resolver *r, const struct ac_group *requested,
                         struct ac_query_group *group)
{
    if (requested->in_tree.data == NULL)
        return;
    const struct provider *provider = version_provider_by_uuid(r->version, requested->in_tree);
    if (provider == NULL) {
        group->none = AC_NONE_IN_TREE;
        return;
    }
    if (requested->resource_count == 0)
        return; /* a resourceless group ignores it (item 4) */
    group->in_tree = true;
    group->tree_root = version_slot(r->version, provider->root).v;
    group->tree_end = version_place(r->version, (struct slot_no){group->tree_root})->end;
}

static void count_sets(const struct ac_group *requested, struct ac_query_group *group)
{
    uint32_t count = requested->forbidden.count + requested->forbidden_aggregates.count;
    for (uint32_t i = 0; i < requested->required_count; i++)
        count += 1 + requested->required[i].count;
    for (uint32_t i = 0; i < requested->member_of_count; i++)
        count += 1 + requested->member_of[i].count;
    group->set_count = count;
}

/* False with err set: a name is unknown. *emptied: what comes before it in this group matches no
 * provider. */
static bool resolve_group(struct resolver *r, const struct ac_group *requested,
                          struct ac_query_group *group, bool *emptied)
{
    *group =
        (struct ac_query_group){.requested = requested, .is_granular = requested->suffix.len > 0};
    *emptied = false;
    count_sets(requested, group);
    r->budget->left -= STEPS_OF_A_NAME * (int64_t)(group->set_count + requested->resource_count);
    if (!resolve_demands(r, requested, group))
        return false;
    lookup_group_aggregates(r->version, r->arena, requested, &group->aggregates);
    if (!resolve_traits(r, requested->required, requested->required_count, &requested->forbidden,
                        &group->traits)) {
        *emptied = !has_members(r, &group->aggregates);
        return false;
    }
    resolve_tree(r, requested, group);
    /* item 5: without a positive filter a resourceless group matches nothing */
    if (requested->resource_count == 0 && requested->required_count == 0 &&
        requested->member_of_count == 0)
        group->none = AC_NONE_NOTHING_REQUESTED;
    return true;
}

static bool resolve_roots(struct resolver *r)
{
    const struct ac_request *request = r->request;
    r->budget->left -= STEPS_OF_A_NAME *
                       (int64_t)(2 * request->root_required.count + request->root_forbidden.count);
    struct ac_names *single = arena_array(r->arena, request->root_required.count, sizeof(*single));
    for (uint32_t i = 0; i < request->root_required.count; i++)
        single[i] = (struct ac_names){&request->root_required.names[i], 1};
    const struct slotset **sets;
    if (!trait_sets(r, &request->root_required, &sets)) /* all unknown names in one error */
        return false;
    return resolve_traits(r, single, request->root_required.count, &request->root_forbidden,
                          &r->query->roots);
}

static bool has_root(struct resolver *r)
{
    const struct version *version = r->version;
    if (r->query->roots.any_count == 0 && r->query->roots.none_count == 0)
        return true;
    int64_t cost = 1 + fit_filter_steps(&r->query->roots);
    for (uint32_t slot = 0; slot < version->slot_limit && budget_take(r->budget, cost); slot++) {
        const struct place *place = version_place(version, (struct slot_no){slot});
        if (place != NULL && place->provider != NULL && place->root == slot &&
            fit_filter_slot(&r->query->roots, (struct slot_no){slot}))
            return true;
    }
    r->query->none = AC_NONE_ROOT_TRAITS;
    return false;
}

/* Whether each of groups[0, n) has a match on its own. */
static bool groups_match(struct resolver *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (r->query->groups[i].none != AC_NONE_FOUND_SOME) {
            r->query->none = r->query->groups[i].none;
            return false;
        }
        struct ac_query alone = {
            .version = r->version,
            .request = r->request,
            .arena = r->arena,
            .budget = r->budget,
            .groups = &r->query->groups[i],
            .group_count = 1,
            .roots = r->query->roots,
            .nested_aware = true,
        };
        if (ac_levels(&alone) && ac_query_is_empty(&alone)) {
            struct ac_reason reason;
            ac_reason_find(&alone, false, &reason);
            r->query->none = reason.none;
            return false;
        }
    }
    return true;
}

enum { FEW_GROUPS = 8 }; /* few groups are searched linearly */

/* Groups by suffix. */
struct suffixes {
    uint32_t *groups; /* by slot of the table; NUMBER_NONE: empty. NULL: there are few groups */
    uint32_t mask;
};

static uint32_t few_at(const struct ac_query *query, struct slice suffix)
{
    uint32_t g = 0;
    while (g < query->group_count && !slice_equal(query->groups[g].requested->suffix, suffix))
        g++;
    return g < query->group_count ? g : NUMBER_NONE;
}

static uint32_t *suffix_at(const struct resolver *r, const struct suffixes *suffixes,
                           struct slice suffix)
{
    uint32_t at = (uint32_t)hash_text(suffix) & suffixes->mask;
    while (suffixes->groups[at] != NUMBER_NONE &&
           !slice_equal(r->query->groups[suffixes->groups[at]].requested->suffix, suffix))
        at = (at + 1) & suffixes->mask;
    return &suffixes->groups[at];
}

static struct suffixes index_suffixes(struct resolver *r)
{
    uint32_t capacity = 4;
    if (r->query->group_count <= FEW_GROUPS)
        return (struct suffixes){0};
    while (capacity < 2 * r->query->group_count)
        capacity *= 2;
    struct suffixes suffixes = {arena_array(r->arena, capacity, sizeof(uint32_t)), capacity - 1};
    memset(suffixes.groups, 0xff, capacity * sizeof(uint32_t));
    for (uint32_t g = 0; g < r->query->group_count; g++)
        *suffix_at(r, &suffixes, r->query->groups[g].requested->suffix) = g;
    r->budget->left -= STEPS_OF_A_NAME * (int64_t)r->query->group_count;
    return suffixes;
}

static uint32_t group_at(const struct resolver *r, const struct suffixes *suffixes,
                         struct slice suffix)
{
    return suffixes->groups == NULL ? few_at(r->query, suffix) : *suffix_at(r, suffixes, suffix);
}

/* False: the budget ran out. */
static bool resolve_subtrees(struct resolver *r)
{
    const struct ac_request *request = r->request;
    struct ac_query *query = r->query;
    if (request->same_subtree_count == 0)
        return true;
    struct suffixes index = index_suffixes(r);
    query->subtree_count = request->same_subtree_count;
    query->subtrees = arena_array(r->arena, query->subtree_count, sizeof(*query->subtrees));
    for (uint32_t i = 0; i < query->subtree_count; i++) {
        const struct ac_names *suffixes = &request->same_subtrees[i];
        struct ac_subtree *subtree = &query->subtrees[i];
        if (!budget_take(r->budget, STEPS_OF_A_NAME * (1 + (int64_t)suffixes->count)))
            return false;
        subtree->levels = arena_array(r->arena, suffixes->count, sizeof(*subtree->levels));
        subtree->level_count = 0;
        for (uint32_t j = 0; j < suffixes->count; j++) {
            uint32_t group = group_at(r, &index, suffixes->names[j]);
            if (group != NUMBER_NONE)
                subtree->levels[subtree->level_count++] = query->groups[group].first_level;
        }
    }
    return true;
}

enum ac_resolved ac_resolve(const struct version *version, const struct ac_request *request,
                            struct arena *arena, struct budget *budget, struct ac_query *query,
                            struct err *err)
{
    *query = (struct ac_query){
        .version = version,
        .request = request,
        .arena = arena,
        .budget = budget,
        .group_count = request->group_count,
        .isolate = request->isolate,
        .nested_aware = request->nested_aware,
    };
    struct resolver r = {version, request, arena, budget, query, err};
    query->groups = arena_array(arena, request->group_count, sizeof(*query->groups));
    if (!resolve_roots(&r))
        return AC_RESOLVED_ERROR;
    enum ac_none nothing = AC_NONE_FOUND_SOME;
    for (uint32_t i = 0; i < request->group_count; i++) {
        bool emptied;
        if (!budget_take(budget, 1))
            return AC_RESOLVED_EXPENSIVE;
        if (resolve_group(&r, &request->groups[i], &query->groups[i], &emptied)) {
            nothing = nothing != AC_NONE_FOUND_SOME ? nothing : query->groups[i].none;
            continue;
        }
        if (emptied)
            query->none = AC_NONE_MEMBER_OF;
        bool is_error = !emptied && has_root(&r) && groups_match(&r, i);
        if (budget->exhausted) {
            err->status = 0; /* the query runs again */
            return AC_RESOLVED_EXPENSIVE;
        }
        if (is_error)
            return AC_RESOLVED_ERROR;
        err->status = 0;
        return AC_RESOLVED_EMPTY;
    }
    if (nothing != AC_NONE_FOUND_SOME) {
        query->none = nothing;
        return AC_RESOLVED_EMPTY;
    }
    if (!ac_levels(query) || !resolve_subtrees(&r) || !ac_levels_subtrees(query))
        return AC_RESOLVED_EXPENSIVE;
    return AC_RESOLVED;
}
