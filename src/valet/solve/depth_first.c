/* The search itself: depth first over the decisions, each with its values in order, with forward
 * checking after each (9.2). It does not recurse: the depth is the number of decisions made.
 *
 * It finds a solution if there is one and the limit of steps is not reached: every value is tried
 * except those outside a domain, which no solution uses, those after which state_holds finds a unit
 * without a host, and hosts interchangeable with one that led to nothing (symmetry.c). Any thread.
 */
#include "valet/solve/ranks.h"

/* The weight of a class in ranking hosts: the plan's demand for it, relative to an average host. */
static void weigh(struct solver *solver)
{
    struct headrooms *headrooms = &solver->headrooms;
    double all = 0;
    solver->weights =
        arena_zalloc(solver->arena, headrooms->class_count * sizeof(*solver->weights));
    for (uint32_t u = 0; u < solver->units.unit_count; u++)
        for (uint32_t d = 0; d < solver->facts[u].demand_count; d++)
            solver->weights[solver->facts[u].demands[d].class_index] +=
                (double)solver->facts[u].demands[d].amount;
    for (uint32_t c = 0; c < headrooms->class_count; c++) {
        double per_unit = 0;
        for (uint32_t host = 0; host < solver->hosts.count; host++)
            per_unit += headrooms_at(headrooms, c, solver->hosts.slots[host])->per_unit;
        if (per_unit > 0)
            solver->weights[c] *= per_unit;
        all += solver->weights[c];
    }
    for (uint32_t c = 0; c < headrooms->class_count; c++)
        solver->weights[c] /= all > 0 ? all : 1;
}

static void mark_simple(struct solver *solver)
{
    for (uint32_t u = 0; u < solver->units.unit_count; u++) {
        const struct unit *unit = &solver->units.unit[u];
        solver->facts[u].is_simple = true;
        for (uint32_t i = 0; i < unit->placed_count; i++)
            if (solver->needs.need[solver->needs.of_server[unit->placed[i]]].first != NULL)
                solver->facts[u].is_simple = false;
    }
}

static bool has_choice(const struct search *search, const struct decision *decision)
{
    const struct solver *solver = search->solver;
    if (decision->kind != DECIDE_CANDIDATE)
        return true;
    uint32_t host = search->hosts[solver->units.of_server[decision->at]];
    return !bits_has(solver->needs.need[solver->needs.of_server[decision->at]].simple, host);
}

static bool apply_host(struct search *search, uint32_t u, uint32_t host)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[u];
    state_place(search, u, host);
    for (uint32_t i = 0; i < unit->placed_count; i++)
        if (solver->needs.need[solver->needs.of_server[unit->placed[i]]].first == NULL &&
            !state_take(search, unit->placed[i], host, BITS_NONE))
            return false;
    state_squeeze(search, host);
    return true;
}

static bool apply(struct search *search, const struct decision *decision)
{
    if (decision->kind == DECIDE_RACK) {
        state_put_rack(search, decision->at, decision->value);
        return true;
    }
    if (decision->kind == DECIDE_HOST)
        return apply_host(search, decision->at, decision->value);
    uint32_t host = search->hosts[search->solver->units.of_server[decision->at]];
    uint32_t at = has_choice(search, decision) ? decision->value : BITS_NONE;
    if (!state_take(search, decision->at, host, at))
        return false;
    state_squeeze(search, host);
    return true;
}

static uint32_t unit_of(const struct search *search, const struct decision *decision)
{
    const struct units *units = &search->solver->units;
    if (decision->kind == DECIDE_HOST)
        return decision->at;
    if (decision->kind == DECIDE_CANDIDATE)
        return units->of_server[decision->at];
    const struct block *block = &units->block[decision->at];
    uint32_t i = 0;
    while (search->domains[block->units[i]] == NULL)
        i++;
    return block->units[i];
}

enum { TRY_LOOKS = 16 };

/* Tries the decision's next value. False: there are no more, or the search must end. */
static bool try_next(struct search *search, struct decision *decision, bool *holds)
{
    if (decision->is_applied)
        state_undo(search, decision->mark);
    decision->is_applied = false;
    if (!order_next(search, decision))
        return false;
    search->tries += has_choice(search, decision);
    search_look(search, TRY_LOOKS);
    if (!search_goes_on(search))
        return false;
    decision->mark = search->trail_count;
    decision->is_applied = true;
    *holds = apply(search, decision) && state_holds(search, decision->mark);
    return true;
}

static enum search_result walk(struct search *search)
{
    uint32_t depth = 0;
    order_begin(search, &search->decisions[0]);
    for (;;) {
        struct decision *decision = &search->decisions[depth];
        bool holds = false;
        bool has_tried = try_next(search, decision, &holds);
        if (!search_goes_on(search)) {
            state_stuck(search, unit_of(search, decision), UNITS_NONE);
            return search->end;
        }
        if (!has_tried) {
            state_stuck(search, unit_of(search, decision), UNITS_NONE);
            if (depth-- == 0)
                return SEARCH_NONE;
            continue;
        }
        if (!holds)
            continue;
        if (++depth == search->decision_count)
            return SEARCH_FOUND;
        order_begin(search, &search->decisions[depth]);
    }
}

/* Whether each diversity group, considered alone, has a place for each member. */
static bool begins_well(struct search *search)
{
    for (uint32_t a = 0; a < search->solver->units.apart_count; a++) {
        uint32_t unit;
        bool exists = matching_exists(search, a, &unit);
        if (!search_goes_on(search)) {
            state_stuck(search, unit_of(search, &search->decisions[0]), UNITS_NONE);
            return false;
        }
        if (exists)
            continue;
        state_stuck(search, unit, a);
        return false;
    }
    return true;
}

/* The cost of the initial work, which every search has. */
static int64_t cost_of_init(const struct solver *solver)
{
    int64_t hosts = solver->hosts.count;
    int64_t units = 0;
    for (uint32_t u = 0; u < solver->units.unit_count; u++)
        units += unit_is_placed(solver, u);
    return hosts * (8 + 4 * (int64_t)solver->headrooms.class_count) +
           units * (4 * (int64_t)solver->hosts.words + solver->hosts.rack_count);
}

enum search_result search_run(struct search *search, struct solver *solver, uint64_t **domains)
{
    *search = (struct search){.solver = solver};
    if (!budget_take(solver->budget, cost_of_init(solver)))
        return SEARCH_EXPENSIVE;
    weigh(solver);
    mark_simple(solver);
    state_init(search, domains);
    symmetry_find(search);
    matching_init(search);
    ranks_init(search);
    order_decisions(search);
    if (search->decision_count == 0)
        return SEARCH_FOUND;
    if (begins_well(search))
        return walk(search);
    return search->end == SEARCH_FOUND ? SEARCH_NONE : search->end;
}
