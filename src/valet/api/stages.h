/* The stages of the Valet API, as its definition names them (api/definition.h). */
#ifndef BERTH_VALET_API_STAGES_H
#define BERTH_VALET_API_STAGES_H

#include <stdbool.h>

#include "base/check.h"

struct api_request;

/* All that is not below /v1, even what is nowhere. */
bool valet_is_public(const struct api_request *request);

/* Without Keystone: as at Placement's API, but that an empty token is none. */
bool valet_identify(struct api_request *request) BERTH_MUST_CHECK;

/* Project, path, rule, ids, method, length of the body; false sets err. */
bool valet_pass(struct api_request *request) BERTH_MUST_CHECK;

void valet_add_headers(struct api_request *request);

#endif
