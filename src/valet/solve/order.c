/* The order in which values are tried (9.2): a unit's current hosts, then by rank (ranks.c).
 *
 * Racks, hosts with units of the plan, and hosts in racks that it claims are ranked again for each
 * decision, and only the first few of them are kept; the other hosts have one order for all
 * decisions. Both are merged. Any thread. */
#include "valet/solve/ranks.h"

static bool is_left(const struct search *search, uint32_t unit, uint32_t host)
{
    uint32_t rack = search->block_racks[search->solver->units.unit[unit].block];
    return search_has(search, unit, host) &&
           (rack == HOSTS_NO_RACK || search->solver->hosts.racks[host] == rack);
}

static void offer_host(struct search *search, uint32_t unit, uint32_t host, struct best *best)
{
    search_look(search, 1);
    if (!is_left(search, unit, host))
        return;
    best_offer(best, ranks_of_host(search, unit, host), host);
}

static void offer_rack(struct search *search, uint32_t unit, uint32_t rack, struct best *best)
{
    const struct hosts_mark *mark = &search->solver->hosts.rack[rack];
    search_look(search, mark->host_count);
    for (uint32_t i = 0; i < mark->host_count; i++)
        if (!bits_has(search->changed, mark->hosts[i]))
            offer_host(search, unit, mark->hosts[i], best);
}

static void rank_hosts(struct search *search, uint32_t u, struct best *best)
{
    const struct unit *unit = &search->solver->units.unit[u];
    uint32_t rack = search->block_racks[unit->block];
    for (uint32_t i = 0; i < search->changed_count; i++)
        offer_host(search, u, search->changed_list[i], best);
    if (rack != HOSTS_NO_RACK)
        offer_rack(search, u, rack, best);
    for (uint32_t i = 0;
         rack == HOSTS_NO_RACK && unit->exclusive != UNITS_NONE && i < search->claimed_count; i++)
        offer_rack(search, u, search->claimed_racks[i], best);
}

static void order_fill(struct search *search, struct decision *decision)
{
    struct window *window = decision->fresh;
    struct best best = {.heap = window->values,
                        .most = WINDOW,
                        .before = window->has_before ? &window->last : NULL};
    if (decision->kind == DECIDE_HOST)
        rank_hosts(search, decision->at, &best);
    else
        ranks_offer_racks(search, decision->at, &best);
    best_sort(&best);
    window->at = 0;
    window->count = best.count;
    window->has_more = best.has_more;
}

/* The first of the fresh values that are left; NULL: there are none. */
static const struct ranked *fresh_at(struct search *search, struct decision *decision)
{
    struct window *window = decision->fresh;
    if (window->at == window->count && window->has_more) {
        window->last = window->values[window->count - 1];
        window->has_before = true;
        order_fill(search, decision);
    }
    return window->at < window->count ? &window->values[window->at] : NULL;
}

static void begin_candidate(struct search *search, struct decision *decision)
{
    const struct solver *solver = search->solver;
    const struct needs *needs = &solver->needs;
    uint32_t host = search->hosts[solver->units.of_server[decision->at]];
    const struct need *need = &needs->need[needs->of_server[decision->at]];
    decision->cursor = decision->end = 0;
    if (bits_has(need->simple, host)) {
        decision->end = 1;
        return;
    }
    decision->cursor = need->first[host];
    decision->end = need->first[host + 1];
    /* servers of one unit with the same need are interchangeable: they take candidates in order */
    if (decision->twin != UNITS_NONE)
        decision->cursor = search->candidates[decision->twin];
}

void order_begin(struct search *search, struct decision *decision)
{
    struct arena *arena = search->solver->arena;
    decision->present = decision->cursor = decision->end = 0;
    if (decision->kind == DECIDE_CANDIDATE) {
        begin_candidate(search, decision);
        return;
    }
    if (decision->fresh == NULL) {
        decision->fresh = arena_alloc(arena, sizeof(*decision->fresh));
        if (decision->kind == DECIDE_HOST)
            decision->tried = bits_create(arena, search->class_count);
    }
    decision->fresh->has_before = false;
    order_fill(search, decision);
    if (decision->kind != DECIDE_HOST)
        return;
    search_look(search, bits_words(search->class_count));
    memset(decision->tried, 0, bits_words(search->class_count) * sizeof(uint64_t));
}

static bool was_tried(struct search *search, const struct decision *decision, uint32_t host)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[decision->at];
    search_look(search, 1 + decision->present);
    for (uint32_t i = 0; i < decision->present; i++)
        if (solver->hosts.providers[host] == solver->request->pins[unit->placed[i]].present)
            return true;
    return !bits_has(search->changed, host) && bits_has(decision->tried, search->classes[host]);
}

static bool try_host(struct search *search, struct decision *decision, uint32_t host)
{
    if (!bits_has(search->changed, host))
        bits_add(decision->tried, search->classes[host]);
    decision->value = host;
    return true;
}

static uint32_t next_present(struct search *search, struct decision *decision)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[decision->at];
    while (decision->present < unit->placed_count) {
        const struct solve_pin *pin = &solver->request->pins[unit->placed[decision->present]];
        uint32_t host = hosts_index(solver->version, &solver->hosts, pin->present);
        bool is_new = host != BITS_NONE && is_left(search, decision->at, host) &&
                      !was_tried(search, decision, host);
        decision->present++;
        if (is_new)
            return host;
    }
    return BITS_NONE;
}

/* The next host whose state is unchanged since before the search. The cursor stays at its class. */
static const struct ranked *next_static(struct search *search, struct decision *decision,
                                        uint32_t *host)
{
    if (search->block_racks[search->solver->units.unit[decision->at].block] != HOSTS_NO_RACK)
        return NULL;
    const struct ranked *ranked;
    for (; (ranked = ranks_class(search, decision->at, decision->cursor)) != NULL;
         decision->cursor++) {
        uint32_t c = search->classes[ranked->at];
        search_look(search, 1);
        if (bits_has(decision->tried, c))
            continue;
        for (uint32_t i = search->class_first[c]; i < search->class_first[c + 1]; i++) {
            *host = search->members[i];
            search_look(search, 1);
            if (search_has(search, decision->at, *host) && !bits_has(search->changed, *host) &&
                !was_tried(search, decision, *host))
                return ranked;
        }
    }
    return NULL;
}

static bool next_host(struct search *search, struct decision *decision)
{
    uint32_t host = next_present(search, decision);
    if (host != BITS_NONE)
        return try_host(search, decision, host);
    const struct ranked *fresh;
    while ((fresh = fresh_at(search, decision)) != NULL && was_tried(search, decision, fresh->at))
        decision->fresh->at++;
    const struct ranked *other = next_static(search, decision, &host);
    if (fresh != NULL && (other == NULL || best_is_before(fresh, other))) {
        decision->fresh->at++;
        return try_host(search, decision, fresh->at);
    }
    return other != NULL && try_host(search, decision, host);
}

bool order_next(struct search *search, struct decision *decision)
{
    switch (decision->kind) {
    case DECIDE_HOST:
        return next_host(search, decision);
    case DECIDE_RACK: {
        const struct ranked *fresh = fresh_at(search, decision);
        if (fresh == NULL)
            return false;
        decision->value = fresh->at;
        decision->fresh->at++;
        return true;
    }
    case DECIDE_CANDIDATE:
        break;
    }
    if (decision->cursor == decision->end)
        return false;
    decision->value = decision->cursor++;
    return true;
}
