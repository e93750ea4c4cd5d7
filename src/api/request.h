/* One request of an API as stages and handlers see it, while dispatch.c processes it. */
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
struct api_definition;
struct api_endpoint;
struct json_t;
struct pipeline_request;
struct version;

enum {
    API_ARGS_MAX = 2,
    API_PIECE_BYTES = 48 * 1024, /* the piece of an answer that the handler writes */
    /* Larger pieces, which the slow lane writes within one slice. A little less than the power of
     * two that is the size of the buffer. */
    API_LONG_PIECE_BYTES = 240 * 1024,
};

struct api_request {
    struct http_exchange *http;
    const struct api_endpoint *endpoint;
    const struct api_definition *definition; /* of the endpoint */
    const struct api *api;                   /* of the endpoint */
    struct arena *arena;

    struct origin origin;
    struct slice mount;    /* the prefix that was stripped, which is prefixed to hrefs */
    struct slice path;     /* decoded, without the prefix */
    struct slice raw_path; /* the same, not decoded */
    struct slice query;    /* raw, after the '?'; data == NULL: none */
    const struct api_route *route;
    struct slice args[API_ARGS_MAX]; /* decoded path parameters, in order */
    unsigned minor;                  /* the microversion 1.minor */
    bool has_minor;                  /* false until the version is negotiated */
    struct identity identity;
    char request_id[REQUEST_ID_LEN + 1];
    struct slice global_id; /* the client's, or data == NULL */

    const struct version *version;  /* pinned while handle runs, for routes that read */
    struct pipeline_request *write; /* see api/write.h */
    struct json_t *body;            /* the parsed body, freed with the request */
    void *state;                    /* for the handler's use, between handle and finish */
    bool ends_slowly; /* finish has too much work for a worker; may be set by the handler */
    void *own;        /* the API's state: see own_bytes there */
    struct api_passage *passage;

    /* the answer */
    struct api_stream {
        /* Appends the next part to api_out() until that has piece_bytes or a little more, reading
         * the version, which stays pinned until the end. False: that was the last part. NULL: the
         * answer is not in pieces. Set by the handler, together with API_DONE; called by the
         * handler and on the slow lane. */
        bool (*more)(struct api_request *request);
        void *state;
        size_t piece_bytes;
        uint64_t bytes; /* of the body so far */
    } stream;
    struct err err;
    enum fault_form {
        FAULT_OF_API,      /* made by the API itself */
        FAULT_OUTSIDE,     /* made before the API: a different form of JSON */
        FAULT_OF_KEYSTONE, /* its 401, the same whatever the client accepts */
    } fault_form;
    struct slice remark;    /* what is logged about the answer, next to the request's line; data ==
                             * NULL: nothing */
    int status;             /* 200 unless the handler sets another */
    bool has_body;          /* out holds JSON */
    int64_t modified_at_us; /* when the answer's subject was modified; 0: now */
    struct slice location;  /* path with mount prefix, made absolute when sent; or a complete URL */
    struct slice allow;
    struct slice retry_after; /* seconds, or data == NULL */
    struct slice vary;        /* header names, or data == NULL */
};

/* The bytes of the body so far if it is sent in pieces, otherwise of the whole body. */
static inline uint64_t api_body_bytes(const struct api_request *request)
{
    return request->stream.more == NULL ? request->http->out.len : request->stream.bytes;
}

static inline struct buf *api_out(struct api_request *request)
{
    return &request->http->out;
}

/* Whether the handler runs on the slow lane, where a version stays pinned for as long as the
 * handler runs. */
bool api_is_on_slow_lane(const struct api_request *request);

/* Reports that the operation that a handler began before it returned API_AGAIN is complete. Any
 * thread, once. */
void api_resume(struct api_request *request);

/* The request id that is sent to other services: the client's, if it sent one. */
static inline struct slice api_outgoing_request_id(const struct api_request *request)
{
    if (request->global_id.data != NULL)
        return request->global_id;
    return (struct slice){request->request_id, REQUEST_ID_LEN};
}

/* Makes the JSON in api_out() the answer, with status 200; modified_at_us: when its subject was
 * last modified (0: now). */
static inline void api_answer_json(struct api_request *request, int64_t modified_at_us)
{
    request->has_body = true;
    request->modified_at_us = modified_at_us;
}

/* Makes the answer one without a body. */
static inline void api_answer_empty(struct api_request *request, int status)
{
    request->status = status;
    api_out(request)->len = 0;
}

#endif
