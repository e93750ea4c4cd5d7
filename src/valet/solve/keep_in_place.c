/* Decides which servers stay: servers that have a host keep it if possible (Valet spec, 6.8, 7.3).
 * First all units of such servers are kept in place; if that leads to no solution, some are
 * released, and the search is repeated. Released are, in this order: those that the groups do not
 * allow to stay together, before the first search; those whose requirements have changed; then,
 * several times, the one at which the search got stuck, or those on the hosts that it could use;
 * finally all. Any thread. */
#include "valet/solve/search.h"

/* Which exclusive must hold a host, for units that are kept there or in its rack. */
#define CLAIM_NONE    0u /* none; else exclusive + 1 */
#define CLAIM_SEVERAL 0xffffffffu

struct clash {
    struct solver *solver;
    struct kept *kept;
    uint32_t *by;    /* for each host, then each rack: the member there, + 1 */
    uint32_t *first; /* and one of its units */
    uint32_t *touched;
    uint32_t touched_count;
    bool *lets_go; /* of each unit */
};

static uint32_t host_of(const struct solver *solver, uint32_t server)
{
    return hosts_index(solver->version, &solver->hosts, solver->request->pins[server].present);
}

/* The host that all of the unit's servers that stay are on, if it is permitted. */
static void find_unit(struct solver *solver, uint64_t *const *domains, struct kept *kept,
                      uint32_t u)
{
    const struct unit *unit = &solver->units.unit[u];
    uint32_t host = BITS_NONE;
    for (uint32_t i = 0; i < unit->placed_count; i++) {
        const struct solve_pin *pin = &solver->request->pins[unit->placed[i]];
        if (!pin->keeps_place || pin->present == NULL)
            continue;
        uint32_t at = host_of(solver, unit->placed[i]);
        kept->any = true;
        kept->has[u] = true;
        kept->changes[u] = kept->changes[u] || pin->changes;
        if (at == BITS_NONE || (host != BITS_NONE && host != at))
            return;
        host = at;
    }
    if (host != BITS_NONE && bits_has(domains[u], host))
        kept->hosts[u] = host;
}

static void let_go(struct clash *clash, uint32_t unit)
{
    clash->lets_go[unit] = true;
}

/* Adds a unit of a diversity group's member at that key. */
static void come(struct clash *clash, uint32_t key, uint32_t member, uint32_t unit)
{
    if (clash->by[key] == 0) {
        clash->by[key] = member + 1;
        clash->first[key] = unit;
        clash->touched[clash->touched_count++] = key;
    } else if (clash->by[key] != member + 1) {
        let_go(clash, clash->first[key]);
        let_go(clash, unit);
    }
}

