/* The definition of an API, which is served on its own listeners: all differences between APIs on
 * the path that every request takes (dispatch.c). */
#ifndef BERTH_API_DEFINITION_H
#define BERTH_API_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "keystone/token.h"

struct api;
struct api_request;
struct route_finder;
struct rule;

enum api_id { API_PLACEMENT, API_BAREMETAL, API_VALET, API_COUNT };

struct api_route;
struct cors_names;

/* Constant. The functions run on the workers. */
struct api_definition {
    enum api_id id;
    const char *name;   /* in metrics */
    const char *logger; /* for the lines about each request */
    const char *title;  /* in log lines about errors: "Placement" */
    /* Loggers of further lines about a request: error answers, reasons for refused writes, remarks
     * on an answer, policy decisions. */
    const char *error_logger;
    const char *reason_logger;
    const char *remark_logger;
    const char *policy_logger;
    const char *request_id_header;
    enum token_service service; /* the API's service in Keystone's catalog */
    /* Request and response headers that pages from other origins may always use, whatever [cors]
     * says; NULL: none. */
    const struct cors_names *cors_headers;
    const struct api_route *routes;
    unsigned route_count;
    unsigned max_minor;
    size_t own_bytes;          /* the size of its state for each request: request->own, zeroed */
    bool has_own_options;      /* even with CORS, an OPTIONS request that is not a preflight is an
                                * ordinary request */
    bool checks_length_late;   /* the stages refuse a body that is too long */
    const struct rule *author; /* the product's row of rules, which is the author of its writes */
    uint64_t rows_allowed;     /* the rows that the API's own limits let a request write, even if
                                * [berth] max_write_rows is lower; 0: none */
    /* Submits request->write; NULL: it is submitted directly to the pipeline. */
    void (*submit)(struct api_request *request);
    /* Whether the request needs no token. Only its target has been read so far. */
    bool (*is_public)(const struct api_request *request);
    /* Used without Keystone: fills in the identity. False sets err. */
    bool (*identify)(struct api_request *request);
    /* The stages after the token; the last one fills in request->route. False sets err. */
    bool (*pass)(struct api_request *request);
    /* Writes request->err as the answer: sets status, content type and body. */
    void (*write_fault)(struct api_request *request);
    /* Adds the headers that only this API has. It must not add Vary, but fill request->vary. */
    void (*add_headers)(struct api_request *request);
};

/* An API as it is configured. It outlives the listeners. */
struct api_endpoint {
    const struct api_definition *definition;
    const struct api *api;
    const void *settings; /* for the product's API and handlers */
    const struct route_finder *routes;
    const struct slice *mount_prefixes; /* each begins with a slash and ends without one */
    unsigned mount_prefix_count;
};

#endif
