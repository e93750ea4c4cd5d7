/* Values as Python's repr prints them: validation texts quote client input in this form. */
#ifndef BERTH_API_TEXT_PYTHON_REPR_H
#define BERTH_API_TEXT_PYTHON_REPR_H

#include <jansson.h>

#include "base/buf.h"

/* A value is truncated after about that many bytes, so that an answer stays small whatever the
 * client sent. */
enum { PYTHON_REPR_BYTES_MAX = 4096 };

/* A string in quotes; text is UTF-8. */
void python_repr_string(struct buf *out, struct slice text);

void python_repr_json(struct buf *out, const json_t *value);

/* As str() prints it: a string unchanged and without quotes, any other value as above. */
void python_str_json(struct buf *out, const json_t *value);

/* Appends a text unchanged; truncated, with dots, if it is too long to be quoted. */
void python_str_text(struct buf *out, struct slice text);

#endif
