/* Sets of units, or of blocks, that diversity keeps apart. A set that is part of another one of its
 * level adds no constraint and is left out, as is one with a single member. The search for a larger
 * set ends when it has cost too much; a redundant set that remains only costs time. Any thread. */
#include "valet/solve/anti_affinity.h"

#include <stdlib.h>

#include "valet/solve/bits.h"

enum { COVER_LOOKS_MAX = 1 << 24 };

struct maker {
    const struct stack *stack;
    const uint32_t *first;
    struct arena *arena;
    struct units *units;
    struct slice *reason;
    struct apart *found; /* those with at least two members */
    uint32_t found_count;
    uint64_t *bits; /* of the current set */
    int64_t looks;  /* in the search for larger sets */
};

static struct slice element_name(const struct maker *maker, const struct stack_element *element)
{
    return element->is_group ? maker->stack->groups[element->at].name
                             : maker->stack->servers[element->at].name;
}

static bool contradict(const struct maker *maker, const struct stack_element *a,
                       const struct stack_element *b, const struct stack_group *group)
{
    bool is_rack = group->level == STACK_RACK;
    const struct slice parts[] = {
        SLICE_LIT("Valet error: '"),
        element_name(maker, a),
        SLICE_LIT("' and '"),
        element_name(maker, b),
        is_rack
            ? SLICE_LIT("' are bound to one rack by affinity, but kept on different racks by '")
            : SLICE_LIT("' are bound to one host by affinity, but kept on different hosts by '"),
        group->name,
        SLICE_LIT("'"),
    };
    *maker->reason = arena_join(maker->arena, parts, sizeof(parts) / sizeof(parts[0]));
    return false;
}

/* A resource that is listed twice is not kept apart from itself. */
static bool is_same(const struct stack_element *a, const struct stack_element *b)
{
    return a->is_group == b->is_group && a->at == b->at;
}

/* For each unit or block: the element through which it was last added, and in which group. */
struct came {
    uint32_t group; /* + 1; 0: none */
    uint32_t element;
};

static uint32_t member_of(const struct maker *maker, const struct stack_element *element,
                          bool is_rack)
{
    const struct units *units = maker->units;
    uint32_t server = element->is_group ? maker->first[element->at] : element->at;
    uint32_t unit = server == UNITS_NONE ? UNITS_NONE : units->of_server[server];
    return unit == UNITS_NONE || !is_rack ? unit : units->unit[unit].block;
}

static bool gather(struct maker *maker, uint32_t g, struct came *by)
{
    const struct stack_group *group = &maker->stack->groups[g];
    struct apart *apart = &maker->found[maker->found_count];
    *apart = (struct apart){.group = g, .is_rack = group->level == STACK_RACK};
    apart->members = arena_array(maker->arena, group->element_count, sizeof(*apart->members));
    for (uint32_t e = 0; e < group->element_count; e++) {
        uint32_t member = member_of(maker, &group->elements[e], apart->is_rack);
        if (member == UNITS_NONE)
            continue;
        if (by[member].group == g + 1) {
            const struct stack_element *other = &group->elements[by[member].element];
            if (is_same(other, &group->elements[e]))
                continue;
            return contradict(maker, other, &group->elements[e], group);
        }
        by[member] = (struct came){g + 1, e};
        apart->members[apart->member_count++] = member;
    }
    maker->found_count += apart->member_count > 1;
    return true;
}

static bool gather_all(struct maker *maker)
{
    const struct stack *stack = maker->stack;
    uint32_t units = maker->units->unit_count;
    maker->found = arena_array(maker->arena, (size_t)stack->group_count + 1, sizeof(*maker->found));
    struct came *units_by = arena_zalloc(maker->arena, units * sizeof(*units_by));
    struct came *blocks_by = arena_zalloc(maker->arena, units * sizeof(*blocks_by));
    for (uint32_t g = 0; g < stack->group_count; g++)
        if (stack->groups[g].type == STACK_DIVERSITY &&
            !gather(maker, g, stack->groups[g].level == STACK_RACK ? blocks_by : units_by))
            return false;
    return true;
}

