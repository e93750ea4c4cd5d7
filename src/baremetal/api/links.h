/* Links in answers (baremetal-allocations spec, 1.8). */
#ifndef BERTH_BAREMETAL_API_LINKS_H
#define BERTH_BAREMETAL_API_LINKS_H

#include "api/request.h"

/* What every URL of an answer begins with: the configured public endpoint, or how the client wrote
 * this service's address, with the prefix that the request came by. In the request's arena, the
 * same text for every call of one request. */
struct slice baremetal_base(struct api_request *request);

/* "links": [{"href": BASE/v1/PATH, "rel": "self"}, {"href": BASE/PATH, "rel": "bookmark"}], the
 * path joined of its parts, each with a slash before it unless it is empty. */
void baremetal_write_links(struct api_request *request, struct slice resource, struct slice ident,
                           struct slice below, struct buf *out);

/* The same under another name, of what stands below a thing. */
void baremetal_write_links_as(struct api_request *request, const char *name, struct slice resource,
                              struct slice ident, struct slice below, struct buf *out);

#endif
