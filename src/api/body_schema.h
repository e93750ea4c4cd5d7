/* JSON bodies and query parameters against declarative tables, worded like the Python service's
 * validation (placement spec, Validation texts). */
#ifndef BERTH_API_BODY_SCHEMA_H
#define BERTH_API_BODY_SCHEMA_H

#include <jansson.h>

#include "base/err.h"

struct api_request;
struct schema;

/* Parses request->http->body as JSON (duplicate keys: the last wins; NaN, Infinity, lone
 * surrogates, integers of 2^63 and more: 400 "Malformed JSON: ...") and validates it. Returns the
 * document, which lives as long as the request (its owner is the request), or NULL with err set. */
json_t *body_schema_read(struct api_request *request, const struct schema *schema);

#endif
