/* Forward checking: after each change, whether units without a host can still get one. Only units
 * that the change affects are examined. Any thread. */
#include "valet/solve/search.h"

static bool fits_by_root(struct search *search, const struct need_amount *amounts, uint32_t count,
                         uint32_t slot)
{
    for (uint32_t i = 0; i < count; i++)
        if (headrooms_at(&search->solver->headrooms, amounts[i].class_index, slot)->left <
            amounts[i].amount)
            return false;
    return true;
}

static bool fits_by_candidate(struct search *search, const struct need *need, uint32_t at)
{
    for (uint32_t a = 0; a < need->amount_count; a++)
        if (headrooms_at(&search->solver->headrooms, need->amounts[a].class_index,
                         need_candidate(need, at)[a])
                ->left < need->amounts[a].amount)
            return false;
    return true;
}

static bool fits_somehow(struct search *search, const struct need *need, uint32_t host)
{
    if (bits_has(need->simple, host))
        return fits_by_root(search, need->amounts, need->amount_count,
                            search->solver->hosts.slots[host]);
    for (uint32_t at = need->first[host]; at < need->first[host + 1]; at++) {
        search_look(search, need->amount_count);
        if (fits_by_candidate(search, need, at))
            return true;
    }
    return false;
}

bool state_fits(struct search *search, uint32_t u, uint32_t host)
{
    struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[u];
    const struct unit_facts *facts = &solver->facts[u];
    bool all_simple = true;
    search_look(search, unit->placed_count + facts->demand_count);
    for (uint32_t i = 0; i < unit->placed_count; i++) {
        const struct need *need = &solver->needs.need[solver->needs.of_server[unit->placed[i]]];
        if (i > 0 && solver->needs.of_server[unit->placed[i]] ==
                         solver->needs.of_server[unit->placed[i - 1]])
            continue;
        all_simple = all_simple && bits_has(need->simple, host);
        if (!all_simple && !fits_somehow(search, need, host))
            return false;
    }
    for (uint32_t d = 0; all_simple && d < facts->demand_count; d++)
        if (headrooms_at(&solver->headrooms, facts->demands[d].class_index,
                         solver->hosts.slots[host])
                ->left < facts->demands[d].amount)
            return false;
    return true;
}

static void mark_anti_affinity(struct search *search, const uint32_t *anti_affinities,
                               uint32_t count)
{
    search_look(search, count);
    for (uint32_t i = 0; i < count; i++)
        bits_add(search->dirty_anti_affinity, anti_affinities[i]);
}

static void mark_unit(struct search *search, uint32_t u)
{
    const struct units *units = &search->solver->units;
    const struct unit *unit = &units->unit[u];
    if (!search_is_open(search, u) || bits_has(search->dirty_units, u))
        return;
    bits_add(search->dirty_units, u);
    mark_anti_affinity(search, unit->anti_affinities, unit->apart_count);
    mark_anti_affinity(search, units->block[unit->block].anti_affinities,
                       units->block[unit->block].apart_count);
}

static void mark_dirty(struct search *search, uint32_t mark)
{
    const struct units *units = &search->solver->units;
    memset(search->dirty_units, 0, bits_words(search->unit_count) * sizeof(uint64_t));
    memset(search->dirty_anti_affinity, 0, bits_words(units->apart_count) * sizeof(uint64_t));
    search_look(search, search->trail_count - mark + bits_words(search->unit_count) +
                            bits_words(units->apart_count));
    for (uint32_t i = mark; i < search->trail_count; i++) {
        const struct trail *entry = &search->trail[i / TRAIL_CHUNK][i % TRAIL_CHUNK];
        if (entry->kind == TRAIL_DOMAIN || entry->kind == TRAIL_CLOSED)
            mark_unit(search, entry->unit);
        if (entry->kind != TRAIL_RACK)
            continue;
        const struct block *block = &units->block[entry->unit];
        for (uint32_t j = 0; j < block->unit_count; j++)
            mark_unit(search, block->units[j]);
    }
}

static bool unit_holds(struct search *search, uint32_t u)
{
    uint32_t b = search->solver->units.unit[u].block;
    search_look(search, 1);
    if (state_left(search, u) > 0 &&
        (search->lacking[b] == NULL || search->block_racks[b] != HOSTS_NO_RACK ||
         search->serving_left[b] > 0))
        return true;
    state_stuck(search, u, UNITS_NONE);
    return false;
}

