/* The way of every request: a straight list of stages (placement spec, Order of checks). Each
 * either passes the request on or sets err, upon which the fault is written.
 *
 * Runs on the workers of the listener. What must wait (for the writer, for another process's
 * commit, for the slow lane) keeps the exchange pending and comes back through on_resume. Reads pin
 * a version only while the handler runs. */
#include "api/dispatch.h"

#include <pthread.h>
#include <sched.h>

#include "api/accept.h"
#include "api/access_log.h"
#include "api/answer.h"
#include "api/fault.h"
#include "api/latin1.h"
#include "api/microversion.h"
#include "api/query_string.h"
#include "api/routes.h"
#include "auth/noauth.h"

enum { FRESH_SPINS = 64 };

static pthread_key_t reader_key;
static pthread_once_t reader_once = PTHREAD_ONCE_INIT;

static void close_reader(void *reader)
{
    replica_reader_close(reader);
}

static void make_reader_key(void)
{
    check(pthread_key_create(&reader_key, close_reader) == 0);
}

/* The calling thread's own reader; it closes with the thread. */
static struct replica_reader *thread_reader(struct replica *replica)
{
    pthread_once(&reader_once, make_reader_key);
    struct replica_reader *reader = pthread_getspecific(reader_key);
    if (reader == NULL) {
        reader = replica_reader_open(replica);
        check(reader != NULL);
        pthread_setspecific(reader_key, reader);
    }
    return reader;
}

void dispatch_thread_end(void)
{
    pthread_once(&reader_once, make_reader_key);
    struct replica_reader *reader = pthread_getspecific(reader_key);
    if (reader != NULL)
        replica_reader_close(reader);
    pthread_setspecific(reader_key, NULL);
}

static bool stage_framing(struct api_request *request)
{
    switch (request->http->fault) {
    case HTTP_FAULT_BODY_TOO_LARGE:
        return err_set(&request->err, 413, NULL,
                       "The request body is larger than this service takes.");
    case HTTP_FAULT_FRAMING:
        return err_set(&request->err, 400, NULL,
                       "A request may not have both content-length and transfer-encoding.");
    case HTTP_FAULT_NONE:
        break;
    }
    return true;
}

static bool is_below(struct slice path, struct slice prefix)
{
    return slice_starts_with(path, prefix) &&
           (path.len == prefix.len || path.data[prefix.len] == '/');
}

/* Strips the proxy's prefix, if it was left there, and the longest mount prefix; what is left is ""
 * or begins with a slash. Both stand before hrefs. */
static void strip_mount(struct api_request *request)
{
    struct slice proxied = request->origin.prefix;
    struct slice mounted = {0};
    if (proxied.len > 0 && is_below(request->path, proxied))
        request->path = slice_skip(request->path, proxied.len);
    for (unsigned i = 0; i < request->api->mount_prefix_count; i++) {
        struct slice prefix = request->api->mount_prefixes[i];
        if (prefix.len > mounted.len && is_below(request->path, prefix))
            mounted = prefix;
    }
    request->path = slice_skip(request->path, mounted.len);
    request->mount = mounted;
    if (proxied.len > 0)
        request->mount =
            arena_printf(request->arena, "%.*s%.*s", SLICE_ARG(proxied), SLICE_ARG(mounted));
}

static void stage_target(struct api_request *request)
{
    struct slice target = request->http->target;
    const char *question = target.len == 0 ? NULL : memchr(target.data, '?', target.len);
    struct slice path = target;
    if (question != NULL) {
        path.len = (size_t)(question - target.data);
        request->query = slice_skip(target, path.len + 1);
    }
    request->path = percent_decode(request->arena, path, false);
    request->origin = origin_read(request, request->api->trust_proxies);
    strip_mount(request);
    struct slice global = http_request_header(request->http, "X-Openstack-Request-Id");
    if (request_id_is_valid(global))
        request->global_id = global;
}

static bool is_root(const struct api_request *request)
{
    return request->path.len == 0 || slice_equal(request->path, SLICE_LIT("/"));
}

static bool stage_token(struct api_request *request)
{
    if (is_root(request))
        return true;
    struct noauth_headers headers = {
        .token = http_request_header(request->http, "X-Auth-Token"),
        .roles = http_request_header(request->http, "X-Roles"),
        .project_id = http_request_header(request->http, "X-Project-Id"),
        .system_scope = http_request_header(request->http, "OpenStack-System-Scope"),
    };
    if (noauth_identify(&headers, &request->identity))
        return true;
    return err_set(&request->err, 401, NULL, "%s", "");
}

static bool stage_microversion(struct api_request *request)
{
    struct slice header =
        latin1_text(request->arena, http_request_header(request->http, "OpenStack-API-Version"));
    if (!microversion_negotiate(header, &request->minor, &request->err)) {
        request->version_in_error = request->err.status == 406;
        return false;
    }
    request->has_minor = true;
    return true;
}

static bool has_body(const struct api_request *request)
{
    return request->http->body.len > 0;
}

static bool stage_content_header(struct api_request *request)
{
    if (has_body(request) && http_request_header(request->http, "Content-Length").len > 0 &&
        http_request_header(request->http, "Content-Type").len == 0)
        return err_set(&request->err, 400, NULL,
                       "content-type header required when content-length > 0");
    return true;
}

