/* All members of a diversity group can get different hosts, or racks, only if there is a matching
 * between the members and their possible values. Members with at least as many values as there are
 * members always find one in the end, so only the others are matched: usually none.
 *
 * The last match of each member is kept and reused while it remains possible, so that the cost of a
 * change depends on what it removed. Only the existence of a matching matters, not which one it is.
 * Any thread. */
#include "valet/solve/search.h"

struct matching {
    uint32_t **matched; /* by set and member: a host or rack; BITS_NONE: none yet */
    uint32_t *taken_by; /* by host or rack: member index; BITS_NONE: none */
    uint32_t *seen_at;  /* by host or rack: the last round that visited it */
    uint32_t *open;     /* members of the current set */
    uint32_t round;
};

void matching_init(struct search *search)
{
    struct arena *arena = search->solver->arena;
    const struct hosts *hosts = &search->solver->hosts;
    const struct units *units = &search->solver->units;
    uint32_t values = hosts->count > hosts->rack_count ? hosts->count : hosts->rack_count;
    struct matching *matching = arena_zalloc(arena, sizeof(*matching));
    matching->matched = arena_array(arena, units->apart_count, sizeof(uint32_t *));
    for (uint32_t a = 0; a < units->apart_count; a++) {
        size_t bytes = units->apart[a].member_count * sizeof(uint32_t);
        matching->matched[a] = memset(arena_alloc(arena, bytes), 0xff, bytes);
    }
    matching->open = arena_array(arena, search->unit_count, sizeof(uint32_t));
    matching->taken_by = arena_array(arena, values, sizeof(uint32_t));
    memset(matching->taken_by, 0xff, values * sizeof(uint32_t));
    matching->seen_at = arena_zalloc(arena, values * sizeof(uint32_t));
    search->matching = matching;
}

/* A set that is being matched. */
struct set {
    struct search *search;
    const struct apart *apart;
    uint32_t *matched;
    uint32_t open; /* how many of its members */
};

/* A unit of the member without a host, while its block has no rack; else UNITS_NONE. */
static inline uint32_t open_unit(const struct set *set, uint32_t m)
{
    const struct search *search = set->search;
    uint32_t member = set->apart->members[m];
    if (set->apart->is_rack)
        return search->block_racks[member] == HOSTS_NO_RACK ? search->first_units[member]
                                                            : UNITS_NONE;
    return search_is_open(search, member) ? member : UNITS_NONE;
}

static uint32_t block_rack(const struct set *set, uint32_t member)
{
    const struct search *search = set->search;
    return search->racks[member] == NULL
               ? HOSTS_NO_RACK
               : search->block_racks[search->solver->units.unit[member].block];
}

static inline bool is_wide(const struct set *set, uint32_t m)
{
    uint32_t member = set->apart->members[m];
    uint32_t left = set->apart->is_rack ? search_racks_left(set->search, member)
                                        : state_left(set->search, member);
    return left >= set->open;
}

static inline bool may_have(const struct set *set, uint32_t m, uint32_t value)
{
    const struct search *search = set->search;
    uint32_t member = set->apart->members[m];
    if (set->apart->is_rack)
        return bits_has(search_racks(search, member), value);
    uint32_t rack = block_rack(set, member);
    return search_has(search, member, value) &&
           (rack == HOSTS_NO_RACK || search->solver->hosts.racks[value] == rack);
}

/* The member's next possible value, from *at on, which is initially 0; BITS_NONE: no more. */
static uint32_t next_value(const struct set *set, uint32_t m, uint32_t *at)
{
    struct search *search = set->search;
    uint32_t member = set->apart->members[m];
    uint32_t rack = set->apart->is_rack ? HOSTS_NO_RACK : block_rack(set, member);
    const uint64_t *bits =
        set->apart->is_rack ? search_racks(search, member) : search->domains[member];
    uint32_t words =
        set->apart->is_rack ? bits_words(search->solver->hosts.rack_count) : search->words;
    uint32_t from = *at;
    uint32_t value;
    do {
        if (rack == HOSTS_NO_RACK) {
            value = bits_next(bits, words, *at);
            *at = value == BITS_NONE ? words * 64 : value + 1;
        } else
            value = *at == search->solver->hosts.rack[rack].host_count
                        ? BITS_NONE
                        : search->solver->hosts.rack[rack].hosts[(*at)++];
        search_look(search, 1);
    } while (value != BITS_NONE && !may_have(set, m, value));
    search_look(search, rack == HOSTS_NO_RACK ? (*at - from) / 64 : 0);
    return value;
}

static void match(const struct set *set, uint32_t m, uint32_t value)
{
    set->matched[m] = value;
    set->search->matching->taken_by[value] = m;
}

/* Finds a value for the member, reassigning other members if necessary. The recursion is at most as
 * deep as there are members. */
static bool augment(const struct set *set, uint32_t m)
{
    struct matching *matching = set->search->matching;
    uint32_t value;
    uint32_t at = 0;
    while ((value = next_value(set, m, &at)) != BITS_NONE) {
        if (matching->taken_by[value] != BITS_NONE)
            continue;
        match(set, m, value);
        return true;
    }
    at = 0;
    while (search_goes_on(set->search) && (value = next_value(set, m, &at)) != BITS_NONE) {
        if (matching->seen_at[value] == matching->round)
            continue;
        matching->seen_at[value] = matching->round;
        if (augment(set, matching->taken_by[value])) {
            match(set, m, value);
            return true;
        }
    }
    return false;
}

enum { MEMBER_LOOKS = 4 };

/* Lists the members without a place. */
static uint32_t list_open(const struct set *set)
{
    uint32_t *open = set->search->matching->open;
    uint32_t count = 0;
    search_look(set->search, MEMBER_LOOKS * (int64_t)set->apart->member_count);
    for (uint32_t m = 0; m < set->apart->member_count; m++) {
        open[count] = m;
        count += open_unit(set, m) != UNITS_NONE;
    }
    return count;
}

/* Keeps the previous matches that are still possible, and leaves the unmatched members in the list.
 */
static uint32_t take_over(const struct set *set)
{
    struct matching *matching = set->search->matching;
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->open; i++) {
        uint32_t m = matching->open[i];
        uint32_t value = set->matched[m];
        if (is_wide(set, m))
            set->matched[m] = BITS_NONE;
        else if (value != BITS_NONE && may_have(set, m, value) &&
                 matching->taken_by[value] == BITS_NONE)
            matching->taken_by[value] = m;
        else {
            set->matched[m] = BITS_NONE;
            matching->open[count++] = m;
        }
    }
    return count;
}

bool matching_exists(struct search *search, uint32_t apart, uint32_t *unit)
{
    struct matching *matching = search->matching;
    struct set set = {search, &search->solver->units.apart[apart], matching->matched[apart], 0};
    set.open = list_open(&set);
    uint32_t count = take_over(&set);
    bool exists = true;
    for (uint32_t i = 0; i < count && exists; i++) {
        matching->round++;
        exists = augment(&set, matching->open[i]);
        if (!exists)
            *unit = open_unit(&set, matching->open[i]);
    }
    for (uint32_t m = 0; m < set.apart->member_count; m++)
        if (set.matched[m] != BITS_NONE)
            matching->taken_by[set.matched[m]] = BITS_NONE;
    return exists || search->end != SEARCH_FOUND;
}
