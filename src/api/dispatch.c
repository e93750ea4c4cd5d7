/* Where a request's way goes on: stages, handler, answer, and the waits between them.
 *
 * Runs on the workers of the listener. What must wait (for Keystone, for the writer, for another
 * process's commit, for the slow lane) keeps the exchange pending and comes back through on_resume.
 * Reads pin a version only while the handler runs. */
#include "api/dispatch.h"

#include <sched.h>
#include <stdlib.h>

#include "api/answer.h"
#include "api/api.h"
#include "api/charge.h"
#include "api/passage.h"
#include "api/services/access_log.h"
#include "api/services/healthcheck.h"
#include "api/services/meter.h"
#include "api/services/thread_reader.h"
#include "api/stages.h"
#include "api/text/json_heap.h"
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

/* Whether others' bodies, and what is made of them, leave no memory for this one. */
static bool is_refused_for_now(const struct api_request *request)
{
    return request->err.status == 503 &&
           (request->http->fault == HTTP_FAULT_NO_MEMORY ||
            (request->passage->heap != NULL && json_heap_was_refused(request->passage->heap)));
}

static enum http_step answer(struct api_request *request)
{
    bool is_committed =
        request->passage->phase == PHASE_WRITING || request->passage->phase == PHASE_FINISHING;
    if (!err_is_set(&request->err) && is_committed)
        http_body_take(request->http); /* nothing else may be said of it */
    else if (!err_is_set(&request->err) && !answer_fits(request))
        refuse_large(request);
    request->http->goes_on = request->passage->reader != NULL && !err_is_set(&request->err);
    if (err_is_set(&request->err))
        request->door->write_fault(request);
    if (is_refused_for_now(request))
        request->retry_after = SLICE_LIT("1");
    answer_headers(request);
    return count_answer(request);
}

enum { WORKER_STEPS = 200000, SLOW_STEPS_BETWEEN_LOOKS = 50000 }; /* a step is some nanoseconds */

/* A job of the slow lane lets others have its turn here, and ends when there is nobody to answer,
 * no time left, or no room for its answer. */
static bool is_to_end(void *cls)
{
    struct api_request *request = cls;
    switch (slow_lane_pass(request->api->slow_lane, &request->passage->slow)) {
    case SLOW_GO_ON:
        break;
    case SLOW_NEW_SLICE:
        if (http_client_gone(request->http))
            request->passage->slow_end = SLOW_END_GONE;
        break;
    case SLOW_LATE:
        request->passage->slow_end = SLOW_END_LATE;
        break;
    }
    if (request->passage->slow_end == SLOW_END_NONE && !answer_fits(request))
        request->passage->slow_end = SLOW_END_NO_ROOM;
    return request->passage->slow_end != SLOW_END_NONE;
}

bool api_is_on_slow_lane(const struct api_request *request)
{
    return request->passage->phase == PHASE_SLOW;
}

bool api_was_cut_short(const struct api_request *request)
{
    return request->passage->slow_end != SLOW_END_NONE;
}

struct budget api_budget(struct api_request *request)
{
    if (request->passage->phase != PHASE_SLOW)
        return (struct budget){.left = WORKER_STEPS};
    return (struct budget){
        .left = SLOW_STEPS_BETWEEN_LOOKS,
        .refill = SLOW_STEPS_BETWEEN_LOOKS,
        .cancelled = is_to_end,
        .cls = request,
    };
}

/* What became of a request that the slow lane does not finish. */
static void refuse_slow(struct api_request *request)
{
    switch (request->passage->slow_end) {
    case SLOW_END_LATE:
        err_set(&request->err, 503, "placement.query.deadline_exceeded",
                "The request was too expensive: it was not finished after %llu seconds. Ask for "
                "less.",
                (unsigned long long)(request->passage->slow_limit_us / 1000000));
        return;
    case SLOW_END_TOO_MANY:
        request->retry_after = SLICE_LIT("10");
        err_set(&request->err, 503, "placement.query.too_many",
                "Too many expensive requests are waiting. Ask again later.");
        return;
    case SLOW_END_NO_ROOM:
        refuse_large(request);
        return;
    case SLOW_END_NONE:
    case SLOW_END_GONE:
        break;
    }
    if (http_is_cut(request->http))
        err_set(&request->err, 503, NULL,
                "This service is stopping. Ask again, later or another instance.");
    else
        err_set(&request->err, 503, NULL, "The client has gone.");
}

enum api_step api_over_budget(struct api_request *request)
{
    if (request->passage->phase != PHASE_SLOW)
        return API_SLOW;
    refuse_slow(request);
    return API_DONE;
}

enum api_step api_start_over(struct api_request *request)
{
    if (request->passage->phase == PHASE_SLOW)
        buf_free(api_out(request));
    api_out(request)->len = 0;
    return api_over_budget(request);
}

static void resume(struct pipeline_request *write)
{
    http_resume(api_request_of(write)->http);
}

