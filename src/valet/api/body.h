/* Bodies of the Valet API: JSON objects within limits (Valet spec, 2.4 and 2.6). Results live as
 * long as the document. False and NULL: err has the 400 (or the 413, if a body is too long). Any
 * thread. */
#ifndef BERTH_VALET_API_BODY_H
#define BERTH_VALET_API_BODY_H

#include <jansson.h>

#include "api/request.h"

enum { BODY_NESTING_MAX = 25 }; /* objects and lists inside each other */

struct json_heap;
struct schema;

/* The request's body, an object, which lives as long as the request (request->body). */
json_t *body_read(struct api_request *request);

/* Parses bytes in the same way, into the heap (NULL: memory of its own); the caller owns the
 * document. Also for tests and the fuzzer. */
json_t *body_parse(struct slice bytes, struct json_heap *heap, struct err *err);

/* Whether the object fits the schema, one of body_schemas.h. False: err has the first error in the
 * order of the schema: "-> NAME -> what". */
bool body_check(const json_t *body, const struct schema *schema, struct err *err) BERTH_MUST_CHECK;

/* The text member of that name; data == NULL: it is missing. */
struct slice body_text(const json_t *body, const char *member);

#endif
