/* Converts validated bodies to claims. */
#ifndef BERTH_PLACEMENT_API_CLAIM_READ_H
#define BERTH_PLACEMENT_API_CLAIM_READ_H

#include <jansson.h>

#include "api/request.h"
#include "engine/claim.h"

/* One consumer's part of a body, in the request's microversion. Texts are valid as long as the
 * body. */
struct claim claim_read(struct api_request *request, struct slice consumer, json_t *part);

/* An object whose members are such parts, by consumer; returns one claim for each member. */
struct claim *claim_read_all(struct api_request *request, json_t *by_consumer);

/* A lower bound for the number of rows that such claims write or look up: consumers to be cleared
 * may not exist. */
uint64_t claim_least_rows(const struct claim *claims, size_t count);

/* The text of a number that was not sent as an integer ("2.0"), as messages show it; otherwise data
 * == NULL. */
struct slice claim_number_text(struct arena *arena, const json_t *value);

/* The key at the iterator's position in an object. */
struct slice claim_key(void *iter);

#endif
