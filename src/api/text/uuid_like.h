/* UUIDs in a body, in every form that the Python service accepts: with or without hyphens, in any
 * case, in braces, containing "urn:" or "uuid:" (oslo's is_uuid_like). */
#ifndef BERTH_API_TEXT_UUID_LIKE_H
#define BERTH_API_TEXT_UUID_LIKE_H

#include <stdbool.h>

#include "base/slice.h"

enum { UUID_LIKE_LEN = 36 };

/* Whether the text is a UUID; `dashed`, if given, receives its lower-case form with hyphens. */
bool uuid_like_read(struct slice text, char dashed[UUID_LIKE_LEN]);

/* Whether the text is 8-4-4-4-12 hexadecimal digits, in any case. */
bool uuid_like_is_dashed(struct slice text);

#endif
