/* The caller is also the target of the rules. */
#include "valet/api/caller.h"

#include "api/api.h"
#include "model/valet.h"
#include "policy/caller.h"

bool valet_may(const struct api_request *request, enum policy_valet_rule rule)
{
    struct policy_attribute about[POLICY_CALLER_ATTRIBUTES];
    const struct policy_target target = {
        about, policy_caller_attributes(POLICY_OF_VALET, &request->identity, about)};
    return policy_valet_check(request->api->policies, rule, &request->identity, &target) ==
           POLICY_ALLOWED;
}

bool valet_refuse(struct api_request *request)
{
    return err_set(&request->err, 401, NULL, "%s", "");
}

bool valet_require(struct api_request *request, enum policy_valet_rule rule)
{
    if (valet_may(request, rule))
        return true;
    valet_refuse(request);
    request->err.denied_by = policy_valet_name(rule);
    return false;
}

struct valet_caller valet_caller_of(const struct api_request *request)
{
    return (struct valet_caller){
        .project = request->identity.project_id,
        .user = request->identity.user_id,
        .sees_all = valet_may(request, POLICY_VALET_ALL_PROJECTS),
    };
}

bool valet_caller_sees(const struct valet_caller *caller, struct slice project)
{
    return caller->sees_all || project_equal(caller->project, project);
}
