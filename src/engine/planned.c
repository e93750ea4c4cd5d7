/* See planned.h. */
#include "engine/planned.h"

#include "base/arena.h"

void planned_add(struct planned *planned, const struct change *change)
{
    change_append_copy(&planned->changes, change);
}

void planned_end_request(struct planned *planned, struct pipeline_request *request)
{
    struct arena *arena = planned->changes.arena;
    size_t at = planned->request_count++;
    planned->ends =
        arena_grow(arena, planned->ends, at, &planned->end_capacity, sizeof(*planned->ends));
    planned->requests = arena_grow(arena, planned->requests, at, &planned->request_capacity,
                                   sizeof(struct pipeline_request *));
    planned->ends[at] = planned->changes.count;
    planned->requests[at] = request;
}

struct store_batch planned_batch(const struct planned *planned)
{
    return (struct store_batch){planned->changes.items, planned->ends, planned->request_count,
                                planned->must_commit};
}
