/* Members of a diversity group all get different hosts, or racks, only if there is a matching of
 * members with what each could have. Members that could have as many as there are members in all
 * always find one in the end, so that only the others are matched: mostly none. Any thread. */
#include "solve/search.h"

struct matching {
    uint32_t *members; /* those to be matched: units or blocks */
    uint32_t count;
    uint32_t *first; /* what each could have: values[first[i]] to values[first[i + 1]] */
    uint32_t *values;
    uint32_t value_count;
    size_t value_capacity;
    uint32_t *taken_by; /* by host or rack: member index; BITS_NONE: nobody */
    uint32_t *seen_at;  /* by host or rack: the round that looked at it */
    uint32_t round;
};

void matching_init(struct search *search)
{
    struct arena *arena = search->solver->arena;
    const struct hosts *hosts = &search->solver->hosts;
    uint32_t values = hosts->count > hosts->rack_count ? hosts->count : hosts->rack_count;
    struct matching *matching = arena_zalloc(arena, sizeof(*matching));
    matching->members = arena_array(arena, search->unit_count, sizeof(uint32_t));
    matching->first = arena_array(arena, (size_t)search->unit_count + 1, sizeof(uint32_t));
    matching->taken_by = arena_array(arena, values, sizeof(uint32_t));
    memset(matching->taken_by, 0xff, values * sizeof(uint32_t));
    matching->seen_at = arena_zalloc(arena, values * sizeof(uint32_t));
    search->matching = matching;
}

static void add_value(struct search *search, uint32_t value)
{
    struct matching *matching = search->matching;
    matching->values = arena_grow(search->solver->arena, matching->values, matching->value_count,
                                  &matching->value_capacity, sizeof(*matching->values));
    matching->values[matching->value_count++] = value;
}

/* A unit of the block that has no host yet, while the block has no rack; else UNITS_NONE. */
static uint32_t open_unit(const struct search *search, const struct apart *apart, uint32_t member)
{
    if (!apart->is_rack)
        return search->domains[member] != NULL && search->hosts[member] == BITS_NONE ? member
                                                                                     : UNITS_NONE;
    const struct block *block = &search->solver->units.block[member];
    if (search->block_racks[member] != HOSTS_NO_RACK)
        return UNITS_NONE;
    for (uint32_t i = 0; i < block->unit_count; i++)
        if (search->domains[block->units[i]] != NULL && search->hosts[block->units[i]] == BITS_NONE)
            return block->units[i];
    return UNITS_NONE;
}

static bool is_wide(const struct search *search, const struct apart *apart, uint32_t member,
                    uint32_t unit, uint32_t open)
{
    if (!apart->is_rack)
        return state_left(search, unit) >= open;
    return search->solver->units.block[member].unit_count == 1 && search->racks_left[unit] >= open;
}

static void add_values(struct search *search, const struct apart *apart, uint32_t member)
{
    const struct hosts *hosts = &search->solver->hosts;
    if (apart->is_rack) {
        for (uint32_t rack = 0; rack < hosts->rack_count; rack++)
            if (state_rack_serves(search, member, rack))
                add_value(search, rack);
        return;
    }
    uint32_t rack = search->block_racks[search->solver->units.unit[member].block];
    if (rack == HOSTS_NO_RACK || search->by_rack[member] == NULL) {
        BITS_EACH(host, search->domains[member], search->words)
        {
            add_value(search, host);
        }
        return;
    }
    for (uint32_t i = 0; i < hosts->rack[rack].host_count; i++)
        if (bits_has(search->domains[member], hosts->rack[rack].hosts[i]))
            add_value(search, hosts->rack[rack].hosts[i]);
}

/* Lists the members that are to be matched, with what they could have. */
static void gather(struct search *search, const struct apart *apart)
{
    struct matching *matching = search->matching;
    uint32_t open = 0;
    matching->count = matching->value_count = 0;
    for (uint32_t m = 0; m < apart->member_count; m++)
        open += open_unit(search, apart, apart->members[m]) != UNITS_NONE;
    for (uint32_t m = 0; m < apart->member_count; m++) {
        uint32_t member = apart->members[m];
        uint32_t unit = open_unit(search, apart, member);
        if (unit == UNITS_NONE || is_wide(search, apart, member, unit, open))
            continue;
        matching->first[matching->count] = matching->value_count;
        matching->members[matching->count++] = member;
        add_values(search, apart, member);
    }
    matching->first[matching->count] = matching->value_count;
}

/* Finds member i a value, from others who can change theirs if need be. As deep as there are
 * members. */
static bool augment(struct matching *matching, uint32_t i)
{
    for (uint32_t v = matching->first[i]; v < matching->first[i + 1]; v++) {
        uint32_t value = matching->values[v];
        if (matching->seen_at[value] == matching->round)
            continue;
        matching->seen_at[value] = matching->round;
        if (matching->taken_by[value] == BITS_NONE ||
            augment(matching, matching->taken_by[value])) {
            matching->taken_by[value] = i;
            return true;
        }
    }
    return false;
}

bool matching_exists(struct search *search, const struct apart *apart, uint32_t *unit)
{
    struct matching *matching = search->matching;
    bool exists = true;
    gather(search, apart);
    for (uint32_t i = 0; i < matching->count && exists; i++) {
        matching->round++;
        exists = augment(matching, i);
        if (!exists)
            *unit = open_unit(search, apart, matching->members[i]);
    }
    for (uint32_t v = 0; v < matching->value_count; v++)
        matching->taken_by[matching->values[v]] = BITS_NONE;
    return exists;
}
