/* URLs of Keystone: what keystoneauth makes of those that it is told. Any thread. */
#ifndef BERTH_KEYSTONE_URL_H
#define BERTH_KEYSTONE_URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* http or https, a host, no control characters; no password, for URLs are logged. */
bool keystone_url_is_usable(const char *url);

/* Whether the path's last segment is the version 3 (v3, v3.14). */
bool keystone_url_is_v3(struct slice url);

/* Whether the path begins with /v3: what a login goes by when there is no version document. */
bool keystone_url_begins_with_v3(const char *url);

/* Takes a version off the path's end. */
struct slice keystone_url_without_version(struct slice url);

/* URL/auth/tokens, with /v3 between unless the URL ends with it. */
struct slice keystone_url_of_tokens(struct arena *arena, struct slice url);

/* What keystone_url_of_tokens() made, without "/auth/tokens". */
struct slice keystone_url_beside_tokens(struct slice url);

/* A link of a version document: relative to the document, or absolute; of one that names another
 * host only the version is believed, since services seldom know what they are reached by
 * (keystoneauth1.discover). data == NULL: it makes no URL. */
struct slice keystone_url_of_link(struct arena *arena, const char *document_url, const char *href);

#endif
