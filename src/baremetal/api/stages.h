/* The stages of the Bare Metal API, as its definition names them (api/definition.h). */
#ifndef BERTH_BAREMETAL_API_STAGES_H
#define BERTH_BAREMETAL_API_STAGES_H

#include <stdbool.h>

#include "base/check.h"

struct api_request;

/* The version documents need no authentication. */
bool baremetal_is_public(const struct api_request *request);

/* Without authentication every caller is a system admin (baremetal-allocations spec, 7). */
bool baremetal_identify(struct api_request *request) BERTH_MUST_CHECK;

/* Path, microversion, route; false sets err. */
bool baremetal_pass(struct api_request *request) BERTH_MUST_CHECK;

/* The supported range and, once it is negotiated, the microversion in force. */
void baremetal_add_headers(struct api_request *request);

#endif
