/* GET / and GET /v1: the available versions, and the resources of this one (Valet spec, 4.1). */
#include "api/request.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "valet/api/handlers.h"

static void write_link(const struct api_request *request, const char *below, struct buf *out)
{
    struct slice path =
        arena_printf(request->arena, "%.*s/v1/%s", SLICE_ARG(request->mount), below);
    buf_append_lit(out, "{\"href\": ");
    json_write_string(out, origin_absolute(request, path));
    buf_append_lit(out, ", \"rel\": \"self\"}");
}

/* HTTP/1.0 requires no Host, but links must be absolute. */
static void take_host(struct api_request *request)
{
    if (request->origin.host.len == 0)
        request->origin.host = http_own_address(request->http);
}

static enum api_step root_answer(struct api_request *request, const char *const *below,
                                 size_t count)
{
    struct buf *out = api_out(request);
    take_host(request);
    buf_append_lit(out, "{\"versions\": [{\"status\": \"CURRENT\", \"id\": \"v1.0\", \"links\": [");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        write_link(request, below[i], out);
    }
    buf_append_lit(out, "]}]}");
    api_answer_json(request, 0);
    return API_DONE;
}

enum api_step handle_valet_versions_list(struct api_request *request)
{
    static const char *const BELOW[] = {""};
    return root_answer(request, BELOW, 1);
}

enum api_step handle_valet_version_show(struct api_request *request)
{
    static const char *const BELOW[] = {"groups/", "placements/", "plans/", "status/"};
    return root_answer(request, BELOW, sizeof(BELOW) / sizeof(BELOW[0]));
}
