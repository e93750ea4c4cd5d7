/* The state of the search: what is left, who has which host, which hosts are still in which unit's
 * domain. What placing a unit forbids to others is taken out of their domains at once, so that the
 * hosts in a domain are those that none of the rules of 7.2 and 8.3 forbids; of room the same holds
 * for rooms of the host's own.
 *
 * Invariant: domains only shrink between a mark and its undoing; the trail has every change, so
 * that undoing restores exactly. Any thread. */
#include "solve/search.h"

static struct trail *push(struct search *search, enum trail_kind kind, uint32_t unit, uint32_t host)
{
    search->trail = arena_grow(search->solver->arena, search->trail, search->trail_count,
                               &search->trail_capacity, sizeof(*search->trail));
    struct trail *entry = &search->trail[search->trail_count++];
    *entry = (struct trail){.kind = kind, .unit = unit, .host = host};
    return entry;
}

static void count_rack(struct search *search, uint32_t unit, uint32_t host, bool is_added)
{
    if (search->by_rack[unit] == NULL)
        return;
    uint32_t *count = &search->by_rack[unit][search->solver->hosts.racks[host]];
    if (is_added)
        search->racks_left[unit] += (*count)++ == 0;
    else
        search->racks_left[unit] -= --*count == 0;
}

static void drop(struct search *search, uint32_t unit, uint32_t host)
{
    if (search->domains[unit] == NULL || search->hosts[unit] != BITS_NONE ||
        !bits_has(search->domains[unit], host))
        return;
    bits_remove(search->domains[unit], host);
    search->counts[unit]--;
    count_rack(search, unit, host, false);
    push(search, TRAIL_DOMAIN, unit, host);
}

static void undo(struct search *search, const struct trail *entry)
{
    switch (entry->kind) {
    case TRAIL_DOMAIN:
        bits_add(search->domains[entry->unit], entry->host);
        search->counts[entry->unit]++;
        count_rack(search, entry->unit, entry->host, true);
        break;
    case TRAIL_ROOM:
        entry->room->left = entry->before;
        break;
    case TRAIL_HOLDER:
        search->holders[entry->host] = HOLDER_NOBODY;
        break;
    case TRAIL_CLAIM:
        search->claimed_count--;
        break;
    case TRAIL_FOREIGN:
        search->foreign[entry->host]--;
        break;
    case TRAIL_CHANGED:
        bits_remove(search->changed, entry->host);
        search->changed_count--;
        break;
    case TRAIL_PLACE:
        search->hosts[entry->unit] = BITS_NONE;
        search->placed--;
        break;
    case TRAIL_RACK:
        search->block_racks[entry->unit] = HOSTS_NO_RACK;
        break;
    }
}

void state_undo(struct search *search, uint32_t mark)
{
    while (search->trail_count > mark)
        undo(search, &search->trail[--search->trail_count]);
}

bool state_take(struct search *search, uint32_t server, uint32_t host, uint32_t at)
{
    struct solver *solver = search->solver;
    const struct need *need = &solver->needs.need[solver->needs.of_server[server]];
    search->candidates[server] = at;
    for (uint32_t a = 0; a < need->amount_count; a++) {
        uint32_t slot = at == BITS_NONE ? solver->hosts.slots[host] : need_candidate(need, at)[a];
        struct room *room = rooms_at(&solver->rooms, need->amounts[a].class_index, slot);
        if (room->left < need->amounts[a].amount)
            return false;
        struct trail *entry = push(search, TRAIL_ROOM, 0, 0);
        entry->room = room;
        entry->before = room->left;
        room->left -= need->amounts[a].amount;
    }
    return true;
}

static void drop_rack(struct search *search, uint32_t unit, uint32_t rack)
{
    const struct hosts_mark *mark = &search->solver->hosts.rack[rack];
    for (uint32_t i = 0; i < mark->host_count; i++)
        drop(search, unit, mark->hosts[i]);
}

/* The host is no more what a rack of the group may have in it, nor, if is_spoilt, a host of any
 * group. */
