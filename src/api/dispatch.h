/* The stages that every request of the API passes, in order. */
#ifndef BERTH_API_DISPATCH_H
#define BERTH_API_DISPATCH_H

#include "api/request.h"

/* The service that a Placement listener runs; api outlives the listener. */
struct http_service dispatch_service(const struct api *api);

/* Checks a policy rule for the request; false sets err (403). For handlers that know the target
 * themselves. */
bool dispatch_check_policy(struct api_request *request, enum policy_rule rule,
                           struct slice target_project) BERTH_MUST_CHECK;

/* Closes the calling thread's reader; for threads that end before the replica does, it runs by
 * itself. */
void dispatch_thread_end(void);

#endif
