/* One request of the API on its way through the stages of dispatch.c, and what a route's handler
 * sees. */
#ifndef BERTH_API_REQUEST_H
#define BERTH_API_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "api/cors.h"
#include "api/door.h"
#include "api/origin.h"
#include "api/request_id.h"
#include "api/services/give_way.h"
#include "api/services/readiness.h"
#include "api/services/slow_lane.h"
#include "auth/identity.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "conf/baremetal.h"
#include "conf/healthcheck.h"
#include "conf/valet.h"
#include "engine/pipeline.h"
#include "http/http.h"
#include "keystone/keystone.h"
#include "policy/policy.h"
#include "query/budget.h"
#include "replica/replica.h"

struct api_request;
struct conductor;
struct flavors_keeper;

/* What all requests share; made by main, lives as long as the listeners. */
struct api {
    struct replica *replica;
    struct pipeline *pipeline;
    struct conductor *conductor;
    struct slow_lane *slow_lane;
    struct give_way *give_way;    /* of all lanes */
    struct memory_budget *bodies; /* of large request bodies and what is parsed of them */
    struct keystone *keystone;    /* NULL: noauth2 */
    struct policy_keeper *policies;
    struct readiness *readiness;
    const struct conf_healthcheck *healthcheck; /* NULL: there is none */
    struct doorway doorways[DOOR_COUNT];
    const struct conf_baremetal *baremetal;
    const struct conf_valet *valet;
    struct flavors_keeper *flavors;     /* that plans of stacks name */
    struct slice incomplete_project_id; /* [placement] incomplete_consumer_* */
    struct slice incomplete_user_id;
    struct cors_settings cors;
    bool trust_proxies; /* [oslo_middleware] enable_proxy_headers_parsing */

    /* Those that a reload changes while requests are answered; each stands alone. */
    _Atomic bool randomize_candidates;
    _Atomic int64_t max_candidates; /* -1: no limit */
    _Atomic bool spread_candidates; /* with a limit: one of each tree before a second of any */
    _Atomic bool access_log;
    _Atomic uint64_t query_deadline_us; /* how long a request may stay on the slow lane */
    _Atomic uint64_t slow_request_us; /* requests that took longer get a line in the log; 0: none */
};

enum api_step {
    API_DONE,  /* the answer is written, or err is set */
    API_WRITE, /* request->write is planned and to be submitted; route->finish writes the answer */
    API_AGAIN, /* what the handler has begun resumes the exchange: then run the handler again */
    API_SLOW, /* too much work for a worker: run the handler again on the slow lane, where a version
                 is pinned */
};

enum { API_ARGS_MAX = 2, API_PIECE_BYTES = 48 * 1024 };

struct api_route {
    const char *method;
    const char *path; /* "/resource_providers/{uuid}/traits" */
    unsigned min_minor;
    unsigned max_minor;
    unsigned flags;  /* the door's own */
    unsigned policy; /* a rule of the door's own service; 0: the handler checks, or nobody does */
    /* Reads request->version (pinned, as new as the database) and writes the answer; or validates
     * the body and fills request->write. */
    enum api_step (*handle)(struct api_request *request);
    /* After a write was decided: writes the answer (err may be set; version is not pinned). */
    void (*finish)(struct api_request *request);
    bool reads; /* pin a version before handle */
};

struct api_request {
    struct http_exchange *http;
    const struct doorway *doorway;
    const struct door *door; /* the doorway's */
    const struct api *api;   /* the same */
    struct arena *arena;

    struct origin origin;
    struct slice mount;    /* the prefix that was stripped, to be put before hrefs */
    struct slice path;     /* decoded, without the prefix */
    struct slice raw_path; /* the same, as it came */
    struct slice query;    /* raw, behind the '?', data == NULL: none */
    const struct api_route *route;
    struct slice args[API_ARGS_MAX]; /* decoded path parameters, in order */
    unsigned minor;                  /* the microversion 1.minor */
    bool has_minor;                  /* false until it is negotiated */
    struct keystone_request tokens;  /* what the identity points into, with keystone */
    struct identity identity;
    char request_id[REQUEST_ID_LEN + 1];
    struct slice global_id; /* the client's, or data == NULL */

    const struct version *version; /* pinned while handle runs, for routes that read */
    enum request_phase {
        PHASE_ARRIVED,
        PHASE_OWNER,     /* waits for Keystone; its body is to come */
        PHASE_BODY,      /* its body comes */
        PHASE_TOKEN,     /* waits for Keystone */
        PHASE_FOLLOWING, /* waits until memory is as new as the database */
        PHASE_WRITING,   /* waits for the writer */
        PHASE_SLOW,      /* on the slow lane */
        PHASE_FINISHING, /* there, too: its answer is written */
        PHASE_AGAIN,     /* waits for what the handler has begun */
        PHASE_CHECKING,  /* /healthcheck: waits for what the checks find */
    } phase;

