/* What the Python service takes for a UUID in a body: dashed or not, any case, in braces, with
 * "urn:" or "uuid:" in it (oslo's is_uuid_like). */
#ifndef BERTH_API_TEXT_UUID_LIKE_H
#define BERTH_API_TEXT_UUID_LIKE_H

#include <stdbool.h>

#include "base/slice.h"

enum { UUID_LIKE_LEN = 36 };

/* Whether the text is one; `dashed`, if given, becomes its dashed lower-case form. */
bool uuid_like_read(struct slice text, char dashed[UUID_LIKE_LEN]);

/* Whether the text is 8-4-4-4-12 hexadecimal digits, of any case. */
bool uuid_like_is_dashed(struct slice text);

#endif
