/* Filters providers one by one or by scanning pages, as the query allows. Any thread, on a pinned
 * version. Names are resolved in the Python service's order, because a condition that matches no
 * provider gives an empty list before a later unknown name is an error. */
#include "query/providers.h"

#include <stdlib.h>

#include "query/fit.h"
#include "query/lookup.h"

enum { SORT_STEPS = 32 }; /* steps of the budget for each row */

struct filter {
    struct fit_filter traits;
    struct fit_filter aggregates;
    struct fit_demand *demands;
    uint32_t demand_count;
    bool in_tree;
    uint32_t tree_root;
    uint32_t tree_end;
    bool nobody; /* known without examining any provider */
};

struct finder {
    const struct version *version;
    const struct providers_query *query;
    struct arena *arena;
    struct budget *budget;
    struct filter filter;
    struct providers_found *found;
    uint32_t capacity;
};

static bool refuse_traits(struct finder *finder, const struct ac_names *names, bool one,
                          struct err *err)
{
    struct slice missing = lookup_missing_traits(finder->version, finder->arena, names, one);
    static const char PREFIX[] = "Invalid trait(s) in \"required\" parameter: ";
    size_t len = sizeof(PREFIX) - 1 + missing.len;
    char *text = arena_alloc(finder->arena, len);
    memcpy(text, PREFIX, sizeof(PREFIX) - 1);
    memcpy(text + sizeof(PREFIX) - 1, missing.data, missing.len);
    return err_set_text(err, 400, NULL, (struct slice){text, len});
}

static int64_t page_steps(const struct fit_filter *filter)
{
    int64_t sets = filter->none_count;
    for (uint32_t i = 0; i < filter->any_count; i++)
        sets += filter->any[i].count;
    return 8 + FIT_STEPS_A_SET * sets;
}

/* Whether any provider passes a filter: only needed if a later name is unknown. */
static bool anybody(struct finder *finder, const struct fit_filter *filter)
{
    uint32_t pages = (finder->version->slot_limit + FIT_PAGE_SLOTS - 1) / FIT_PAGE_SLOTS;
    if (filter->any_count == 0)
        return true;
    for (uint32_t page = 0; page < pages && budget_take(finder->budget, page_steps(filter));
         page++) {
        uint64_t words[FIT_WORDS];
        memset(words, 0xff, sizeof(words));
        fit_filter_page(filter, page, words);
        if (!fit_words_empty(words))
            return true;
    }
    return false;
}

static void resolve_tree(struct finder *finder)
{
    struct slice uuid = finder->query->group.in_tree;
    if (uuid.data == NULL)
        return;
    const struct provider *provider = version_provider_by_uuid(finder->version, uuid);
    if (provider == NULL) {
        finder->filter.nobody = true;
        return;
    }
    finder->filter.in_tree = true;
    finder->filter.tree_root = version_slot(finder->version, provider->root).v;
    finder->filter.tree_end =
        version_place(finder->version, (struct slot_no){finder->filter.tree_root})->end;
}

static bool resolve_traits(struct finder *finder, struct err *err)
{
    const struct ac_group *group = &finder->query->group;
    struct fit_filter *traits = &finder->filter.traits;
    struct fit_any *any = arena_array(finder->arena, group->required_count, sizeof(*any));
    for (uint32_t i = 0; i < group->required_count; i++) {
        any[i].count = group->required[i].count;
        if (!lookup_traits(finder->version, finder->arena, &group->required[i], &any[i].sets))
            return refuse_traits(finder, &group->required[i], true, err);
    }
    traits->any = any;
    traits->any_count = group->required_count;
    if (lookup_traits(finder->version, finder->arena, &group->forbidden, &traits->none)) {
        traits->none_count = group->forbidden.count;
        return true;
    }
    if (anybody(finder, traits))
        return refuse_traits(finder, &group->forbidden, false, err);
    finder->filter.nobody = true;
    return true;
}

static bool resolve_demands(struct finder *finder, struct err *err)
{
    const struct ac_group *group = &finder->query->group;
    struct filter *filter = &finder->filter;
    filter->demands = arena_array(finder->arena, group->resource_count, sizeof(*filter->demands));
    for (uint32_t i = 0; i < group->resource_count; i++) {
        const struct catalog_row *row =
            catalog_find(&finder->version->classes, group->resources[i].class_name);
        if (row == NULL) {
            struct fit_filter required = {.any = filter->traits.any,
                                          .any_count = filter->traits.any_count};
            struct fit_filter members = {.any = filter->aggregates.any,
                                         .any_count = filter->aggregates.any_count};
            filter->nobody = !anybody(finder, &required) || !anybody(finder, &members);
            return filter->nobody ||
                   err_set_join(err, 400, NULL,
                                SLICE_LIT("Invalid resource class in resources parameter: "
                                          "No such resource class "),
                                group->resources[i].class_name, SLICE_LIT("."));
        }
        struct class_no class_no = {row->number};
        filter->demands[filter->demand_count++] = (struct fit_demand){
            .column = version_column(finder->version, class_no),
            .class_no = class_no,
            .amount = group->resources[i].amount,
        };
    }
    return true;
}

static bool providers_resolve(struct finder *finder, struct err *err)
{
    resolve_tree(finder);
    if (finder->filter.nobody)
        return true;
    if (!resolve_traits(finder, err))
        return false;
    if (finder->filter.nobody)
        return true;
    lookup_group_aggregates(finder->version, finder->arena, &finder->query->group,
                            &finder->filter.aggregates);
    return resolve_demands(finder, err);
}

