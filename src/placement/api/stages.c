/* The stages of a request to the Placement API: a straight list in the Python service's order
 * (placement spec, Order of checks). The first that fails sets err. Worker threads. */
#include "placement/api/stages.h"

#include "api/request.h"
#include "api/routes.h"
#include "api/stages.h"
#include "api/text/accept.h"
#include "api/text/latin1.h"
#include "placement/api/headers.h"
#include "placement/api/microversion.h"
#include "placement/api/placement_request.h"
#include "placement/api/policy_check.h"
#include "placement/api/routes.h"

bool placement_is_root(const struct api_request *request)
{
    return request->path.len == 0 || slice_equal(request->path, SLICE_LIT("/"));
}

bool placement_identify(struct api_request *request)
{
    struct noauth_headers headers = stages_noauth_headers(request);
    if (noauth_identify(&headers, request->arena, &request->identity))
        return true;
    request->fault_form = FAULT_OUTSIDE;
    return err_set(&request->err, 401, NULL, "%s", "");
}

static bool stage_microversion(struct api_request *request)
{
    struct slice header =
        latin1_text(request->arena, http_request_header(request->http, "OpenStack-API-Version"));
    if (!microversion_negotiate(header, &request->minor, &request->err)) {
        placement_own(request)->version_in_error = request->err.status == 406;
        return false;
    }
    request->has_minor = true;
    return true;
}

static bool has_body(const struct api_request *request)
{
    return request->http->body_bytes > 0;
}

static bool stage_content_header(struct api_request *request)
{
    if (has_body(request) && http_request_header(request->http, "Content-Length").len > 0 &&
        http_request_header(request->http, "Content-Type").len == 0)
        return err_set(&request->err, 400, NULL,
                       "content-type header required when content-length > 0");
    return true;
}

static bool has(const struct api_route *route, enum placement_route_flag flag)
{
    return (route->flags & flag) != 0;
}

static bool stage_route(struct api_request *request)
{
    switch (routes_find(request->endpoint->routes, request->path, request)) {
    case ROUTE_FOUND:
        return true;
    case ROUTE_UNKNOWN_METHOD:
        placement_own(request)->vary_shown = true;
        return err_set(&request->err, 405, NULL,
                       "The method specified is not allowed for this resource.");
    case ROUTE_UNKNOWN_PATH:
        break;
    }
    placement_own(request)->vary_shown = false;
    return err_set(&request->err, 404, NULL, "%s", "");
}

static bool stage_version_range(struct api_request *request)
{
    const struct api_route *route = request->route;
    if (request->minor >= route->min_minor && request->minor <= route->max_minor)
        return true;
    return err_set(&request->err, has(route, ROUTE_HIDDEN_405) ? 405 : 404, NULL, "%s", "");
}

static bool stage_content(struct api_request *request)
{
    const struct api_route *route = request->route;
    if (has(route, ROUTE_ACCEPTS_JSON) &&
        accept_weight(placement_accept(request), SLICE_LIT("application/json")) == 0)
        return err_set(&request->err, 406, NULL, "Only application/json is provided");
    if (!has(route, ROUTE_TAKES_JSON))
        return true;
    struct slice type = placement_content_type(request);
    if (slice_equal(type, SLICE_LIT("application/json")))
        return true;
    return err_set_join(&request->err, 415, NULL, SLICE_LIT("The media type "),
                        latin1_text(request->arena, type),
                        SLICE_LIT(" is not supported, use application/json"));
}

/* Unless a handler checks another target, a request concerns its caller (placement,
 * RequestContext.can). */
static bool stage_policy(struct api_request *request)
{
    const struct policy_attribute attributes[] = {
        {SLICE_LIT("project_id"), request->identity.project_id},
        {SLICE_LIT("user_id"), request->identity.user_id},
    };
    const struct policy_target target = {attributes, 2};
    return placement_check_policy(request, (enum policy_placement_rule)request->route->policy,
                                  &target);
}

bool placement_pass(struct api_request *request)
{
    if (!stage_microversion(request))
        return false;
    placement_own(request)->version_shown = true;
    placement_own(request)->vary_shown = false;
    if (!stage_content_header(request) || !stage_route(request))
        return false;
    placement_own(request)->vary_shown = true;
    if (has(request->route, ROUTE_CONTENT_FIRST))
        return stage_content(request) && stage_version_range(request) && stage_policy(request);
    return stage_version_range(request) && stage_content(request) && stage_policy(request);
}
