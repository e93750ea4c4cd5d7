/* A request in the form that dispatch creates, without a server: for tests of code that reads
 * headers and writes answers. */
#ifndef BERTH_TESTS_UNIT_API_FAKE_REQUEST_H
#define BERTH_TESTS_UNIT_API_FAKE_REQUEST_H

#include "api/definition.h"
#include "api/passage.h"
#include "api/request.h"
#include "api/write.h"
#include "http/http_internal.h"
#include "placement/api/placement_request.h"
#include "placement/api/routes.h"

struct fake_request {
    struct arena *arena;
    struct exchange exchange;
    struct request_header headers[16];
    struct api_endpoint endpoint; /* Placement's */
    struct placement_settings settings;
    struct placement_request own;
    struct api_passage passage;
    struct api_write write;
    struct api_request request;
};

/* A GET without headers, with the newest microversion, to the Placement API with its default
 * settings. */
void fake_request_open(struct fake_request *fake, const struct api *api);
void fake_request_close(struct fake_request *fake);

void fake_request_header(struct fake_request *fake, const char *name, struct slice value);

/* The answer's header of that name, data == NULL: none; it occurs at most once. */
struct slice fake_request_answer_header(const struct fake_request *fake, const char *name);

/* Fails the test unless the answer has the header with that value; NULL: unless it has no such
 * header. */
void fake_request_expect_header(const struct fake_request *fake, const char *name,
                                const char *value);

#endif
