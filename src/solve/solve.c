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

static bool is_claimed_as_rack(const struct solver *solver, uint32_t rack, uint32_t exclusive)
{
    struct slice uuid = provider_uuid(solver->hosts.rack[rack].provider);
    const struct valet_claim *claim;
    for (int64_t id = 0; (claim = version_next_valet_claim_of(solver->version, uuid, id)) != NULL;
         id = claim->record.id)
        if (record_bool(&claim->record, VALET_CLAIM_IS_RACK) &&
            record_number(&claim->record, VALET_CLAIM_GROUP_ID) ==
                solver->groups[exclusive]->record.id)
            return true;
    return false;
}

struct claims {
    struct search *search;
    struct solve_outcome *outcome;
    uint64_t *racks; /* that are claimed now */
    uint64_t *hosts;
};

static void put_claim(struct claims *claims, uint32_t exclusive, const struct provider *provider,
                      bool is_rack, const uint32_t *hosts, uint32_t count)
{
    const struct solver *solver = claims->search->solver;
    const struct provider **list = arena_array(solver->arena, count, sizeof(*list));
    for (uint32_t i = 0; i < count; i++)
        list[i] = solver->hosts.providers[hosts[i]];
    claims->outcome->claims[claims->outcome->claim_count++] =
        (struct solve_claim){solver->groups[exclusive], provider, is_rack, list, count};
}

static void claim_rack(struct claims *claims, uint32_t unit)
{
    const struct solver *solver = claims->search->solver;
    uint32_t rack = solver->hosts.racks[claims->search->hosts[unit]];
    uint32_t exclusive = solver->units.unit[unit].exclusive;
    const struct hosts_mark *mark = &solver->hosts.rack[rack];
    if (bits_has(claims->racks, rack) || is_claimed_as_rack(solver, rack, exclusive))
        return;
    bits_add(claims->racks, rack);
    put_claim(claims, exclusive, mark->provider, true, mark->hosts, mark->host_count);
}

static void claim_host(struct claims *claims, uint32_t unit)
{
    const struct solver *solver = claims->search->solver;
    uint32_t host = claims->search->hosts[unit];
    if (solver->holders[host] != HOLDER_NOBODY || bits_has(claims->hosts, host))
        return;
    uint32_t rack;
    for (uint32_t at = 0; (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;)
        if (bits_has(claims->racks, rack))
            return; /* with its rack */
    bits_add(claims->hosts, host);
    put_claim(claims, solver->units.unit[unit].exclusive, solver->hosts.providers[host], false,
              &host, 1);
}

static void put_claims(struct search *search, struct solve_outcome *outcome)
{
    struct solver *solver = search->solver;
    struct claims claims = {search, outcome, bits_create(solver->arena, solver->hosts.rack_count),
                            bits_create(solver->arena, solver->hosts.count)};
    outcome->claims = arena_array(solver->arena, search->unit_count, sizeof(*outcome->claims));
    for (uint32_t u = 0; u < search->unit_count; u++)
        if (unit_is_placed(solver, u) && solver->units.unit[u].claims_rack)
            claim_rack(&claims, u);
    for (uint32_t u = 0; u < search->unit_count; u++)
        if (unit_is_placed(solver, u) && solver->units.unit[u].exclusive != UNITS_NONE &&
            !solver->units.unit[u].claims_rack)
            claim_host(&claims, u);
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
    put_claims(search, outcome);
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
