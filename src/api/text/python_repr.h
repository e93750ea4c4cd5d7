/* Values as Python's repr prints them: validation texts quote what was sent that way. */
#ifndef BERTH_API_TEXT_PYTHON_REPR_H
#define BERTH_API_TEXT_PYTHON_REPR_H

#include <jansson.h>

#include "base/buf.h"

/* A value is cut after about that many bytes, so that an answer stays small whatever was sent. */
enum { PYTHON_REPR_BYTES_MAX = 4096 };

/* A string in quotes; text is UTF-8. */
void python_repr_string(struct buf *out, struct slice text);

void python_repr_json(struct buf *out, const json_t *value);

/* As str() prints it: a string without quotes and as it is, anything else as above. */
void python_str_json(struct buf *out, const json_t *value);

/* A text as it is; cut, with dots, if it is too long to be quoted. */
void python_str_text(struct buf *out, struct slice text);

#endif
