/* Checks JSON bodies and query parameters against declarative tables, with the texts of the Python
 * service's validation (placement spec, Validation texts). */
#ifndef BERTH_API_SCHEMA_BODY_SCHEMA_H
#define BERTH_API_SCHEMA_BODY_SCHEMA_H

#include <jansson.h>

#include "base/err.h"

struct api_request;
struct json_heap;
struct query_string;
struct schema;

/* Parses request->http->body as JSON (of duplicate keys the last counts; NaN, Infinity, lone
 * surrogates, integers of 2^63 and more: 400 "Malformed JSON: ...") and validates it. Returns the
 * document, which exists as long as the request (request->body, freed by dispatch), or NULL with
 * err set. */
json_t *body_schema_read(struct api_request *request, const struct schema *schema);

/* The heap for the single document of a request's body. */
struct json_heap *body_schema_heap(struct api_request *request);

/* Only parses, without a schema: the caller owns the document. heap: where it is stored; NULL: in
 * memory of its own. A document that is too large for its heap: 413 or 503. */
json_t *body_schema_load(struct slice body, struct json_heap *heap, struct err *err);

/* The same, but integers of 2^63 and more are accepted: if a document contains one, all its
 * integers become reals. */
json_t *body_schema_load_wide(struct slice body, struct json_heap *heap, struct err *err);

/* The nesting depth of objects and lists in the value, including the value itself. */
unsigned body_schema_nesting(json_t *value);

/* Parses and validates without a request: the caller owns the document. */
json_t *body_schema_parse(struct slice body, struct json_heap *heap, const struct schema *schema,
                          struct err *err);

bool body_schema_check(const json_t *document, const struct schema *schema,
                       struct err *err) BERTH_MUST_CHECK;

/* Checks query parameters as an object of strings: 400 "Invalid query string parameters: ...". If a
 * name occurs several times, every value is checked, the last one first. */
bool body_schema_check_query(const struct query_string *query, const struct schema *schema,
                             struct err *err) BERTH_MUST_CHECK;

/* For a value that its schema accepts as an integer (4.0 is one); limited to 64 bits. */
int64_t body_schema_integer(const json_t *value);

/* For a number. */
double body_schema_number(const json_t *value);

/* For a string; otherwise data == NULL. Valid as long as the document. */
struct slice body_schema_text(const json_t *value);

#endif
