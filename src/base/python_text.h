/* Texts as Python's repr prints them: answers quote client input in this form, and so does a
 * reference to a list in a configuration file. */
#ifndef BERTH_BASE_PYTHON_TEXT_H
#define BERTH_BASE_PYTHON_TEXT_H

#include "base/buf.h"
#include "base/slice.h"

/* Appends the text (UTF-8) in quotes, truncated with dots after about bytes_max bytes. */
void python_text_write(struct buf *out, struct slice text, size_t bytes_max);

#endif
