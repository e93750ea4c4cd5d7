/* The types that the client accepts (the Accept header, RFC 9110 section 12.5.1). */
#ifndef BERTH_API_TEXT_ACCEPT_H
#define BERTH_API_TEXT_ACCEPT_H

#include "base/slice.h"

/* The weight (0 to 1000) that the header assigns to a type such as "application/json": that of the
 * most specific matching range, 0 if none matches. An absent or malformed header accepts
 * everything. */
unsigned accept_weight(struct slice header, struct slice type);

/* The largest weight of the ranges that name the type itself, whatever their parameters; 0: none.
 * For clients that request a version of a type. */
unsigned accept_weight_named(struct slice header, struct slice type);

#endif
