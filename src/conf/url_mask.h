/* URLs of databases in a form that may be shown to operators. */
#ifndef BERTH_CONF_URL_MASK_H
#define BERTH_CONF_URL_MASK_H

#include "base/buf.h"
#include "base/slice.h"

/* Appends a SQLAlchemy URL with `****` for its password: the one before the host and those among
 * its parameters (password, passwd). Text that may be a password is masked rather than shown. Any
 * thread. */
void url_mask_write(struct slice url, struct buf *out);

#endif
