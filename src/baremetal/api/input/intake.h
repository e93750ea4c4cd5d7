/* What handlers read of a request in addition to its path (bare metal spec 1.5). */
#ifndef BERTH_BAREMETAL_API_INPUT_INTAKE_H
#define BERTH_BAREMETAL_API_INPUT_INTAKE_H

#include <jansson.h>

#include "api/request.h"
#include "api/text/query_string.h"

/* Reads the query, which may have no arguments but those named (NULL-terminated): 400. */
bool intake_query(struct api_request *request, const char *const *names,
                  struct query_string *query) BERTH_MUST_CHECK;

/* The same without any arguments. */
bool intake_no_query(struct api_request *request) BERTH_MUST_CHECK;

/* The body, which the request owns; an empty object if there is none. NULL with err set: 400, 413.
 */
json_t *intake_body(struct api_request *request);

/* Takes memory for documents that the request creates in addition to its body, from the budget that
 * large bodies share; the caller returns it. 503 or 413. */
bool intake_memory(struct api_request *request, uint64_t bytes,
                   struct memory_share *share) BERTH_MUST_CHECK;

#endif
