/* The state before the search. Any thread. */
#include "valet/solve/search.h"

static void init_racks(struct search *search, uint32_t u)
{
    const struct hosts *hosts = &search->solver->hosts;
    struct arena *arena = search->solver->arena;
    search->by_rack[u] = arena_zalloc(arena, hosts->rack_count * sizeof(*search->by_rack[u]));
    search->racks[u] = bits_create(arena, hosts->rack_count);
    BITS_EACH(host, search->domains[u], search->words)
    {
        uint32_t rack = hosts->racks[host];
        if (rack >= hosts->rack_count || search->by_rack[u][rack]++ > 0)
            continue;
        bits_add(search->racks[u], rack);
        search->racks_left[u]++;
    }
}

static void init_unit(struct search *search, uint32_t u, bool by_rack)
{
    struct solver *solver = search->solver;
    search->hosts[u] = BITS_NONE;
    if (search->domains[u] == NULL)
        return;
    search->first_domains[u] = bits_create(solver->arena, solver->hosts.count);
    memcpy(search->first_domains[u], search->domains[u], search->words * sizeof(uint64_t));
    search->counts[u] = bits_count(search->domains[u], search->words);
    if (by_rack || solver->units.unit[u].needs_rack)
        init_racks(search, u);
}

static void init_block(struct search *search, uint32_t b)
{
    const struct hosts *hosts = &search->solver->hosts;
    struct arena *arena = search->solver->arena;
    const struct block *block = &search->solver->units.block[b];
    uint32_t open = 0;
    search->block_racks[b] = HOSTS_NO_RACK;
    search->first_units[b] = UNITS_NONE;
    for (uint32_t i = 0; i < block->unit_count; i++) {
        if (search->domains[block->units[i]] == NULL)
            continue;
        if (open++ == 0)
            search->first_units[b] = block->units[i];
    }
    if (open < 2)
        return;
    search->lacking[b] = arena_zalloc(arena, hosts->rack_count * sizeof(*search->lacking[b]));
    search->serving[b] = bits_create(arena, hosts->rack_count);
    for (uint32_t i = 0; i < block->unit_count; i++)
        for (uint32_t rack = 0;
             search->domains[block->units[i]] != NULL && rack < hosts->rack_count; rack++)
            search->lacking[b][rack] += !bits_has(search->racks[block->units[i]], rack);
    for (uint32_t rack = 0; rack < hosts->rack_count; rack++) {
        if (search->lacking[b][rack] > 0)
            continue;
        bits_add(search->serving[b], rack);
        search->serving_left[b]++;
    }
}

/* Lists the units by kind, and separately by whether they have an exclusivity group. */
static void list_units(struct search *search)
{
    const struct solver *solver = search->solver;
    struct arena *arena = solver->arena;
    uint32_t count = search->unit_count;
    search->kind_units = arena_array(arena, count, sizeof(uint32_t));
    search->kind_first = arena_zalloc(arena, (solver->kind_count + 2) * sizeof(uint32_t));
    search->exclusive_units = arena_array(arena, count, sizeof(uint32_t));
    for (uint32_t u = 0; u < count; u++)
        if (search->domains[u] != NULL)
            search->kind_first[solver->facts[u].kind + 2]++;
    for (uint32_t k = 0; k < solver->kind_count; k++)
        search->kind_first[k + 2] += search->kind_first[k + 1];
    for (uint32_t u = 0; u < count; u++) {
        if (search->domains[u] == NULL)
            continue;
        search->kind_units[search->kind_first[solver->facts[u].kind + 1]++] = u;
        if (solver->units.unit[u].exclusive != UNITS_NONE)
            search->exclusive_units[search->exclusive_count++] = u;
    }
    for (uint32_t u = 0; u < count; u++)
        if (search->domains[u] != NULL && solver->units.unit[u].exclusive == UNITS_NONE)
            search->exclusive_units[search->exclusive_count + search->plain_count++] = u;
}

static void make_units(struct search *search)
{
    struct solver *solver = search->solver;
    struct arena *arena = solver->arena;
    uint32_t units = search->unit_count;
    search->first_domains = arena_zalloc(arena, units * sizeof(*search->first_domains));
    search->domain_numbers = arena_zalloc(arena, units * sizeof(*search->domain_numbers));
    search->counts = arena_zalloc(arena, units * sizeof(*search->counts));
    search->hosts = arena_array(arena, units, sizeof(*search->hosts));
    search->by_rack = arena_zalloc(arena, units * sizeof(*search->by_rack));
    search->racks = arena_zalloc(arena, units * sizeof(*search->racks));
    search->racks_left = arena_zalloc(arena, units * sizeof(*search->racks_left));
    search->candidates =
        arena_array(arena, solver->stack->server_count, sizeof(*search->candidates));
    bool by_rack = false; /* a claim of a rack removes it for all of them */
    for (uint32_t u = 0; u < units; u++)
        by_rack = by_rack || (search->domains[u] != NULL && solver->units.unit[u].claims_rack);
    for (uint32_t u = 0; u < units; u++)
        init_unit(search, u, by_rack);
    list_units(search);
}

static void make_blocks(struct search *search)
{
    struct arena *arena = search->solver->arena;
    uint32_t blocks = search->solver->units.block_count;
    search->block_racks = arena_array(arena, blocks, sizeof(*search->block_racks));
    search->first_units = arena_array(arena, blocks, sizeof(*search->first_units));
    search->lacking = arena_zalloc(arena, blocks * sizeof(*search->lacking));
    search->serving = arena_zalloc(arena, blocks * sizeof(*search->serving));
    search->serving_left = arena_zalloc(arena, blocks * sizeof(*search->serving_left));
    for (uint32_t b = 0; b < blocks; b++)
        init_block(search, b);
}

void state_init(struct search *search, uint64_t **domains)
{
    struct solver *solver = search->solver;
    struct arena *arena = solver->arena;
    uint32_t hosts = solver->hosts.count;
    search->words = solver->hosts.words;
    search->unit_count = solver->units.unit_count;
    search->domains = domains;
    search->foreign = arena_zalloc(arena, hosts * sizeof(*search->foreign));
    search->holders = arena_array(arena, hosts, sizeof(*search->holders));
    memcpy(search->holders, solver->holders, hosts * sizeof(*search->holders));
    search->changed = bits_create(arena, hosts);
    search->changed_list = arena_array(arena, search->unit_count, sizeof(*search->changed_list));
    search->claimed_racks =
        arena_array(arena, solver->hosts.rack_count, sizeof(*search->claimed_racks));
    search->dirty_units = bits_create(arena, search->unit_count);
    search->dirty_anti_affinity = bits_create(arena, solver->units.apart_count);
    make_units(search);
    make_blocks(search);
}
