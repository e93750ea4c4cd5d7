/* The stages of the Placement API, as its definition names them (api/definition.h). */
#ifndef BERTH_PLACEMENT_API_STAGES_H
#define BERTH_PLACEMENT_API_STAGES_H

#include <stdbool.h>

#include "base/check.h"

struct api_request;

/* The version document, which is for everybody. */
bool placement_is_root(const struct api_request *request);

/* By the words of noauth2; false sets err. */
bool placement_identify(struct api_request *request) BERTH_MUST_CHECK;

/* Microversion, route, content, policy; false sets err. */
bool placement_pass(struct api_request *request) BERTH_MUST_CHECK;

#endif
