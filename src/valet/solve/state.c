/* The state of the search: what is left, which group holds which host, which hosts are still in
 * which unit's domain. Hosts that placing a unit forbids to others leave their domains at once. So
 * the hosts in a domain are those that no rule of 7.2 and 8.3 forbids; headrooms of the host's own
 * providers are treated in the same way.
 *
 * Invariant: domains only shrink between a mark and its undoing; the trail records every change, so
 * that undoing restores the state exactly. Any thread. */
#include "valet/solve/search.h"

static struct trail *push(struct search *search, enum trail_kind kind, uint32_t unit, uint32_t at)
{
    uint32_t chunk = search->trail_count / TRAIL_CHUNK;
    if (chunk == search->trail_chunks) {
        search->trail = arena_grow(search->solver->arena, search->trail, search->trail_chunks,
                                   &search->trail_capacity, sizeof(struct trail *));
        search->trail[search->trail_chunks++] =
            arena_array(search->solver->arena, TRAIL_CHUNK, sizeof(struct trail));
    }
    struct trail *entry = &search->trail[chunk][search->trail_count++ % TRAIL_CHUNK];
    *entry = (struct trail){.kind = kind, .unit = unit & 0xffffff, .at = at};
    return entry;
}

/* The rack has no host left for the unit. */
static void shut(struct search *search, uint32_t unit, uint32_t rack)
{
    uint32_t block = search->solver->units.unit[unit].block;
    bits_remove(search->racks[unit], rack);
    search->racks_left[unit]--;
    if (search->lacking[block] == NULL || search->lacking[block][rack]++ > 0)
        return;
    bits_remove(search->serving[block], rack);
    search->serving_left[block]--;
}

static void unshut(struct search *search, uint32_t unit, uint32_t rack)
{
    uint32_t block = search->solver->units.unit[unit].block;
    bits_add(search->racks[unit], rack);
    search->racks_left[unit]++;
    if (search->lacking[block] == NULL || --search->lacking[block][rack] > 0)
        return;
    bits_add(search->serving[block], rack);
    search->serving_left[block]++;
}

/* The host's rack, if hosts are counted by rack for the unit, or HOSTS_NO_RACK. */
static uint32_t counted_rack(const struct search *search, uint32_t unit, uint32_t host)
{
    uint32_t rack = search->solver->hosts.racks[host];
    return search->by_rack[unit] == NULL || rack >= search->solver->hosts.rack_count ? HOSTS_NO_RACK
                                                                                     : rack;
}

static void drop(struct search *search, uint32_t unit, uint32_t host)
{
    search_look(search, 1);
    if (!search_is_open(search, unit) || !search_has(search, unit, host))
        return;
    bits_remove(search->domains[unit], host);
    search->counts[unit]--;
    uint32_t rack = counted_rack(search, unit, host);
    if (rack != HOSTS_NO_RACK && --search->by_rack[unit][rack] == 0)
        shut(search, unit, rack);
    push(search, TRAIL_DOMAIN, unit, host);
}

static void undrop(struct search *search, uint32_t unit, uint32_t host)
{
    bits_add(search->domains[unit], host);
    search->counts[unit]++;
    uint32_t rack = counted_rack(search, unit, host);
    if (rack != HOSTS_NO_RACK && search->by_rack[unit][rack]++ == 0)
        unshut(search, unit, rack);
}

/* Removes all hosts of the rack, except those that are in other racks, too. */
static void drop_rack(struct search *search, uint32_t unit, uint32_t rack)
{
    search_look(search, 1);
    if (!search_is_open(search, unit) || !bits_has(search->racks[unit], rack))
        return;
    search->counts[unit] -= search->by_rack[unit][rack];
    shut(search, unit, rack);
    push(search, TRAIL_CLOSED, unit, rack);
}

