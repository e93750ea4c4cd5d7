/* Requests for which Ironic mistakes a collection for an object, or the reverse, refused with
 * Ironic's texts; and the empty answer of most writes. Workers. */
#include "api/request.h"
#include "baremetal/api/handlers.h"

enum api_step handle_baremetal_nodes_refuse(struct api_request *request)
{
    err_set(&request->err, 400, NULL, "Missing mandatory parameter: node_ident");
    return API_DONE;
}

enum api_step handle_baremetal_node_refuse(struct api_request *request)
{
    err_set(&request->err, 400, NULL, "Nodes are created by POST /v1/nodes");
    return API_DONE;
}

void finish_baremetal_empty(struct api_request *request)
{
    if (!err_is_set(&request->err))
        api_answer_empty(request, 204);
}
