/* The hosts that a unit has at first: all hosts, except those that a filter removes. The search and
 * the report of a failure use the same filters, so that the reported counts match the search. Any
 * thread. */
#include "valet/solve/solve_internal.h"

static void clear(uint64_t *hosts, uint32_t words)
{
    memset(hosts, 0, words * sizeof(*hosts));
}

/* The hosts in a list. Many servers have the same list, so the last result of each kind is kept. */
static const uint64_t *named(struct solver *solver, enum named_kind kind,
                             const struct stack_names *names)
{
    struct named_hosts *kept = &solver->named[kind];
    if (kept->hosts != NULL && kept->names.names == names->names &&
        kept->names.count == names->count)
        return kept->hosts;
    if (kept->hosts == NULL)
        kept->hosts = bits_create(solver->arena, solver->hosts.count);
    clear(kept->hosts, solver->hosts.words);
    kept->names = *names;
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t host = hosts_find(&solver->hosts, names->names[i]);
        if (host != BITS_NONE)
            bits_add(kept->hosts, host);
    }
    return kept->hosts;
}

static void keep_named(struct solver *solver, enum named_kind kind, const struct stack_names *names,
                       uint64_t *hosts)
{
    if (names->count == 0)
        return;
    const uint64_t *kept = named(solver, kind, names);
    for (uint32_t w = 0; w < solver->hosts.words; w++)
        hosts[w] &= kept[w];
}

static void keep_locations(struct solver *solver, uint32_t server, uint64_t *hosts)
{
    keep_named(solver, NAMED_BY_STACK, &solver->stack->locations, hosts);
    keep_named(solver, NAMED_BY_SERVER, &solver->stack->servers[server].locations, hosts);
    keep_named(solver, NAMED_BY_PIN, &solver->request->pins[server].locations, hosts);
}

static void drop_excluded(struct solver *solver, uint32_t server, uint64_t *hosts)
{
    const struct stack_names *names = &solver->request->pins[server].excluded;
    if (names->count == 0)
        return;
    const uint64_t *dropped = named(solver, NAMED_EXCLUDED, names);
    for (uint32_t w = 0; w < solver->hosts.words; w++)
        hosts[w] &= ~dropped[w];
}

void domain_keep_zone(struct solver *solver, uint32_t server, uint64_t *hosts)
{
    const struct hosts *all = &solver->hosts;
    struct slice name = solver->stack->servers[server].zone;
    if (name.data == NULL)
        return;
    bool is_default = slice_equal(name, solver->request->default_zone);
    if (solver->scratch == NULL)
        solver->scratch = bits_create(solver->arena, all->count);
    uint64_t *kept = solver->scratch;
    for (uint32_t w = 0; w < all->words; w++)
        kept[w] = is_default ? ~all->zoned[w] : 0;
    for (uint32_t z = 0; z < all->zone_count; z++) {
        if (!slice_equal(provider_name(all->zone[z].provider), name))
            continue;
        for (uint32_t i = 0; i < all->zone[z].host_count; i++)
            bits_add(kept, all->zone[z].hosts[i]);
    }
    for (uint32_t w = 0; w < all->words; w++)
        hosts[w] &= kept[w];
}

/* Whether the unit's servers fit together, as far as their only candidate is the host's root alone.
 */
static bool fits_together(struct solver *solver, uint32_t unit, uint32_t host)
{
    const struct unit *of = &solver->units.unit[unit];
    const struct unit_facts *facts = &solver->facts[unit];
    for (uint32_t i = 0; i < of->placed_count; i++)
        if (!bits_has(solver->needs.need[solver->needs.of_server[of->placed[i]]].simple, host))
            return true;
    for (uint32_t d = 0; d < facts->demand_count; d++)
        if (headrooms_at(&solver->headrooms, facts->demands[d].class_index,
                         solver->hosts.slots[host])
                ->left < facts->demands[d].amount)
            return false;
    return true;
}

