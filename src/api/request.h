/* One request of an API on its way through the stages of dispatch.c: what stages and handlers see.
 */
#ifndef BERTH_API_REQUEST_H
#define BERTH_API_REQUEST_H

#include <stddef.h>

#include "api/origin.h"
#include "api/request_id.h"
#include "api/route.h"
#include "auth/identity.h"
#include "base/err.h"
#include "http/http.h"

struct api;
struct api_passage;
struct arena;
struct door;
struct doorway;
struct json_t;
struct pipeline_request;
struct version;

enum {
    API_ARGS_MAX = 2,
    API_PIECE_BYTES = 48 * 1024, /* of an answer in pieces, what the handler writes */
    /* and what the slow lane writes at a time, within its slice. A little less than a power of two,
     * which is what the buffer takes. */
    API_LONG_PIECE_BYTES = 240 * 1024,
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
    struct identity identity;
    char request_id[REQUEST_ID_LEN + 1];
    struct slice global_id; /* the client's, or data == NULL */

    const struct version *version;  /* pinned while handle runs, for routes that read */
    struct pipeline_request *write; /* see api/write.h */
    struct json_t *body;            /* the parsed body, freed with the request */
    void *state;                    /* the handler's, between handle and finish */
    bool ends_slowly;               /* finish has too much to do for a worker; the handler's, too */
    void *own;                      /* the door's: see own_bytes there */
    struct api_passage *passage;

    /* the answer */
    struct api_stream {
        /* Appends what comes next to api_out() until that has piece_bytes or a little more, from
         * the version, which stays pinned until the end. False: that was the last. NULL: the answer
         * is whole. Set by the handler, with API_DONE; called by it, and on the slow lane. */
        bool (*more)(struct api_request *request);
        void *state;
        size_t piece_bytes;
        uint64_t bytes; /* of the body so far */
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

/* Whether the handler runs on the slow lane, where a version is pinned for as long as it takes. */
bool api_is_on_slow_lane(const struct api_request *request);

/* What a handler has begun that returns API_AGAIN is done. Any thread, once. */
void api_resume(struct api_request *request);

/* The request's id as other services are told it: the client's, if it sent one. */
static inline struct slice api_told_request_id(const struct api_request *request)
{
    if (request->global_id.data != NULL)
        return request->global_id;
    return (struct slice){request->request_id, REQUEST_ID_LEN};
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
