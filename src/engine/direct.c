/* See direct.h. */
#include "engine/direct.h"

#include "base/arena.h"
#include "base/clock.h"
#include "engine/pipeline_internal.h"
#include "engine/seat.h"

/* Planning more would keep the thread's other clients waiting. */
enum { ROWS_MOST = 64 };

/* Plans the request on the newest version. False: there is nothing to commit, or no more can be
 * done without waiting; the request is as it was. */
static bool direct_plan(struct pipeline *pipeline, struct pipeline_request *request,
                        struct commit *commit)
{
    struct err ignored = {.arena = pipeline->arena};
    struct pipeline_request *end = NULL;
    uint64_t max_rows = request->max_rows;
    *commit = (struct commit){.planned.changes.arena = pipeline->arena,
                              .edit = replica_edit(pipeline->replica)};
    request->next = NULL;
    if (max_rows == 0 || max_rows > ROWS_MOST)
        request->max_rows = ROWS_MOST;
    bool ok = planning_run(pipeline, commit->edit, request, &end, &commit->planned, &ignored) &&
              !err_is_set(&request->err) && commit->planned.changes.count > 0;
    request->max_rows = max_rows;
    if (!ok)
        replica_abandon(pipeline->replica, commit->edit);
    return ok;
}

/* Waits for the answer, as the event loop's. */
static void park(struct pipeline *pipeline)
{
    int fd = store_pending_descriptor(pipeline->store);
    struct direct *direct = &pipeline->direct;
    bool is_watched = fd >= 0 && event_loop_watch_once(&direct->watcher, fd);
    seat_park(pipeline, !is_watched);
}

static bool direct_send(struct pipeline *pipeline, struct pipeline_request *request)
{
    struct direct *direct = &pipeline->direct;
    struct err err = {.arena = pipeline->arena};
    if (pipeline_currency(pipeline, replica_newest(pipeline->replica)) == STORE_IS_OUTDATED ||
        rules_owe(pipeline->rules) || !store_begin_at_once(pipeline->store))
        return false;
    bool ok = direct_plan(pipeline, request, &direct->commit);
    if (ok) {
        direct->request = request;
        queue_begin_batch(pipeline, 1);
        histogram_add(&pipeline->batch_requests, &PIPELINE_BATCH_SHAPE, 1);
        commit_begin(pipeline, &direct->commit, &err);
        direct->err = err;
        direct->sent_us = clock_monotonic_us();
    } else {
        arena_reset(pipeline->arena);
    }
    store_end_at_once(pipeline->store);
    return ok;
}

bool direct_submit(struct pipeline *pipeline, struct pipeline_request *request)
{
    bool is_small =
        request->plan != NULL && request->plans_briefly && request->least_rows <= ROWS_MOST;
    if (event_loop_number() == 0 || !is_small || !seat_take_if_idle(pipeline))
        return false;
    bool is_sent = direct_send(pipeline, request);
    if (is_sent)
        park(pipeline);
    else
        seat_leave(pipeline);
    return is_sent;
}

bool direct_is_parked(const struct pipeline *pipeline)
{
    return pipeline->direct.request != NULL;
}

bool direct_resume(struct pipeline *pipeline, struct commit *commit, struct err *err)
{
    struct direct *direct = &pipeline->direct;
    if (direct->request == NULL)
        return false;
    *commit = direct->commit;
    *err = direct->err;
    direct->request = NULL;
    return true;
}

/* The request is committed. */
static void direct_finish(struct pipeline *pipeline)
{
    struct direct *direct = &pipeline->direct;
    struct pipeline_request *request = direct->request;
    direct->request = NULL;
    counter_add(&direct->done, 1);
    pipeline->is_at_once = true;
    (void)commit_end(pipeline, &direct->commit);
    pipeline->is_at_once = false;
    answers_give(pipeline, request, NULL, NULL);
    queue_end_batch(pipeline, 1);
    seat_leave(pipeline);
}

static void take_answer(struct event_watcher *watcher)
{
    struct direct *direct = (struct direct *)watcher;
    struct pipeline *pipeline = direct->pipeline;
    struct commit *commit = &direct->commit;
    if (!seat_take_parked(pipeline))
        return;
    enum store_received received =
        store_receive(pipeline->store, &commit->stamp, &commit->is_foreign);
    if (received == STORE_RECEIVED_COMMIT) {
        commit->result = STORE_OK;
        direct_finish(pipeline);
    } else if (received == STORE_RECEIVED_PART) {
        park(pipeline);
    } else {
        seat_park(pipeline, true);
    }
}

void direct_init(struct pipeline *pipeline)
{
    pipeline->direct.pipeline = pipeline;
    pipeline->direct.watcher.readable = take_answer;
}
