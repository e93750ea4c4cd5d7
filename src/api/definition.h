/* The definition of an API, which is served on its own listeners: everything in which APIs differ
 * on the path that every request takes (dispatch.c). */
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
    const char *logger; /* of the lines about each request */
    const char *title;  /* in log lines about errors: "Placement" */
    /* Loggers of further lines about a request: error answers, reasons for refused writes, remarks
     * on an answer, policies. */
    const char *error_logger;
    const char *reason_logger;
    const char *remark_logger;
    const char *policy_logger;
    const char *request_id_header;
    enum token_service service; /* its service in Keystone's catalog */
    /* Request and response headers that pages of other origins may always use, whatever [cors]
     * says; NULL: none. */
    const struct cors_names *cors_headers;
    const struct api_route *routes;
    unsigned route_count;
    unsigned max_minor;
    size_t own_bytes;          /* the size of its state for each request: request->own, zeroed */
    bool has_own_options;      /* even with CORS, an OPTIONS that is no preflight is a request */
    bool checks_length_late;   /* the stages refuse a body that is too long */
    const struct rule *author; /* the product's rules: its writes are their author's */
    uint64_t rows_allowed;     /* that the API's own limits let a request write, even if
                                  [berth] max_write_rows is less; 0: none */
    /* Submits request->write; NULL: it is submitted to the pipeline at once. */
    void (*submit)(struct api_request *request);
    /* Whether the request needs no token. Only its target has been read. */
    bool (*is_public)(const struct api_request *request);
    /* Without Keystone: fills the identity. False sets err. */
    bool (*identify)(struct api_request *request);
    /* The stages after the token; the last one fills request->route. False sets err. */
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
    const void *settings; /* the product's own, for its API and its handlers */
    const struct route_finder *routes;
    const struct slice *mount_prefixes; /* each with a leading and without a trailing slash */
    unsigned mount_prefix_count;
};

#endif
