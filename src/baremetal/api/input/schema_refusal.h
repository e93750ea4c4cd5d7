/* Checks a document against a schema, with Ironic's error texts. */
#ifndef BERTH_BAREMETAL_API_INPUT_SCHEMA_REFUSAL_H
#define BERTH_BAREMETAL_API_INPUT_SCHEMA_REFUSAL_H

#include "api/schema/schema.h"
#include "base/err.h"

/* 400 Schema error for ARGUMENT: MSG, followed by . Possible root cause: MSG where it is not clear
 * which alternative was meant. */
bool schema_refusal_check(const struct schema *schema, const json_t *document, const char *argument,
                          struct err *err) BERTH_MUST_CHECK;

#endif
