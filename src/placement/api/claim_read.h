/* From validated bodies to claims. */
#ifndef BERTH_PLACEMENT_API_CLAIM_READ_H
#define BERTH_PLACEMENT_API_CLAIM_READ_H

#include <jansson.h>

#include "api/request.h"
#include "engine/claim.h"

/* One consumer's part of a body, in the request's microversion. Texts live as long as the body. */
struct claim claim_read(struct api_request *request, struct slice consumer, json_t *part);

/* An object of such parts by consumer; as many claims as it has members. */
struct claim *claim_read_all(struct api_request *request, json_t *by_consumer);

/* How many rows such claims write at least, or look for: consumers that are to go may not be there.
 */
uint64_t claim_least_rows(const struct claim *claims, size_t count);

/* How a message shows a number that was not sent as an integer ("2.0"); data == NULL for the rest.
 */
struct slice claim_number_text(struct arena *arena, const json_t *value);

/* The key at an iterator of an object. */
struct slice claim_key(void *iter);

#endif
