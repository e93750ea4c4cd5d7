/* URLs of databases as operators may see them. */
#ifndef BERTH_CONF_URL_MASK_H
#define BERTH_CONF_URL_MASK_H

#include "base/buf.h"
#include "base/slice.h"

/* Appends a SQLAlchemy URL with `****` for its password: the one in front of the host and those
 * among its parameters (password, passwd). What cannot be told apart is masked rather than shown.
 * Any thread. */
void url_mask_write(struct slice url, struct buf *out);

#endif
