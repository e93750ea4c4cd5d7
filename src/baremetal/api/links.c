/* Each object has two URLs, one with the version and one without. Any thread. */
#include "baremetal/api/links.h"

#include "baremetal/api/metal_request.h"
#include "base/json_write.h"

struct slice baremetal_base(struct api_request *request)
{
    if (metal_own(request)->base.data != NULL)
        return metal_own(request)->base;
    struct slice endpoint = metal_conf(request)->public_endpoint;
    if (endpoint.len > 0) {
        metal_own(request)->base = endpoint;
        return endpoint;
    }
    struct slice url =
        origin_absolute(request, request->mount.len > 0 ? request->mount : SLICE_LIT("/"));
    while (url.len > 0 && url.data[url.len - 1] == '/')
        url.len--;
    metal_own(request)->base = url;
    return url;
}

static void append_path(struct buf *out, struct slice resource, struct slice ident,
                        struct slice below)
{
    const struct slice parts[] = {resource, ident, below};
    for (unsigned i = 0; i < 3; i++) {
        if (parts[i].len == 0)
            continue;
        buf_append_char(out, '/');
        json_write_piece(out, parts[i]);
    }
}

void baremetal_write_links(struct api_request *request, struct slice resource, struct slice ident,
                           struct slice below, struct buf *out)
{
    baremetal_write_links_as(request, "links", resource, ident, below, out);
}

void baremetal_write_links_as(struct api_request *request, const char *name, struct slice resource,
                              struct slice ident, struct slice below, struct buf *out)
{
    struct slice base = baremetal_base(request);
    buf_append_char(out, '"');
    buf_append_slice(out, slice_of(name));
    buf_append_lit(out, "\": [{\"href\": \"");
    json_write_piece(out, base);
    buf_append_lit(out, "/v1");
    append_path(out, resource, ident, below);
    buf_append_lit(out, "\", \"rel\": \"self\"}, {\"href\": \"");
    json_write_piece(out, base);
    append_path(out, resource, ident, below);
    buf_append_lit(out, "\", \"rel\": \"bookmark\"}]");
}