static void undo(struct search *search, const struct trail *entry)
{
    switch ((enum trail_kind)entry->kind) {
    case TRAIL_DOMAIN:
        undrop(search, entry->unit, entry->at);
        break;
    case TRAIL_CLOSED:
        unshut(search, entry->unit, entry->at);
        search->counts[entry->unit] += search->by_rack[entry->unit][entry->at];
        break;
    case TRAIL_HEADROOM:
        headrooms_at(&search->solver->headrooms, entry->unit, entry->at)->left = entry->before;
        break;
    case TRAIL_HOLDER:
        search->holders[entry->at] = HOLDER_NOBODY;
        break;
    case TRAIL_CLAIM:
        search->claimed_count--;
        break;
    case TRAIL_FOREIGN:
        search->foreign[entry->at]--;
        break;
    case TRAIL_CHANGED:
        bits_remove(search->changed, entry->at);
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
    search_look(search, search->trail_count - mark);
    while (search->trail_count > mark) {
        search->trail_count--;
        undo(search,
             &search->trail[search->trail_count / TRAIL_CHUNK][search->trail_count % TRAIL_CHUNK]);
    }
}

bool state_take(struct search *search, uint32_t server, uint32_t host, uint32_t at)
{
    struct solver *solver = search->solver;
    const struct need *need = &solver->needs.need[solver->needs.of_server[server]];
    search->candidates[server] = at;
    search_look(search, need->amount_count);
    for (uint32_t a = 0; a < need->amount_count; a++) {
        uint32_t slot = at == BITS_NONE ? solver->hosts.slots[host] : need_candidate(need, at)[a];
        struct headroom *headroom =
            headrooms_at(&solver->headrooms, need->amounts[a].class_index, slot);
        if (headroom->left < need->amounts[a].amount)
            return false;
        push(search, TRAIL_HEADROOM, need->amounts[a].class_index, slot)->before = headroom->left;
        headroom->left -= need->amounts[a].amount;
    }
    return true;
}

/* Other groups can no longer use the host, and units that claim racks cannot use its racks. */
static void drop_claimers(struct search *search, uint32_t host, uint32_t holder)
{
    const struct solver *solver = search->solver;
    for (uint32_t i = 0; i < search->exclusive_count; i++)
        if (solver->units.unit[search->exclusive_units[i]].exclusive != holder)
            drop(search, search->exclusive_units[i], host);
    uint32_t rack;
    for (uint32_t at = 0; (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;) {
        for (uint32_t i = 0; i < search->exclusive_count; i++) {
            uint32_t u = search->exclusive_units[i];
            if (solver->units.unit[u].claims_rack && solver->units.unit[u].exclusive != holder)
                drop_rack(search, u, rack);
        }
    }
}

static void hold(struct search *search, uint32_t host, uint32_t exclusive)
{
    search->holders[host] = exclusive;
    push(search, TRAIL_HOLDER, 0, host);
}

static void drop_plain(struct search *search, uint32_t host)
{
    for (uint32_t i = 0; i < search->plain_count; i++)
        drop(search, search->exclusive_units[search->exclusive_count + i], host);
}

static void claim_host(struct search *search, uint32_t host, uint32_t exclusive)
{
    if (search->holders[host] != HOLDER_NOBODY)
        return;
    hold(search, host, exclusive);
    drop_claimers(search, host, exclusive);
    drop_plain(search, host);
}

/* 8.3: a claim of a rack claims all its hosts. */
static void claim_rack(struct search *search, uint32_t rack, uint32_t exclusive)
{
    const struct solver *solver = search->solver;
    const struct hosts_mark *mark = &solver->hosts.rack[rack];
    uint32_t before = search->trail_count;
    search_look(search, mark->host_count);
    for (uint32_t i = 0; i < mark->host_count; i++) {
        if (solver->hosts.racks[mark->hosts[i]] == HOSTS_MANY_RACKS)
            claim_host(search, mark->hosts[i], exclusive);
        else if (search->holders[mark->hosts[i]] == HOLDER_NOBODY)
            hold(search, mark->hosts[i], exclusive);
    }
    if (search->trail_count == before)
        return;
    for (uint32_t i = 0; i < search->exclusive_count + search->plain_count; i++)
        if (solver->units.unit[search->exclusive_units[i]].exclusive != exclusive)
            drop_rack(search, search->exclusive_units[i], rack);
    search->claimed_racks[search->claimed_count++] = rack;
    push(search, TRAIL_CLAIM, 0, 0);
}

/* A host with a server of no group on it is not free. */
static void spoil_host(struct search *search, uint32_t host)
{
    push(search, TRAIL_FOREIGN, 0, host);
    if (search->foreign[host]++ == 0 && bits_has(search->solver->claimable, host) &&
        search->exclusive_count > 0)
        drop_claimers(search, host, UNITS_NONE);
}

void state_put_rack(struct search *search, uint32_t block, uint32_t rack)
{
    const struct units *units = &search->solver->units;
    search->block_racks[block] = rack;
    push(search, TRAIL_RACK, block, 0);
    if (units->block[block].apart_from == NULL)
        return;
    search_look(search, bits_words(units->unit_count));
    BITS_EACH(b, units->block[block].apart_from, bits_words(units->unit_count))
    {
        const struct block *other = &units->block[b];
        for (uint32_t i = 0; search->block_racks[b] == HOSTS_NO_RACK && i < other->unit_count; i++)
            drop_rack(search, other->units[i], rack);
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
    if (unit->apart_from != NULL) {
        search_look(search, bits_words(search->unit_count));
        BITS_EACH(other, unit->apart_from, bits_words(search->unit_count))
        {
            drop(search, other, host);
        }
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

enum { SQUEEZE_LOOKS = 1 << 20 }; /* between two calls of search_goes_on */

/* Units of a kind have the same demand, so either all of them fit or none. */
void state_squeeze(struct search *search, uint32_t host)
{
    for (uint32_t k = 0; k < search->solver->kind_count; k++) {
        bool is_known = false;
        uint32_t i = search->kind_first[k];
        for (; i < search->kind_first[k + 1]; i++) {
            uint32_t u = search->kind_units[i];
            if (!search_is_open(search, u) || !search_has(search, u, host))
                continue;
            if (!is_known && state_fits(search, u, host))
                break;
            is_known = true;
            drop(search, u, host);
        }
        search_look(search, 1 + i - search->kind_first[k]);
        if (search->looks - search->looks_paid > SQUEEZE_LOOKS && !search_goes_on(search))
            return;
    }
}
