/* The stages that every request passes before its handler. */
#ifndef BERTH_API_STAGES_H
#define BERTH_API_STAGES_H

#include "api/request.h"
#include "auth/noauth.h"

enum stages_outcome {
    STAGES_PASSED,
    STAGES_FAILED,  /* err is set */
    STAGES_PENDING, /* a token is being validated by Keystone: the exchange is resumed, then call
                     * stages_go_on */
};

/* Fills in the request's target (origin, mount, path, query) and its global id. */
void stages_read_target(struct api_request *request);

/* After the target: fills in the rest (identity, microversion, route, arguments) and checks the
 * request. */
enum stages_outcome stages_pass(struct api_request *request) BERTH_MUST_CHECK;

/* Continues the same at the token, after STAGES_PENDING. */
enum stages_outcome stages_go_on(struct api_request *request) BERTH_MUST_CHECK;

/* The same in two parts, with the body read in between: first the token (again after
 * STAGES_PENDING), then all later stages. */
enum stages_outcome stages_identify(struct api_request *request) BERTH_MUST_CHECK;
enum stages_outcome stages_identify_again(struct api_request *request) BERTH_MUST_CHECK;
enum stages_outcome stages_pass_identified(struct api_request *request) BERTH_MUST_CHECK;

/* The headers that identify a caller when authentication is disabled. */
struct noauth_headers stages_noauth_headers(const struct api_request *request);

#endif
