/* The stages of the Placement API, as its definition names them (api/definition.h). */
#ifndef BERTH_PLACEMENT_API_STAGES_H
#define BERTH_PLACEMENT_API_STAGES_H

#include <stdbool.h>

#include "base/check.h"

struct api_request;

/* Whether the request is for the version document, which needs no authentication. */
bool placement_is_root(const struct api_request *request);

/* Identifies the caller under noauth2; false sets err. */
bool placement_identify(struct api_request *request) BERTH_MUST_CHECK;

/* Checks microversion, route, content and policy; false sets err. */
bool placement_pass(struct api_request *request) BERTH_MUST_CHECK;

#endif
