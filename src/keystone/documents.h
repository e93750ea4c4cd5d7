/* Keystone's documents that do not concern a caller's token: its versions, and the answer to the
 * service's own login. Any thread. */
#ifndef BERTH_KEYSTONE_DOCUMENTS_H
#define BERTH_KEYSTONE_DOCUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

/* The URL of version 3 in a version document (of one version or of several; identity API v3, List
 * API versions), selected as by keystoneauth1.discover: the newest with a usable status. data ==
 * NULL: the body has none. */
struct slice keystone_document_find_v3(struct arena *arena, const char *document_url,
                                       struct slice body);

/* Selects an endpoint of the catalog. */
struct keystone_endpoint_wish {
    const char *interface;   /* "internal" */
    const char *region_name; /* NULL: any */
};

struct keystone_login {
    int64_t life_us; /* from issue to expiry, so that the local clock does not matter; or from now,
                      * if the time of issue is missing */
    struct slice endpoint; /* Keystone's own endpoint in the catalog; data == NULL: there is none */
};

/* Reads the body of the answer to a login. False: it is not such an answer, and `why`, static text,
 * states the reason. */
bool keystone_document_read_login(struct arena *arena, struct slice body,
                                  const struct keystone_endpoint_wish *wish,
                                  struct keystone_login *out, const char **why) BERTH_MUST_CHECK;

#endif
