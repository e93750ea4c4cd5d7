/* Links in answers (baremetal-allocations spec, 1.8). */
#ifndef BERTH_BAREMETAL_API_LINKS_H
#define BERTH_BAREMETAL_API_LINKS_H

#include "api/request.h"

/* The beginning of every URL in an answer: the configured public endpoint, or this service's
 * address as the client wrote it, with the request's mount prefix. In the request's arena; the same
 * text for all calls of one request. */
struct slice baremetal_base(struct api_request *request);

/* "links": [{"href": BASE/v1/PATH, "rel": "self"}, {"href": BASE/PATH, "rel": "bookmark"}]. The
 * path is joined from its parts; each part that is not empty is preceded by a slash. */
void baremetal_write_links(struct api_request *request, struct slice resource, struct slice ident,
                           struct slice below, struct buf *out);

/* The same under another name, for collections below an object. */
void baremetal_write_links_as(struct api_request *request, const char *name, struct slice resource,
                              struct slice ident, struct slice below, struct buf *out);

#endif
