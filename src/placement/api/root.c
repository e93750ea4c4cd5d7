/* GET /: the version document. */
#include "api/request.h"
#include "placement/api/handlers.h"
#include "placement/api/microversion.h"

enum api_step handle_placement_root_show(struct api_request *request)
{
    buf_printf(api_out(request),
               "{\"versions\": [{\"id\": \"v1.0\", \"max_version\": \"1.%d\", "
               "\"min_version\": \"1.0\", \"status\": \"CURRENT\", "
               "\"links\": [{\"rel\": \"self\", \"href\": \"\"}]}]}",
               PLACEMENT_MINOR_MAX);
    api_answer_json(request, 0);
    return API_DONE;
}
