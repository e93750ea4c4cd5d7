/* The Placement API's definition. */
#include "placement/api/definition.h"

#include "placement/api/fault.h"
#include "placement/api/headers.h"
#include "placement/api/placement_request.h"
#include "placement/api/routes.h"
#include "placement/api/stages.h"
#include "placement/write/capacity_rule.h"

const struct api_definition placement_definition = {
    .id = API_PLACEMENT,
    .name = "placement",
    .logger = "placement.requestlog",
    .title = "Placement",
    .error_logger = "placement.wsgi_wrapper",
    .reason_logger = "placement.objects.allocation",
    .remark_logger = "berth.candidates",
    .policy_logger = "placement.policy",
    .request_id_header = "x-openstack-request-id",
    .service = TOKEN_SERVICE_PLACEMENT,
    .routes = placement_routes,
    .route_count = PLACEMENT_ROUTE_COUNT,
    .own_bytes = sizeof(struct placement_request),
    .max_minor = PLACEMENT_MINOR_MAX,
    .author = &capacity_rule,
    .is_public = placement_is_root,
    .identify = placement_identify,
    .pass = placement_pass,
    .write_fault = placement_write_fault,
    .add_headers = placement_add_headers,
};
