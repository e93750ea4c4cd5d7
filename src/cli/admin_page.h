/* Fetches one page of an admin listener, for the tools. */
#ifndef BERTH_CLI_ADMIN_PAGE_H
#define BERTH_CLI_ADMIN_PAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/listen.h"

enum { ADMIN_PAGE_BYTES_MAX = 1024 * 1024, ADMIN_PAGE_WAIT_S = 5 };

/* GETs the path and appends the body to *body, which the caller frees. Returns the HTTP status, or
 * 0 with a line in err: nothing listens there, or the whole answer did not come within
 * ADMIN_PAGE_WAIT_S. Any thread. */
int admin_page_get(const struct conf_listen *address, const char *path, struct buf *body,
                   struct err *err);

#endif
