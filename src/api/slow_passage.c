/* A request on the slow lane: handlers that have too much work for a worker, with their budget, the
 * end of writes with large bodies, and answers in pieces. Runs on the lane's threads, except for
 * the functions that begin it. */
#include "api/slow_passage.h"

#include "api/answer.h"
#include "api/api.h"
#include "api/charge.h"
#include "api/passage.h"
#include "api/pin.h"
#include "api/services/expensive.h"
#include "api/services/thread_reader.h"
#include "base/clock.h"
#include "base/hash.h"

/* A step is some nanoseconds. A worker's initial steps take a millisecond if none of the memory is
 * in a cache. Requests that needed less time get more steps, up to the number that takes a
 * millisecond if all of the memory is in a cache. */
enum {
    WORKER_STEPS = 120000,
    WORKER_STEPS_MORE = 20000,
    WORKER_STEPS_SPARE = 360000,
    WORKER_US = 1200,
    EXPENSIVE_US = 2000, /* no worker would finish it, even with warm caches */
    SLOW_STEPS_BETWEEN_LOOKS = 50000,
};

/* A job of the slow lane gives others their turn here, and ends if its client has disconnected, its
 * time is over, or there is no memory for its answer. */
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
    if (request->passage->slow_end == SLOW_END_NONE &&
        request->http->arena_share.over != MEMORY_GRANTED)
        request->passage->slow_end = SLOW_END_NO_MEMORY;
    return request->passage->slow_end != SLOW_END_NONE;
}

static bool is_over_time(void *cls)
{
    const struct api_request *request = cls;
    return clock_thread_us() >= request->passage->handled_us + WORKER_US;
}

bool api_is_on_slow_lane(const struct api_request *request)
{
    return request->passage->phase == PHASE_SLOW;
}

/* Whether it was ended before the handler had finished. */
static bool was_cut_short(const struct api_request *request)
{
    return request->passage->slow_end != SLOW_END_NONE;
}

struct budget api_budget(struct api_request *request)
{
    if (request->passage->phase != PHASE_SLOW) {
        request->passage->handled_us = clock_thread_us();
        return (struct budget){
            .left = WORKER_STEPS,
            .refill = WORKER_STEPS_MORE,
            .cancelled = is_over_time,
            .cls = request,
            .is_short = true,
            .spare = WORKER_STEPS_SPARE,
        };
    }
    return (struct budget){
        .left = SLOW_STEPS_BETWEEN_LOOKS,
        .refill = SLOW_STEPS_BETWEEN_LOOKS,
        .cancelled = is_to_end,
        .cls = request,
    };
}

/* Sets the result of a request that the slow lane does not finish. */
static void refuse_slow(struct api_request *request)
{
    switch (request->passage->slow_end) {
    case SLOW_END_LATE:
        err_set(
            &request->err, 503, "placement.query.deadline_exceeded",
            "The request was too expensive: it was not finished after %llu seconds. Request less.",
            (unsigned long long)(request->passage->slow_limit_us / 1000000));
        return;
    case SLOW_END_TOO_MANY:
        request->retry_after = SLICE_LIT("10");
        err_set(&request->err, 503, "placement.query.too_many",
                "Too many expensive requests are waiting. Try again later.");
        return;
    case SLOW_END_NO_ROOM:
        answer_refuse_large(request);
        return;
    case SLOW_END_NO_MEMORY:
        answer_refuse_memory(request);
        return;
    case SLOW_END_NONE:
    case SLOW_END_GONE:
        break;
    }
    if (http_is_cut(request->http))
        err_set(&request->err, 503, NULL,
                "This service is stopping. Try again later, or use another instance.");
    else
        err_set(&request->err, 503, NULL, "The client disconnected.");
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

void api_resume(struct api_request *request)
{
    if (!request->passage->is_on_lane || atomic_fetch_add(&request->passage->met, 1) == 1)
        http_resume(request->http);
}

static enum api_step handle_measured(struct api_request *request)
{
    uint64_t before_us = clock_thread_us();
    enum api_step step = request->route->handle(request);
    uint64_t query_hash = request->passage->query_hash;
    if (query_hash == 0)
        return step;
    if (clock_thread_us() > before_us + EXPENSIVE_US)
        expensive_note(request->api->expensive, query_hash, clock_monotonic_us());
    else
        expensive_forget(request->api->expensive, query_hash);
    return step;
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
    request->passage->pace = arena_alloc(request->arena, sizeof(struct budget));
    *request->passage->pace = api_budget(request);
    request->passage->is_on_lane = true;
    atomic_store(&request->passage->met, 0);
    enum api_step step = handle_measured(request);
    if (step == API_DONE && was_cut_short(request))
        refuse_slow(request); /* whatever the handler's result was */
    if (step == API_DONE && !err_is_set(&request->err) && !answer_fits(request))
        answer_refuse_large(request);
    pin_release(request, reader, step);
    request->passage->slow_step = step;
    if (request->body != NULL)
        http_release_body(request->http); /* the document has copies of all texts */
    if (step == API_AGAIN)
        api_resume(request); /* or the operation that was begun resumes it, when complete */
    else
        http_resume(request->http);
}

/* Called if the lane does not begin the job. */
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

static uint64_t owner_of(const struct api_request *request)
{
    return hash_text(request->identity.project_id);
}

static void submit(struct api_request *request, struct slow_job job)
{
    job.cls = request;
    request->passage->slow = job;
    slow_lane_submit(request->api->slow_lane, &request->passage->slow);
}

enum http_step slow_passage_begin(struct api_request *request)
{
    check(request->passage->phase != PHASE_SLOW);
    request->passage->phase = PHASE_SLOW;
    request->passage->slow_end = SLOW_END_NONE;
    request->passage->slow_limit_us = request->api->query_deadline_us;
    http_set_owner(request->http, owner_of(request));
    submit(request, (struct slow_job){
                        .run = run_slow,
                        .refuse = refuse_to_run,
                        .owner = owner_of(request),
                        .deadline_us = clock_monotonic_us() + request->passage->slow_limit_us,
                    });
    return HTTP_PENDING;
}

/* The answer to a committed write is sent however many requests wait. */
enum http_step slow_passage_finish(struct api_request *request)
{
    request->passage->phase = PHASE_FINISHING;
    submit(request, (struct slow_job){
                        .run = run_finish,
                        .owner = owner_of(request),
                        .deadline_us = UINT64_MAX,
                    });
    return HTTP_PENDING;
}

static void run_piece(void *cls)
{
    struct api_request *request = cls;
    struct http_exchange *exchange = request->http;
    struct slow_lane *lane = request->api->slow_lane;
    uint64_t began_us = request->passage->slow.slice_began_us;
    request->stream.piece_bytes = API_LONG_PIECE_BYTES;
    exchange->goes_on = request->stream.more(request);
    request->stream.bytes += exchange->out.len;
    http_resume(exchange); /* which gives the request away */
    if (began_us != 0)
        slow_lane_rest(lane, clock_monotonic_us() - began_us);
}

/* An answer that has begun is finished however many requests wait. */
enum http_piece slow_passage_write_piece(struct api_request *request)
{
    /* a separate owner, so that a project's answers in pieces do not wait behind its searches */
    submit(request, (struct slow_job){
                        .run = run_piece,
                        .owner = ~owner_of(request),
                        .deadline_us = UINT64_MAX,
                    });
    return HTTP_PIECE_PENDING;
}
