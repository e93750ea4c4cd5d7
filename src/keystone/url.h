/* URLs of Keystone, processed as keystoneauth does. Any thread. */
#ifndef BERTH_KEYSTONE_URL_H
#define BERTH_KEYSTONE_URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* http or https, a host, no control characters; no password, because URLs are logged. */
bool keystone_url_is_usable(const char *url);

/* Whether the path's last segment is version 3 (v3, v3.14). */
bool keystone_url_is_v3(struct slice url);

/* Whether the path begins with /v3, which decides about a login without a version document. */
bool keystone_url_begins_with_v3(const char *url);

/* Removes a version from the end of the path. */
struct slice keystone_url_without_version(struct slice url);

/* URL/auth/tokens, with /v3 in between unless the URL ends with it. */
struct slice keystone_url_of_tokens(struct arena *arena, struct slice url);

/* The result of keystone_url_of_tokens() without "/auth/tokens". */
struct slice keystone_url_beside_tokens(struct slice url);

/* The URL of a link in a version document, which may be relative to the document or absolute. Of a
 * link that names another host, only the version is used, because services rarely know the address
 * by which they are reached (keystoneauth1.discover). data == NULL: the link is not usable. */
struct slice keystone_url_of_link(struct arena *arena, const char *document_url, const char *href);

#endif
