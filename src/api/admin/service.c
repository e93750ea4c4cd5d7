/* Requests to an admin listener: a table of pages. Pages that wait for the database are pending;
 * pages that take long are written on a slow lane of the admin service; everything else is answered
 * at once on the listener's workers, which are separate from those of the Placement API. */
#include <stdlib.h>

#include "api/admin/admin_internal.h"
#include "api/api.h"
#include "api/services/give_way.h"
#include "api/services/readiness.h"
#include "api/services/slow_lane.h"
#include "api/services/thread_reader.h"
#include "api/text/accept.h"
#include "api/text/query_string.h"
#include "base/arena.h"

/* One page at a time; the others wait. */
enum { LANE_WAITING = 64, LANE_SLICE_US = 1000 };

static const char PLAIN[] = "text/plain; charset=utf-8";

struct page_request {
    struct readiness_wait wait; /* first, so that its address is that of the struct */
    struct slow_job job;
    struct admin *admin;
    struct http_exchange *http;
    enum { PAGE_METRICS, PAGE_READINESS, PAGE_STATUS } what; /* while pending */
    bool inventory;
    bool allocations;
    bool is_abandoned; /* the client that requested the metrics has disconnected */
    bool is_refused;   /* too many requests wait for metrics */
};

struct page {
    const char *path;
    const char *help;
    enum http_step (*answer)(struct page_request *request, struct slice query);
};

static enum http_step service_refuse(struct http_exchange *http, int status, const char *text)
{
    buf_free(&http->out);
    http->response_header_count = 0;
    buf_append_slice(&http->out, slice_of(text));
    buf_append_char(&http->out, '\n');
    admin_answer(http, status, PLAIN);
    return HTTP_ANSWERED;
}

/* False: the client of a pending exchange has disconnected. */
static bool write_metrics(struct page_request *request)
{
    struct admin *admin = request->admin;
    struct http_exchange *http = request->http;
    struct slice accept = http_request_header(http, "Accept");
    unsigned openmetrics = accept_weight_named(accept, SLICE_LIT("application/openmetrics-text"));
    unsigned text = accept_weight_named(accept, SLICE_LIT("text/plain"));
    struct exposition exposition = {.out = &http->out,
                                    .is_openmetrics = openmetrics > 0 && openmetrics >= text};
    struct replica_reader *reader = thread_reader(admin->api->replica);
    const struct version *version = replica_pin(reader);
    metrics_write(admin, version, &exposition);
    const struct admin_page page = {http, admin->lane, &request->job};
    bool goes_on = (!request->inventory || (inventory_metrics_write(version, &page, &exposition) &&
                                            node_metrics_write(version, &page, &exposition))) &&
                   (!request->allocations || allocation_metrics_write(version, &page, &exposition));
    replica_unpin(reader);
    if (!goes_on)
        return false;
    exposition_end(&exposition);
    admin_answer(http, 200,
                 exposition.is_openmetrics
                     ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                     : "text/plain; version=0.0.4; charset=utf-8");
    return true;
}

static void run_slow(void *cls)
{
    struct page_request *request = cls;
    request->is_abandoned = http_client_gone(request->http) || !write_metrics(request);
    http_resume(request->http);
}

static void refuse_slow(void *cls, enum slow_refusal why)
{
    struct page_request *request = cls;
    (void)why;
    request->is_refused = true;
    http_resume(request->http);
}

/* Reads NAME=1; false: the value is neither 1 nor 0. */
static bool read_flag(const struct query_string *query, struct slice name, bool *flag)
{
    struct slice value = query_string_last(query, name);
    *flag = slice_equal(value, SLICE_LIT("1"));
    return *flag || value.data == NULL || slice_equal(value, SLICE_LIT("0"));
}

/* NULL: no thread can be started now. */
static struct slow_lane *lane_of(struct admin *admin)
{
    pthread_mutex_lock(&admin->lock);
    if (admin->lane == NULL)
        admin->lane = slow_lane_start(&(struct slow_lane_settings){
            .turns = 1,
            .permits = 1,
            .waiting = LANE_WAITING,
            .slice_us = LANE_SLICE_US,
            .rest_us = give_way_rest_us,
            .rest_cls = admin->api->give_way,
        });
    struct slow_lane *lane = admin->lane;
    pthread_mutex_unlock(&admin->lock);
    return lane;
}

static enum http_step handle_admin_metrics_show(struct page_request *request, struct slice text)
{
    struct query_string query = query_string_parse(request->http->arena, text);
    if (!read_flag(&query, SLICE_LIT("inventory"), &request->inventory) ||
        !read_flag(&query, SLICE_LIT("allocations"), &request->allocations))
        return service_refuse(request->http, 400, "inventory and allocations are 0 or 1");
    if (!request->inventory && !request->allocations) {
        check(write_metrics(request)); /* such a page is not abandoned */
        return HTTP_ANSWERED;
    }
    struct slow_lane *lane = lane_of(request->admin);
    if (lane == NULL)
        return service_refuse(request->http, 503, "no thread can be started for it");
    request->what = PAGE_METRICS;
    request->job = (struct slow_job){
        .run = run_slow, .refuse = refuse_slow, .cls = request, .deadline_us = UINT64_MAX};
    slow_lane_submit(lane, &request->job);
    return HTTP_PENDING;
}

static enum http_step handle_admin_alive_show(struct page_request *request, struct slice text)
{
    (void)text;
    health_write_alive(request->admin, request->http);
    return HTTP_ANSWERED;
}

static void reported(struct readiness_wait *wait)
{
    http_resume(((struct page_request *)wait)->http);
}