static void come_all(struct clash *clash, bool is_rack, uint32_t member, uint32_t unit)
{
    const struct solver *solver = clash->solver;
    uint32_t host = clash->kept->hosts[unit];
    if (host == BITS_NONE)
        return;
    come(clash, host, member, unit);
    uint32_t rack;
    for (uint32_t at = 0; is_rack && (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;)
        come(clash, solver->hosts.count + rack, member, unit);
}

static void check_apart(struct clash *clash, const struct apart *apart)
{
    const struct units *units = &clash->solver->units;
    clash->touched_count = 0;
    for (uint32_t m = 0; m < apart->member_count; m++) {
        if (!apart->is_rack) {
            come_all(clash, false, m, apart->members[m]);
            continue;
        }
        const struct block *block = &units->block[apart->members[m]];
        for (uint32_t i = 0; i < block->unit_count; i++)
            come_all(clash, true, m, block->units[i]);
    }
    for (uint32_t i = 0; i < clash->touched_count; i++)
        clash->by[clash->touched[i]] = 0;
}

static void check_block(struct clash *clash, const struct block *block)
{
    const struct solver *solver = clash->solver;
    uint32_t rack = HOSTS_NO_RACK;
    bool is_one = true;
    for (uint32_t i = 0; i < block->unit_count; i++) {
        uint32_t host = clash->kept->hosts[block->units[i]];
        if (host == BITS_NONE)
            continue;
        is_one = is_one && (rack == HOSTS_NO_RACK || rack == solver->hosts.racks[host]);
        rack = solver->hosts.racks[host];
    }
    for (uint32_t i = 0; i < block->unit_count && !is_one; i++)
        let_go(clash, block->units[i]);
}

/* The unit's exclusivity group must hold the host, or every host of the rack. */
static void add_claim(uint32_t *claims, uint32_t host, uint32_t exclusive)
{
    if (claims[host] == CLAIM_NONE)
        claims[host] = exclusive + 1;
    else if (claims[host] != exclusive + 1)
        claims[host] = CLAIM_SEVERAL;
}

struct claimed {
    const uint32_t *hosts;
    uint32_t count;
};

static struct claimed claimed_by(const struct clash *clash, uint32_t u)
{
    const struct solver *solver = clash->solver;
    const uint32_t *host = &clash->kept->hosts[u];
    if (*host == BITS_NONE || solver->units.unit[u].exclusive == UNITS_NONE)
        return (struct claimed){NULL, 0};
    if (!solver->units.unit[u].claims_rack)
        return (struct claimed){host, 1};
    const struct hosts_mark *mark = &solver->hosts.rack[solver->hosts.racks[*host]];
    return (struct claimed){mark->hosts, mark->host_count};
}

/* Units that are kept on one host, or in one rack, but belong to different exclusivity groups. */
static void check_exclusives(struct clash *clash)
{
    const struct solver *solver = clash->solver;
    const struct kept *kept = clash->kept;
    uint32_t *claims = arena_zalloc(solver->arena, solver->hosts.count * sizeof(*claims));
    for (uint32_t u = 0; u < solver->units.unit_count; u++) {
        struct claimed claimed = claimed_by(clash, u);
        for (uint32_t i = 0; i < claimed.count; i++)
            add_claim(claims, claimed.hosts[i], solver->units.unit[u].exclusive);
    }
    for (uint32_t u = 0; u < solver->units.unit_count; u++) {
        uint32_t host = kept->hosts[u];
        if (host == BITS_NONE || claims[host] == CLAIM_NONE ||
            claims[host] == solver->units.unit[u].exclusive + 1)
            continue;
        claims[host] = CLAIM_SEVERAL;
        let_go(clash, u);
    }
    for (uint32_t u = 0; u < solver->units.unit_count; u++) {
        struct claimed claimed = claimed_by(clash, u);
        for (uint32_t i = 0; i < claimed.count; i++)
            if (claims[claimed.hosts[i]] == CLAIM_SEVERAL)
                let_go(clash, u);
    }
}

static void drop_clashes(struct clash *clash)
{
    const struct units *units = &clash->solver->units;
    for (uint32_t a = 0; a < units->apart_count; a++)
        check_apart(clash, &units->apart[a]);
    for (uint32_t b = 0; b < units->block_count; b++)
        check_block(clash, &units->block[b]);
    if (units->exclusive_count > 0)
        check_exclusives(clash);
    for (uint32_t u = 0; u < units->unit_count; u++)
        if (clash->lets_go[u])
            clash->kept->hosts[u] = BITS_NONE;
}

struct kept keep_in_place_find(struct solver *solver, uint64_t *const *domains)
{
    uint32_t count = solver->units.unit_count;
    uint32_t keys = solver->hosts.count + solver->hosts.rack_count;
    struct arena *arena = solver->arena;
    struct kept kept = {.hosts = arena_array(arena, count, sizeof(*kept.hosts)),
                        .has = arena_zalloc(arena, count * sizeof(*kept.has)),
                        .changes = arena_zalloc(arena, count * sizeof(*kept.changes))};
    for (uint32_t u = 0; u < count; u++) {
        kept.hosts[u] = BITS_NONE;
        find_unit(solver, domains, &kept, u);
    }
    if (!kept.any)
        return kept;
    struct clash clash = {
        .solver = solver,
        .kept = &kept,
        .by = arena_zalloc(arena, keys * sizeof(*clash.by)),
        .first = arena_array(arena, keys, sizeof(*clash.first)),
        .touched = arena_array(arena, keys, sizeof(*clash.touched)),
        .lets_go = arena_zalloc(arena, count * sizeof(*clash.lets_go)),
    };
    drop_clashes(&clash);
    return kept;
}

bool keep_in_place_keep_any(const struct solver *solver, const struct kept *kept)
{
    for (uint32_t u = 0; u < solver->units.unit_count; u++)
        if (kept->hosts[u] != BITS_NONE)
            return true;
    return false;
}

uint64_t **keep_in_place_domains(const struct solver *solver, uint64_t *const *domains,
                                 const struct kept *kept)
{
    uint32_t count = solver->units.unit_count;
    uint64_t **narrowed = arena_zalloc(solver->arena, count * sizeof(*narrowed));
    for (uint32_t u = 0; u < count; u++) {
        if (domains[u] == NULL)
            continue;
        narrowed[u] = bits_create(solver->arena, solver->hosts.count);
        if (kept != NULL && kept->hosts[u] != BITS_NONE)
            bits_add(narrowed[u], kept->hosts[u]);
        else
            memcpy(narrowed[u], domains[u], solver->hosts.words * sizeof(uint64_t));
    }
    return narrowed;
}

static bool let_changes_go(const struct solver *solver, struct kept *kept)
{
    bool any = false;
    for (uint32_t u = 0; u < solver->units.unit_count; u++) {
        if (kept->hosts[u] == BITS_NONE || !kept->changes[u])
            continue;
        kept->hosts[u] = BITS_NONE;
        any = true;
    }
    return any;
}

bool keep_in_place_let_go(const struct solver *solver, uint64_t *const *domains, uint32_t stuck,
                          struct kept *kept)
{
    if (let_changes_go(solver, kept))
        return true;
    if (kept->hosts[stuck] != BITS_NONE) {
        kept->hosts[stuck] = BITS_NONE;
        return true;
    }
    bool any = false;
    for (uint32_t u = 0; u < solver->units.unit_count; u++) {
        if (kept->hosts[u] == BITS_NONE || !bits_has(domains[stuck], kept->hosts[u]))
            continue;
        kept->hosts[u] = BITS_NONE;
        any = true;
    }
    return any;
}
