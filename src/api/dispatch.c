/* Where a request's way goes on: stages, handler, answer, and the waits between them.
 *
 * Runs on the workers of the listener. What must wait (for Keystone, for the writer, for another
 * process's commit, for the slow lane) keeps the exchange pending and comes back through on_resume.
 * Reads pin a version only while the handler runs. */
#include "api/dispatch.h"

#include <sched.h>

#include "api/access_log.h"
#include "api/answer.h"
#include "api/healthcheck.h"
#include "api/meter.h"
#include "api/stages.h"
#include "api/thread_reader.h"
#include "base/clock.h"
#include "base/hash.h"

enum { FRESH_SPINS = 64, CHANGES_MET_MAX = 3 };

static enum http_step count_answer(struct api_request *request)
{
    request->stream.bytes = api_out(request)->len;
    meter_count_answer(request, clock_monotonic_us());
    return HTTP_ANSWERED;
}

/* By the thread that writes the answer, while it grows, too. What an answer in pieces holds is
 * mostly the list of what is in it. */
static bool answer_fits(struct api_request *request)
{
    bool is_stream = request->stream.more != NULL;
    if ((is_stream || api_out(request)->len > HTTP_LARGE_BYTES) &&
        request->identity.project_id.len > 0)
        request->http->owner = hash_text(request->identity.project_id);
    if (is_stream)
        return http_memory_fits(request->http,
                                2 * API_PIECE_BYTES + arena_footprint_bytes(request->arena));
    return http_body_fits(request->http);
}

static void refuse_large(struct api_request *request)
{
    buf_free(api_out(request));
    err_set(&request->err, 503, NULL,
            "Too many clients are reading large answers. Ask again later, or for fewer.");
}

static enum http_step answer(struct api_request *request)
{
    if (!err_is_set(&request->err) && request->phase == PHASE_WRITING)
        http_body_take(request->http); /* it is committed: nothing else may be said of it */
    else if (!err_is_set(&request->err) && !answer_fits(request))
        refuse_large(request);
    request->http->goes_on = request->stream.reader != NULL && !err_is_set(&request->err);
    if (err_is_set(&request->err))
        request->door->write_fault(request);
    answer_headers(request);
    return count_answer(request);
}

enum { WORKER_STEPS = 200000, SLOW_STEPS_BETWEEN_LOOKS = 2000000 }; /* a step is some nanoseconds */

/* Whether a query on the slow lane is to end: nobody waits for its answer, or there is no room for
 * it. */
static bool is_to_end(void *cls)
{
    struct api_request *request = cls;
    request->has_no_room = !answer_fits(request);
    return request->has_no_room || http_client_gone(request->http);
}

struct budget api_budget(struct api_request *request)
{
    if (request->phase != PHASE_SLOW)
        return (struct budget){.left = WORKER_STEPS};
    return (struct budget){
        .left = SLOW_STEPS_BETWEEN_LOOKS,
        .refill = SLOW_STEPS_BETWEEN_LOOKS,
        .cancelled = is_to_end,
        .cls = request,
    };
}

enum api_step api_over_budget(struct api_request *request)
{
    if (request->phase != PHASE_SLOW)
        return API_SLOW;
    if (request->has_no_room)
        refuse_large(request);
    else if (http_is_cut(request->http))
        err_set(&request->err, 503, NULL,
                "This service is stopping. Ask again, later or another instance.");
    else
        err_set(&request->err, 503, NULL, "The client has gone.");
    return API_DONE;
}

static void resume(struct pipeline_request *write)
{
    http_resume(api_request_of(write)->http);
}

static enum http_step submit(struct api_request *request, enum request_phase phase)
{
    request->phase = phase;
    request->write.done = resume;
    request->write.err = (struct err){.arena = request->arena};
    if (request->door->waits_for_locks && phase == PHASE_WRITING)
        conductor_submit(request->api->conductor, &request->lock_wait, &request->write);
    else
        pipeline_submit(request->api->pipeline, &request->write);
    return HTTP_PENDING;
}

/* Lets the version go, or keeps it for an answer in pieces. */
static void handler_is_through(struct api_request *request, struct replica_reader *reader,
                               enum api_step step)
{
    if (request->stream.more != NULL && step == API_DONE && !err_is_set(&request->err)) {
        request->stream.reader = thread_reader_take(request->api->replica);
        check(request->stream.reader == reader);
        return;
    }
    replica_unpin(reader);
    request->version = NULL;
}

static void run_slow(void *cls)
{
    struct api_request *request = cls;
    struct replica_reader *reader = thread_reader(request->api->replica);
    request->version = replica_pin(reader);
    request->slow_step = request->route->handle(request);
    if (request->slow_step == API_DONE && !err_is_set(&request->err) && !answer_fits(request))
        refuse_large(request);
    handler_is_through(request, reader, request->slow_step);
    http_resume(request->http);
}

