/* What the client takes (the Accept header, RFC 9110 section 12.5.1). */
#ifndef BERTH_API_TEXT_ACCEPT_H
#define BERTH_API_TEXT_ACCEPT_H

#include "base/slice.h"

/* The weight (0 to 1000) that the header gives a type such as "application/json": that of the most
 * specific range that matches, 0 if none does. An absent or malformed header takes everything. */
unsigned accept_weight(struct slice header, struct slice type);

/* The largest weight of the ranges that name the type itself, whatever parameters they have; 0:
 * none does. For clients that ask for a version of a type. */
unsigned accept_weight_named(struct slice header, struct slice type);

#endif
