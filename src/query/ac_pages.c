/* Which slots of a page of 4 096 can serve a level: worked out when the search gets there, and kept
 * for the question. Any thread. */
#include "query/ac_plan.h"

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

const uint64_t *ac_level_page(struct ac_plan *plan, struct ac_level *level, uint32_t page)
{
    if (level->pages[page] != NULL)
        return level->pages[page];
    const struct ac_plan_group *group = &plan->groups[level->group];
    uint64_t *words = arena_alloc(plan->arena, FIT_WORDS * sizeof(*words));
    level->pages[page] = words;
    memset(words, 0xff, FIT_WORDS * sizeof(*words));
    plan->budget->left -= 8 * (1 + (int64_t)level->demand_count);
    if (group->in_tree)
        ac_keep_interval(page, group->tree_root, group->tree_end, words);
    for (uint32_t i = 0; i < level->demand_count; i++)
        fit_demand_page(plan->version, &level->demands[i], page, words);
    if (group->is_granular || plan->is_flat) {
        fit_filter_page(&group->traits, page, words);
        fit_filter_page(&group->aggregates, page, words);
    } else {
        struct fit_filter forbidden = {.none = group->traits.none,
                                       .none_count = group->traits.none_count};
        fit_filter_page(&forbidden, page, words);
    }
    return words;
}

bool ac_plain_page(struct ac_plan *plan, uint32_t page, uint64_t words[FIT_WORDS])
{
    if (!budget_take(plan->budget, 1))
        return false;
    memcpy(words, ac_level_page(plan, &plan->levels[0], page), FIT_WORDS * sizeof(*words));
    for (uint32_t l = 1; l < plan->level_count && !fit_words_empty(words); l++) {
        const uint64_t *level = ac_level_page(plan, &plan->levels[l], page);
        for (uint32_t w = 0; w < FIT_WORDS; w++)
            words[w] &= level[w];
    }
    fit_filter_page(&plan->roots, page, words);
    return true;
}
