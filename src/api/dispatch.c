/* Decides how a request continues: stages, handler, answer, and the waits between them.
 *
 * Runs on the workers of the listener. If a request must wait (for Keystone, for the writer, for
 * another process's commit, for the slow lane), its exchange stays pending and continues through
 * on_resume. */
#include "api/dispatch.h"

#include "api/answer.h"
#include "api/api.h"
#include "api/leftover.h"
#include "api/passage.h"
#include "api/pin.h"
#include "api/services/access_log.h"
#include "api/services/expensive.h"
#include "api/services/healthcheck.h"
#include "api/services/reason_log.h"
#include "api/services/thread_reader.h"
#include "api/slow_passage.h"
#include "api/stages.h"
#include "api/write.h"
#include "api/write_passage.h"
#include "base/hash.h"

static enum http_step after_handler(struct api_request *request, enum api_step step)
{
    switch (step) {
    case API_DONE:
        return answer_give(request);
    case API_WRITE:
        return write_passage_begin(request);
    case API_AGAIN:
        request->passage->phase = PHASE_AGAIN;
        return HTTP_PENDING;
    case API_SLOW:
        break;
    }
    return slow_passage_begin(request);
}

enum { LONG_QUERY_BYTES = 16 * 1024 };

static uint64_t query_hash_of(const struct api_request *request)
{
    return hash_text(request->http->target) ^ hash_text(request->identity.project_id) ^
           (uint64_t)request->endpoint->definition->id;
}

/* A query that was recently too expensive for a worker is not tried on one again. */
static enum api_step handle_query(struct api_request *request)
{
    struct expensive *expensive = request->api->expensive;
    uint64_t now_us = request->http->started_us;
    bool is_expensive = expensive_has_any(expensive, now_us) &&
                        expensive_is(expensive, query_hash_of(request), now_us);
    enum api_step step = is_expensive ? API_SLOW : request->route->handle(request);
    if (step == API_SLOW)
        request->passage->query_hash = query_hash_of(request);
    return step;
}

/* Parsing and checking a large body or a long query takes too long for a worker. */
static enum api_step handle(struct api_request *request)
{
    request->passage->is_on_lane = false;
    if (request->passage->is_large || request->query.len > LONG_QUERY_BYTES)
        return API_SLOW;
    return slice_equal(request->http->method, SLICE_LIT("GET")) ? handle_query(request)
                                                                : request->route->handle(request);
}

static enum http_step run_handler(struct api_request *request)
{
    if (!request->route->reads)
        return after_handler(request, handle(request));
    struct replica_reader *reader = thread_reader(request->api->replica);
    request->version = pin_current(request, reader);
    if (request->version == NULL)
        return write_passage_follow(request);
    enum api_step step = handle(request);
    pin_release(request, reader, step);
    return after_handler(request, step);
}

/* Continues after the stages, or after those that could be completed so far. */
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
    return answer_give(request);
}

static struct api_request *request_create(struct http_exchange *exchange,
                                          const struct api_endpoint *endpoint)
{
    struct {
        struct api_request request;
        struct api_passage passage;
        struct api_write write;
    } *all = arena_zalloc(exchange->arena, sizeof(*all));
    struct api_request *request = &all->request;
    request->passage = &all->passage;
    request->write = &all->write.write;
    all->write.request = request;
    request->passage->request = request;
    if (endpoint->definition->own_bytes > 0)
        request->own = arena_zalloc(exchange->arena, endpoint->definition->own_bytes);
    request->http = exchange;
    request->endpoint = endpoint;
    request->definition = request->endpoint->definition;
    request->api = request->endpoint->api;
    request->arena = exchange->arena;
    request->err.arena = exchange->arena;
    request->status = 200;
    request->stream.piece_bytes = API_PIECE_BYTES;
    return request;
}

static struct slice owner_of(const struct api_request *request)
{
    const struct identity *identity = &request->identity;
    return identity->project_id.len > 0 ? identity->project_id : identity->user_id;
}

