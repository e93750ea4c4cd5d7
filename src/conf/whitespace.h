/* White space as in Python's str.strip(), because oslo.config strips with it. */
#ifndef BERTH_CONF_WHITESPACE_H
#define BERTH_CONF_WHITESPACE_H

#include "base/slice.h"

/* The text (UTF-8) without white space at its beginning, at its end, or at both. Unicode's spaces
 * are white space, too: a no-break space pasted after a value is not part of it. */
struct slice whitespace_strip_left(struct slice text);
struct slice whitespace_strip_right(struct slice text);
struct slice whitespace_strip(struct slice text);

#endif