    struct pipeline_request write;
    struct slow_job slow;
    enum api_step slow_step; /* what the handler said there */
    uint64_t slow_limit_us;  /* how long it may stay there, its wait counted in */
    enum slow_end {
        SLOW_END_NONE,     /* the handler came to its end */
        SLOW_END_GONE,     /* its client has gone */
        SLOW_END_LATE,     /* its time was over */
        SLOW_END_TOO_MANY, /* too many were waiting to begin */
        SLOW_END_NO_ROOM,  /* its answer has outgrown the memory for large ones */
    } slow_end;
    unsigned changes_met;   /* how often the write found the state changed that it was made on */
    bool is_large;          /* too large a body to be handled on a worker */
    bool is_on_lane;        /* where the handler runs */
    _Atomic unsigned met;   /* there: of the handler's end and api_resume(), how many have come */
    json_t *body;           /* the parsed body, freed with the request */
    struct json_heap *heap; /* where it is; NULL: in memory of its own */
    void *state;            /* the handler's, between handle and finish */

    /* the answer */
    struct api_stream {
        /* Writes what comes next to api_out(), about a piece (API_PIECE_BYTES), from the version,
         * which stays pinned until the end. False: that was the last. NULL: the answer is whole.
         * Set by the handler, with API_DONE; on the worker. */
        bool (*more)(struct api_request *request);
        void *state;
        struct replica_reader *reader; /* who pins the version; NULL: not yet */
        uint64_t bytes;                /* of the body so far */
    } stream;
    struct err err;
    enum fault_form {
        FAULT_OF_API,      /* made by the API proper */
        FAULT_OUTSIDE,     /* made before it: another JSON */
        FAULT_OF_KEYSTONE, /* its 401, the same whatever the client accepts */
    } fault_form;
    int status;             /* 200 unless the handler says otherwise */
    bool has_body;          /* out holds JSON */
    int64_t modified_at_us; /* of what it tells about; 0: now */
    struct slice location;  /* path with mount prefix, made absolute when sent; or a whole URL */
    struct slice allow;
    struct slice retry_after; /* seconds, or data == NULL */
    struct slice vary;        /* header names, or data == NULL */
    bool is_preflight;        /* a CORS preflight: its headers are there already */

    /* Only of the bare metal API. */
    struct slice base;        /* what links begin with, once one was written */
    struct slice with_suffix; /* the path's last segment as it came, where ".json" was taken off */

    /* Only of the Placement API. */
    struct {
        bool version_shown; /* the openstack-api-version header goes out */
        bool vary_shown;
        bool is_cacheable;     /* without a body, and with cache headers all the same */
        bool version_in_error; /* 406 of the negotiation: min and max versions in the body */
    } placement;
};

/* Of the body so far, when it comes in pieces; else of all of it. */
static inline uint64_t api_body_bytes(const struct api_request *request)
{
    return request->stream.more == NULL ? request->http->out.len : request->stream.bytes;
}

static inline struct buf *api_out(struct api_request *request)
{
    return &request->http->out;
}

/* The request that a write belongs to, for planners. */
static inline struct api_request *api_request_of(struct pipeline_request *write)
{
    return (struct api_request *)((char *)write - offsetof(struct api_request, write));
}

/* The request whose tokens these are. */
static inline struct api_request *api_request_of_tokens(struct keystone_request *tokens)
{
    return (struct api_request *)((char *)tokens - offsetof(struct api_request, tokens));
}

/* The budget of a query: about a millisecond on a worker; on the slow lane turns with others, and
 * an end when the client has gone or the time is over ([berth] query_deadline). What a handler
 * takes from it bounds how long a worker, or others on the lane, are held up: everything that grows
 * with the database or with what a client sent is charged where it is done. */
struct budget api_budget(struct api_request *request);

/* What a handler has begun that returns API_AGAIN is done. Any thread, once. */
void api_resume(struct api_request *request);

/* What a handler returns when its query's budget is exhausted: on to the slow lane, or, there, the
 * reason why it ended as err. */
enum api_step api_over_budget(struct api_request *request);

/* The same for a handler that has begun to write its answer, which is thrown away. */
enum api_step api_start_over(struct api_request *request);

/* So much text of an answer is a step: what it costs to find, write and copy it, about. */
enum { API_BYTES_A_STEP = 8 };

/* Charges the text that was appended since *counted, which is set. False: the budget is exhausted.
 */
static inline bool api_charge_text(struct api_request *request, struct budget *budget,
                                   size_t *counted)
{
    size_t len = api_out(request)->len;
    size_t bytes = len - *counted;
    *counted = len;
    return budget_take(budget, 1 + (int64_t)(bytes / API_BYTES_A_STEP));
}

/* Says that a 200 with JSON in api_out() is the answer, about something that was modified then (0:
 * now). */
static inline void api_answer_json(struct api_request *request, int64_t modified_at_us)
{
    request->has_body = true;
    request->modified_at_us = modified_at_us;
}

/* Says that an answer without a body is it. */
static inline void api_answer_empty(struct api_request *request, int status)
{
    request->status = status;
    api_out(request)->len = 0;
}

#endif
