/* The client of the Valet API, and its permissions (Valet spec, 2.3). Any thread. */
#ifndef BERTH_VALET_API_CALLER_H
#define BERTH_VALET_API_CALLER_H

#include "api/request.h"
#include "policy/rules_valet.h"

/* Whether the rule passes for the caller; sets no err. */
bool valet_may(const struct api_request *request, enum policy_valet_rule rule);

/* The same; false: err has the 401. */
bool valet_require(struct api_request *request, enum policy_valet_rule rule) BERTH_MUST_CHECK;

/* The only 401, whatever its cause. Returns false. */
bool valet_refuse(struct api_request *request);

/* Whose plans and placements the caller sees. The texts are the identity's. */
struct valet_caller {
    struct slice project; /* never empty */
    struct slice user;
    bool sees_all; /* valet:all_projects */
};

struct valet_caller valet_caller_of(const struct api_request *request);

/* Whether objects of that project exist for the caller. */
bool valet_caller_sees(const struct valet_caller *caller, struct slice project);

#endif
