/* Determines which slots of a page of 4 096 can serve a kind. The result is computed when the
 * search needs it and kept for the query; with very many kinds in a large cloud, the oldest are
 * dropped. Any thread. */
#include "query/ac_query.h"

enum { PAGES_MAX = 1 << 15 }; /* the maximum kept: 16 MiB */

void ac_keep_interval(uint32_t page, uint32_t from, uint32_t end, uint64_t words[FIT_WORDS])
{
    for (uint32_t w = 0; w < FIT_WORDS; w++) {
        uint32_t first = page * FIT_PAGE_SLOTS + w * 64;
        if (first + 64 <= from || first >= end) {
            words[w] = 0;
            continue;
        }
        if (first < from)
            words[w] &= ~(uint64_t)0 << (from - first);
        if (first + 64 > end)
            words[w] &= ~(uint64_t)0 >> (first + 64 - end);
    }
}

static uint64_t *keep_page(struct ac_query *query, uint32_t kind, uint32_t page)
{
    struct ac_kept_page *kept;
    uint64_t *words;
    if ((uint64_t)query->kind_count * query->page_count <= PAGES_MAX)
        return arena_alloc(query->arena, FIT_WORDS * sizeof(*words));
    if (query->kept_page_count < PAGES_MAX) {
        query->kept_pages = arena_grow(query->arena, query->kept_pages, query->kept_page_count,
                                       &query->kept_page_capacity, sizeof(*query->kept_pages));
        kept = &query->kept_pages[query->kept_page_count++];
        words = arena_alloc(query->arena, FIT_WORDS * sizeof(*words));
    } else {
        kept = &query->kept_pages[query->oldest_page];
        query->oldest_page = (query->oldest_page + 1) % PAGES_MAX;
        words = query->kinds[kept->kind].pages[kept->page];
        query->kinds[kept->kind].pages[kept->page] = NULL;
    }
    *kept = (struct ac_kept_page){kind, page};
    return words;
}

const uint64_t *ac_kind_page(struct ac_query *query, uint32_t k, uint32_t page)
{
    struct ac_kind *kind = &query->kinds[k];
    if (kind->pages[page] != NULL)
        return kind->pages[page];
    const struct ac_query_group *group = &query->groups[kind->group];
    uint64_t *words = keep_page(query, k, page);
    kind->pages[page] = words;
    memset(words, 0xff, FIT_WORDS * sizeof(*words));
    ac_charge(query, 8 + FIT_STEPS_A_SET * (int64_t)group->set_count);
    if (group->in_tree)
        ac_keep_interval(page, group->tree_root, group->tree_end, words);
    for (uint32_t i = 0; i < kind->demand_count; i++)
        ac_charge(query, fit_demand_page(query->version, &kind->demands[i], page, words));
    if (group->is_granular || query->is_flat) {
        fit_filter_page(&group->traits, page, words);
        fit_filter_page(&group->aggregates, page, words);
    } else {
        struct fit_filter forbidden = {.none = group->traits.none,
                                       .none_count = group->traits.none_count};
        fit_filter_page(&forbidden, page, words);
    }
    return words;
}

bool ac_plain_page(struct ac_query *query, uint32_t page, uint64_t words[FIT_WORDS])
{
    memcpy(words, ac_kind_page(query, 0, page), FIT_WORDS * sizeof(*words));
    for (uint32_t k = 1; k < query->kind_count && !fit_words_empty(words); k++) {
        if (!budget_take(query->budget, 4))
            return false;
        const uint64_t *kind = ac_kind_page(query, k, page);
        for (uint32_t w = 0; w < FIT_WORDS; w++)
            words[w] &= kind[w];
    }
    fit_filter_page(&query->roots, page, words);
    return budget_take(query->budget, 1 + FIT_STEPS_A_SET * (int64_t)(query->roots.any_count +
                                                                      query->roots.none_count));
}