static enum http_step after_handler(struct api_request *request, enum api_step step)
{
    switch (step) {
    case API_DONE:
        return answer(request);
    case API_WRITE:
        return submit(request, PHASE_WRITING);
    case API_AGAIN:
        request->phase = PHASE_AGAIN;
        return HTTP_PENDING;
    case API_SLOW:
        break;
    }
    check(request->phase != PHASE_SLOW);
    request->phase = PHASE_SLOW;
    request->slow = (struct slow_job){
        .run = run_slow, .cls = request, .owner = hash_text(request->identity.project_id)};
    slow_lane_submit(request->api->slow_lane, &request->slow);
    return HTTP_PENDING;
}

/* Pins a version that is as new as the database, or returns NULL: the writer must look first. Our
 * own writer's commits are published within microseconds, so it pays to look again a few times. */
static const struct version *pin_current(struct api_request *request, struct replica_reader *reader)
{
    for (unsigned i = 0; i < FRESH_SPINS; i++) {
        const struct version *version = replica_pin(reader);
        if (pipeline_is_current(request->api->pipeline, version))
            return version;
        replica_unpin(reader);
        if (i % 8 == 7)
            sched_yield();
    }
    return NULL;
}

static enum http_step run_handler(struct api_request *request)
{
    if (!request->route->reads)
        return after_handler(request, request->route->handle(request));
    struct replica_reader *reader = thread_reader(request->api->replica);
    if (request->phase == PHASE_FOLLOWING)
        request->version = replica_pin(reader);
    else
        request->version = pin_current(request, reader);
    if (request->version == NULL)
        return submit(request, PHASE_FOLLOWING);
    enum api_step step = request->route->handle(request);
    handler_is_through(request, reader, step);
    return after_handler(request, step);
}

/* After the stages, or as many of them as could be passed so far. */
static enum http_step after_stages(struct api_request *request, enum stages_outcome outcome)
{
    switch (outcome) {
    case STAGES_PASSED:
        return run_handler(request);
    case STAGES_PENDING:
        request->phase = PHASE_TOKEN;
        return HTTP_PENDING;
    case STAGES_FAILED:
        break;
    }
    return answer(request);
}

static enum http_step on_request(struct http_exchange *exchange, void *cls)
{
    struct api_request *request = arena_zalloc(exchange->arena, sizeof(*request));
    exchange->state = request;
    request->http = exchange;
    request->doorway = cls;
    request->door = request->doorway->door;
    request->api = request->doorway->api;
    request->arena = exchange->arena;
    request->err.arena = exchange->arena;
    request->status = 200;
    if (healthcheck_is_asked(request)) {
        healthcheck_begin(request);
        return HTTP_PENDING;
    }
    request_id_generate(request->request_id);
    stages_read_target(request);
    access_log_begin(request);
    if (cors_answer_preflight(request))
        return answer(request);
    return after_stages(request, stages_pass(request));
}

/* What the handler made the write of is no more so: it is run again, a few times, on the newest
 * state (Valet spec, 9.4). */
static bool is_to_be_made_anew(struct api_request *request)
{
    if (!err_is_set(&request->write.err) || request->write.err.kind != (int)REFUSED_CHANGED)
        return false;
    request->write.plan = NULL;
    request->write.settled = NULL;
    return request->changes_met++ < CHANGES_MET_MAX;
}

static enum http_step on_resume(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    switch (request->phase) {
    case PHASE_TOKEN:
        return after_stages(request, stages_go_on(request));
    case PHASE_SLOW:
        return after_handler(request, request->slow_step);
    case PHASE_WRITING:
        if (is_to_be_made_anew(request))
            return run_handler(request);
        request->err = request->write.err;
        request->route->finish(request);
        return answer(request);
    case PHASE_FOLLOWING:
        if (!err_is_set(&request->write.err))
            return run_handler(request);
        request->err = request->write.err;
        return answer(request);
    case PHASE_AGAIN:
        return run_handler(request);
    case PHASE_CHECKING:
        healthcheck_answer(request);
        return count_answer(request);
    case PHASE_ARRIVED:
        break;
    }
    check(false);
    return HTTP_ANSWERED;
}

static bool on_more(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    exchange->goes_on = request->stream.more(request);
    request->stream.bytes += exchange->out.len;
    return true;
}

static void on_finished(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    if (request == NULL)
        return;
    if (request->phase != PHASE_CHECKING)
        access_log_write(request);
    if (request->stream.reader != NULL) {
        replica_unpin(request->stream.reader);
        replica_reader_close(request->stream.reader);
    }
    keystone_request_close(&request->tokens);
    json_decref(request->body);
}

struct http_service dispatch_service(const struct doorway *doorway)
{
    return (struct http_service){
        .on_request = on_request,
        .on_resume = on_resume,
        .on_more = on_more,
        .on_finished = on_finished,
        .cls = (void *)(uintptr_t)doorway,
    };
}