static void keep_able(struct solver *solver, uint32_t unit, uint64_t *hosts)
{
    const struct unit *of = &solver->units.unit[unit];
    for (uint32_t i = 0; i < of->placed_count; i++) {
        uint32_t n = solver->needs.of_server[of->placed[i]];
        if (i > 0 && n == solver->needs.of_server[of->placed[i - 1]])
            continue;
        for (uint32_t w = 0; w < solver->hosts.words; w++)
            hosts[w] &= solver->needs.need[n].hosts[w];
    }
    if (of->placed_count < 2)
        return;
    BITS_EACH(host, hosts, solver->hosts.words)
    {
        if (!fits_together(solver, unit, host))
            bits_remove(hosts, host);
    }
}

static void drop_held(struct solver *solver, uint32_t unit, uint64_t *hosts)
{
    uint32_t exclusive = solver->units.unit[unit].exclusive;
    if (solver->hosts.claims == NULL)
        return;
    for (uint32_t w = 0; w < solver->hosts.words; w++) {
        uint64_t held = hosts[w] & solver->claimed[w];
        for (; held != 0 && exclusive != UNITS_NONE; held &= held - 1) {
            uint32_t host = w * 64 + (uint32_t)__builtin_ctzll(held);
            const struct hosts_claim *claim = &solver->hosts.claims[host];
            if (claim->several || claim->group != solver->groups[exclusive])
                bits_remove(hosts, host);
        }
        hosts[w] &= ~held;
    }
}

bool solver_rack_is_free(const struct solver *solver, uint32_t rack, uint32_t exclusive)
{
    const struct hosts_mark *mark = &solver->hosts.rack[rack];
    for (uint32_t i = 0; i < mark->host_count; i++)
        if (solver->holders[mark->hosts[i]] != exclusive &&
            !bits_has(solver->free[exclusive], mark->hosts[i]))
            return false;
    return true;
}

static void drop_not_free(struct solver *solver, uint32_t unit, uint64_t *hosts)
{
    const struct unit *of = &solver->units.unit[unit];
    if (of->exclusive == UNITS_NONE)
        return;
    BITS_EACH(host, hosts, solver->hosts.words)
    {
        if (solver->holders[host] != of->exclusive && !bits_has(solver->free[of->exclusive], host))
            bits_remove(hosts, host);
    }
    for (uint32_t rack = 0; of->claims_rack && rack < solver->hosts.rack_count; rack++) {
        if (solver_rack_is_free(solver, rack, of->exclusive))
            continue;
        const struct hosts_mark *mark = &solver->hosts.rack[rack];
        for (uint32_t i = 0; i < mark->host_count; i++)
            bits_remove(hosts, mark->hosts[i]);
    }
}

static void keep_host(struct solver *solver, uint32_t host, uint64_t *hosts)
{
    bool is_in = host != BITS_NONE && bits_has(hosts, host);
    clear(hosts, solver->hosts.words);
    if (is_in)
        bits_add(hosts, host);
}

/* A host in no rack, or in several, has no rack that other units could share with it. */
static void keep_rack_of(struct solver *solver, uint32_t host, uint64_t *hosts)
{
    bool has_rack = host != BITS_NONE && bits_has(solver->racked, host);
    BITS_EACH(other, hosts, solver->hosts.words)
    {
        if (!has_rack || solver->hosts.racks[other] != solver->hosts.racks[host])
            bits_remove(hosts, other);
    }
}

static void keep_beside(struct solver *solver, uint32_t unit, uint64_t *hosts)
{
    for (uint32_t i = 0; i < solver->units.unit[unit].fixed_count; i++)
        keep_host(solver, solver->facts[unit].fixed[i], hosts);
    const struct block *block = &solver->units.block[solver->units.unit[unit].block];
    uint32_t kept = HOSTS_NO_RACK; /* the last that was kept: usually there is only one */
    for (uint32_t i = 0; i < block->unit_count; i++) {
        uint32_t other = block->units[i];
        for (uint32_t j = 0; other != unit && j < solver->units.unit[other].fixed_count; j++) {
            uint32_t host = solver->facts[other].fixed[j];
            if (host != BITS_NONE && kept != HOSTS_NO_RACK && solver->hosts.racks[host] == kept)
                continue;
            if (bits_next(hosts, solver->hosts.words, 0) == BITS_NONE)
                return;
            keep_rack_of(solver, host, hosts);
            kept = host == BITS_NONE ? HOSTS_NO_RACK : solver->hosts.racks[host];
        }
    }
}

