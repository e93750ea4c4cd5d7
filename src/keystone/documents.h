/* The documents of Keystone that are not about a caller's token: its versions, and the answer to
 * the service's own login. Any thread. */
#ifndef BERTH_KEYSTONE_DOCUMENTS_H
#define BERTH_KEYSTONE_DOCUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

/* The URL of version 3 in a version document (of one version or of several; identity API v3, List
 * API versions), as keystoneauth1.discover picks it: a usable status, the newest. data == NULL: the
 * body has none. */
struct slice keystone_document_find_v3(struct arena *arena, const char *document_url,
                                       struct slice body);

/* Which endpoint of the catalog is meant. */
struct keystone_endpoint_wish {
    const char *interface;   /* "internal" */
    const char *region_name; /* NULL: any */
};

struct keystone_login {
    int64_t life_us; /* from its issue to its expiry, so that no clock of ours matters; or, where
                        the time of issue is not told, from now */
    struct slice endpoint; /* Keystone's own in the catalog, or data == NULL: there is none */
};

/* Reads the body of the answer to a login. False: it is none, and `why`, static text, says what is
 * wrong. */
bool keystone_document_read_login(struct arena *arena, struct slice body,
                                  const struct keystone_endpoint_wish *wish,
                                  struct keystone_login *out, const char **why) BERTH_MUST_CHECK;

#endif
