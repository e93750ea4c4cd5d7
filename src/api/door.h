/* A door is one API, served on listeners of its own: what is different of the way that every
 * request goes (dispatch.c). */
#ifndef BERTH_API_DOOR_H
#define BERTH_API_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "keystone/token.h"

struct api;
struct api_request;
struct route_finder;
struct rule;

enum door_id { DOOR_PLACEMENT, DOOR_BAREMETAL, DOOR_VALET, DOOR_COUNT };

struct api_route;
struct cors_names;

/* Constant. The functions run on the workers. */
struct door {
    enum door_id id;
    const char *name;   /* in metrics */
    const char *logger; /* of the lines about each request */
    const char *request_id_header;
    enum token_service service; /* what it is in Keystone's catalog */
    /* Headers of its clients and of its answers that pages of other origins may always use,
     * whatever [cors] says; NULL: none. */
    const struct cors_names *cors_headers;
    const struct api_route *routes;
    unsigned route_count;
    unsigned max_minor;
    size_t own_bytes;          /* of what it keeps with each request: request->own, zeroed */
    bool has_own_options;      /* with CORS, too, an OPTIONS that is no preflight is a request */
    bool judges_length_late;   /* a body that is too long is for the stages to refuse */
    const struct rule *author; /* the product's rules: its writes are their author's */
    uint64_t rows_allowed;     /* that the API's own limits let a request write, even if
                                  [berth] max_write_rows is less; 0: none */
    /* Submits request->write; NULL: to the pipeline at once. */
    void (*submit)(struct api_request *request);
    /* Whether the request needs no token. Its target has been read, nothing else. */
    bool (*is_public)(const struct api_request *request);
    /* Without Keystone: fills the identity. False sets err. */
    bool (*identify)(struct api_request *request);
    /* The stages behind the token, whose last one fills request->route. False sets err. */
    bool (*pass)(struct api_request *request);
    /* Writes request->err as the answer: sets status, content type and body. */
    void (*write_fault)(struct api_request *request);
    /* Adds the headers that only this API has; of vary only request->vary is filled. */
    void (*add_headers)(struct api_request *request);
};

/* A door as it is configured. It outlives the listeners. */
struct doorway {
    const struct door *door;
    const struct api *api;
    const void *settings; /* the product's own, for its door and its handlers */
    const struct route_finder *routes;
    const struct slice *mount_prefixes; /* each with a leading and without a trailing slash */
    unsigned mount_prefix_count;
};

#endif
