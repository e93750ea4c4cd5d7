/* See ahead.h.
 *
 * Invariant 2 (ARCHITECTURE.md, Invariants): nothing is answered or published before it is
 * committed. The plan's requests are in no other list, and only ahead_adopt() gives them out, which
 * is called after the batch below has been answered; its edit is published only by the commit of
 * the batch that they then are. The writer only. */
#include "engine/ahead.h"

#include "base/arena.h"
#include "engine/pipeline_internal.h"

static void begin_plan(struct pipeline *pipeline, const struct edit *below)
{
    struct ahead *ahead = &pipeline->ahead;
    ahead->edit = replica_edit_on(pipeline->replica, below);
    ahead->planned = (struct planned){.changes.arena = ahead->arena};
    store_reuse_ids(pipeline->store);
}

/* Continues the plan with the requests, as far as they fit into one batch. */
static void plan_more(struct pipeline *pipeline, struct queue *requests)
{
    struct ahead *ahead = &pipeline->ahead;
    struct pipeline_request *first = requests->first;
    struct pipeline_request *end = NULL;
    struct err ignored = {.arena = ahead->arena};
    queue_move(&ahead->requests, requests);
    if (!planning_continue(pipeline, ahead->edit, first, &end, &ahead->planned, &ignored)) {
        ahead_drop(pipeline);
        ahead->is_off = true;
    } else if (end != NULL) {
        queue_split(&ahead->requests, end, requests);
        pipeline_put_back(pipeline, requests);
    }
}

void ahead_plan(struct pipeline *pipeline, const struct edit *below)
{
    struct queue requests;
    struct ahead *ahead = &pipeline->ahead;
    if (ahead->is_off || (ahead->edit != NULL && planning_is_full(pipeline, &ahead->planned)))
        return;
    pipeline_take_planners(pipeline, &requests);
    if (requests.first == NULL)
        return;
    if (ahead->edit == NULL)
        begin_plan(pipeline, below);
    plan_more(pipeline, &requests);
}

void ahead_drop(struct pipeline *pipeline)
{
    struct ahead *ahead = &pipeline->ahead;
    if (ahead->edit == NULL)
        return;
    replica_abandon(pipeline->replica, ahead->edit);
    ahead->edit = NULL;
    pipeline_put_back(pipeline, &ahead->requests);
    arena_reset(ahead->arena);
}

struct pipeline_request *ahead_adopt(struct pipeline *pipeline, unsigned *count)
{
    struct ahead *ahead = &pipeline->ahead;
    if (ahead->edit != NULL)
        ahead_plan(pipeline, NULL);
    if (ahead->edit == NULL)
        return NULL;
    struct arena *arena = pipeline->arena;
    struct pipeline_request *first = ahead->requests.first;
    *count = ahead->requests.count;
    pipeline->ready = ahead->edit;
    pipeline->ready_planned = ahead->planned;
    pipeline->arena = ahead->arena;
    ahead->arena = arena;
    ahead->edit = NULL;
    queue_clear(&ahead->requests);
    return first;
}
