/* The checks of a candidates query that concern several of its parameters. */
#ifndef BERTH_PLACEMENT_API_CANDIDATES_CHECKS_H
#define BERTH_PLACEMENT_API_CANDIDATES_CHECKS_H

#include "api/request.h"
#include "query/ac_request.h"

/* False with err set (400) if root_required both requires and forbids a trait. */
bool candidates_check_root_traits(struct api_request *request,
                                  const struct ac_request *requested) BERTH_MUST_CHECK;

/* Checks all groups after they have been read (candidates spec, items 6 and 7): before 1.36 each
 * must have resources, from 1.36 those without must be named in same_subtree; from 1.22 no group
 * may require what it forbids; two groups with suffixes need a group_policy. False with err set
 * (400). May sort the names of required traits that an error mentions. */
bool candidates_check_groups(struct api_request *request, const struct ac_request *requested,
                             bool has_group_policy) BERTH_MUST_CHECK;

#endif