static void drop_claimers(struct search *search, uint32_t host, uint32_t holder)
{
    const struct solver *solver = search->solver;
    for (uint32_t u = 0; u < search->unit_count; u++) {
        const struct unit *unit = &solver->units.unit[u];
        if (unit->exclusive == UNITS_NONE || unit->exclusive == holder)
            continue;
        drop(search, u, host);
        uint32_t rack;
        for (uint32_t at = 0;
             unit->claims_rack && (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;)
            drop_rack(search, u, rack);
    }
}

static void claim_host(struct search *search, uint32_t host, uint32_t exclusive)
{
    if (search->holders[host] != HOLDER_NOBODY)
        return;
    search->holders[host] = exclusive;
    push(search, TRAIL_HOLDER, 0, host);
    drop_claimers(search, host, exclusive);
    for (uint32_t u = 0; u < search->unit_count; u++)
        if (search->solver->units.unit[u].exclusive == UNITS_NONE)
            drop(search, u, host);
}

/* 8.3: a claim of a rack claims all hosts of it. */
static void claim_rack(struct search *search, uint32_t rack, uint32_t exclusive)
{
    const struct hosts_mark *mark = &search->solver->hosts.rack[rack];
    bool is_new = false;
    for (uint32_t i = 0; i < mark->host_count; i++) {
        is_new = is_new || search->holders[mark->hosts[i]] == HOLDER_NOBODY;
        claim_host(search, mark->hosts[i], exclusive);
    }
    if (!is_new)
        return;
    search->claimed_racks[search->claimed_count++] = rack;
    push(search, TRAIL_CLAIM, 0, 0);
}

/* A host with a server of no group on it is not free. */
static void spoil_host(struct search *search, uint32_t host)
{
    push(search, TRAIL_FOREIGN, 0, host);
    if (search->foreign[host]++ == 0 && bits_has(search->solver->claimable, host))
        drop_claimers(search, host, UNITS_NONE);
}

void state_put_rack(struct search *search, uint32_t block, uint32_t rack)
{
    const struct units *units = &search->solver->units;
    search->block_racks[block] = rack;
    push(search, TRAIL_RACK, block, 0);
    for (uint32_t a = 0; a < units->block[block].apart_count; a++) {
        const struct apart *apart = &units->apart[units->block[block].aparts[a]];
        for (uint32_t m = 0; m < apart->member_count; m++) {
            const struct block *other = &units->block[apart->members[m]];
            if (apart->members[m] == block ||
                search->block_racks[apart->members[m]] != HOSTS_NO_RACK)
                continue;
            for (uint32_t i = 0; i < other->unit_count; i++)
                drop_rack(search, other->units[i], rack);
        }
    }
}

void state_place(struct search *search, uint32_t u, uint32_t host)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[u];
    search->hosts[u] = host;
    search->placed++;
    push(search, TRAIL_PLACE, u, 0);
    if (!bits_has(search->changed, host)) {
        bits_add(search->changed, host);
        search->changed_list[search->changed_count++] = host;
        push(search, TRAIL_CHANGED, 0, host);
    }
    for (uint32_t a = 0; a < unit->apart_count; a++) {
        const struct apart *apart = &solver->units.apart[unit->aparts[a]];
        for (uint32_t m = 0; m < apart->member_count; m++)
            drop(search, apart->members[m], host);
    }
    if (unit->exclusive == UNITS_NONE)
        spoil_host(search, host);
    else if (unit->claims_rack)
        claim_rack(search, solver->hosts.racks[host], unit->exclusive);
    else
        claim_host(search, host, unit->exclusive);
    if (unit->needs_rack && search->block_racks[unit->block] == HOSTS_NO_RACK)
        state_put_rack(search, unit->block, solver->hosts.racks[host]);
}

void state_squeeze(struct search *search, uint32_t host)
{
    for (uint32_t u = 0; u < search->unit_count; u++)
        if (search->domains[u] != NULL && search->hosts[u] == BITS_NONE &&
            bits_has(search->domains[u], host) && !state_fits(search, u, host))
            drop(search, u, host);
}

static void init_unit(struct search *search, uint32_t u)
{
    struct solver *solver = search->solver;
    search->hosts[u] = BITS_NONE;
    if (search->domains[u] == NULL)
        return;
    search->first_domains[u] = bits_create(solver->arena, solver->hosts.count);
    memcpy(search->first_domains[u], search->domains[u], search->words * sizeof(uint64_t));
    search->counts[u] = bits_count(search->domains[u], search->words);
    if (!solver->units.unit[u].needs_rack)
        return;
    search->by_rack[u] =
        arena_zalloc(solver->arena, solver->hosts.rack_count * sizeof(*search->by_rack[u]));
    BITS_EACH(host, search->domains[u], search->words)
    {
        count_rack(search, u, host, true);
    }
}

void state_init(struct search *search, uint64_t **domains)
{
    struct solver *solver = search->solver;
    struct arena *arena = solver->arena;
    uint32_t units = solver->units.unit_count;
    uint32_t hosts = solver->hosts.count;
    search->words = solver->hosts.words;
    search->unit_count = units;
    search->domains = domains;
    search->first_domains = arena_zalloc(arena, units * sizeof(*search->first_domains));
    search->counts = arena_zalloc(arena, units * sizeof(*search->counts));
    search->hosts = arena_array(arena, units, sizeof(*search->hosts));
    search->by_rack = arena_zalloc(arena, units * sizeof(*search->by_rack));
    search->racks_left = arena_zalloc(arena, units * sizeof(*search->racks_left));
    search->block_racks =
        arena_array(arena, solver->units.block_count, sizeof(*search->block_racks));
    for (uint32_t b = 0; b < solver->units.block_count; b++)
        search->block_racks[b] = HOSTS_NO_RACK;
    search->candidates =
        arena_array(arena, solver->stack->server_count, sizeof(*search->candidates));
    search->foreign = arena_zalloc(arena, hosts * sizeof(*search->foreign));
    search->holders = arena_array(arena, hosts, sizeof(*search->holders));
    memcpy(search->holders, solver->holders, hosts * sizeof(*search->holders));
    search->changed = bits_create(arena, hosts);
    search->changed_list = arena_array(arena, units, sizeof(*search->changed_list));
    search->claimed_racks =
        arena_array(arena, solver->hosts.rack_count, sizeof(*search->claimed_racks));
    search->dirty_units = bits_create(arena, units);
    search->dirty_aparts = bits_create(arena, solver->units.apart_count);
    for (uint32_t u = 0; u < units; u++)
        init_unit(search, u);
}