static enum http_step ask_readiness(struct page_request *request)
{
    request->wait.done = reported;
    readiness_ask(request->admin->api->readiness, &request->wait);
    return HTTP_PENDING;
}

static enum http_step handle_admin_ready_show(struct page_request *request, struct slice text)
{
    (void)text;
    request->what = PAGE_READINESS;
    return ask_readiness(request);
}

static enum http_step handle_admin_status_show(struct page_request *request, struct slice text)
{
    (void)text;
    request->what = PAGE_STATUS;
    return ask_readiness(request);
}

static enum http_step handle_admin_index_show(struct page_request *request, struct slice text);

static const struct page PAGES[] = {
    {"/metrics",
     "metrics for Prometheus; ?inventory=1 adds inventories, usage and node states, "
     "?allocations=1 adds consumers",
     handle_admin_metrics_show},
    {"/healthz", "200 while the process is alive, else 503", handle_admin_alive_show},
    {"/readyz", "200 while it can serve, else 503, with the reason; also as JSON",
     handle_admin_ready_show},
    {"/status", "what is running, as JSON: berth status shows it", handle_admin_status_show},
    {"/", "this list", handle_admin_index_show},
};
enum { PAGE_COUNT = sizeof(PAGES) / sizeof(PAGES[0]) };

static enum http_step handle_admin_index_show(struct page_request *request, struct slice text)
{
    (void)text;
    struct buf *out = &request->http->out;
    buf_append_lit(out, "berthd " BERTH_VERSION "\n\n");
    for (unsigned i = 0; i < PAGE_COUNT; i++)
        buf_printf(out, "%-10s %s\n", PAGES[i].path, PAGES[i].help);
    admin_answer(request->http, 200, PLAIN);
    return HTTP_ANSWERED;
}

static bool reads(struct slice method)
{
    return slice_equal(method, SLICE_LIT("GET")) || slice_equal(method, SLICE_LIT("HEAD"));
}

static enum http_step on_request(struct http_exchange *http, void *cls)
{
    struct page_request *request = arena_zalloc(http->arena, sizeof(*request));
    struct slice query = http->target;
    struct slice path = slice_cut(&query, '?');
    http->state = request;
    request->admin = cls;
    request->http = http;
    if (http->fault != HTTP_FAULT_NONE)
        return service_refuse(http, http->fault == HTTP_FAULT_BODY_TOO_LARGE ? 413 : 400,
                              "request bodies are not accepted here");
    for (unsigned i = 0; i < PAGE_COUNT; i++) {
        if (!slice_equal(path, slice_of(PAGES[i].path)))
            continue;
        if (reads(http->method))
            return PAGES[i].answer(request, query);
        (void)service_refuse(http, 405, "only GET and HEAD");
        http_add_header(http, "Allow", SLICE_LIT("GET, HEAD"));
        return HTTP_ANSWERED;
    }
    return service_refuse(http, 404, "there is no such page; / lists all pages");
}

static enum http_step on_resume(struct http_exchange *http, void *cls)
{
    (void)cls;
    struct page_request *request = http->state;
    if (request->what == PAGE_READINESS)
        health_write_ready(request->admin, &request->wait.report, http);
    else if (request->what == PAGE_STATUS)
        status_write(request->admin, &request->wait.report, http);
    else if (request->is_refused)
        return service_refuse(http, 503,
                              "too many requests are waiting for pages with the inventory");
    else if (request->is_abandoned)
        return service_refuse(http, 503,
                              http_is_cut(http) ? "This service is stopping."
                                                : "The client disconnected.");
    else if (!http_body_fits(http))
        return service_refuse(http, 503, "too many clients are reading large answers");
    return HTTP_ANSWERED;
}

static void on_finished(struct http_exchange *http, void *cls)
{
    (void)http;
    (void)cls;
}

struct http_service admin_service(struct admin *admin)
{
    return (struct http_service){
        .on_request = on_request,
        .on_resume = on_resume,
        .on_finished = on_finished,
        .cls = admin,
    };
}

struct admin *admin_create(const struct api *api, const struct store *store)
{
    struct admin *admin = calloc(1, sizeof(*admin));
    check(admin != NULL);
    admin->api = api;
    admin->store = store;
    admin->started_us = process_started_us();
    pthread_mutex_init(&admin->lock, NULL);
    return admin;
}

void admin_add_listener(struct admin *admin, struct http_server *server)
{
    pthread_mutex_lock(&admin->lock);
    check(admin->listener_count < ADMIN_LISTENERS_MAX);
    admin->listeners[admin->listener_count++] = server;
    pthread_mutex_unlock(&admin->lock);
}

void admin_set_about(struct admin *admin, const struct admin_about *about)
{
    admin->about = *about;
}

void admin_add_address(struct admin *admin, const char *purpose, const char *url)
{
    pthread_mutex_lock(&admin->lock);
    if (admin->address_count < ADMIN_ADDRESSES_MAX)
        admin->addresses[admin->address_count++] = (struct admin_address){purpose, url};
    pthread_mutex_unlock(&admin->lock);
}

void admin_count_reload(struct admin *admin, bool is_taken)
{
    atomic_fetch_add(is_taken ? &admin->reloads_taken : &admin->reloads_refused, 1);
}

void admin_begin_stop(struct admin *admin)
{
    atomic_store(&admin->is_stopping, true);
}

void admin_destroy(struct admin *admin)
{
    if (admin->lane != NULL)
        slow_lane_stop(admin->lane);
    pthread_mutex_destroy(&admin->lock);
    free(admin);
}
