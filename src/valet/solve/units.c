/* Lists of units, blocks and sets. Pure; any thread. */
#include "valet/solve/units.h"

uint32_t *units_append(struct arena *arena, uint32_t *list, uint32_t *count, uint32_t value)
{
    if ((*count & (*count - 1)) ==
        0) { /* the capacity is exhausted at each power of two, and initially */
        uint32_t *more = arena_array(arena, *count == 0 ? 1 : 2 * (size_t)*count, sizeof(*more));
        if (*count > 0)
            memcpy(more, list, *count * sizeof(*more));
        list = more;
    }
    list[(*count)++] = value;
    return list;
}
