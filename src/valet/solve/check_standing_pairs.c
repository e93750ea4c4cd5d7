/* Pairs of servers that stay: those that affinity newly binds, and those that diversity newly keeps
 * apart. Pairs are visited, not groups, because many groups may have the same pairs, and the number
 * of pairs is limited by the stack's servers. Any thread. */
#include "valet/solve/check_standing_internal.h"

#include <stdlib.h>

enum { PAIR_COST = 4 };

static struct slice name_of(const struct standing_check *check_of, uint32_t server)
{
    return check_of->solver->stack->servers[server].name;
}

static bool refuse_pair(struct standing_check *check_of, uint32_t a, uint32_t b,
                        const struct slice *words)
{
    struct slice here = check_standing_place_of(check_of, a);
    struct slice there = check_standing_place_of(check_of, b);
    const struct slice parts[] = {
        SLICE_LIT("Valet error: '"),
        name_of(check_of, a),
        SLICE_LIT("' and '"),
        name_of(check_of, b),
        SLICE_LIT("' are "),
        words[0],
        words[1],
        words[2],
        SLICE_LIT(", but stay on '"),
        here,
        SLICE_LIT("' and '"),
        there,
        SLICE_LIT("'"),
    };
    *check_of->reason =
        arena_join(check_of->solver->arena, parts, sizeof(parts) / sizeof(parts[0]));
    return false;
}

static bool refuse_apart(struct standing_check *check_of, const struct apart *apart, uint32_t a,
                         uint32_t b)
{
    const struct slice words[] = {
        apart->is_rack ? SLICE_LIT("kept on different racks by '")
                       : SLICE_LIT("kept on different hosts by '"),
        check_of->solver->stack->groups[apart->group].name,
        SLICE_LIT("'"),
    };
    return refuse_pair(check_of, a, b, words);
}

static bool refuse_together(struct standing_check *check_of, bool is_rack, uint32_t a, uint32_t b)
{
    const struct slice words[] = {
        SLICE_LIT("bound to one "),
        is_rack ? SLICE_LIT("rack") : SLICE_LIT("host"),
        SLICE_LIT(" by affinity"),
    };
    return refuse_pair(check_of, a, b, words);
}

/* A server that stays, and its location: a host or, numbered after the hosts, a rack. */
struct standing {
    uint32_t key;
    uint32_t member; /* unit or block */
    uint32_t server;
};

struct standings {
    struct standing *list;
    uint32_t count;
    size_t capacity;
};

static int compare_standings(const void *left, const void *right)
{
    const struct standing *a = left;
    const struct standing *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->server > b->server) - (a->server < b->server);
}

static void stand(struct standing_check *check_of, struct standings *standings, uint32_t key,
                  uint32_t member, uint32_t server)
{
    standings->list = arena_grow(check_of->solver->arena, standings->list, standings->count,
                                 &standings->capacity, sizeof(*standings->list));
    standings->list[standings->count++] = (struct standing){key, member, server};
}

static const uint64_t *apart_from(const struct units *units, uint32_t member, bool is_rack)
{
    return is_rack ? units->block[member].apart_from : units->unit[member].apart_from;
}

/* Adds the servers of a unit if it or its block is kept apart from any other. */
static void stand_unit(struct standing_check *check_of, struct standings *standings, uint32_t u,
                       bool is_rack)
{
    const struct solver *solver = check_of->solver;
    const struct unit *unit = &solver->units.unit[u];
    uint32_t member = is_rack ? unit->block : u;
    if (apart_from(&solver->units, member, is_rack) == NULL)
        return;
    for (uint32_t i = 0; i < unit->fixed_count; i++) {
        uint32_t host = solver->facts[u].fixed[i];
        if (host == BITS_NONE)
            continue;
        stand(check_of, standings, host, member, unit->fixed[i]);
        uint32_t rack;
        for (uint32_t at = 0;
             is_rack && (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;)
            stand(check_of, standings, solver->hosts.count + rack, member, unit->fixed[i]);
    }
}

/* The first group that keeps the two members apart. */
static const struct apart *apart_of(const struct units *units, uint32_t a, uint32_t b, bool is_rack)
{
    const uint32_t *one =
        is_rack ? units->block[a].anti_affinities : units->unit[a].anti_affinities;
    const uint32_t *other =
        is_rack ? units->block[b].anti_affinities : units->unit[b].anti_affinities;
    while (*one != *other)
        (*one < *other) ? one++ : other++;
    return &units->apart[*one];
}

/* Pairs on one host, or in one rack, that belong to different members. */
static bool check_apart(struct standing_check *check_of, bool is_rack)
{
    const struct units *units = &check_of->solver->units;
    struct standings standings = {0};
    for (uint32_t u = 0; u < units->unit_count; u++)
        stand_unit(check_of, &standings, u, is_rack);
    if (standings.count > 1)
        qsort(standings.list, standings.count, sizeof(*standings.list), compare_standings);
    for (uint32_t i = 0; i < standings.count; i++) {
        const struct standing *a = &standings.list[i];
        const uint64_t *from = apart_from(units, a->member, is_rack);
        for (uint32_t j = i + 1; j < standings.count && standings.list[j].key == a->key; j++) {
            const struct standing *b = &standings.list[j];
            if (!budget_take(check_of->solver->budget, PAIR_COST))
                return false;
            if (bits_has(from, b->member) &&
                !accepted_apart(&check_of->accepted, a->server, b->server, is_rack))
                return refuse_apart(check_of, apart_of(units, a->member, b->member, is_rack),
                                    a->server, b->server);
        }
    }
    return true;
}

/* On the same provider, which may not be a host any more, or in the same rack. */
static bool are_together(const struct solver *solver, const struct standing *a,
                         const struct standing *b, bool is_rack)
{
    const struct solve_pin *pins = solver->request->pins;
    if (pins[a->server].present == pins[b->server].present)
        return true;
    return is_rack && a->key != BITS_NONE && b->key != BITS_NONE &&
           bits_has(solver->racked, a->key) &&
           solver->hosts.racks[a->key] == solver->hosts.racks[b->key];
}

static bool check_together(struct standing_check *check_of, const struct standing *list,
                           uint32_t count, bool is_rack)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (!budget_take(check_of->solver->budget, PAIR_COST))
                return false;
            if (!are_together(check_of->solver, &list[j], &list[i], is_rack) &&
                !accepted_together(&check_of->accepted, list[j].server, list[i].server, is_rack))
                return refuse_together(check_of, is_rack, list[j].server, list[i].server);
        }
    }
    return true;
}

static bool check_block(struct standing_check *check_of, const struct block *block)
{
    const struct solver *solver = check_of->solver;
    struct standings standings = {0};
    for (uint32_t i = 0; i < block->unit_count; i++) {
        uint32_t u = block->units[i];
        const struct unit *unit = &solver->units.unit[u];
        uint32_t before = standings.count;
        for (uint32_t k = 0; k < unit->fixed_count; k++)
            stand(check_of, &standings, solver->facts[u].fixed[k], u, unit->fixed[k]);
        if (standings.count > before &&
            !check_together(check_of, &standings.list[before], unit->fixed_count, false))
            return false;
    }
    return block->unit_count == 1 ||
           check_together(check_of, standings.list, standings.count, true);
}

bool check_standing_pairs(struct standing_check *check_of)
{
    const struct units *units = &check_of->solver->units;
    for (uint32_t b = 0; b < units->block_count; b++)
        if (!check_block(check_of, &units->block[b]))
            return false;
    return check_apart(check_of, false) && check_apart(check_of, true);
}
