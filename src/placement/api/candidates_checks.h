/* The checks of a candidates question that concern several of its parameters. */
#ifndef BERTH_PLACEMENT_API_CANDIDATES_CHECKS_H
#define BERTH_PLACEMENT_API_CANDIDATES_CHECKS_H

#include "api/request.h"
#include "query/ac_request.h"

/* False with err set (400) for a trait that root_required wants and forbids. */
bool candidates_check_root_traits(struct api_request *request,
                                  const struct ac_request *asked) BERTH_MUST_CHECK;

/* Checks all groups, once they are read (candidates spec, items 6 and 7): before 1.36 each has
 * resources, from 1.36 those without stand in same_subtree; none wants what it forbids (from 1.22);
 * two with suffixes need a group_policy. False with err set (400). May sort the names of required
 * traits that an error names. */
bool candidates_check_groups(struct api_request *request, const struct ac_request *asked,
                             bool has_group_policy) BERTH_MUST_CHECK;

#endif
