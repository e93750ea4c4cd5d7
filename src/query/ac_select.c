/* Selects the candidates to return and their order (item 12; candidates spec and the issue's
 * "spread over roots").
 *
 * Depth order takes all of a tree before the next. Spread order takes one from each tree before a
 * second from any: a tree that may have more candidates stores the position of its walk, and there
 * are never more such positions than the limit. A random sample is drawn from all candidates, which
 * are stored as choices only. */
#include "query/ac_search.h"

#include <sys/random.h>

#include "query/ac_output.h"

struct search {
    struct ac_query *query;
    struct ac_output output;
    int64_t most; /* how many to emit; INT64_MAX: all */
    uint32_t turn;
};

static bool ac_select_take(struct search *search, const uint32_t *chosen)
{
    if (!ac_output_repeats(&search->output, chosen) &&
        budget_take(search->query->budget, search->output.steps))
        ac_output_put(&search->output, chosen);
    return search->output.emitted < search->most;
}

/* Every provider is a tree, so depth order and spread order are the same. */
static void run_plain(struct search *search)
{
    struct ac_query *query = search->query;
    uint64_t words[FIT_WORDS];
    for (uint32_t page = 0; page < query->page_count && ac_plain_page(query, page, words); page++) {
        for (uint32_t w = 0; w < FIT_WORDS; w++) {
            for (; words[w] != 0; words[w] &= words[w] - 1) {
                if (search->output.emitted == search->most ||
                    !budget_take(query->budget, search->output.steps))
                    return;
                ac_output_put_plain(&search->output, page * FIT_PAGE_SLOTS + w * 64 +
                                                         (uint32_t)__builtin_ctzll(words[w]));
            }
        }
    }
}

static uint32_t tree_end(const struct ac_query *query, uint32_t root)
{
    return version_place(query->version, (struct slot_no){root})->end;
}

static void run_depth(struct search *search)
{
    struct ac_walk walk;
    ac_walk_init(search->query, &walk);
    uint32_t root = 0;
    while (ac_next_anchor(search->query, &root)) {
        ac_walk_reset(&walk);
        while (ac_walk_next(search->query, &walk))
            if (!ac_select_take(search, walk.chosen))
                return;
        root = tree_end(search->query, root);
    }
}

/* A tree that may have more candidates. */
struct pause {
    uint32_t root;
    uint32_t *place; /* the position of the walk */
};

static uint32_t *walk_place(struct ac_query *query, const struct ac_walk *walk)
{
    uint32_t *place = arena_array(query->arena, ac_walk_place_count(query), sizeof(*place));
    ac_walk_leave(query, walk, place);
    return place;
}

static bool has_choice(const struct ac_query *query)
{
    for (uint32_t k = 0; k < query->kind_count; k++) {
        const uint64_t *options = query->kinds[k].options;
        uint32_t first = ac_next_option(&query->tree, options, NULL, 0);
        if (ac_next_option(&query->tree, options, NULL, first + 1) != NUMBER_NONE)
            return true;
    }
    return false;
}

/* Takes the walk's next candidate that is not a repetition; false: the tree has no more. */
static bool take_one(struct search *search, struct ac_walk *walk)
{
    int64_t before = search->output.emitted;
    while (ac_walk_next(search->query, walk)) {
        ac_select_take(search, walk->chosen);
        if (search->output.emitted > before)
            return true;
    }
    return false;
}

/* Takes as many as the tree may give before the next one; false: it has no more. */
static bool take_turn(struct search *search, struct ac_walk *walk)
{
    for (uint32_t i = 0; i < search->turn && search->output.emitted < search->most; i++)
        if (!take_one(search, walk))
            return false;
    return true;
}

static void run_spread(struct search *search)
{
    struct ac_query *query = search->query;
    struct pause *paused = NULL;
    uint32_t count = 0;
    size_t capacity = 0;
    size_t bytes = sizeof(*paused) + ac_walk_place_count(query) * sizeof(uint32_t);
    struct ac_walk walk;
    ac_walk_init(query, &walk);
    uint32_t root = 0;
    while (search->output.emitted < search->most && ac_next_anchor(query, &root)) {
        ac_walk_reset(&walk);
        if (take_one(search, &walk) && has_choice(query) && ac_keep(query, bytes)) {
            paused = arena_grow(query->arena, paused, count, &capacity, sizeof(*paused));
            paused[count++] = (struct pause){root, walk_place(query, &walk)};
        }
        root = tree_end(query, root);
    }
    while (count > 0 && search->output.emitted < search->most) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count && search->output.emitted < search->most; i++) {
            check(ac_set_options(query, paused[i].root) || query->budget->exhausted);
            if (query->budget->exhausted)
                return;
            ac_walk_return(query, &walk, paused[i].place);
            if (!take_turn(search, &walk))
                continue;
            ac_walk_leave(query, &walk, paused[i].place);
            paused[kept++] = paused[i];
        }
        count = kept;
    }
}

