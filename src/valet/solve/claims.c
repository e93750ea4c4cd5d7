/* The claims that a solution requires (Valet spec, 8.3): racks first, then hosts outside those
 * racks. Any thread. */
#include "valet/solve/search.h"

bool claims_has_rack(const struct solver *solver, uint32_t rack, uint32_t exclusive)
{
    return host_rack_is_claimed(solver->version, provider_uuid(solver->hosts.rack[rack].provider),
                                solver->groups[exclusive]->record.id);
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

static void put_rack(struct claims *claims, uint32_t rack, uint32_t exclusive)
{
    const struct solver *solver = claims->search->solver;
    const struct hosts_mark *mark = &solver->hosts.rack[rack];
    if (bits_has(claims->racks, rack) || claims_has_rack(solver, rack, exclusive))
        return;
    bits_add(claims->racks, rack);
    put_claim(claims, exclusive, mark->provider, true, mark->hosts, mark->host_count);
}

static void put_host(struct claims *claims, uint32_t host, uint32_t exclusive)
{
    const struct solver *solver = claims->search->solver;
    if (bits_has(claims->hosts, host))
        return;
    uint32_t rack;
    for (uint32_t at = 0; (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;)
        if (bits_has(claims->racks, rack))
            return; /* claimed with its rack */
    bits_add(claims->hosts, host);
    put_claim(claims, exclusive, solver->hosts.providers[host], false, &host, 1);
}

/* The claims for servers that stay; racks first. */
static void put_made(struct claims *claims, bool is_rack)
{
    const struct solver *solver = claims->search->solver;
    for (uint32_t i = 0; i < solver->made_count; i++) {
        const struct made_claim *made = &solver->made[i];
        if (made->is_rack != is_rack)
            continue;
        if (is_rack)
            put_rack(claims, made->at, made->exclusive);
        else
            put_host(claims, made->at, made->exclusive);
    }
}

void claims_put(struct search *search, struct solve_outcome *outcome)
{
    struct solver *solver = search->solver;
    struct claims claims = {search, outcome, bits_create(solver->arena, solver->hosts.rack_count),
                            bits_create(solver->arena, solver->hosts.count)};
    outcome->claims = arena_array(solver->arena, search->unit_count + solver->made_count,
                                  sizeof(*outcome->claims));
    const struct units *units = &solver->units;
    put_made(&claims, true);
    for (uint32_t u = 0; u < search->unit_count; u++)
        if (unit_is_placed(solver, u) && units->unit[u].claims_rack)
            put_rack(&claims, solver->hosts.racks[search->hosts[u]], units->unit[u].exclusive);
    put_made(&claims, false);
    for (uint32_t u = 0; u < search->unit_count; u++)
        if (unit_is_placed(solver, u) && units->unit[u].exclusive != UNITS_NONE &&
            !units->unit[u].claims_rack && solver->holders[search->hosts[u]] == HOLDER_NOBODY)
            put_host(&claims, search->hosts[u], units->unit[u].exclusive);
}
