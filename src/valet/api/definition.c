/* The definition of the Valet API: groups, plans and placements. */
#include "valet/api/definition.h"

#include "valet/api/fault.h"
#include "valet/api/routes.h"
#include "valet/api/stages.h"
#include "valet/write/valet_rule.h"

/* 10 000 members, or 1 000 servers that all move (Valet spec, 2.6), with the rows that follow from
 * them. */
enum { ROWS_ALLOWED = 25000 };

const struct api_definition valet_definition = {
    .id = API_VALET,
    .name = "valet",
    .logger = "valet.requestlog",
    .title = "Valet",
    .error_logger = "berth.valet.errors",
    .reason_logger = "berth.valet.reasons",
    .remark_logger = "berth.valet.reasons",
    .policy_logger = "berth.valet.policy",
    .request_id_header = "X-Openstack-Request-Id",
    .service = TOKEN_SERVICE_VALET,
    .routes = valet_routes,
    .route_count = VALET_ROUTE_COUNT,
    .author = &valet_rule,
    .rows_allowed = ROWS_ALLOWED,
    .has_own_options = true,
    .checks_length_late = true,
    .is_public = valet_is_public,
    .identify = valet_identify,
    .pass = valet_pass,
    .write_fault = valet_write_fault,
    .add_headers = valet_add_headers,
};