static uint64_t random_below(uint64_t n)
{
    uint64_t value;
    uint64_t fair = UINT64_MAX - UINT64_MAX % n;
    do {
        while (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value))
            ;
    } while (value >= fair);
    return value % n;
}

/* Generates all candidates (at most `generate`) and emits a random `limit` of them in random
 * order. */
static void run_random(struct search *search, int64_t generate, int64_t limit)
{
    struct ac_query *query = search->query;
    uint32_t **kept = NULL;
    size_t capacity = 0;
    int64_t seen = 0;
    struct ac_walk walk;
    ac_walk_init(query, &walk);
    uint32_t root = 0;
    while (seen < generate && ac_next_anchor(query, &root)) {
        ac_walk_reset(&walk);
        while (seen < generate && ac_walk_next(query, &walk)) {
            if (ac_output_repeats(&search->output, walk.chosen))
                continue;
            uint64_t at = seen < limit ? (uint64_t)seen : random_below((uint64_t)seen + 1);
            seen++;
            if (at >= (uint64_t)limit)
                continue;
            if (at >= capacity) {
                size_t larger = capacity == 0 ? 64 : capacity * 2;
                uint32_t **more = arena_zalloc(query->arena, larger * sizeof(*more));
                if (capacity > 0)
                    memcpy(more, kept, capacity * sizeof(*more));
                kept = more;
                capacity = larger;
            }
            size_t bytes = query->level_count * sizeof(**kept);
            if (kept[at] == NULL && !ac_keep(query, bytes))
                return;
            if (kept[at] == NULL)
                kept[at] = arena_alloc(query->arena, bytes);
            memcpy(kept[at], walk.chosen, bytes);
        }
        root = tree_end(query, root);
    }
    int64_t count = seen < limit ? seen : limit;
    for (int64_t i = count; i-- > 0;) {
        uint64_t at = random_below((uint64_t)i + 1);
        uint32_t *chosen = kept[at];
        kept[at] = kept[i];
        kept[i] = chosen;
        if (!budget_take(query->budget, search->output.steps))
            return;
        ac_output_put(&search->output, chosen);
    }
}

static int64_t bound(int64_t limit)
{
    return limit < 0 ? INT64_MAX : limit;
}

enum ac_outcome ac_search(const struct version *version, const struct ac_request *request,
                          struct arena *arena, struct budget *budget, ac_emit *emit, void *cls,
                          struct ac_summaries *summaries, struct ac_reason *reason, struct err *err)
{
    struct ac_query query;
    struct ac_reason unused;
    bool has_reason = reason != NULL;
    reason = has_reason ? reason : &unused;
    *summaries = (struct ac_summaries){.are_roots = request->nested_aware};
    enum ac_resolved resolved = ac_resolve(version, request, arena, budget, &query, err);
    *reason = (struct ac_reason){.none = query.none};
    switch (resolved) {
    case AC_RESOLVED_EMPTY:
        return AC_DONE;
    case AC_RESOLVED_ERROR:
        return AC_REFUSED;
    case AC_RESOLVED_EXPENSIVE:
        return AC_EXPENSIVE;
    case AC_RESOLVED:
        break;
    }
    int64_t limit = bound(request->limit);
    int64_t most = bound(request->most);
    struct search search = {.query = &query,
                            .most = limit < most ? limit : most,
                            .turn = request->turn == 0 ? 1 : request->turn};
    *reason = (struct ac_reason){.none = AC_NONE_LIMIT};
    if (search.most == 0)
        return AC_DONE;
    ac_output_init(&search.output, &query, emit, cls);
    if (request->randomize)
        run_random(&search, most, limit);
    else if (query.is_plain)
        run_plain(&search);
    else if (request->order == AC_ORDER_SPREAD && search.most != INT64_MAX)
        run_spread(&search);
    else
        run_depth(&search);
    if (budget->exhausted)
        return query.is_too_large ? AC_TOO_LARGE : AC_EXPENSIVE;
    if (has_reason)
        ac_reason_find(&query, search.output.emitted > 0, reason);
    ac_output_summaries(&search.output, summaries);
    return budget_take(budget, 0) ? AC_DONE : AC_EXPENSIVE;
}