static enum http_step submit(struct api_request *request, enum request_phase phase)
{
    request->passage->phase = phase;
    request->write.done = resume;
    request->write.err = (struct err){.arena = request->arena};
    request->write.author = request->door->author;
    if (request->door->submit != NULL && phase == PHASE_WRITING)
        request->door->submit(request);
    else
        pipeline_submit(request->api->pipeline, &request->write);
    return HTTP_PENDING;
}

/* What is known to write too many rows does not come before the writer. */
static enum http_step submit_write(struct api_request *request)
{
    request->write.max_rows = request->api->max_write_rows;
    if (!plan_rows_fit(request->write.least_rows, request->write.max_rows, &request->err))
        return answer(request);
    return submit(request, PHASE_WRITING);
}

/* Lets the version go, or keeps it for an answer in pieces. */
static void handler_is_through(struct api_request *request, struct replica_reader *reader,
                               enum api_step step)
{
    if (request->stream.more != NULL && step == API_DONE && !err_is_set(&request->err)) {
        request->passage->reader = thread_reader_take(request->api->replica);
        check(request->passage->reader == reader);
        return;
    }
    replica_unpin(reader);
    request->version = NULL;
}

void api_resume(struct api_request *request)
{
    if (!request->passage->is_on_lane || atomic_fetch_add(&request->passage->met, 1) == 1)
        http_resume(request->http);
}

static void run_slow(void *cls)
{
    struct api_request *request = cls;
    if (is_to_end(request)) { /* already, after its wait */
        request->passage->slow_step = api_over_budget(request);
        http_resume(request->http);
        return;
    }
    struct replica_reader *reader = thread_reader(request->api->replica);
    request->version = replica_pin(reader);
    request->passage->is_on_lane = true;
    atomic_store(&request->passage->met, 0);
    enum api_step step = request->route->handle(request);
    if (step == API_DONE && !err_is_set(&request->err) && !answer_fits(request))
        refuse_large(request);
    handler_is_through(request, reader, step);
    request->passage->slow_step = step;
    if (request->body != NULL)
        http_release_body(request->http); /* the document has copies of all texts */
    if (step == API_AGAIN)
        api_resume(request); /* or what has been begun does, when it is done */
    else
        http_resume(request->http);
}

/* The lane does not begin it. */
static void refuse_to_run(void *cls, enum slow_refusal why)
{
    struct api_request *request = cls;
    request->passage->slow_end = why == SLOW_TOO_MANY ? SLOW_END_TOO_MANY : SLOW_END_LATE;
    request->passage->slow_step = api_over_budget(request);
    http_resume(request->http);
}

static void run_finish(void *cls)
{
    struct api_request *request = cls;
    request->route->finish(request);
    http_resume(request->http);
}

/* What is committed is answered however many wait there. */
static void finish_all_the_same(void *cls, enum slow_refusal why)
{
    (void)why;
    run_finish(cls);
}

static enum http_step submit_slow(struct api_request *request)
{
    check(request->passage->phase != PHASE_SLOW);
    request->passage->phase = PHASE_SLOW;
    request->passage->slow_end = SLOW_END_NONE;
    request->passage->slow_limit_us = request->api->query_deadline_us;
    request->passage->slow = (struct slow_job){
        .run = run_slow,
        .refuse = refuse_to_run,
        .cls = request,
        .owner = hash_text(request->identity.project_id),
        .deadline_us = clock_monotonic_us() + request->passage->slow_limit_us,
    };
    slow_lane_submit(request->api->slow_lane, &request->passage->slow);
    return HTTP_PENDING;
}

static enum http_step submit_finish(struct api_request *request)
{
    request->passage->phase = PHASE_FINISHING;
    request->passage->slow = (struct slow_job){
        .run = run_finish,
        .refuse = finish_all_the_same,
        .cls = request,
        .owner = hash_text(request->identity.project_id),
        .deadline_us = UINT64_MAX,
    };
    slow_lane_submit(request->api->slow_lane, &request->passage->slow);
    return HTTP_PENDING;
}

static enum http_step after_handler(struct api_request *request, enum api_step step)
{
    switch (step) {
    case API_DONE:
        return answer(request);
    case API_WRITE:
        return submit_write(request);
    case API_AGAIN:
        request->passage->phase = PHASE_AGAIN;
        return HTTP_PENDING;
    case API_SLOW:
        break;
    }
    return submit_slow(request);
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

/* To parse and to check a large body takes too long for a worker. */
static enum api_step handle(struct api_request *request)
{
    request->passage->is_on_lane = false;
    return request->passage->is_large ? API_SLOW : request->route->handle(request);
}

static enum http_step run_handler(struct api_request *request)
{
    if (!request->route->reads)
        return after_handler(request, handle(request));
    struct replica_reader *reader = thread_reader(request->api->replica);
    if (request->passage->phase == PHASE_FOLLOWING)
        request->version = replica_pin(reader);
    else
        request->version = pin_current(request, reader);
    if (request->version == NULL)
        return submit(request, PHASE_FOLLOWING);
    enum api_step step = handle(request);
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
        request->passage->phase = PHASE_TOKEN;
        return HTTP_PENDING;
    case STAGES_FAILED:
        break;
    }
    return answer(request);
}

