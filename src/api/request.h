/* One request of an API as stages and handlers see it, on its way through dispatch.c. */
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
    /* Larger pieces, which the slow lane writes within one slice. A little less than a power of
     * two, which is the size that the buffer takes. */
    API_LONG_PIECE_BYTES = 240 * 1024,
};

struct api_request {
    struct http_exchange *http;
    const struct api_endpoint *endpoint;
    const struct api_definition *definition; /* the endpoint's */
    const struct api *api;                   /* the same */
    struct arena *arena;

    struct origin origin;
    struct slice mount;    /* the prefix that was stripped, to be put before hrefs */
    struct slice path;     /* decoded, without the prefix */
    struct slice raw_path; /* the same, not decoded */
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
    bool ends_slowly; /* finish has too much to do for a worker; may be set by the handler */
    void *own;        /* the API's: see own_bytes there */
    struct api_passage *passage;

    /* the answer */
    struct api_stream {
        /* Appends the next part to api_out() until that has piece_bytes or a little more, from the
         * version, which stays pinned until the end. False: that was the last part. NULL: the
         * answer is whole. Set by the handler, together with API_DONE; called by the handler and on
         * the slow lane. */
        bool (*more)(struct api_request *request);
        void *state;
        size_t piece_bytes;
        uint64_t bytes; /* of the body so far */
    } stream;
    struct err err;
    enum fault_form {
        FAULT_OF_API,      /* made by the API itself */
        FAULT_OUTSIDE,     /* made before it: another form of JSON */
        FAULT_OF_KEYSTONE, /* its 401, the same whatever the client accepts */
    } fault_form;
    struct slice remark;    /* what the log says of the answer, next to the request's line; data ==
                               NULL: nothing */
    int status;             /* 200 unless the handler says otherwise */
    bool has_body;          /* out holds JSON */
    int64_t modified_at_us; /* of the answer's subject; 0: now */
    struct slice location;  /* path with mount prefix, made absolute when sent; or a whole URL */
    struct slice allow;
    struct slice retry_after; /* seconds, or data == NULL */
    struct slice vary;        /* header names, or data == NULL */
};

/* The bytes of the body so far if it is sent in pieces, else of all of it. */
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
static inline struct slice api_told_request_id(const struct api_request *request)
{
    if (request->global_id.data != NULL)
        return request->global_id;
    return (struct slice){request->request_id, REQUEST_ID_LEN};
}

/* Makes the JSON in api_out() the answer, with status 200; modified_at_us is when its subject was
 * last modified (0: now). */
static inline void api_answer_json(struct api_request *request, int64_t modified_at_us)
{
    request->has_body = true;
    request->modified_at_us = modified_at_us;
}

/* Makes an answer without a body the answer. */
static inline void api_answer_empty(struct api_request *request, int status)
{
    request->status = status;
    api_out(request)->len = 0;
}

#endif
