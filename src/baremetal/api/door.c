/* The bare metal API, Ironic's, as a door. */
#include "baremetal/api/door.h"

#include "baremetal/api/fault.h"
#include "baremetal/api/routes.h"
#include "baremetal/api/stages.h"

/* As Ironic's own middleware has them: without these no page could ask for a version. */
static const struct slice CORS_NAMES[] = {
    SLICE_LIT("X-Auth-Token"),
    SLICE_LIT("X-OpenStack-Ironic-API-Version"),
    SLICE_LIT("X-OpenStack-Ironic-API-Minimum-Version"),
    SLICE_LIT("X-OpenStack-Ironic-API-Maximum-Version"),
};
static const struct cors_names CORS_HEADERS = {CORS_NAMES,
                                               sizeof(CORS_NAMES) / sizeof(CORS_NAMES[0])};

const struct door baremetal_door = {
    .id = DOOR_BAREMETAL,
    .name = "baremetal",
    .logger = "baremetal.requestlog",
    .request_id_header = "Openstack-Request-Id",
    .service = TOKEN_SERVICE_BAREMETAL,
    .cors_headers = &CORS_HEADERS,
    .routes = baremetal_routes,
    .route_count = BAREMETAL_ROUTE_COUNT,
    .max_minor = BAREMETAL_MINOR_MAX,
    .waits_for_locks = true,
    .is_public = baremetal_is_public,
    .identify = baremetal_identify,
    .pass = baremetal_pass,
    .write_fault = baremetal_write_fault,
    .add_headers = baremetal_add_headers,
};
