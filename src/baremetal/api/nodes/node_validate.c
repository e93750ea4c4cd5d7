/* GET /v1/nodes/{ident}/validate and /v1/nodes/validate?node= (bare metal spec 8.3). Without
 * hardware, every node is valid. Workers. */
#include "api/request.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/arguments.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/nodes/node_find.h"

static enum api_step validate(struct api_request *request, struct slice ident)
{
    static const char *const INTERFACES[] = {"bios",    "boot",       "console", "deploy",
                                             "inspect", "management", "network", "power",
                                             "raid",    "rescue",     "storage"};
    struct buf *out = api_out(request);
    if (node_find(request, request->version, ident, POLICY_NODE_VALIDATE, &request->err) == NULL)
        return API_DONE;
    for (size_t i = 0; i < sizeof(INTERFACES) / sizeof(INTERFACES[0]); i++)
        buf_printf(out, "%s\"%s\": {\"result\": true}", i == 0 ? "{" : ", ", INTERFACES[i]);
    buf_append_char(out, '}');
    api_answer_json(request, 0);
    return API_DONE;
}

enum api_step handle_baremetal_node_validate(struct api_request *request)
{
    return intake_no_query(request) ? validate(request, request->args[0]) : API_DONE;
}

enum api_step handle_baremetal_nodes_validate(struct api_request *request)
{
    static const char *const NAMES[] = {"node", "node_uuid", NULL};
    struct query_string query;
    struct ident node = {0};
    struct slice uuid = {0};
    struct err *err = &request->err;
    if (!intake_query(request, NAMES, &query))
        return API_DONE;
    struct argument by_ident = argument_find(request->arena, &query, "node");
    struct argument by_uuid = argument_find(request->arena, &query, "node_uuid");
    if (!argument_ident(&by_ident, &node, err) || !argument_uuid(&by_uuid, &uuid, err))
        return API_DONE;
    if (uuid.data == NULL && !by_ident.is_there) {
        err_set(err, 400, NULL, "Expected a logical name or UUID but received None.");
        return API_DONE;
    }
    return validate(request, uuid.data != NULL ? uuid : node.text);
}
