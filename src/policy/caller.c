/* The caller's credentials as attributes. Pure; any thread. */
#include "policy/caller.h"

#include "policy/evaluate.h"

unsigned policy_caller_attributes(enum policy_service service, const struct identity *identity,
                                  struct policy_attribute out[POLICY_CALLER_ATTRIBUTES])
{
    static const struct {
        struct slice key;
        enum policy_subject subject;
    } CREDENTIALS[POLICY_CALLER_ATTRIBUTES] = {
        {SLICE_LIT("project_id"), POLICY_SUBJECT_PROJECT_ID},
        {SLICE_LIT("user_id"), POLICY_SUBJECT_USER_ID},
        {SLICE_LIT("user_domain_id"), POLICY_SUBJECT_USER_DOMAIN_ID},
        {SLICE_LIT("system_scope"), POLICY_SUBJECT_SYSTEM_SCOPE},
        {SLICE_LIT("domain_id"), POLICY_SUBJECT_DOMAIN_ID},
        {SLICE_LIT("project_domain_id"), POLICY_SUBJECT_PROJECT_DOMAIN_ID},
        {SLICE_LIT("is_admin_project"), POLICY_SUBJECT_IS_ADMIN_PROJECT},
        {SLICE_LIT("service_user_id"), POLICY_SUBJECT_SERVICE_USER_ID},
        {SLICE_LIT("service_user_domain_id"), POLICY_SUBJECT_SERVICE_USER_DOMAIN_ID},
        {SLICE_LIT("service_project_id"), POLICY_SUBJECT_SERVICE_PROJECT_ID},
        {SLICE_LIT("service_project_domain_id"), POLICY_SUBJECT_SERVICE_PROJECT_DOMAIN_ID},
        {SLICE_LIT("project_name"), POLICY_SUBJECT_PROJECT_NAME},
        {SLICE_LIT("is_public_api"), POLICY_SUBJECT_IS_PUBLIC_API},
    };
    unsigned count = service == POLICY_OF_PLACEMENT ? 2 : POLICY_CALLER_ATTRIBUTES;
    for (unsigned i = 0; i < count; i++)
        out[i] = (struct policy_attribute){CREDENTIALS[i].key,
                                           policy_subject_text(identity, CREDENTIALS[i].subject)};
    return count;
}
