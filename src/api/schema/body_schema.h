/* JSON bodies and query parameters against declarative tables, worded like the Python service's
 * validation (placement spec, Validation texts). */
#ifndef BERTH_API_SCHEMA_BODY_SCHEMA_H
#define BERTH_API_SCHEMA_BODY_SCHEMA_H

#include <jansson.h>

#include "base/err.h"

struct api_request;
struct json_heap;
struct query_string;
struct schema;

/* Parses request->http->body as JSON (duplicate keys: the last wins; NaN, Infinity, lone
 * surrogates, integers of 2^63 and more: 400 "Malformed JSON: ...") and validates it. Returns the
 * document, which lives as long as the request (request->body, dropped by dispatch), or NULL with
 * err set. */
json_t *body_schema_read(struct api_request *request, const struct schema *schema);

/* The heap for the one document of a request's body. */
struct json_heap *body_schema_heap(struct api_request *request);

/* The bytes alone, without a schema: the caller owns the document. heap: where it goes, NULL: into
 * memory of its own. A document that is too large for its heap: 413 or 503. */
json_t *body_schema_load(struct slice body, struct json_heap *heap, struct err *err);

/* The same, but an integer of 2^63 and more is no fault: in a document that has one, all integers
 * become reals. */
json_t *body_schema_load_wide(struct slice body, struct json_heap *heap, struct err *err);

/* How many objects and lists stand within each other in the value, itself counted in. */
unsigned body_schema_nesting(json_t *value);

/* Parses and validates without a request: the caller owns the document. */
json_t *body_schema_parse(struct slice body, struct json_heap *heap, const struct schema *schema,
                          struct err *err);

/* Checks a document. */
bool body_schema_check(const json_t *document, const struct schema *schema,
                       struct err *err) BERTH_MUST_CHECK;

/* Checks query parameters as an object of strings: 400 "Invalid query string parameters: ...". Of a
 * name that stands there several times every value is checked, the last one first. */
bool body_schema_check_query(const struct query_string *query, const struct schema *schema,
                             struct err *err) BERTH_MUST_CHECK;

/* Of a value that its schema calls an integer (4.0 is one), held within 64 bits. */
int64_t body_schema_integer(const json_t *value);

/* Of a number. */
double body_schema_number(const json_t *value);

/* Of a string; data == NULL for anything else. Lives as long as the document. */
struct slice body_schema_text(const json_t *value);

#endif
