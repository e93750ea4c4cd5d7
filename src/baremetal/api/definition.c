/* The definition of the Bare Metal API. */
#include "baremetal/api/definition.h"

#include "api/cors.h"
#include "api/request.h"
#include "baremetal/api/fault.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/routes.h"
#include "baremetal/api/stages.h"
#include "baremetal/write/conductor.h"
#include "baremetal/write/node_rule.h"

/* As in Ironic's middleware: without these, no web page could send a version. */
static const struct slice CORS_NAMES[] = {
    SLICE_LIT("X-Auth-Token"),
    SLICE_LIT("X-OpenStack-Ironic-API-Version"),
    SLICE_LIT("X-OpenStack-Ironic-API-Minimum-Version"),
    SLICE_LIT("X-OpenStack-Ironic-API-Maximum-Version"),
};
static const struct cors_names CORS_HEADERS = {CORS_NAMES,
                                               sizeof(CORS_NAMES) / sizeof(CORS_NAMES[0])};

/* A write that finds its node locked is tried again for a while. */
static void submit(struct api_request *request)
{
    struct conductor_wait *wait = arena_zalloc(request->arena, sizeof(*wait));
    conductor_submit(metal_conductor(request), wait, request->write);
}

const struct api_definition baremetal_definition = {
    .id = API_BAREMETAL,
    .name = "baremetal",
    .logger = "baremetal.requestlog",
    .title = "Bare metal",
    .error_logger = "berth.baremetal.errors",
    .reason_logger = "berth.baremetal.reasons",
    .remark_logger = "berth.baremetal.reasons",
    .policy_logger = "berth.baremetal.policy",
    .request_id_header = "Openstack-Request-Id",
    .service = TOKEN_SERVICE_BAREMETAL,
    .cors_headers = &CORS_HEADERS,
    .routes = baremetal_routes,
    .route_count = BAREMETAL_ROUTE_COUNT,
    .own_bytes = sizeof(struct metal_request),
    .max_minor = BAREMETAL_MINOR_MAX,
    .author = &node_rule,
    .submit = submit,
    .is_public = baremetal_is_public,
    .identify = baremetal_identify,
    .pass = baremetal_pass,
    .write_fault = baremetal_write_fault,
    .add_headers = baremetal_add_headers,
};
