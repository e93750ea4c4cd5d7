/* Workers. */
#include "baremetal/api/input/intake.h"

#include "api/answer.h"
#include "api/schema/body_schema.h"
#include "baremetal/api/input/arguments.h"
#include "baremetal/api/input/body_checks.h"

bool intake_query(struct api_request *request, const char *const *names, struct query_string *query)
{
    *query = query_string_parse(request->arena, request->query);
    if (!query->is_utf8)
        return err_set(&request->err, 400, NULL, "The query is not valid UTF-8");
    return arguments_check_names(query, names, &request->err);
}

bool intake_no_query(struct api_request *request)
{
    static const char *const NAMES[] = {NULL};
    struct query_string query;
    return intake_query(request, NAMES, &query);
}

json_t *intake_body(struct api_request *request)
{
    check(request->body == NULL);
    request->body = body_checks_load(request->http->body, body_schema_heap(request), &request->err);
    return request->body;
}

bool intake_memory(struct api_request *request, uint64_t bytes, struct memory_share *share)
{
    *share = memory_another(&request->http->share);
    switch (memory_take(share, bytes)) {
    case MEMORY_GRANTED:
        return true;
    case MEMORY_TAKEN:
        request->retry_after = SLICE_LIT("10");
        return answer_refuse_memory(request);
    case MEMORY_TOO_MUCH:
        break;
    }
    return err_set(&request->err, 413, NULL, "The objects to be patched are too large.");
}
