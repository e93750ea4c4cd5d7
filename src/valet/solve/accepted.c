/* The content of a plan as it was accepted, compared with the servers of the content that is to
 * replace it. All servers of the old content count, also those that have lost their placement
 * since. Any thread. */
#include "valet/solve/accepted.h"

#include <stdlib.h>

#include "valet/solve/bits.h"

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

static bool is_in(const uint64_t *apart_from, uint32_t member)
{
    return apart_from != NULL && bits_has(apart_from, member);
}

bool accepted_apart(const struct accepted *accepted, uint32_t a, uint32_t b, bool is_rack)
{
    const struct unit *one = accepted_unit(accepted, a);
    const struct unit *other = accepted_unit(accepted, b);
    if (one == NULL || other == NULL)
        return false;
    return is_in(accepted->units.block[one->block].apart_from, other->block) ||
           (!is_rack && is_in(one->apart_from, (uint32_t)(other - accepted->units.unit)));
}