static bool stage_route(struct api_request *request)
{
    switch (routes_find(request)) {
    case ROUTE_FOUND:
        return true;
    case ROUTE_UNKNOWN_METHOD:
        request->vary_shown = true;
        return err_set(&request->err, 405, NULL,
                       "The method specified is not allowed for this resource.");
    case ROUTE_UNKNOWN_PATH:
        break;
    }
    request->vary_shown = false;
    return err_set(&request->err, 404, NULL, "%s", "");
}

static bool stage_version_range(struct api_request *request)
{
    const struct api_route *route = request->route;
    if (request->minor >= route->min_minor && request->minor <= route->max_minor)
        return true;
    return err_set(&request->err, route->hidden_405 ? 405 : 404, NULL, "%s", "");
}

static bool stage_content(struct api_request *request)
{
    const struct api_route *route = request->route;
    if (route->accept == ACCEPT_JSON && accept_weight(http_request_header(request->http, "Accept"),
                                                      SLICE_LIT("application/json")) == 0)
        return err_set(&request->err, 406, NULL, "Only application/json is provided");
    if (route->content != CONTENT_JSON)
        return true;
    struct slice type = answer_content_type(request);
    if (slice_equal(type, SLICE_LIT("application/json")))
        return true;
    return err_set(&request->err, 415, NULL,
                   "The media type %.*s is not supported, use application/json", SLICE_ARG(type));
}

bool dispatch_check_policy(struct api_request *request, enum policy_rule rule,
                           struct slice target_project)
{
    switch (policy_check(&request->api->policy, rule, &request->identity, target_project)) {
    case POLICY_ALLOWED:
        return true;
    case POLICY_DENIED_SCOPE:
        request->vary_shown = false;
        return err_set(&request->err, 403, NULL, "%s", policy_rule_name(rule));
    case POLICY_DENIED:
        break;
    }
    request->vary_shown = false;
    return err_set(&request->err, 403, NULL, "Policy does not allow %s to be performed.",
                   policy_rule_name(rule));
}

static bool stage_policy(struct api_request *request)
{
    return dispatch_check_policy(request, request->route->policy, (struct slice){0});
}

/* Everything before the handler. */
static bool pass_stages(struct api_request *request)
{
    stage_target(request);
    if (!stage_framing(request) || !stage_token(request) || !stage_microversion(request))
        return false;
    request->version_shown = true;
    request->vary_shown = false;
    if (!stage_content_header(request) || !stage_route(request))
        return false;
    request->vary_shown = true;
    if (request->route->content_before_version)
        return stage_content(request) && stage_version_range(request) && stage_policy(request);
    return stage_version_range(request) && stage_content(request) && stage_policy(request);
}

static enum http_step answer(struct api_request *request)
{
    if (err_is_set(&request->err) && request->err.status == 404 && request->route != NULL &&
        request->route->bare_404 && request->minor >= request->route->min_minor)
        request->vary_shown = false;
    if (err_is_set(&request->err))
        fault_write(request);
    answer_headers(request);
    return HTTP_ANSWERED;
}

static void resume(struct pipeline_request *write)
{
    struct api_request *request =
        (struct api_request *)((char *)write - offsetof(struct api_request, write));
    http_resume(request->http);
}

static enum http_step submit(struct api_request *request, enum request_phase phase)
{
    request->phase = phase;
    request->write.done = resume;
    request->write.err = (struct err){.arena = request->arena};
    pipeline_submit(request->api->pipeline, &request->write);
    return HTTP_PENDING;
}

static void run_slow(void *cls)
{
    struct api_request *request = cls;
    struct replica_reader *reader = thread_reader(request->api->replica);
    request->version = replica_pin(reader);
    check(request->route->handle(request) == API_DONE);
    replica_unpin(reader);
    request->version = NULL;
    http_resume(request->http);
}

static enum http_step after_handler(struct api_request *request, enum api_step step)
{
    switch (step) {
    case API_DONE:
        return answer(request);
    case API_WRITE:
        return submit(request, PHASE_WRITING);
    case API_SLOW:
        break;
    }
    check(request->phase != PHASE_SLOW && request->route->reads);
    request->phase = PHASE_SLOW;
    request->slow = (struct slow_job){.run = run_slow, .cls = request};
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
    replica_unpin(reader);
    request->version = NULL;
    return after_handler(request, step);
}

static enum http_step on_request(struct http_exchange *exchange, void *cls)
{
    struct api_request *request = arena_zalloc(exchange->arena, sizeof(*request));
    exchange->state = request;
    request->http = exchange;
    request->api = cls;
    request->arena = exchange->arena;
    request->err.arena = exchange->arena;
    request->status = 200;
    request_id_generate(request->request_id);
    if (!pass_stages(request))
        return answer(request);
    return run_handler(request);
}

static enum http_step on_resume(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    switch (request->phase) {
    case PHASE_SLOW:
        return answer(request);
    case PHASE_WRITING:
        request->err = request->write.err;
        request->route->finish(request);
        return answer(request);
    case PHASE_FOLLOWING:
        if (!err_is_set(&request->write.err))
            return run_handler(request);
        request->err = request->write.err;
        return answer(request);
    case PHASE_ARRIVED:
        break;
    }
    check(false);
    return HTTP_ANSWERED;
}

static void on_finished(struct http_exchange *exchange, void *cls)
{
    (void)cls;
    struct api_request *request = exchange->state;
    if (request == NULL)
        return;
    if (request->api->access_log)
        access_log_write(request);
    json_decref(request->body);
}

struct http_service dispatch_service(const struct api *api)
{
    return (struct http_service){
        .on_request = on_request,
        .on_resume = on_resume,
        .on_finished = on_finished,
        .cls = (void *)(uintptr_t)api,
    };
}
