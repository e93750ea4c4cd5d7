/* The stages of a request to the Valet API (Valet spec, 2.1): token and role, the path with its
 * ids, the method, the body. A route's handler begins with the ids, which need a version. For
 * methods without a row, and for bodies that are too long, a handler in this file does so, so that
 * errors of ids come first there, too. Worker threads. */
#include "valet/api/stages.h"

#include "api/definition.h"
#include "api/request.h"
#include "api/routes.h"
#include "api/stages.h"
#include "api/text/query_string.h"
#include "auth/noauth.h"
#include "valet/api/caller.h"
#include "valet/api/ids.h"
#include "valet/api/path.h"
#include "valet/api/routes.h"

bool valet_is_public(const struct api_request *request)
{
    return !slice_starts_with(valet_path(request), SLICE_LIT("/v1/"));
}

bool valet_identify(struct api_request *request)
{
    struct noauth_headers headers = stages_noauth_headers(request);
    if (headers.token.len > 0 && noauth_identify(&headers, request->arena, &request->identity))
        return true;
    return valet_refuse(request);
}

/* The error of a request whose path and ids are right. */
static void refuse_method(struct api_request *request)
{
    err_set_join(&request->err, 405, NULL, SLICE_LIT("The "), request->http->method,
                 SLICE_LIT(" method is not allowed."));
}

static void refuse_length(struct api_request *request)
{
    request->allow = (struct slice){0};
    err_set(&request->err, 413, NULL, "The body is larger than this service takes.");
}

/* The methods of the path are in request->allow, unless the request's method is among them. */
static enum api_step answer_odd(struct api_request *request)
{
    bool is_options = slice_equal(request->http->method, SLICE_LIT("OPTIONS"));
    if (request->allow.data != NULL && !is_options)
        refuse_method(request);
    else if (request->http->fault == HTTP_FAULT_BODY_TOO_LARGE)
        refuse_length(request);
    else
        api_answer_empty(request, 204);
    return API_DONE;
}

static enum api_step answer_odd_of_ids(struct api_request *request)
{
    const struct api_route *of_path = request->state;
    if (ids_are_known(request, of_path->flags))
        return answer_odd(request);
    request->allow = (struct slice){0};
    return API_DONE;
}

static bool go_odd(struct api_request *request, const struct api_route *of_path)
{
    static const struct api_route ODD = {.method = "", .path = "", .handle = answer_odd};
    static const struct api_route ODD_OF_IDS = {
        .method = "", .path = "", .handle = answer_odd_of_ids, .reads = true};
    request->state = (void *)(uintptr_t)of_path;
    request->route = of_path->flags == 0 ? &ODD : &ODD_OF_IDS;
    return true;
}

/* The first row of the path in the table, with its arguments. */
static const struct api_route *first_of_path(struct api_request *request, struct slice path)
{
    struct slice methods = request->allow;
    routes_take(request->endpoint->routes, path, slice_cut(&methods, ','), request);
    return request->route;
}

static void decode_args(struct api_request *request)
{
    for (unsigned i = 0; i < API_ARGS_MAX; i++)
        if (request->args[i].data != NULL)
            request->args[i] = percent_decode(request->arena, request->args[i], false);
}

bool valet_pass(struct api_request *request)
{
    bool is_public = valet_is_public(request);
    if (!is_public && request->identity.project_id.len == 0)
        return valet_refuse(request);
    struct slice path = valet_path(request);
    enum route_found found = routes_find(request->endpoint->routes, path, request);
    if (found == ROUTE_UNKNOWN_PATH)
        return err_set(&request->err, 404, NULL, "There is nothing at this URL.");
    const struct api_route *row =
        found == ROUTE_FOUND ? request->route : first_of_path(request, path);
    if (!is_public && !valet_require(request, (enum policy_valet_rule)row->policy)) {
        request->allow = (struct slice){0};
        return false;
    }
    decode_args(request);
    return (found == ROUTE_FOUND && request->http->fault == HTTP_FAULT_NONE) ||
           go_odd(request, row);
}

void valet_add_headers(struct api_request *request)
{
    (void)request;
}
