/* The content of a plan as it was accepted, over the servers of the one that is to replace it. All
 * of its servers count, also those that have lost their placement since. Any thread. */
#include "solve/accepted.h"

#include <stdlib.h>

struct known {
    struct slice id;
    uint32_t at;
};

static int compare_known(const void *left, const void *right)
{
    return slice_compare(&((const struct known *)left)->id, &((const struct known *)right)->id);
}

static void find_was(struct accepted *of, const struct stack *stack, struct arena *arena)
{
    const struct stack *accepted = of->stack;
    struct known *known = arena_array(arena, accepted->server_count, sizeof(*known));
    of->was = arena_array(arena, stack->server_count, sizeof(*of->was));
    for (uint32_t s = 0; s < accepted->server_count; s++)
        known[s] = (struct known){accepted->servers[s].orchestration_id, s};
    if (accepted->server_count > 1)
        qsort(known, accepted->server_count, sizeof(*known), compare_known);
    for (uint32_t s = 0; s < stack->server_count; s++) {
        struct known key = {stack->servers[s].orchestration_id, 0};
        const struct known *found =
            accepted->server_count == 0
                ? NULL
                : bsearch(&key, known, accepted->server_count, sizeof(*known), compare_known);
        of->was[s] = found == NULL ? UNITS_NONE : found->at;
    }
}

struct accepted accepted_read(const struct stack *stack, const struct stack *before,
                              struct arena *arena)
{
    struct accepted accepted = {.stack = before};
    struct solve_pin *pins = arena_zalloc(arena, before->server_count * sizeof(*pins));
    struct slice ignored;
    find_was(&accepted, stack, arena);
    if (!units_of_stack(before, pins, arena, &accepted.units, &ignored))
        for (uint32_t s = 0; s < stack->server_count; s++)
            accepted.was[s] = UNITS_NONE;
    return accepted;
}

const struct stack_server *accepted_server(const struct accepted *accepted, uint32_t server)
{
    uint32_t was = accepted->was[server];
    return was == UNITS_NONE ? NULL : &accepted->stack->servers[was];
}

const struct unit *accepted_unit(const struct accepted *accepted, uint32_t server)
{
    uint32_t was = accepted->was[server];
    return was == UNITS_NONE ? NULL : &accepted->units.unit[accepted->units.of_server[was]];
}

bool accepted_together(const struct accepted *accepted, uint32_t a, uint32_t b, bool is_rack)
{
    const struct unit *one = accepted_unit(accepted, a);
    const struct unit *other = accepted_unit(accepted, b);
    return one != NULL && other != NULL &&
           (one == other || (is_rack && one->block == other->block));
}

static bool share(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
        if (a[i] == b[j])
            return true;
        if (a[i] < b[j])
            i++;
        else
            j++;
    }
    return false;
}

bool accepted_apart(const struct accepted *accepted, uint32_t a, uint32_t b, bool is_rack)
{
    const struct unit *one = accepted_unit(accepted, a);
    const struct unit *other = accepted_unit(accepted, b);
    if (one == NULL || other == NULL || one == other)
        return false;
    const struct block *block = &accepted->units.block[one->block];
    const struct block *next = &accepted->units.block[other->block];
    return (block != next &&
            share(block->aparts, block->apart_count, next->aparts, next->apart_count)) ||
           (!is_rack && share(one->aparts, one->apart_count, other->aparts, other->apart_count));
}

int64_t accepted_cost(const struct accepted *accepted, uint32_t server)
{
    const struct unit *before = accepted_unit(accepted, server);
    return before == NULL ? 4
                          : 4 + (int64_t)before->apart_count +
                                accepted->units.block[before->block].apart_count;
}
