/* A small fixed cloud and requests to it, for the harnesses of code that reads requests. */
#ifndef BERTH_TESTS_FUZZ_WORLD_H
#define BERTH_TESTS_FUZZ_WORLD_H

#include "api/definition.h"
#include "api/passage.h"
#include "api/write.h"
#include "http/http_internal.h"
#include "model/change.h"
#include "placement/api/placement_request.h"
#include "replica/replica.h"
#include "store/store.h"

/* Created at the first call, from a database in memory whose transaction stays open: the standard
 * names, providers 1 to 3 (flat), 4 with 5 and 6 below and 7 below 5, 8 sharing its disk through
 * aggregate 1, and a consumer. Provider n is 00000000-0000-4000-8000-00000000000n, aggregate n
 * aaaaaaaa-..., consumer n cccccccc-... */
struct world {
    struct replica *replica;
    struct store *store;
    const struct version *version;
};

const struct world *world_get(void);

/* A request in the state in which its handler is called. */
struct fuzz_request {
    struct exchange exchange;
    struct request_header headers[16];
    struct api_endpoint endpoint;
    struct placement_settings settings; /* Placement's, until those of another API are set */
    struct placement_request own;
    struct api_passage passage;
    struct api_request request;
    struct api_write write;
};

/* The default policies; the caller keeps them forever. */
struct policy_keeper *fuzz_policies(void);

/* All memory comes from the arena, except the answer's body and document: request_end frees them.
 */
struct api_request *fuzz_request_begin(struct fuzz_request *r, struct arena *arena,
                                       const struct api *api, unsigned minor);
void fuzz_request_header(struct fuzz_request *r, const char *name, struct slice value);
void fuzz_request_end(struct fuzz_request *r);

/* Checks the answer of a handler: the body, or that of the error if there is one, is JSON. */
void fuzz_request_check_answer(struct fuzz_request *r);

#endif
