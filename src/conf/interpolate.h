/* References inside values: `$name`, `${name}`, `${section.name}`, and `$$` or `\$` for a dollar.
 */
#ifndef BERTH_CONF_INTERPOLATE_H
#define BERTH_CONF_INTERPOLATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* Appends the value of what `name` (letters, digits, _ and dots) refers to. False: it refers to
 * nothing, or that value is bad; the callee has kept the reason. */
struct interpolate_lookup {
    bool (*find)(void *context, struct slice name, struct buf *out);
    void *context;
};

/* Appends the text with its references replaced. A dollar that begins no reference stays as it is.
 * False as soon as a lookup fails. */
bool interpolate_expand(struct slice text, struct interpolate_lookup lookup,
                        struct buf *out) BERTH_MUST_CHECK;

#endif