static void drop_hosts_of(struct solver *solver, uint32_t unit, uint64_t *hosts)
{
    for (uint32_t i = 0; i < solver->units.unit[unit].fixed_count; i++)
        if (solver->facts[unit].fixed[i] != BITS_NONE)
            bits_remove(hosts, solver->facts[unit].fixed[i]);
}

static void add_racks_of(struct solver *solver, uint32_t unit, uint64_t *racks)
{
    for (uint32_t i = 0; i < solver->units.unit[unit].fixed_count; i++) {
        uint32_t host = solver->facts[unit].fixed[i];
        uint32_t rack;
        for (uint32_t at = 0;
             host != BITS_NONE && (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;)
            bits_add(racks, rack);
    }
}

static void drop_racks_apart(struct solver *solver, const struct block *of, uint64_t *hosts)
{
    const struct units *units = &solver->units;
    uint32_t count = solver->hosts.rack_count;
    if (solver->scratch_racks == NULL)
        solver->scratch_racks = bits_create(solver->arena, count);
    uint64_t *racks = solver->scratch_racks;
    clear(racks, bits_words(count));
    BITS_EACH(b, of->apart_from, bits_words(units->unit_count))
    {
        for (uint32_t i = 0; i < units->block[b].unit_count; i++)
            add_racks_of(solver, units->block[b].units[i], racks);
    }
    BITS_EACH(rack, racks, bits_words(count))
    {
        for (uint32_t i = 0; i < solver->hosts.rack[rack].host_count; i++)
            bits_remove(hosts, solver->hosts.rack[rack].hosts[i]);
    }
}

static void drop_apart(struct solver *solver, uint32_t unit, uint64_t *hosts)
{
    const struct units *units = &solver->units;
    const struct unit *of = &units->unit[unit];
    if (of->apart_from != NULL) {
        BITS_EACH(other, of->apart_from, bits_words(units->unit_count))
        {
            drop_hosts_of(solver, other, hosts);
        }
    }
    if (units->block[of->block].apart_from != NULL)
        drop_racks_apart(solver, &units->block[of->block], hosts);
}

static void filter_servers(struct solver *solver, uint32_t unit, enum filter filter,
                           uint64_t *hosts)
{
    const struct unit *of = &solver->units.unit[unit];
    for (uint32_t i = 0; i < of->placed_count; i++) {
        if (filter == FILTER_LOCATIONS)
            keep_locations(solver, of->placed[i], hosts);
        else if (filter == FILTER_EXCLUDED)
            drop_excluded(solver, of->placed[i], hosts);
        else
            domain_keep_zone(solver, of->placed[i], hosts);
    }
}

void domain_filter(struct solver *solver, uint32_t unit, enum filter filter, uint64_t *hosts)
{
    uint32_t words = solver->hosts.words;
    switch (filter) {
    case FILTER_LOCATIONS:
    case FILTER_EXCLUDED:
    case FILTER_ZONE:
        filter_servers(solver, unit, filter, hosts);
        break;
    case FILTER_DISABLED:
        for (uint32_t w = 0; w < words; w++)
            hosts[w] &= ~solver->hosts.disabled[w];
        break;
    case FILTER_RACK:
        for (uint32_t w = 0; w < words && solver->units.unit[unit].needs_rack; w++)
            hosts[w] &= solver->racked[w];
        break;
    case FILTER_CAPACITY:
        keep_able(solver, unit, hosts);
        break;
    case FILTER_HELD:
        drop_held(solver, unit, hosts);
        break;
    case FILTER_NOT_FREE:
        drop_not_free(solver, unit, hosts);
        break;
    case FILTER_BESIDE:
        keep_beside(solver, unit, hosts);
        break;
    case FILTER_APART:
        drop_apart(solver, unit, hosts);
        break;
    case FILTER_TRAITS:
    case FILTER_COUNT:
        break;
    }
}

void domain_of(struct solver *solver, uint32_t unit, uint64_t *hosts)
{
    uint32_t count = solver->hosts.count;
    memset(hosts, 0xff, solver->hosts.words * sizeof(*hosts));
    if (count % 64 != 0)
        hosts[count / 64] = ((uint64_t)1 << (count % 64)) - 1;
    for (enum filter filter = 0; filter < FILTER_COUNT; filter++)
        domain_filter(solver, unit, filter, hosts);
}
