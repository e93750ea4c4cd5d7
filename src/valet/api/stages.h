/* The stages of the Valet API, as its definition names them (api/definition.h). */
#ifndef BERTH_VALET_API_STAGES_H
#define BERTH_VALET_API_STAGES_H

#include <stdbool.h>

#include "base/check.h"

struct api_request;

/* Everything outside /v1, including paths that do not exist. */
bool valet_is_public(const struct api_request *request);

/* Without Keystone: as in the Placement API, except that an empty token counts as none. */
bool valet_identify(struct api_request *request) BERTH_MUST_CHECK;

/* Project, path, rule, ids, method, length of the body; false sets err. */
bool valet_pass(struct api_request *request) BERTH_MUST_CHECK;

void valet_add_headers(struct api_request *request);

#endif