static struct api_request *request_create(struct http_exchange *exchange,
                                          const struct doorway *doorway)
{
    struct api_request *request = arena_zalloc(exchange->arena, sizeof(*request));
    request->passage = arena_zalloc(exchange->arena, sizeof(*request->passage));
    request->passage->request = request;
    if (doorway->door->own_bytes > 0)
        request->own = arena_zalloc(exchange->arena, doorway->door->own_bytes);
    request->http = exchange;
    request->doorway = doorway;
    request->door = request->doorway->door;
    request->api = request->doorway->api;
    request->arena = exchange->arena;
    request->err.arena = exchange->arena;
    request->status = 200;
    return request;
}

static struct slice owner_of(const struct api_request *request)
{
    const struct identity *identity = &request->identity;
    return identity->project_id.len > 0 ? identity->project_id : identity->user_id;
}

/* The body of a request whose token is refused is of no use. */
static enum http_step after_token(struct api_request *request, enum stages_outcome outcome)
{
    request->passage->phase = outcome == STAGES_PENDING ? PHASE_OWNER : PHASE_BODY;
    if (outcome == STAGES_PENDING)
        return HTTP_PENDING;
    if (outcome == STAGES_FAILED)
        return HTTP_SKIP_BODY;
    request->http->share.owner = hash_text(owner_of(request));
    return HTTP_READ_BODY;
}

/* What needs no token needs no body. */
static bool is_for_everybody(const struct api_request *request)
{
    return healthcheck_is_asked(request) || request->door->is_public(request) ||
           slice_equal(request->http->method, SLICE_LIT("OPTIONS"));
}

static enum http_step on_large_body(struct http_exchange *exchange, void *cls)
{
    struct api_request *request = request_create(exchange, cls);
    stages_read_target(request);
    if (is_for_everybody(request))
        return HTTP_SKIP_BODY;
    exchange->state = request;
    request_id_generate(request->request_id);
    access_log_begin(request);
    return after_token(request, stages_identify(request));
}

/* The token has been judged before the body came. That the body is too long comes first. */
static enum http_step go_on_with_body(struct api_request *request)
{
    request->passage->phase = PHASE_ARRIVED;
    request->passage->is_large = request->http->body.len > HTTP_SMALL_BODY_BYTES;
    if (request->http->fault == HTTP_FAULT_BODY_TOO_LARGE && !request->door->judges_length_late) {
        request->err = (struct err){.arena = request->arena};
        request->fault_form = FAULT_OF_API;
    }
    if (err_is_set(&request->err))
        return answer(request);
    return after_stages(request, stages_pass_identified(request));
}

static enum http_step on_request(struct http_exchange *exchange, void *cls)
{
    if (exchange->state != NULL)
        return go_on_with_body(exchange->state);
    struct api_request *request = request_create(exchange, cls);
    exchange->state = request;
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
    return request->passage->changes_met++ < CHANGES_MET_MAX;
}

static enum http_step on_resume(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    switch (request->passage->phase) {
    case PHASE_TOKEN:
        return after_stages(request, stages_go_on(request));
    case PHASE_OWNER:
        return after_token(request, stages_identify_again(request));
    case PHASE_SLOW:
        if (request->passage->slow_step == API_AGAIN) { /* what was begun there is done, too */
            request->passage->phase = PHASE_AGAIN;
            return run_handler(request);
        }
        return after_handler(request, request->passage->slow_step);
    case PHASE_WRITING:
        if (is_to_be_made_anew(request))
            return run_handler(request);
        request->err = request->write.err;
        if (request->passage->is_large)
            return submit_finish(request);
        request->route->finish(request);
        return answer(request);
    case PHASE_FINISHING:
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
    case PHASE_BODY:
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

/* To free a large document takes too long for a worker, too. */
static void drop_body(struct api_request *request)
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

static void on_finished(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    if (request == NULL)
        return;
    bool has_begun =
        request->passage->phase != PHASE_OWNER && request->passage->phase != PHASE_BODY;
    if (has_begun && request->passage->phase != PHASE_CHECKING)
        access_log_write(request);
    if (request->passage->reader != NULL) {
        replica_unpin(request->passage->reader);
        replica_reader_close(request->passage->reader);
    }
    keystone_request_close(&request->passage->tokens);
    drop_body(request);
}

struct http_service dispatch_service(const struct doorway *doorway)
{
    return (struct http_service){
        .on_request = on_request,
        .on_resume = on_resume,
        .on_more = on_more,
        .on_finished = on_finished,
        .on_large_body = on_large_body,
        .cls = (void *)(uintptr_t)doorway,
    };
}
