/* Methods that the peer takes for a thing of the collection, or the other way round, and refuses in
 * their words, and the answer that most writes have. Workers. */
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
