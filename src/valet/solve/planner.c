/* The steps of planning: prepare, give each unit its domain, search, report. If servers stay, there
 * are several rounds of search (keep_in_place.c), of which the last ones are complete; each round
 * but the last frees its memory. Any thread. A worker has a budget; if it is exhausted, the request
 * is planned again on the slow lane. */
#include "valet/solve/solve.h"

#include "valet/solve/check_standing.h"
#include "valet/solve/report.h"
#include "valet/solve/search.h"

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
            .class_no = solver->headrooms.classes[need->amounts[a].class_index],
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

enum { ELEMENT_COST = 8, NAME_COST = 32 };

static int64_t cost_of_groups(const struct stack *stack)
{
    int64_t elements = stack->server_count;
    for (uint32_t g = 0; g < stack->group_count; g++)
        elements += 2 + (int64_t)stack->groups[g].element_count;
    return ELEMENT_COST * elements;
}

static int64_t cost_of_domain(const struct solver *solver, uint32_t u)
{
    const struct unit *unit = &solver->units.unit[u];
    int64_t hosts = solver->hosts.count;
    int64_t cost = 8 * (int64_t)solver->hosts.words + 16 + solver->units.unit_count / 16;
    for (uint32_t i = 0; i < unit->placed_count; i++) {
        uint32_t server = unit->placed[i];
        cost += solver->hosts.words +
                NAME_COST * ((int64_t)solver->stack->servers[server].locations.count +
                             solver->request->pins[server].locations.count);
    }
    if (unit->exclusive != UNITS_NONE)
        cost += hosts;
    if (unit->placed_count > 1)
        cost += hosts * (unit->placed_count + solver->facts[u].demand_count);
    return cost;
}

enum { ROUNDS_MAX = 6 };

/* The searches of one request: how many steps each may take, and how many all took. */
struct rounds {
    struct solver *solver;
    uint64_t **domains;
    struct solve_request request;
    struct arena *scratch; /* of rounds that are not the last; NULL until there is one */
    int64_t left;
    int64_t first; /* the steps of those rounds, so that the last one has at least half */
    int64_t taken;
};

/* A round that is not the last may take half of the remaining steps of those rounds; the last one
 * takes all. */
static enum search_result run_round(struct rounds *rounds, const struct kept *kept, bool is_last,
                                    struct search *search)
{
    struct solver *solver = rounds->solver;
    struct arena *arena = solver->arena;
    if (!budget_take(solver->budget,
                     solver->units.unit_count * ((int64_t)solver->hosts.words + 16)))
        return SEARCH_EXPENSIVE;
    if (!is_last && rounds->scratch == NULL)
        rounds->scratch = arena_create_beside(arena);
    rounds->request.step_limit = is_last ? rounds->left : (rounds->first + 1) / 2;
    const struct solve_request *requested = solver->request;
    solver->request = &rounds->request;
    solver->arena = is_last ? arena : rounds->scratch;
    enum search_result result = search_run(
        search, solver,
        is_last ? rounds->domains : keep_in_place_domains(solver, rounds->domains, kept));
    solver->request = requested;
    solver->arena = arena;
    rounds->left -= search->steps;
    rounds->first -= is_last ? 0 : search->steps;
    rounds->taken += search->steps;
    return result;
}

/* After a round that found nothing, before the next one. */
static void end_round(struct rounds *rounds, struct search *search)
{
    state_undo(search, 0);
    arena_reset(rounds->scratch);
}

/* Keeps as many units in place as possible, then fewer. True: this is the final result. */
static bool run_kept(struct rounds *rounds, struct kept *kept, struct search *search,
                     enum search_result *result)
{
    struct solver *solver = rounds->solver;
    bool is_on = keep_in_place_keep_any(solver, kept);
    for (int round = 0; is_on && round < ROUNDS_MAX && rounds->first > 0; round++) {
        *result = run_round(rounds, kept, false, search);
        if (*result == SEARCH_FOUND || *result == SEARCH_EXPENSIVE)
            return true;
        uint32_t stuck = search->stuck.unit;
        end_round(rounds, search);
        is_on = keep_in_place_let_go(solver, rounds->domains, stuck, kept) &&
                keep_in_place_keep_any(solver, kept);
    }
    return false;
}

static enum search_result planner_run(struct rounds *rounds, struct search *search)
{
    struct solver *solver = rounds->solver;
    struct kept kept = keep_in_place_find(solver, rounds->domains);
    enum search_result result;
    if (kept.any && run_kept(rounds, &kept, search, &result))
        return result;
    if (kept.any && rounds->first > 0) {
        solver->keeps_place = kept.has;
        result = run_round(rounds, NULL, false, search);
        solver->keeps_place = NULL;
        if (result != SEARCH_LIMIT)
            return result;
        end_round(rounds, search);
    }
    return run_round(rounds, NULL, true, search);
}

static bool find_domains(struct solver *solver, uint64_t **domains, enum solve_result *result,
                         struct slice *reason)
{
    for (uint32_t u = 0; u < solver->units.unit_count; u++) {
        if (!unit_is_placed(solver, u))
            continue;
        *result = SOLVE_EXPENSIVE;
        if (!budget_take(solver->budget, cost_of_domain(solver, u)))
            return false;
        domains[u] = bits_create(solver->arena, solver->hosts.count);
        domain_of(solver, u, domains[u]);
        if (bits_next(domains[u], solver->hosts.words, 0) != BITS_NONE)
            continue;
        if (report_no_host(solver, u, reason))
            *result = SOLVE_NONE;
        return false;
    }
    return true;
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
    const struct stack *accepted = request->accepted;
    if (!budget_take(budget, cost_of_groups(request->stack) +
                                 (accepted == NULL ? 0 : cost_of_groups(accepted)) +
                                 NAME_COST * (int64_t)request->stack->locations.count))
        return SOLVE_EXPENSIVE;
    if (!units_of_stack(request->stack, request->pins, arena, &solver.units, &outcome->reason))
        return SOLVE_NONE;
    if (!solver_prepare(&solver))
        return SOLVE_EXPENSIVE;
    uint64_t **domains = arena_zalloc(arena, solver.units.unit_count * sizeof(*domains));
    enum solve_result result = check_standing(&solver, &outcome->reason);
    if (result != SOLVE_FOUND)
        return result;
    if (!find_domains(&solver, domains, &result, &outcome->reason))
        return result;
    struct rounds rounds = {
        .solver = &solver,
        .domains = domains,
        .request = *request,
        .left = request->steps > 0 ? request->steps : request->step_limit,
    };
    rounds.first = rounds.left / 2;
    struct search search;
    enum search_result found = planner_run(&rounds, &search);
    outcome->steps = rounds.taken;
    result = finish(&search, found, outcome);
    arena_destroy(rounds.scratch);
    return result;
}
