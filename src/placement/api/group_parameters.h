/* The values of resources, required, member_of and in_tree, as used by several routes (placement
 * spec, Query strings). Each function returns false with err set (400) for a malformed value. */
#ifndef BERTH_PLACEMENT_API_GROUP_PARAMETERS_H
#define BERTH_PLACEMENT_API_GROUP_PARAMETERS_H

#include "api/request.h"
#include "api/text/query_string.h"
#include "query/ac_request.h"

/* "VCPU:2,MEMORY_MB:1024": amounts as Python's int() parses them; if a class is repeated, the last
 * amount counts. */
bool parameter_resources(struct api_request *request, struct slice value, struct ac_group *group);

/* All values of required<suffix>: from 1.22 with "!", from 1.39 repeated and with "in:"; before
 * 1.39 only the last value. */
bool parameter_required(struct api_request *request, const struct query_string *query,
                        struct slice suffix, struct ac_group *group);

/* One "A,!B", split into required and forbidden names: for root_required. */
bool parameter_traits(struct api_request *request, struct slice value, struct ac_names *required,
                      struct ac_names *forbidden);

/* All values of member_of<suffix>: may be repeated from 1.24, may have "!" from 1.32. */
bool parameter_member_of(struct api_request *request, const struct query_string *query,
                         struct slice suffix, struct ac_group *group);

bool parameter_in_tree(struct api_request *request, struct slice value, struct ac_group *group);

#endif