/* The body of a request whose token is refused is not needed. */
static enum http_step after_token(struct api_request *request, enum stages_outcome outcome)
{
    request->passage->phase = outcome == STAGES_PENDING ? PHASE_OWNER : PHASE_BODY;
    if (outcome == STAGES_PENDING)
        return HTTP_PENDING;
    if (outcome == STAGES_FAILED)
        return HTTP_SKIP_BODY;
    http_set_owner(request->http, hash_text(owner_of(request)));
    return HTTP_READ_BODY;
}

/* A request that needs no token needs no body. */
static bool is_for_everybody(const struct api_request *request)
{
    return healthcheck_is_requested(request) || request->definition->is_public(request) ||
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

/* The token was checked before the body arrived. A body that is too long takes precedence over its
 * result. */
static enum http_step go_on_with_body(struct api_request *request)
{
    request->passage->phase = PHASE_ARRIVED;
    request->passage->is_large = request->http->body.len > HTTP_SMALL_BODY_BYTES;
    if (request->http->fault == HTTP_FAULT_BODY_TOO_LARGE &&
        !request->definition->checks_length_late) {
        request->err = (struct err){.arena = request->arena};
        request->fault_form = FAULT_OF_API;
    }
    if (err_is_set(&request->err))
        return answer_give(request);
    return after_stages(request, stages_pass_identified(request));
}

static enum http_step on_request(struct http_exchange *exchange, void *cls)
{
    if (exchange->state != NULL)
        return go_on_with_body(exchange->state);
    struct api_request *request = request_create(exchange, cls);
    exchange->state = request;
    if (healthcheck_is_requested(request)) {
        healthcheck_begin(request);
        return HTTP_PENDING;
    }
    request_id_generate(request->request_id);
    stages_read_target(request);
    access_log_begin(request);
    if (cors_answer_preflight(request))
        return answer_give(request);
    return after_stages(request, stages_pass(request));
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
        if (request->passage->slow_step == API_AGAIN) { /* and what the handler began there is also
                                                         * complete */
            request->passage->phase = PHASE_AGAIN;
            return run_handler(request);
        }
        return after_handler(request, request->passage->slow_step);
    case PHASE_WRITING:
        if (write_passage_must_repeat(request))
            return run_handler(request);
        request->err = request->write->err;
        if (request->passage->is_large || request->ends_slowly)
            return slow_passage_finish(request);
        request->route->finish(request);
        return answer_give(request);
    case PHASE_FINISHING:
        return answer_give(request);
    case PHASE_FOLLOWING:
        if (err_is_set(&request->write->err)) {
            request->err = request->write->err;
            return answer_give(request);
        }
        request->passage->has_waited = true;
        return run_handler(request);
    case PHASE_AGAIN:
        return run_handler(request);
    case PHASE_CHECKING:
        healthcheck_answer(request);
        return answer_count(request);
    case PHASE_BODY:
    case PHASE_ARRIVED:
        break;
    }
    check(false);
    return HTTP_ANSWERED;
}

static enum http_piece on_more(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    return slow_passage_write_piece(exchange->state);
}

static void on_finished(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    if (request == NULL)
        return;
    bool has_begun =
        request->passage->phase != PHASE_OWNER && request->passage->phase != PHASE_BODY;
    if (has_begun && request->passage->phase != PHASE_CHECKING) {
        reason_log_write(request);
        access_log_write(request);
    }
    pin_close(request);
    keystone_request_close(&request->passage->tokens);
    leftover_drop(request);
}

struct http_service dispatch_service(const struct api_endpoint *endpoint)
{
    return (struct http_service){
        .on_request = on_request,
        .on_resume = on_resume,
        .on_more = on_more,
        .on_finished = on_finished,
        .on_large_body = on_large_body,
        .cls = (void *)(uintptr_t)endpoint,
    };
}
