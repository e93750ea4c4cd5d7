/* Shared by check.c and keywords.c. */
#ifndef BERTH_API_SCHEMA_INTERNAL_H
#define BERTH_API_SCHEMA_INTERNAL_H

#include "api/schema/schema.h"

/* Whether a keyword that concerns the value itself, not its parts, is satisfied. As in the Python
 * service's checkers, a format only applies to strings. True for keywords about parts. */
bool schema_keyword_holds(const struct schema_keyword *keyword, const json_t *value);

#endif