bool state_holds(struct search *search, uint32_t mark)
{
    mark_dirty(search, mark);
    BITS_EACH(u, search->dirty_units, bits_words(search->unit_count))
    {
        if (!unit_holds(search, u))
            return false;
    }
    BITS_EACH(a, search->dirty_anti_affinity, bits_words(search->solver->units.apart_count))
    {
        uint32_t unit;
        if (!matching_exists(search, a, &unit)) {
            state_stuck(search, unit, a);
            return false;
        }
        if (search->end != SEARCH_FOUND)
            return false;
    }
    return true;
}

/* Whether the rack can no longer be claimed for the unit's group. */
static bool rack_is_spoilt(struct search *search, uint32_t rack, uint32_t exclusive)
{
    const struct hosts_mark *mark = &search->solver->hosts.rack[rack];
    search_look(search, mark->host_count);
    for (uint32_t i = 0; i < mark->host_count; i++) {
        uint32_t holder = search->holders[mark->hosts[i]];
        if (holder != exclusive && (holder != HOLDER_NOBODY || search->foreign[mark->hosts[i]] > 0))
            return true;
    }
    return false;
}

/* Why a host that was in the unit's domain is not usable after the plan's decisions so far.
 * FILTER_COUNT: it is usable. `spoilt`: the racks that can no longer be claimed, if the unit claims
 * racks. */
static enum filter why_gone(struct search *search, uint32_t u, uint32_t host,
                            const uint64_t *spoilt)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[u];
    uint32_t holder = search->holders[host];
    uint32_t rack = search->block_racks[unit->block];
    if (!state_fits(search, u, host))
        return FILTER_CAPACITY;
    if (holder != unit->exclusive && holder != HOLDER_NOBODY)
        return FILTER_HELD;
    if (unit->exclusive != UNITS_NONE &&
        ((holder == HOLDER_NOBODY && search->foreign[host] > 0) ||
         (unit->claims_rack && bits_has(spoilt, solver->hosts.racks[host]))))
        return FILTER_NOT_FREE;
    if (rack != HOSTS_NO_RACK && solver->hosts.racks[host] != rack)
        return FILTER_BESIDE;
    return search_has(search, u, host) ? FILTER_COUNT : FILTER_APART;
}

static const uint64_t *spoilt_racks(struct search *search, uint32_t u)
{
    const struct unit *unit = &search->solver->units.unit[u];
    uint32_t racks = search->solver->hosts.rack_count;
    if (!unit->claims_rack)
        return NULL;
    if (search->stuck.spoilt == NULL)
        search->stuck.spoilt = bits_create(search->solver->arena, racks);
    memset(search->stuck.spoilt, 0, bits_words(racks) * sizeof(uint64_t));
    for (uint32_t rack = 0; rack < racks; rack++)
        if (rack_is_spoilt(search, rack, unit->exclusive))
            bits_add(search->stuck.spoilt, rack);
    return search->stuck.spoilt;
}

void state_stuck(struct search *search, uint32_t u, uint32_t apart)
{
    struct stuck *stuck = &search->stuck;
    uint32_t exclusives = search->solver->units.exclusive_count;
    if (stuck->is_set && search->placed <= stuck->depth)
        return;
    if (stuck->held == NULL)
        stuck->held = arena_array(search->solver->arena, exclusives, sizeof(*stuck->held));
    *stuck = (struct stuck){.is_set = true,
                            .depth = search->placed,
                            .unit = u,
                            .apart = apart,
                            .held = stuck->held,
                            .spoilt = stuck->spoilt};
    memset(stuck->held, 0, exclusives * sizeof(*stuck->held));
    const uint64_t *spoilt = spoilt_racks(search, u);
    BITS_EACH(host, search->first_domains[u], search->words)
    {
        enum filter why = why_gone(search, u, host, spoilt);
        if (why == FILTER_COUNT)
            stuck->left++;
        else
            stuck->counts[why]++;
        if (why == FILTER_HELD)
            stuck->held[search->holders[host]]++;
    }
}