static void providers_add(struct finder *finder, const struct provider *provider)
{
    struct providers_found *found = finder->found;
    if (found->count == finder->capacity) {
        uint32_t capacity = finder->capacity == 0 ? 64 : finder->capacity * 2;
        const struct provider **larger = arena_array(finder->arena, capacity, sizeof(*larger));
        if (found->count > 0)
            memcpy(larger, found->providers, found->count * sizeof(*larger));
        found->providers = larger;
        finder->capacity = capacity;
    }
    found->providers[found->count++] = provider;
}

static bool passes(const struct finder *finder, const struct provider *provider)
{
    const struct filter *filter = &finder->filter;
    const struct providers_query *query = finder->query;
    struct slot_no slot = version_slot(finder->version, provider->no);
    if (query->uuid.len > 0 && !slice_equal(provider_uuid(provider), query->uuid))
        return false;
    if (filter->in_tree && (slot.v < filter->tree_root || slot.v >= filter->tree_end))
        return false;
    for (uint32_t i = 0; i < filter->demand_count; i++)
        if (!fit_demand_slot(finder->version, &filter->demands[i], slot))
            return false;
    return fit_filter_slot(&filter->traits, slot) && fit_filter_slot(&filter->aggregates, slot);
}

static void consider(struct finder *finder, const struct provider *provider)
{
    if (provider != NULL && passes(finder, provider))
        providers_add(finder, provider);
}

/* The cost of checking whether one provider passes. */
static int64_t filter_steps(const struct filter *filter)
{
    return 8 + 2 * (int64_t)filter->demand_count + fit_filter_steps(&filter->traits) +
           fit_filter_steps(&filter->aggregates);
}

enum { STEPS_OF_A_ROW = 20 }; /* read by id, which is not their order in memory */

static void walk_rows(struct finder *finder)
{
    struct ptree_iter iter;
    if (!budget_allows(finder->budget,
                       STEPS_OF_A_ROW * (int64_t)finder->version->provider_by_id.count))
        return;
    ptree_seek(&finder->version->provider_by_id, 0, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL && budget_take(finder->budget, STEPS_OF_A_ROW)) {
        struct provider_no no = {(uint32_t)entry->value};
        consider(finder, version_provider(finder->version, no));
        ptree_iter_next(&iter);
    }
}

static void scan_pages(struct finder *finder)
{
    const struct filter *filter = &finder->filter;
    uint32_t pages = (finder->version->slot_limit + FIT_PAGE_SLOTS - 1) / FIT_PAGE_SLOTS;
    int64_t steps = page_steps(&filter->traits) + page_steps(&filter->aggregates);
    for (uint32_t page = 0; page < pages && budget_take(finder->budget, steps); page++) {
        uint64_t words[FIT_WORDS];
        memset(words, 0xff, sizeof(words));
        for (uint32_t i = 0; i < filter->demand_count; i++)
            finder->budget->left -=
                fit_demand_page(finder->version, &filter->demands[i], page, words);
        fit_filter_page(&filter->traits, page, words);
        fit_filter_page(&filter->aggregates, page, words);
        for (uint32_t w = 0; w < FIT_WORDS; w++) {
            for (uint64_t word = words[w]; word != 0; word &= word - 1) {
                uint32_t slot = page * FIT_PAGE_SLOTS + w * 64 + (uint32_t)__builtin_ctzll(word);
                if (!budget_take(finder->budget, 8))
                    return;
                providers_add(finder,
                              version_place(finder->version, (struct slot_no){slot})->provider);
            }
        }
    }
}

static int providers_compare_rows(const void *a, const void *b)
{
    const struct provider *const *x = a;
    const struct provider *const *y = b;
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static void sort_rows(struct budget *budget, struct providers_found *found)
{
    for (uint32_t i = 1; i < found->count; i++) {
        if (found->providers[i - 1]->id < found->providers[i]->id)
            continue;
        if (!budget_take(budget, SORT_STEPS * (int64_t)found->count))
            return;
        qsort(found->providers, found->count, sizeof(*found->providers), providers_compare_rows);
        return;
    }
}

static bool has_positive_filter(const struct filter *filter)
{
    return filter->demand_count > 0 || filter->traits.any_count > 0 ||
           filter->aggregates.any_count > 0;
}

static void find(struct finder *finder)
{
    const struct version *version = finder->version;
    const struct filter *filter = &finder->filter;
    if (finder->query->name.len > 0) {
        consider(finder, version_provider_by_name(version, finder->query->name));
    } else if (finder->query->uuid.len > 0) {
        consider(finder, version_provider_by_uuid(version, finder->query->uuid));
    } else if (filter->in_tree) {
        int64_t cost = filter_steps(filter);
        for (uint32_t slot = filter->tree_root; slot < filter->tree_end; slot++)
            if (budget_take(finder->budget, cost))
                consider(finder, version_place(version, (struct slot_no){slot})->provider);
    } else if (has_positive_filter(filter)) {
        scan_pages(finder);
    } else {
        walk_rows(finder);
    }
    sort_rows(finder->budget, finder->found);
}

enum providers_outcome providers_find(const struct version *version,
                                      const struct providers_query *query, struct arena *arena,
                                      struct budget *budget, struct providers_found *found,
                                      struct err *err)
{
    struct finder finder = {
        .version = version,
        .query = query,
        .arena = arena,
        .budget = budget,
        .found = found,
    };
    *found = (struct providers_found){0};
    if (!providers_resolve(&finder, err))
        return PROVIDERS_REFUSED;
    if (!finder.filter.nobody && !budget->exhausted)
        find(&finder);
    return budget->exhausted ? PROVIDERS_EXPENSIVE : PROVIDERS_DONE;
}
