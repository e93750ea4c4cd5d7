/* Returning tens of megabytes to the system takes milliseconds, which is too long for a worker, so
 * the slow lane does it. */
#include "api/leftover.h"

#include <jansson.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/passage.h"
#include "api/request.h"
#include "api/text/json_heap.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

enum { DROPPED_AT_ONCE_BYTES = 4 << 20 }; /* buffers up to this size are reused */

/* The remaining memory of a large request that is over. */
struct leftover {
    struct slow_job job;
    json_t *document;
    struct json_blocks blocks;
    struct http_memory memory;
};

static void drop_leftover(void *cls)
{
    struct leftover *leftover = cls;
    json_decref(leftover->document);
    json_blocks_free(&leftover->blocks);
    arena_destroy(leftover->memory.arena);
    buf_free(&leftover->memory.out);
    free(leftover);
}

static bool has_large_memory(const struct api_request *request)
{
    return (request->passage->heap != NULL && json_heap_is_large(request->passage->heap)) ||
           arena_footprint_bytes(request->arena) > DROPPED_AT_ONCE_BYTES ||
           request->http->out.cap > DROPPED_AT_ONCE_BYTES;
}

/* The request itself is in the arena. */
void leftover_drop(struct api_request *request)
{
    struct slow_lane *lane = request->api->slow_lane;
    struct leftover *leftover = has_large_memory(request) ? malloc(sizeof(*leftover)) : NULL;
    if (leftover == NULL) {
        json_decref(request->body);
        json_heap_clear(request->passage->heap);
        return;
    }
    *leftover = (struct leftover){
        .job = {.run = drop_leftover,
                .cls = leftover,
                .owner = hash_text(request->identity.project_id),
                .deadline_us = UINT64_MAX},
        .document = request->body,
    };
    if (request->passage->heap != NULL)
        leftover->blocks = json_heap_detach(request->passage->heap);
    http_take_memory(request->http, &leftover->memory);
    slow_lane_submit(lane, &leftover->job);
}
