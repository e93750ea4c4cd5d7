/* A handler may run several times for one request, but its body is parsed once. */
#include "valet/api/plans/plan_body.h"

#include "api/charge.h"
#include "valet/api/stack/stack_body.h"
#include "valet/api/valet_settings.h"

json_t *plan_body(struct api_request *request)
{
    return request->body != NULL ? request->body : body_read(request);
}

bool plan_body_stack(struct api_request *request, const json_t *resources, const json_t *locations,
                     struct stack *stack)
{
    if (api_is_on_slow_lane(request) && http_client_gone(request->http)) {
        (void)api_over_budget(request); /* parsing a long body has already taken time */
        return false;
    }
    struct flavors *flavors = flavors_take(valet_flavors(request));
    struct stack_body input = {flavors, valet_conf(request)->max_servers, request->arena};
    bool is_good = stack_body_read(&input, resources, locations, stack, &request->err);
    flavors_give_back(flavors);
    return is_good;
}

bool plan_body_names(const json_t *body, const char *key, struct arena *arena,
                     struct stack_names *names, struct err *err)
{
    return stack_body_names(json_object_get(body, key), key, arena, names, err);
}
