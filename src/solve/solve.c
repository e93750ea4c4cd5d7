/* The planner's way: prepare, give each unit its domain, search, tell. Any thread; the worker gives
 * it a budget, and asks again on the slow lane when that is exhausted. */
#include "solve/solve.h"

#include "solve/report.h"
#include "solve/search.h"

static void put_rows(struct search *search, uint32_t server, struct solve_server *out)
{
    struct solver *solver = search->solver;
    const struct need *need = &solver->needs.need[solver->needs.of_server[server]];
    uint32_t host = search->hosts[solver->units.of_server[server]];
    uint32_t at = bits_has(need->simple, host) ? BITS_NONE : search->candidates[server];
    struct solve_row *rows = arena_array(solver->arena, need->amount_count, sizeof(*rows));
    for (uint32_t a = 0; a < need->amount_count; a++) {
        uint32_t slot = at == BITS_NONE ? solver->hosts.slots[host] : need_candidate(need, at)[a];
        rows[a] = (struct solve_row){
            .provider = version_place(solver->version, (struct slot_no){slot})->provider,
            .class_no = solver->rooms.classes[need->amounts[a].class_index],
            .amount = need->amounts[a].amount,
        };
    }
    *out = (struct solve_server){solver->hosts.providers[host], rows, need->amount_count};
}

static void put_exclusives(const struct solver *solver, struct solve_outcome *outcome)
{
    for (uint32_t s = 0; s < solver->stack->server_count; s++) {
        uint32_t u = solver->units.of_server[s];
        const struct unit *unit = u == UNITS_NONE ? NULL : &solver->units.unit[u];
        if (unit != NULL && unit->exclusive != UNITS_NONE)
            outcome->exclusives[s] =
                (struct solve_exclusive){solver->groups[unit->exclusive], unit->claims_rack};
    }
}

static enum solve_result finish(struct search *search, enum search_result result,
                                struct solve_outcome *outcome)
{
    const struct solver *solver = search->solver;
    outcome->steps = search->steps;
    switch (result) {
    case SEARCH_EXPENSIVE:
        return SOLVE_EXPENSIVE;
    case SEARCH_LIMIT:
        outcome->reason = report_limit(search);
        return SOLVE_NONE;
    case SEARCH_NONE:
        return report_no_combination(search, &outcome->reason) ? SOLVE_NONE : SOLVE_EXPENSIVE;
    case SEARCH_FOUND:
        break;
    }
    for (uint32_t s = 0; s < solver->stack->server_count; s++)
        if (solver->request->pins[s].kind == SOLVE_PLACE)
            put_rows(search, s, &outcome->servers[s]);
    put_exclusives(solver, outcome);
    claims_put(search, outcome);
    return SOLVE_FOUND;
}

enum solve_result solve(const struct version *version, const struct solve_request *request,
                        struct arena *arena, struct budget *budget, struct solve_outcome *outcome)
{
    struct solver solver = {
        .version = version,
        .request = request,
        .stack = request->stack,
        .arena = arena,
        .budget = budget,
    };
    uint32_t servers = request->stack->server_count;
    *outcome = (struct solve_outcome){0};
    outcome->servers = arena_zalloc(arena, servers * sizeof(*outcome->servers));
    outcome->exclusives = arena_zalloc(arena, servers * sizeof(*outcome->exclusives));
    if (!units_of_stack(request->stack, request->pins, arena, &solver.units, &outcome->reason))
        return SOLVE_NONE;
    if (!solver_prepare(&solver))
        return SOLVE_EXPENSIVE;
    uint64_t **domains = arena_zalloc(arena, solver.units.unit_count * sizeof(*domains));
    for (uint32_t u = 0; u < solver.units.unit_count; u++) {
        if (!unit_is_placed(&solver, u))
            continue;
        if (!budget_take(budget, 2 * (int64_t)solver.hosts.words + 16))
            return SOLVE_EXPENSIVE;
        domains[u] = bits_create(arena, solver.hosts.count);
        domain_of(&solver, u, domains[u]);
        if (bits_next(domains[u], solver.hosts.words, 0) == BITS_NONE)
            return report_no_host(&solver, u, &outcome->reason) ? SOLVE_NONE : SOLVE_EXPENSIVE;
    }
    struct search search;
    return finish(&search, search_run(&search, &solver, domains), outcome);
}
