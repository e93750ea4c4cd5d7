/* GET / and GET /v1: the available versions and resources (baremetal-allocations spec, 9). */
#include "api/request.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/links.h"
#include "baremetal/api/negotiate.h"
#include "base/json_write.h"

static void write_version(struct api_request *request, struct buf *out)
{
    buf_append_lit(out, "{\"id\": \"v1\", \"links\": [{\"href\": \"");
    json_write_piece(out, baremetal_base(request));
    buf_printf(out,
               "/v1/\", \"rel\": \"self\"}], \"status\": \"CURRENT\", \"min_version\": \"1.%d\", "
               "\"version\": \"1.%d\"}",
               BAREMETAL_MINOR_MIN, BAREMETAL_MINOR_MAX);
}

enum api_step handle_baremetal_versions_list(struct api_request *request)
{
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"name\": \"OpenStack Ironic API\", \"description\": \"Bare metal nodes "
                        "and their allocations, served by berth.\", \"default_version\": ");
    write_version(request, out);
    buf_append_lit(out, ", \"versions\": [");
    write_version(request, out);
    buf_append_lit(out, "]}");
    api_answer_json(request, 0);
    return API_DONE;
}

static void write_resource(struct api_request *request, const char *name, struct buf *out)
{
    struct slice base = baremetal_base(request);
    buf_printf(out, ", \"%s\": [{\"href\": \"", name);
    json_write_piece(out, base);
    buf_printf(out, "/v1/%s/\", \"rel\": \"self\"}, {\"href\": \"", name);
    json_write_piece(out, base);
    buf_printf(out, "/%s/\", \"rel\": \"bookmark\"}]", name);
}

enum api_step handle_baremetal_version_show(struct api_request *request)
{
    static const struct {
        const char *name;
        unsigned since;
    } RESOURCES[] = {
        {"chassis", 1}, {"nodes", 1},       {"ports", 1},        {"drivers", 1}, {"portgroups", 23},
        {"volume", 32}, {"conductors", 49}, {"allocations", 52}, {"shards", 82},
    };
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"id\": \"v1\", \"links\": [{\"href\": \"");
    json_write_piece(out, baremetal_base(request));
    buf_append_lit(out, "/v1/\", \"rel\": \"self\"}, {\"href\": "
                        "\"https://docs.openstack.org/ironic/latest/contributor/webapi.html\", "
                        "\"rel\": \"describedby\", \"type\": \"text/html\"}], \"media_types\": "
                        "{\"base\": \"application/json\", \"type\": "
                        "\"application/vnd.openstack.ironic.v1+json\"}");
    for (size_t i = 0; i < sizeof(RESOURCES) / sizeof(RESOURCES[0]); i++)
        if (request->minor >= RESOURCES[i].since)
            write_resource(request, RESOURCES[i].name, out);
    buf_append_lit(out, ", \"version\": ");
    write_version(request, out);
    buf_append_lit(out, "}");
    api_answer_json(request, 0);
    return API_DONE;
}
