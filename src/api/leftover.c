/* To free a large document takes too long for a worker: the slow lane does it. */
#include "api/leftover.h"

#include <jansson.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/passage.h"
#include "api/request.h"
#include "api/text/json_heap.h"
#include "base/hash.h"

/* What is left of a large document when its request is over. */
struct leftover {
    struct slow_job job;
    json_t *document;
    struct json_blocks blocks;
};

static void drop_leftover(void *cls)
{
    struct leftover *leftover = cls;
    json_decref(leftover->document);
    json_blocks_free(&leftover->blocks);
    free(leftover);
}

static void drop_all_the_same(void *cls, enum slow_refusal why)
{
    (void)why;
    drop_leftover(cls);
}

void leftover_drop(struct api_request *request)
{
    struct leftover *leftover = NULL;
    if (request->passage->heap != NULL && json_heap_is_large(request->passage->heap))
        leftover = malloc(sizeof(*leftover));
    if (leftover == NULL) {
        json_decref(request->body);
        json_heap_clear(request->passage->heap);
        return;
    }
    *leftover = (struct leftover){
        .job = {.run = drop_leftover,
                .refuse = drop_all_the_same,
                .cls = leftover,
                .owner = hash_text(request->identity.project_id),
                .deadline_us = UINT64_MAX},
        .document = request->body,
        .blocks = json_heap_detach(request->passage->heap),
    };
    slow_lane_submit(request->api->slow_lane, &leftover->job);
}