static int compare_anti_affinity(const void *left, const void *right)
{
    const struct apart *a = left;
    const struct apart *b = right;
    if (a->member_count != b->member_count)
        return a->member_count > b->member_count ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

static void list_of(struct units *units, const struct apart *apart, uint32_t member,
                    uint32_t ***list, uint32_t **count)
{
    struct unit *unit = &units->unit[member];
    struct block *block = &units->block[member];
    *list = apart->is_rack ? &block->anti_affinities : &unit->anti_affinities;
    *count = apart->is_rack ? &block->apart_count : &unit->apart_count;
}

static bool has_all(const struct maker *maker, const struct apart *larger, uint32_t count)
{
    uint32_t same = 0;
    for (uint32_t m = 0; m < larger->member_count; m++)
        same += bits_has(maker->bits, larger->members[m]);
    return same == count;
}

/* Whether one of the kept sets has all members of this one: only the sets of the member that is in
 * the fewest are compared. */
static bool is_covered(struct maker *maker, const struct apart *apart)
{
    struct units *units = maker->units;
    uint32_t **list;
    uint32_t *count;
    uint32_t **fewest = NULL;
    uint32_t fewest_count = UNITS_NONE;
    memset(maker->bits, 0, bits_words(units->unit_count) * sizeof(uint64_t));
    for (uint32_t m = 0; m < apart->member_count; m++) {
        bits_add(maker->bits, apart->members[m]);
        list_of(units, apart, apart->members[m], &list, &count);
        if (*count < fewest_count) {
            fewest = list;
            fewest_count = *count;
        }
    }
    for (uint32_t i = 0; i < fewest_count && maker->looks < COVER_LOOKS_MAX; i++) {
        const struct apart *larger = &units->apart[(*fewest)[i]];
        maker->looks += larger->member_count;
        if (has_all(maker, larger, apart->member_count))
            return true;
    }
    return false;
}

static void anti_affinity_keep(struct maker *maker, const struct apart *apart)
{
    struct units *units = maker->units;
    for (uint32_t m = 0; m < apart->member_count; m++) {
        uint32_t **list;
        uint32_t *count;
        list_of(units, apart, apart->members[m], &list, &count);
        *list = units_append(maker->arena, *list, count, units->apart_count);
    }
    units->apart[units->apart_count++] = *apart;
}

/* Records for each member which ones it is kept apart from. */
static void link(struct maker *maker, const struct apart *apart)
{
    struct units *units = maker->units;
    uint32_t words = bits_words(units->unit_count);
    memset(maker->bits, 0, words * sizeof(uint64_t));
    for (uint32_t m = 0; m < apart->member_count; m++)
        bits_add(maker->bits, apart->members[m]);
    for (uint32_t m = 0; m < apart->member_count; m++) {
        uint32_t member = apart->members[m];
        uint64_t **from =
            apart->is_rack ? &units->block[member].apart_from : &units->unit[member].apart_from;
        if (*from == NULL)
            *from = bits_create(maker->arena, units->unit_count);
        for (uint32_t w = 0; w < words; w++)
            (*from)[w] |= maker->bits[w];
        bits_remove(*from, member);
    }
}

bool anti_affinity_make(const struct stack *stack, const uint32_t *first, struct arena *arena,
                        struct units *units, struct slice *reason)
{
    struct maker maker = {
        .stack = stack, .first = first, .arena = arena, .units = units, .reason = reason};
    if (!gather_all(&maker))
        return false;
    if (maker.found_count == 0)
        return true;
    maker.bits = bits_create(arena, units->unit_count);
    units->apart = arena_array(arena, maker.found_count, sizeof(*units->apart));
    qsort(maker.found, maker.found_count, sizeof(*maker.found), compare_anti_affinity);
    for (uint32_t i = 0; i < maker.found_count; i++)
        if (!is_covered(&maker, &maker.found[i]))
            anti_affinity_keep(&maker, &maker.found[i]);
    for (uint32_t a = 0; a < units->apart_count; a++)
        link(&maker, &units->apart[a]);
    return true;
}
