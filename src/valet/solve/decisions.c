/* The order of decisions (9.2): if servers stay in place, their decisions come first; then blocks,
 * and the units in each, with the fewest hosts first, then those with the largest demand. A block
 * of several units decides on its rack first. Any thread. */
#include "valet/solve/search.h"

#include <stdlib.h>

/* A unit or block to be sorted. */
struct ordered {
    uint32_t at;
    bool comes; /* after those that stay */
    uint32_t hosts;
    double share;
    struct slice name;
    uint32_t server;
};

static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left;
    const struct ordered *b = right;
    if (a->comes != b->comes)
        return a->comes ? 1 : -1;
    if (a->hosts != b->hosts)
        return a->hosts < b->hosts ? -1 : 1;
    if (a->share > b->share || a->share < b->share)
        return a->share > b->share ? -1 : 1;
    int order = slice_compare(&a->name, &b->name);
    return order != 0 ? order : (a->server > b->server) - (a->server < b->server);
}

static double share_of(const struct solver *solver, uint32_t unit, const double *totals)
{
    const struct unit_facts *facts = &solver->facts[unit];
    double most = 0;
    for (uint32_t d = 0; d < facts->demand_count; d++) {
        double share = (double)facts->demands[d].amount / totals[facts->demands[d].class_index];
        most = share > most ? share : most;
    }
    return most;
}

static double *sum_demands(const struct solver *solver)
{
    double *totals = arena_zalloc(solver->arena, solver->headrooms.class_count * sizeof(*totals));
    for (uint32_t u = 0; u < solver->units.unit_count; u++)
        for (uint32_t d = 0; d < solver->facts[u].demand_count; d++)
            totals[solver->facts[u].demands[d].class_index] +=
                (double)solver->facts[u].demands[d].amount;
    return totals;
}

static struct ordered order_unit(const struct search *search, uint32_t u, const double *totals)
{
    const struct solver *solver = search->solver;
    uint32_t server = solver->units.unit[u].placed[0];
    bool comes = solver->keeps_place != NULL && !solver->keeps_place[u];
    return (struct ordered){u,
                            comes,
                            search->counts[u],
                            share_of(solver, u, totals),
                            solver->stack->servers[server].name,
                            server};
}

static void add_decision(struct search *search, enum decision_kind kind, uint32_t at)
{
    search->decisions[search->decision_count++] =
        (struct decision){.kind = kind, .at = at, .twin = UNITS_NONE};
}

/* `last`: for each need, the last server with it so far, or UNITS_NONE. */
static void decide_unit(struct search *search, uint32_t u, uint32_t *last)
{
    const struct solver *solver = search->solver;
    const struct unit *unit = &solver->units.unit[u];
    add_decision(search, DECIDE_HOST, u);
    for (uint32_t i = 0; i < unit->placed_count; i++) {
        uint32_t server = unit->placed[i];
        uint32_t n = solver->needs.of_server[server];
        if (solver->needs.need[n].first == NULL)
            continue;
        add_decision(search, DECIDE_CANDIDATE, server);
        if (last[n] != UNITS_NONE && solver->units.of_server[last[n]] == u)
            search->decisions[search->decision_count - 1].twin = last[n];
        last[n] = server;
    }
}

static void decide_block(struct search *search, uint32_t b, const double *totals, uint32_t *last)
{
    const struct block *block = &search->solver->units.block[b];
    struct ordered *units = arena_array(search->solver->arena, block->unit_count, sizeof(*units));
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->unit_count; i++)
        if (search->domains[block->units[i]] != NULL)
            units[count++] = order_unit(search, block->units[i], totals);
    if (count > 1) {
        add_decision(search, DECIDE_RACK, b);
        qsort(units, count, sizeof(*units), compare_ordered);
    }
    for (uint32_t i = 0; i < count; i++)
        decide_unit(search, units[i].at, last);
}

static struct ordered order_block(const struct search *search, uint32_t b, const double *totals)
{
    const struct block *block = &search->solver->units.block[b];
    struct ordered best = {.at = UNITS_NONE};
    for (uint32_t i = 0; i < block->unit_count; i++) {
        if (search->domains[block->units[i]] == NULL)
            continue;
        struct ordered unit = order_unit(search, block->units[i], totals);
        unit.at = b;
        if (best.at == UNITS_NONE || compare_ordered(&unit, &best) < 0)
            best = unit;
    }
    return best;
}

void order_decisions(struct search *search)
{
    struct solver *solver = search->solver;
    double *totals = sum_demands(solver);
    uint32_t count = 0;
    struct ordered *blocks = arena_array(solver->arena, solver->units.block_count, sizeof(*blocks));
    for (uint32_t b = 0; b < solver->units.block_count; b++) {
        blocks[count] = order_block(search, b, totals);
        count += blocks[count].at != UNITS_NONE;
    }
    if (count > 1)
        qsort(blocks, count, sizeof(*blocks), compare_ordered);
    search->decisions = arena_array(
        solver->arena, 2 * (size_t)solver->units.unit_count + solver->stack->server_count,
        sizeof(*search->decisions));
    uint32_t *last = arena_array(solver->arena, solver->needs.count, sizeof(*last));
    memset(last, 0xff, solver->needs.count * sizeof(*last));
    for (uint32_t i = 0; i < count; i++)
        decide_block(search, blocks[i].at, totals, last);
}
