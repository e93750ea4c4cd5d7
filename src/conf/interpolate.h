/* References inside values: `$name`, `${name}`, `${section.name}`, and `$$` or `\$` for a dollar
 * sign. */
#ifndef BERTH_CONF_INTERPOLATE_H
#define BERTH_CONF_INTERPOLATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* Appends the value of the option that `name` (letters, digits, _ and dots) refers to. False: there
 * is no such option, or its value is invalid; the callee has kept the reason. */
struct interpolate_lookup {
    bool (*find)(void *context, struct slice name, struct buf *out);
    void *context;
};

/* Appends the text with its references replaced. A dollar sign that does not begin a reference is
 * kept. False as soon as a lookup fails. */
bool interpolate_expand(struct slice text, struct interpolate_lookup lookup,
                        struct buf *out) BERTH_MUST_CHECK;

#endif
